// The queries of `quadmill bench query` and their columns: those of the plots in 'Query Processing on GPUs' and others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quadmill/query.hpp"
#include "query/plan/engine.hpp"

namespace quadmill::detail::bench {

enum class QueryKind { Copy, Predicate, Range, Pair, Cnf, Linear, In, Nulls, Sum, Extreme, Median, Kth, Groups };

// Columns of the table of all benches, by index:
//   a: I32 of 24 random bits;  b: F32, uniform in (0, 1): the keys of both fit into one plane of depths
//   c: I64 of 40 random bits: two planes
//   d: like a, but an eighth is NULL
//   e: F32, 12 random bits in [0, 1): one plane if the gap between 0 and the others is left out, otherwise two
// NOLINTNEXTLINE(readability-identifier-naming): indices
enum QueryColumn : std::size_t { column_a, column_b, column_c, column_d, column_e };
[[nodiscard]] Table query_table(std::size_t rows, std::uint64_t seed);
// The key below which about that fraction of a column's values lies. Pre: not column d.
[[nodiscard]] query::Key key_at(std::size_t column, double part);

struct QueryCase {
    QueryKind kind = QueryKind::Predicate;
    std::string name{};
    enum class Ask {
        Count,   // rows that satisfy `where`
        Kth,     // the key of rank k, from 0, of the whole `column`
        Min,     // the key of rank 0, as for MIN
        Sum,     // the sum of the whole `column`, which has integers; its low 64 bits
        Groups,  // for each value of `column`, its number of rows times the max of a; the sum of these
        Copy     // no answer: copies `column` to the depth buffer
    } ask = Ask::Count;
    query::Clauses where{};
    std::size_t column = column_a;
    std::uint64_t k = 0;
    enum class Depth { Kept, Forgotten } depth = Depth::Kept;  // the previous query's copy
    // Goal for the depth engine, in passes over all rows at the rate of depth tests.
    std::optional<double> goal_passes{};
};
// The cases of these kinds, in the order of QueryKind. Pre: there is at least one row.
[[nodiscard]] std::vector<QueryCase> query_cases(const std::vector<QueryKind>& kinds, std::size_t rows);

}  // namespace quadmill::detail::bench
