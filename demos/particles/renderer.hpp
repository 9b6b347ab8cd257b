// A program's own renderer: a spiral of transparent sprites, drawn from back to front by an order that the library
// leaves in a texture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"
#include "show/png.hpp"

namespace demo {

enum class Sorting { On, Off };

// Milliseconds, each from issue to the GPU being done.
struct FrameTimes {
    double distances = 0, sort = 0, draw = 0;
};

class Renderer {
  public:
    using Load = std::function<void (*(const char* name))()>;
    // `context` is current and stays so; OpenGL is loaded by a loader of its own, through `load`.
    Renderer(const quadmill::Context& context, const Load& load, std::size_t sprites, quadmill::detail::show::Size size,
             std::uint32_t seed);
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;
    ~Renderer();

    // `turn`: of the camera round the spiral, from 0 to 1.
    FrameTimes draw(double turn, Sorting sorting);
    // What the library costs a host beside its work: milliseconds to save and restore all state in an empty session.
    double empty_session();
    void resize(quadmill::detail::show::Size size);
    // What was drawn, on the GPU.
    [[nodiscard]] unsigned image() const { return image_; }
    [[nodiscard]] quadmill::detail::show::Size size() const { return size_; }
    [[nodiscard]] std::size_t sprites() const { return sprites_; }
    [[nodiscard]] quadmill::detail::show::Canvas picture() const;
    // Whether the order of the last sorted frame is from back to front, and has every sprite. For tests: reads back.
    [[nodiscard]] bool order_holds() const;

  private:
    void make_programs();
    void make_textures(std::uint32_t seed);
    void make_image();
    [[nodiscard]] unsigned make_texture(unsigned format, int width, int height) const;

    quadmill::Context context_;
    std::optional<quadmill::Sorter> sorter_;
    std::size_t sprites_;
    quadmill::detail::show::Size size_;
    int side_ = 1;  // of the textures with a texel a sprite
    unsigned places_ = 0, distances_ = 0, order_ = 0, image_ = 0;
    unsigned distance_target_ = 0, image_target_ = 0, no_vertices_ = 0;
    unsigned distance_program_ = 0, sprite_program_ = 0;
};

}  // namespace demo
