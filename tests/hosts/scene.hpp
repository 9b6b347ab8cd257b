// What every host of these tests does between two frames: the library adopts its context, and sorts in its buffers.
#pragma once

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <quadmill/context.hpp>
#include <quadmill/sort.hpp>
#include <vector>

namespace hosts {

inline constexpr int side = 64;

// By the oldest of OpenGL, with state that would spoil a guest's work, where the profile has it.
inline void draw_old_scene() {
    glClearColor(0.1F, 0.2F, 0.3F, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_ALPHA_TEST);
    glAlphaFunc(GL_GREATER, 0.5F);
    glPixelTransferf(GL_RED_SCALE, 0.5F);
    glPixelTransferf(GL_GREEN_BIAS, 0.25F);
    glMatrixMode(GL_MODELVIEW);
    glLoadIdentity();
    glRotatef(20, 0, 0, 1);
    glBegin(GL_TRIANGLES);
    glColor4f(1, 0, 0, 0.4F);  // fails the alpha test towards this corner
    glVertex2f(-0.8F, -0.8F);
    glColor4f(0, 1, 0, 0.6F);
    glVertex2f(0.8F, -0.6F);
    glColor4f(0, 0, 1, 1);
    glVertex2f(0, 0.9F);
    glEnd();
}

// In the core profile.
inline void draw_new_scene() {
    glClearColor(0.5F, 0.25F, 0.125F, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glEnable(GL_SCISSOR_TEST);
    glScissor(8, 8, 40, 20);
    glClearColor(0, 1, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    glDisable(GL_SCISSOR_TEST);
}

inline std::vector<std::uint8_t> pixels() {
    std::vector<std::uint8_t> all(static_cast<std::size_t>(4 * side * side));
    glReadPixels(0, 0, side, side, GL_RGBA, GL_UNSIGNED_BYTE, all.data());
    return all;
}

inline GLuint buffer_of(const void* content, std::size_t bytes) {
    GLuint id = 0;
    glGenBuffers(1, &id);
    glBindBuffer(GL_ARRAY_BUFFER, id);
    glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(bytes), content, GL_DYNAMIC_DRAW);
    return id;
}

// Draws a frame, lets `context` sort, and draws it again: the answer must be right, and both frames the same.
// Returns what the program exits with.
template <class Draw>
int check(const char* host, const quadmill::Context& context, const Draw& draw) {
    constexpr std::size_t n = 5000;
    std::vector<float> particles(4 * n);  // x, y, z, depth
    for (std::size_t i = 0; i < n; ++i) particles[4 * i + 3] = static_cast<float>(i * 2741 % n) / n;
    std::vector<std::uint32_t> order(n);
    draw();
    const auto before = pixels();
    const auto vertices = buffer_of(particles.data(), 4 * particles.size()), elements = buffer_of(order.data(), 4 * n);
    quadmill::Sorter sorter(context, {.engine = quadmill::Engine::Merge});
    sorter.argsort_buffer({.buffer = vertices, .offset = 12, .stride = 16}, n, elements, 0,
                          quadmill::Order::Descending);
    draw();
    const auto after = pixels();
    glBindBuffer(GL_ARRAY_BUFFER, elements);
    glGetBufferSubData(GL_ARRAY_BUFFER, 0, 4 * n, order.data());
    for (const auto buffer : {vertices, elements}) glDeleteBuffers(1, &buffer);
    const bool right =
        std::ranges::is_sorted(order, std::greater<>(), [&](std::uint32_t i) { return particles.at(4 * i + 3); });
    const bool same = before == after, clean = glGetError() == GL_NO_ERROR;
    const bool drawn = std::ranges::adjacent_find(before, std::not_equal_to<>()) != before.end();
    std::printf("%s, %s: order %s, pixels %s%s%s\n", host, context.info().version.c_str(), right ? "right" : "WRONG",
                same ? "the same" : "DIFFER", drawn ? "" : ", NOTHING DRAWN", clean ? "" : ", GL ERROR");
    return right && same && clean && drawn ? 0 : 1;
}

}  // namespace hosts
