// A vertical axis of values.
#pragma once

#include <vector>

#include "show/canvas.hpp"

namespace quadmill::detail::show {

class Scale {
  public:
    // Ends are rounded outwards to whole ticks, within +-1e300. The scale is logarithmic if both ends are positive and
    // their ratio is larger than `logarithmic_from`. Pre: finite.
    Scale(double low, double high, int top, int bottom, double logarithmic_from = 1000);

    // In pixels from the top. Values beyond the axis give its nearer end.
    [[nodiscard]] float y(double value) const;
    // Like y() on a longer axis; may be infinite.
    [[nodiscard]] double position(double value) const;
    // Draws lines across the box, and their values on its left.
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
