#include "sort/gpu_memory.hpp"

#include "gl/device.hpp"
#include "gl/pixels.hpp"

namespace quadmill::detail::sort {

std::optional<std::string> no_room(const Context& context, const SortOptions& options, const MergeSort* merge,
                                   const Task& task, std::size_t lanes) {
    const KeyForm with{task.keys.type(), options.order, !task.index.empty()};
    const auto pairs = task.pairs(with);
    const bool parts = task.what == Task::What::Segments || task.what == Task::What::Windows;
    const auto too_many = [&](const std::string& most, const std::string& needed) {
        return "Engine::Merge sorts at most " + most + " at once, and these need " + needed +
               (parts ? " (each window or segment counts as a multiple of " + std::to_string(with.pair_keys()) + ")"
                      : "") +
               "; sort fewer at a time, or use Engine::Cpu";
    };
    if (pairs > MergeSurface::most_pairs) {
        return too_many(std::to_string(MergeSurface::most_pairs * with.pair_keys()) + " such keys",
                        std::to_string(pairs * with.pair_keys()));
    }
    const auto& info = context.info();
    const auto needed =
        MergeSurface::bytes(with, pairs) + (info.software ? lanes * MergeSurface::staging_bytes(with, pairs) : 0);
    const auto limit = options.gpu_memory;
    if (limit > 0 && needed > limit) {
        return too_many("what fits into SortOptions::gpu_memory, " + std::to_string(limit) + " bytes",
                        std::to_string(needed) + " bytes");
    }
    constexpr std::size_t worth_asking = std::size_t{1} << 26U;
    if (limit > 0 || needed < worth_asking || (merge && merge->has_room(with, pairs))) return {};
    const gl::Scope scope(*context.device(), task.function);
    auto free = gl::free_bytes(*context.device());
    if (!free) return {};
    if (merge) *free += merge->texture_bytes();  // which go first
    if (needed <= *free) return {};
    return too_many("what fits into the free memory, " + std::to_string(*free) + " bytes as the driver says",
                    std::to_string(needed) + " bytes (SortOptions::gpu_memory overrides what the driver says)");
}

}  // namespace quadmill::detail::sort
