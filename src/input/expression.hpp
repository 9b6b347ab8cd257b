// Formulas of one variable, as values of options.
#pragma once

#include <functional>
#include <string>

namespace quadmill::detail::input {

// The error in a formula, or empty. Formulas have numbers, the variable, + - * / ^ and parentheses, comparisons, a ? b
// : c, and functions such as abs, sqrt, exp, ln, log10, sin, min and max.
[[nodiscard]] std::string fault_of_expression(const std::string& text, const std::string& variable);
// Pre: the formula has no error. The function and its copies must stay on one thread.
[[nodiscard]] std::function<double(double)> parse_expression(const std::string& text, const std::string& variable);

}  // namespace quadmill::detail::input
