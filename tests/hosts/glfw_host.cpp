// A GLFW program, with the windows that it opens by default, which have the compatibility profile, and with the core
// profile.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "scene.hpp"

int main() {
    if (!glfwInit()) return 2;
    int failed = 0;
    for (const bool core : {false, true}) {
        glfwDefaultWindowHints();
        glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
        if (core) {
            glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
            glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
            glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
        }
        GLFWwindow* window = glfwCreateWindow(hosts::side, hosts::side, "host", nullptr, nullptr);
        if (!window) return 2;
        glfwMakeContextCurrent(window);
        failed += core ? hosts::check("GLFW, core", quadmill::Context::adopt(), hosts::draw_new_scene)
                       : hosts::check("GLFW", quadmill::Context::adopt(), hosts::draw_old_scene);
        failed += hosts::check("GLFW, its loader", quadmill::Context::adopt(glfwGetProcAddress),
                               core ? hosts::draw_new_scene : hosts::draw_old_scene);
        glfwDestroyWindow(window);
    }
    glfwTerminate();
    return failed;
}
