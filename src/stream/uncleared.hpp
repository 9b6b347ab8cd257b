// Memory for vectors that are filled immediately: resize() does not clear it.
#pragma once

#include <memory>
#include <utility>

namespace quadmill::detail::stream {

template <class T>
struct Uncleared : std::allocator<T> {
    template <class Other>
    struct rebind {  // NOLINT(readability-identifier-naming): as std::allocator_traits asks
        using other = Uncleared<Other>;
    };
    Uncleared() = default;
    template <class Other>
    Uncleared(const Uncleared<Other>& /*other*/) {}  // NOLINT(google-explicit-constructor): as allocators are
    template <class Made, class... From>
    void construct(Made* at, From&&... from) {
        if constexpr (sizeof...(From) == 0) {
            ::new (static_cast<void*>(at)) Made;
        } else {
            ::new (static_cast<void*>(at)) Made(std::forward<From>(from)...);
        }
    }
};

}  // namespace quadmill::detail::stream
