// Puts a context into a state in which no sane application leaves it: every piece of state of its version has some
// random, odd, legal value, and real objects are bound everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "gl/features.hpp"
#include "gl/host.hpp"

namespace quadmill::test {

// Numbers that are the same on every machine, which those of <random>'s distributions are not.
class Random {
  public:
    explicit Random(std::uint64_t seed) : engine_(seed) {}
    std::uint64_t bits() { return engine_(); }
    // A number from `from` to `to`, both included.
    int number(int from, int to) {
        const auto count = static_cast<std::uint64_t>(std::int64_t{to} - from + 1);  // may not fit into an int
        return static_cast<int>(from + static_cast<std::int64_t>(engine_() % count));
    }
    GLuint index(GLuint count) { return static_cast<GLuint>(engine_() % count); }
    bool flag() { return (engine_() >> 20U & 1U) != 0; }
    GLboolean boolean() { return flag() ? GL_TRUE : GL_FALSE; }
    float real(float from, float to) {
        return from + (to - from) * static_cast<float>(engine_() >> 40U) / static_cast<float>(1U << 24U);
    }
    template <class T>
    T one_of(std::initializer_list<T> values) {
        return values.begin()[index(static_cast<GLuint>(values.size()))];
    }

  private:
    std::mt19937_64 engine_;
};

// Poisons on construction. clear() (or the destructor) ends what is active, deletes the objects and makes pixel
// transfers tight again, so that a test can read textures.
class Poison {
  public:
    Poison(const Api& gl, std::uint64_t seed);
    Poison(const Poison&) = delete;
    Poison& operator=(const Poison&) = delete;
    ~Poison() { clear(); }
    void clear();

  private:
    GLuint made(GLuint id, void (*destroy)(const Api&, GLuint));
    GLuint buffer();
    GLuint texture(GLenum target);
    GLuint color_texture();
    GLuint framebuffer();
    GLuint query(GLenum target);
    [[nodiscard]] GLint border_or_edge() const { return version_.has(13, 32) ? GL_CLAMP_TO_BORDER : GL_CLAMP_TO_EDGE; }

    void capabilities();
    void vertices();
    void vertex_array();
    void old_vertex_array();
    void viewports();
    void blending();
    void desktop_rasterization();
    void rasterization();
    void pixels();
    void transfers();
    void textures();
    void images();
    void buffers();
    void framebuffers();
    void programs();
    void debug();
    void extensions();
    void choose_subroutines();
    void old_state();
    void raster_position();
    void old_matrices();
    void old_transfers();
    void begin_queries();
    void begin_feedback();

    const Api& gl_;
    detail::gl::Features version_;
    Random random_;
    std::vector<std::function<void()>> undo_;  // run from the last to the first
    bool feedback_program_ = false;            // whether the current program has a varying for transform feedback
};

}  // namespace quadmill::test
