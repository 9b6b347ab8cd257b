#include "query/cpu/join.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "quadmill/error.hpp"
#include "query/table/cells.hpp"
#include "query/table/order.hpp"

namespace quadmill::detail::query {

namespace {

// The rows of a side that can have a partner, ascending, and their values: all integers (or indices in one dictionary),
// or all doubles without NaN and -0.
template <class T>
struct Side {
    std::vector<T> keys;
    std::vector<std::uint32_t> rows;
};

// `key_of` returns nothing for values without a partner.
template <class T, class KeyOf>
Side<T> side_of(const JoinSide& from, const KeyOf& key_of) {
    Side<T> side;
    side.keys.reserve(from.table.rows);
    side.rows.reserve(from.table.rows);
    const Cells cells(from.table, from.column);
    for (std::size_t row = 0; row < from.table.rows; ++row) {
        if (from.rows && (((*from.rows)[row / 32] >> (row % 32)) & 1U) == 0) continue;
        if (!cells.has_value(row)) continue;
        const std::optional<T> key = cells.visit(row, [&](auto value) { return key_of(value); });
        if (!key) continue;
        side.keys.push_back(*key);
        side.rows.push_back(static_cast<std::uint32_t>(row));
    }
    return side;
}

Side<std::int64_t> integers(const JoinSide& from) {
    return side_of<std::int64_t>(from, [](auto value) { return std::optional(static_cast<std::int64_t>(value)); });
}

Side<double> doubles(const char* function, const JoinSide& from) {
    return side_of<double>(from, [&]<class T>(T value) -> std::optional<double> {
        if constexpr (std::is_same_v<T, std::int64_t>) {
            if (value > exact_doubles || value < -exact_doubles)
                throw InvalidArgument(std::string(function) + ": column '" + from.table.columns[from.column]->name +
                                      "' has the integer " + std::to_string(value) +
                                      ", beyond 2^53: it cannot be joined " + "exactly with floats");
        }
        const auto key = static_cast<double>(value) + 0.0;  // turns -0 into 0
        return std::isnan(key) ? std::nullopt : std::optional(key);
    });
}

// Indices in one dictionary. Texts that the other dictionary lacks are dropped.
Side<std::uint32_t> texts(const JoinSide& from, const TableData& other) {
    const auto places = places_in(*from.table.dictionary, *other.dictionary);
    return side_of<std::uint32_t>(from, [&](auto value) {
        const auto place = places[static_cast<std::size_t>(value)];
        return place == no_place ? std::nullopt : std::optional(place);
    });
}

// |a - b| <= band, computed exactly.
class Near {
  public:
    explicit Near(double band)
        : band_(band), whole_(band >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(std::floor(band))) {}

    bool operator()(std::uint32_t a, std::uint32_t b) const { return a == b; }  // of texts
    bool operator()(std::int64_t a, std::int64_t b) const {
        const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
        return (a < b ? y - x : x - y) <= whole_;
    }
    bool operator()(double a, double b) const {
        if (a < b) std::swap(a, b);
        if (a == b) return true;
        const double difference = a - b;
        if (difference != band_ || std::isinf(difference)) return difference <= band_;
        // The difference was rounded to the band itself. The rounding error decides (Knuth's two-sum).
        const double b_seen = a - difference, a_seen = difference + b_seen;
        return (a - a_seen) + (b_seen - b) <= 0;
    }

  private:
    double band_;
    std::uint64_t whole_;
};

// Algorithm 2 of MDS'09.
template <class T>
std::uint64_t nested_loops(const Side<T>& left, const Side<T>& right, const Near& near, PairChunk& chunk) {
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < left.keys.size(); ++i) {
        const auto key = left.keys[i];
        for (std::size_t j = 0; j < right.keys.size(); ++j) {
            if (!near(key, right.keys[j])) continue;
            ++found;
            if (!chunk.enough()) chunk.add(left.rows[i], right.rows[j]);
        }
    }
    return found;
}

// Partners of a left row: positions [begin, end) in the right side's order.
struct Window {
    std::uint32_t begin = 0, end = 0;
};

// Indexed by row of the left side. One walk over both sides in order: for larger keys, windows begin and end later.
template <class T>
std::vector<Window> windows(std::vector<T> left, const std::vector<T>& right, const Near& near,
                            const JoinTools& tools) {
    std::vector<std::uint32_t> index(left.size());
    tools.sort_with_index(std::span(left), index);
    std::vector<Window> all(left.size());
    std::uint32_t begin = 0, end = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const auto key = left[i];
        while (begin < right.size() && right[begin] < key && !near(key, right[begin])) ++begin;
        end = std::max(end, begin);
        while (end < right.size() && (right[end] <= key || near(key, right[end]))) ++end;
        all[index[i]] = {begin, end};
    }
    return all;
}

template <class T>
std::uint64_t sort_merge(Side<T> left, Side<T> right, const Near& near, const JoinTools& tools, PairChunk& chunk) {
    std::vector<std::uint32_t> order(right.keys.size());
    tools.sort_with_index(std::span(right.keys), order);
    const auto all = windows(std::move(left.keys), right.keys, near, tools);
    for (auto& position : order) position = right.rows[position];  // the right rows, ordered by their keys
    std::uint64_t found = 0;
    std::vector<std::uint32_t> partners;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto [begin, end] = all[i];
        found += end - begin;
        if (begin == end || chunk.enough()) continue;
        auto rows = std::span(order).subspan(begin, end - begin);
        if (right.keys[begin] != right.keys[end - 1]) {  // for equal keys, the sort is stable
            partners.assign(rows.begin(), rows.end());
            std::sort(partners.begin(), partners.end());
            rows = partners;
        }
        for (auto row = rows.begin(); row != rows.end() && !chunk.enough(); ++row) chunk.add(left.rows[i], *row);
    }
    return found;
}

// The rows of each text are counted, and need not be sorted.
std::uint64_t counted(const Side<std::uint32_t>& left, const Side<std::uint32_t>& right, PairChunk& chunk) {
    const auto last = *std::ranges::max_element(right.keys);
    std::vector<std::uint32_t> ends(std::size_t{last} + 2), order(right.keys.size());
    for (const auto key : right.keys) ++ends[key + 1];
    for (std::size_t key = 1; key < ends.size(); ++key) ends[key] += ends[key - 1];
    // Each text's end begins as its first position, and moves behind its last row.
    for (std::size_t i = 0; i < order.size(); ++i) order[ends[right.keys[i]]++] = right.rows[i];
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < left.keys.size(); ++i) {
        const auto key = left.keys[i];
        if (key > last) continue;
        const auto begin = key > 0 ? ends[key - 1] : 0, end = ends[key];
        found += end - begin;
        for (auto at = begin; at < end && !chunk.enough(); ++at) chunk.add(left.rows[i], order[at]);
    }
    return found;
}

template <class T>
std::uint64_t pairs(Side<T> left, Side<T> right, const Near& near, const Join& on, const JoinTools& tools,
                    const std::function<Next(std::span<const RowPair>)>& take) {
    if (left.keys.empty() || right.keys.empty()) return 0;
    PairChunk chunk(tools.tuning.chunk, take);
    if constexpr (std::is_same_v<T, std::uint32_t>) {
        if (on.method == JoinMethod::Auto) {
            const auto found = counted(left, right, chunk);
            chunk.flush();
            return found;
        }
    }
    const bool loops = on.method == JoinMethod::NestedLoops ||
                       (on.method == JoinMethod::Auto && are_few(left.keys.size(), right.keys.size(), tools.tuning));
    const auto found = loops ? nested_loops(left, right, near, chunk)
                             : sort_merge(std::move(left), std::move(right), near, tools, chunk);
    chunk.flush();
    return found;
}

}  // namespace

bool are_few(std::uint64_t left, std::uint64_t right, const Tuning& tuning) {
    return left <= tuning.nested_comparisons / right;
}

std::uint64_t join(const JoinSide& left, const JoinSide& right, const Join& on, const JoinTools& tools,
                   const std::function<Next(std::span<const RowPair>)>& take) {
    constexpr std::size_t max = std::size_t{1} << 31U;
    for (const auto rows : {left.table.rows, right.table.rows}) {
        if (rows > max)
            throw InvalidArgument(std::string(tools.function) + ": a join takes tables of at most 2^31 rows, not " +
                                  std::to_string(rows));
    }
    const auto type = [](const JoinSide& side) { return side.table.columns[side.column]->type; };
    const Near near(on.band);
    if (type(left) == ColumnType::Text)
        return pairs(texts(left, right.table), texts(right, right.table), near, on, tools, take);
    if (is_float(type(left)) || is_float(type(right)))
        return pairs(doubles(tools.function, left), doubles(tools.function, right), near, on, tools, take);
    return pairs(integers(left), integers(right), near, on, tools, take);
}

}  // namespace quadmill::detail::query
