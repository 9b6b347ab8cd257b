#include "pass/layout.hpp"

#include <bit>

namespace quadmill::detail::pass {

int log2_ceil(std::size_t n) {
    return n <= 1 ? 0 : static_cast<int>(std::bit_width(n - 1));
}

FourArray FourArray::of_power(int k) {
    return {1 << (k / 2), 1 << ((k + 1) / 2)};
}

FourArray FourArray::of_blocks(int k, std::size_t blocks) {
    const auto elements = blocks << static_cast<unsigned>(k);
    const int width_log = log2_ceil(elements) / 2;
    const auto width = std::size_t{1} << static_cast<unsigned>(width_log);
    return {static_cast<int>(width), static_cast<int>((elements + width - 1) / width)};
}

}  // namespace quadmill::detail::pass
