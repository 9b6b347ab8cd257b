// How the driver assigns fragments to subgroups. OpenGL leaves this open, so a test drawing finds it out.
#pragma once

namespace quadmill::detail::gl {

class Device;

// Whether, in what one quad covers, every box of 4 x 8 fragments (counted from the origin) is a subgroup of 32 lanes,
// and fragment (x, y) of a box is lane (x & 1) | y << 1 | (x & 2) << 3. Draws when a device is first asked. Pre: a
// session is open.
[[nodiscard]] bool has_lanes_in_boxes(Device& device);

}  // namespace quadmill::detail::gl
