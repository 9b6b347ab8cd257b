// The meaning of a condition, one row at a time with long doubles, and tables whose values are hard to compare.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "query/plan/bind.hpp"
#include "query/table/key.hpp"

namespace reference {

using namespace quadmill;                 // NOLINT(google-build-using-namespace,google-global-names-in-headers)
using namespace quadmill::detail::query;  // NOLINT(google-build-using-namespace,google-global-names-in-headers)

// Represents all types of numbers here exactly.
using Real = long double;
static_assert(std::numeric_limits<Real>::digits >= 64);
using Cell = std::variant<std::monostate, Real, std::string>;

inline std::size_t index_of(const TableData& table, const std::string& name) {
    std::size_t i = 0;
    while (table.infos[i].name != name) ++i;
    return i;
}

inline Cell cell(const TableData& table, std::size_t column, std::size_t row) {
    const auto& data = *table.columns[column];
    if (!data.valid.empty() && !(data.valid[row / 32] >> (row % 32) & 1U)) return {};
    return visit_column_type(data.type, [&]<class T>(const T* /*type*/) -> Cell {
        const auto value = std::get<std::vector<T>>(data.values)[row];
        if (data.type == ColumnType::Text) return (*table.dictionary)[static_cast<std::size_t>(value)];
        return static_cast<Real>(value);
    });
}

inline Cell cell(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<Real>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return static_cast<Real>(*real);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return {};
}

template <class T>
bool compared(Comparison op, const T& a, const T& b) {
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
            break;
    }
    return a > b;
}

// SQL's three truth values: nothing means unknown.
using Truth = std::optional<bool>;

inline Truth compared(Comparison op, const Cell& a, const Cell& b) {
    if (a.index() == 0 || b.index() == 0) return {};
    if (const auto* real = std::get_if<Real>(&a)) return compared(op, *real, std::get<Real>(b));
    return compared(op, std::get<std::string>(a), std::get<std::string>(b));
}

inline Truth negated(Truth truth) {
    return truth ? Truth(!*truth) : Truth();
}

inline Truth both(Truth a, Truth b) {
    if (a == Truth(false) || b == Truth(false)) return false;
    return a && b ? Truth(true) : Truth();
}

// In doubles, converted like a column's numbers; nothing if one is NULL.
inline std::optional<double> linear_sum(const TableData& table, const std::vector<double>& factors,
                                        const std::vector<std::size_t>& columns, std::size_t row) {
    double sum = 0;
    for (std::size_t i = 0; i < factors.size(); ++i) {
        const auto x = cell(table, columns[i], row);
        if (x.index() == 0) return {};
        const volatile double product = factors[i] * static_cast<double>(std::get<Real>(x));
        sum += product;
    }
    return sum;
}

// A formula as written: integers of 128 bits until a fraction appears, then doubles, with each step rounded. Returns
// the sign of left - right, 2 if one is not a number, and nothing if a column is NULL. `place(step)` gives its column.
template <class Steps, class PlaceOf>
std::optional<int> formula_sign(const TableData& table, const Steps& steps, std::size_t row, const PlaceOf& place) {
    struct Mixed {
        bool is_integer;
        Integer integer;
        double real;
    };
    std::vector<Mixed> stack;
    const auto pop = [&] {
        const auto top = stack.back();
        stack.pop_back();
        return top;
    };
    const auto real_of = [](const Mixed& x) { return x.is_integer ? static_cast<double>(x.integer) : x.real; };
    for (const auto& step : steps) {
        if (step.op == Arithmetic::Leaf) {
            const auto x = cell(table, place(step), row);
            if (x.index() == 0) return {};
            const auto type = table.infos[place(step)].type;
            const bool is_integer = type != ColumnType::F32 && type != ColumnType::F64;
            const auto value = std::get<Real>(x);
            stack.push_back({is_integer, is_integer ? static_cast<Integer>(value) : 0, static_cast<double>(value)});
        } else if (step.op == Arithmetic::Constant) {
            const auto* integer = std::get_if<Integer>(&step.constant);
            stack.push_back(
                {integer != nullptr, integer ? *integer : 0, integer ? 0 : std::get<double>(step.constant)});
        } else {
            const auto b = pop();
            const auto a = step.op == Arithmetic::Negate ? Mixed{b.is_integer, 0, -0.0} : pop();
            const bool minus = step.op == Arithmetic::Subtract || step.op == Arithmetic::Negate;
            Mixed c{a.is_integer && b.is_integer, 0, 0};
            if (c.is_integer) {
                c.integer = step.op == Arithmetic::Multiply ? a.integer * b.integer
                                                            : a.integer + (minus ? -b.integer : b.integer);
            } else {
                const double x = real_of(a), y = minus ? -real_of(b) : real_of(b);
                const volatile double result = step.op == Arithmetic::Multiply ? x * y : x + y;
                c.real = result;
            }
            stack.push_back(c);
        }
    }
    const auto right = pop(), left = pop();
    const auto sign = [](auto a, auto b) { return a < b ? -1 : a > b ? 1 : 0; };
    if (left.is_integer && right.is_integer) return sign(left.integer, right.integer);
    if (std::isnan(real_of(left)) || std::isnan(real_of(right))) return 2;
    if (!left.is_integer && !right.is_integer) return sign(left.real, right.real);
    const auto& integer = left.is_integer ? left.integer : right.integer;
    const double real = left.is_integer ? right.real : left.real;
    int result = real >= 0x1p126 ? -1 : real <= -0x1p126 ? 1 : 2;
    if (result == 2) {
        const auto whole = static_cast<Integer>(std::floor(real));
        result = integer != whole ? sign(integer, whole) : static_cast<double>(whole) < real ? -1 : 0;
    }
    return left.is_integer ? result : -result;
}

inline bool of_sign(Comparison op, int sign) {
    return sign == 2 ? op == Comparison::NotEqual : compared(op, sign, 0);
}

inline Truth truth(const TableData& table, const Expression& e, std::size_t row) {
    using Kind = Expression::Kind;
    const auto column = [&](const std::string& name) { return cell(table, index_of(table, name), row); };
    switch (e.kind) {
        case Kind::Always:
            return e.always;
        case Kind::Compare:
            return compared(e.op, column(e.column), cell(e.values[0]));
        case Kind::CompareColumns:
            return compared(e.op, column(e.column), column(e.other));
        case Kind::Between:
            return both(compared(Comparison::GreaterOrEqual, column(e.column), cell(e.values[0])),
                        compared(Comparison::LessOrEqual, column(e.column), cell(e.values[1])));
        case Kind::In: {
            if (column(e.column).index() == 0) return {};
            bool found = false;
            for (const auto& value : e.values) found |= *compared(Comparison::Equal, column(e.column), cell(value));
            return found;
        }
        case Kind::IsNull:
            return column(e.column).index() == 0;
        case Kind::Linear: {
            std::vector<double> factors;
            std::vector<std::size_t> columns;
            for (const auto& term : e.terms) {
                factors.push_back(term.factor);
                columns.push_back(index_of(table, term.column));
            }
            const auto sum = linear_sum(table, factors, columns, row);
            return sum ? Truth(compared(e.op, *sum, e.constant)) : Truth();
        }
        case Kind::Formula: {
            const auto sign =
                formula_sign(table, e.steps, row, [&](const auto& s) { return index_of(table, s.leaf); });
            return sign ? Truth(of_sign(e.op, *sign)) : Truth();
        }
        case Kind::Not:
            return negated(truth(table, *e.operands[0], row));
        case Kind::And:
        case Kind::Or:
            break;
    }
    // a || b is !(!a && !b).
    const bool is_or = e.kind == Kind::Or;
    Truth all = true;
    for (const auto& operand : e.operands) {
        const auto one = truth(table, *operand, row);
        all = both(all, is_or ? negated(one) : one);
    }
    return is_or ? negated(all) : all;
}

inline Key key_of(const TableData& table, std::size_t column, std::size_t row) {
    const auto& data = *table.columns[column];
    return visit_column_type(data.type, [&]<class T>(const T* /*type*/) {
        return KeyOf<T>::key(std::get<std::vector<T>>(data.values)[row]);
    });
}

// As engine.hpp describes leaves.
inline bool holds(const TableData& table, const Leaf& leaf, std::size_t row) {
    const auto null = [&](std::size_t column) { return cell(table, column, row).index() == 0; };
    if (const auto* always = std::get_if<Always>(&leaf)) return always->value;
    if (const auto* is_null = std::get_if<IsNull>(&leaf)) return null(is_null->column) != is_null->negate;
    if (const auto* range = std::get_if<Range>(&leaf)) {
        const auto key = key_of(table, range->column, row);
        return !null(range->column) && (range->low <= key && key <= range->high) != range->negate;
    }
    if (const auto* member = std::get_if<Member>(&leaf)) {
        bool found = false;
        for (const auto key : member->keys) found |= key == key_of(table, member->column, row);
        return !null(member->column) && found != member->negate;
    }
    if (const auto* pair = std::get_if<Pair>(&leaf)) {
        const auto result = compared(pair->op, cell(table, pair->a, row), cell(table, pair->b, row));
        return result && *result != pair->negate;
    }
    if (const auto* formula = std::get_if<Formula>(&leaf)) {
        const auto sign = formula_sign(table, formula->steps, row, [](const auto& step) { return step.leaf; });
        return sign && of_sign(formula->op, *sign) != formula->negate;
    }
    const auto& linear = std::get<Linear>(leaf);
    const auto sum = linear_sum(table, linear.factors, linear.columns, row);
    return sum && compared(linear.op, *sum, linear.constant) != linear.negate;
}

inline bool holds(const TableData& table, const Bound& bound, std::size_t row) {
    if (bound.kind == Bound::Kind::One) return holds(table, bound.leaf, row);
    bool all = true, any = false;
    for (const auto& operand : bound.operands) {
        const bool one = holds(table, operand, row);
        all &= one;
        any |= one;
    }
    return bound.kind == Bound::Kind::And ? all : any;
}

// ---- Formulas

// A formula on those columns, with constants that are hard to compute with. If `wild`, most formulas are inexact.
inline Predicate random_formula(std::mt19937_64& random, const std::vector<std::string>& columns, Comparison op,
                                bool fractions) {
    std::vector<NamedStep> steps;
    const auto constant = [&] {
        static const std::vector<Numeral> integers{
            Integer{0}, Integer{1}, Integer{-3}, Integer{1} << 53U, (Integer{1} << 53U) + 1, Integer{1} << 62U};
        static const std::vector<Numeral> reals{0.1, 0.4, 0.5, -2.0, 1.0 / 3, 1e15, 0x1p53, -0.0};
        const auto& list = fractions && random() % 3 != 0 ? reals : integers;
        return NamedStep{.op = Arithmetic::Constant, .constant = list[random() % (fractions ? 4 : list.size())]};
    };
    const auto side = [&](const auto& self, int depth) -> void {
        const auto pick = random() % 6;
        if (depth == 0 || pick == 0) {
            if (random() % 3 == 0) return steps.push_back(constant());
            return steps.push_back({.op = Arithmetic::Leaf, .leaf = columns[random() % columns.size()]});
        }
        if (pick == 1) {
            self(self, depth - 1);
            return steps.push_back({.op = Arithmetic::Negate});
        }
        if (pick == 2) {
            steps.push_back(constant());
            self(self, depth - 1);
            return steps.push_back({.op = Arithmetic::Multiply});
        }
        self(self, depth - 1);
        self(self, depth - 1);
        steps.push_back({.op = pick % 2 != 0 ? Arithmetic::Add : Arithmetic::Subtract});
    };
    steps.push_back({.op = Arithmetic::Leaf, .leaf = columns[random() % columns.size()]});
    side(side, 2);
    steps.push_back({.op = random() % 2 != 0 ? Arithmetic::Add : Arithmetic::Subtract});
    side(side, static_cast<int>(random() % 2));
    return predicate({.kind = Expression::Kind::Formula, .op = op, .steps = std::move(steps)});
}

// ---- Tables

constexpr Comparison comparisons[] = {Comparison::Less,     Comparison::LessOrEqual,    Comparison::Equal,
                                      Comparison::NotEqual, Comparison::GreaterOrEqual, Comparison::Greater};

// Values at which types begin, end or lose exactness, and their neighbours.
inline std::vector<double> hard_doubles() {
    std::vector<double> all{0.0, -0.0, 0.1, 2.5, double{0.1F}, std::numeric_limits<double>::quiet_NaN(), -1e300};
    for (const double x : {1.0, 0x1p24, 0x1p31, 0x1p32, 0x1p53, 0x1p62, 0x1p63, 0x1p64, 0x1p-149, 0x1p-126, 0x1p-150,
                           0x1.fffffep127, 0x1p128, std::numeric_limits<double>::denorm_min(),
                           std::numeric_limits<double>::max(), std::numeric_limits<double>::infinity()}) {
        for (const double signed_x : {x, -x}) {
            for (const double y : {std::nextafter(signed_x, -HUGE_VAL), signed_x, std::nextafter(signed_x, HUGE_VAL),
                                   signed_x - 1, signed_x + 1}) {
                all.push_back(y);
            }
        }
    }
    return all;
}

inline std::vector<std::int64_t> hard_integers() {
    std::vector<std::int64_t> all;
    for (const auto x : {std::int64_t{0}, std::int64_t{1} << 24U, std::int64_t{1} << 31U, std::int64_t{1} << 32U,
                         std::int64_t{1} << 53U, std::int64_t{1} << 62U}) {
        for (std::int64_t d = -2; d <= 2; ++d) {
            all.push_back(x + d);
            all.push_back(-x + d);
        }
    }
    using Limits = std::numeric_limits<std::int64_t>;
    for (std::int64_t d = 0; d < 3; ++d) {
        all.push_back(Limits::min() + d);
        all.push_back(Limits::max() - d);
    }
    return all;
}

// A number of the type; half of them are hard to compare.
template <class T>
T hard_number(std::mt19937_64& random) {
    static const auto doubles = hard_doubles();
    static const auto integers = hard_integers();
    const auto pick = random();
    if constexpr (std::is_floating_point_v<T>) {
        if (pick % 2 == 0) return static_cast<T>(doubles[random() % doubles.size()]);
        if (pick % 5 == 0) return std::copysign(std::numeric_limits<T>::quiet_NaN(), pick % 3 == 0 ? T{-1} : T{1});
        return static_cast<T>(
            std::ldexp(static_cast<double>(random() % 4096) - 2048, static_cast<int>(random() % 40) - 20));
    } else {
        if (pick % 2 == 0) return static_cast<T>(integers[random() % integers.size()]);
        return pick % 4 == 1 ? static_cast<T>(random() % 9) : static_cast<T>(random());
    }
}

// f, g: float; d, e: double; i, j, u, v, l, m: integers; k: integers of 64 bits that are exact as doubles; t, s: text.
// The second of each pair has NULLs.
inline Table hard_table(std::size_t rows, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Table table;
    const auto valid = [&] {
        std::vector<bool> bits(rows);
        for (std::size_t i = 0; i < rows; ++i) bits[i] = random() % 4 != 0;
        return bits;
    };
    const auto add = [&]<class T>(const char* name, bool nulls, T /*type*/) {
        std::vector<T> values(rows);
        for (auto& x : values) x = hard_number<T>(random);
        table.add(name, std::move(values), nulls ? valid() : std::vector<bool>());
    };
    add("f", false, float{});
    add("g", true, float{});
    add("d", false, double{});
    add("e", true, double{});
    add("i", false, std::int32_t{});
    add("j", true, std::int32_t{});
    add("u", false, std::uint32_t{});
    add("v", true, std::uint32_t{});
    add("l", false, std::int64_t{});
    add("m", true, std::int64_t{});
    std::vector<std::int64_t> exact(rows);
    for (auto& x : exact) x = hard_number<std::int64_t>(random) >> 10U;
    table.add("k", std::move(exact), valid());
    for (const char* name : {"t", "s"}) {
        std::vector<std::string> texts(rows);
        for (auto& x : texts) x = std::string(random() % 3, static_cast<char>('b' + random() % 5)) + name;
        table.add(name, texts, name[0] == 's' ? valid() : std::vector<bool>());
    }
    return table;
}

}  // namespace reference
