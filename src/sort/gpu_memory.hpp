// Whether keys fit into the GPU memory for the merge engine; checked before any work.
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
    std::size_t pairs = 0;  // of blocks
    std::size_t tiles = 0;  // that subgroups take for them; 0 if they cannot
    bool parts = false;     // windows or segments
    std::size_t lanes = 1;  // tasks in flight, each with memory for transfers
    std::size_t copy = 0;   // bytes of a copy of the caller's texture
};

// Tiles that subgroups take for keys; 0 if they cannot sort them.
[[nodiscard]] std::size_t tiles_for(const Context& context, const SortOptions& options, const KeyForm& form,
                                    const std::optional<EqualSegments>& keys);

// The reason if they do not fit, with the bytes that they need. `merge` will sort them, if it exists already. No
// session needs to be open.
[[nodiscard]] std::optional<std::string> no_space(const Context& context, const SortOptions& options,
                                                  const MergeSort* merge, const MergeSpace& asked);
[[nodiscard]] std::optional<std::string> no_space(const Context& context, const SortOptions& options,
                                                  const MergeSort* merge, const Task& task, std::size_t lanes = 1);

}  // namespace quadmill::detail::sort
