// Statistics of a picture in a texture, by counting bit planes, and what else finds them: blended points, and a sort.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/call_times.hpp"
#include "quadmill/context.hpp"
#include "quadmill/picture.hpp"

namespace quadmill::detail::bench {

struct PictureCase {
    int width = 1920, height = 1080;  // of a texture of RGBA16F
    std::size_t bins = 256;
    BinScale scale = BinScale::Linear;
};

// All outputs of PictureStatistics, points blended into that many bins, and exact percentiles of one channel.
[[nodiscard]] std::vector<CallTimes> measure_picture(const Context& context, const PictureCase& which, int repeat);

}  // namespace quadmill::detail::bench
