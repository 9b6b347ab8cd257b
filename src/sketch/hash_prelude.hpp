// The hash functions of a sketch for shaders.
#pragma once

#include <string>

#include "sketch/shape.hpp"

namespace quadmill::detail::sketch {

// shaders/sketch/hash.glsl behind its constants.
[[nodiscard]] std::string hash_prelude(const Shape& shape);

}  // namespace quadmill::detail::sketch
