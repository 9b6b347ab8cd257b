// The tree behind a Predicate.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "quadmill/query.hpp"

namespace quadmill::detail::query {

struct Expression {
    enum class Kind { Always, Compare, CompareColumns, Between, In, IsNull, Linear, And, Or, Not };
    Kind kind = Kind::Always;
    bool always = true;
    std::string column{}, other{};
    Comparison op = Comparison::Equal;
    std::vector<Value> values{};  // Compare: the constant; Between: low, high; In: the list
    std::vector<Predicate::Term> terms{};
    double constant = 0;  // Linear
    std::vector<std::shared_ptr<const Expression>> operands{};
    int depth = 1;  // in levels
};

// The most columns that one linear condition in it has.
[[nodiscard]] std::size_t most_linear_columns(const Expression& expression);

// Sets the depth. Throws InvalidArgument when it is more than those who walk the tree have stack for.
[[nodiscard]] Predicate predicate(Expression expression);

}  // namespace quadmill::detail::query
