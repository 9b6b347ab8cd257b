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

// A column and its selected rows: one bit each, or all.
struct JoinSide {
    const TableData& table;
    std::size_t column = 0;
    const std::vector<std::uint32_t>* rows = nullptr;
};

enum class Next { More, Enough };

// The number of a left row, or of its range, and of a right row, or of its key.
struct Match {
    std::uint32_t left, right;
};
using TakeMatches = std::function<Next(std::span<const Match>)>;
// Nested loops on the GPU: passes pairs of ranges and keys in them to `take`, by range, then by key. Returns their
// number. `block_rows` is Join's.
using MatchAll = std::function<std::uint64_t(std::span<const KeyRange> ranges, std::span<const Key> keys,
                                             std::size_t block_rows, const TakeMatches& take)>;

struct JoinTools {
    const char* function;  // that messages begin with
    std::function<void(Keys keys, std::span<std::uint32_t> index)> sort_with_index;
    MatchAll match{};  // null: nested loops are the CPU's
    Tuning tuning{};
};

// Pairs on their way to `take`, a chunk at a time.
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

// The method for JoinMethod::Auto and that many rows with possible partners, at least one on each side.
enum class JoinWay { LoopsOnCpu, LoopsOnGpu, SortMerge };
[[nodiscard]] JoinWay quickest(std::uint64_t left, std::uint64_t right, const JoinTools& tools);

// Passes the pairs to `take`, by left row, then by right row, at most tuning.chunk at a time. Returns their number,
// also if `take` stops. Pre: both columns are text or both are numbers, and in memory. Throws InvalidArgument if a
// number of one side cannot be compared exactly with the type of the other as doubles (an integer beyond 2^53), or a
// table has more than 2^31 rows.
std::uint64_t join(const JoinSide& left, const JoinSide& right, const Join& on, const JoinTools& tools,
                   const std::function<Next(std::span<const RowPair>)>& take);

}  // namespace quadmill::detail::query
