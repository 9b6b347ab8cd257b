#include "sql/condition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "query/plan/expression.hpp"
#include "query/table/order.hpp"

namespace quadmill::detail::sql {

namespace {

using Step = query::FormulaStep<std::string>;

// A constant, or a sum of columns times constants, as written in the text.
struct Sum {
    std::vector<Step> steps{};
    std::vector<std::size_t> uses{};  // indices of its columns in the list of columns

    // Whether it is a single column.
    [[nodiscard]] bool is_column() const { return steps.size() == 1 && steps[0].kind == query::Arithmetic::Column; }
    // Arithmetic of constants is computed immediately.
    [[nodiscard]] const query::Numeral* constant() const {
        return steps.size() == 1 && steps[0].kind == query::Arithmetic::Constant ? &steps[0].constant : nullptr;
    }
};

Sum sum_of(const query::Numeral& constant) {
    return {.steps = {{.kind = query::Arithmetic::Constant, .constant = constant}}};
}

// Any part of a condition. Conditions and sums share one grammar, since both may begin with "(".
struct Operand {
    std::size_t offset = 0;
    std::variant<Sum, std::string, Predicate> what;

    [[nodiscard]] const Sum* sum() const { return std::get_if<Sum>(&what); }
    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&what); }
    [[nodiscard]] const query::Numeral* number() const { return sum() ? sum()->constant() : nullptr; }
    [[nodiscard]] bool is_constant() const { return text() || number(); }
    // Its value as a constant of a predicate, if it is one.
    [[nodiscard]] std::optional<Value> constant() const {
        if (text()) return *text();
        return number() ? query::value_of(*number()) : std::nullopt;
    }
};

template <class T>
bool holds(Comparison op, const T& a, const T& b) {
    switch (op) {
        case Comparison::Less:
            return a < b;
        case Comparison::LessOrEqual:
            return a <= b;
        case Comparison::Equal:
            return a == b;
        case Comparison::NotEqual:
            return a != b;
        case Comparison::GreaterOrEqual:
            return a >= b;
        case Comparison::Greater:
            return a > b;
    }
    return false;
}

struct Symbol {
    const char* text;
    Comparison op;
};
constexpr std::array<Symbol, 8> comparisons{{{"=", Comparison::Equal},
                                             {"==", Comparison::Equal},
                                             {"!=", Comparison::NotEqual},
                                             {"<>", Comparison::NotEqual},
                                             {"<=", Comparison::LessOrEqual},
                                             {">=", Comparison::GreaterOrEqual},
                                             {"<", Comparison::Less},
                                             {">", Comparison::Greater}}};

// A comparison of two constant numbers. With a NaN, only != holds.
bool holds(Comparison op, const query::Numeral& a, const query::Numeral& b) {
    if (std::isnan(query::nearest_double(a)) || std::isnan(query::nearest_double(b))) return op == Comparison::NotEqual;
    return holds(op, query::compare(a, b), 0);
}

class Parser {
  public:
    Parser(SqlCursor& at, const ResolveColumn& resolve, std::vector<SqlColumn>& columns)
        : at_(at), resolve_(resolve), columns_(columns) {}

    Predicate condition() { return as_condition(disjunction()); }

  private:
    Operand disjunction() { return chain("OR", query::Expression::Kind::Or, &Parser::conjunction); }
    Operand conjunction() { return chain("AND", query::Expression::Kind::And, &Parser::negation); }
    Operand chain(const char* word, query::Expression::Kind kind, Operand (Parser::*part)());
    Operand negation();
    Operand comparison();
    Operand sum();
    Operand product();
    Operand factor();
    Operand primary();
    Operand word();

    Predicate between(const Operand& what);
    Predicate in(const Operand& what);
    Predicate is_null(const Operand& what);
    Predicate compare(const Operand& a, Comparison op, const Operand& b);
    Predicate compare_constants(const Operand& a, Comparison op, const Operand& b);
    Predicate compare_sums(const Operand& a, Comparison op, const Operand& b);
    Sum applied(query::Arithmetic kind, Sum a, const Sum& b, std::size_t offset);
    std::optional<Comparison> accept_comparison();

    Predicate as_condition(const Operand& operand);
    Predicate part_of_condition(const Operand& operand);
    const Sum& as_sum(const Operand& operand);
    Value as_constant(const Operand& operand, const char* what);
    ColumnName as_column(const Operand& operand, const char* what);
    void uses(const Sum& sum, SqlUse use);
    void uses(const Sum& sum, const std::vector<Value>& constants, std::size_t offset);

    SqlCursor& at_;
    const ResolveColumn& resolve_;
    std::vector<SqlColumn>& columns_;
    int depth_ = 0;
};

Predicate Parser::as_condition(const Operand& operand) {
    if (const auto* predicate = std::get_if<Predicate>(&operand.what)) return *predicate;
    at_.fail("a condition is expected here, such as a > 3, not a value", operand.offset);
}

Predicate Parser::part_of_condition(const Operand& operand) {
    auto part = as_condition(operand);
    if (detail::Access::of(part).depth >= query::max_levels)
        at_.fail(
            "this nests deeper than " + std::to_string(query::max_levels) + " levels of alternating AND and OR or NOT",
            operand.offset);
    return part;
}

const Sum& Parser::as_sum(const Operand& operand) {
    if (const auto* sum = operand.sum()) return *sum;
    at_.fail(operand.text() ? "text can only be compared with a column" : "a value is expected here, not a condition",
             operand.offset);
}

ColumnName Parser::as_column(const Operand& operand, const char* what) {
    if (const auto* sum = operand.sum(); sum && sum->is_column()) return column(sum->steps.front().column);
    at_.fail(std::string(what) + " goes with a column", operand.offset);
}

Value Parser::as_constant(const Operand& operand, const char* what) {
    if (!operand.is_constant()) at_.fail(what, operand.offset);
    if (const auto value = operand.constant()) return *value;
    at_.fail("an integer here must fit 64 bits or be exact as a double; add .0 if it may be rounded", operand.offset);
}

void Parser::uses(const Sum& sum, SqlUse use) {
    for (const auto i : sum.uses) columns_[i].use = use;
}

void Parser::uses(const Sum& sum, const std::vector<Value>& constants, std::size_t offset) {
    const auto is_text = [](const Value& value) { return std::holds_alternative<std::string>(value); };
    const auto texts = static_cast<std::size_t>(std::count_if(constants.begin(), constants.end(), is_text));
    if (texts > 0 && texts < constants.size()) at_.fail("these must be numbers only, or texts only", offset);
    uses(sum, texts > 0 ? SqlUse::WithText : SqlUse::WithNumber);
    if (texts == 0) return;
    for (const auto i : sum.uses) {
        for (const auto& constant : constants) columns_[i].texts.push_back(std::get<std::string>(constant));
    }
}

// One node for a whole chain, so that a thousand ORs are as deep as one.
Operand Parser::chain(const char* word, query::Expression::Kind kind, Operand (Parser::*part)()) {
    auto first = (this->*part)();
    if (!at_.token().is_word(word)) return first;
    std::vector<Predicate> all{part_of_condition(first)};
    while (at_.accept_word(word)) all.push_back(part_of_condition((this->*part)()));
    return {first.offset, query::junction(kind, all)};
}

// Everything that nests goes through here or through factor().
Operand Parser::negation() {
    constexpr int deepest = 200;
    const auto offset = at_.token().begin;
    if (++depth_ > deepest) at_.fail("this nests deeper than " + std::to_string(deepest) + " levels", offset);
    auto found = at_.accept_word("NOT") ? Operand{offset, !part_of_condition(negation())} : comparison();
    --depth_;
    return found;
}

std::optional<Comparison> Parser::accept_comparison() {
    for (const auto& [text, op] : comparisons) {
        if (at_.accept_symbol(text)) return op;
    }
    return {};
}

Operand Parser::comparison() {
    auto left = sum();
    const auto offset = left.offset;
    if (const auto op = accept_comparison()) {
        auto found = compare(left, *op, sum());
        if (const auto next = at_.token().begin; accept_comparison())
            at_.fail("a comparison takes two values; write a < b AND b < c", next);
        return {offset, std::move(found)};
    }
    if (at_.accept_word("IS")) return {offset, is_null(left)};
    const bool negated = at_.accept_word("NOT");
    const auto maybe = [&](Predicate found) { return Operand{offset, negated ? !found : std::move(found)}; };
    if (at_.accept_word("BETWEEN")) return maybe(between(left));
    if (at_.accept_word("IN")) return maybe(in(left));
    if (negated) at_.refuse("BETWEEN or IN");
    if (!std::holds_alternative<Predicate>(left.what)) at_.check_offered();  // a LIKE 'x%'
    return left;
}

Predicate Parser::is_null(const Operand& what) {
    const bool negated = at_.accept_word("NOT");
    at_.expect_word("NULL");
    auto found = as_column(what, "IS NULL").is_null();
    return negated ? !found : found;
}

Predicate Parser::between(const Operand& what) {
    const auto low = sum();
    at_.expect_word("AND");
    const auto high = sum();
    const auto min = low.constant(), max = high.constant();
    if (what.sum() && what.sum()->is_column() && min && max) {
        uses(*what.sum(), {*min, *max}, low.offset);
        return as_column(what, "BETWEEN").between(*min, *max);
    }
    auto again = what;  // a copy for the second comparison
    if (auto* sum = std::get_if<Sum>(&again.what)) {
        for (auto& use : sum->uses) {
            columns_.push_back(SqlColumn(columns_[use]));
            use = columns_.size() - 1;
        }
    }
    return compare(what, Comparison::GreaterOrEqual, low) && compare(again, Comparison::LessOrEqual, high);
}

Predicate Parser::in(const Operand& what) {
    const auto tested = as_column(what, "IN");
    at_.expect_symbol("(");
    const auto first = at_.token().begin;
    if (at_.token().is_word("SELECT")) at_.fail("a sub-query is not supported; use a JOIN", first);
    std::vector<Value> list;
    do {
        const auto item = sum();
        list.push_back(as_constant(item, "IN takes a list of constants"));
    } while (at_.accept_symbol(","));
    at_.expect_symbol(")");
    uses(*what.sum(), list, first);
    return tested.in(std::move(list));
}

Predicate Parser::compare_constants(const Operand& a, Comparison op, const Operand& b) {
    if (a.text() && b.text()) return Predicate::always(holds(op, *a.text(), *b.text()));
    if (a.text() || b.text()) at_.fail("a number and a text cannot be compared", a.offset);
    return Predicate::always(holds(op, *a.number(), *b.number()));
}

// A comparison of one column with a constant or another column is exact without a formula.
Predicate Parser::compare_sums(const Operand& a, Comparison op, const Operand& b) {
    auto x = as_sum(a);
    const auto& y = as_sum(b);
    if (x.is_column() && y.is_column()) {
        columns_[y.uses[0]].beside = x.uses[0];
        return column(x.steps[0].column).compare(op, column(y.steps[0].column));
    }
    const auto use = x.uses.size() + y.uses.size() > 1 ? SqlUse::Sum : SqlUse::WithNumber;
    uses(x, use);
    uses(y, use);
    if (const auto constant = b.constant(); constant && x.is_column())
        return column(x.steps[0].column).compare(op, *constant);
    x.steps.insert(x.steps.end(), y.steps.begin(), y.steps.end());
    return query::predicate({.kind = query::Expression::Kind::Formula, .op = op, .steps = std::move(x.steps)});
}

Predicate Parser::compare(const Operand& a, Comparison op, const Operand& b) {
    if (a.is_constant() && b.is_constant()) return compare_constants(a, op, b);
    if (a.is_constant()) return compare(b, query::turned(op), a);
    if (b.text()) {
        const auto name = as_column(a, "text");
        uses(*a.sum(), {*b.text()}, b.offset);
        return name.compare(op, *b.text());
    }
    return compare_sums(a, op, b);
}

// Negate: only `a` is used.
Sum Parser::applied(query::Arithmetic kind, Sum a, const Sum& b, std::size_t offset) {
    const bool one = kind == query::Arithmetic::Negate;
    const auto *x = a.constant(), *y = one ? x : b.constant();
    if (x && y) {
        const auto result = computed(kind, *x, *y);
        if (result) return sum_of(*result);
        at_.fail(
            std::holds_alternative<query::Integer>(*x) && std::holds_alternative<query::Integer>(*y)
                ? "these come to an integer beyond 128 bits"
                : "an integer meets a fraction, in double precision, which does not have it; write it with .0 where "
                  "it may be rounded",
            offset);
    }
    if (!one) {
        a.steps.insert(a.steps.end(), b.steps.begin(), b.steps.end());
        a.uses.insert(a.uses.end(), b.uses.begin(), b.uses.end());
    }
    a.steps.push_back({.kind = kind});
    return a;
}

Operand Parser::sum() {
    auto total = product();
    for (;;) {
        const bool minus = at_.token().is_symbol("-");
        if (!minus && !at_.token().is_symbol("+")) return total;
        at_.take();
        const auto next = product();
        const auto kind = minus ? query::Arithmetic::Subtract : query::Arithmetic::Add;
        static_cast<void>(as_sum(total));
        total.what = applied(kind, std::move(std::get<Sum>(total.what)), as_sum(next), next.offset);
    }
}

Operand Parser::product() {
    auto total = factor();
    while (at_.accept_symbol("*")) {
        const auto next = factor();
        if (!as_sum(total).constant() && !as_sum(next).constant())
            at_.fail("columns can be multiplied by constants only", next.offset);
        total.what =
            applied(query::Arithmetic::Multiply, std::move(std::get<Sum>(total.what)), as_sum(next), next.offset);
    }
    return total;
}

Operand Parser::factor() {
    const auto offset = at_.token().begin;
    bool minus = false;
    while (at_.token().is_symbol("-") || at_.token().is_symbol("+")) minus ^= at_.take().text == "-";
    if (at_.token().kind == SqlToken::Kind::Number)
        return {offset, sum_of(at_.number(minus ? SqlCursor::Sign::Minus : SqlCursor::Sign::Plus))};
    auto found = primary();
    found.offset = offset;
    if (minus) found.what = applied(query::Arithmetic::Negate, as_sum(found), {}, offset);
    return found;
}

Operand Parser::primary() {
    const auto offset = at_.token().begin;
    if (at_.token().kind == SqlToken::Kind::Text) return {offset, at_.take().text};
    if (!at_.accept_symbol("(")) return word();
    if (at_.token().is_word("SELECT")) at_.fail("a sub-query is not supported; pipe its answer: FROM -", offset);
    auto inside = disjunction();
    at_.expect_symbol(")");
    return inside;
}

Operand Parser::word() {
    const auto offset = at_.token().begin;
    if (at_.accept_word("TRUE")) return {offset, Predicate::always(true)};
    if (at_.accept_word("FALSE")) return {offset, Predicate::always(false)};
    if (at_.token().is_word("NULL")) at_.fail("NULL satisfies no comparison; write a IS NULL", offset);
    if (!at_.at_name()) at_.refuse_name("a column or a constant");
    const auto first = at_.take();
    if (at_.token().is_symbol("("))
        at_.fail("conditions have no functions; aggregates go between SELECT and FROM", offset);
    auto name = resolve_(at_.reference_from(first));
    return {offset, Sum{.steps = {{.kind = query::Arithmetic::Column, .column = std::move(name)}},
                        .uses = {columns_.size() - 1}}};
}

}  // namespace

Predicate parse_condition(SqlCursor& at, const ResolveColumn& resolve, std::vector<SqlColumn>& columns) {
    return Parser(at, resolve, columns).condition();
}

}  // namespace quadmill::detail::sql
