// Checks, before any work, whether the merge engine's textures for these keys fit into the GPU's memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"
#include "sort/merge/merge_sort.hpp"
#include "sort/task.hpp"

namespace quadmill::detail::sort {

struct MergeSpace {
    const char* function = "";
    KeyForm form;
    std::size_t pairs = 0;  // pairs of blocks
    std::size_t tiles = 0;  // tiles for subgroups; 0 if subgroups cannot sort the keys
    bool parts = false;     // whether there are windows or segments
    std::size_t slots = 1;  // tasks in flight, each with staging memory
    std::size_t copy = 0;   // bytes of a copy of the caller's texture
};

// Tiles of subgroups for these keys; 0 if subgroups cannot sort them.
[[nodiscard]] std::size_t tiles_for(const Context& context, const SortOptions& options, const KeyForm& form,
                                    const std::optional<EqualSegments>& keys);

// If the keys do not fit, the reason with the bytes that they need. `merge` is the object that will sort them, if it
// already exists. No session needs to be open.
[[nodiscard]] std::optional<std::string> no_space(const Context& context, const SortOptions& options,
                                                  const MergeSort* merge, const MergeSpace& asked);
[[nodiscard]] std::optional<std::string> no_space(const Context& context, const SortOptions& options,
                                                  const MergeSort* merge, const Task& task, std::size_t slots = 1);

}  // namespace quadmill::detail::sort
