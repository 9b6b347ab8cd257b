/// Sorters of windows for the summaries of stream.hpp: CPU threads, the graphics pipeline, or both at once.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "quadmill/sort.hpp"

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

/// A sorter on the graphics pipeline: Engine::Merge, Engine::Hybrid (CPU threads take windows of each batch, as many as
/// they are done with before the GPU), Engine::Pbsn and Engine::Bitonic (the papers' own) or Engine::Auto, which is the
/// merge engine on a GPU and CPU threads on a software renderer or for windows so short that the GPU loses. Begins and
/// finishes in sessions of the context (context.hpp); between the two the host may draw. Engine::Cpu is
/// cpu_window_sorter(options.threads).
/// Engine::Pbsn is the stream path of SIGMOD'05: four windows at a time, or the quarters of one, in the channels of a
/// texture (PbsnOptions::channels), sorted together by blending. Halves are blended as such. Integers of 32 bits go as
/// the floats of the same place in the order. Of 64-bit keys the upper words go so, and the CPU finds each key's place
/// by its word. What blending cannot order, the CPU sorts, as for Sorter.
/// For a stream at full speed, hold a Session (context.hpp) as long as it lasts: to end one after each call waits for
/// the GPU, where the context is not current.
/// Memory: three times the bytes of a batch of GPU memory and four times of staging memory, where each window counts as
/// a multiple of 256 bytes (128 for 16-bit floats); a sample's own bytes besides, of both. Pbsn: 16 bytes a texel of
/// two textures in each of two lanes (8 for halves), and as many for transfers; Bitonic: as Sorter, with transfers
/// twice.
/// Throws: InvalidArgument for Precision other than Native, and for Order::Descending. begin() throws InvalidArgument
/// for what Sorter would refuse, and when depth() batches are under way: nothing has begun then.
[[nodiscard]] QUADMILL_API std::unique_ptr<WindowSorter> window_sorter(const Context& context,
                                                                       const SortOptions& options = {});

}  // namespace quadmill
