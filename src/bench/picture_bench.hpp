// Statistics of a picture in a texture, by counting bit planes, and what else finds them: blended points, and a sort.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quadmill/context.hpp"
#include "quadmill/picture.hpp"

namespace quadmill::detail::bench {

struct PictureTimes {
    std::string name;
    double call_ms = 0;                      // of the CPU: from the call to its return
    double ms = 0, low_ms = 0, high_ms = 0;  // from the call until the GPU has finished
    double gpu_ms = 0;                       // of the passes alone, by the GPU's clock if it has one
    std::uint64_t passes = 0;
    bool verified = true;
    std::vector<PassProfiler::Row> parts{};
};

struct PictureCase {
    int width = 1920, height = 1080;  // of a texture of RGBA16F
    std::size_t bins = 256;
    BinScale scale = BinScale::Linear;
};

// All outputs of PictureStatistics, points blended into that many bins, and exact percentiles of one channel.
[[nodiscard]] std::vector<PictureTimes> measure_picture(const Context& context, const PictureCase& which, int repeat);

}  // namespace quadmill::detail::bench
