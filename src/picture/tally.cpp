#include "picture/tally.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "gl/device.hpp"
#include "picture_shaders.hpp"

namespace quadmill::detail::picture {

namespace {

// As in the shaders.
constexpr int tile_words = 7, chunk_tiles = 128, max_columns = 128;

}  // namespace

const pass::Target& sized(gl::Device& device, pass::Target& target, gl::Format format, int width, int height,
                          int layers) {
    if (!target.is(format, width, height) || target.texture.layers() != layers) {
        target = {};
        target = pass::Target(device, format, width, height, layers);
    }
    return target;
}

int Source::channel() const {
    if (one_channel) return 0;
    const auto others = std::ranges::count_if(weights, [](float weight) { return weight != 0; });
    const auto* const one = std::ranges::find(weights, 1.0F);
    return others == 1 && one != weights.end() ? static_cast<int>(one - weights.begin()) : -1;
}

std::string Source::prelude(Weights with_weights) const {
    std::string words = channel() >= 0 ? "#define ONE_CHANNEL\n" : "";
    if (with_weights == Weights::On && counted == Counted::ByAlpha) words += "#define ALPHA_WEIGHT\n";
    if (with_weights == Weights::On && counted == Counted::ByMask) words += "#define MASK_WEIGHT\n";
    return words + shaders::picture_value_glsl;
}

gl::Uniforms Source::uniforms(Weights with_weights) const {
    gl::Uniforms all{{"part", glm::ivec4(x, y, width, rows)}, {"last_width", last_width}};
    if (const auto one = channel(); one >= 0)
        all.set("channel", one);
    else
        all.set("weights", glm::vec4(weights[0], weights[1], weights[2], weights[3]));
    if (with_weights == Weights::On && counted != Counted::Once) all.set("levels", static_cast<float>(levels));
    return all;
}

void Tally::weigh(const Source& source) {
    weight_bits_ = 0;
    if (source.counted == Source::Counted::Once) return;
    weight_bits_ = static_cast<int>(std::bit_width(static_cast<unsigned>(source.levels)));
    const int layers = parts(weight_bits_, 4);
    const auto& to =
        sized(device_, weights_, gl::Format::Rgba32ui, parts(source.width, word_texels), source.rows, layers);
    fill(device_, "weights",
         programs_.get("picture/weights.frag", shaders::picture_weights_frag,
                       "#define LAYERS " + std::to_string(layers) + "\n" + source.prelude(Source::Weights::On)),
         to, {source.texture, source.mask}, source.uniforms(Source::Weights::On));
}

std::string Tally::prelude() const {
    return std::string(weight_bits_ > 0 ? "#define WEIGHTED\n" : "") + shaders::picture_weighing_glsl;
}

int Tally::layers_for(int slots) const {
    return std::min(device_.features.color_targets, slots);
}

const pass::Target& Tally::kept(Targets& targets, const Tiles& of, int width, int height, int layers) {
    constexpr std::size_t max = 3;  // of a call: bins, and the first and the other turns of percentiles
    const std::array use{of.slots, of.layers};
    if (!targets.contains(use) && targets.size() >= max) targets.clear();
    return sized(device_, targets[use], gl::Format::Rgba32ui, width, height, layers);
}

Tally::Chunks Tally::count(Tiles tiles) {
    const int ranges = parts(tiles.slots, tiles.layers), number = parts(tiles.width * tiles.height, tile_words),
              bits = std::max(weight_bits_, 1), columns = std::min(number, max_columns / bits);
    const auto& some = kept(tiles_, tiles, bits * ranges * columns, parts(number, columns), tiles.layers);
    tiles.uniforms.set("size", glm::ivec2(tiles.width, tiles.height)).set("columns", columns).set("ranges", ranges);
    fill(device_, tiles.name, *tiles.program, some,
         {tiles.inputs[0], tiles.inputs[1], weight_bits_ > 0 ? &weights_.texture : nullptr}, std::move(tiles.uniforms));
    const auto& fewer = kept(chunks_, tiles, bits * ranges * tiles.layers, parts(number, chunk_tiles), 2);
    fill(device_, "chunks",
         programs_.get("picture/chunks.frag", shaders::picture_chunks_frag,
                       "#define LAYERS " + std::to_string(tiles.layers) + "\n"),
         fewer, {&some.texture}, {{"columns", columns}, {"tiles", number}});
    return {fewer.texture, {{"chunks", fewer.texture.height()}, {"weights", bits}, {"stride", ranges * tiles.layers}}};
}

}  // namespace quadmill::detail::picture
