#include "sketch/device_levels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "sketch_shaders.hpp"

namespace quadmill::detail::sketch {

namespace {

constexpr std::uint32_t wants_high = 1;  // one of the reserved indices
constexpr std::size_t low_texels = sizeof(MultiLevel::Low) / 16;

pass::Target high_target(gl::Device& device, std::size_t texels) {
    const auto rows = std::bit_ceil((texels >> static_cast<unsigned>(DeviceLevels::high_log2)) + 1);
    return {device, gl::Format::Rgba32ui, 1 << DeviceLevels::high_log2, static_cast<int>(rows)};
}

}  // namespace

DeviceLevels::DeviceLevels(gl::Device& device, cpu::Workers& workers, const Shape& shape)
    : device_(device),
      workers_(workers),
      buckets_(shape.columns()),
      low_grid_(Grid::of(low_texels * buckets_)),
      low_(device, gl::Format::Rgba32ui, low_grid_.width(), low_grid_.height),
      high_(high_target(device, 0)),
      programs_(device),
      wanted_(device, gl::Query::Kind::Samples) {
    gl::clear_texels(device_, low_.now.texture, 0, 0, low_grid_.width(), low_grid_.height, 0);
}

void DeviceLevels::carry(const gl::Texture& pending, const Grid& pending_grid, Sign sign) {
    const int removes = sign == Sign::Minus ? 1 : 0;
    fill(device_, "carry to low counters",
         programs_.get("sketch/carry_low.frag", shaders::sketch_carry_low_frag, shaders::sketch_pending_glsl),
         low_.next, {&low_.now.texture, &pending},
         {{"table_log2", low_grid_.width_log2},
          {"table_texels", static_cast<int>(low_texels * buckets_)},
          {"pending_log2", pending_grid.width_log2},
          {"removes", removes}});
    low_.swap();
    draw(device_, {.name = "buckets that want high counters",
                   .program = &programs_.get("sketch/indices.frag", shaders::sketch_indices_frag, "#define WANTED\n"),
                   .inputs = {&low_.now.texture},
                   .target = &low_.next.framebuffer,
                   .color = gl::ColorWrite::Off,
                   .quads = &low_.next.whole,
                   .count_samples = &wanted_});
    const auto old_texels = high_texels();
    if (wanted_.result() > 0) give_indices();
    if (owners_.empty()) return;
    const auto texels = high_texels();
    auto& next = next_high_;
    if (!next.texture ||
        static_cast<std::size_t>(next.texture.width()) * static_cast<std::size_t>(next.texture.height()) < texels)
        next = high_target(device_, texels);
    const auto owners_log2 = std::countr_zero(static_cast<unsigned>(owners_texture_.width()));
    const auto rows = static_cast<int>((texels + (std::size_t{1} << high_log2) - 1) >> high_log2);
    const gl::QuadList quads(device_, {gl::rectangle(0, 0, 1 << high_log2, rows)});
    draw(device_, {.name = "carry to high counters",
                   .program = &programs_.get("sketch/carry_high.frag", shaders::sketch_carry_high_frag,
                                             shaders::sketch_pending_glsl),
                   .inputs = {&high_.texture, &pending, &owners_texture_, &low_.now.texture},
                   .uniforms = {{"high_log2", high_log2},
                                {"table_log2", low_grid_.width_log2},
                                {"owners_log2", owners_log2},
                                {"old_texels", static_cast<int>(old_texels)},
                                {"new_texels", static_cast<int>(texels)},
                                {"pending_log2", pending_grid.width_log2},
                                {"removes", removes}},
                   .target = &next.framebuffer,
                   .quads = &quads});
    std::swap(high_, next_high_);
}

// Assigns indices to the buckets that want high counters, in the order of the buckets.
void DeviceLevels::give_indices() {
    const auto grid = Grid::of(buckets_);
    const pass::Target indices(device_, gl::Format::R32ui, grid.width(), grid.height);
    const gl::Uniforms uniforms{{"buckets", static_cast<int>(buckets_)},
                                {"table_log2", low_grid_.width_log2},
                                {"indices_log2", grid.width_log2}};
    fill(device_, "take indices", programs_.get("sketch/indices.frag", shaders::sketch_indices_frag), indices,
         {&low_.now.texture}, uniforms);
    read_back_.request(device_, indices.texture);
    const auto bytes = read_back_.wait();
    std::vector<std::uint32_t> all(buckets_);
    std::memcpy(all.data(), bytes.data(), all.size() * sizeof all.front());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] != wants_high) continue;
        all[i] = MultiLevel::first_index + static_cast<std::uint32_t>(owners_.size());
        owners_.push_back(static_cast<std::uint32_t>(i));
    }
    send_words(device_, uploader_, workers_, indices.texture, all);
    fill(device_, "give indices", programs_.get("sketch/indices.frag", shaders::sketch_indices_frag, "#define GIVE\n"),
         low_.next, {&low_.now.texture, &indices.texture}, uniforms);
    low_.swap();
    send_owners();
}

void DeviceLevels::send_owners() {
    const auto grid = Grid::of(owners_.size());
    owners_texture_ = {};
    owners_texture_ = gl::Texture(device_, gl::Format::R32ui, grid.width(), grid.height);
    send_words(device_, uploader_, workers_, owners_texture_, owners_);
}

void DeviceLevels::load(const MultiLevel& from) {
    const auto low = from.low();
    const auto* const words = reinterpret_cast<const std::uint32_t*>(low.data());
    static_assert(sizeof(MultiLevel::Low) == 32 && std::is_trivially_copyable_v<MultiLevel::Low>);
    send_words(device_, uploader_, workers_, low_.now.texture, std::span(words, low.size() * 4 * low_texels));
    owners_.assign(from.high().size(), 0);
    for (std::size_t i = 0; i < low.size(); ++i) {
        if (low[i].index != 0) owners_[low[i].index - MultiLevel::first_index] = static_cast<std::uint32_t>(i);
    }
    next_high_ = {};
    high_ = {};
    high_ = high_target(device_, high_texels());
    if (owners_.empty()) return;
    send_owners();
    send_words(device_, uploader_, workers_, high_.texture, [&](std::size_t first, std::span<std::uint32_t> to) {
        const auto end = from.high().size() * MultiLevel::bucket;
        for (std::size_t i = 0; i < to.size(); ++i) {
            const auto cell = first + i;
            to[i] =
                cell < end
                    ? static_cast<std::uint32_t>(from.high()[cell / MultiLevel::bucket].at(cell % MultiLevel::bucket))
                    : 0;
        }
    });
}

void DeviceLevels::add_to(CpuTable& to) {
    read_back_.request(device_, low());
    if (!owners_.empty()) high_back_.request(device_, high());
    const auto bytes = read_back_.wait();
    const auto high_bytes = owners_.empty() ? std::span<const std::byte>() : high_back_.wait();
    for (std::size_t i = 0; i < buckets_; ++i) {
        MultiLevel::Low low;
        std::memcpy(&low, bytes.data() + i * sizeof low, sizeof low);
        std::array<std::uint32_t, MultiLevel::bucket> counters{};
        if (low.index != 0) {
            const auto owner = low.index - MultiLevel::first_index;
            if (owner >= owners_.size())
                throw GlError("a sketch on the GPU: a bucket names high counters that do not exist");
            const auto begin = owner * sizeof counters;
            std::memcpy(counters.data(), high_bytes.data() + begin, sizeof counters);
        }
        for (std::size_t c = 0; c < counters.size(); ++c) counters.at(c) += low.counters.at(c);  // modulo 2^32
        to.add_cells(i * counters.size(), counters);
    }
}

std::size_t DeviceLevels::bytes() const {
    return low_.now.texture.bytes() + low_.next.texture.bytes() + high_.texture.bytes() +
           (next_high_.texture ? next_high_.texture.bytes() : 0) + (owners_texture_ ? owners_texture_.bytes() : 0);
}

}  // namespace quadmill::detail::sketch
