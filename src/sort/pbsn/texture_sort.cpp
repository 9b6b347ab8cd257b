#include "sort/pbsn/texture_sort.hpp"

#include <algorithm>
#include <utility>

#include "cpu/keys.hpp"
#include "gl/device.hpp"
#include "pass_shaders.hpp"
#include "sort/pbsn/packing.hpp"
#include "sort_shaders.hpp"

namespace quadmill::detail::sort {

TextureSort::TextureSort(gl::Device& device, Pbsn& pbsn)
    : device_(device),
      pbsn_(pbsn),
      gather_(device, "pass/gather.frag", shaders::pass_gather_frag),
      specials_(device, "sort/specials.frag", shaders::sort_specials_frag),
      recode_(device, "sort/recode.frag", shaders::sort_recode_frag),
      special_count_(device, gl::Query::Kind::Samples) {}

// Each group of textures is complete or empty, even if the GPU has no room for one of them.
void TextureSort::resize(int width, int height, int k) {
    if (!raw_.is(gl::Format::Rgba32ui, width, height)) {
        raw_ = {};
        raw_ = pass::Target(device_, gl::Format::Rgba32ui, width, height);
    }
    const auto shape = pass::FourArray::of_power(k);
    if (keys_.now.is(gl::Format::Rgba32ui, shape.width, shape.height)) return;
    keys_ = {};
    floats_ = {};
    PbsnTextures keys(device_, gl::Format::Rgba32ui, shape);
    floats_ = PbsnTextures(device_, gl::Format::Rgba32f, shape);
    keys_ = std::move(keys);
}

void TextureSort::gather(const gl::Texture& from, const pass::Target& to, std::uint32_t padding) {
    const int width = to.texture.width(), texels = width * to.texture.height();
    draw(device_, {.name = "gather",
                   .program = &gather_,
                   .inputs = {&from},
                   // Number of elements in the array without padding, which is the smaller one.
                   .uniforms = {{"count", std::min(from.width() * from.height(), texels)},
                                {"target_width", width},
                                {"source_width", from.width()},
                                {"padding", padding}},
                   .target = &to.framebuffer,
                   .quads = &to.whole});
}

void TextureSort::recode(std::uint32_t decode, std::uint32_t flip) {
    draw(device_, {.name = "recode",
                   .program = &recode_,
                   .inputs = {&keys_.now.texture},
                   .uniforms = {{"decode", decode}, {"flip", flip}},
                   .target = &keys_.next.framebuffer,
                   .quads = &keys_.next.whole});
    keys_.swap();
}

std::uint64_t TextureSort::count_specials() {
    draw(device_, {.name = "count specials",
                   .program = &specials_,
                   .inputs = {&keys_.now.texture},
                   .target = &keys_.next.framebuffer,
                   .color = gl::ColorWrite::Off,
                   .quads = &keys_.next.whole,
                   .count_samples = &special_count_});
    return special_count_.result();
}

SortStats TextureSort::run(const gl::Texture& input, const gl::Texture& output, const SortOptions& options) {
    const auto texels = static_cast<std::size_t>(input.width()) * static_cast<std::size_t>(input.height());
    const int k = pass::log2_ceil(texels);
    resize(input.width(), input.height(), k);
    SortStats stats{.n = 4 * texels, .engine = Engine::Pbsn, .textures = 1, .stages_max = k};
    // Copies bits, regardless of the swizzle and filter of the caller's texture.
    copy(device_, "copy from caller", input, raw_.texture);
    gather(raw_.texture, keys_.now, padding<float>(options.order));
    if (count_specials() == 0) {
        copy(device_, "copy to tex", keys_.now.texture, floats_.now.texture);
        pbsn_.sort(floats_, {.k = k, .order = options.order, .early_stop = options.paper.pbsn.early_stop});
        copy(device_, "copy from tex", floats_.now.texture, keys_.now.texture);
        stats.stages_run = pbsn_.stages_run();
    } else {
        const cpu::TotalOrder<float> rule(options.order);
        gather(raw_.texture, keys_.now, rule.decode(~std::uint32_t{0}));
        recode(0, rule.flip);
        pbsn_.sort_by_program(keys_, k);
        recode(1, rule.flip);
        stats.stages_run = k;
    }
    stats.steps = static_cast<std::uint64_t>(stats.stages_run) * static_cast<std::uint64_t>(k);
    gather(keys_.now.texture, raw_, 0);
    device_.check("Sorter::sort_texture");  // before the caller's texture is touched
    copy(device_, "copy to caller", raw_.texture, output);
    return stats;
}

}  // namespace quadmill::detail::sort
