#include "query/plan/formula.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

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
            overflow = __builtin_sub_overflow(Integer{0}, a, &result);
            break;
        case Arithmetic::Add:
            overflow = __builtin_add_overflow(a, b, &result);
            break;
        case Arithmetic::Subtract:
            overflow = __builtin_sub_overflow(a, b, &result);
            break;
        default:
            overflow = __builtin_mul_overflow(a, b, &result);
            break;
    }
    return overflow ? std::nullopt : std::optional(result);
}

double computed(Arithmetic kind, double a, double b) {
    switch (kind) {
        case Arithmetic::Negate:
            return -a;
        case Arithmetic::Add:
            return a + b;
        case Arithmetic::Subtract:
            return a - b;
        default:
            return a * b;
    }
}

}  // namespace

double nearest_double(const Numeral& number) {
    const auto* integer = std::get_if<Integer>(&number);
    return integer ? static_cast<double>(*integer) : std::get<double>(number);
}

bool is_exact_double(const Numeral& number) {
    const auto* integer = std::get_if<Integer>(&number);
    return !integer || order_of(static_cast<double>(*integer), *integer) == 0;
}

std::optional<Numeral> computed(Arithmetic kind, const Numeral& a, const Numeral& b) {
    const auto* x = std::get_if<Integer>(&a);
    const auto* y = kind == Arithmetic::Negate ? x : std::get_if<Integer>(&b);
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

std::vector<std::size_t> columns_of(const std::vector<FormulaStep<std::size_t>>& steps) {
    std::vector<std::size_t> columns;
    for (const auto& step : steps) {
        const bool known = std::ranges::find(columns, step.column) != columns.end();
        if (step.kind == Arithmetic::Column && !known) columns.push_back(step.column);
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

class FactFinder {
  public:
    explicit FactFinder(const std::function<ColumnFacts(std::size_t)>& column) : column_(column) {}

    void take(const FormulaStep<std::size_t>& step) {
        if (step.kind == Arithmetic::Column) return push(of_column(step.column));
        if (step.kind == Arithmetic::Constant) return push(of_constant(step.constant));
        const auto b = pop();
        const auto a = step.kind == Arithmetic::Negate ? b : pop();
        push(combined(step.kind, a, b));
    }

    [[nodiscard]] FormulaFacts finish() {
        const auto right = pop(), left = pop();
        facts_.slope = left.is_steady && right.is_steady ? left.slope - right.slope : 0;
        facts_.slope = std::clamp(facts_.slope, -1, 1);
        return facts_;
    }

  private:
    Known pop() {
        auto top = stack_.back();
        stack_.pop_back();
        return top;
    }
    void push(const Known& known) {
        if (known.is_integer) {
            facts_.exact_as_doubles = facts_.exact_as_doubles && known.is_exact;
        } else {
            facts_.all_integers = false;
        }
        stack_.push_back(known);
    }

    [[nodiscard]] Known of_column(std::size_t column) {
        ++facts_.columns;
        const auto of = column_(column);
        Known known{.is_integer = of.is_integer, .low = of.min, .high = of.max, .slope = 1};
        known.is_exact = within_doubles(known);
        return known;
    }
    [[nodiscard]] static Known of_constant(const Numeral& number) {
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

    Known combined(Arithmetic kind, const Known& a, const Known& b) {
        Known result{.is_integer = a.is_integer && b.is_integer, .is_steady = a.is_steady && b.is_steady};
        if (!result.is_integer) facts_.exact = facts_.exact && a.is_exact && b.is_exact;
        if (kind == Arithmetic::Multiply) {
            const auto& factor = a.constant ? a : b;
            const int sign = factor.is_steady && factor.constant ? sign_of_constant(*factor.constant) : 0;
            result.slope = sign * (a.slope + b.slope);
            result.is_steady = result.is_steady && (sign != 0 || result.is_integer);  // 0 times infinity
        } else {
            result.slope = kind == Arithmetic::Negate ? -a.slope
                           : kind == Arithmetic::Add  ? a.slope + b.slope
                                                      : a.slope - b.slope;
        }
        if (result.is_integer) set_range(kind, a, b, result);
        return result;
    }

    void set_range(Arithmetic kind, const Known& a, const Known& b, Known& result) {
        bool first = true;
        for (const auto x : {a.low, a.high}) {
            for (const auto y : {b.low, b.high}) {
                const auto value = computed(kind, x, y);
                if (!value) facts_.fits = false;
                result.low = first ? value.value_or(0) : std::min(result.low, value.value_or(0));
                result.high = first ? value.value_or(0) : std::max(result.high, value.value_or(0));
                first = false;
            }
        }
        result.is_exact = within_doubles(result);
    }

    const std::function<ColumnFacts(std::size_t)>& column_;
    std::vector<Known> stack_;
    FormulaFacts facts_{.all_integers = true};
};

}  // namespace

FormulaFacts facts_of(const std::vector<FormulaStep<std::size_t>>& steps,
                      const std::function<ColumnFacts(std::size_t)>& column) {
    FactFinder finder(column);
    for (const auto& step : steps) finder.take(step);
    return finder.finish();
}

int sign_of(std::span<const FormulaStep<std::size_t>> steps, const Numeral& column) {
    std::vector<Numeral> stack;
    for (const auto& step : steps) {
        if (step.kind == Arithmetic::Column || step.kind == Arithmetic::Constant) {
            stack.push_back(step.kind == Arithmetic::Column ? column : step.constant);
            continue;
        }
        const auto b = stack.back();
        if (step.kind != Arithmetic::Negate) stack.pop_back();
        stack.back() = *computed(step.kind, stack.back(), b);
    }
    return compare(stack[0], stack[1]);
}

}  // namespace quadmill::detail::query
