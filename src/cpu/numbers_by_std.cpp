#include <algorithm>

#include "cpu/numbers.hpp"
#include "cpu/signed_numbers.hpp"

namespace quadmill::detail::cpu {

void sort_numbers(std::span<std::uint16_t> numbers) {
    std::ranges::sort(numbers);
}
void sort_numbers(std::span<std::uint32_t> numbers) {
    std::ranges::sort(numbers);
}
void sort_numbers(std::span<std::uint64_t> numbers) {
    std::ranges::sort(numbers);
}
void sort_numbers(std::span<std::int16_t> numbers) {
    std::ranges::sort(numbers);
}
void sort_numbers(std::span<std::int32_t> numbers) {
    std::ranges::sort(numbers);
}
void sort_numbers(std::span<std::int64_t> numbers) {
    std::ranges::sort(numbers);
}
void sort_numbers(std::span<Wide> numbers) {
    std::ranges::sort(numbers);
}

const char* number_sort_name() {
    return "std::sort";
}

}  // namespace quadmill::detail::cpu
