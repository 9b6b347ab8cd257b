// A whole program that sorts a texture of its own, as README shows it. Exit status 1: it is not sorted.
#define GLFW_INCLUDE_GLEXT
#define GL_GLEXT_PROTOTYPES
#include <GLFW/glfw3.h>

#include <algorithm>
#include <cmath>
#include <quadmill/context.hpp>
#include <quadmill/sort.hpp>
#include <vector>

int main() {
    glfwInit();
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwMakeContextCurrent(glfwCreateWindow(640, 480, "sorted", nullptr, nullptr));

    std::vector<float> texels(256 * 256);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = std::sin(static_cast<float>(i));
    GLuint texture = 0;
    glGenTextures(1, &texture);
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, 256, 256, 0, GL_RED, GL_FLOAT, texels.data());

    quadmill::Sorter sorter(quadmill::Context::adopt());  // in the context that is current
    const quadmill::TextureRegion all{texture};
    sorter.sort_texture(all, all);                        // in place; nothing leaves the GPU

    glGetTexImage(GL_TEXTURE_2D, 0, GL_RED, GL_FLOAT, texels.data());
    return std::ranges::is_sorted(texels) ? 0 : 1;
}
