// The rotating spiral in a window.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/orbit.hpp"

namespace demo {

inline constexpr std::size_t usual_sprites = 1000000;

// Without a number of sprites, the default, or a tenth of it if the CPU renders.
[[nodiscard]] std::unique_ptr<Scene> make_particles_scene(quadmill::Context::GetProcAddress get_proc_address,
                                                          std::optional<std::size_t> sprites, std::uint32_t seed);

}  // namespace demo
