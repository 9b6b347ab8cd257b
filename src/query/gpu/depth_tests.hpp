// Common parts of the depth engine's stencil and depth tests.
#pragma once

#include <cstdint>
#include <string>

#include "gl/pass.hpp"
#include "query/gpu/depth_codes.hpp"

namespace quadmill::detail::query {

inline constexpr int first_level = 1;
// Passes if the stored depth is at least the drawn code.
inline constexpr gl::Compare at_least = gl::Compare::LessOrEqual;

[[nodiscard]] inline gl::StencilTest at_level(int level, gl::StencilOp on_pass = gl::StencilOp::Keep) {
    return {.pass_if = gl::Compare::Equal,
            .reference = static_cast<std::uint8_t>(level),
            .on_pass = on_pass,
            .compared = level_bits,
            .written = level_bits};
}

// GLSL of depth_of(), which encodes as in depth_codes.hpp.
[[nodiscard]] const std::string& depth_code();
// depth_of() followed by at_depth.vert.
[[nodiscard]] const char* at_depth_vertex();

}  // namespace quadmill::detail::query
