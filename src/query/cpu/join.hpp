// Pairs of rows of two columns that are equal, or differ by at most a band.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "quadmill/join.hpp"
#include "quadmill/keys.hpp"
#include "query/plan/key_range.hpp"
#include "query/plan/tuning.hpp"
#include "query/table/key.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::query {

// A column and its selected rows, as one bit per row, or all rows.
struct JoinSide {
    const TableData& table;
    std::size_t column = 0;
    const std::vector<std::uint32_t>* rows = nullptr;
};

enum class Next { More, Enough };

// Indices of a left row (or its range) and of a right row (or its key).
struct Match {
    std::uint32_t left, right;
};
using TakeMatches = std::function<Next(std::span<const Match>)>;
// Nested loops on the GPU. Passes pairs of ranges and keys in them to `take`, ordered by range, then by key. Returns
// their number. `block_rows` is Join's.
using MatchAll = std::function<std::uint64_t(std::span<const KeyRange> ranges, std::span<const Key> keys,
                                             std::size_t block_rows, const TakeMatches& take)>;

struct JoinTools {
    const char* function;  // messages begin with it
    std::function<void(Keys keys, std::span<std::uint32_t> index)> sort_with_index;
    MatchAll match{};  // null: nested loops run on the CPU
    Tuning tuning{};
};

// Collects pairs and passes them to `take`, a chunk at a time.
class PairChunk {
  public:
    PairChunk(std::size_t size, const std::function<Next(std::span<const RowPair>)>& take) : size_(size), take_(take) {
        pairs_.reserve(size);
    }
    [[nodiscard]] bool enough() const { return enough_; }
    void add(std::uint32_t left, std::uint32_t right) {
        pairs_.push_back({left, right});
        if (pairs_.size() == size_) flush();
    }
    // Adds the rows of these matches, until that is enough.
    template <class RowsOf>
    Next add(std::span<const Match> matches, const RowsOf& rows_of) {
        for (std::size_t i = 0; i < matches.size() && !enough_; ++i) {
            const auto& [left, right] = rows_of(matches[i]);
            add(left, right);
        }
        return enough_ ? Next::Enough : Next::More;
    }
    void flush() {
        if (!pairs_.empty() && !enough_) enough_ = take_(pairs_) == Next::Enough;
        pairs_.clear();
    }

  private:
    std::size_t size_;
    const std::function<Next(std::span<const RowPair>)>& take_;
    std::vector<RowPair> pairs_;
    bool enough_ = false;
};

// The method that JoinMethod::Auto chooses for these numbers of rows with possible partners. Pre: each side has at
// least one.
enum class JoinWay { LoopsOnCpu, LoopsOnGpu, SortMerge };
[[nodiscard]] JoinWay quickest(std::uint64_t left, std::uint64_t right, const JoinTools& tools);

// Passes the pairs to `take`, ordered by left row, then by right row, at most tuning.chunk at a time. Returns their
// number, even if `take` stops. Pre: both columns are text or both are numbers, and are in memory. Throws
// InvalidArgument if a number of one side cannot be compared exactly with the other side as doubles (an integer beyond
// 2^53), or a table has more than 2^31 rows.
std::uint64_t join(const JoinSide& left, const JoinSide& right, const Join& on, const JoinTools& tools,
                   const std::function<Next(std::span<const RowPair>)>& take);

}  // namespace quadmill::detail::query
