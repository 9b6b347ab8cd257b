#include "show/scale.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "show/parts.hpp"

namespace quadmill::detail::show {

namespace {

constexpr double smallest = 1e-300, largest = 1e300;  // beyond these, powers of ten are 0 or infinite

double power_of_ten(double value) {
    return std::pow(10, std::floor(std::log10(value)));
}

}  // namespace

Scale::Scale(double low, double high, int top, int bottom, double logarithmic_from)
    : top_(top),
      bottom_(bottom),
      low_(low),
      high_(high),
      logarithmic_(low > 0 && high > logarithmic_from * std::max(low, smallest) && high <= largest) {
    if (logarithmic_) {
        set_logarithmic();
    } else {
        set_linear();
    }
}

// A tick per power of ten. If there are only a few of these, also ticks at 2 and 5 times as much.
void Scale::set_logarithmic() {
    constexpr double rounding = 1e-9;
    low_ = std::max(low_, smallest);
    const bool few = high_ <= 1000 * low_;
    for (double power = power_of_ten(low_);; power *= 10) {
        for (const double part : {1, 2, 5}) {
            if (part > 1 && !few) continue;
            const double tick = part * power;
            if (tick <= low_ * (1 + rounding)) ticks_.clear();
            ticks_.push_back(tick);
            if (tick < high_ * (1 - rounding)) continue;
            low_ = ticks_.front();
            high_ = tick;
            return;
        }
    }
}

void Scale::set_linear() {
    ticks_ = round_ticks(low_, high_);
    low_ = ticks_.front();
    high_ = ticks_.back();
}

double Scale::position(double value) const {
    if (logarithmic_ && value <= 0) return std::numeric_limits<double>::infinity();
    const double part = logarithmic_ ? (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_))
                                     : (value - low_) / (high_ - low_);
    return bottom_ - part * (bottom_ - top_);
}

float Scale::y(double value) const {
    return static_cast<float>(std::clamp<double>(position(value), top_, bottom_));
}

void Scale::draw(Canvas& canvas, const Box& box, const Font& font) const {
    int last = box.bottom() + font.line();
    for (const double tick : ticks_) {
        const int at = static_cast<int>(y(tick));
        canvas.fill({box.x, at, box.width, 1}, rule);
        if (last - at < font.line()) continue;  // no room for its text
        last = at;
        canvas.text(box.x - 8, at - font.line() / 2, fmt::format("{:.6g}", tick), font, faint, Canvas::Align::Right);
    }
}

}  // namespace quadmill::detail::show
