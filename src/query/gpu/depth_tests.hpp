// Common parts of the depth engine: tests of its stencil and depths.
#pragma once

#include <cstdint>
#include <string>

#include "gl/pass.hpp"
#include "query/gpu/depth_codes.hpp"

namespace quadmill::detail::query {

inline constexpr int first_level = 1;
// The stored depth must be at least the drawn code.
inline constexpr gl::Compare at_least = gl::Compare::LessOrEqual;

[[nodiscard]] inline gl::StencilTest at_level(int level, gl::StencilOp on_pass = gl::StencilOp::Keep) {
    return {.pass_if = gl::Compare::Equal,
            .reference = static_cast<std::uint8_t>(level),
            .on_pass = on_pass,
            .compared = level_bits,
            .written = level_bits};
}

// depth_of() for shaders, as in depth_codes.hpp.
[[nodiscard]] const std::string& depth_code();
// at_depth.vert after it.
[[nodiscard]] const char* at_depth_vertex();

}  // namespace quadmill::detail::query
