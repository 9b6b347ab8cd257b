#include "query/plan/formula.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "quadmill/error.hpp"
#include "query/table/order.hpp"

namespace quadmill::detail::query {

namespace {

// Beyond 128 bits the sign of a decides.
int order_of(double a, Integer b) {
    return order_below(0x1p127, a, b);
}

std::optional<Integer> computed(Arithmetic kind, Integer a, Integer b) {
    Integer result = 0;
    bool overflow = false;
    switch (kind) {
        case Arithmetic::Negate:
            overflow = __builtin_sub_overflow(Integer{0}, b, &result);
            break;
        case Arithmetic::Add:
            overflow = __builtin_add_overflow(a, b, &result);
            break;
        case Arithmetic::Subtract:
            overflow = __builtin_sub_overflow(a, b, &result);
            break;
        case Arithmetic::Multiply:
            overflow = __builtin_mul_overflow(a, b, &result);
            break;
        default:
            throw_not_linear();
    }
    return overflow ? std::nullopt : std::optional(result);
}

double computed(Arithmetic kind, double a, double b) {
    switch (kind) {
        case Arithmetic::Negate:
            return -b;
        case Arithmetic::Add:
            return a + b;
        case Arithmetic::Subtract:
            return a - b;
        case Arithmetic::Multiply:
            return a * b;
        default:
            throw_not_linear();
    }
}

}  // namespace

void throw_not_linear() {
    throw InvalidArgument("Predicate: a formula has sums, differences and products only");
}

double nearest_double(const Numeral& number) {
    const auto* integer = std::get_if<Integer>(&number);
    return integer ? static_cast<double>(*integer) : std::get<double>(number);
}

bool is_exact_double(const Numeral& number) {
    const auto* integer = std::get_if<Integer>(&number);
    return !integer || order_of(static_cast<double>(*integer), *integer) == 0;
}

std::optional<Numeral> computed(Arithmetic kind, const Numeral& a, const Numeral& b) {
    const auto* y = std::get_if<Integer>(&b);
    const auto* x = kind == Arithmetic::Negate ? y : std::get_if<Integer>(&a);
    if (x && y) return computed(kind, *x, *y);
    if (!is_exact_double(a) || !is_exact_double(b)) return {};
    return computed(kind, nearest_double(a), nearest_double(b));
}

int compare(const Numeral& a, const Numeral& b) {
    const auto *x = std::get_if<Integer>(&a), *y = std::get_if<Integer>(&b);
    if (x && y) return compare(*x, *y);
    if (x) return -order_of(std::get<double>(b), *x);
    if (y) return order_of(std::get<double>(a), *y);
    return compare(std::get<double>(a), std::get<double>(b));
}

std::optional<Value> value_of(const Numeral& number) {
    const auto* integer = std::get_if<Integer>(&number);
    if (integer && *integer == static_cast<std::int64_t>(*integer)) return static_cast<std::int64_t>(*integer);
    if (!is_exact_double(number)) return {};
    return nearest_double(number);
}

std::optional<Integer> integer_of(std::string_view digits) {
    const bool minus = digits.starts_with('-');
    if (minus || digits.starts_with('+')) digits.remove_prefix(1);
    if (digits.empty()) return {};
    Integer value = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') return {};
        if (__builtin_mul_overflow(value, Integer{10}, &value) ||
            __builtin_sub_overflow(value, Integer{c - '0'}, &value))  // below 0 if it has one more
            return {};
    }
    return minus ? value : computed(Arithmetic::Negate, value, value);
}

std::string text_of(Integer integer) {
    std::string text;
    auto left = integer;
    do {
        const auto digit = static_cast<int>(left % 10);
        text += static_cast<char>('0' + std::abs(digit));
        left /= 10;
    } while (left != 0);
    if (integer < 0) text += '-';
    std::ranges::reverse(text);
    return text;
}

std::vector<std::size_t> columns_of(const std::vector<IndexedStep>& steps) {
    std::vector<std::size_t> columns;
    for (const auto& step : steps) {
        const bool known = std::ranges::find(columns, step.leaf) != columns.end();
        if (step.op == Arithmetic::Leaf && !known) columns.push_back(step.leaf);
    }
    return columns;
}

// ---- Facts

namespace {

// What is known about a value on the stack.
struct Known {
    bool is_integer = false;
    Integer low = 0, high = 0;  // for an integer
    bool is_exact = true;       // a double represents it exactly
    std::optional<Numeral> constant{};
    int slope = 0;          // as in FormulaFacts
    bool is_steady = true;  // numbers never give a NaN, so that the slope is meaningful
};

bool within_doubles(const Known& known) {
    return known.low >= -exact_doubles && known.high <= exact_doubles;
}

int sign_of_constant(const Numeral& number) {
    return compare(number, Numeral(Integer{0}));
}

Known of_constant(const Numeral& number) {
    Known known{.constant = number};
    if (const auto* integer = std::get_if<Integer>(&number)) {
        known.is_integer = true;
        known.low = known.high = *integer;
        known.is_exact = is_exact_double(number);
    } else {
        known.is_steady = std::isfinite(std::get<double>(number));
    }
    return known;
}

void set_range(Arithmetic kind, const Known& a, const Known& b, Known& result, FormulaFacts& facts) {
    bool first = true;
    for (const auto x : {a.low, a.high}) {
        for (const auto y : {b.low, b.high}) {
            const auto value = computed(kind, x, y);
            if (!value) facts.fits = false;
            result.low = first ? value.value_or(0) : std::min(result.low, value.value_or(0));
            result.high = first ? value.value_or(0) : std::max(result.high, value.value_or(0));
            first = false;
        }
    }
    result.is_exact = within_doubles(result);
}

Known combined(Arithmetic kind, const Known& a, const Known& b, FormulaFacts& facts) {
    Known result{.is_integer = a.is_integer && b.is_integer, .is_steady = a.is_steady && b.is_steady};
    if (!result.is_integer) facts.exact = facts.exact && a.is_exact && b.is_exact;
    if (kind == Arithmetic::Multiply) {
        const auto& factor = a.constant ? a : b;
        const int sign = factor.is_steady && factor.constant ? sign_of_constant(*factor.constant) : 0;
        result.slope = sign * (a.slope + b.slope);
        result.is_steady = result.is_steady && (sign != 0 || result.is_integer);  // 0 times infinity
    } else {
        result.slope = kind == Arithmetic::Negate ? -b.slope
                       : kind == Arithmetic::Add  ? a.slope + b.slope
                                                  : a.slope - b.slope;
    }
    if (result.is_integer) set_range(kind, a, b, result, facts);
    return result;
}

}  // namespace

FormulaFacts facts_of(const std::vector<IndexedStep>& steps, const std::function<ColumnFacts(std::size_t)>& column) {
    FormulaFacts facts{.all_integers = true};
    const auto seen = [&](Known known) {
        if (known.is_integer) {
            facts.exact_as_doubles = facts.exact_as_doubles && known.is_exact;
        } else {
            facts.all_integers = false;
        }
        return known;
    };
    const auto first = [&](const auto& step) {
        if (step.op == Arithmetic::Constant) return seen(of_constant(step.constant));
        ++facts.columns;
        const auto of = column(step.leaf);
        Known known{.is_integer = of.is_integer, .low = of.min, .high = of.max, .slope = 1};
        known.is_exact = within_doubles(known);
        return seen(known);
    };
    const auto sides = after<Known>(steps, first, [&](Arithmetic op, const Known& a, const Known& b) {
        return seen(combined(op, op == Arithmetic::Negate ? b : a, b, facts));
    });
    const auto &left = sides[0], &right = sides[1];
    facts.slope = left.is_steady && right.is_steady ? std::clamp(left.slope - right.slope, -1, 1) : 0;
    return facts;
}

int sign_of(std::span<const IndexedStep> steps, const Numeral& column) {
    const auto sides = after<Numeral>(
        steps, [&](const auto& step) { return step.op == Arithmetic::Leaf ? column : step.constant; },
        [](Arithmetic op, const Numeral& a, const Numeral& b) { return *computed(op, a, b); });
    return compare(sides[0], sides[1]);
}

}  // namespace quadmill::detail::query
