// Sorters of windows on the graphics pipeline, behind include/quadmill/window_sorter.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "array/workers.hpp"
#include "quadmill/window_sorter.hpp"
#include "sort/merge_sort.hpp"
#include "sort/task.hpp"
#include "stream/cpu_window_sorter.hpp"

namespace quadmill::detail::sort {

// The merge engine, one batch in a lane: while the GPU sorts one, the CPU fills staging memory for the next.
class MergeWindowSorter : public WindowSorter {
  public:
    MergeWindowSorter(Context context, const SortOptions& options);

    void begin(Keys keys, std::size_t window) override;
    void finish() override;
    [[nodiscard]] std::size_t depth() const override { return lanes; }
    [[nodiscard]] std::size_t batch_bytes() const override { return std::size_t{16} << 20U; }
    void share(std::size_t count, const std::function<void(std::size_t)>& work) override {
        workers_.for_each(count, work);
    }
    [[nodiscard]] Times times() const override { return times_; }
    [[nodiscard]] std::string name() const override { return "merge"; }

    [[nodiscard]] std::size_t under_way() const { return begun_ - finished_; }
    [[nodiscard]] const array::Workers& workers() const { return workers_; }
    // Why there is no room for the batch, if so.
    [[nodiscard]] std::optional<std::string> no_room(Keys keys, std::size_t window) const;

  private:
    static constexpr std::size_t lanes = 2;
    // Made on first use, within a session.
    struct OnGpu {
        OnGpu(gl::Device& device, array::Workers& workers)
            : merge(device, workers), lane{MergeLane(device), MergeLane(device)} {}
        MergeSort merge;
        std::array<MergeLane, lanes> lane;
    };
    // The same object for the same shape as the last time, so that it needs no new table.
    const std::shared_ptr<const Segments>& segments(Keys keys, std::size_t window);

    Context context_;
    SortOptions options_;
    array::Workers workers_;
    std::optional<OnGpu> gpu_;
    std::array<std::size_t, 3> shape_{};  // of segments_: keys, window, keys of a pair of blocks
    std::shared_ptr<const Segments> segments_;
    std::size_t begun_ = 0, finished_ = 0;
    Times times_;
};

// Gives each batch to the merge engine or to CPU threads, and back in the order in which they were begun.
class SharedWindowSorter : public WindowSorter {
  public:
    void begin(Keys keys, std::size_t window) override;
    void finish() override;
    void share(std::size_t count, const std::function<void(std::size_t)>& work) override { gpu_.share(count, work); }
    [[nodiscard]] std::size_t batch_bytes() const override { return gpu_.batch_bytes(); }
    [[nodiscard]] Times times() const override;

  protected:
    SharedWindowSorter(const Context& context, const SortOptions& options) : gpu_(context, options) {}
    [[nodiscard]] const MergeWindowSorter& gpu() const { return gpu_; }
    [[nodiscard]] virtual bool goes_to_gpu(Keys keys, std::size_t window) const = 0;
    [[nodiscard]] virtual unsigned threads() const = 0;  // on the CPU; asked when first needed

  private:
    MergeWindowSorter gpu_;
    std::optional<stream::CpuWindowSorter> cpu_;
    std::deque<WindowSorter*> order_;
};

// Engine::Hybrid: the CPU takes what comes while the GPU has enough. As no more than one batch comes then, it finds the
// CPU idle.
class HybridWindowSorter : public SharedWindowSorter {
  public:
    HybridWindowSorter(const Context& context, const SortOptions& options);
    [[nodiscard]] std::size_t depth() const override { return gpu().depth() + (threads_ > 0 ? 1 : 0); }
    [[nodiscard]] std::string name() const override { return "hybrid"; }

  private:
    [[nodiscard]] bool goes_to_gpu(Keys keys, std::size_t window) const override;
    [[nodiscard]] unsigned threads() const override { return threads_; }

    unsigned threads_;
};

// Engine::Auto on a GPU: the CPU takes batches for which the GPU has no room, or which it was measured to sort faster.
class AutoWindowSorter : public SharedWindowSorter {
  public:
    AutoWindowSorter(const Context& context, const SortOptions& options);
    [[nodiscard]] std::size_t depth() const override { return gpu().depth(); }
    [[nodiscard]] std::string name() const override { return "merge"; }

  private:
    [[nodiscard]] bool goes_to_gpu(Keys keys, std::size_t window) const override;
    [[nodiscard]] unsigned threads() const override { return threads_; }

    ContextInfo info_;
    unsigned threads_;
};

}  // namespace quadmill::detail::sort
