#include "scene.hpp"

#include <bit>
#include <string>
#include <utility>

#include "input/words.hpp"
#include "quadmill/context.hpp"

namespace demo {

namespace {

using Names = std::vector<std::string>;

Names engine_names(const std::string& before = {}) {
    Names names;
    for (std::size_t i = 0; i < show::watched_engines; ++i)
        names.push_back(before + show::name_of(static_cast<show::Watched>(i)));
    return names;
}

Names race_names() {
    auto names = engine_names("against ");
    names.insert(names.begin(), "no race");
    return names;
}

Names size_names() {
    Names names;
    for (auto n = show::Request::least_keys; n <= show::Request::most_keys; n *= 2)
        names.push_back(show::with_commas(n));
    return names;
}

Names distribution_names() {
    Names names;
    for (const auto& [word, distribution] : quadmill::detail::input::distribution_words) names.push_back(word);
    return names;
}

class StagesScene final : public Scene {
  public:
    StagesScene(quadmill::Context context, std::vector<show::Request> sorts, show::Times times)
        : context_(std::move(context)), sorts_(std::move(sorts)), times_(times), player_(sort()) {}

    [[nodiscard]] std::string title() const override { return player_.title(); }
    [[nodiscard]] bool moving() const override { return player_.playing(); }
    void tick(double seconds) override { player_.tick(seconds); }
    [[nodiscard]] show::Size least() const override { return {640 * static_cast<int>(sorts_.size()), 480}; }

    void press(Key key) override { player_.press(key); }

    void bar(Bar& bar) override {
        player_.bar(bar);
        bar.next_row();
        if (!choices(bar)) return;
        player_ = Player(sort());
        drawn_ = {};
    }

    // A drag that began on the time line goes on wherever the mouse is.
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

    // Whether anything is to be sorted anew.
    bool choices(Bar& bar) {
        static const auto engines = engine_names(), races = race_names(), sizes = size_names(),
                          distributions = distribution_names();
        auto request = sorts_[0];
        auto engine = static_cast<std::size_t>(request.engine), kind = static_cast<std::size_t>(request.distribution);
        auto size = static_cast<std::size_t>(std::countr_zero(request.n / show::Request::least_keys));
        std::size_t race = sorts_.size() == 2 ? 1 + static_cast<std::size_t>(sorts_[1].engine) : 0;
        bool early = request.early_stop == quadmill::EarlyStop::Yes, half = request.type == quadmill::KeyType::F16;

        bool anew = bar.choose("What sorts", engine, engines, 130);
        anew |= bar.choose("Keys", size, sizes, 72);
        anew |= bar.choose("How they are distributed", kind, distributions, 86);
        anew |= bar.check("early stop", "pbsn stops at the first stage that finds all in order", early);
        anew |= bar.check("16 bits", "Floats of 16 bits", half);
        anew |= bar.choose("A second engine beside it, at the same number of passes", race, races, 120);
        if (!anew) return false;
        request.engine = static_cast<show::Watched>(engine);
        request.n = show::Request::least_keys << size;
        request.distribution = static_cast<quadmill::detail::cpu::Distribution>(kind);
        request.early_stop = early ? quadmill::EarlyStop::Yes : quadmill::EarlyStop::No;
        request.type = half ? quadmill::KeyType::F16 : quadmill::KeyType::F32;
        sorts_ = {request};
        if (race > 0) {
            request.engine = static_cast<show::Watched>(race - 1);
            sorts_.push_back(request);
        }
        return true;
    }

    quadmill::Context context_;  // the window's own: the library is a guest here
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
