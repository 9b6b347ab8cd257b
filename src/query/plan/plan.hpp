// A query as a graph of nodes, checked; what the executor runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "quadmill/plan.hpp"
#include "query/plan/schema.hpp"

namespace quadmill::detail::query {

using NodeKind = PlanNode::Kind;

// The rows or pairs of an output: the input of its Group, if it has one.
[[nodiscard]] std::size_t source_of(const std::vector<PlanNode>& nodes, std::size_t output);

// A node as QueryPlan::text() has it.
[[nodiscard]] std::string line(const std::vector<PlanNode>& nodes, std::size_t node);

}  // namespace quadmill::detail::query

namespace quadmill {

// The nodes have their inputs before them, the last one is the Result, and each is needed for it; no two are equal.
// There is no Not: predicates carry it. Rows and Join name columns as their table does, others as Schema::name. A
// Filter's input is the Join. Names, types and shapes are checked.
struct QueryPlan::State {
    detail::query::Schema schema;
    std::vector<PlanNode> nodes{};
};

}  // namespace quadmill
