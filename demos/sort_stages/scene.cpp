#include "scene.hpp"

#include <optional>
#include <string>
#include <utility>

#include "input/words.hpp"
#include "quadmill/context.hpp"
#include "window/choice.hpp"

namespace demo {

namespace {

using show::Watched;

Choice<Watched> engine_choice() {
    std::vector<std::pair<std::string, Watched>> engines;
    for (std::size_t i = 0; i < show::watched_engines; ++i)
        engines.emplace_back(show::name_of(static_cast<Watched>(i)), static_cast<Watched>(i));
    return Choice(engines);
}

Choice<std::optional<Watched>> race_choice() {
    std::vector<std::pair<std::string, std::optional<Watched>>> races{{"no race", std::nullopt}};
    for (std::size_t i = 0; i < show::watched_engines; ++i)
        races.emplace_back(std::string("against ") + show::name_of(static_cast<Watched>(i)), static_cast<Watched>(i));
    return Choice(races);
}

Choice<std::size_t> size_choice() {
    std::vector<std::pair<std::string, std::size_t>> sizes;
    for (auto n = show::Request::min_keys; n <= show::Request::max_keys; n *= 2)
        sizes.emplace_back(show::with_commas(n), n);
    return Choice(sizes);
}

class StagesScene final : public Scene {
  public:
    StagesScene(quadmill::Context context, std::vector<show::Request> sorts, show::Times times)
        : context_(std::move(context)), sorts_(std::move(sorts)), times_(times), player_(sort()) {}

    [[nodiscard]] std::string title() const override { return player_.title(); }
    [[nodiscard]] bool moving() const override { return player_.playing(); }
    void tick(double seconds) override { player_.tick(seconds); }
    [[nodiscard]] show::Size min_size() const override { return {640 * static_cast<int>(sorts_.size()), 480}; }

    void press(Key key) override { player_.press(key); }

    void bar(Bar& bar) override {
        player_.bar(bar);
        bar.next_row();
        if (!choices(bar)) return;
        player_ = Player(sort());
        drawn_ = {};
    }

    // A drag that began on the time line continues wherever the mouse is.
    void mouse(show::Size picture, const Mouse& mouse) override {
        using Button = Mouse::Button;
        if (mouse.button == Button::Up) drag_row_ = -1;
        if (mouse.button == Button::Pressed && player_.place_at(picture, mouse.x, mouse.y) >= 0) drag_row_ = mouse.y;
        if (drag_row_ < 0) return;
        const auto place = player_.place_at(picture, mouse.x, drag_row_);
        if (place >= 0 && static_cast<std::size_t>(place) != player_.at()) player_.go_to(place);
    }

    [[nodiscard]] std::optional<Picture> draw(show::Size size) override {
        const Drawn now{player_.at(), size.width, size.height};
        if (std::exchange(drawn_, now) == now) return {};
        return player_.draw(size, times_);
    }

  private:
    struct Drawn {
        std::size_t place;
        int width, height;
        bool operator==(const Drawn&) const = default;
    };

    std::vector<show::Stages> sort() {
        std::vector<show::Stages> sorts;
        for (const auto& request : sorts_) sorts.push_back(show::watch(context_, request));
        return sorts;
    }

    // Returns whether something must be sorted again.
    bool choices(Bar& bar) {
        static const auto engines = engine_choice();
        static const auto races = race_choice();
        static const auto sizes = size_choice();
        static const Choice distributions(quadmill::detail::input::distribution_words);
        auto request = sorts_[0];
        std::optional<Watched> race;
        if (sorts_.size() == 2) race = sorts_[1].engine;
        bool early = request.early_stop == quadmill::EarlyStop::Yes, half = request.type == quadmill::KeyType::F16;

        bool anew = engines.choose(bar, "The engine", request.engine, 130);
        anew |= sizes.choose(bar, "Keys", request.n, 72);
        anew |= distributions.choose(bar, "How they are distributed", request.distribution, 86);
        anew |= bar.check("early stop", "pbsn stops at the first stage that finds all in order", early);
        anew |= bar.check("16 bits", "Floats of 16 bits", half);
        anew |= races.choose(bar, "A second engine next to it, at the same number of passes", race, 120);
        if (!anew) return false;
        request.early_stop = early ? quadmill::EarlyStop::Yes : quadmill::EarlyStop::No;
        request.type = half ? quadmill::KeyType::F16 : quadmill::KeyType::F32;
        sorts_ = {request};
        if (race) {
            request.engine = *race;
            sorts_.push_back(request);
        }
        return true;
    }

    quadmill::Context context_;  // the window's own context, which the library adopts
    std::vector<show::Request> sorts_;
    show::Times times_;
    Player player_;
    std::optional<Drawn> drawn_;
    int drag_row_ = -1;  // of the picture, while the time line is dragged
};

}  // namespace

std::unique_ptr<Scene> make_stages_scene(quadmill::Context::GetProcAddress get_proc_address,
                                         std::vector<show::Request> sorts, show::Times times) {
    return std::make_unique<StagesScene>(quadmill::Context::adopt(get_proc_address), std::move(sorts), times);
}

}  // namespace demo
