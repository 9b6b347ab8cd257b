// A plan from the caller's graph, checked.
#pragma once

#include <memory>
#include <vector>

#include "query/plan/plan.hpp"

namespace quadmill::detail::query {

// Throws InvalidArgument for graphs that are not plans: cycles, unused nodes, inputs of the wrong kind, wrong names or
// types.
[[nodiscard]] std::unique_ptr<QueryPlan::State> plan_of(const std::vector<PlanNode>& nodes,
                                                        const std::vector<ColumnInfo>& left,
                                                        const std::vector<ColumnInfo>& right);

}  // namespace quadmill::detail::query
