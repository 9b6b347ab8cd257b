// A program's own renderer: a spiral of transparent sprites, which are vertices in a buffer. The library writes the
// order from back to front to an element buffer, and the sprites in a shell of light to another one, with their number
// for an indirect draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/orbit.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"

namespace demo {

class Renderer final : public OrbitRenderer {
  public:
    // `context` is current and stays current. OpenGL is loaded by the program's own loader, with `load`.
    Renderer(const quadmill::Context& context, const Load& load, std::size_t sprites, show::Size size,
             std::uint32_t seed);
    Renderer(const Renderer&) = delete;
    Renderer& operator=(const Renderer&) = delete;
    ~Renderer() override;

    bool prepare() override;
    void draw(double turn, Sorting sorting) override;
    [[nodiscard]] Image& image() override { return image_; }
    [[nodiscard]] std::string words() override;
    // Sprites in a range of distances from the camera shine, and are counted.
    void set_shell(bool on) { shell_ = on; }
    [[nodiscard]] bool shell() const { return shell_; }
    [[nodiscard]] std::size_t sprites() const { return sprites_; }
    // Whether the order of the last sorted frame is from back to front and has every sprite, and the shining sprites
    // are those in the shell. For tests: reads back.
    [[nodiscard]] bool order_holds() const;

  private:
    void make_programs();
    void make_sprites(std::uint32_t seed);
    void set_camera(double turn) const;
    void measure_distances();
    void light(const quadmill::Predicate& within);

    std::size_t sprites_;
    int side_;  // of the texture of distances
    quadmill::Sorter sorter_;
    quadmill::QueryProcessor processor_;
    quadmill::Table table_;  // their distances
    std::optional<quadmill::PendingCount> counting_;
    std::uint64_t shining_ = 0;
    Image image_;
    Clock clock_;
    bool shell_ = false;
    double near_ = 0, far_ = 0;
    unsigned positions_ = 0, distances_ = 0, order_ = 0, chosen_ = 0, command_ = 0, distance_texture_ = 0,
             vertices_ = 0;
    unsigned distance_program_ = 0, sprite_program_ = 0;
};

}  // namespace demo
