#include "sort/pbsn/texture_sort.hpp"

#include <utility>

#include "cpu/keys.hpp"
#include "gl/device.hpp"
#include "quadmill_shaders.hpp"
#include "sort/pbsn/packing.hpp"

namespace quadmill::detail::sort {

TextureSort::TextureSort(gl::Device& device, Pbsn& pbsn)
    : device_(device),
      pbsn_(pbsn),
      gather_(device, "pass/gather.frag", shaders::pass_gather_frag),
      specials_(device, "sort/specials.frag", shaders::sort_specials_frag),
      recode_(device, "sort/recode.frag", shaders::sort_recode_frag),
      count_(gather_.location("count")),
      target_width_(gather_.location("target_width")),
      source_width_(gather_.location("source_width")),
      padding_(gather_.location("padding")),
      decode_(recode_.location("decode")),
      flip_(recode_.location("flip")),
      special_count_(device, gl::Query::Kind::Samples) {}

// Each group is complete or empty, also when the GPU has no room for one of its textures.
void TextureSort::resize(int width, int height, int k) {
    if (raw_.width() != width || raw_.height() != height) {
        raw_target_ = {};
        raw_ = {};
        gl::Texture raw(device_, gl::Format::Rgba32ui, width, height);
        raw_target_ = gl::Framebuffer(device_, raw);
        raw_ = std::move(raw);
    }
    const auto shape = pass::FourArray::of_power(k);
    if (keys_.tex.width() == shape.width && keys_.tex.height() == shape.height) return;
    keys_ = {};
    floats_ = {};
    Surface keys(device_, gl::Format::Rgba32ui, shape);
    floats_ = Surface(device_, gl::Format::Rgba32f, shape);
    keys_ = std::move(keys);
}

void TextureSort::gather(const gl::Texture& from, const gl::Texture& to, const gl::Framebuffer& target,
                         std::uint32_t padding) {
    // The smaller of the two arrays is the one without padding.
    const auto elements = std::min(from.width() * from.height(), to.width() * to.height());
    draw(device_, {.name = "gather",
                   .program = &gather_,
                   .inputs = {&from},
                   .uniforms = {{count_, elements},
                                {target_width_, to.width()},
                                {source_width_, from.width()},
                                {padding_, GLuint{padding}}},
                   .target = &target,
                   .quads = &pbsn_.copy_quads(to.width(), to.height()),
                   .first = 0,
                   .count = 1});
}

void TextureSort::recode(std::uint32_t decode, std::uint32_t flip) {
    draw(device_, {.name = "recode",
                   .program = &recode_,
                   .inputs = {&keys_.tex},
                   .uniforms = {{decode_, GLuint{decode}}, {flip_, GLuint{flip}}},
                   .target = &keys_.frame_target,
                   .quads = &pbsn_.copy_quads(keys_.tex.width(), keys_.tex.height()),
                   .first = 0,
                   .count = 1});
    keys_.swap();
}

std::uint64_t TextureSort::count_specials() {
    draw(device_, {.name = "count specials",
                   .program = &specials_,
                   .inputs = {&keys_.tex},
                   .target = &keys_.frame_target,
                   .color = gl::ColorWrite::Off,
                   .quads = &pbsn_.copy_quads(keys_.tex.width(), keys_.tex.height()),
                   .first = 0,
                   .count = 1,
                   .count_samples = &special_count_});
    return special_count_.result();
}

SortStats TextureSort::run(const gl::Texture& input, const gl::Texture& output, const SortOptions& options) {
    const auto texels = static_cast<std::size_t>(input.width()) * static_cast<std::size_t>(input.height());
    const int k = pass::log2_ceil(texels);
    resize(input.width(), input.height(), k);
    SortStats stats{.n = 4 * texels, .engine = Engine::Pbsn, .textures = 1, .stages_max = k};
    // A raw copy: whatever swizzle or filter the caller's texture has, the bits are the bits.
    copy(device_, "copy from caller", input, raw_);
    gather(raw_, keys_.tex, keys_.tex_target, padding<float>(options.order));
    if (count_specials() == 0) {
        copy(device_, "copy to tex", keys_.tex, floats_.tex);
        pbsn_.sort(floats_, {.k = k, .order = options.order, .early_stop = options.early_stop});
        copy(device_, "copy from tex", floats_.tex, keys_.tex);
        stats.stages_run = pbsn_.stages_run();
    } else {
        const cpu::TotalOrder<float> rule(options.order);
        gather(raw_, keys_.tex, keys_.tex_target, rule.decode(~std::uint32_t{0}));
        recode(0, rule.flip);
        pbsn_.sort_by_program(keys_, k);
        recode(1, rule.flip);
        stats.stages_run = k;
    }
    stats.steps = static_cast<std::uint64_t>(stats.stages_run) * static_cast<std::uint64_t>(k);
    gather(keys_.tex, raw_, raw_target_, 0);
    device_.check("Sorter::sort_texture");  // before the caller's texture is touched
    copy(device_, "copy to caller", raw_, output);
    return stats;
}

}  // namespace quadmill::detail::sort
