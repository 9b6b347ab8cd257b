// The work of a query, and its estimated time on GPU engines.
#pragma once

#include <cstddef>

#include "quadmill/plan.hpp"
#include "query/plan/expression.hpp"
#include "query/plan/tuning.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::query {

struct Work {
    std::size_t linear_columns = 0;  // that a linear condition or sum has at most
    std::size_t counts = 0;          // of rows
    std::size_t tests = 0;           // comparisons of a column or two, a plane of depths each
    std::size_t copies = 0;          // of a plane to the depth buffer
    std::size_t leaves = 0;          // other conditions
    std::size_t ranks = 0;           // k-th values, ...
    std::size_t rank_bits = 0, rank_words = 0;
    std::size_t extreme_bits = 0, extremes = 0;
    std::size_t sum_bits = 0, sums = 0;
    std::size_t tested = ~std::size_t{0};  // the column in the depth buffer

    // A condition of a table's rows; its columns exist.
    void add(const Expression& condition, const TableData& table);
    // Adds the work of an aggregate of a column.
    void add(QueryAggregate::Kind aggregate, const TableData& table, std::size_t column);

  private:
    void add_test(const TableData& table, std::size_t column);
};

// Two comparisons of a column, as QueryCrossings::depth_over_bitmap compares them.
[[nodiscard]] Work two_tests();
// The same figures, with the depth engine's as that multiple of the bitmap engine's for that work.
[[nodiscard]] Tuning scaled(const Tuning& tuning, double depth_over_bitmap);

// Milliseconds for that many rows with loaded columns.
[[nodiscard]] double depth_ms(const Work& work, std::size_t rows, const Tuning& tuning);
[[nodiscard]] double bitmap_ms(const Work& work, std::size_t rows, const Tuning& tuning);

}  // namespace quadmill::detail::query
