// Sorts that know numbers alone.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "cpu/keys.hpp"

namespace quadmill::detail::bench {

// Calls `sort` with a span of the keys; 16-bit floats go through integers of the same order.
template <class Sort>
void by_value(Keys keys, Sort sort) {
    cpu::visit(keys, [&]<class Key>(std::span<Key> values) {
        if constexpr (std::is_same_v<Key, Half>) {  // no compiler's type; its bits are made comparable and back
            const cpu::TotalOrder<Half> rule(Order::Ascending);
            for (auto& value : values) value.bits = rule.encode(value.bits);
            sort(std::span(reinterpret_cast<std::uint16_t*>(values.data()), values.size()));
            for (auto& value : values) value.bits = rule.decode(value.bits);
        } else {
            sort(values);
        }
    });
}

}  // namespace quadmill::detail::bench
