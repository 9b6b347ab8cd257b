// Runs sorts that only know plain numbers.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "cpu/keys.hpp"

namespace quadmill::detail::bench {

// Calls `sort` with a span of the keys. 16-bit floats are converted to integers with the same order.
template <class Sort>
void by_value(Keys keys, Sort sort) {
    cpu::visit(keys, [&]<class Key>(std::span<Key> values) {
        if constexpr (std::is_same_v<Key, Half>) {  // not built in; sorted by comparable bits
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
