#include "query/plan/key_range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "query/table/order.hpp"

namespace quadmill::detail::query {

namespace {

template <class T>
KeyPlace place_of_number(const Value& constant) {
    auto last = KeyOf<T>::max;
    if constexpr (std::is_floating_point_v<T>) last = KeyOf<T>::key(std::numeric_limits<T>::infinity());
    const auto first = [&](auto holds) {
        return first_key(last, [&](Key key) { return holds(KeyOf<T>::value(key)); });
    };
    const auto against = [&]<class C>(C c) -> KeyPlace {
        using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
        return {.at_least = first([&](T value) { return compare(static_cast<Wide>(value), c) >= 0; }),
                .above = first([&](T value) { return compare(static_cast<Wide>(value), c) > 0; }),
                .last = last};
    };
    if (const auto* integer = std::get_if<std::int64_t>(&constant)) return against(*integer);
    return against(std::get<double>(constant));
}

// Pre: the dictionary is not empty.
KeyPlace place_of_text(const TableData::Dictionary& dictionary, const std::string& text) {
    const auto key = [&](auto found) {
        return found == dictionary.end() ? std::optional<Key>()
                                         : std::optional(static_cast<Key>(found - dictionary.begin()));
    };
    return {.at_least = key(std::lower_bound(dictionary.begin(), dictionary.end(), text)),
            .above = key(std::upper_bound(dictionary.begin(), dictionary.end(), text)),
            .last = dictionary.size() - 1};
}

// The key before `next`. No `next` means that it is after the last key.
std::optional<Key> before(std::optional<Key> next, Key last) {
    if (!next) return last;
    return *next > 0 ? std::optional(*next - 1) : std::nullopt;
}

}  // namespace

std::optional<KeyRange> segment(std::optional<Key> low, std::optional<Key> high) {
    if (!low || !high || *low > *high) return {};
    return KeyRange{.low = *low, .high = *high};
}

std::optional<KeyRange> intersection(const std::optional<KeyRange>& a, const std::optional<KeyRange>& b) {
    if (!a || !b) return {};
    return segment(std::max(a->low, b->low), std::min(a->high, b->high));
}

std::optional<KeyRange> keys_at(const KeyPlace& place, Comparison op) {
    switch (op) {
        case Comparison::Less:
            return segment(0, before(place.at_least, place.last));
        case Comparison::LessOrEqual:
            return segment(0, before(place.above, place.last));
        case Comparison::GreaterOrEqual:
            return segment(place.at_least, place.last);
        case Comparison::Greater:
            return segment(place.above, place.last);
        case Comparison::Equal:
        case Comparison::NotEqual:
            break;
    }
    return segment(place.at_least, before(place.above, place.last));
}

std::optional<KeyRange> keys_of(const TableData& table, const ColumnData& column, Comparison op,
                                const Value& constant) {
    if (const auto* real = std::get_if<double>(&constant); real && std::isnan(*real)) return {};
    if (column.type == ColumnType::Text) {
        if (table.dictionary->empty()) return {};
        return keys_at(place_of_text(*table.dictionary, std::get<std::string>(constant)), op);
    }
    return visit_column_type(column.type, [&]<class T>(const T* /*type*/) {
        return without_negative_zero<T>(keys_at(place_of_number<T>(constant), op));
    });
}

}  // namespace quadmill::detail::query
