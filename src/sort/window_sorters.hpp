// Sorters of windows on the graphics pipeline, behind include/quadmill/window_sorter.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cpu/window_sorter.hpp"
#include "cpu/workers.hpp"
#include "quadmill/window_sorter.hpp"
#include "sort/merge/merge_sort.hpp"
#include "sort/task.hpp"

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
    [[nodiscard]] const cpu::Workers& workers() const { return workers_; }
    // Why there is no room for the batch, if so.
    [[nodiscard]] std::optional<std::string> no_room(Keys keys, std::size_t window) const;

  private:
    static constexpr std::size_t lanes = 2;
    // Made on first use, within a session.
    struct OnGpu {
        OnGpu(gl::Device& device, cpu::Workers& workers)
            : merge(device, workers), lane{MergeLane(device), MergeLane(device)} {}
        MergeSort merge;
        std::array<MergeLane, lanes> lane;
    };
    // The same object for the same shape as the last time, so that it needs no new table.
    const std::shared_ptr<const Segments>& segments(Keys keys, std::size_t window);

    Context context_;
    SortOptions options_;
    cpu::Workers workers_;
    std::optional<OnGpu> gpu_;
    std::array<std::size_t, 3> shape_{};  // of segments_: keys, window, keys of a pair of blocks
    std::shared_ptr<const Segments> segments_;
    std::size_t begun_ = 0, finished_ = 0;
    Times times_;
};

// The merge engine with CPU threads beside it.
class SharedWindowSorter : public WindowSorter {
  public:
    [[nodiscard]] std::size_t depth() const override { return gpu_.depth(); }
    [[nodiscard]] std::size_t batch_bytes() const override { return gpu_.batch_bytes(); }
    void share(std::size_t count, const std::function<void(std::size_t)>& work) override { gpu_.share(count, work); }
    [[nodiscard]] Times times() const override;

  protected:
    SharedWindowSorter(const Context& context, const SortOptions& options) : gpu_(context, options) {}

    MergeWindowSorter gpu_;
    std::optional<cpu::CpuWindowSorter> cpu_;
};

// Engine::Hybrid: both share the windows of each batch. The CPU's share grows while it is done before the GPU, and
// shrinks when it is not.
class HybridWindowSorter : public SharedWindowSorter {
  public:
    HybridWindowSorter(const Context& context, const SortOptions& options);
    void begin(Keys keys, std::size_t window) override;
    void finish() override;
    [[nodiscard]] std::string name() const override { return "hybrid"; }

  private:
    struct Part {
        std::size_t gpu_keys, cpu_keys;
    };
    std::deque<Part> under_way_;
    double cpu_share_ = 0;
};

// Engine::Auto on a GPU: the CPU takes batches for which the GPU has no room, or which it was measured to sort faster.
class AutoWindowSorter : public SharedWindowSorter {
  public:
    AutoWindowSorter(const Context& context, const SortOptions& options);
    void begin(Keys keys, std::size_t window) override;
    void finish() override;
    [[nodiscard]] std::string name() const override { return "merge"; }

  protected:
    [[nodiscard]] virtual bool goes_to_gpu(Keys keys, std::size_t window) const;

  private:
    ContextInfo info_;
    unsigned threads_;
    std::deque<WindowSorter*> under_way_;
};

}  // namespace quadmill::detail::sort
