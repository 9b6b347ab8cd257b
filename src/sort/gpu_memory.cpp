#include "sort/gpu_memory.hpp"

#include <algorithm>

#include "gl/device.hpp"
#include "gl/pixels.hpp"

namespace quadmill::detail::sort {

std::size_t tiles_for(const Context& context, const SortOptions& options, const KeyForm& form,
                      const std::optional<EqualSegments>& keys) {
    const bool together = options.merge.kernel != MergeKernel::Fragment &&
                          detail::Access::of(context)->features.subgroups && SubgroupPasses::can(form) && keys;
    return together ? max_tiles(form, *keys) : 0;
}

std::optional<std::string> no_space(const Context& context, const SortOptions& options, const MergeSort* merge,
                                    const Task& task, std::size_t slots) {
    const KeyForm form{task.keys.type(), task.order, !task.index.empty()};
    const bool parts = task.what == Task::What::Segments || task.what == Task::What::Windows;
    return no_space(context, options, merge,
                    MergeSpace{.function = task.function,
                               .form = form,
                               .pairs = task.pairs(form),
                               .tiles = tiles_for(context, options, form, task.equal_segments()),
                               .parts = parts,
                               .slots = slots});
}

std::optional<std::string> no_space(const Context& context, const SortOptions& options, const MergeSort* merge,
                                    const MergeSpace& asked) {
    const auto& form = asked.form;
    const auto too_many = [&](const std::string& max, const std::string& needed) {
        return "Engine::Merge sorts at most " + max + " at a time, and these need " + needed +
               (asked.parts
                    ? " (each window or segment counts as a multiple of " + std::to_string(form.pair_keys()) + ")"
                    : "") +
               "; sort fewer at a time" + (asked.copy > 0 ? "" : ", or use Engine::Cpu");
    };
    if (asked.pairs > MergeTextures::max_pairs) {
        return too_many(std::to_string(MergeTextures::max_pairs * form.pair_keys()) + " such keys",
                        std::to_string(asked.pairs * form.pair_keys()));
    }
    const auto staging =
        context.info().software ? asked.slots * MergeTextures::staging_bytes(form, asked.pairs) : std::size_t{0};
    // Whether the driver's subgroups are usable is not known before they are needed.
    const auto needed = std::max(MergeTextures::bytes(form, asked.pairs),
                                 asked.tiles > 0 ? TileTextures::bytes(form, asked.tiles) : 0) +
                        asked.copy + staging;
    const auto limit = options.gpu_memory;
    if (limit > 0 && needed > limit) {
        return too_many("what fits into SortOptions::gpu_memory, " + std::to_string(limit) + " bytes",
                        std::to_string(needed) + " bytes");
    }
    if (limit > 0 || needed < gl::worth_asking ||
        (merge && merge->has_room(form, asked.pairs, asked.tiles, asked.copy)))
        return {};
    const gl::Scope scope(*detail::Access::of(context), asked.function);
    auto free = gl::free_bytes(*detail::Access::of(context));
    if (!free) return {};
    if (merge) *free += merge->texture_bytes() + (asked.copy > 0 ? merge->copy_bytes() : 0);  // these go first
    if (needed <= *free) return {};
    return too_many("what fits into the free memory, " + std::to_string(*free) + " bytes as the driver says",
                    std::to_string(needed) + " bytes (SortOptions::gpu_memory overrides what the driver says)");
}

}  // namespace quadmill::detail::sort
