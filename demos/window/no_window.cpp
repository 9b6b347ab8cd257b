#include "window/window.hpp"

namespace demo {

void run_window(const WindowOptions& /*options*/, const MakeScene& /*make*/) {
    throw NoWindow(
        "built without GLFW and Dear ImGui: apt-get install libglfw3-dev libimgui-dev, then configure again");
}

}  // namespace demo
