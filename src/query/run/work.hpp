// The work of a query, and its estimated time on GPU engines.
#pragma once

#include <cstddef>

#include "quadmill/plan.hpp"
#include "query/plan/expression.hpp"
#include "query/plan/tuning.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::query {

struct QueryWork {
    std::size_t linear_columns = 0;  // max columns of a linear condition or sum
    std::size_t counts = 0;          // counts of rows
    std::size_t tests = 0;           // comparisons of one or two columns, per plane of depths
    std::size_t copies = 0;          // copies of a plane to the depth buffer
    std::size_t leaves = 0;          // all other conditions
    std::size_t ranks = 0;           // k-th values, ...
    std::size_t rank_bits = 0, rank_words = 0;
    std::size_t extreme_bits = 0, extremes = 0;
    std::size_t sum_bits = 0, sums = 0;
    std::size_t tested = ~std::size_t{0};  // the column that the depth buffer holds

    // Adds a condition on the table's rows. Pre: its columns exist.
    void add(const Expression& condition, const TableData& table);
    // Adds the work of an aggregate of a column.
    void add(QueryAggregate::Kind aggregate, const TableData& table, std::size_t column);

  private:
    void add_test(const TableData& table, std::size_t column);
};

// Two comparisons of a column, the work that QueryCrossings::depth_over_bitmap is about.
[[nodiscard]] QueryWork two_tests();
// The same costs, but the depth engine's are scaled so that this work takes `depth_over_bitmap` times as long as on the
// bitmap engine.
[[nodiscard]] Tuning scaled(const Tuning& tuning, double depth_over_bitmap);

// Milliseconds for that many rows, with loaded columns.
[[nodiscard]] double depth_ms(const QueryWork& work, std::size_t rows, const Tuning& tuning);
[[nodiscard]] double bitmap_ms(const QueryWork& work, std::size_t rows, const Tuning& tuning);

}  // namespace quadmill::detail::query
