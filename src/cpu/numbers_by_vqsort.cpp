#include <hwy/contrib/sort/vqsort.h>

#include <bit>
#include <cstddef>
#include <type_traits>

#include "cpu/numbers.hpp"
#include "cpu/signed_numbers.hpp"

namespace quadmill::detail::cpu {

namespace {

// Never destroyed: the destructor is inline, and its copy would be a foreign symbol in this library.
const hwy::Sorter& sorter() {
    static const auto& one = *new hwy::Sorter;
    return one;
}

}  // namespace

void sort_numbers(std::span<std::uint16_t> numbers) {
    sorter()(numbers.data(), numbers.size(), hwy::SortAscending());
}
void sort_numbers(std::span<std::uint32_t> numbers) {
    sorter()(numbers.data(), numbers.size(), hwy::SortAscending());
}
void sort_numbers(std::span<std::uint64_t> numbers) {
    sorter()(numbers.data(), numbers.size(), hwy::SortAscending());
}
void sort_numbers(std::span<std::int16_t> numbers) {
    sorter()(numbers.data(), numbers.size(), hwy::SortAscending());
}
void sort_numbers(std::span<std::int32_t> numbers) {
    sorter()(numbers.data(), numbers.size(), hwy::SortAscending());
}
void sort_numbers(std::span<std::int64_t> numbers) {
    sorter()(numbers.data(), numbers.size(), hwy::SortAscending());
}
void sort_numbers(std::span<Wide> numbers) {
    static_assert(sizeof(Wide) == sizeof(hwy::uint128_t) && alignof(Wide) == alignof(hwy::uint128_t) &&
                  offsetof(Wide, low) == offsetof(hwy::uint128_t, lo) && std::is_standard_layout_v<Wide>);
    sorter()(reinterpret_cast<hwy::uint128_t*>(numbers.data()), numbers.size(), hwy::SortAscending());
}

const char* number_sort_name() {
    return "vqsort";
}

}  // namespace quadmill::detail::cpu
