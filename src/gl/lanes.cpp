#include "gl/lanes.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "gl_shaders.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

constexpr std::uint32_t lanes = 32, box_width = 4, box_height = 8;

struct Fragment {
    std::uint32_t subgroup_size, lane, of_lane_0, of_opposite;
};

constexpr std::uint32_t packed(std::uint32_t x, std::uint32_t y) {
    return y << 16U | x;
}

bool is_as_hoped(const Fragment& found, std::uint32_t x, std::uint32_t y) {
    const auto in_x = x % box_width, in_y = y % box_height;
    const auto left = x - in_x, bottom = y - in_y;
    return found.subgroup_size == lanes && found.lane == ((in_x & 1U) | in_y << 1U | (in_x & 2U) << 3U) &&
           found.of_lane_0 == packed(left, bottom) &&
           found.of_opposite == packed(left + box_width - 1 - in_x, bottom + box_height - 1 - in_y);
}

// Draws one texture of that size with a single quad: some drivers split large ones into parts.
bool drawn_as_hoped(Device& device, const Program& program, int width, int height) {
    const Texture texture(device, Format::Rgba32ui, width, height);
    const Framebuffer target(device, texture);
    const QuadList whole(device, {rectangle(0, 0, width, height)});
    draw(device, {.name = "lanes", .program = &program, .target = &target, .quads = &whole});
    const auto across = static_cast<std::uint32_t>(width), up = static_cast<std::uint32_t>(height);
    PixelBuffer memory(device, PixelBuffer::Direction::ReadBack, std::size_t{across} * up * sizeof(Fragment));
    read_rows(device, texture, 0, height, memory, 0);
    Fence(device).wait();
    memory.arrive();
    const auto* from = memory.receive(0, memory.size()).data();
    for (std::uint32_t i = 0; i < across * up; ++i) {
        Fragment found{};
        std::memcpy(&found, from + std::size_t{i} * sizeof found, sizeof found);
        if (!is_as_hoped(found, i % across, i / across)) return false;
    }
    return true;
}

}  // namespace

bool has_lanes_in_boxes(Device& device) {
    if (device.lanes_in_boxes) return *device.lanes_in_boxes;
    if (!device.features.subgroups) return device.lanes_in_boxes.emplace(false);
    const Unobserved unobserved(device);
    Program program;
    try {
        program = Program(device, "gl/lanes.frag", shaders::gl_lanes_frag,
                          "#extension GL_KHR_shader_subgroup_basic : require\n"
                          "#extension GL_KHR_shader_subgroup_shuffle : require\n");
    } catch (const GlError&) {
        return device.lanes_in_boxes.emplace(false);
    }
    try {
        bool as_hoped = true;
        for (const auto& [width, height] : {std::pair{4, 8}, {12, 40}, {64, 64}, {512, 1096}})
            as_hoped = as_hoped && drawn_as_hoped(device, program, width, height);
        return device.lanes_in_boxes.emplace(as_hoped);
    } catch (const GlError&) {
        return false;  // asked again next time: memory may have been short
    }
}

}  // namespace quadmill::detail::gl
