// How the driver puts fragments into subgroups, which OpenGL leaves open: found by a drawing.
#pragma once

namespace quadmill::detail::gl {

class Device;

// Whether every box of 4 x 8 fragments, from the origin on, that one quad covers is a subgroup of 32 lanes, and the lane at
// (x, y) of it is number (x & 1) | y << 1 | (x & 2) << 3. Draws the first time that it is asked of a device. Pre: a session
// is open.
[[nodiscard]] bool has_lanes_in_boxes(Device& device);

}  // namespace quadmill::detail::gl
