// What every program of these tests does between two frames: the library adopts its context, and sorts in its buffers.
#pragma once

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <quadmill/context.hpp>
#include <quadmill/error.hpp>
#include <quadmill/sort.hpp>
#include <string>
#include <vector>

namespace hosts {

inline constexpr int side = 64;

// With the oldest functions of OpenGL and, if the profile has it, with state that would spoil the library's work.
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

// For the core profile.
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
    glBindBuffer(GL_ARRAY_BUFFER, 0);  // toolkits that draw from their own memory rely on it
    return id;
}

// The driver's answers for all numbers that may name a state, except for clocks and free memory, which change by
// themselves, and for the device's name, with which Mesa 22.3 crashes. So no list of states can be incomplete. State
// with an index is tested in tests/gl.
inline std::map<GLenum, std::vector<double>> state(bool is_es) {
    struct Range {
        GLenum first, last;
    };
    constexpr std::array skipped{Range{0x8E28, 0x8E28},   // GL_TIMESTAMP
                                 Range{0x9047, 0x904B},   // GL_NVX_gpu_memory_info
                                 Range{0x87FB, 0x87FD},   // GL_ATI_meminfo
                                 Range{0x9597, 0x959A}};  // GL_EXT_memory_object
    constexpr std::size_t longest = 4096;                 // lists of formats are long
    std::map<GLenum, std::vector<double>> all;
    std::vector<double> values(longest);
    std::vector<float> floats(longest);
    const auto get = [&](GLenum name) {
        if (!is_es) return glGetDoublev(name, values.data());
        std::ranges::fill(floats, 0);
        glGetFloatv(name, floats.data());  // OpenGL ES has no doubles
        std::ranges::copy(floats, values.begin());
    };
    for (GLenum name = 0; name < 0x10000; ++name) {
        if (std::ranges::any_of(skipped, [&](auto range) { return range.first <= name && name <= range.last; }))
            continue;
        std::ranges::fill(values, 0);
        get(name);
        if (glGetError() == GL_NO_ERROR) all.emplace(name, values);
    }
    return all;
}

// Draws a frame, lets `context` sort, and draws it again. The answer must be right, and state and both frames the same.
// Returns the program's exit status.
template <class Draw>
int check(const char* host, const quadmill::Context& context, const Draw& draw) {
    constexpr std::size_t n = 5000;
    std::vector<float> particles(4 * n);  // x, y, z, depth
    for (std::size_t i = 0; i < n; ++i) particles[4 * i + 3] = static_cast<float>(i * 2741 % n) / n;
    std::vector<std::uint32_t> order(n);
    draw();
    const auto before = pixels();
    const auto vertices = buffer_of(particles.data(), 4 * particles.size()), elements = buffer_of(order.data(), 4 * n);
    const bool is_es = context.info().api == quadmill::OpenGl::Es3;
    const auto state_before = state(is_es);
    quadmill::Sorter sorter(context, {.engine = quadmill::Engine::Merge});
    sorter.argsort_buffer({.buffer = vertices, .offset = 12, .stride = 16}, n, elements, 0,
                          quadmill::Order::Descending);
    const bool kept = state_before == state(is_es);
    draw();
    const auto after = pixels();
    glBindBuffer(GL_ARRAY_BUFFER, elements);
    const void* const found = glMapBufferRange(GL_ARRAY_BUFFER, 0, 4 * n, GL_MAP_READ_BIT);
    if (found) std::copy_n(static_cast<const std::uint32_t*>(found), n, order.data());
    glUnmapBuffer(GL_ARRAY_BUFFER);
    glBindBuffer(GL_ARRAY_BUFFER, 0);
    for (const auto buffer : {vertices, elements}) glDeleteBuffers(1, &buffer);
    const bool right =
        std::ranges::is_sorted(order, std::greater<>(), [&](std::uint32_t i) { return particles.at(4 * i + 3); });
    const bool same = before == after, clean = glGetError() == GL_NO_ERROR;
    const bool drawn = std::ranges::adjacent_find(before, std::not_equal_to<>()) != before.end();
    std::printf("%s, %s: order %s, pixels %s, %zu states %s%s%s\n", host, context.info().version.c_str(),
                right ? "right" : "WRONG", same ? "the same" : "DIFFER", state_before.size(), kept ? "kept" : "CHANGED",
                drawn ? "" : ", NOTHING DRAWN", clean ? "" : ", GL ERROR");
    return right && same && kept && clean && drawn ? 0 : 1;
}

}  // namespace hosts
