#include "gl/float_blending.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "bench_shaders.hpp"
#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass_shaders.hpp"

namespace quadmill::detail::gl {

namespace {

constexpr std::size_t side = 10;
using Values = std::array<std::uint32_t, side>;  // bits of floats

// Infinities, the largest numbers, the smallest normal ones, and neighbours, in ascending order.
constexpr Values ordered_32{0xff800000, 0xff7fffff, 0xbf800000, 0x80800000, 0x00000000,
                            0x00800000, 0x3f800000, 0x3f800001, 0x7f7fffff, 0x7f800000};
constexpr Values ordered_16{0xfc00, 0xfbff, 0xbc00, 0x8400, 0x0000, 0x0400, 0x3c00, 0x3c01, 0x7bff, 0x7c00};
// The sum of each two is at most 2^24.
constexpr std::array<float, side> numbers{0, 1, 2, 3, 255, 4095, 4096, 4194305, 8388607, 8388608};

Values values_of(Format format, Blended how) {
    if (how == Blended::Order) return format == Format::Rgba16f ? ordered_16 : ordered_32;
    Values bits{};
    std::ranges::transform(numbers, bits.begin(), [](float number) { return std::bit_cast<std::uint32_t>(number); });
    return bits;
}

// What blending makes of values i and j.
std::uint32_t blended(const Values& values, Blend blend, std::size_t i, std::size_t j) {
    if (blend == Blend::Add) return std::bit_cast<std::uint32_t>(numbers.at(i) + numbers.at(j));
    return values.at(blend == Blend::Min ? std::min(i, j) : std::max(i, j));
}

// The bits of all texels, where value(x, y) gives those of channel 0. Channel c is that of x + c and y + c.
template <class Value>
std::vector<std::byte> texels(Format format, const Value& value) {
    const std::size_t channels = format == Format::R32f ? 1 : 4, bytes = info(format).bytes / channels;
    std::vector<std::byte> all(side * side * channels * bytes);
    auto* to = all.data();
    for (std::size_t y = 0; y < side; ++y) {
        for (std::size_t x = 0; x < side; ++x) {
            for (std::size_t c = 0; c < channels; ++c, to += bytes) {
                const std::uint32_t bits = value((x + c) % side, (y + c) % side);
                const auto low = static_cast<std::uint16_t>(bits);
                bytes == sizeof low ? std::memcpy(to, &low, sizeof low) : std::memcpy(to, &bits, sizeof bits);
            }
        }
    }
    return all;
}

// A rehearsal draws one texel; this test needs all.
class WholeTargets {
  public:
    explicit WholeTargets(Device& device) : device_(device), is_cut_(device.gl.IsEnabled(GL_SCISSOR_TEST) != GL_FALSE) {
        if (!is_cut_) return;
        device.gl.GetIntegerv(GL_SCISSOR_BOX, box_.data());
        device.dialect->set_scissor(std::nullopt);
    }
    WholeTargets(const WholeTargets&) = delete;
    WholeTargets& operator=(const WholeTargets&) = delete;
    ~WholeTargets() {
        if (is_cut_) device_.dialect->set_scissor(box_);
    }

  private:
    Device& device_;
    bool is_cut_;
    Dialect::Box box_{};
};

// Whether thousands of points arrive where they belong, and overlapping points are all added. Mesa's softpipe restarts
// gl_VertexID after 4096 points.
bool adds_points(Device& device) {
    constexpr std::uint32_t width = 64, texels = width * width, count = 8192;
    const auto hash = [](std::uint32_t i) {  // as in the shader
        i = (i ^ (i >> 16U)) * 0x7feb352dU;
        i = (i ^ (i >> 15U)) * 0x846ca68bU;
        return i ^ (i >> 16U);
    };
    std::vector<float> expected(texels), found(texels);
    for (std::uint32_t i = 0; i < count; ++i) expected[hash(i) % texels] += 1;
    const Program scatter(device, "bench/scatter.vert", {shaders::bench_scatter_vert, shaders::bench_one_frag});
    const Texture counts(device, Format::R32f, width, width);
    const Framebuffer target(device, counts);
    const Points points(device);
    fill(device, counts, 0);
    draw(device, {.name = "test blending",
                  .program = &scatter,
                  .target = &target,
                  .blend = Blend::Add,
                  .points = &points,
                  .first = 0,
                  .count = count});
    const auto bytes = read_texels(device, counts);
    std::memcpy(found.data(), bytes.data(), bytes.size());
    return found == expected;
}

}  // namespace

bool blends_exactly(Device& device, Format format, Blended how) {
    const Unobserved unobserved(device);
    const WholeTargets whole_targets(device);
    constexpr auto size = static_cast<int>(side);
    // Texel (x, y) of `rows` has value y. Texel (x, y) of `target` gets value y, and value x is blended onto it.
    const Texture rows(device, format, size, size), columns(device, format, size, size),
        texture(device, format, size, size);
    const Framebuffer target(device, texture);
    const QuadList whole(device, {rectangle(0, 0, size, size)});
    const Program fetch(device, "pass/fetch.frag", shaders::pass_fetch_frag);
    const auto values = values_of(format, how);
    PixelBuffer memory(device, PixelBuffer::Direction::Upload, 2 * side * side * info(format).bytes);
    const auto send = [&](const std::vector<std::byte>& bytes, const Texture& to, std::size_t offset) {
        std::ranges::copy(bytes, memory.write(offset, bytes.size()).begin());
        upload_rows(device, memory, offset, to, 0, size);
    };
    send(texels(format, [&](std::size_t /*x*/, std::size_t y) { return values.at(y); }), rows, 0);
    send(texels(format, [&](std::size_t x, std::size_t /*y*/) { return values.at(x); }), columns, memory.size() / 2);
    const auto draw_onto = [&](const Texture& from, Blend blend) {
        draw(device, {.name = "test blending",
                      .program = &fetch,
                      .inputs = {&from},
                      .target = &target,
                      .blend = blend,
                      .quads = &whole});
    };
    const auto is_right = [&](Blend blend) {
        draw_onto(rows, Blend::None);
        draw_onto(columns, blend);
        return read_texels(device, texture) ==
               texels(format, [&](std::size_t x, std::size_t y) { return blended(values, blend, x, y); });
    };
    if (how == Blended::Order) return is_right(Blend::Min) && is_right(Blend::Max);
    return is_right(Blend::Add) && (format != Format::R32f || adds_points(device));
}

}  // namespace quadmill::detail::gl
