// Formulas of one variable in options.
#pragma once

#include <functional>
#include <string>

namespace quadmill::detail::input {

// The error, or empty. Numbers, the variable, + - * / ^ and parentheses, comparisons, a ? b : c, and functions such as
// abs, sqrt, exp, ln, log10, sin, min and max.
[[nodiscard]] std::string fault_of_expression(const std::string& text, const std::string& variable);
// Pre: it has no error. The function and its copies are for one thread.
[[nodiscard]] std::function<double(double)> parse_expression(const std::string& text, const std::string& variable);

}  // namespace quadmill::detail::input
