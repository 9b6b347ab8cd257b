// A query as a checked graph of nodes, which the executor runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "quadmill/plan.hpp"
#include "query/plan/schema.hpp"

namespace quadmill::detail::query {

using NodeKind = PlanNode::Kind;

// The rows or pairs of an output, or, if it has a Group, the Group's input.
[[nodiscard]] std::size_t source_of(const std::vector<PlanNode>& nodes, std::size_t output);

// A node's line in QueryPlan::text().
[[nodiscard]] std::string line(const std::vector<PlanNode>& nodes, std::size_t node);

}  // namespace quadmill::detail::query

namespace quadmill {

// The inputs of a node come before it, the last node is the Result, the result needs every node, and no two are equal.
// There is no Not: predicates carry negation. Rows and Join use the tables' column names, all others those of
// Schema::name. A Filter's input is the Join. Names, types and shapes have been checked.
struct QueryPlan::State {
    detail::query::Schema schema;
    std::vector<PlanNode> nodes{};
};

}  // namespace quadmill
