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
#include "quadmill/error.hpp"
#include "quadmill_shaders.hpp"

namespace quadmill {

using namespace detail;  // NOLINT(google-build-using-namespace): this file is the front door of the room

namespace {

constexpr const char* function = "PictureStatistics::measure";
constexpr std::size_t max_bins = 1024, max_texels = std::size_t{1} << 28U;
// As in the shaders.
constexpr int word_texels = 32, tile_words = 7, chunk_tiles = 128, layer_bins = 16, block_bins = 32,
              folded_moments = 512;
constexpr int max_columns = 128;  // of tiles.frag

constexpr int parts(int count, int size) {
    return (count + size - 1) / size;
}

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
}

void check(const PictureOutputs& outputs) {
    std::array ids{outputs.histogram, outputs.cumulative, outputs.equalization, outputs.range};
    std::ranges::sort(ids);
    if (ids.back() == 0) refuse("no output is given");
    for (std::size_t i = 1; i < ids.size(); ++i) {
        if (ids.at(i) != 0 && ids.at(i) == ids.at(i - 1))
            refuse("texture " + std::to_string(ids.at(i)) + " is given for two outputs");
    }
}

// The power of two that sums are multiplied by, so that they stay below the largest value.
float share_of(std::size_t texels) {
    return std::ldexp(1.0F, -static_cast<int>(std::bit_width(texels)));
}

}  // namespace

struct PictureStatistics::State {
    explicit State(const Context& of) : context(of), device(*Access::of(of)), programs(device) {}

    // A picture that passes can read.
    struct Picture {
        const gl::Texture* texture;
        int x, y, width, rows, last_width;
        bool one_channel;
        [[nodiscard]] std::size_t texels() const {
            return static_cast<std::size_t>(width) * static_cast<std::size_t>(rows - 1) +
                   static_cast<std::size_t>(last_width);
        }
    };
    enum class Moments { Off, On };
    enum class Codes { Off, On };

    void measure(const TextureRegion& region, const PictureOutputs& outputs, const PictureOptions& options);
    // The first pass, which reads the picture.
    void read(const Picture& picture, Codes with_codes, Moments with_moments, const PictureOptions& options);
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
    pass::Target planes, tiles, chunks, counted, summed, accumulated, range;
    std::array<pass::Target, 3> folded;

  private:
    const pass::Target& sized(pass::Target& target, gl::Format format, int width, int height, int layers = 0) {
        if (!target.is(format, width, height) || target.texture.layers() != layers) {
            target = {};
            target = pass::Target(device, format, width, height, layers);
        }
        return target;
    }
};

void PictureStatistics::State::read(const Picture& picture, Codes with_codes, Moments with_moments,
                                    const PictureOptions& options) {
    const bool is_logarithmic = options.scale == BinScale::Logarithmic;
    plane_layers = with_codes == Codes::On ? parts(static_cast<int>(std::bit_width(options.bins - 1)) + 1, 4) : 0;
    const int layers = plane_layers + (with_moments == Moments::On ? 1 : 0);
    std::string prelude =
        "#define LAYERS " + std::to_string(layers) + "\n#define PLANE_LAYERS " + std::to_string(plane_layers) + "\n";
    if (with_moments == Moments::On) prelude += "#define MOMENTS\n";
    if (picture.one_channel) prelude += "#define ONE_CHANNEL\n";
    prelude += shaders::picture_value_glsl;
    gl::Uniforms uniforms{{"part", glm::ivec4(picture.x, picture.y, picture.width, picture.rows)},
                          {"last_width", picture.last_width}};
    if (!picture.one_channel) {
        const auto& w = options.weights;
        uniforms.set("weights", glm::vec4(w[0], w[1], w[2], w[3]));
    }
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
    if (with_moments == Moments::On) uniforms.set("share", share_of(picture.texels()));
    const auto& to = sized(planes, gl::Format::Rgba32ui, parts(picture.width, word_texels), picture.rows, layers);
    fill(device, "picture", programs.get("picture/codes.frag", shaders::picture_codes_frag, prelude), to,
         {picture.texture}, std::move(uniforms));
}

const gl::Texture& PictureStatistics::State::count(int bins) {
    const auto& from = planes.texture;
    const int layers = std::min(device.features.color_targets, parts(bins, layer_bins));
    const int ranges = parts(bins, layers * layer_bins), number = parts(from.width() * from.height(), tile_words),
              columns = std::min(number, max_columns), across = parts(number, chunk_tiles);
    const auto prelude =
        "#define LAYERS " + std::to_string(layers) + "\n#define PLANE_LAYERS " + std::to_string(plane_layers) + "\n";
    const auto& some = sized(tiles, gl::Format::Rgba32ui, ranges * columns, parts(number, columns), layers);
    fill(device, "tiles", programs.get("picture/tiles.frag", shaders::picture_tiles_frag, prelude), some, {&from},
         {{"size", glm::ivec2(from.width(), from.height())}, {"columns", columns}});
    const auto& fewer = sized(chunks, gl::Format::Rgba32ui, ranges * layers, across, 2);
    fill(device, "chunks", programs.get("picture/chunks.frag", shaders::picture_chunks_frag, prelude), fewer,
         {&some.texture}, {{"columns", columns}, {"tiles", number}});
    const auto& all = sized(counted, gl::Format::R32ui, bins, 1);
    fill(device, "counts", programs.get("picture/counts.frag", shaders::picture_counts_frag), all, {&fewer.texture},
         {{"chunks", across}});
    return all.texture;
}

const gl::Texture& PictureStatistics::State::blocks(const gl::Texture& counts) {
    const auto& to = sized(summed, gl::Format::Rgba32ui, parts(counts.width(), block_bins), 1);
    fill(device, "blocks", programs.get("picture/blocks.frag", shaders::picture_blocks_frag), to, {&counts},
         {{"bins", counts.width()}});
    return to.texture;
}

const gl::Texture& PictureStatistics::State::cumulative(const gl::Texture& counts, const gl::Texture& blocks,
                                                        const char* prelude) {
    const auto& to = sized(accumulated, gl::Format::R32ui, counts.width(), 1);
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
        const auto& to = sized(target, gl::Format::Rgba32ui, across, parts(left, across));
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
    check(outputs);
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
               extent = output(outputs.range, 1, Rgba32f, "the texture of the range");

    const auto across = static_cast<std::size_t>(part.width);
    Picture picture{
        .texture = nullptr,
        .x = part.x,
        .y = part.y,
        .width = part.width,
        .rows = static_cast<int>((texels + across - 1) / across),
        .last_width = static_cast<int>((texels - 1) % across) + 1,
        .one_channel = part.format == R32f || part.format == R16f || part.format == R16 || part.format == R8};
    const bool counts_bins = histogram || running || table;
    const auto draw_from = [&](const gl::Texture& texture) {
        picture.texture = &texture;
        read(picture, counts_bins ? Codes::On : Codes::Off, extent ? Moments::On : Moments::Off, options);
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
    if (extent) copy_part(device, moments(texels), 1, *extent);
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
