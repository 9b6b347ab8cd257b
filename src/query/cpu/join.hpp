// Pairs of rows of two columns that are equal, or differ by at most a band.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "quadmill/sort.hpp"
#include "query/plan/key_range.hpp"
#include "query/plan/tuning.hpp"
#include "query/table/key.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::query {

// A column and the rows of it that count: a bit each, or all.
struct JoinSide {
    const TableData& table;
    std::size_t column;
    const std::vector<std::uint32_t>* rows = nullptr;
};

enum class Next { More, Enough };

// Of the keys, those in a range: key 32 word + i for each bit i that is set. One is.
struct Match {
    std::uint32_t range, word, bits;
};
using TakeMatches = std::function<void(std::span<const Match>)>;
// Nested loops on the GPU, a range being what a row of the left side looks for: gives all matches to `take`, by range, then by word.
using MatchAll =
    std::function<void(std::span<const KeyRange> ranges, std::span<const Key> keys, const TakeMatches& take)>;

struct JoinTools {
    const char* function;  // that messages begin with
    std::function<void(Keys keys, std::span<std::uint32_t> index)> sort_with_index;
    MatchAll match{};  // null: nested loops are the CPU's
    Tuning tuning{};
};

// Gives the pairs to `take`, by left row, then by right row, at most tuning.chunk at a time. Returns how many there
// are, also when `take` has had enough. Pre: both columns are of text or both of numbers, and in memory.
// Throws InvalidArgument where a number of one side and the type of the other cannot be compared exactly as doubles (an
// integer beyond 2^53), or a table has more than 2^31 rows.
std::uint64_t join(const JoinSide& left, const JoinSide& right, double band, JoinMethod method, const JoinTools& tools,
                   const std::function<Next(std::span<const RowPair>)>& take);

}  // namespace quadmill::detail::query
