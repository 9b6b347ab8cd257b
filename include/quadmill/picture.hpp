/// Statistics of a picture in a texture of the caller, such as the frame that it has just drawn: histogram,
/// equalization table, minimum, maximum, mean and percentiles. They stay on the GPU. PictureStatistics (line 76)
/// measures. Before it are its options and outputs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

namespace quadmill {

/// How bins divide the range of values. Linear: all bins have the same width. Logarithmic: the ends of each bin have
/// the same ratio.
enum class BinScale { Linear, Logarithmic };

/// How often a texel counts.
enum class PictureWeight {
    Once,   ///< once
    Alpha,  ///< round(levels a) times, where a is its alpha
    Mask    ///< round(levels r) times, where r is the red channel of a mask
};

/// Which values of a picture are counted, and in which bins.
struct PictureOptions {
    /// A value is the sum of a texel's red, green, blue and alpha times these. A channel whose weight is 0 has no
    /// influence, even if it is infinite or not a number. The default is luminance (Rec. 709). A texture of one channel
    /// has that channel's values.
    std::array<float, 4> weights{0.2126F, 0.7152F, 0.0722F, 0};
    std::size_t bins = 256;             ///< number of bins, 1 to 1024
    float low = 0, high = 1;            ///< lower end of the first bin, upper end of the last one
    BinScale scale = BinScale::Linear;  ///< of the bins
    std::vector<double> phi{};          ///< for percentiles: 1 to 8 fractions from 0 to 1; 0.5 is the median
    /// A texel that counts n times is in all results as if it were there n times. A texel that counts 0 times is left
    /// out.
    PictureWeight weight = PictureWeight::Once;
    int levels = 1;  ///< for Alpha and Mask, 1 to 255. a and r are clamped to 0 to 1; a NaN counts as 0
    /// A 2-D texture, at least as large as the picture's rectangle. Its texel (0, 0) is for the rectangle's first
    /// texel.
    std::uint32_t mask = 0;
};

/// Textures of the caller that receive the results, by their OpenGL names; 0: not wanted. All are 2-D and have at least
/// the width that is given here; row 0 is written.
struct PictureOutputs {
    std::uint32_t histogram = 0;   ///< R32UI, a texel per bin: the number of texels whose value is in the bin
    std::uint32_t cumulative = 0;  ///< R32UI, a texel per bin: the number of texels in it and in all bins before it
    /// R32F, a texel per bin: (c - f) / (n - f), where c is the cumulative number, f the number of texels in the first
    /// bin that is not empty, and n the sum of all bins. 0 if all values are in one bin. A shader that replaces each
    /// value of the picture by its table entry equalizes the histogram.
    std::uint32_t equalization = 0;
    std::uint32_t range = 0;  ///< RGBA32F, one texel: minimum, maximum, mean, number of values
    /// R32F, a texel per fraction of PictureOptions::phi: the value of index round(phi (n - 1)) of the n values in
    /// order; NaN if there are none.
    std::uint32_t percentiles = 0;
};

/// Counts and measures the texels of pictures. Values that are not numbers are left out everywhere.
///
/// Guarantee: every value that is a number is counted in exactly one bin, and numbers of texels are exact (in `range`,
/// whose number is a float, they are rounded beyond 2^24). Values below `low` are in the first bin, values from `high`
/// on in the last one. A value closer to an end of its bin than 2^-20 of high - low (Linear; plus 2^-22 of its
/// magnitude) or 2^-12 of itself (Logarithmic) may be in the neighbouring bin, since GPUs round. Minimum, maximum and
/// percentiles are exact for the floats that the GPU computes from the weights; with one weight, which is 1, these are
/// the channel's values (a GPU may read floats below 2^-126 as 0). Percentiles order -0 before 0, and phi is rounded to
/// a multiple of 2^-32. The mean is off by at most 2^-16 of the mean magnitude (plus 2^-97).
///
///     PictureStatistics statistics(context);  // of Context::adopt()
///     statistics.measure({.texture = frame}, {.histogram = bars, .range = exposure},
///                        {.low = 0.001F, .high = 100, .scale = BinScale::Logarithmic});
class QUADMILL_API PictureStatistics {
  public:
    /// Programs are compiled when they are first used.
    explicit PictureStatistics(const Context& context);
    PictureStatistics(PictureStatistics&&) noexcept;
    PictureStatistics& operator=(PictureStatistics&&) noexcept;
    ~PictureStatistics();

    /// Measures a rectangle, layer or face, and writes all outputs that are wanted.
    /// Shape: the picture RGBA32F, RGBA16F, RGBA8, R32F, R16F, R16 or R8; 2-D, array, cube map, cube map array or
    /// rectangle, of at most 2^28 texels. A 2-D texture is read in place, others are copied. Parameters of textures are
    /// ignored and restored. A mask has one of these formats, and is another texture. With weights there are at most
    /// 2^26 texels, and times `levels` fewer than 2^32. Linear: high - low is from 2^-100 to 2^100. Logarithmic: low is
    /// at least 2^-126, and high at least 2 low.
    /// Cost: every texel is read once. 4 to 13 passes; no read-back, does not wait (except in OpenGL ES 3.0, as
    /// Sorter::argsort_texture()). GPU memory: 3 bytes per texel, and bins / 240 more. For percentiles, every texel is
    /// read once more (twice with 4 render targets), and 5 bytes are kept for it; 26 passes, 17 for one channel of
    /// 16-bit floats. With weights there is one more pass, and counting takes b times as long if `levels` has b bits.
    /// Throws: InvalidArgument if an id is not such a texture, for two outputs in one texture, no output, no texels or
    /// other options; GlError.
    void measure(const TextureRegion& picture, const PictureOutputs& outputs, const PictureOptions& options = {});

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill
