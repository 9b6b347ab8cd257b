/// Keys that can be sorted: their types, views of them in memory, and their order.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <vector>

#include "quadmill/api.hpp"

namespace quadmill {

/// A 16-bit IEEE 754 float, stored as its bits.
struct Half {
    std::uint16_t bits = 0;  ///< sign, 5 bits of exponent, 10 of mantissa
    /// The nearest 16-bit float, ties to even. Values that are too large become infinity; a NaN keeps its sign and the
    /// top bits of its payload.
    [[nodiscard]] QUADMILL_API static Half from_float(float value) noexcept;
    /// The same value as a float, exactly.
    [[nodiscard]] QUADMILL_API float value() const noexcept;
    bool operator==(const Half&) const = default;
};

/// The types of keys that can be sorted; F16 is Half.
enum class KeyType { F16, F32, F64, I32, U32, I64, U64 };

/// The types of keys, as KeyType names them. (If std::int64_t is `long`, `long long` is another type and not a key.)
template <class T>
concept SortableKey =
    std::same_as<T, Half> || std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::uint32_t> || std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;

namespace detail {

// The ranges that Keys accepts: containers that are lvalues, and views.
template <class Range>
concept KeyRange = std::ranges::contiguous_range<Range> &&
    SortableKey<std::remove_reference_t<std::ranges::range_reference_t<Range>>> &&
    (std::ranges::borrowed_range<Range> || std::is_lvalue_reference_v<Range>);
template <class Range>
concept ConstKeyRange = std::ranges::contiguous_range<const Range> && SortableKey<std::ranges::range_value_t<Range>>;
template <class Range>
concept OtherRange = std::ranges::range<Range> && !SortableKey<std::ranges::range_value_t<Range>>;

}  // namespace detail

/// A view of keys in memory. A std::span, std::vector or std::array of any type that can be sorted converts to it.
class Keys {
  public:
    // NOLINTBEGIN(google-explicit-constructor, bugprone-forwarding-reference-overload, *-member-init): calls make it
    Keys(std::span<Half> keys) noexcept : Keys(keys.data(), keys.size(), KeyType::F16) {}           ///< a view of them
    Keys(std::span<float> keys) noexcept : Keys(keys.data(), keys.size(), KeyType::F32) {}          ///< a view of them
    Keys(std::span<double> keys) noexcept : Keys(keys.data(), keys.size(), KeyType::F64) {}         ///< a view of them
    Keys(std::span<std::int32_t> keys) noexcept : Keys(keys.data(), keys.size(), KeyType::I32) {}   ///< a view of them
    Keys(std::span<std::uint32_t> keys) noexcept : Keys(keys.data(), keys.size(), KeyType::U32) {}  ///< a view of them
    Keys(std::span<std::int64_t> keys) noexcept : Keys(keys.data(), keys.size(), KeyType::I64) {}   ///< a view of them
    Keys(std::span<std::uint64_t> keys) noexcept : Keys(keys.data(), keys.size(), KeyType::U64) {}  ///< a view of them
    /// A view of any contiguous range of keys that outlives it.
    template <detail::KeyRange Range>
    Keys(Range&& keys) noexcept : Keys(std::span<std::ranges::range_value_t<Range>>(keys)) {}
    template <detail::OtherRange Range>
    Keys(Range&&) = delete;  ///< keys are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t
    // NOLINTEND(google-explicit-constructor, bugprone-forwarding-reference-overload, *-member-init)
    [[nodiscard]] void* data() const noexcept { return data_; }        ///< the first key
    [[nodiscard]] std::size_t size() const noexcept { return size_; }  ///< the number of keys
    [[nodiscard]] KeyType type() const noexcept { return type_; }      ///< the type of each key

  private:
    Keys(void* data, std::size_t size, KeyType type) noexcept : data_(data), size_(size), type_(type) {}
    void* data_;
    std::size_t size_;
    KeyType type_;
};

/// A read-only view of keys. It is made from everything that Keys is made from, const or not.
class ConstKeys {
  public:
    // NOLINTBEGIN(google-explicit-constructor): calls make it
    ConstKeys(Keys keys) noexcept : keys_(keys) {}  ///< a view of them
    /// A view of any contiguous range of keys that outlives it.
    template <detail::ConstKeyRange Range>
    ConstKeys(const Range& keys) noexcept
        : keys_(std::span(const_cast<std::ranges::range_value_t<Range>*>(std::ranges::data(keys)),
                          std::ranges::size(keys))) {}
    template <detail::OtherRange Range>
    ConstKeys(const Range&) = delete;  ///< keys are Half, float, double, std::int32_t, uint32_t, int64_t or uint64_t
    // NOLINTEND(google-explicit-constructor)
    [[nodiscard]] const void* data() const noexcept { return keys_.data(); }  ///< the first key
    [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }  ///< the number of keys
    [[nodiscard]] KeyType type() const noexcept { return keys_.type(); }      ///< the type of each key

  private:
    friend detail::Access;
    [[nodiscard]] const Keys& inside() const noexcept { return keys_; }
    Keys keys_;  // calls that take a ConstKeys write nothing through it
};

/// The direction of a sort. The order of floats is total, over bits: -inf < ... < -0 < +0 < ... < +inf, denormals
/// included. NaNs come last in both directions, and among themselves in an order fixed by their bits. Descending is the
/// ascending order of the negated values.
enum class Order { Ascending, Descending };

/// A sample of sorted values: the values at the ranks 1, 1 + step, 1 + 2 step and so on below n, and the greatest one.
/// Ranks count from 1. Sorter::sample_texture() makes it, Quantiles::add_sample() takes it.
template <class T>
struct RankSample {
    std::uint64_t n = 0;      ///< number of values that were sorted, without NaNs
    std::uint64_t nans = 0;   ///< number of NaNs
    std::uint64_t step = 1;   ///< distance from one rank to the next
    std::vector<T> values{};  ///< ascending
};

}  // namespace quadmill
