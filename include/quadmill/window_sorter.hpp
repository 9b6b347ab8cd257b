/// Sorters of windows for the summaries of stream.hpp. The one of CPU threads is made here; sort.hpp and
/// device_group.hpp make those on the graphics pipeline.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "quadmill/api.hpp"
#include "quadmill/keys.hpp"

namespace quadmill {

/// Sorts batches of windows while its caller goes on. One caller at a time, always on the same thread.
class QUADMILL_API WindowSorter {
  public:
    /// Milliseconds since it was made that it was busy with; they overlap.
    struct Times {
        double upload = 0, sort = 0, readback = 0;  ///< transfers to the GPU, sorting, transfers back
    };

    virtual ~WindowSorter();
    /// Begins to sort each window of `window` consecutive keys in place, in the library's ascending order; the last one
    /// may be shorter. The memory is the sorter's until finish() has given it back.
    /// Pre: 1 <= window; fewer than depth() batches are under way.
    virtual void begin(Keys keys, std::size_t window) = 0;
    /// Whether it takes samples of windows where it sorts them, so that less comes back: Engine::Merge, and
    /// Engine::Auto on a GPU, of one device or a group.
    [[nodiscard]] virtual bool can_sample() const { return false; }
    /// As begin(), but of each sorted window only keys 0, step, 2 step, ... and the last one come back, window behind
    /// window from the front of the batch on; what is behind them is any of its keys. Where sorting fails, the batch is
    /// as finish() says.
    /// Pre: as begin(); can_sample(); keys.size() is a multiple of `window`; 1 <= step < window.
    /// Throws: InvalidArgument where it cannot.
    virtual void begin_sample(Keys keys, std::size_t window, std::size_t step);
    /// Waits for the batch that was begun first of those under way, and gives it back sorted.
    /// Pre: one is under way; else what it does is undefined.
    /// Throws: what went wrong; each window is then a permutation of itself, and the batch is given back.
    virtual void finish() = 0;
    /// How many batches may be under way at once.
    [[nodiscard]] virtual std::size_t depth() const = 0;
    /// The preferred batch size in bytes: as many as keep it busy.
    [[nodiscard]] virtual std::size_t batch_bytes() const = 0;
    /// The preferred number of windows in a batch, where they are long: as many as keep it busy.
    [[nodiscard]] virtual std::size_t batch_windows() const { return 1; }
    /// Values that a summary with that eps sorts at once by default: so many that what it takes from a window is little
    /// beside sorting it, but not so many that a stream has few windows. 128 / eps, from 2^12 to 2^23, or 16 / eps
    /// where that is more, up to 2^24; powers of two, rounded up. On CPU threads 64 / eps up to 2^20.
    [[nodiscard]] virtual std::size_t window(double eps) const;
    /// The bytes of the host's memory that it holds beside the batches.
    [[nodiscard]] virtual std::size_t bytes() const { return 0; }
    /// Runs work(0) .. work(count - 1), in any order, with the threads that it has beside the caller's; by default the
    /// caller does it all.
    virtual void share(std::size_t count, const std::function<void(std::size_t)>& work);
    [[nodiscard]] virtual Times times() const = 0;  ///< so far
    /// "cpu", "merge", "hybrid", "pbsn" or "bitonic".
    [[nodiscard]] virtual std::string name() const = 0;

  protected:
    WindowSorter() = default;
    WindowSorter(const WindowSorter&) = default;
    WindowSorter& operator=(const WindowSorter&) = default;
};

/// A sorter by Engine::Cpu (sort.hpp): each window on one of so many threads beside the caller's; 0 takes as many as
/// the machine has, 1 sorts in begin(), on the caller's own.
[[nodiscard]] QUADMILL_API std::unique_ptr<WindowSorter> cpu_window_sorter(unsigned threads = 0);

}  // namespace quadmill
