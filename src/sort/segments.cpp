#include "sort/segments.hpp"

namespace quadmill::detail::sort {

void Segments::add(std::size_t first_key, std::size_t keys) {
    const auto pairs = (keys + pair_keys_ - 1) / pair_keys_;
    if (pairs == 0) return;
    all_.push_back({first_key, keys, pairs_});
    pairs_ += pairs;
    longest_pairs_ = std::max(longest_pairs_, pairs);
}

}  // namespace quadmill::detail::sort
