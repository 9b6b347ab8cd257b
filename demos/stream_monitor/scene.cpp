#include "scene.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cpu/stopwatch.hpp"
#include "input/enum_words.hpp"
#include "quadmill/sort.hpp"
#include "window/choice.hpp"

namespace demo {

namespace {

using State = show::MonitorModel::State;

// These values in order, with the current one among them.
template <class T>
Choice<T> number_choice(std::vector<T> values, T now, std::string (*name)(T)) {
    values.push_back(now);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    std::vector<std::pair<std::string, T>> named;
    for (const auto value : values) named.emplace_back(name(value), value);
    return Choice(named);
}

std::string name_of_window(std::uint64_t values) {
    return show::with_commas(values) + " values";
}

std::string name_of_eps(double eps) {
    auto name = std::to_string(eps);
    name.erase(name.find_last_not_of('0') + 1);
    return "eps " + name;
}

class MonitorScene final : public Scene {
  public:
    MonitorScene(quadmill::Context context, Feed& feed, const Watching& watching)
        : context_(std::move(context)),
          feed_(feed),
          watching_(watching),
          windows_(number_choice({10000, 100000, 1000000, 10000000}, watching.monitor.window, name_of_window)),
          errors_(number_choice({0.05, 0.02, 0.01, 0.005, 0.002, 0.001}, watching.monitor.eps, name_of_eps)),
          monitor_(watching.monitor, sorters()) {}

    [[nodiscard]] std::string title() const override {
        const auto state = state_ == State::Ended ? ", end of stream" : state_ == State::Paused ? ", paused" : "";
        return show::with_commas(monitor_.read()) + " values" + state;
    }

    [[nodiscard]] bool moving() const override { return state_ == State::Running && flowing_; }

    void tick(double seconds) override {
        if (feed_.interrupted()) throw Interrupted();
        since_drawn_ += seconds;
        if (state_ == State::Running) {
            due_ = std::min(due_ + seconds * watching_.speed, longest_tick * watching_.speed);
            take();
            measure(seconds);
        }
        if (state_ != State::Ended && feed_.ended()) change(State::Ended);
    }

    void press(Key key) override {
        switch (key) {
            case Key::Space:
                if (state_ != State::Ended) change(state_ == State::Paused ? State::Running : State::Paused);
                return;
            case Key::Right:  // by one moment of the time axis
                if (state_ != State::Running) monitor_.add(feed_.take(monitor_.options().step(), Feed::Wait::No));
                return;
            case Key::Plus:
                return set_speed(2 * watching_.speed);
            case Key::Minus:
                return set_speed(watching_.speed / 2);
            default:
                return;
        }
    }

    void bar(Bar& bar) override {
        if (bar.button(state_ == State::Paused ? "Go on" : "Pause", "Pause or go on (space)")) press(Key::Space);
        if (bar.button(">", "A moment on, when paused (right arrow)")) press(Key::Right);
        auto speed = static_cast<float>(watching_.speed);
        if (bar.slide("Values a second, at most (+ and -)", speed,
                      {Watching::slowest, Watching::fastest, "%.0f values/s", 180, Bar::Scale::Logarithmic})) {
            set_speed(speed);
        }
        bar.text(show::with_commas(monitor_.read()) + " values");
        bar.next_row();
        auto options = monitor_.options();
        bool anew = windows_.choose(bar, "The window: it fills again from empty", options.window, 150);
        anew |= errors_.choose(bar, "The allowed error: the window fills again from empty", options.eps, 100);
        if (anew) monitor_.restart(options);
        static const Choice engines(quadmill::detail::input::engine_words);
        if (engines.choose(bar, "The engine that sorts: nothing is forgotten", watching_.engine, 80)) {
            monitor_.use(sorters());
            anew = true;
        }
        if (anew) drawn_ = {};
    }

    [[nodiscard]] std::optional<Picture> draw(show::Size size) override {
        constexpr double min_seconds = 0.05;  // more pictures would leave less time for the stream
        const Drawn now{monitor_.read(), state_, size.width, size.height};
        const bool only_more =
            drawn_ && drawn_->state == now.state && drawn_->width == now.width && drawn_->height == now.height;
        if (drawn_ == now || (only_more && since_drawn_ < min_seconds)) return {};
        drawn_ = now;
        since_drawn_ = 0;
        auto model = monitor_.model();
        model.state = state_;
        if (watching_.times == Watching::Times::Shown) model.values_per_s = speed_;
        return show::draw_monitor(model, size);
    }

  private:
    static constexpr double longest_tick = 0.25;  // seconds; values that were due for longer are dropped

    struct Drawn {
        std::uint64_t read;
        State state;
        int width, height;
        bool operator==(const Drawn&) const = default;
    };

    [[nodiscard]] show::Monitor::MakeSorter sorters() const {
        return [context = context_, engine = watching_.engine] {
            return quadmill::window_sorter(context, {.engine = engine});
        };
    }

    void change(State state) {
        state_ = state;
        due_ = 0;
    }
    void set_speed(double speed) { watching_.speed = std::clamp(speed, Watching::slowest, Watching::fastest); }

    // Takes the values that are due and available, as far as the window stays responsive.
    void take() {
        constexpr double max_ms = 30;
        constexpr double at_once = 1 << 16;
        const quadmill::detail::cpu::Stopwatch time;
        flowing_ = false;
        while (due_ >= 1) {
            const auto values = feed_.take(static_cast<std::size_t>(std::min(due_, at_once)), Feed::Wait::No);
            if (values.empty()) return;
            flowing_ = true;
            monitor_.add(values);
            taken_ += values.size();
            due_ -= static_cast<double>(values.size());
            if (time.ms() < max_ms) continue;
            due_ = 0;
        }
    }

    void measure(double seconds) {
        measured_ += seconds;
        if (measured_ < 0.5) return;
        speed_ = static_cast<double>(std::exchange(taken_, 0)) / std::exchange(measured_, 0);
    }

    quadmill::Context context_;  // the window's own context, which the library adopts
    Feed& feed_;
    Watching watching_;
    Choice<std::uint64_t> windows_;
    Choice<double> errors_;
    show::Monitor monitor_;
    State state_ = State::Running;
    double due_ = 0;       // number of values that speed permits so far
    bool flowing_ = true;  // whether values arrived in the last tick
    std::uint64_t taken_ = 0;
    double measured_ = 0, speed_ = 0;  // seconds since the speed was measured; values per second
    double since_drawn_ = 0;
    std::optional<Drawn> drawn_;
};

}  // namespace

std::unique_ptr<Scene> make_monitor_scene(quadmill::Context::GetProcAddress get_proc_address, Feed& feed,
                                          const Watching& watching) {
    return std::make_unique<MonitorScene>(quadmill::Context::adopt(get_proc_address), feed, watching);
}

}  // namespace demo
