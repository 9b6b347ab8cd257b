#include "brush.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

namespace demo {

using quadmill::column;
using quadmill::QueryEngine;

namespace {

double ms_of(const auto& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Half of the points in 24 clusters, the others anywhere.
std::array<std::vector<float>, 2> invented(std::size_t points, std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto part = [&] { return static_cast<float>(random()) * 0x1p-32F; };  // the same with every library
    struct Cluster {
        float x, y, size;
    };
    std::vector<Cluster> clusters(24);
    for (auto& one : clusters) one = {part(), part(), 0.02F + 0.1F * part()};
    std::array<std::vector<float>, 2> at{std::vector<float>(points), std::vector<float>(points)};
    const auto within = [](float value) { return std::clamp(value, 0.0F, 0x1.fffffep-1F); };
    for (std::size_t i = 0; i < points; ++i) {
        const auto& near = clusters[random() % clusters.size()];
        const bool free = random() % 2 == 0;
        const auto about = [&](float middle) {
            return free ? part() : middle + near.size * (part() + part() + part() - 1.5F);
        };
        at[0][i] = within(about(near.x));
        at[1][i] = within(about(near.y));
    }
    return at;
}

std::string times(const char* name, std::vector<double> ms) {
    std::ranges::sort(ms);
    std::array<char, 100> text{};
    std::snprintf(text.data(), text.size(), "%s: median %.3f ms, max %.3f ms", name, ms[ms.size() / 2], ms.back());
    return text.data();
}

}  // namespace

Brush::Brush(const quadmill::Context& context, std::size_t points, std::uint32_t seed)
    : indexed_(context, {.engine = QueryEngine::Bitmap}),
      plain_(context, {.engine = QueryEngine::Bitmap}),
      points_(points) {
    auto at = invented(points, seed);
    x_ = at[0];
    y_ = at[1];
    table_.add("x", std::move(at[0])).add("y", std::move(at[1]));
    made_ms_ = ms_of([&] { indexed_.index(table_, {"x", "y"}); });
    set_rectangle(rectangle_);
    ms_.clear();  // the first count compiles its program
}

void Brush::set_rectangle(const Rectangle& rectangle, Compare compare) {
    rectangle_ = rectangle;
    const auto inside = column("x").between(double{rectangle.x0}, double{rectangle.x1}) &&
                        column("y").between(double{rectangle.y0}, double{rectangle.y1});
    ms_.push_back(ms_of([&] { count_ = indexed_.count(table_, inside); }));
    if (compare == Compare::No) return;
    std::uint64_t right = 0;
    plain_ms_.push_back(ms_of([&] { right = plain_.count(table_, inside); }));
    if (right != count_)
        throw std::logic_error("the index counts " + std::to_string(count_) + " points of " + std::to_string(right));
}

show::Box Brush::plane(show::Size size) {
    return show::Box{0, 0, size.width, size.height}.inset(40);
}

std::array<float, 2> Brush::at(show::Size size, int x, int y) const {
    const auto box = plane(size);
    const auto part = [](int pixel, int pixels) {
        return std::clamp(static_cast<float>(pixel) / static_cast<float>(pixels), 0.0F, 1.0F);
    };
    return {part(x - box.x, box.width), 1 - part(y - box.y, box.height)};
}

// Brighter where more points are, by the logarithm of their number.
void Brush::draw_points(show::Size size) {
    const auto box = plane(size);
    const auto wide = static_cast<std::size_t>(box.width), high = static_cast<std::size_t>(box.height);
    std::vector<std::uint32_t> counts(wide * high);
    const auto pixel = [](float value, std::size_t pixels) {
        return static_cast<std::size_t>(value * static_cast<float>(pixels));
    };
    for (std::size_t i = 0; i < points_; ++i)
        ++counts[(high - 1 - std::min(pixel(y_[i], high), high - 1)) * wide + std::min(pixel(x_[i], wide), wide - 1)];
    const auto most = std::log1p(static_cast<float>(*std::ranges::max_element(counts)));
    drawn_ = std::make_unique<show::Canvas>(size.width, size.height);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        drawn_->set(box.x + static_cast<int>(i % wide), box.y + static_cast<int>(i / wide),
                    show::heat(std::log1p(static_cast<float>(counts[i])) / most));
    }
}

show::Canvas Brush::draw(show::Size size) {
    if (!drawn_ || drawn_->width() != size.width || drawn_->height() != size.height) draw_points(size);
    std::optional<show::Canvas> canvas;
    draw_ms_.push_back(ms_of([&] { canvas = with_rectangle(size); }));
    return *std::move(canvas);
}

show::Canvas Brush::with_rectangle(show::Size size) const {
    auto canvas = *drawn_;
    const auto box = plane(size);
    const auto pixel = [](float part, int pixels) { return static_cast<int>(part * static_cast<float>(pixels)); };
    const int x0 = box.x + pixel(rectangle_.x0, box.width), x1 = box.x + pixel(rectangle_.x1, box.width);
    const int y0 = box.bottom() - pixel(rectangle_.y1, box.height),
              y1 = box.bottom() - pixel(rectangle_.y0, box.height);
    canvas.fill({x0, y0, x1 - x0, y1 - y0}, show::white, 0.3F);
    canvas.frame({x0, y0, x1 - x0, y1 - y0}, show::alarm, 2);
    canvas.label({box.x, 8, box.width, 24}, show::with_commas(count_) + " of " + show::with_commas(points_) + " points",
                 show::Font(20, show::Weight::Bold));
    return canvas;
}

std::string Brush::title() const {
    return show::with_commas(count_) + " of " + show::with_commas(points_) + " points";
}

std::string Brush::summary() const {
    std::array<char, 100> made{};
    std::snprintf(made.data(), made.size(), "index made in %.0f ms (with its programs and uploads)", made_ms_);
    return show::with_commas(points_) + " points, " + made.data() + "; " + std::to_string(ms_.size()) + " counts. " +
           times("With the index", ms_) +
           (plain_ms_.empty() ? "" : ". " + times("Without it", plain_ms_) + ". " + times("A picture", draw_ms_));
}

namespace {

class BrushScene final : public Scene {
  public:
    explicit BrushScene(Brush brush) : brush_(std::move(brush)) {}

    [[nodiscard]] std::string title() const override { return brush_.title(); }
    [[nodiscard]] bool moving() const override { return corner_.has_value(); }
    void press(Key /*key*/) override {}
    void bar(Bar& bar) override { bar.text("Drag a rectangle. " + brush_.summary()); }

    void mouse(show::Size picture, const Mouse& mouse) override {
        const auto at = brush_.at(picture, mouse.x, mouse.y);
        if (mouse.button == Mouse::Button::Pressed) corner_ = at;
        if (!corner_) return;
        const auto& from = *corner_;
        brush_.set_rectangle(
            {std::min(from[0], at[0]), std::min(from[1], at[1]), std::max(from[0], at[0]), std::max(from[1], at[1])});
        if (mouse.button == Mouse::Button::Up) corner_.reset();
    }

    [[nodiscard]] std::optional<Picture> draw(show::Size size) override { return brush_.draw(size); }

  private:
    Brush brush_;
    std::optional<std::array<float, 2>> corner_;  // where the drag began
};

}  // namespace

std::unique_ptr<Scene> make_brush_scene(Brush brush) {
    return std::make_unique<BrushScene>(std::move(brush));
}

}  // namespace demo
