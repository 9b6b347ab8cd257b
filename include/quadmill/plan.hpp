/// What a query asks for, and the graph of nodes that answers it.
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

/// An aggregate of the rows selected. NULLs are left out; of no values it is NULL, but the counts are 0.
struct QueryAggregate {
    /// What is computed.
    enum class Kind {
        CountRows,  ///< COUNT(*); has no column
        Count,      ///< of values that are not NULL
        Sum,        ///< of integers exact, an error beyond 64 bits; of floats in double precision, see QueryProcessor
        Average,    ///< the sum over the count, in double precision
        Min,
        Max,
        Quantile,    ///< the value of rank ceil(phi n), from 1, of n values in order; phi 0 is the smallest
        KthLargest,  ///< the k-th, from 1; NULL when there are fewer
        KthSmallest
    };
    Kind kind = Kind::CountRows;  ///< which one
    std::string column{};         ///< of the table; none for CountRows
    double phi = 0.5;             ///< for Quantile, from 0 to 1; 0.5 is the (lower) median
    std::uint64_t k = 1;          ///< for KthLargest and KthSmallest, from 1
};

/// A column of a result: an aggregate, or a column of the table as it is.
struct Output {
    std::variant<std::string, QueryAggregate> what;  ///< a column's name, or an aggregate
    std::string name;                                ///< of the result's column
};

/// What to answer. With an aggregate or `group_by`, each output that is a plain column must be one to group by;
/// without, there is a row out for each row (pair) selected, in their order (a join's by its left row, then its right
/// one). Groups come in the order of their values: NULLs, which are one group, first; NaNs, which are one, last.
struct Query {
    std::vector<Output> outputs;           ///< the columns of the result
    std::optional<Predicate> where{};      ///< none: all rows
    std::vector<std::string> group_by{};   ///< columns; none: no groups
    std::optional<Join> join{};            ///< with a second table
    std::optional<std::uint64_t> limit{};  ///< of rows out
};

/// A node of a query's graph, as plain data. Rows and pairs flow from a node to those that have it as an input.
struct PlanNode {
    /// What a node does.
    enum class Kind {
        Rows,       ///< of table `table` that satisfy `predicate`; no input
        And,        ///< two inputs or more, rows of one table
        Or,         ///< as And
        Not,        ///< of one input: the rows for which its condition is false, which leaves NULLs out
        Join,       ///< pairs by `join`; inputs: rows of table 0, rows of table 1
        Filter,     ///< of a Join or Filter: the pairs that satisfy `predicate`
        Group,      ///< rows or pairs by `columns`
        Column,     ///< the one of `columns`, of rows, pairs or a Group
        Aggregate,  ///< `aggregate` of rows, pairs or a Group
        Result      ///< of Columns and Aggregates; in a graph there is one
    };
    Kind kind = Kind::Rows;                ///< which of these
    std::vector<std::size_t> inputs{};     ///< places of nodes in the graph
    std::optional<Predicate> predicate{};  ///< of Rows and Filter
    std::size_t table = 0;                 ///< 1: the right one of a join
    std::optional<Join> join{};            ///< of Join
    std::vector<std::string> columns{};    ///< of Group and Column
    QueryAggregate aggregate{};            ///< of Aggregate
    std::vector<std::string> names{};      ///< of a Result's columns, one an input
    std::optional<std::uint64_t> limit{};  ///< of a Result's rows
};

/// A query, checked against the columns of the tables that it is for: a graph of predicates, boolean nodes, a join and
/// outputs. Equal nodes are one, and a negation goes down to the predicates. Runs on any tables with those columns, one
/// after the other: windows of a stream. In a join, parts of the condition that name columns of one table only select
/// that table's rows before the join.
///
/// Throws: InvalidArgument for columns that are missing or of a type that does not go, and for what else breaks a rule
/// of Query.
class QUADMILL_API QueryPlan {
  public:
    /// The plan of a query of one table.
    QueryPlan(const Query& query, const std::vector<ColumnInfo>& columns);
    /// The plan of a query with a join.
    QueryPlan(const Query& query, const std::vector<ColumnInfo>& left, const std::vector<ColumnInfo>& right);
    /// The plan that is a graph of the caller's own, its nodes in any order, without `right` when it has no Join.
    /// Beyond what a Query can say, aggregates of one Result may be of different rows of a table.
    /// Throws: InvalidArgument that names the node: for an input that is no node, is of a wrong kind or leads back to
    /// the node (a cycle), for a number of inputs that its kind does not have, for a graph more than 1000 nodes deep,
    /// and as above. Each node must lead to the Result.
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
    /// The plan as text, a line a node.
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

}  // namespace quadmill
