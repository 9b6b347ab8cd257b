#include "sql/condition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "query/plan/expression.hpp"
#include "query/table/order.hpp"
#include "sql/functions.hpp"

namespace quadmill::detail::sql {

namespace {

using Op = query::Arithmetic;

// A constant, or arithmetic of columns and constants, as written in the text.
struct Sum {
    SqlSteps steps{};
    std::vector<std::size_t> uses{};  // indices of its columns in the list of columns
    bool is_linear = true;            // a sum of columns times constants

    // Whether it is a single column.
    [[nodiscard]] bool is_column() const { return steps.size() == 1 && steps[0].op == Op::Leaf; }
    // Arithmetic of constants is computed immediately.
    [[nodiscard]] const query::Numeral* constant() const {
        return steps.size() == 1 && steps[0].op == Op::Constant ? &steps[0].constant : nullptr;
    }
};

Sum sum_of(const query::Numeral& constant) {
    return {.steps = {{.op = Op::Constant, .constant = constant}}};
}

Sum sum_of_leaf(std::string leaf) {
    return {.steps = {{.op = Op::Leaf, .leaf = std::move(leaf)}}};
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

// Whether the comparison is true for two constants. `order` is negative if the first is less, 0 if they are equal, and
// positive if it is greater.
bool holds(Comparison op, int order) {
    return (query::relations_of(op) & (order < 0    ? query::is_less
                                       : order == 0 ? query::is_equal
                                                    : query::is_greater)) != 0;
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
    return holds(op, query::compare(a, b));
}

using Kind = QueryAggregate::Kind;

class Parser {
  public:
    Parser(SqlCursor& at, SqlQuery& query, SqlClause clause)
        : at_(at), query_(query), columns_(query.columns), clause_(clause) {}

    Predicate condition() { return as_condition(disjunction()); }
    SqlSteps expression();

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
    Sum call(const SqlToken& function);
    Sum aggregate(SqlAggregate what, std::vector<std::size_t> uses);
    Sum median(const Sum& argument);
    void function_constants(const SqlToken& function, QueryAggregate& aggregate);
    void enter(std::size_t offset);

    Operand copy_of(const Operand& operand);
    Predicate between(const Operand& what);
    Predicate in(const Operand& what);
    Predicate is_null(const Operand& what);
    Predicate like(const Operand& what, bool ignore_case);
    Predicate compare(Operand a, Comparison op, Operand b);
    Predicate compare_constants(const Operand& a, Comparison op, const Operand& b);
    Predicate compare_sums(const Operand& a, Comparison op, const Operand& b);
    Sum applied(Op op, Sum a, const Sum& b, std::size_t offset);
    std::optional<Comparison> accept_comparison();

    Predicate as_condition(const Operand& operand);
    Predicate part_of_condition(const Operand& operand);
    const Sum& as_sum(const Operand& operand);
    // A column, which is computed if the operand is an expression.
    ColumnName as_column(const Operand& operand, const char* what);
    Sum computed_column(const Sum& sum);
    void uses(const Sum& sum, SqlUse use);
    void uses(const Sum& sum, const std::vector<Value>& constants, std::size_t offset);

    SqlCursor& at_;
    SqlQuery& query_;
    std::vector<SqlColumn>& columns_;
    SqlClause clause_;
    bool in_aggregate_ = false;
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
    const auto* sum = operand.sum();
    if (!sum || sum->constant()) at_.fail(std::string(what) + " goes with a column", operand.offset);
    return column((sum->is_column() ? *sum : computed_column(*sum)).steps.front().leaf);
}

Sum Parser::computed_column(const Sum& sum) {
    uses(sum, SqlUse::Sum);
    auto column = sum_of_leaf(leaf_name('x', query_.computed.size()));
    query_.computed.push_back(
        {.steps = sum.steps, .of_groups = clause_ == SqlClause::Having, .leaf = column.steps[0].leaf});
    return column;
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
void Parser::enter(std::size_t offset) {
    constexpr int deepest = 200;
    if (++depth_ > deepest) at_.fail("this nests deeper than " + std::to_string(deepest) + " levels", offset);
}

Operand Parser::negation() {
    const auto offset = at_.token().begin;
    enter(offset);
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
    if (at_.accept_word("LIKE")) return maybe(like(left, false));
    if (at_.accept_word("ILIKE")) return maybe(like(left, true));
    if (negated) at_.refuse("BETWEEN, IN or LIKE");
    if (!std::holds_alternative<Predicate>(left.what)) at_.check_offered();  // a LIKE 'x%'
    return left;
}

Predicate Parser::is_null(const Operand& what) {
    const bool negated = at_.accept_word("NOT");
    at_.expect_word("NULL");
    auto found = as_column(what, "IS NULL").is_null();
    return negated ? !found : found;
}

Predicate Parser::like(const Operand& what, bool ignore_case) {
    const auto* sum = what.sum();
    if (!sum || !sum->is_column() || sum->uses.empty()) at_.fail("LIKE needs a column of text", what.offset);
    if (at_.token().kind != SqlToken::Kind::Text) at_.refuse("a pattern such as 'a%'");
    const auto text = at_.take().text;
    std::string escape, pattern;
    if (at_.accept_word("ESCAPE")) {
        if (at_.token().kind != SqlToken::Kind::Text || at_.token().text.size() != 1)
            at_.fail("ESCAPE takes one character, such as '!'", at_.token().begin);
        escape = at_.take().text;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escaped = !escape.empty() && text[i] == escape[0] && i + 1 < text.size();
        if (escaped) ++i;
        pattern += escaped || (text[i] != '%' && text[i] != '_') ? text[i] : text[i] == '%' ? '\0' : '\1';
    }
    uses(*sum, SqlUse::Pattern);
    auto leaf = leaf_name('x', query_.computed.size());
    query_.computed.push_back({.steps = sum->steps,
                               .pattern = std::move(pattern),
                               .ignore_case = ignore_case,
                               .of_groups = clause_ == SqlClause::Having,
                               .leaf = leaf});
    return column(std::move(leaf)) == 1;
}

// A copy for a further comparison: the same leaf, and its own mentions of the columns.
Operand Parser::copy_of(const Operand& operand) {
    auto copy = operand;
    if (auto* sum = std::get_if<Sum>(&copy.what)) {
        for (auto& use : sum->uses) {
            columns_.push_back(SqlColumn(columns_[use]));
            use = columns_.size() - 1;
        }
    }
    return copy;
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
    const auto again = copy_of(what);
    return compare(what, Comparison::GreaterOrEqual, low) && compare(again, Comparison::LessOrEqual, high);
}

Predicate Parser::in(const Operand& what) {
    const auto tested = as_column(what, "IN");
    at_.expect_symbol("(");
    const auto first = at_.token().begin;
    at_.check_offered();
    std::vector<Value> list;
    std::vector<Operand> wide;  // constants beyond 64 bits are compared one by one
    do {
        const auto item = sum();
        if (!item.is_constant()) at_.fail("IN takes a list of constants", item.offset);
        if (const auto value = item.constant()) {
            list.push_back(*value);
        } else {
            wide.push_back(item);
        }
    } while (at_.accept_symbol(","));
    at_.expect_symbol(")");
    std::vector<Predicate> any;
    for (const auto& item : wide) any.push_back(compare(copy_of(what), Comparison::Equal, item));
    if (!list.empty()) {
        uses(*what.sum(), list, first);
        any.push_back(tested.in(std::move(list)));
    }
    return query::junction(query::Expression::Kind::Or, any);
}

Predicate Parser::compare_constants(const Operand& a, Comparison op, const Operand& b) {
    if (a.text() && b.text()) return Predicate::always(holds(op, a.text()->compare(*b.text())));
    if (a.text() || b.text()) at_.fail("a number and a text cannot be compared", a.offset);
    return Predicate::always(holds(op, *a.number(), *b.number()));
}

// A comparison of one column with a constant or another column is exact without a formula.
Predicate Parser::compare_sums(const Operand& a, Comparison op, const Operand& b) {
    const auto &x = as_sum(a), &y = as_sum(b);
    const auto& left = x.steps[0].leaf;
    if (x.is_column() && y.is_column() && !x.uses.empty() && !y.uses.empty()) {
        columns_[y.uses[0]].beside = x.uses[0];
        return column(left).compare(op, column(y.steps[0].leaf));
    }
    const auto use = x.uses.size() + y.uses.size() > 1 ? SqlUse::Sum : SqlUse::WithNumber;
    uses(x, use);
    uses(y, use);
    if (x.is_column() && y.is_column()) return column(left).compare(op, column(y.steps[0].leaf));
    if (const auto constant = b.constant(); constant && x.is_column()) return column(left).compare(op, *constant);
    auto steps = x.steps;
    steps.insert(steps.end(), y.steps.begin(), y.steps.end());
    return query::predicate({.kind = query::Expression::Kind::Formula, .op = op, .steps = std::move(steps)});
}

Predicate Parser::compare(Operand a, Comparison op, Operand b) {
    if (a.is_constant() && b.is_constant()) return compare_constants(a, op, b);
    if (a.is_constant()) return compare(std::move(b), query::turned(op), std::move(a));
    if (b.text()) {
        const auto* sum = a.sum();
        if (!sum || !sum->is_column() || sum->uses.empty()) at_.fail("text goes with a column", a.offset);
        uses(*sum, {*b.text()}, b.offset);
        return as_column(a, "text").compare(op, *b.text());
    }
    for (auto* side : {&a, &b}) {
        if (!as_sum(*side).is_linear) side->what = computed_column(as_sum(*side));
    }
    return compare_sums(a, op, b);
}

// The value of two constants; nothing if there is none.
std::optional<query::Numeral> value_of(Op op, const query::Numeral& a, const query::Numeral& b) {
    if (op == Op::Divide) return query::nearest_double(a) / query::nearest_double(b);
    if (op != Op::Remainder) return computed(op, a, b);
    const auto *x = std::get_if<query::Integer>(&a), *y = std::get_if<query::Integer>(&b);
    if (x && y) return *y == -1 ? query::Integer{0} : *x % *y;
    return std::fmod(query::nearest_double(a), query::nearest_double(b));
}

// Negate: only `a` is used.
Sum Parser::applied(Op op, Sum a, const Sum& b, std::size_t offset) {
    const bool one = op == Op::Negate, divides = op == Op::Divide || op == Op::Remainder;
    const auto *x = a.constant(), *y = one ? x : b.constant();
    if (divides && y && query::nearest_double(*y) == 0) at_.fail("this divides by zero", offset);
    if (x && y) {
        if (const auto result = value_of(op, *x, *y)) return sum_of(*result);
        at_.fail(std::holds_alternative<query::Integer>(*x) && std::holds_alternative<query::Integer>(*y)
                     ? "the result is an integer beyond 128 bits"
                     : "a double, in which this is computed, cannot represent the integer; write it with .0 if it may "
                       "be rounded",
                 offset);
    }
    if (divides || (op == Op::Multiply && !x && !y)) a.is_linear = false;
    if (!one) {
        a.steps.insert(a.steps.end(), b.steps.begin(), b.steps.end());
        a.uses.insert(a.uses.end(), b.uses.begin(), b.uses.end());
        a.is_linear = a.is_linear && b.is_linear;
    }
    a.steps.push_back({.op = op});
    return a;
}

Operand Parser::sum() {
    auto total = product();
    for (;;) {
        const bool minus = at_.token().is_symbol("-");
        if (!minus && !at_.token().is_symbol("+")) return total;
        at_.take();
        const auto next = product();
        static_cast<void>(as_sum(total));
        total.what =
            applied(minus ? Op::Subtract : Op::Add, std::move(std::get<Sum>(total.what)), as_sum(next), next.offset);
    }
}

Operand Parser::product() {
    auto total = factor();
    for (;;) {
        const bool times = at_.accept_symbol("*"), over = !times && at_.accept_symbol("/");
        if (!times && !over && !at_.accept_symbol("%")) return total;
        const auto next = factor();
        static_cast<void>(as_sum(total));
        total.what = applied(times  ? Op::Multiply
                             : over ? Op::Divide
                                    : Op::Remainder,
                             std::move(std::get<Sum>(total.what)), as_sum(next), next.offset);
    }
}

Operand Parser::factor() {
    const auto offset = at_.token().begin;
    bool minus = false;
    while (at_.token().is_symbol("-") || at_.token().is_symbol("+")) minus ^= at_.take().text == "-";
    if (at_.token().kind == SqlToken::Kind::Number)
        return {offset, sum_of(at_.number(minus ? SqlCursor::Sign::Minus : SqlCursor::Sign::Plus))};
    auto found = primary();
    found.offset = offset;
    if (minus) found.what = applied(Op::Negate, as_sum(found), {}, offset);
    if (at_.token().is_symbol("::")) at_.check_offered();
    return found;
}

Operand Parser::primary() {
    const auto offset = at_.token().begin;
    if (at_.token().kind == SqlToken::Kind::Text) return {offset, at_.take().text};
    if (!at_.accept_symbol("(")) return word();
    at_.check_offered();  // a sub-query
    auto inside = disjunction();
    at_.expect_symbol(")");
    return inside;
}

Operand Parser::word() {
    const auto offset = at_.token().begin;
    if (at_.accept_word("TRUE")) return {offset, Predicate::always(true)};
    if (at_.accept_word("FALSE")) return {offset, Predicate::always(false)};
    if (at_.token().is_word("NULL")) at_.fail("NULL satisfies no comparison; write a IS NULL", offset);
    if (!at_.at_name())
        at_.refuse_name(clause_ == SqlClause::Select || clause_ == SqlClause::OrderBy ? "a column or an aggregate"
                                                                                      : "a column or a constant");
    const auto first = at_.take();
    if (first.kind == SqlToken::Kind::Word && at_.token().is_symbol("(")) return {offset, call(first)};
    at_.check_type(first);
    using Alias = SqlColumn::Alias;
    const auto alias = in_aggregate_ || clause_ == SqlClause::Select || clause_ == SqlClause::Where ? Alias::No
                       : clause_ == SqlClause::OrderBy                                              ? Alias::First
                                                                                                    : Alias::Second;
    auto found = sum_of_leaf(leaf_name('c', columns_.size()));
    found.uses = {columns_.size()};
    columns_.push_back({.written = at_.reference_from(first), .leaf = found.steps[0].leaf, .alias = alias});
    return {offset, std::move(found)};
}

Sum Parser::call(const SqlToken& function) {
    const auto* known = std::ranges::find_if(functions, [&](const Function& f) { return function.is_word(f.name); });
    if (known == functions.end()) {
        at_.check_function(function);
        std::string all;
        for (const auto& f : functions) all += (all.empty() ? "" : ", ") + std::string(f.name);
        at_.fail("there is no " + function.text + "(); there are " + all, function.begin);
    }
    if (in_aggregate_) at_.fail("an aggregate inside an aggregate is not supported", function.begin);
    if (clause_ == SqlClause::Where || clause_ == SqlClause::GroupBy)
        at_.fail("aggregates go between SELECT and FROM, or after HAVING or ORDER BY", function.begin);
    at_.expect_symbol("(");
    enter(function.begin);
    SqlAggregate found{
        .what = {.kind = known->kind}, .form = known->form, .population = known->population, .root = known->root};
    Sum argument;
    const bool counts = known->kind == Kind::Count;
    if (counts && (at_.token().is_symbol("*") || at_.token().kind == SqlToken::Kind::Number)) {
        at_.take();  // COUNT(1) means COUNT(*)
        found.what.kind = Kind::CountRows;
    } else {
        if (counts && at_.accept_word("DISTINCT")) found.form = SqlAggregate::Form::Distinct;
        at_.check_offered();
        if (at_.token().is_symbol("*")) at_.refuse("a column");
        in_aggregate_ = true;
        const auto begin = at_.token().begin;
        argument = as_sum(sum());
        in_aggregate_ = false;
        if (argument.uses.empty()) at_.fail("an aggregate needs a column", begin);
        const bool numbers = known->kind == Kind::Sum || known->kind == Kind::Average || function.is_word("MEDIAN");
        if (numbers || !argument.is_column()) uses(argument, SqlUse::Sum);
        function_constants(function, found.what);
    }
    at_.expect_symbol(")");
    --depth_;
    at_.check_after_call();
    if (function.is_word("MEDIAN")) return median(argument);
    found.argument = argument.steps;
    // MIN(t) of a text is a text.
    using enum QueryAggregate::Kind;
    const auto kind = found.what.kind;
    const bool as_argument = argument.is_column() && (kind == Min || kind == Max || kind == Quantile ||
                                                      kind == KthLargest || kind == KthSmallest);
    return aggregate(std::move(found), as_argument ? argument.uses : std::vector<std::size_t>{});
}

// One aggregate for all calls that are the same.
Sum Parser::aggregate(SqlAggregate what, std::vector<std::size_t> uses) {
    auto found = sum_of_leaf(leaf_name('a', query_.aggregates.size()));
    what.leaf = found.steps[0].leaf;
    if (!uses.empty()) {
        // Its own mention of the column, so that what it is compared with belongs to this leaf.
        columns_.push_back(SqlColumn(columns_[uses[0]]));
        uses = {columns_.size() - 1};
        columns_.back().leaf = what.leaf;
    }
    found.uses = std::move(uses);
    query_.aggregates.push_back(std::move(what));
    return found;
}

// The mean of the two values in the middle, which are the same one if their number is odd.
Sum Parser::median(const Sum& argument) {
    const auto half = [&](double phi) {
        SqlAggregate quantile;
        quantile.what.kind = Kind::Quantile;
        quantile.what.phi = phi;
        quantile.argument = argument.steps;
        auto value = aggregate(std::move(quantile), {});
        value.steps.push_back({.op = Op::Constant, .constant = query::Integer{2}});
        value.steps.push_back({.op = Op::Divide, .constant = rounding_mean});
        return value;
    };
    auto low = half(0.5);
    const auto high = half(0.5 + 0x1p-40);
    low.steps.insert(low.steps.end(), high.steps.begin(), high.steps.end());
    low.steps.push_back({.op = Op::Add});
    low.is_linear = false;
    return low;
}

void Parser::function_constants(const SqlToken& function, QueryAggregate& aggregate) {
    if (aggregate.kind == Kind::KthLargest || aggregate.kind == Kind::KthSmallest) {
        at_.expect_symbol(",");
        aggregate.k = at_.whole_number(1, "k must be a whole number from 1 to 2^63 - 1");
    } else if (aggregate.kind == Kind::Quantile && !function.is_word("MEDIAN")) {
        at_.expect_symbol(",");
        const auto begin = at_.token().begin;
        aggregate.phi = query::nearest_double(at_.number());
        if (!(aggregate.phi <= 1)) at_.fail("a quantile must be from 0 (the min) to 1 (the max)", begin);
    }
}

SqlSteps Parser::expression() {
    const auto found = sum();
    if (found.text()) at_.fail("a text constant is compared with a column; it is not a value of its own", found.offset);
    if (!found.sum()) at_.fail("a condition goes after WHERE or HAVING; a value is expected here", found.offset);
    if (!found.sum()->is_column()) uses(*found.sum(), SqlUse::Sum);
    return found.sum()->steps;
}

}  // namespace

Predicate parse_condition(SqlCursor& at, SqlQuery& query, SqlClause clause) {
    return Parser(at, query, clause).condition();
}

SqlSteps parse_expression(SqlCursor& at, SqlQuery& query, SqlClause clause) {
    return Parser(at, query, clause).expression();
}

}  // namespace quadmill::detail::sql
