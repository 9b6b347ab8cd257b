// The rotating spiral in a window.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/orbit.hpp"

namespace demo {

inline constexpr std::size_t usual_sprites = 1000000;

// If `sprites` is empty, the scene has usual_sprites, or a tenth of that if the CPU renders.
[[nodiscard]] std::unique_ptr<Scene> make_particles_scene(quadmill::Context::GetProcAddress get_proc_address,
                                                          std::optional<std::size_t> sprites, std::uint32_t seed);

}  // namespace demo
