// An upright axis of values.
#pragma once

#include <vector>

#include "show/canvas.hpp"

namespace quadmill::detail::show {

class Scale {
  public:
    // Rounded outwards to whole ticks, within +-1e300. Logarithmic where both ends are positive and further apart than
    // that factor. Pre: finite.
    Scale(double low, double high, int top, int bottom, double logarithmic_from = 1000);

    // In pixels from above; for values off the axis, the nearer end of it.
    [[nodiscard]] float y(double value) const;
    // Where a longer axis would have it; maybe infinite.
    [[nodiscard]] double place(double value) const;
    // Lines across the box, and their values on its left.
    void draw(Canvas& canvas, const Box& box, const Font& font) const;

  private:
    void set_logarithmic();
    void set_linear();

    int top_, bottom_;
    double low_, high_;
    bool logarithmic_;
    std::vector<double> ticks_;
};

}  // namespace quadmill::detail::show
