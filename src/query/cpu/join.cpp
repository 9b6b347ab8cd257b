#include "query/cpu/join.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
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
Side<std::int64_t> texts(const JoinSide& from, const TableData& other) {
    const auto places = places_in(*from.table.dictionary, *other.dictionary);
    return side_of<std::int64_t>(from, [&](auto value) {
        const auto place = places[static_cast<std::size_t>(value)];
        return place == no_place ? std::nullopt : std::optional(std::int64_t{place});
    });
}

// |a - b| <= band, computed exactly.
class Near {
  public:
    explicit Near(double band)
        : band_(band), whole_(band >= 0x1p64 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(std::floor(band))) {}

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

    // The smallest and the largest number that are near it.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> ends(std::int64_t a) const {
        using Limits = std::numeric_limits<std::int64_t>;
        const auto x = static_cast<std::uint64_t>(a);
        return {(*this)(a, Limits::min()) ? Limits::min() : static_cast<std::int64_t>(x - whole_),
                (*this)(a, Limits::max()) ? Limits::max() : static_cast<std::int64_t>(x + whole_)};
    }
    [[nodiscard]] std::pair<double, double> ends(double a) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (band_ == infinity) return {-infinity, infinity};
        // A sum is rounded to one of the two neighbouring doubles.
        double low = a - band_, high = a + band_;
        if (!(*this)(a, low)) low = std::nextafter(low, infinity);
        if (!(*this)(a, high)) high = std::nextafter(high, -infinity);
        const double below = std::nextafter(low, -infinity), above = std::nextafter(high, infinity);
        return {(*this)(a, below) ? below : low, (*this)(a, above) ? above : high};
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

// Doubles as floats. The order, including infinities, stays, so that a range of doubles becomes the range of the floats
// within it.
float largest_float_to(double max) {
    constexpr double largest = std::numeric_limits<float>::max(), infinity = std::numeric_limits<double>::infinity();
    if (std::isinf(max)) return static_cast<float>(max);
    const auto nearest = static_cast<float>(std::clamp(max, -largest, largest));
    return static_cast<double>(nearest) > max ? std::nextafter(nearest, static_cast<float>(-infinity)) : nearest;
}

bool is_float_value(double value) {
    return static_cast<double>(largest_float_to(value)) == value;
}

// Input of the GPU's comparisons: the right side's keys, and for each row of the left side its range of keys, if it is
// not empty.
struct Loops {
    std::vector<Key> keys;
    std::vector<KeyRange> ranges;
    std::vector<std::uint32_t> rows;  // left rows of the ranges

    Loops(std::size_t left, std::size_t right) {
        keys.reserve(right);
        ranges.reserve(left);
        rows.reserve(left);
    }
};

Loops loops(const Side<std::int64_t>& left, const Side<std::int64_t>& right, const Near& near) {
    Loops made(left.keys.size(), right.keys.size());
    const auto key = [](std::int64_t value) { return KeyOf<std::int64_t>::key(value); };
    std::transform(right.keys.begin(), right.keys.end(), std::back_inserter(made.keys), key);
    for (const auto value : left.keys) {
        const auto [low, high] = near.ends(value);
        made.ranges.push_back({key(low), key(high)});
    }
    made.rows = left.rows;
    return made;
}

// Uses keys of 32 bits if the right side has floats.
Loops loops(const Side<double>& left, const Side<double>& right, const Near& near) {
    const bool floats = std::all_of(right.keys.begin(), right.keys.end(), is_float_value);
    Loops made(left.keys.size(), right.keys.size());
    for (const auto value : right.keys)
        made.keys.push_back(floats ? KeyOf<float>::key(static_cast<float>(value)) : KeyOf<double>::key(value));
    for (std::size_t i = 0; i < left.keys.size(); ++i) {
        const auto [low, high] = near.ends(left.keys[i]);
        const auto range =
            floats ? KeyRange{KeyOf<float>::key(-largest_float_to(-low)), KeyOf<float>::key(largest_float_to(high))}
                   : KeyRange{KeyOf<double>::key(low), KeyOf<double>::key(high)};
        if (range.low > range.high) continue;  // no float is in the range
        made.ranges.push_back(range);
        made.rows.push_back(left.rows[i]);
    }
    return made;
}

template <class T>
std::uint64_t nested_loops_on_gpu(const Side<T>& left, const Side<T>& right, const Near& near, const MatchAll& match,
                                  std::size_t block_rows, PairChunk& chunk) {
    const auto made = loops(left, right, near);
    return match(made.ranges, made.keys, block_rows, [&](std::span<const Match> matches) {
        return chunk.add(matches, [&](const Match& one) { return Match{made.rows[one.left], right.rows[one.right]}; });
    });
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

template <class T>
std::uint64_t pairs(Side<T> left, Side<T> right, const Near& near, const Join& on, const JoinTools& tools,
                    const std::function<Next(std::span<const RowPair>)>& take) {
    if (left.keys.empty() || right.keys.empty()) return 0;
    PairChunk chunk(tools.tuning.chunk, take);
    const auto way = on.method == JoinMethod::Auto        ? quickest(left.keys.size(), right.keys.size(), tools)
                     : on.method == JoinMethod::SortMerge ? JoinWay::SortMerge
                     : tools.match                        ? JoinWay::LoopsOnGpu
                                                          : JoinWay::LoopsOnCpu;
    const auto found = way == JoinWay::LoopsOnGpu
                           ? nested_loops_on_gpu(left, right, near, tools.match, on.block_rows, chunk)
                       : way == JoinWay::LoopsOnCpu ? nested_loops(left, right, near, chunk)
                                                    : sort_merge(std::move(left), std::move(right), near, tools, chunk);
    chunk.flush();
    return found;
}

}  // namespace

JoinWay quickest(std::uint64_t left, std::uint64_t right, const JoinTools& tools) {
    const auto& tuning = tools.tuning;
    if (left <= tuning.nested_comparisons / right) return JoinWay::LoopsOnCpu;
    const bool on_gpu = tools.match && left + right >= tuning.gpu_join_rows && right <= tuning.gpu_join_keys &&
                        left * right / (left + right) < tuning.gpu_comparisons_a_row;
    return on_gpu ? JoinWay::LoopsOnGpu : JoinWay::SortMerge;
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
