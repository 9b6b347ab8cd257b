#include "scene.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "show/watch_words.hpp"
#include "window/choice.hpp"

namespace demo {

namespace {

using quadmill::QueryEngine;

Choice<std::string> columns_of(const quadmill::Table& table) {
    std::vector<std::pair<std::string, std::string>> columns;
    for (const auto& name : number_columns(table)) columns.emplace_back(name, name);
    return Choice(columns);
}

class QueryScene final : public Scene {
  public:
    explicit QueryScene(Explorer explorer) : explorer_(std::move(explorer)), columns_(columns_of(explorer_.table())) {}

    [[nodiscard]] std::string title() const override { return explorer_.title(); }
    [[nodiscard]] bool moving() const override { return explorer_.playing(); }
    void tick(double seconds) override { explorer_.tick(seconds); }

    void press(Key key) override {
        if (key == Key{'E'})
            return set_engine(explorer_.engine() == QueryEngine::Depth ? QueryEngine::Bitmap : QueryEngine::Depth);
        explorer_.press(key);
    }

    void bar(Bar& bar) override {
        explorer_.bar(bar);
        static const Choice engines(show::watched_query_words);
        auto engine = explorer_.engine();
        if (engines.choose(bar, "The engine (E)", engine, 80)) set_engine(engine);
        bar.next_row();
        axes(bar);
        for (std::size_t i = 0; i < explorer_.thresholds().size(); ++i) threshold(bar, i);
    }

    void mouse(show::Size picture, const Mouse& mouse) override {
        using Button = Mouse::Button;
        if (mouse.button == Button::Pressed) press_at(picture, mouse);
        if (!corner_ || (mouse.x == last_.x && mouse.y == last_.y && mouse.button == last_.button)) return;
        const bool moved = std::abs(mouse.x - corner_->x) > 2 || std::abs(mouse.y - corner_->y) > 2;
        const bool elsewhere = mouse.x != last_.x || mouse.y != last_.y;
        if (moved && elsewhere) ask(rectangle(picture, *corner_, mouse));
        if (!moved && mouse.button == Button::Up) ask({});
        if (mouse.button == Button::Up) corner_.reset();
        last_ = mouse;
    }

    [[nodiscard]] std::optional<Picture> draw(show::Size size) override {
        const Drawn now{asked_, explorer_.at(), size.width, size.height};
        if (std::exchange(drawn_, now) == now) return {};
        return explorer_.draw(size);
    }

  private:
    struct Drawn {
        std::size_t query, place;
        int width, height;
        bool operator==(const Drawn&) const = default;
    };

    void set_engine(QueryEngine engine) {
        explorer_.set_engine(engine);
        ++asked_;
    }

    void ask(const std::optional<show::Rectangle>& rectangle) {
        explorer_.set_rectangle(rectangle);
        ++asked_;
    }

    void axes(Bar& bar) {
        const auto view = explorer_.view();
        Explorer::Axes axes{view.x, view.y};
        bool anew = columns_.choose(bar, "To the right", axes.x, 84);
        anew |= columns_.choose(bar, "Up", axes.y, 84);
        if (!anew) return;
        explorer_.set_axes(axes);
        ++asked_;
    }

    void threshold(Bar& bar, std::size_t i) {
        const auto& of = explorer_.thresholds()[i];
        const bool min = of.keeps == Explorer::Threshold::Keeps::AtLeast;
        const auto format = of.column + (min ? " >= %.6g" : " <= %.6g");
        auto value = static_cast<float>(of.value);
        const Bar::Slider slider{static_cast<float>(of.range.low), static_cast<float>(of.range.high), format.c_str(),
                                 190};
        if (!bar.slide("Only rows whose " + of.column + " is at " + (min ? "least" : "most") + " that", value, slider))
            return;
        explorer_.set_threshold(i, value);
        ++asked_;
    }

    void press_at(show::Size picture, const Mouse& mouse) {
        if (show::scatter_box(picture).holds(mouse.x, mouse.y)) {
            corner_ = last_ = mouse;
        } else if (const auto step = show::step_at(explorer_.query(), explorer_.view(), picture, mouse.x, mouse.y)) {
            explorer_.go_to(static_cast<std::ptrdiff_t>(*step));
        }
    }

    [[nodiscard]] show::Rectangle rectangle(show::Size picture, const Mouse& from, const Mouse& to) const {
        const auto values = [&](const Mouse& at) {
            return show::scatter_values(explorer_.table(), explorer_.view(), picture, at.x, at.y);
        };
        const auto a = values(from), b = values(to);
        return {std::min(a[0], b[0]), std::min(a[1], b[1]), std::max(a[0], b[0]), std::max(a[1], b[1])};
    }

    Explorer explorer_;
    Choice<std::string> columns_;
    std::size_t asked_ = 0;  // number of queries
    std::optional<Drawn> drawn_;
    std::optional<Mouse> corner_;  // start of a rectangle that is being dragged
    Mouse last_;
};

}  // namespace

std::unique_ptr<Scene> make_query_scene(Explorer explorer) {
    return std::make_unique<QueryScene>(std::move(explorer));
}

}  // namespace demo
