/// Queries, and the graphs of nodes that answer them. QueryProcessor in query.hpp runs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/join.hpp"
#include "quadmill/predicate.hpp"
#include "quadmill/table.hpp"

namespace quadmill {

struct Query;

/// A query that was checked against the columns of its tables: a graph of predicates, boolean nodes, a join and
/// outputs. Equal nodes are merged, and negations move down to the predicates. It runs on any tables with those
/// columns, one after the other, such as windows of a stream. In a join, parts of the condition that name columns of
/// one table select that table's rows before the join.
///
/// Throws: InvalidArgument for columns that are missing or have the wrong type, and for other broken rules of Query.
class QUADMILL_API QueryPlan {
  public:
    /// The plan of a query on one table.
    QueryPlan(const Query& query, const std::vector<ColumnInfo>& columns);
    /// The plan of a query with a join.
    QueryPlan(const Query& query, const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right);
    QueryPlan(QueryPlan&&) noexcept;
    QueryPlan& operator=(QueryPlan&&) noexcept;
    ~QueryPlan();
    /// The plan as text, one line per node.
    [[nodiscard]] std::string text() const;

    struct State;

  private:
    friend detail::Access;
    [[nodiscard]] const State& inside() const noexcept { return *state_; }
    std::unique_ptr<State> state_;
};

/// An aggregate of the selected rows, without NULLs. Without any value it is NULL; counts are 0.
struct QueryAggregate {
    /// The kinds of aggregates.
    enum class Kind {
        CountRows,  ///< COUNT(*); has no column
        Count,      ///< of values that are not NULL
        Sum,        ///< exact for integers, an error beyond 64 bits; for floats in double precision, see QueryProcessor
        Average,    ///< the sum over the count, in double precision
        Min,
        Max,
        Quantile,    ///< the value of rank ceil(phi n), from 1, of n values in order; phi 0 is the smallest
        KthLargest,  ///< the k-th, from 1; NULL if there are fewer
        KthSmallest
    };
    Kind kind = Kind::CountRows;  ///< which one
    std::string column{};         ///< of the table; empty for CountRows
    double phi = 0.5;             ///< for Quantile, from 0 to 1; 0.5 is the (lower) median
    std::uint64_t k = 1;          ///< for KthLargest and KthSmallest, from 1
};

/// A column of a result: an aggregate, or a column of the table.
struct Output {
    std::variant<std::string, QueryAggregate> what;  ///< a column's name, or an aggregate
    std::string name;                                ///< of the result's column
};

/// A query. With an aggregate or `group_by`, each output that is a plain column must be in `group_by`. Otherwise the
/// result has one row per selected row or pair, in their order (pairs by their left row, then their right one). Groups
/// are in the order of their values: NULLs are one group, the first; NaNs are one group, the last.
struct Query {
    std::vector<Output> outputs;           ///< the columns of the result
    std::optional<Predicate> where{};      ///< none: all rows
    std::vector<std::string> group_by{};   ///< columns; none: no groups
    std::optional<Join> join{};            ///< with a second table
    std::optional<std::uint64_t> limit{};  ///< max rows of the result
};

}  // namespace quadmill
