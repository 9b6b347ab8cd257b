// A program that uses OpenGL like raylib, which Debian 12 does not have: it requests version 3.3 of the core profile
// from GLFW (on macOS forward compatible), and draws a batch of vertices from one array object with buffers for
// positions, colours and elements, with blending and culling on. Drivers may return 4.5 then, as Mesa's do.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <array>
#include <string_view>

#include "scene.hpp"

namespace {

GLuint shader(GLenum stage, const char* source) {
    const GLuint id = glCreateShader(stage);
    glShaderSource(id, 1, &source, nullptr);
    glCompileShader(id);
    return id;
}

class Batch {
  public:
    Batch() : program_(glCreateProgram()) {
        glAttachShader(program_, shader(GL_VERTEX_SHADER, R"(#version 330
            layout(location = 0) in vec3 position;
            layout(location = 3) in vec4 color;
            out vec4 tint;
            void main() { tint = color; gl_Position = vec4(position, 1); })"));
        glAttachShader(program_, shader(GL_FRAGMENT_SHADER, R"(#version 330
            in vec4 tint;
            out vec4 result;
            void main() { result = tint; })"));
        glLinkProgram(program_);
        glGenVertexArrays(1, &array_);
        glBindVertexArray(array_);
        glGenBuffers(static_cast<GLsizei>(buffers_.size()), buffers_.data());
        const auto attribute = [&](std::size_t buffer, GLuint location, GLint size, GLenum type, GLsizeiptr bytes) {
            glBindBuffer(GL_ARRAY_BUFFER, buffers_.at(buffer));
            glBufferData(GL_ARRAY_BUFFER, bytes, nullptr, GL_DYNAMIC_DRAW);
            glEnableVertexAttribArray(location);
            glVertexAttribPointer(location, size, type, type == GL_UNSIGNED_BYTE, 0, nullptr);
        };
        attribute(0, 0, 3, GL_FLOAT, sizeof positions);
        attribute(1, 3, 4, GL_UNSIGNED_BYTE, sizeof colors);
        glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers_[2]);
        glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof elements, elements.data(), GL_STATIC_DRAW);
        glBindVertexArray(0);
        glDisable(GL_DEPTH_TEST);
        glEnable(GL_BLEND);
        glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
        glEnable(GL_CULL_FACE);
    }
    // The equivalent of rlDrawRenderBatchActive().
    void draw() const {
        glClearColor(0.1F, 0.2F, 0.3F, 1);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        glBindVertexArray(array_);
        glBindBuffer(GL_ARRAY_BUFFER, buffers_[0]);
        glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof positions, positions.data());
        glBindBuffer(GL_ARRAY_BUFFER, buffers_[1]);
        glBufferSubData(GL_ARRAY_BUFFER, 0, sizeof colors, colors.data());
        glUseProgram(program_);
        glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(elements.size()), GL_UNSIGNED_INT, nullptr);
        glBindVertexArray(0);
        glUseProgram(0);
    }

  private:
    static constexpr std::array<float, 12> positions{-0.8F, -0.6F, 0, 0.7F, -0.8F, 0, 0.9F, 0.7F, 0, -0.5F, 0.8F, 0};
    static constexpr std::array<std::uint8_t, 16> colors{255, 0, 0, 99, 0, 255, 0, 200, 0, 0, 255, 255, 99, 99, 9, 150};
    static constexpr std::array<GLuint, 6> elements{0, 1, 2, 0, 2, 3};
    GLuint program_, array_ = 0;
    std::array<GLuint, 3> buffers_{};
};

}  // namespace

int main() {
    if (!glfwInit()) return 2;
    int failed = 0;
    for (const int forward_compatible : {GLFW_FALSE, GLFW_TRUE}) {
        glfwDefaultWindowHints();
        glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
        glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
        glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
        glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
        glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, forward_compatible);
        GLFWwindow* window = glfwCreateWindow(hosts::side, hosts::side, "host", nullptr, nullptr);
        if (!window) return 2;
        glfwMakeContextCurrent(window);
        const char* host = forward_compatible ? "raylib's way, forward compatible" : "raylib's way";
        const Batch batch;
        const auto draw = [&] { batch.draw(); };
        failed += hosts::check(host, quadmill::Context::adopt(), draw);
        failed += hosts::check("raylib's way, its loader", quadmill::Context::adopt(glfwGetProcAddress), draw);
        glfwDestroyWindow(window);
    }
    glfwTerminate();
    return failed;
}
