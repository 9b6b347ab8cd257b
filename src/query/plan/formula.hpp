// Comparisons of sums of columns: both sides as steps in postfix order. Numbers are 128-bit integers until a fraction
// appears, then doubles.
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

// At most half of them are constants, of four words each; any driver has 1,024 words.
inline constexpr std::size_t most_steps_on_gpu = 512;

// The operands of a step are on a stack. After the last step two are left, the sides of the comparison.
template <class Column>
struct FormulaStep {
    Arithmetic kind = Arithmetic::Constant;
    Column column{};
    Numeral constant{};
    bool operator==(const FormulaStep&) const = default;
};

// The result, of integers an integer, otherwise a double, rounded as IEEE 754 has it. Nothing if it does not fit into
// 128 bits, or an integer that doubles cannot represent meets a double. Negate takes only `a`.
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

// The columns of a formula, each once.
[[nodiscard]] std::vector<std::size_t> columns_of(const std::vector<FormulaStep<std::size_t>>& steps);

// Facts about a column's values; for integers also the min and the max.
struct ColumnFacts {
    bool is_integer = false;
    std::int64_t least = 0, most = 0;
};

// Facts about a formula before any row is read.
struct FormulaFacts {
    std::size_t columns = 0;  // how often it names one
    // How left - right depends on the column if only one is named, once: 1 never down, -1 never up, 0 unknown.
    int slope = 0;
    bool all_integers = false;     // no fraction comes in
    bool exact_as_doubles = true;  // all integers on the way are, so that it may be computed in doubles
    bool exact = true;             // no integer meets a fraction that doubles do not have
    bool fits = true;              // 128 bits hold all integers on the way
};
[[nodiscard]] FormulaFacts facts_of(const std::vector<FormulaStep<std::size_t>>& steps,
                                    const std::function<ColumnFacts(std::size_t)>& column);

// The sign of left - right with this number for the column. Pre: it is exact and fits, and the result is not NaN.
[[nodiscard]] int sign_of(std::span<const FormulaStep<std::size_t>> steps, const Numeral& column);

}  // namespace quadmill::detail::query
