// The keys of a column's values that satisfy a comparison with a constant.
#pragma once

#include <optional>

#include "query/plan/engine.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query {

// Keys from low to high. Nothing if no key satisfies the comparison.
struct KeyRange {
    Key low, high;
};

// The position of a constant among a column's possible keys, from 0 to `last`.
struct KeyPlace {
    std::optional<Key> at_least;  // the first key of a value >= the constant, if any
    std::optional<Key> above;     // the first key of a value > the constant, if any
    Key last = 0;
};

// The first key in [0, last] for which `holds` is true. Pre: if `holds` is true for a key, it is for all later ones.
template <class Holds>
std::optional<Key> first_key(Key last, const Holds& holds) {
    if (!holds(last)) return {};
    Key low = 0, high = last;
    while (low < high) {
        const auto middle = low + (high - low) / 2;
        if (holds(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

[[nodiscard]] std::optional<KeyRange> segment(std::optional<Key> low, std::optional<Key> high);
[[nodiscard]] std::optional<KeyRange> intersection(const std::optional<KeyRange>& a, const std::optional<KeyRange>& b);
// Pre: op is not NotEqual, whose keys are not consecutive.
[[nodiscard]] std::optional<KeyRange> keys_at(const KeyPlace& place, Comparison op);
// Pre: as for keys_at().
[[nodiscard]] std::optional<KeyRange> keys_of(const TableData& table, const ColumnData& column, Comparison op,
                                              const Value& constant);

// No value has the key before that of +0, which would be the key of -0. A range may begin with it, but may not end with
// it.
template <class T>
std::optional<KeyRange> without_negative_zero(std::optional<KeyRange> keys) {
    if (keys) keys->low = KeyOf<T>::key(KeyOf<T>::value(keys->low));
    return keys;
}

}  // namespace quadmill::detail::query
