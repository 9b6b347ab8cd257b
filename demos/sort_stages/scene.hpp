// The player in a window.
#pragma once

#include <vector>

#include "player.hpp"
#include "window/window.hpp"

namespace demo {

// One request, or two for a race. Pre: the context is current.
[[nodiscard]] std::unique_ptr<Scene> make_stages_scene(quadmill::Context::GetProcAddress get_proc_address,
                                                       std::vector<show::Request> sorts, show::Times times);

}  // namespace demo
