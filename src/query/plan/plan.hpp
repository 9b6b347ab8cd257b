// A query as a checked graph of nodes, which the executor runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quadmill/plan.hpp"
#include "query/plan/schema.hpp"

namespace quadmill::detail::query {

// A node of a plan's graph, as plain data. Rows and pairs flow from a node to those that have it as an input.
struct PlanNode {
    enum class Kind {
        Rows,       // of table `table` that satisfy `predicate`; no input
        And,        // two inputs or more, rows of one table
        Or,         // as And
        Join,       // pairs of `join`; inputs: rows of table 0, rows of table 1
        Filter,     // input: a Join; the pairs that satisfy `predicate`
        Group,      // rows or pairs by `columns`
        Column,     // the column in `columns`; input: rows, pairs or a Group
        Aggregate,  // `aggregate`; input: rows, pairs or a Group
        Result      // inputs: Columns and Aggregates of the same rows, pairs or groups
    };
    Kind kind = Kind::Rows;
    std::vector<std::size_t> inputs{};     // indices of nodes in the graph
    std::optional<Predicate> predicate{};  // of Rows and Filter
    std::size_t table = 0;                 // 1: the right one of a join
    std::optional<Join> join{};            // of Join
    std::vector<std::string> columns{};    // of Group and Column
    QueryAggregate aggregate{};            // of Aggregate
    std::vector<std::string> names{};      // of a Result's columns, one per input
    std::optional<std::uint64_t> limit{};  // max rows of a Result
};
using NodeKind = PlanNode::Kind;

// A node's line in QueryPlan::text().
[[nodiscard]] std::string line(const std::vector<PlanNode>& nodes, std::size_t node);

}  // namespace quadmill::detail::query

namespace quadmill {

// The inputs of a node come before it, the last node is the Result, the result needs every node, and no two are equal.
// Predicates carry negation. Rows and Join use the tables' column names, all others those of Schema::name. Names, types
// and shapes have been checked.
struct QueryPlan::State {
    detail::query::Schema schema;
    std::vector<detail::query::PlanNode> nodes{};
};

}  // namespace quadmill
