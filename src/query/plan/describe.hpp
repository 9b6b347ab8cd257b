// Plans as text, with each node on one line. Equal nodes have equal texts.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/plan.hpp"
#include "query/plan/expression.hpp"

namespace quadmill::detail::query {

// A plain name is unchanged; others get double quotes.
[[nodiscard]] std::string describe_name(std::string_view name);
[[nodiscard]] std::string describe(const Value& value);
[[nodiscard]] std::string describe(const Expression& expression);
[[nodiscard]] std::string describe(const QueryAggregate& aggregate);
// What steps leave on the stack, as text, with names of columns as `name` writes them. It has brackets wherever steps
// are not in their usual order, so that different steps have different texts.
[[nodiscard]] std::vector<std::string> texts_of(const std::vector<NamedStep>& steps,
                                                const std::function<std::string(std::string_view)>& name);
// The node without its inputs.
struct PlanNode;
[[nodiscard]] std::string describe(const PlanNode& node);
// "F32", "text", ...
[[nodiscard]] const char* name_of(ColumnType type);

}  // namespace quadmill::detail::query
