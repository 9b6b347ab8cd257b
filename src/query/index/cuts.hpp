// Cells of a column: its keys between two cuts. No OpenGL.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "query/plan/key_range.hpp"

namespace quadmill::detail::query {

// Cells [begin, end).
struct CellSpan {
    int begin = 0, end = 0;
    [[nodiscard]] bool empty() const { return begin >= end; }
};

// Cells that a range touches, and those whose keys are all in the range. If there are none of the latter, `inner` is
// empty at the end of `outer`.
struct CellsOfRange {
    CellSpan outer, inner;
};

// Cuts as a tree that fragments search: 17 nodes below 16 keys, and five below the four keys of a node. A key's cell is
// the number of the leaf where it arrives, if each step adds the number of keys that are at most the key.
struct CutTree {
    static constexpr int keys_above = 16, keys_a_node = 4;
    std::vector<Key> top{};    // the 16
    std::vector<Key> nodes{};  // the keys of the nodes, level after level; after the last cut come keys ~0
    int levels = 0;            // of nodes, at least 1
};

class Cuts {
  public:
    Cuts() = default;
    // Divides keys from `min` to `max` into about that many cells with equal numbers of sample keys. A key that fills a
    // cell gets its own. Pre: the sample is sorted.
    Cuts(const std::vector<Key>& sample, std::size_t cells, Key min, Key max);

    // Ascending. A key's cell is the number of cuts that are at most the key.
    [[nodiscard]] const std::vector<Key>& cuts() const { return cuts_; }
    [[nodiscard]] CutTree tree() const;
    [[nodiscard]] int cells() const { return static_cast<int>(cuts_.size()) + 1; }
    // Nothing if no key of the column is in the range.
    [[nodiscard]] std::optional<CellsOfRange> cells_of(const KeyRange& range) const;

  private:
    [[nodiscard]] int cell(Key key) const;

    std::vector<Key> cuts_;
    Key min_ = 0, max_ = ~Key{0};
};

}  // namespace quadmill::detail::query
