#include "sort/merge/segments.hpp"

namespace quadmill::detail::sort {

void Segments::add(std::size_t first_key, std::size_t keys) {
    const auto pairs = (keys + pair_keys_ - 1) / pair_keys_;
    if (pairs == 0) return;
    const auto size = all_.empty() ? keys : all_.front().keys;
    equal_ = equal_ && first_key == all_.size() * size && keys <= size && (all_.empty() || all_.back().keys == size);
    all_.push_back({first_key, keys, pairs_});
    pairs_ += pairs;
    longest_pairs_ = std::max(longest_pairs_, pairs);
}

void Segments::add_windows(std::size_t n, std::size_t window) {
    if (n == 0) return;
    window = std::min(window, n);
    all_.reserve(all_.size() + (n - 1) / window + 1);
    for (std::size_t first = 0; first < n; first += window) add(first, std::min(window, n - first));
}

}  // namespace quadmill::detail::sort
