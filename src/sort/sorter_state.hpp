// The state behind a Sorter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "cpu/scratch.hpp"
#include "cpu/workers.hpp"
#include "quadmill/sort.hpp"
#include "sort/bitonic/bitonic_sort.hpp"
#include "sort/caller_sort.hpp"
#include "sort/gpu_memory.hpp"
#include "sort/merge/merge_sort.hpp"
#include "sort/pbsn/chunk_sort.hpp"
#include "sort/pbsn/texture_sort.hpp"
#include "sort/task.hpp"

namespace quadmill {

struct Sorter::State {
    using Device = detail::gl::Device;
    using Task = detail::sort::Task;
    using KeyForm = detail::sort::KeyForm;
    using MergeSort = detail::sort::MergeSort;
    using CallerSort = detail::sort::CallerSort;
    using BitonicSort = detail::sort::BitonicSort;

    State(Context with, const SortOptions& wanted);

    // Made on first use, within a session.
    struct PbsnTools {
        explicit PbsnTools(Device& device)
            : pbsn(device), slots{detail::sort::ChunkSlot(device), detail::sort::ChunkSlot(device)} {}
        detail::sort::Pbsn pbsn;
        std::array<detail::sort::ChunkSlot, 2> slots;
        detail::cpu::Scratch scratch;
        std::optional<detail::sort::TextureSort> texture_sort;
    };
    // Whether Pbsn can sort 32-bit floats. The first call draws a test and waits for it.
    bool blends(Device& device) {
        if (!can_blend) can_blend = !detail::sort::Pbsn::refusal(device, detail::gl::Format::Rgba32f);
        return *can_blend;
    }
    PbsnTools& pbsn_tools() { return gpu ? *gpu : gpu.emplace(*detail::Access::of(context)); }

    // For keys in memory. Defined in sorter.cpp.
    SortStats sort(const Task& task);
    SortStats top(const Task& task, Keys best);
    // For textures and buffers of the application: sorter_objects.cpp.
    SortStats argsort_texture(const TextureRegion& keys, const std::optional<Plane>& plane, std::uint32_t index,
                              int channel, Order order);
    SortStats argsort_segments(const char* function, const TextureRegion& keys, std::span<const std::size_t> ends,
                               std::uint32_t index, int channel, Order order);
    SortStats run_on_buffers(const char* function, const BufferKeys& keys, const std::optional<Plane>& plane,
                             std::size_t count, std::optional<BufferKeys> index, Order order);
    // What sort_texture does if Engine::Auto has no space for the merge engine.
    enum class NoSpace { Throw, Blend };
    SortStats sort_region(const TextureRegion& input, const TextureRegion& output, TexelChannels channels, Order order,
                          NoSpace if_none = NoSpace::Throw);
    SortStats sort_by_blending(std::uint32_t input, std::uint32_t output, Order order);
    SortStats percentiles(const TextureRegion& keys, std::span<const double> phi, std::uint32_t output, int channel);
    template <class T>
    RankSample<T> sample_region(const TextureRegion& keys, double eps, int channel);
    [[nodiscard]] detail::sort::MergeSpace space_for(const char* function, const KeyForm& form,
                                                     std::size_t count) const;
    [[nodiscard]] std::optional<std::string> no_space(const detail::sort::MergeSpace& space) const {
        return detail::sort::no_space(context, options, merge ? &*merge : nullptr, space);
    }
    [[nodiscard]] std::optional<std::string> no_space(const char* function, const KeyForm& form, std::size_t count,
                                                      std::size_t copy) const;
    void check_space(const char* function, const KeyForm& form, std::size_t count, std::size_t copy) const;
    void rehearse(SortCall call, KeyType type, std::size_t count);
    [[nodiscard]] KeyForm form(const Task& task) const { return {task.keys.type(), task.order, !task.index.empty()}; }
    [[nodiscard]] std::optional<std::string> no_space(const Task& task) const {
        return detail::sort::no_space(context, options, merge ? &*merge : nullptr, task);
    }
    [[nodiscard]] Engine engine_for(const Task& task);
    void check_engine(const char* function, std::initializer_list<Engine> some, const char* names) const;
    template <class Float>
    SortStats sort_with_pbsn(const Task& task, std::span<Float> keys);
    SortStats sort_with_pbsn(const Task& task);
    SortStats sort_with_bitonic(const Task& task);
    SortStats sort_with_merge(const Task& task);
    SortStats sort_with_hybrid(const Task& task);
    SortStats run_on_cpu(const Task& task) const;
    SortStats argsort_on_cpu(const Task& task) const;
    [[nodiscard]] SortStats with_memory(SortStats stats) const;
    SortStats run_with(Engine engine, const Task& task);
    MergeSort& merge_sort() {
        if (!merge) {
            merge.emplace(*detail::Access::of(context), workers, options.gpu_memory);
            merge->plan().kernel = options.merge.kernel;
        }
        return *merge;
    }
    CallerSort& caller_sort() { return caller ? *caller : caller.emplace(*detail::Access::of(context), merge_sort()); }
    BitonicSort& bitonic_sort() { return bitonic ? *bitonic : bitonic.emplace(*detail::Access::of(context), workers); }
    template <class Other, class Float>
    SortStats converted(Task task, std::span<Float> keys);

    [[nodiscard]] Order order_or_usual(std::optional<Order> order) const { return order.value_or(options.order); }
    [[nodiscard]] SortOptions options_with(Order order) const {
        auto ordered = options;
        ordered.order = order;
        return ordered;
    }

    Context context;
    SortOptions options;
    detail::cpu::Workers workers;
    SortCrossings crossings;
    std::optional<PbsnTools> gpu;
    std::optional<bool> can_blend;  // set by blends()
    std::optional<MergeSort> merge;
    std::optional<BitonicSort> bitonic;
    std::optional<CallerSort> caller;
};

}  // namespace quadmill
