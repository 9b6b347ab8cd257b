// Whether blending is exact. OpenGL leaves much of the arithmetic of blending open, and some renderers change infinite
// or large values, so a test drawing finds it out.
#pragma once

namespace quadmill::detail::gl {

class Device;
enum class Format;

// Order: MIN and MAX keep the bits of normal numbers, infinities and +0, and order them. Sum: ADD is exact for integers
// up to 2^24, and, for R32f, adds each of many points.
enum class Blended { Order, Sum };

// Whether the driver blends texels of that format exactly. Draws three or four small passes and waits for them. Pre: a
// session is open; the device has Features::float_blending; the format is Rgba32f, Rgba16f or R32f; Sum needs 32 bits.
[[nodiscard]] bool blends_exactly(Device& device, Format format, Blended how);

}  // namespace quadmill::detail::gl
