// Whether the merge engine has room for keys, asked before any work.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "quadmill/context.hpp"
#include "sort/merge/merge_sort.hpp"
#include "sort/task.hpp"

namespace quadmill::detail::sort {

// Why it cannot take them, if so, with the bytes that they need. `merge` is what will sort them, once it is made; so
// many such tasks will be under way at once. Pre: no session needs to be open.
[[nodiscard]] std::optional<std::string> no_room(const Context& context, const SortOptions& options,
                                                 const MergeSort* merge, const Task& task, std::size_t lanes = 1);

}  // namespace quadmill::detail::sort
