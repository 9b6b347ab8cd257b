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

struct PlanNode;
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
    /// The plan of the caller's own graph, with nodes in any order, and without `right` if it has no Join. In contrast
    /// to a Query, aggregates of one Result may use different rows of a table.
    /// Throws: InvalidArgument that names the node: for an input that is not a node, has the wrong kind or leads back
    /// to the node (a cycle), for a wrong number of inputs, for a graph more than 1000 nodes deep, and as above. Each
    /// node must lead to the Result.
    ///
    ///     const auto plan = QueryPlan::from_nodes({{.kind = PlanNode::Kind::Rows, .predicate = column("a") > 1},
    ///                                              {.kind = PlanNode::Kind::Aggregate, .inputs = {0}},  // COUNT(*)
    ///                                              {.kind = PlanNode::Kind::Result, .inputs = {1}, .names = {"n"}}},
    ///                                             table.columns());
    [[nodiscard]] static QueryPlan from_nodes(const std::vector<PlanNode>& nodes, const std::vector<ColumnInfo>& left,
                                              const std::vector<ColumnInfo>& right = {});
    QueryPlan(QueryPlan&&) noexcept;
    QueryPlan& operator=(QueryPlan&&) noexcept;
    ~QueryPlan();
    /// The plan as text, one line per node.
    [[nodiscard]] std::string text() const;
    /// The plan as a graph in the language of Graphviz, for `dot`.
    [[nodiscard]] std::string graphviz() const;

    struct State;

  private:
    friend detail::Access;
    [[nodiscard]] const State& inside() const noexcept { return *state_; }
    explicit QueryPlan(std::unique_ptr<State> state);
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

/// A node of a query's graph, as plain data. Rows and pairs flow from a node to those that have it as an input.
struct PlanNode {
    /// The kinds of nodes.
    enum class Kind {
        Rows,       ///< of table `table` that satisfy `predicate`; no input
        And,        ///< two inputs or more, rows of one table
        Or,         ///< as And
        Not,        ///< one input: the rows for which its condition is false, without NULLs
        Join,       ///< pairs of `join`; inputs: rows of table 0, rows of table 1
        Filter,     ///< input: a Join or Filter; the pairs that satisfy `predicate`
        Group,      ///< rows or pairs by `columns`
        Column,     ///< the column in `columns`; input: rows, pairs or a Group
        Aggregate,  ///< `aggregate`; input: rows, pairs or a Group
        Result      ///< inputs: Columns and Aggregates; a graph has one Result
    };
    Kind kind = Kind::Rows;                ///< which of these
    std::vector<std::size_t> inputs{};     ///< indices of nodes in the graph
    std::optional<Predicate> predicate{};  ///< of Rows and Filter
    std::size_t table = 0;                 ///< 1: the right one of a join
    std::optional<Join> join{};            ///< of Join
    std::vector<std::string> columns{};    ///< of Group and Column
    QueryAggregate aggregate{};            ///< of Aggregate
    std::vector<std::string> names{};      ///< of a Result's columns, one per input
    std::optional<std::uint64_t> limit{};  ///< max rows of a Result
};

}  // namespace quadmill
