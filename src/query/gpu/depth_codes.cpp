#include "query/gpu/depth_codes.hpp"

#include <algorithm>
#include <bit>

namespace quadmill::detail::query {

namespace {

constexpr int most_plane_bits = 29;

}  // namespace

DepthPlanes DepthPlanes::of(Key least, Key most) {
    const auto range = most > least ? most - least : Key{0};
    const auto width = static_cast<int>(std::bit_width(range));
    if (range + 1 < depth_codes && range < depth_codes)
        return {.base = least,
                .width = width,
                .planes = 1,
                .bits = width,
                .null_code = static_cast<std::uint32_t>(range) + 1};
    const int planes = std::max((width + most_plane_bits - 1) / most_plane_bits, 2);
    const int bits = (width + planes - 1) / planes;
    return {.base = least, .width = width, .planes = planes, .bits = bits, .null_code = 1U << bits};
}

}  // namespace quadmill::detail::query
