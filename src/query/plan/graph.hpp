// Checks the caller's graph and makes a plan of it.
#pragma once

#include <memory>
#include <vector>

#include "query/plan/plan.hpp"

namespace quadmill::detail::query {

// Throws InvalidArgument for graphs that are not plans: those with cycles, unused nodes, inputs of the wrong kind, or
// wrong names or types.
[[nodiscard]] std::unique_ptr<QueryPlan::State> plan_of(const std::vector<PlanNode>& nodes,
                                                        const std::vector<ColumnInfo>& left,
                                                        const std::vector<ColumnInfo>& right);

}  // namespace quadmill::detail::query
