#include "query/index/cuts.hpp"

#include <algorithm>

namespace quadmill::detail::query {

Cuts::Cuts(const std::vector<Key>& sample, std::size_t cells, Key min, Key max) : min_(min), max_(max) {
    for (std::size_t i = 1; i < cells && !sample.empty(); ++i) {
        auto key = sample[i * sample.size() / cells];
        if (!cuts_.empty() && key == cuts_.back()) {
            if (key == ~Key{0}) break;
            ++key;  // the end of a cell with one key
        }
        if (cuts_.empty() || key > cuts_.back()) cuts_.push_back(key);
    }
}

CutTree Cuts::tree() const {
    constexpr std::size_t above = CutTree::keys_above, in_node = CutTree::keys_a_node;
    CutTree tree{.levels = 1};
    auto leaves = in_node + 1;  // below a node
    for (; leaves * (above + 1) < cuts_.size() + 1; leaves *= in_node + 1) ++tree.levels;
    const auto cut_at_end_of = [this](std::size_t leaf) { return leaf < cuts_.size() ? cuts_[leaf] : ~Key{0}; };
    for (std::size_t n = 1; n <= above; ++n) tree.top.push_back(cut_at_end_of(n * leaves - 1));
    for (auto nodes = above + 1; leaves > 1; nodes *= in_node + 1) {
        const auto below = leaves / (in_node + 1);
        for (std::size_t n = 0; n < nodes; ++n) {
            for (std::size_t k = 1; k <= in_node; ++k) tree.nodes.push_back(cut_at_end_of(n * leaves + k * below - 1));
        }
        leaves = below;
    }
    return tree;
}

int Cuts::cell(Key key) const {
    return static_cast<int>(std::upper_bound(cuts_.begin(), cuts_.end(), key) - cuts_.begin());
}

std::optional<CellsOfRange> Cuts::cells_of(const KeyRange& range) const {
    const auto keys = segment(std::max(range.low, min_), std::min(range.high, max_));
    if (!keys) return {};
    const auto first = cell(keys->low), last = cell(keys->high);
    const auto at = [this](int cut) { return cuts_[static_cast<std::size_t>(cut)]; };
    const auto low = first > 0 ? std::max(at(first - 1), min_) : min_;
    const auto high = last + 1 < cells() ? std::min(at(last) - 1, max_) : max_;
    CellsOfRange found{.outer = {first, last + 1},
                       .inner = {keys->low == low ? first : first + 1, keys->high == high ? last + 1 : last}};
    if (found.inner.empty()) found.inner = {last + 1, last + 1};
    return found;
}

}  // namespace quadmill::detail::query
