// What libc++ 13 (Debian 12's Emscripten) lacks of C++20 and quadmill uses. Included before every file of a web build.
// A newer library has all of it, so that nothing here is compiled.
#pragma once

#include <algorithm>
#include <compare>
#include <functional>
#include <memory>
#include <utility>
#include <version>

#if !defined(__cpp_lib_bit_cast)
namespace std {
template <class To, class From>
[[nodiscard]] constexpr To bit_cast(const From& from) noexcept {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
}
}  // namespace std
#endif

#if !defined(__cpp_lib_smart_ptr_for_overwrite)
namespace std {
template <class Array>
[[nodiscard]] unique_ptr<Array> make_unique_for_overwrite(size_t size) {
    return unique_ptr<Array>(new remove_extent_t<Array>[size]);
}
}  // namespace std
#endif

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000
namespace std {
[[nodiscard]] constexpr bool is_neq(partial_ordering order) noexcept {
    return order != 0;
}

namespace ranges {
namespace quadmill_compatible {
struct Same {
    template <class T>
    constexpr T&& operator()(T&& value) const noexcept {
        return static_cast<T&&>(value);
    }
};
template <class Compare, class Projection>
auto projected(Compare& compare, Projection& projection) {
    return [&](const auto& a, const auto& b) {
        return std::invoke(compare, std::invoke(projection, a), std::invoke(projection, b));
    };
}
}  // namespace quadmill_compatible

template <class Range, class Compare = std::less<>, class Projection = quadmill_compatible::Same>
void sort(Range&& range, Compare compare = {}, Projection projection = {}) {
    std::sort(std::begin(range), std::end(range), quadmill_compatible::projected(compare, projection));
}
template <class Range, class Compare = std::less<>, class Projection = quadmill_compatible::Same>
bool is_sorted(Range&& range, Compare compare = {}, Projection projection = {}) {
    return std::is_sorted(std::begin(range), std::end(range), quadmill_compatible::projected(compare, projection));
}
template <class Iterator>
void nth_element(Iterator first, Iterator nth, Iterator last) {
    std::nth_element(first, nth, last);
}
template <class Range, class Iterator, class Compare = std::less<>>
void nth_element(Range&& range, Iterator nth, Compare compare = {}) {
    std::nth_element(std::begin(range), nth, std::end(range), compare);
}
template <class Range, class Value, class Projection = quadmill_compatible::Same>
auto find(Range&& range, const Value& value, Projection projection = {}) {
    return std::find_if(std::begin(range), std::end(range),
                        [&](const auto& one) { return std::invoke(projection, one) == value; });
}
template <class Range, class Predicate, class Projection = quadmill_compatible::Same>
auto find_if(Range&& range, Predicate predicate, Projection projection = {}) {
    return std::find_if(std::begin(range), std::end(range),
                        [&](const auto& one) { return std::invoke(predicate, std::invoke(projection, one)); });
}
template <class Range, class Value>
auto count(Range&& range, const Value& value) {
    return std::count(std::begin(range), std::end(range), value);
}
template <class Range, class Predicate>
bool all_of(Range&& range, Predicate predicate) {
    return std::all_of(std::begin(range), std::end(range), predicate);
}
template <class Range, class Predicate>
bool any_of(Range&& range, Predicate predicate) {
    return std::any_of(std::begin(range), std::end(range), predicate);
}
template <class Range, class Value, class Compare = std::less<>, class Projection = quadmill_compatible::Same>
auto lower_bound(Range&& range, const Value& value, Compare compare = {}, Projection projection = {}) {
    return std::lower_bound(std::begin(range), std::end(range), value, [&](const auto& one, const Value& wanted) {
        return std::invoke(compare, std::invoke(projection, one), wanted);
    });
}
template <class Range, class Value>
auto upper_bound(Range&& range, const Value& value) {
    return std::upper_bound(std::begin(range), std::end(range), value);
}
template <class Range>
void reverse(Range&& range) {
    std::reverse(std::begin(range), std::end(range));
}
template <class Range, class Out>
void copy(Range&& range, Out out) {
    std::copy(std::begin(range), std::end(range), out);
}
template <class Range, class Out, class Function>
void transform(Range&& range, Out out, Function function) {
    std::transform(std::begin(range), std::end(range), out, function);
}
template <class Range, class Value>
void replace(Range&& range, const Value& from, const Value& to) {
    std::replace(std::begin(range), std::end(range), from, to);
}
template <class Range1, class Range2>
bool equal(Range1&& a, Range2&& b) {
    return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
}  // namespace ranges
}  // namespace std
#endif
