// Comparisons of sums of columns as they are written: both sides as steps in postfix order, and numbers that are
// integers of 128 bits as long as no fraction comes in, then doubles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "quadmill/predicate.hpp"

namespace quadmill::detail::query {

__extension__ using Integer = __int128;
using Numeral = std::variant<Integer, double>;

enum class Arithmetic { Column, Constant, Negate, Add, Subtract, Multiply };

// Half of them are constants at most, four words each of the 1,024 that any driver has.
inline constexpr std::size_t most_steps_on_gpu = 512;

// The operands of a step are what the steps before it have left: a stack. After the last one, two are left, the sides
// of the comparison.
template <class Column>
struct FormulaStep {
    Arithmetic kind = Arithmetic::Constant;
    Column column{};
    Numeral constant{};
    bool operator==(const FormulaStep&) const = default;
};

// The result, of integers an integer, otherwise a double, rounded as IEEE 754 has it. Nothing where 128 bits do not
// hold it, or an integer meets a double and doubles do not have it. Negate takes `a` alone.
[[nodiscard]] std::optional<Numeral> computed(Arithmetic kind, const Numeral& a, const Numeral& b);

// The sign of a - b as real numbers. Pre: none is a NaN.
[[nodiscard]] int order(const Numeral& a, const Numeral& b);

// The constant of a predicate that is this number, if there is one.
[[nodiscard]] std::optional<Value> value_of(const Numeral& number);
[[nodiscard]] double nearest_double(const Numeral& number);
[[nodiscard]] bool is_exact_double(const Numeral& number);
// The decimal integer, which may have a sign; nothing beyond 128 bits.
[[nodiscard]] std::optional<Integer> integer_of(std::string_view digits);
[[nodiscard]] std::string text_of(Integer integer);

// Those that a formula names, each once.
[[nodiscard]] std::vector<std::size_t> columns_of(const std::vector<FormulaStep<std::size_t>>& steps);

// What there is to know of a column's values: of integers, also the min and the max one.
struct ColumnFacts {
    bool is_integer = false;
    std::int64_t least = 0, most = 0;
};

// What there is to know of a formula before any row is looked at.
struct FormulaFacts {
    std::size_t columns = 0;  // how often it names one
    // How left - right goes with the column, where it names one only once: 1 never down, -1 never up. 0: neither is
    // sure.
    int slope = 0;
    bool all_integers = false;     // no fraction comes in
    bool exact_as_doubles = true;  // all integers on the way are, so that it may be computed in doubles
    bool exact = true;             // no integer meets a fraction that doubles do not have
    bool fits = true;              // 128 bits hold all integers on the way
};
[[nodiscard]] FormulaFacts facts_of(const std::vector<FormulaStep<std::size_t>>& steps,
                                    const std::function<ColumnFacts(std::size_t)>& column);

// The sign of left - right, of a formula that names columns only where this number stands. Pre: it is exact and fits,
// and no NaN comes out.
[[nodiscard]] int sign_of(std::span<const FormulaStep<std::size_t>> steps, const Numeral& column);

}  // namespace quadmill::detail::query
