#include "query/gpu/bit_list.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "gl/pass.hpp"
#include "query/gpu/key_textures.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

constexpr std::size_t words_a_texel = 32, texels_a_texel = 16;

}  // namespace

void fit(gl::Device& device, pass::Target& target, gl::Format format, int width, int height) {
    if (target.is(format, width, height)) return;
    target = {};
    target = pass::Target(device, format, width, height);
}

const gl::Texture& BitList::count_on_gpu(const BitWords& words) {
    const auto level = [&](std::size_t i, std::size_t texels) -> const pass::Target& {
        if (levels_.size() == i) levels_.emplace_back();
        const auto width = std::min(std::bit_ceil(texels), std::size_t{list_width});
        fit(device_, levels_[i], gl::Format::Rgba32ui, static_cast<int>(width), static_cast<int>(up(texels, width)));
        return levels_[i];
    };
    auto texels = std::max<std::size_t>(up(words.words, words_a_texel), 1);
    auto uniforms = words.uniforms;
    uniforms.set("words", static_cast<int>(words.words));
    pass::fill(device_, "count bits",
               programs_.get("query/bits_count.frag", shaders::query_bits_count_frag, words.glsl), level(0, texels),
               {words.texture}, std::move(uniforms));
    std::size_t levels = 1;
    for (; texels > 1; ++levels) {
        const auto below = texels;
        texels = up(texels, texels_a_texel);
        const auto& target = level(levels, texels);
        pass::fill(device_, "sum counts", programs_.get("query/bits_sum.frag", shaders::query_bits_sum_frag), target,
                   {&levels_[levels - 1].texture}, {{"texels", static_cast<int>(below)}});
    }
    levels_.resize(levels);
    return levels_.back().texture;
}

std::uint64_t BitList::count(const BitWords& words) {
    back_.request(device_, count_on_gpu(words));
    std::array<std::uint32_t, 4> counts{};
    std::memcpy(counts.data(), back_.wait().data(), sizeof counts);
    return std::uint64_t{counts[0]} + counts[1] + counts[2] + counts[3];
}

void BitList::draw(const BitWords& words, std::uint64_t first, std::size_t n, const pass::Target& target,
                   Length length) {
    list("list bits", words, length == Length::OnGpu ? "#define ON_GPU\n" : "",
         {{"first", static_cast<unsigned>(first)}, {"count", static_cast<unsigned>(n)}}, target);
}

void BitList::draw_sample(const BitWords& words, std::uint64_t bits_set, const pass::Target& target) {
    list("sample bits", words,
         "#define SAMPLE " + std::to_string(target.texture.width() * target.texture.height()) + "u\n",
         {{"count", static_cast<unsigned>(bits_set)}}, target);
}

void BitList::list(const char* name, const BitWords& words, const std::string& defines, const gl::Uniforms& uniforms,
                   const pass::Target& target) {
    const std::size_t before = words.values != nullptr ? 2 : 1;  // number of textures
    const auto name_of = [before](std::size_t level) { return "texture" + std::to_string(before + level); };
    std::string samplers = "\n#define SAMPLERS", descend = "\n#define DESCEND";
    for (auto level = levels_.size(); level-- > 0;) {
        samplers += " uniform highp usampler2D " + name_of(level) + ";";
        descend += " node = down(" + name_of(level) + ", node, rest);";
    }
    const auto& program = programs_.get(
        "query/bits_list.frag", shaders::query_bits_list_frag,
        defines + words.glsl + samplers + descend + "\n#define TOP " + name_of(levels_.size() - 1) + "\n");
    auto all = words.uniforms;
    all.set(uniforms);
    gl::Pass pass{.name = name,
                  .program = &program,
                  .uniforms = std::move(all),
                  .target = &target.framebuffer,
                  .quads = &target.whole};
    pass.inputs[0] = words.texture;
    pass.inputs[1] = words.values;
    for (std::size_t level = 0; level < levels_.size(); ++level)
        pass.inputs.at(before + level) = &levels_[level].texture;
    gl::draw(device_, pass);
}

}  // namespace quadmill::detail::query
