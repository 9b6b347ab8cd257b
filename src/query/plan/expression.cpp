#include "query/plan/expression.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill {
namespace {

using detail::query::Expression;
using detail::query::ExpressionKind;
using detail::query::predicate;
// Operands of the same kind are put next to each other. Otherwise a condition that was built in a loop would be as deep
// as it is long, and so would the stack of everyone who walks the tree.
Predicate joined(ExpressionKind kind, const std::shared_ptr<const Expression>& a,
                 const std::shared_ptr<const Expression>& b) {
    Expression both{.kind = kind};
    for (const auto* side : {&a, &b}) {
        if ((*side)->kind == kind) {
            both.operands.insert(both.operands.end(), (*side)->operands.begin(), (*side)->operands.end());
        } else {
            both.operands.push_back(*side);
        }
    }
    return predicate(std::move(both));
}

}  // namespace

std::size_t detail::query::max_linear_columns(const Expression& expression) {
    std::set<std::string_view> columns;
    for (const auto& term : expression.terms) columns.insert(term.column);
    for (const auto& step : expression.steps) {
        if (step.op == detail::query::Arithmetic::Leaf) columns.insert(step.leaf);
    }
    constexpr std::size_t of_term = 4;  // multiply a column by a constant, and add
    const auto steps = expression.steps.size() + of_term * expression.terms.size() + 2;
    auto max = steps > detail::query::max_steps_on_gpu ? steps : columns.size();
    for (const auto& operand : expression.operands) max = std::max(max, max_linear_columns(*operand));
    return max;
}

Comparison detail::query::turned(Comparison op) {
    using enum Comparison;
    constexpr std::array all{Greater, GreaterOrEqual, Equal, NotEqual, LessOrEqual, Less};
    return all.at(static_cast<std::size_t>(op));
}

std::uint32_t detail::query::relations_of(Comparison op, bool negate) {
    constexpr std::array<std::uint32_t, 6> all{
        is_less, is_less | is_equal, is_equal, is_less | is_greater | is_unordered, is_equal | is_greater, is_greater};
    constexpr auto any = is_less | is_equal | is_greater | is_unordered;
    return all.at(static_cast<std::size_t>(op)) ^ (negate ? any : 0U);
}

Predicate detail::query::predicate(Expression expression) {
    for (const auto& operand : expression.operands) expression.depth = std::max(expression.depth, operand->depth + 1);
    if (expression.depth > max_levels)
        throw InvalidArgument("Predicate: a condition may be " + std::to_string(max_levels) +
                              " levels of alternating && and || or !, and this one has more");
    return detail::Access::make<Predicate>(std::make_shared<const Expression>(std::move(expression)));
}

Value detail::query::unsigned_constant(std::uint64_t value) {
    if (value >> 63U) {
        throw InvalidArgument(
            std::string("column: an integer constant must be below 2^63, not ").append(std::to_string(value)));
    }
    return static_cast<std::int64_t>(value);
}

Predicate::Predicate(std::shared_ptr<const Expression> expression) : expression_(std::move(expression)) {}

Predicate Predicate::always(bool value) {
    return predicate({.kind = ExpressionKind::Always, .always = value});
}

Predicate Predicate::linear(std::vector<Term> terms, Comparison op, double constant) {
    if (terms.empty()) throw InvalidArgument("Predicate::linear: there must be at least one term");
    return predicate({.kind = ExpressionKind::Linear, .op = op, .terms = std::move(terms), .constant = constant});
}

Predicate Predicate::operator&&(const Predicate& other) const {
    return joined(ExpressionKind::And, expression_, other.expression_);
}

Predicate Predicate::operator||(const Predicate& other) const {
    return joined(ExpressionKind::Or, expression_, other.expression_);
}

Predicate Predicate::operator!() const {
    if (expression_->kind == ExpressionKind::Not) return Predicate(expression_->operands.front());
    return predicate({.kind = ExpressionKind::Not, .operands = {expression_}});
}

Predicate ColumnName::compare(Comparison op, const Value& constant) const {
    return predicate({.kind = ExpressionKind::Compare, .column = name_, .op = op, .values = {constant}});
}

Predicate ColumnName::compare(Comparison op, const ColumnName& other) const {
    return predicate({.kind = ExpressionKind::CompareColumns, .column = name_, .other = other.name_, .op = op});
}

Predicate ColumnName::between(const Value& low, const Value& high) const {
    return predicate({.kind = ExpressionKind::Between, .column = name_, .values = {low, high}});
}

Predicate ColumnName::in(std::vector<Value> list) const {
    return predicate({.kind = ExpressionKind::In, .column = name_, .values = std::move(list)});
}

Predicate ColumnName::is_null() const {
    return predicate({.kind = ExpressionKind::IsNull, .column = name_});
}

}  // namespace quadmill

namespace quadmill::detail::query {

namespace {

std::shared_ptr<const Expression> with_names(const Expression& expression,
                                             const std::function<std::string(const std::string&)>& name) {
    auto copy = std::make_shared<Expression>(expression);
    if (!copy->column.empty()) copy->column = name(copy->column);
    if (!copy->other.empty()) copy->other = name(copy->other);
    for (auto& term : copy->terms) term.column = name(term.column);
    for (auto& step : copy->steps) {
        if (step.op == Arithmetic::Leaf) step.leaf = name(step.leaf);
    }
    for (auto& operand : copy->operands) operand = with_names(*operand, name);
    return copy;
}

}  // namespace

Predicate junction(ExpressionKind kind, const std::vector<Predicate>& parts) {
    if (parts.size() == 1) return parts.front();
    Expression all{.kind = kind};
    for (const auto& part : parts) all.operands.push_back(std::make_shared<const Expression>(detail::Access::of(part)));
    return predicate(std::move(all));
}

Predicate renamed(const Predicate& predicate, const std::function<std::string(const std::string&)>& name) {
    return detail::Access::make<Predicate>(with_names(detail::Access::of(predicate), name));
}

std::vector<std::string> columns_of(const Expression& expression) {
    std::vector<std::string> names;
    with_names(expression, [&](const std::string& name) {
        names.push_back(name);
        return name;
    });
    return names;
}

}  // namespace quadmill::detail::query
