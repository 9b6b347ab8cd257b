// Sorted lists without duplicates.
#pragma once

#include <algorithm>
#include <vector>

namespace quadmill::detail::query {

template <class T>
void sort_unique(std::vector<T>& list) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace quadmill::detail::query
