// Comparisons of sums of columns: both sides as steps in postfix order. Numbers are 128-bit integers until a fraction
// appears, and doubles from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "quadmill/predicate.hpp"

namespace quadmill::detail::query {

__extension__ using Integer = __int128;
using Numeral = std::variant<Integer, double>;

// Divide and Remainder are only in expressions of SQL (src/sql).
enum class Arithmetic { Leaf, Constant, Negate, Add, Subtract, Multiply, Divide, Remainder };

// At most half of them are constants, which take four words each. Every driver has 1,024 words.
inline constexpr std::size_t max_steps_on_gpu = 512;
// A formula of a condition has no Divide and no Remainder.
[[noreturn]] void throw_not_linear();

// A step in postfix order, whose operands are on a stack. A leaf is a column. After the last step of a formula two
// values are left, the sides of the comparison.
struct NamedStep {
    Arithmetic op = Arithmetic::Leaf;
    std::string leaf{};
    Numeral constant{};
    bool operator==(const NamedStep&) const = default;
};
// With the index of the column. (One template for both is an internal error of GCC 12.)
struct IndexedStep {
    Arithmetic op = Arithmetic::Leaf;
    std::size_t leaf = 0;
    Numeral constant{};
    bool operator==(const IndexedStep&) const = default;
};

// The values that steps leave on the stack. `first(step)` is the value of a leaf or a constant, `then(op, a, b)` that
// of an operation. Negate has only b.
template <class T, class Steps, class First, class Then>
[[nodiscard]] std::vector<T> after(const Steps& steps, const First& first, const Then& then) {
    std::vector<T> stack;
    for (const auto& step : steps) {
        if (step.op == Arithmetic::Leaf || step.op == Arithmetic::Constant) {
            stack.push_back(first(step));
            continue;
        }
        auto b = std::move(stack.back());
        stack.pop_back();
        auto a = step.op == Arithmetic::Negate ? T() : std::move(stack.back());
        if (step.op != Arithmetic::Negate) stack.pop_back();
        stack.push_back(then(step.op, std::move(a), std::move(b)));
    }
    return stack;
}

// The result: an integer for integers, otherwise a double, rounded as in IEEE 754. Nothing if it does not fit into 128
// bits, or if a double meets an integer that doubles cannot represent. Negate only uses `b`.
[[nodiscard]] std::optional<Numeral> computed(Arithmetic kind, const Numeral& a, const Numeral& b);

// The sign of a - b, computed exactly. Pre: neither is NaN.
[[nodiscard]] int compare(const Numeral& a, const Numeral& b);

// The number as a constant of a predicate, if it can be one.
[[nodiscard]] std::optional<Value> value_of(const Numeral& number);
[[nodiscard]] double nearest_double(const Numeral& number);
[[nodiscard]] bool is_exact_double(const Numeral& number);
// The decimal integer, which may have a sign. Nothing if it is beyond 128 bits.
[[nodiscard]] std::optional<Integer> integer_of(std::string_view digits);
[[nodiscard]] std::string text_of(Integer integer);

// The columns of a formula, each once.
[[nodiscard]] std::vector<std::size_t> columns_of(const std::vector<IndexedStep>& steps);

// Facts about a column's values; for integers with min and max.
struct ColumnFacts {
    bool is_integer = false;
    std::int64_t min = 0, max = 0;
};

// Facts about a formula that are known before any row is read.
struct FormulaFacts {
    std::size_t columns = 0;  // how often the formula names a column
    // How left - right depends on the column, if only one is named, once: 1 never falls, -1 never rises, 0 unknown.
    int slope = 0;
    bool all_integers = false;     // there is no fraction
    bool exact_as_doubles = true;  // doubles represent all intermediate integers, so doubles may be used
    bool exact = true;             // no fraction meets an integer that doubles cannot represent
    bool fits = true;              // all intermediate integers fit into 128 bits
};
[[nodiscard]] FormulaFacts facts_of(const std::vector<IndexedStep>& steps,
                                    const std::function<ColumnFacts(std::size_t)>& column);

// The sign of left - right if the column has this value. Pre: the formula is exact and fits, and the result is not NaN.
[[nodiscard]] int sign_of(std::span<const IndexedStep> steps, const Numeral& column);

}  // namespace quadmill::detail::query
