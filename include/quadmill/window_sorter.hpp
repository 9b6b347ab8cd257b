/// Sorters of windows for the summaries of stream.hpp. This header makes the one on CPU threads; sort.hpp and
/// device_group.hpp make those on the graphics pipeline.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "quadmill/api.hpp"
#include "quadmill/keys.hpp"

namespace quadmill {

/// Sorts batches of windows while its caller goes on. It has one caller, always on the same thread.
class QUADMILL_API WindowSorter {
  public:
    /// Milliseconds of work since it was made; they overlap.
    struct Times {
        double upload = 0, sort = 0, readback = 0;  ///< transfers to the GPU, sorting, transfers back
    };

    virtual ~WindowSorter();
    /// Starts sorting each window of `window` consecutive keys in place, in the library's ascending order; the last one
    /// may be shorter. The memory belongs to the sorter until finish() returns it.
    /// Pre: 1 <= window; fewer than depth() batches are in flight.
    virtual void begin(Keys keys, std::size_t window) = 0;
    /// Whether it can sample windows on the GPU, so that less is read back: Engine::Merge, and Engine::Auto on a GPU,
    /// with one device or a group.
    [[nodiscard]] virtual bool can_sample() const { return false; }
    /// As begin(), but only keys 0, step, 2 step, ... and the last key of each sorted window are returned, window after
    /// window from the front of the batch on. The rest of the batch is unspecified. If sorting fails, the batch is as
    /// finish() says.
    /// Pre: as begin(); can_sample(); keys.size() is a multiple of `window`; 1 <= step < window.
    /// Throws: InvalidArgument if it cannot.
    virtual void begin_sample(Keys keys, std::size_t window, std::size_t step);
    /// Waits for the oldest batch in flight, and returns it sorted.
    /// Pre: a batch is in flight; otherwise the behaviour is undefined.
    /// Throws: the error of the batch; each window is then a permutation of itself, and the batch is returned.
    virtual void finish() = 0;
    /// Max number of batches in flight.
    [[nodiscard]] virtual std::size_t depth() const = 0;
    /// The preferred batch size in bytes, which keeps it busy.
    [[nodiscard]] virtual std::size_t batch_bytes() const = 0;
    /// The preferred number of windows in a batch, if they are long.
    [[nodiscard]] virtual std::size_t batch_windows() const { return 1; }
    /// The default window of a summary with that eps: large, so that summarizing a window is cheap compared with
    /// sorting it, but not too large, so that a stream has several windows. 128 / eps, from 2^12 to 2^23, or 16 / eps
    /// if that is more, up to 2^24; rounded up to powers of two. On CPU threads 64 / eps up to 2^20.
    [[nodiscard]] virtual std::size_t window(double eps) const;
    /// Bytes of CPU memory that it holds, in addition to the batches.
    [[nodiscard]] virtual std::size_t bytes() const { return 0; }
    /// Runs work(0) .. work(count - 1), in any order, with its own threads and the caller's; by default the caller does
    /// it all.
    virtual void share(std::size_t count, const std::function<void(std::size_t)>& work);
    [[nodiscard]] virtual Times times() const = 0;  ///< so far
    /// "cpu", "merge", "hybrid", "pbsn" or "bitonic".
    [[nodiscard]] virtual std::string name() const = 0;

  protected:
    WindowSorter() = default;
    WindowSorter(const WindowSorter&) = default;
    WindowSorter& operator=(const WindowSorter&) = default;
};

/// A sorter with Engine::Cpu (sort.hpp): each window on one of `threads` threads. 0: as many as the machine has; 1
/// sorts in begin(), on the caller's thread.
[[nodiscard]] QUADMILL_API std::unique_ptr<WindowSorter> cpu_window_sorter(unsigned threads = 0);

}  // namespace quadmill
