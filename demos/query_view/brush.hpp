// A rectangle that is dragged over many points. An index counts the points inside, as fast as the mouse moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "quadmill/query.hpp"
#include "show/canvas.hpp"
#include "window/window.hpp"

namespace demo {

class Brush {
  public:
    // Invents that many points in [0, 1) x [0, 1), and indexes them.
    Brush(const quadmill::Context& context, std::size_t points, std::uint32_t seed);

    struct Rectangle {
        float x0, y0, x1, y1;
    };
    // Counts the points inside, with the index and, if wanted, also without one.
    enum class Compare { No, Yes };
    void set_rectangle(const Rectangle& rectangle, Compare compare = Compare::No);

    [[nodiscard]] show::Canvas draw(show::Size size);
    // The point of the plane at that pixel, or at the nearest of the picture.
    [[nodiscard]] std::array<float, 2> at(show::Size size, int x, int y) const;
    [[nodiscard]] std::string title() const;
    // Times of all counts and pictures so far.
    [[nodiscard]] std::string summary() const;

  private:
    [[nodiscard]] static show::Box plane(show::Size size);
    void draw_points(show::Size size);
    [[nodiscard]] show::Canvas with_rectangle(show::Size size) const;

    quadmill::Table table_;
    quadmill::QueryProcessor indexed_, plain_;
    std::size_t points_;
    double made_ms_ = 0;
    std::vector<float> x_, y_;
    std::unique_ptr<show::Canvas> drawn_;  // without a rectangle
    Rectangle rectangle_{0.3F, 0.3F, 0.6F, 0.6F};
    std::uint64_t count_ = 0;
    std::vector<double> ms_, plain_ms_, draw_ms_;
};

// The brush in a window.
[[nodiscard]] std::unique_ptr<Scene> make_brush_scene(Brush brush);

}  // namespace demo
