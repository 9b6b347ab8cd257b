// Pairs of rows of two columns that are equal, or differ by at most a band.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "quadmill/join.hpp"
#include "quadmill/keys.hpp"
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

struct JoinTools {
    const char* function;  // messages begin with it
    std::function<void(Keys keys, std::span<std::uint32_t> index)> sort_with_index;
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

// Whether JoinMethod::Auto compares every row with every row on the CPU. Pre: each side has at least one.
[[nodiscard]] bool are_few(std::uint64_t left, std::uint64_t right, const Tuning& tuning);

// Passes the pairs to `take`, ordered by left row, then by right row, at most tuning.chunk at a time. Returns their
// number, even if `take` stops. Pre: both columns are text or both are numbers, and are in memory. Throws
// InvalidArgument if a number of one side cannot be compared exactly with the other side as doubles (an integer beyond
// 2^53), or a table has more than 2^31 rows.
std::uint64_t join(const JoinSide& left, const JoinSide& right, const Join& on, const JoinTools& tools,
                   const std::function<Next(std::span<const RowPair>)>& take);

}  // namespace quadmill::detail::query
