// The spiral in a window, turning.
#pragma once

#include <cstddef>
#include <cstdint>

#include "window/window.hpp"

namespace demo {

[[nodiscard]] std::unique_ptr<Scene> make_particles_scene(quadmill::Context::GetProcAddress get_proc_address,
                                                          std::size_t sprites, std::uint32_t seed);

}  // namespace demo
