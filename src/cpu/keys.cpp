#include "cpu/keys.hpp"

namespace quadmill {

Half Half::from_float(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    const auto magnitude = bits & 0x7fffffffU;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000U) {
        half = 0x7c00U | ((magnitude >> 13U) & 0x3ffU);
        if (half == 0x7c00U) half |= 1U;  // if all bits of the payload are cut off, it must not become infinity
    } else if (magnitude >= 0x47800000U) {
        half = 0x7c00U;  // at least 2^16
    } else if (magnitude >= 0x38800000U) {
        const auto odd = (magnitude >> 13U) & 1U;
        half = (magnitude - 0x38000000U + 0xfffU + odd) >> 13U;
    } else if (magnitude >= 0x33000000U) {
        // A denormal half: shift the significand so that its unit is 2^-24.
        const auto shift = 126U - (magnitude >> 23U);
        const auto significand = (magnitude & 0x7fffffU) | 0x800000U;
        half = significand >> shift;
        const auto rest = significand & ((1U << shift) - 1U), middle = 1U << (shift - 1U);
        if (rest > middle || (rest == middle && (half & 1U))) ++half;
    }
    return {static_cast<std::uint16_t>(sign | half)};
}

float Half::value() const noexcept {
    const auto sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const auto exponent = static_cast<std::uint32_t>(bits >> 10U) & 0x1fU;
    const auto fraction = static_cast<std::uint32_t>(bits) & 0x3ffU;
    if (exponent == 0) {
        const auto magnitude = static_cast<float>(fraction) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const auto wide = exponent == 0x1fU ? 0xffU : exponent + 112U;
    return std::bit_cast<float>(sign | wide << 23U | fraction << 13U);
}

}  // namespace quadmill
