#include "query/sql_condition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "query/expression.hpp"
#include "query/order.hpp"

namespace quadmill::detail::query {

namespace {

// A sum of columns times constants, plus a constant that is an integer or a double.
struct Linear {
    std::vector<Predicate::Term> terms{};
    Value constant = std::int64_t{0};
    std::vector<std::size_t> uses{};  // by term: its place in the list of columns
    bool is_column = false;           // a column as it is

    [[nodiscard]] bool is_constant() const { return terms.empty(); }
};

// Any part of a condition. One grammar for all, as "(" may begin a condition or a sum.
struct Operand {
    std::size_t offset = 0;
    std::variant<Linear, std::string, Predicate> what;

    [[nodiscard]] const Linear* linear() const { return std::get_if<Linear>(&what); }
    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&what); }
    // The constant that it is.
    [[nodiscard]] std::optional<Value> constant() const {
        if (text()) return *text();
        if (linear() && linear()->is_constant()) return linear()->constant;
        return {};
    }
};

double as_double(const Value& number) {
    const auto* integer = std::get_if<std::int64_t>(&number);
    return integer ? static_cast<double>(*integer) : std::get<double>(number);
}

// Integers as long as they fit, as SQLite does.
Value computed(const Value& a, const Value& b, bool (*exact)(std::int64_t, std::int64_t, std::int64_t&),
               double (*rounded)(double, double)) {
    const auto* left = std::get_if<std::int64_t>(&a);
    const auto* right = std::get_if<std::int64_t>(&b);
    std::int64_t result = 0;
    if (left && right && exact(*left, *right, result)) return result;
    return rounded(as_double(a), as_double(b));
}

Value sum_of(const Value& a, const Value& b) {
    return computed(
        a, b, [](std::int64_t x, std::int64_t y, std::int64_t& sum) { return !__builtin_add_overflow(x, y, &sum); },
        [](double x, double y) { return x + y; });
}

Value product_of(const Value& a, const Value& b) {
    return computed(
        a, b,
        [](std::int64_t x, std::int64_t y, std::int64_t& product) { return !__builtin_mul_overflow(x, y, &product); },
        [](double x, double y) { return x * y; });
}

// a - b; nothing where it is an integer that neither type of a constant has.
std::optional<Value> difference_of(const Value& a, const Value& b) {
    __extension__ using Wide = __int128;
    const auto* left = std::get_if<std::int64_t>(&a);
    const auto* right = std::get_if<std::int64_t>(&b);
    if (right && *right == 0) return a;
    if (!left || !right) return as_double(a) - as_double(b);
    const auto exact = static_cast<Wide>(*left) - *right;
    if (exact == static_cast<std::int64_t>(exact)) return static_cast<std::int64_t>(exact);
    const auto rounded = static_cast<double>(exact);
    if (static_cast<Wide>(rounded) == exact) return rounded;
    return {};
}

Linear scaled(Linear sum, const Value& factor) {
    for (auto& term : sum.terms) term.factor *= as_double(factor);
    return {std::move(sum.terms), product_of(sum.constant, factor), std::move(sum.uses)};
}

Linear added(Linear sum, const Linear& more) {
    sum.terms.insert(sum.terms.end(), more.terms.begin(), more.terms.end());
    sum.uses.insert(sum.uses.end(), more.uses.begin(), more.uses.end());
    return {std::move(sum.terms), sum_of(sum.constant, more.constant), std::move(sum.uses)};
}

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

// b op a for a op b.
Comparison turned(Comparison op) {
    switch (op) {
        case Comparison::Less:
            return Comparison::Greater;
        case Comparison::LessOrEqual:
            return Comparison::GreaterOrEqual;
        case Comparison::GreaterOrEqual:
            return Comparison::LessOrEqual;
        case Comparison::Greater:
            return Comparison::Less;
        default:
            return op;
    }
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

// The same of two constants that are numbers; with a NaN, only != holds.
bool holds(Comparison op, const Value& a, const Value& b) {
    const auto against = [&](auto x) {
        const auto* integer = std::get_if<std::int64_t>(&b);
        return holds(op, integer ? order(x, *integer) : order(x, std::get<double>(b)), 0);
    };
    if (std::isnan(as_double(a)) || std::isnan(as_double(b))) return op == Comparison::NotEqual;
    const auto* integer = std::get_if<std::int64_t>(&a);
    return integer ? against(*integer) : against(std::get<double>(a));
}

// One node for a whole chain: a thousand ORs are no deeper than one.
Predicate chain_of(Expression::Kind kind, const std::vector<Predicate>& parts) {
    Expression all{.kind = kind};
    for (const auto& part : parts) all.operands.push_back(std::make_shared<const Expression>(part.expression()));
    return predicate(std::move(all));
}

class Parser {
  public:
    Parser(SqlCursor& at, const ResolveColumn& resolve, std::vector<SqlColumn>& columns)
        : at_(at), resolve_(resolve), columns_(columns) {}

    Predicate condition() { return as_condition(disjunction()); }

  private:
    Operand disjunction() { return chain("OR", Expression::Kind::Or, &Parser::conjunction); }
    Operand conjunction() { return chain("AND", Expression::Kind::And, &Parser::negation); }
    Operand chain(const char* word, Expression::Kind kind, Operand (Parser::*part)());
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
    double exact_double(const Value& number, std::size_t offset);
    std::optional<Comparison> accept_comparison();

    Predicate as_condition(const Operand& operand);
    const Linear& as_sum(const Operand& operand);
    ColumnName as_column(const Operand& operand, const char* what);
    void uses(const Linear& sum, SqlUse use);
    void uses(const Linear& sum, const std::vector<Value>& constants, std::size_t offset);

    SqlCursor& at_;
    const ResolveColumn& resolve_;
    std::vector<SqlColumn>& columns_;
    int depth_ = 0;
};

Predicate Parser::as_condition(const Operand& operand) {
    if (const auto* predicate = std::get_if<Predicate>(&operand.what)) return *predicate;
    at_.fail("a condition is expected here, such as a > 3, not a value", operand.offset);
}

const Linear& Parser::as_sum(const Operand& operand) {
    if (const auto* sum = operand.linear()) return *sum;
    at_.fail(operand.text() ? "text can be compared with a column only" : "a value is expected here, not a condition",
             operand.offset);
}

ColumnName Parser::as_column(const Operand& operand, const char* what) {
    if (const auto* sum = operand.linear(); sum && sum->is_column) return column(sum->terms.front().column);
    at_.fail(std::string(what) + " goes with a column", operand.offset);
}

void Parser::uses(const Linear& sum, SqlUse use) {
    for (const auto i : sum.uses) columns_[i].use = use;
}

void Parser::uses(const Linear& sum, const std::vector<Value>& constants, std::size_t offset) {
    const auto is_text = [](const Value& value) { return std::holds_alternative<std::string>(value); };
    const auto texts = static_cast<std::size_t>(std::count_if(constants.begin(), constants.end(), is_text));
    if (texts > 0 && texts < constants.size()) at_.fail("these must be numbers only, or texts only", offset);
    uses(sum, texts > 0 ? SqlUse::WithText : SqlUse::WithNumber);
}

Operand Parser::chain(const char* word, Expression::Kind kind, Operand (Parser::*part)()) {
    auto first = (this->*part)();
    if (!at_.token().is_word(word)) return first;
    std::vector<Predicate> all{as_condition(first)};
    while (at_.accept_word(word)) all.push_back(as_condition((this->*part)()));
    return {first.offset, chain_of(kind, all)};
}

// Everything that nests comes through here or through factor().
Operand Parser::negation() {
    constexpr int deepest = 200;
    const auto offset = at_.token().begin;
    if (++depth_ > deepest) at_.fail("this nests deeper than " + std::to_string(deepest) + " levels", offset);
    auto found = at_.accept_word("NOT") ? Operand{offset, !as_condition(negation())} : comparison();
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
            at_.fail("comparisons are of two values; write a < b AND b < c", next);
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
    const auto least = low.constant(), most = high.constant();
    if (what.linear() && what.linear()->is_column && least && most) {
        uses(*what.linear(), {*least, *most}, low.offset);
        return as_column(what, "BETWEEN").between(*least, *most);
    }
    return compare(what, Comparison::GreaterOrEqual, low) && compare(what, Comparison::LessOrEqual, high);
}

Predicate Parser::in(const Operand& what) {
    const auto tested = as_column(what, "IN");
    at_.expect_symbol("(");
    const auto first = at_.token().begin;
    if (at_.token().is_word("SELECT")) at_.fail("a sub-query is not offered; use a JOIN", first);
    std::vector<Value> list;
    do {
        const auto item = sum();
        const auto value = item.constant();
        if (!value) at_.fail("IN takes a list of constants", item.offset);
        list.push_back(*value);
    } while (at_.accept_symbol(","));
    at_.expect_symbol(")");
    uses(*what.linear(), list, first);
    return tested.in(std::move(list));
}

Predicate Parser::compare_constants(const Operand& a, Comparison op, const Operand& b) {
    if (a.text() && b.text()) return Predicate::always(holds(op, *a.text(), *b.text()));
    if (a.text() || b.text()) at_.fail("a number and a text cannot be compared", a.offset);
    return Predicate::always(holds(op, *a.constant(), *b.constant()));
}

// Sums are computed in doubles.
double Parser::exact_double(const Value& number, std::size_t offset) {
    const auto* integer = std::get_if<std::int64_t>(&number);
    if (integer && order(static_cast<double>(*integer), *integer) != 0)
        at_.fail("a sum of columns is computed in double precision, which does not have " + std::to_string(*integer) +
                     "; write " + std::to_string(*integer) + ".0 where it may be rounded",
                 offset);
    return as_double(number);
}

// What compares one column with a constant or another column is exact as such, so it becomes that: a + 1 > 3, -a > -2,
// a - b = 0.
Predicate Parser::compare_sums(const Operand& a, Comparison op, const Operand& b) {
    const auto &x = as_sum(a), &y = as_sum(b);
    auto all = added(x, scaled(y, std::int64_t{-1}));
    auto& terms = all.terms;
    if (terms.empty()) at_.fail("this compares no column", a.offset);
    if (x.is_column && y.is_column) {
        columns_[all.uses[1]].beside = all.uses[0];
    } else {
        uses(all, terms.size() > 1 ? SqlUse::Sum : SqlUse::WithNumber);
    }
    const auto difference = [&](const Linear& from, const Linear& less) {
        if (auto found = difference_of(from.constant, less.constant)) return *found;
        at_.fail("the numbers of this comparison come to an integer beyond 64 bits", a.offset);
    };
    const auto first = column(terms[0].column);
    const auto factor = terms[0].factor;
    const auto turns = factor < 0 ? turned(op) : op;
    if (terms.size() == 1 && std::abs(factor) == 1)
        return first.compare(turns, factor < 0 ? difference(x, y) : difference(y, x));
    const auto rest = difference(y, x);
    if (terms.size() == 2 && std::abs(factor) == 1 && terms[1].factor == -factor && as_double(rest) == 0)
        return first.compare(turns, column(terms[1].column));
    return Predicate::linear(std::move(terms), op, exact_double(rest, b.offset));
}

Predicate Parser::compare(const Operand& a, Comparison op, const Operand& b) {
    const auto left = a.constant(), right = b.constant();
    if (left && right) return compare_constants(a, op, b);
    if (left) return compare(b, turned(op), a);
    if (b.text()) {
        const auto name = as_column(a, "text");
        uses(*a.linear(), SqlUse::WithText);
        return name.compare(op, *b.text());
    }
    return compare_sums(a, op, b);
}

Operand Parser::sum() {
    auto total = product();
    for (;;) {
        const bool minus = at_.token().is_symbol("-");
        if (!minus && !at_.token().is_symbol("+")) return total;
        at_.take();
        const auto next = product();
        total.what = added(as_sum(total), scaled(as_sum(next), std::int64_t{minus ? -1 : 1}));
    }
}

Operand Parser::product() {
    auto total = factor();
    while (at_.accept_symbol("*")) {
        const auto next = factor();
        const bool left = as_sum(total).is_constant(), right = as_sum(next).is_constant();
        if (!left && !right) at_.fail("columns can be multiplied by constants only", next.offset);
        const auto &factor = left ? total : next, &sum = left ? next : total;
        if (left != right) static_cast<void>(exact_double(as_sum(factor).constant, factor.offset));
        total.what = scaled(as_sum(sum), as_sum(factor).constant);
    }
    return total;
}

Operand Parser::factor() {
    const auto offset = at_.token().begin;
    bool minus = false;
    while (at_.token().is_symbol("-") || at_.token().is_symbol("+")) minus ^= at_.take().text == "-";
    if (at_.token().kind == SqlToken::Kind::Number)
        return {offset, Linear{{}, at_.number(minus ? SqlCursor::Sign::Minus : SqlCursor::Sign::Plus)}};
    auto found = primary();
    found.offset = offset;
    if (minus) found.what = scaled(as_sum(found), std::int64_t{-1});
    return found;
}

Operand Parser::primary() {
    const auto offset = at_.token().begin;
    if (at_.token().kind == SqlToken::Kind::Text) return {offset, at_.take().text};
    if (!at_.accept_symbol("(")) return word();
    if (at_.token().is_word("SELECT")) at_.fail("a sub-query is not offered; pipe its answer: FROM -", offset);
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
    return {offset, Linear{{{1, std::move(name)}}, std::int64_t{0}, {columns_.size() - 1}, true}};
}

}  // namespace

Predicate parse_condition(SqlCursor& at, const ResolveColumn& resolve, std::vector<SqlColumn>& columns) {
    return Parser(at, resolve, columns).condition();
}

}  // namespace quadmill::detail::query
