// Sorters of windows on the graphics pipeline, which implement include/quadmill/window_sorter.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cpu/scratch.hpp"
#include "cpu/window_sorter.hpp"
#include "cpu/workers.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/window_sorter.hpp"
#include "sort/bitonic/bitonic_sort.hpp"
#include "sort/merge/merge_sort.hpp"
#include "sort/pbsn/chunk_sort.hpp"
#include "sort/task.hpp"

namespace quadmill::detail::sort {

// Two batches in flight: while the GPU sorts one, the CPU empties the previous one and fills the next.
class SlotWindowSorter : public WindowSorter {
  public:
    void begin(Keys keys, std::size_t window) final { begin_batch(cpu::begin_name, keys, window, 0); }
    void finish() final;
    [[nodiscard]] std::size_t depth() const override { return slots; }
    [[nodiscard]] std::size_t batch_bytes() const override { return std::size_t{16} << 20U; }
    void share(std::size_t count, const std::function<void(std::size_t)>& work) override {
        workers_.for_each(count, work);
    }
    [[nodiscard]] Times times() const override { return times_; }

    [[nodiscard]] std::size_t in_flight() const { return begun_ - finished_; }
    [[nodiscard]] std::size_t next_slot() const { return begun_ % slots; }
    [[nodiscard]] const cpu::Workers& workers() const { return workers_; }

  protected:
    static constexpr std::size_t slots = 2;
    SlotWindowSorter(Context context, const SortOptions& options);
    // Throws InvalidArgument if there is no room for the keys, or the engine cannot sort them.
    virtual void check(Keys keys, std::size_t window) const = 0;
    // Called in a session. The window is not longer than the keys, and at least 1. A step of 0 wants all keys back.
    virtual void begin_in(std::size_t slot, gl::Device& device, Keys keys, std::size_t window, std::size_t step) = 0;
    virtual Times finish_in(std::size_t slot) = 0;
    void begin_batch(const char* function, Keys keys, std::size_t window, std::size_t step);

    Context context_;
    SortOptions options_;
    cpu::Workers workers_;

  private:
    std::size_t begun_ = 0, finished_ = 0;
    Times times_;
};

class MergeWindowSorter : public SlotWindowSorter {
  public:
    // The memory for a batch's sorted keys; without a Target they replace the input.
    using Target = std::function<Keys(Keys)>;
    MergeWindowSorter(const Context& context, const SortOptions& options, Target target = {});
    [[nodiscard]] std::string name() const override { return "merge"; }
    [[nodiscard]] bool can_sample() const override { return true; }
    void begin_sample(Keys keys, std::size_t window, std::size_t step) override;
    // If there is no room for the batch, the reason.
    [[nodiscard]] std::optional<std::string> no_space(Keys keys, std::size_t window) const;

  private:
    // Made on first use, within a session. The GPU executes in order, so all slots share the textures of one MergeSort.
    struct Tools {
        Tools(gl::Device& device, cpu::Workers& workers, const SortOptions& options)
            : merge(device, workers, options.gpu_memory), slots{MergeSlot(device), MergeSlot(device)} {
            merge.plan().kernel = options.merge.kernel;
        }
        MergeSort merge;
        std::array<MergeSlot, SlotWindowSorter::slots> slots;
    };
    void check(Keys keys, std::size_t window) const override;
    void begin_in(std::size_t slot, gl::Device& device, Keys keys, std::size_t window, std::size_t step) override;
    Times finish_in(std::size_t slot) override;
    // The same object if the shape is the same as last time, so that no new table is needed.
    const std::shared_ptr<const Segments>& segments(Keys keys, std::size_t window);

    Target target_;
    std::optional<Tools> gpu_;
    std::array<std::size_t, 3> shape_{};  // of segments_: keys, window, keys per pair of blocks
    std::shared_ptr<const Segments> segments_;
};

// SIGMOD'05: four windows, or the quarters of one, are in the channels of a texture and are sorted using blending.
class PbsnWindowSorter : public SlotWindowSorter {
  public:
    PbsnWindowSorter(Context context, const SortOptions& options);
    [[nodiscard]] std::size_t batch_bytes() const override;
    [[nodiscard]] std::size_t batch_windows() const override {
        return channels_for(options_.paper.pbsn.channels) == Channels::Split ? 1 : 4;
    }
    // The network's steps grow with the square of the logarithm, so windows are short.
    [[nodiscard]] std::size_t window(double eps) const override { return cpu::window_of(eps, 16, 0x1p24); }
    [[nodiscard]] std::size_t bytes() const override;
    [[nodiscard]] std::string name() const override { return "pbsn"; }

  private:
    // A batch: its keys, or for keys of 64 bits their upper words, in chunks of one texture each.
    struct Batch {
        explicit Batch(gl::Device& device) : slot(device) {}
        ChunkSlot slot;
        std::optional<Keys> keys;
        std::size_t window = 0;
        std::vector<Chunk> chunks;
        std::vector<std::uint32_t> words;
        std::optional<ChunkSort<float>> floats;
        std::optional<ChunkSort<Half>> halves;
        std::size_t begun = 0;  // number of chunks
    };
    struct Tools {
        explicit Tools(gl::Device& device) : pbsn(device), batches{Batch(device), Batch(device)} {}
        Pbsn pbsn;
        std::array<Batch, slots> batches;
    };
    void check(Keys keys, std::size_t window) const override;
    void begin_in(std::size_t slot, gl::Device& device, Keys keys, std::size_t window, std::size_t step) override;
    Times finish_in(std::size_t slot) override;
    void begin_chunk(Batch& batch);
    void put_by_words(const Batch& batch);

    std::optional<Tools> gpu_;
    cpu::Scratch scratch_;
};

// SIGMOD'06: GPUTeraSort's network.
class BitonicWindowSorter : public SlotWindowSorter {
  public:
    BitonicWindowSorter(Context context, const SortOptions& options);
    [[nodiscard]] std::string name() const override { return "bitonic"; }

  private:
    struct Tools {
        Tools(gl::Device& device, cpu::Workers& workers)
            : bitonic(device, workers), slot{BitonicSlot(device), BitonicSlot(device)} {}
        BitonicSort bitonic;
        std::array<BitonicSlot, slots> slot;
    };
    [[nodiscard]] BitonicJob job(Keys keys, std::size_t window) const;
    void check(Keys keys, std::size_t window) const override;
    void begin_in(std::size_t slot, gl::Device& device, Keys keys, std::size_t window, std::size_t step) override;
    Times finish_in(std::size_t slot) override;

    std::optional<Tools> gpu_;
    std::array<bool, slots> empty_{};
};

// The merge engine with CPU threads next to it.
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

// Engine::Hybrid: the GPU and the CPU share the windows of each batch. The CPU's share grows if it finishes before the
// GPU, and shrinks otherwise.
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
    std::deque<Part> in_flight_;
    double cpu_share_ = 0;
};

// Engine::Auto on a GPU: the CPU takes batches for which the GPU has no room, or which the CPU was measured to sort
// faster.
class AutoWindowSorter : public SharedWindowSorter {
  public:
    AutoWindowSorter(const Context& context, const SortOptions& options);
    void begin(Keys keys, std::size_t window) override { begin_batch(keys, window, 0); }
    void finish() override;
    [[nodiscard]] bool can_sample() const override { return true; }
    void begin_sample(Keys keys, std::size_t window, std::size_t step) override;
    [[nodiscard]] std::string name() const override { return "merge"; }

  protected:
    [[nodiscard]] virtual bool goes_to_gpu(Keys keys, std::size_t window) const;

  private:
    void begin_batch(Keys keys, std::size_t window, std::size_t step);

    // A batch, with the part that the CPU still has to sample.
    struct Batch {
        WindowSorter* sorter = nullptr;
        std::optional<cpu::WindowSample> sample{};
    };
    SortCrossings crossings_;
    unsigned threads_;
    std::deque<Batch> in_flight_;
};

}  // namespace quadmill::detail::sort
