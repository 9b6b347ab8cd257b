#include <cstdio>

#include "window.hpp"

namespace demo {

int run_window(const WindowOptions& /*options*/) {
    std::fputs(
        "sort_stages: built without GLFW and Dear ImGui, so there is no window (apt-get install libglfw3-dev "
        "libimgui-dev, then configure again); --record DIR draws the frames without one\n",
        stderr);
    return 1;
}

}  // namespace demo
