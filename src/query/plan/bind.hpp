// Turns a Predicate's tree, with names and constants of any type, into leaves that engines evaluate exactly.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "query/plan/engine.hpp"
#include "query/plan/expression.hpp"

namespace quadmill::detail::query {

// Without Not: leaves carry their negation.
struct Bound {
    enum class Kind { One, And, Or };
    Kind kind = Kind::One;
    Leaf leaf = Always{true};
    std::vector<Bound> operands{};
};

// Throws InvalidArgument for missing names and types that do not match; `function` goes into the message.
void check(const char* function, const Expression& expression, const std::vector<ColumnInfo>& columns);

// Constants become keys, exactly: `a > 2.5` of an integer column is the range from 3 on, `f = 0.1` of a float32 column
// is Always{false}, and its negation IsNull{negate}: it holds except for NULLs. Leaves that the min and max key decide
// are constant. An And or Or has at least two operands, none of its own kind or Always. Pre: check() passed. Throws
// InvalidArgument if a comparison of two columns is not exact as doubles (an integer beyond 2^53).
[[nodiscard]] Bound bind(const char* function, const Expression& expression, const TableData& table);

// An And or Or. An Always among the operands decides the result or is dropped; ranges of one column in an And become
// one.
[[nodiscard]] Bound junction(Bound::Kind kind, std::vector<Bound> operands);

[[nodiscard]] std::size_t leaves(const Bound& bound);

// The condition in conjunctive normal form; nothing if that has more than `most` leaves.
[[nodiscard]] std::optional<Columns::Clauses> clauses(const Bound& bound, std::size_t most);

}  // namespace quadmill::detail::query
