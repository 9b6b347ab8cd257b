// The tree behind a Predicate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "quadmill/predicate.hpp"
#include "query/plan/formula.hpp"

namespace quadmill::detail::query {

struct Expression {
    enum class Kind { Always, Compare, CompareColumns, Between, In, IsNull, Linear, Formula, And, Or, Not };
    Kind kind = Kind::Always;
    bool always = true;
    std::string column{}, other{};
    Comparison op = Comparison::Equal;
    std::vector<Value> values{};  // Compare: the constant; Between: low and high; In: the list
    std::vector<Predicate::Term> terms{};
    double constant = 0;             // Linear
    std::vector<NamedStep> steps{};  // Formula
    std::vector<std::shared_ptr<const Expression>> operands{};
    int depth = 1;  // number of levels
};

using ExpressionKind = Expression::Kind;

// Max levels of an expression, limited by the stack.
inline constexpr int max_levels = 250;

// Max number of columns in one of its linear conditions or formulas. A formula with more steps than the GPU takes
// counts as one with very many columns.
[[nodiscard]] std::size_t max_linear_columns(const Expression& expression);

// The comparison for b op a that is equivalent to a op b.
[[nodiscard]] Comparison turned(Comparison op);
// Relations of a to b, as shaders return them (pair.frag, formula.glsl).
inline constexpr std::uint32_t is_less = 1, is_equal = 2, is_greater = 4, is_unordered = 8;
// The set of relations for which a op b holds.
[[nodiscard]] std::uint32_t relations_of(Comparison op, bool negate = false);

// Sets the depth. Throws InvalidArgument above max_levels.
[[nodiscard]] Predicate predicate(Expression expression);

// An And or Or of all parts. Pre: kind is And or Or, and there is at least one part.
[[nodiscard]] Predicate junction(ExpressionKind kind, const std::vector<Predicate>& parts);

// The same condition with renamed columns.
[[nodiscard]] Predicate renamed(const Predicate& predicate,
                                const std::function<std::string(const std::string& name)>& name);
// The names of all its columns; some may occur several times.
[[nodiscard]] std::vector<std::string> columns_of(const Expression& expression);

}  // namespace quadmill::detail::query
