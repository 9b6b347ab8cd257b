// A plan from a graph of the caller's, checked.
#pragma once

#include <memory>
#include <vector>

#include "query/plan/plan.hpp"

namespace quadmill::detail::query {

// Throws InvalidArgument for what is not a plan: cycles, nodes that lead nowhere, inputs of the wrong kind, names,
// types.
[[nodiscard]] std::unique_ptr<QueryPlan::State> plan_of(const std::vector<PlanNode>& nodes,
                                                        const std::vector<ColumnInfo>& left,
                                                        const std::vector<ColumnInfo>& right);

}  // namespace quadmill::detail::query
