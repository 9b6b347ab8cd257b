// A headless context of the library on a thread where a GLX context is current: both work, and GLX's is current after
// each call.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

int main() {
    if (!glfwInit()) return 2;
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    GLFWwindow* window = glfwCreateWindow(64, 64, "host", nullptr, nullptr);
    if (!window) return 2;
    glfwMakeContextCurrent(window);
    using GetString = const unsigned char* (*)(unsigned);
    const auto get_string = reinterpret_cast<GetString>(glfwGetProcAddress("glGetString"));
    bool good = get_string(0x1F02) != nullptr;
    {
        quadmill::Sorter sorter(quadmill::Context::headless(), {.engine = quadmill::Engine::Merge});
        auto own = quadmill::Context::adopt();
        quadmill::Sorter in_window(own, {.engine = quadmill::Engine::Merge});
        for (int i = 0; i < 3; ++i) {
            for (auto* each : {&sorter, &in_window}) {
                std::vector<float> keys{3, 1, 2};
                each->sort(keys);
                good = std::is_sorted(keys.begin(), keys.end()) && get_string(0x1F02) && good;
            }
        }
        const quadmill::Session session(own);  // a headless call within it
        std::vector<float> keys{3, 1, 2};
        sorter.sort(keys);
        in_window.sort(keys);
        good = std::is_sorted(keys.begin(), keys.end()) && good;
    }
    good = get_string(0x1F02) && good;
    glfwDestroyWindow(window);
    glfwTerminate();
    if (!good) std::puts("GLX's context was not current, or keys are not in order");
    return good ? 0 : 1;
}
