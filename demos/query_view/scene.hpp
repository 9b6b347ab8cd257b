// The explorer in a window.
#pragma once

#include "explorer.hpp"
#include "window/window.hpp"

namespace demo {

[[nodiscard]] std::unique_ptr<Scene> make_query_scene(Explorer explorer);

}  // namespace demo
