// Turns a Predicate's tree, with names and constants of any type, into leaves that engines evaluate exactly.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "query/plan/engine.hpp"
#include "query/plan/expression.hpp"

namespace quadmill::detail::query {

// A condition without Not: leaves carry their negation.
struct Bound {
    enum class Kind { One, And, Or };
    Kind kind = Kind::One;
    Leaf leaf = Always{true};
    std::vector<Bound> operands{};
};

// Throws InvalidArgument for missing names and types that do not match; `function` goes into the message.
void check(const char* function, const Expression& expression, const std::vector<ColumnInfo>& columns);

// Constants become exact ranges of keys: for an integer column `a > 2.5` is the range from 3 on. For a float32 column
// `f = 0.1` is Always{false}, and its negation is IsNull{negate}: it holds except for NULLs. Leaves that the min and
// max key decide become constant. An And or Or has at least two operands, none of which has the same kind or is Always.
// Pre: check() passed. Throws InvalidArgument if a comparison of two columns is not exact as doubles (an integer beyond
// 2^53).
[[nodiscard]] Bound bind(const char* function, const Expression& expression, const TableData& table);

// Whether a double represents every value of the column exactly.
[[nodiscard]] bool is_exact_as_doubles(const ColumnData& column);
// How two columns are compared; nothing if that would round. Pre: both are text or both are numbers.
[[nodiscard]] std::optional<Pair::As> comparison_of(const ColumnData& a, const ColumnData& b);

// An And or Or. An Always among the operands decides the result or is dropped. In an And, ranges of one column are
// merged into one.
[[nodiscard]] Bound junction(Bound::Kind kind, std::vector<Bound> operands);

[[nodiscard]] std::size_t leaves(const Bound& bound);

// The condition in conjunctive normal form; nothing if that has more than `max` leaves.
[[nodiscard]] std::optional<Clauses> clauses(const Bound& bound, std::size_t max);

}  // namespace quadmill::detail::query
