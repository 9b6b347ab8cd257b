#include "quadmill/picture.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "gl/device.hpp"
#include "gl/host_part.hpp"
#include "gl/pixels.hpp"
#include "pass/programs.hpp"
#include "pass/target.hpp"
#include "picture/percentiles.hpp"
#include "picture/tally.hpp"
#include "picture_shaders.hpp"
#include "quadmill/error.hpp"

namespace quadmill {

using namespace detail;           // NOLINT(google-build-using-namespace): this file is the front door of the room
using namespace detail::picture;  // NOLINT(google-build-using-namespace)

namespace {

constexpr const char* function = "PictureStatistics::measure";
constexpr std::size_t max_bins = 1024, max_texels = std::size_t{1} << 28U, max_weighed = std::size_t{1} << 26U;
constexpr int max_levels = 255;
constexpr int layer_bins = 16, block_bins = 32, folded_moments = 512;  // as in the shaders

[[noreturn]] void refuse(const std::string& why) {
    throw InvalidArgument(std::string(function) + ": " + why);
}

void check(const PictureOptions& options) {
    if (options.bins < 1 || options.bins > max_bins)
        refuse("from 1 to " + std::to_string(max_bins) + " bins, not " + std::to_string(options.bins));
    const auto range = std::to_string(options.low) + " to " + std::to_string(options.high);
    if (options.scale == BinScale::Linear) {
        if (const auto width = options.high - options.low; !(width >= 0x1p-100F && width <= 0x1p100F))
            refuse("the bins are from " + range + "; the upper end minus the lower one is from 2^-100 to 2^100");
    } else if (!(options.low >= 0x1p-126F && options.high >= 2 * options.low && std::isfinite(options.high))) {
        refuse("logarithmic bins are from " + range +
               "; the lower end is at least 2^-126, and the upper one at least twice that");
    }
    for (const float weight : options.weights) {
        if (!std::isfinite(weight)) refuse("a weight is a finite number, not " + std::to_string(weight));
    }
    if (const bool by_mask = options.weight == PictureWeight::Mask; by_mask != (options.mask != 0))
        refuse(by_mask ? "a weight by mask needs a mask" : "a mask is only for a weight by mask");
    if (options.levels < 1 || options.levels > max_levels) {
        refuse("from 1 to " + std::to_string(max_levels) + " levels of weights, not " + std::to_string(options.levels));
    }
    for (const double each : options.phi) {
        if (!(each >= 0 && each <= 1)) refuse("a fraction is from 0 to 1, not " + std::to_string(each));
    }
}

void check(const PictureOutputs& outputs, std::size_t percentiles) {
    std::array ids{outputs.histogram, outputs.cumulative, outputs.equalization, outputs.range, outputs.percentiles};
    std::ranges::sort(ids);
    if (ids.back() == 0) refuse("no output is given");
    for (std::size_t i = 1; i < ids.size(); ++i) {
        if (ids.at(i) != 0 && ids.at(i) == ids.at(i - 1))
            refuse("texture " + std::to_string(ids.at(i)) + " is given for two outputs");
    }
    if (outputs.percentiles != 0 && (percentiles < 1 || percentiles > max_percentiles)) {
        refuse("from 1 to " + std::to_string(max_percentiles) + " fractions for the percentiles, not " +
               std::to_string(percentiles));
    }
}

// The power of two that sums are multiplied by, so that they stay below the largest value.
float share_of(std::size_t texels) {
    return std::ldexp(1.0F, -static_cast<int>(std::bit_width(texels)));
}

}  // namespace

struct PictureStatistics::State {
    explicit State(const Context& of)
        : context(of),
          device(*Access::of(of)),
          programs(device),
          tally(device, programs),
          percentiles(device, programs) {}

    enum class Moments { Off, On };
    enum class Codes { Off, On };

    void measure(const TextureRegion& region, const PictureOutputs& outputs, const PictureOptions& options);
    // The first pass, which reads the picture.
    void read(const Source& picture, Codes with_codes, Moments with_moments, const PictureOptions& options);
    // Counts the texels of each bin. Pre: the first pass had codes.
    const gl::Texture& count(int bins);
    const gl::Texture& blocks(const gl::Texture& counts);
    const gl::Texture& cumulative(const gl::Texture& counts, const gl::Texture& blocks, const char* prelude);
    const gl::Texture& moments(std::size_t texels);

    Context context;
    gl::Device& device;
    pass::Programs programs;
    gl::Texture copy;  // of a picture that is not in a 2-D texture
    int plane_layers = 0;
    pass::Target planes, counted, summed, accumulated, range;
    std::array<pass::Target, 3> folded;
    Tally tally;
    Percentiles percentiles;
};

void PictureStatistics::State::read(const Source& picture, Codes with_codes, Moments with_moments,
                                    const PictureOptions& options) {
    const bool is_logarithmic = options.scale == BinScale::Logarithmic;
    plane_layers = with_codes == Codes::On ? parts(static_cast<int>(std::bit_width(options.bins - 1)) + 1, 4) : 0;
    const int layers = plane_layers + (with_moments == Moments::On ? 1 : 0);
    std::string prelude =
        "#define LAYERS " + std::to_string(layers) + "\n#define PLANE_LAYERS " + std::to_string(plane_layers) + "\n";
    if (with_moments == Moments::On) prelude += "#define MOMENTS\n";
    const auto weights = with_moments == Moments::On ? Source::Weights::On : Source::Weights::Off;
    prelude += picture.prelude(weights);
    auto uniforms = picture.uniforms(weights);
    if (with_codes == Codes::On) {
        prelude += std::string("#define CODES\n") + (is_logarithmic ? "#define LOGARITHMIC\n" : "") +
                   shaders::picture_bins_glsl;
        const double low = is_logarithmic ? std::log2(double{options.low}) : double{options.low},
                     high = is_logarithmic ? std::log2(double{options.high}) : double{options.high};
        uniforms.set("low", static_cast<float>(low))
            .set("factor", static_cast<float>(static_cast<double>(options.bins) / (high - low)))
            .set("last_bin", static_cast<float>(options.bins - 1));
        if (is_logarithmic) uniforms.set("smallest", options.low);
    }
    if (with_moments == Moments::On) uniforms.set("share", share_of(picture.times()));
    const auto& to =
        sized(device, planes, gl::Format::Rgba32ui, parts(picture.width, word_texels), picture.rows, layers);
    fill(device, "picture", programs.get("picture/codes.frag", shaders::picture_codes_frag, prelude), to,
         {picture.texture, weights == Source::Weights::On ? picture.mask : nullptr}, std::move(uniforms));
}

const gl::Texture& PictureStatistics::State::count(int bins) {
    const int slots = parts(bins, layer_bins), layers = tally.layers_for(slots);
    const auto prelude = "#define LAYERS " + std::to_string(layers) + "\n#define PLANE_LAYERS " +
                         std::to_string(plane_layers) + "\n" + tally.prelude();
    const auto chunks =
        tally.count({.name = "tiles",
                     .program = &programs.get("picture/tiles.frag", shaders::picture_tiles_frag, prelude),
                     .inputs = {&planes.texture},
                     .uniforms = {},
                     .width = planes.texture.width(),
                     .height = planes.texture.height(),
                     .slots = slots,
                     .layers = layers});
    const auto& all = sized(device, counted, gl::Format::R32ui, bins, 1);
    fill(device, "counts", programs.get("picture/counts.frag", shaders::picture_counts_frag), all, {&chunks.texture},
         chunks.uniforms);
    return all.texture;
}

const gl::Texture& PictureStatistics::State::blocks(const gl::Texture& counts) {
    const auto& to = sized(device, summed, gl::Format::Rgba32ui, parts(counts.width(), block_bins), 1);
    fill(device, "blocks", programs.get("picture/blocks.frag", shaders::picture_blocks_frag), to, {&counts},
         {{"bins", counts.width()}});
    return to.texture;
}

const gl::Texture& PictureStatistics::State::cumulative(const gl::Texture& counts, const gl::Texture& blocks,
                                                        const char* prelude) {
    const auto& to = sized(device, accumulated, gl::Format::R32ui, counts.width(), 1);
    fill(device, "cumulative", programs.get("picture/cumulative.frag", shaders::picture_cumulative_frag, prelude), to,
         {&counts, &blocks}, {{"blocks", blocks.width()}});
    return to.texture;
}

const gl::Texture& PictureStatistics::State::moments(std::size_t texels) {
    const auto* from = &planes.texture;
    std::string layer = "#define LAYER " + std::to_string(from->layers() - 1) + "\n";
    int number = from->width() * from->height();
    for (std::size_t i = 0;; ++i) {
        const int left = parts(number, folded_moments), across = std::min(left, folded_moments);
        const bool is_final = left == 1;
        auto& target = is_final ? range : folded.at(i);
        gl::Uniforms uniforms{{"width", from->width()}, {"number", number}, {"target_width", across}};
        if (is_final) uniforms.set("share", share_of(texels));
        const auto& to = sized(device, target, gl::Format::Rgba32ui, across, parts(left, across));
        fill(device, "moments",
             programs.get("picture/moments.frag", shaders::picture_moments_frag,
                          layer + (is_final ? "#define FINAL\n" : "")),
             to, {from}, std::move(uniforms));
        if (is_final) return to.texture;
        from = &to.texture;
        number = left;
        layer.clear();
    }
}

void PictureStatistics::State::measure(const TextureRegion& region, const PictureOutputs& outputs,
                                       const PictureOptions& options) {
    check(options);
    check(outputs, options.phi.size());
    if (region.counted) refuse("a picture's number of texels is not taken from a buffer");
    const gl::Scope scope(device, function);
    using enum gl::Format;
    const gl::HostPart part(device, {region.texture, region.layer, region.x, region.y, region.width, region.height},
                            {Rgba32f, Rgba16f, Rgba8, R32f, R16f, R16, R8}, function, "the picture");
    const auto texels = region.count.value_or(part.texels());
    if (texels < 1 || texels > std::min(part.texels(), max_texels)) {
        refuse("the picture has " + std::to_string(part.texels()) + " texels there; from 1 to this number, and up to " +
               "2^28, are measured, not " + std::to_string(texels));
    }
    const int bins = static_cast<int>(options.bins);
    const auto output = [&](std::uint32_t id, int width, gl::Format format, const char* what) {
        std::optional<gl::HostPart> to;
        if (id != 0)
            to.emplace(device, gl::Region{.texture = id, .width = width, .height = 1},
                       std::initializer_list<gl::Format>{format}, function, what);
        return to;
    };
    const auto histogram = output(outputs.histogram, bins, R32ui, "the texture of the histogram"),
               running = output(outputs.cumulative, bins, R32ui, "the texture of the cumulative histogram"),
               table = output(outputs.equalization, bins, R32f, "the texture of the equalization table"),
               extent = output(outputs.range, 1, Rgba32f, "the texture of the range"),
               marks = output(outputs.percentiles, static_cast<int>(options.phi.size()), R32f,
                              "the texture of the percentiles");

    const auto across = static_cast<std::size_t>(part.width);
    Source picture{.texture = nullptr,
                   .x = part.x,
                   .y = part.y,
                   .width = part.width,
                   .rows = static_cast<int>((texels + across - 1) / across),
                   .last_width = static_cast<int>((texels - 1) % across) + 1,
                   .weights = options.weights,
                   .one_channel = part.format == R32f || part.format == R16f || part.format == R16 || part.format == R8,
                   .counted = options.weight == PictureWeight::Mask    ? Source::Counted::ByMask
                              : options.weight == PictureWeight::Alpha ? Source::Counted::ByAlpha
                                                                       : Source::Counted::Once,
                   .levels = options.weight == PictureWeight::Once ? 1 : options.levels};
    if (picture.counted != Source::Counted::Once && (texels > max_weighed || picture.times() > UINT32_MAX)) {
        refuse("with weights, up to 2^26 texels are measured, and times the levels fewer than 2^32; not " +
               std::to_string(texels) + " with " + std::to_string(options.levels) + " levels");
    }
    if (picture.counted == Source::Counted::ByAlpha && picture.one_channel)
        refuse(std::string("texels of ") + gl::info(part.format).name + " have no alpha");
    std::optional<gl::PlainAccess> mask;
    if (options.mask != 0) {
        const gl::HostPart over(device, {.texture = options.mask, .width = picture.width, .height = picture.rows},
                                {Rgba32f, Rgba16f, Rgba8, R32f, R16f, R16, R8}, function, "the mask");
        if (!over.is_plain() || options.mask == region.texture) refuse("the mask is a 2-D texture of its own");
        mask.emplace(device, gl::Texture(device, over.id, over.format, over.width, over.height));
        picture.mask = &mask->texture();
    }
    const bool counts_bins = histogram || running || table;
    const auto draw_from = [&](const gl::Texture& texture) {
        picture.texture = &texture;
        tally.weigh(picture);
        if (counts_bins || extent)
            read(picture, counts_bins ? Codes::On : Codes::Off, extent ? Moments::On : Moments::Off, options);
        if (marks) copy_part(device, percentiles.find(picture, options.phi, tally), options.phi.size(), *marks);
    };
    if (part.is_plain()) {
        const gl::PlainAccess access(
            device, gl::Texture(device, part.id, part.format, part.x + part.width, part.y + part.height));
        draw_from(access.texture());
    } else {
        picture.x = picture.y = 0;
        if (copy.format() != part.format || copy.width() != part.width || copy.height() != part.height) {
            copy = {};
            copy = gl::Texture(device, part.format, part.width, part.height);
        }
        copy_part(device, part, copy);
        draw_from(copy);
    }
    if (extent) copy_part(device, moments(picture.times()), 1, *extent);
    if (counts_bins) {
        const auto& counts = count(bins);
        if (histogram) copy_part(device, counts, options.bins, *histogram);
        if (running || table) {
            const auto& sums = blocks(counts);
            if (running) copy_part(device, cumulative(counts, sums, ""), options.bins, *running);
            if (table) copy_part(device, cumulative(counts, sums, "#define TABLE\n"), options.bins, *table);
        }
    }
    scope.check();
}

PictureStatistics::PictureStatistics(const Context& context) : state_(std::make_unique<State>(context)) {}
PictureStatistics::PictureStatistics(PictureStatistics&&) noexcept = default;
PictureStatistics& PictureStatistics::operator=(PictureStatistics&&) noexcept = default;
PictureStatistics::~PictureStatistics() = default;

void PictureStatistics::measure(const TextureRegion& picture, const PictureOutputs& outputs,
                                const PictureOptions& options) {
    state_->measure(picture, outputs, options);
}

}  // namespace quadmill
