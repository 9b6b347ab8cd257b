// Trees of leaves: simplification when they are joined, and conversion to conjunctive normal form.
#include <algorithm>
#include <utility>

#include "query/plan/bind.hpp"

namespace quadmill::detail::query {
namespace {

template <class B>
auto* range_of(B& bound) {
    return bound.kind == Bound::Kind::One ? std::get_if<Range>(&bound.leaf) : nullptr;
}

// For an And: if `next` and an operand are ranges of the same column, not negated, intersects that operand with `next`.
bool narrowed(std::vector<Bound>& operands, const Bound& next) {
    const auto* more = range_of(next);
    if (!more || more->negate) return false;
    for (auto& operand : operands) {
        auto* range = range_of(operand);
        if (!range || range->negate || range->column != more->column) continue;
        range->low = std::max(range->low, more->low);
        range->high = std::min(range->high, more->high);
        return true;
    }
    return false;
}

bool is_empty(const Bound& bound) {
    const auto* range = range_of(bound);
    return range && range->low > range->high;
}

std::size_t leaves_of(const Clauses& all) {
    std::size_t n = 0;
    for (const auto& clause : all) n += clause.size();
    return n;
}

// Combines each clause of a with each of b. Nothing if that takes more than `max` leaves.
std::optional<Clauses> product(const Clauses& a, const Clauses& b, std::size_t max) {
    if (a.size() * leaves_of(b) + b.size() * leaves_of(a) > max) return {};
    Clauses result;
    for (const auto& x : a) {
        for (const auto& y : b) {
            result.push_back(x);
            result.back().insert(result.back().end(), y.begin(), y.end());
        }
    }
    return result;
}

}  // namespace

Bound junction(Bound::Kind kind, std::vector<Bound> operands) {
    const bool neutral = kind == Bound::Kind::And;
    Bound result{.kind = kind};
    const auto add = [&](Bound operand) {
        if (!neutral || !narrowed(result.operands, operand)) result.operands.push_back(std::move(operand));
    };
    for (auto& operand : operands) {
        if (operand.kind == kind) {
            for (auto& inner : operand.operands) add(std::move(inner));
        } else if (operand.kind == Bound::Kind::One && std::holds_alternative<Always>(operand.leaf)) {
            if (std::get<Always>(operand.leaf).value != neutral) return operand;
        } else {
            add(std::move(operand));
        }
    }
    if (std::ranges::any_of(result.operands, is_empty)) return {.leaf = Always{false}};
    if (result.operands.empty()) return {.leaf = Always{neutral}};
    if (result.operands.size() == 1) return Bound(result.operands.front());
    return result;
}

std::size_t leaves(const Bound& bound) {
    if (bound.kind == Bound::Kind::One) return 1;
    std::size_t n = 0;
    for (const auto& operand : bound.operands) n += leaves(operand);
    return n;
}

std::optional<Clauses> clauses(const Bound& bound, std::size_t max) {
    if (bound.kind == Bound::Kind::One) {
        if (max < 1) return {};
        return Clauses{{bound.leaf}};
    }
    std::optional<Clauses> result;
    for (const auto& operand : bound.operands) {
        auto next = clauses(operand, max);
        if (!next) return {};
        if (!result) {
            result = std::move(next);
        } else if (bound.kind == Bound::Kind::Or) {
            result = product(*result, *next, max);
        } else {
            result->insert(result->end(), next->begin(), next->end());
        }
        if (!result || leaves_of(*result) > max) return {};
    }
    return result;
}

}  // namespace quadmill::detail::query
