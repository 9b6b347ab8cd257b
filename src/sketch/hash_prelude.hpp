// A sketch's hash functions for shaders.
#pragma once

#include <string>

#include "sketch/shape.hpp"

namespace quadmill::detail::sketch {

// shaders/sketch/hash.glsl, preceded by its constants.
[[nodiscard]] std::string hash_prelude(const Shape& shape);

}  // namespace quadmill::detail::sketch
