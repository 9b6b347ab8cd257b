/// Conditions on the rows of a table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "quadmill/api.hpp"

namespace quadmill {

/// A constant of a query, or a cell of its result; std::monostate is NULL.
using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

/// The left side compared with the right one.
enum class Comparison { Less, LessOrEqual, Equal, NotEqual, GreaterOrEqual, Greater };

namespace detail::query {
struct Expression;
}  // namespace detail::query

/// A condition on the rows of a table: an immutable tree, cheap to copy. Made with column() and combined with &&, ||
/// and !. Columns and their types are checked when it is used.
///
/// Guarantee: comparisons are exact for every value of a column's type, also with a constant of another type (an
/// integer column with 2.5, a float32 column with 0.1): both sides are compared as real numbers and never rounded.
/// Comparisons of two columns are exact, too; an integer column with values beyond 2^53 cannot be compared with a
/// column of floats, and running such a query throws InvalidArgument, which names both columns. Floats compare as in
/// IEEE 754: -0 equals +0, and with a NaN only != is true. A NULL satisfies neither a comparison nor its negation
/// (SQL's three-valued logic); only is_null() finds it. Text compares byte by byte.
/// Throws: InvalidArgument beyond 250 levels; a chain of one operator, of any length, is one level.
class QUADMILL_API Predicate {
  public:
    /// True for all rows, or for none.
    [[nodiscard]] static Predicate always(bool value);
    /// A term of linear().
    struct Term {
        double factor;       ///< of a term
        std::string column;  ///< its name
    };
    /// A semi-linear condition: the sum of factor * column over the terms, computed in order and in double precision,
    /// compared with `constant`. Numeric columns only; running it on a column with integers beyond 2^53, which doubles
    /// cannot represent, is refused. The GPU takes up to 7 columns; with more, Auto takes the CPU.
    /// Throws: InvalidArgument without any term.
    [[nodiscard]] static Predicate linear(std::vector<Term> terms, Comparison op, double constant);

    [[nodiscard]] Predicate operator&&(const Predicate& other) const;  ///< both are true
    [[nodiscard]] Predicate operator||(const Predicate& other) const;  ///< at least one is true
    [[nodiscard]] Predicate operator!() const;                         ///< it is false, so not NULL

  private:
    friend detail::Access;
    explicit Predicate(std::shared_ptr<const detail::query::Expression> expression);
    [[nodiscard]] const detail::query::Expression& inside() const noexcept { return *expression_; }
    std::shared_ptr<const detail::query::Expression> expression_;
};

/// A column in a predicate, by its name.
///
///     const auto wanted = (column("a") > 3 || column("b") <= 2.5) && !column("d").in({1, 2, 3});
class QUADMILL_API ColumnName {
  public:
    /// Only a name; it is looked up when it is used.
    explicit ColumnName(std::string name) : name_(std::move(name)) {}
    [[nodiscard]] const std::string& name() const noexcept { return name_; }        ///< as given
    [[nodiscard]] Predicate compare(Comparison op, const Value& constant) const;    ///< with a constant
    [[nodiscard]] Predicate compare(Comparison op, const ColumnName& other) const;  ///< with another column
    /// True if low <= column <= high.
    [[nodiscard]] Predicate between(const Value& low, const Value& high) const;
    /// True if the column equals one of the values. A NaN among them equals nothing.
    [[nodiscard]] Predicate in(std::vector<Value> list) const;
    [[nodiscard]] Predicate is_null() const;  ///< true if it is NULL

  private:
    std::string name_;
};
/// A column by its name, for a predicate.
[[nodiscard]] inline ColumnName column(std::string name) {
    return ColumnName(std::move(name));
}

namespace detail::query {
// Throws InvalidArgument from 2^63 on.
[[nodiscard]] QUADMILL_API Value unsigned_constant(std::uint64_t value);

template <class T>
[[nodiscard]] auto operand(const T& value) {
    static_assert(!std::is_same_v<T, long double>, "a long double would be rounded: say double");
    if constexpr (std::is_same_v<T, ColumnName> || std::is_same_v<T, Value>) {
        return value;
    } else if constexpr (std::is_integral_v<T>) {
        if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(std::int64_t)) return unsigned_constant(value);
        return Value(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        return Value(static_cast<double>(value));
    } else {
        return Value(std::string(value));
    }
}
}  // namespace detail::query

/// Column < constant or column.
template <class T>
[[nodiscard]] Predicate operator<(const ColumnName& a, const T& b) {
    return a.compare(Comparison::Less, detail::query::operand(b));
}
/// Column <= constant or column.
template <class T>
[[nodiscard]] Predicate operator<=(const ColumnName& a, const T& b) {
    return a.compare(Comparison::LessOrEqual, detail::query::operand(b));
}
/// Column == constant or column.
template <class T>
[[nodiscard]] Predicate operator==(const ColumnName& a, const T& b) {
    return a.compare(Comparison::Equal, detail::query::operand(b));
}
/// Column != constant or column; true for a NaN, not for a NULL.
template <class T>
[[nodiscard]] Predicate operator!=(const ColumnName& a, const T& b) {
    return a.compare(Comparison::NotEqual, detail::query::operand(b));
}
/// Column >= constant or column.
template <class T>
[[nodiscard]] Predicate operator>=(const ColumnName& a, const T& b) {
    return a.compare(Comparison::GreaterOrEqual, detail::query::operand(b));
}
/// Column > constant or column.
template <class T>
[[nodiscard]] Predicate operator>(const ColumnName& a, const T& b) {
    return a.compare(Comparison::Greater, detail::query::operand(b));
}

}  // namespace quadmill
