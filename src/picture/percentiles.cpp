#include "picture/percentiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "gl/device.hpp"
#include "picture_shaders.hpp"

namespace quadmill::detail::picture {

namespace {

constexpr int all_groups = 8, half_groups = 5;  // of four bits: a half has no more than 19 bits of a float

std::string define(const char* name, int value) {
    return std::string("#define ") + name + " " + std::to_string(value) + "\n";
}

// The fractions as multiples of 2^-32.
glm::uvec4 four(std::span<const double> phi) {
    glm::uvec4 words(0);
    for (std::size_t i = 0; i < std::min<std::size_t>(phi.size(), 4); ++i) {
        const auto scaled = std::min<double>(std::round(phi[i] * 0x1p32), UINT32_MAX);
        words[static_cast<glm::length_t>(i)] = static_cast<std::uint32_t>(scaled);
    }
    return words;
}

}  // namespace

void Percentiles::draw_planes(const Source& source, int groups) {
    const int layers = groups <= device_.features.color_targets ? groups : 4;
    const auto& to = sized(device_, planes_, gl::Format::Rgba32ui,
                           parts(source.width, word_texels) * parts(groups, layers), source.rows, layers);
    auto uniforms = source.uniforms(Source::Weights::Off);
    uniforms.set("width", parts(source.width, word_texels));
    fill(device_, "keys of picture",
         programs_.get("picture/keys.frag", shaders::picture_keys_frag,
                       define("LAYERS", layers) + source.prelude(Source::Weights::Off)),
         to, {source.texture}, std::move(uniforms));
}

const gl::Texture& Percentiles::find(const Source& source, std::span<const double> phi, Tally& tally) {
    const auto format = source.texture->format();
    const bool halves = source.channel() >= 0 && (format == gl::Format::R16f || format == gl::Format::Rgba16f);
    const int groups = halves ? half_groups : all_groups, number = static_cast<int>(phi.size());
    draw_planes(source, groups);
    const int layers = tally.layers_for(number);
    const auto both = define("PLANE_LAYERS", planes_.texture.layers()) + define("NUMBER", number);
    const gl::Texture* state = nullptr;
    for (int turn = 0; turn < groups; ++turn) {
        // In the first turn all percentiles have the same texels; the second slot is for the NaNs.
        const bool first = turn == 0, last = turn == groups - 1;
        const int targets = first ? 2 : layers;
        const auto prelude = both + tally.prelude() + define("LAYERS", targets) + (first ? "#define FIRST\n" : "");
        gl::Uniforms uniforms;
        if (!first) uniforms.set("turn", turn);
        const auto chunks =
            tally.count({.name = "digits",
                         .program = &programs_.get("picture/digits.frag", shaders::picture_digits_frag, prelude),
                         .inputs = {&planes_.texture, state},
                         .uniforms = uniforms,
                         .width = parts(source.width, word_texels),
                         .height = source.rows,
                         .slots = first ? 2 : number,
                         .layers = targets});
        uniforms.set(chunks.uniforms);
        if (first) {
            uniforms.set("low_phi", four(phi)).set("high_phi", four(phi.subspan(std::min<std::size_t>(phi.size(), 4))));
        }
        auto& to = last ? found_ : states_.at(static_cast<std::size_t>(turn) % 2);
        const auto& next = sized(device_, to, last ? gl::Format::R32ui : gl::Format::Rg32ui, number, 1);
        fill(
            device_, "choose digit",
            programs_.get("picture/choose.frag", shaders::picture_choose_frag,
                          define("NUMBER", number) + (first ? "#define FIRST\n" : "") + (last ? "#define LAST\n" : "")),
            next, {&chunks.texture, state}, std::move(uniforms));
        state = &next.texture;
    }
    return found_.texture;
}

}  // namespace quadmill::detail::picture
