// An algorithm is a sequence of passes. A Pass is a plain value. Only draw() draws.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <glm/vec2.hpp>
#include <glm/vec4.hpp>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gl/objects.hpp"
#include "gl/state_guard.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

class Dialect;
using Quad = PassQuad;

[[nodiscard]] Quad::Corners corners(int x0, int y0, int x1, int y1);
// Covers texels [x0, x1) x [y0, y1), and gives each fragment its own coordinates to read from.
[[nodiscard]] Quad rectangle(int x0, int y0, int x1, int y1);

// A list of quads on the GPU; passes draw ranges of it.
class QuadList {
  public:
    QuadList() = default;
    QuadList(Device& device, std::vector<Quad> quads);
    [[nodiscard]] std::uint32_t vertex_array() const noexcept { return vertex_array_.id(); }
    [[nodiscard]] std::uint32_t buffer() const noexcept { return buffer_.id(); }
    [[nodiscard]] std::span<const Quad> quads() const noexcept { return quads_; }

  private:
    std::vector<Quad> quads_;
    Buffer buffer_;
    Handle<VertexArrayTraits> vertex_array_;
};

// Points, drawn instead of quads. They are vertices without attributes, each one pixel large. The program's own vertex
// shader positions point i by gl_VertexID.
class Points {
  public:
    Points() = default;
    explicit Points(Device& device);
    [[nodiscard]] std::uint32_t vertex_array() const noexcept { return vertex_array_.id(); }

  private:
    Handle<VertexArrayTraits> vertex_array_;
};

enum class Blend { None, Min, Max, Add };
enum class ColorWrite { On, Off };

// Compares the incoming value (a fragment's depth, or the reference of a stencil test) with the stored one.
enum class Compare { Never, Less, Equal, LessOrEqual, Greater, NotEqual, GreaterOrEqual, Always };
enum class DepthWrite { Off, On };

struct DepthTest {
    Compare pass_if = Compare::Less;
    DepthWrite write = DepthWrite::Off;
    bool operator==(const DepthTest&) const = default;
};

enum class StencilOp { Keep, Zero, Replace, Increment, Decrement, Invert };

// Front and back faces have the same test.
struct StencilTest {
    Compare pass_if = Compare::Always;
    std::uint8_t reference = 0;
    StencilOp on_fail = StencilOp::Keep, on_pass = StencilOp::Keep;
    StencilOp on_depth_fail = StencilOp::Keep;     // stencil test passes, depth test fails
    std::uint8_t compared = 0xff, written = 0xff;  // bit masks
    bool operator==(const StencilTest&) const = default;
};

// A value for a program's uniform of that name.
struct Uniform {
    std::string name;
    std::variant<int, unsigned, float, glm::ivec2, glm::ivec4, glm::uvec2, glm::uvec4, glm::vec2, glm::vec4> value;
};
class Uniforms {
  public:
    Uniforms() = default;
    Uniforms(std::initializer_list<Uniform> all) : all_(all) {}
    Uniforms& set(std::string name, decltype(Uniform::value) value) {
        all_.push_back({std::move(name), value});
        return *this;
    }
    Uniforms& set(const Uniforms& more) {
        all_.insert(all_.end(), more.all_.begin(), more.all_.end());
        return *this;
    }
    [[nodiscard]] auto begin() const { return all_.begin(); }
    [[nodiscard]] auto end() const { return all_.end(); }
    // The value of that uniform. Pre: there is one.
    [[nodiscard]] const decltype(Uniform::value)& operator[](std::string_view name) const {
        return std::ranges::find(all_, name, &Uniform::name)->value;
    }

  private:
    std::vector<Uniform> all_;
};

// The address of note_type<T> stands for T: modules for the browser have no run-time type information. It is not const,
// because linkers may merge constants.
template <class T>
inline char note_type{};  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): never written

// Base of annotations that say what a pass is for. The module that makes the pass defines the type; the pass carries a
// pointer that is valid while it is drawn. An observer asks for the types that it knows.
class Note {
  public:
    Note() = default;
    template <class T>
    Note(const T* what) : type_(&note_type<T>), what_(what) {}  // NOLINT(google-explicit-constructor): `.note = &note`
    // Null if the note has another type.
    template <class T>
    [[nodiscard]] const T* as() const {
        return type_ == &note_type<T> ? static_cast<const T*>(what_) : nullptr;
    }

  private:
    const char* type_ = nullptr;
    const void* what_ = nullptr;
};

// How a fragment's colour is combined with that of the render target.
struct Blending {
    std::array<Blend, draw_buffers> of{};
    Blending() = default;
    Blending(Blend all) { of.fill(all); }  // NOLINT(google-explicit-constructor): most passes have one
    Blending(std::initializer_list<Blend> each) { std::ranges::copy(each, of.begin()); }
    [[nodiscard]] bool any() const { return *this != Blending(); }
    bool operator==(const Blending&) const = default;
};

struct Pass {
    static constexpr std::size_t all = ~std::size_t{0};
    std::string_view name;
    Note note{};
    int stage = -1, step = -1;
    const Program* program = nullptr;
    std::array<const Texture*, texture_units> inputs{};  // on units 0 ..
    Uniforms uniforms{};
    const Framebuffer* target = nullptr;
    Blending blend{};
    ColorWrite color = ColorWrite::On;
    std::optional<DepthTest> depth{};      // for a target with a depth texture; off by default
    std::optional<StencilTest> stencil{};  // for a target with a stencil texture; off by default
    // Range that the stored depth must be in; on devices with Features::depth_bounds.
    std::optional<std::array<float, 2>> depth_bounds{};
    const QuadList* quads = nullptr;
    const Points* points = nullptr;        // drawn if quads is null
    std::size_t first = 0;                 // index in the list, or gl_VertexID
    std::size_t count = all;               // default: the rest of the list; points need a count
    const Query* count_samples = nullptr;  // receives the number of fragments that were not discarded
    const Query* only_if = nullptr;        // the GPU skips the pass when this query counted nothing
};

// The pass's annotation of that type; null if it has none.
template <class T>
[[nodiscard]] const T* note_of(const PassEvent& event) {
    return event.pass ? event.pass->note.as<T>() : nullptr;
}

// The bindings within an open session, so that draw() need not repeat them.
struct Pipeline {
    std::uint32_t program = 0, vertex_array = 0, framebuffer = 0;
    std::array<std::uint32_t, texture_units> textures{};
    int width = -1, height = -1;
    Blending blend;
    ColorWrite color = ColorWrite::On;
    std::optional<DepthTest> depth;
    std::optional<StencilTest> stencil;
    std::optional<std::array<float, 2>> depth_bounds;
    std::uint32_t condition = 0;
    void end_condition(Dialect& dialect) noexcept;
    void forget_objects() noexcept {
        program = vertex_array = framebuffer = 0;
        textures = {};
    }
};

// Pre: a session is open on the device.
void draw(Device& device, const Pass& pass);

// Ends the condition that the last pass's `only_if` began, before the result of its query is read.
void end_condition(Device& device);

// Sets all stencil values. Pre: a session is open.
void clear_stencil(Device& device, const Framebuffer& target, std::uint8_t value);

// Copies all texels bit for bit between textures of the same size and bytes per texel. The observer sees a pass.
void copy(Device& device, std::string_view name, const Texture& from, const Texture& to, int stage = -1, int step = -1);
// Copies the first `texels` texels to a texture of the same width.
void copy_first(Device& device, std::string_view name, const Texture& from, const Texture& to, std::size_t texels);

// Splits the first texels of a texture into at most two rectangles, and calls work(first row, width, rows) for each.
template <class Work>
void for_first_texels(int width, std::size_t texels, const Work& work) {
    const auto across = static_cast<std::size_t>(width);
    const auto rows = static_cast<int>(texels / across), rest = static_cast<int>(texels % across);
    if (rows > 0) work(0, width, rows);
    if (rest > 0) work(rows, rest, 1);
}

// Runs `copy`, which copies from or to that texture, and shows it to the observer as a pass.
void observe_copy(Device& device, std::string_view name, const Texture& texture, std::size_t texels,
                  const std::function<void()>& copy);

}  // namespace quadmill::detail::gl
