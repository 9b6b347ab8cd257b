#include "window/simulation.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cpu/stopwatch.hpp"
#include "show/film.hpp"
#include "window/window.hpp"

namespace demo {

namespace {

// Number of steps, and the time that they took.
class Count {
  public:
    void advance(Simulation& simulation, int steps) {
        const quadmill::detail::cpu::Stopwatch time;
        simulation.advance(steps);
        ms_ += time.ms();
        steps_ += steps;
    }
    [[nodiscard]] long steps() const { return steps_; }
    [[nodiscard]] double a_second() const { return ms_ > 0 ? static_cast<double>(steps_) / ms_ * 1e3 : 0; }

  private:
    long steps_ = 0;
    double ms_ = 0;
};

class SimulationScene final : public Scene {
  public:
    SimulationScene(quadmill::Context context, MakeSimulation make, int steps)
        : context_(std::move(context)), make_(std::move(make)), steps_(steps), simulation_(make_(context_)) {}

    [[nodiscard]] std::string title() const override {
        return "step " + std::to_string(count_.steps()) + (going_ ? ", going" : ", paused");
    }
    [[nodiscard]] bool moving() const override { return going_; }
    void tick(double /*seconds*/) override {
        if (going_) advance();
    }

    void press(Key key) override {
        switch (key) {
            case Key::Space:
                going_ = !going_;
                return;
            case Key::Right:
                going_ = false;
                return advance();
            case Key::Home:
                return restart();
            case Key::Plus:
                steps_ = std::min(steps_ * 2, max_steps);
                return;
            case Key::Minus:
                steps_ = std::max(steps_ / 2, 1);
                return;
            default:
                return;
        }
    }

    void bar(Bar& bar) override {
        if (bar.button(going_ ? "Pause" : "Go   ", "Pause or go on (space; right arrow: a frame)")) press(Key::Space);
        if (bar.button("|<", "From the start (Home)")) press(Key::Home);
        if (bar.button("-", "Half as many steps a frame (-)")) press(Key::Minus);
        if (bar.button("+", "Twice as many steps a frame (+)")) press(Key::Plus);
        bar.text(std::to_string(steps_) + " steps a frame");
        bar.next_row();
        bar.text(kept_ + (count_.steps() > 0 ? "; " + simulation_->rate(count_.a_second()) : ""));
    }

    [[nodiscard]] std::optional<Picture> draw(show::Size size) override {
        const Drawn now{count_.steps(), size.width, size.height};
        if (std::exchange(drawn_, now) == now) return {};
        kept_ = simulation_->kept();
        return simulation_->picture(size);
    }

  private:
    static constexpr int max_steps = 1 << 12;
    struct Drawn {
        long steps;
        int width, height;
        bool operator==(const Drawn&) const = default;
    };

    void advance() { count_.advance(*simulation_, steps_); }
    void restart() {
        going_ = false;
        simulation_ = make_(context_);
        count_ = {};
        drawn_ = {};
    }

    quadmill::Context context_;  // the window's own context, which the library adopts
    MakeSimulation make_;
    int steps_;  // per frame
    std::unique_ptr<Simulation> simulation_;
    Count count_;
    std::string kept_;
    bool going_ = true;
    std::optional<Drawn> drawn_;
};

// Counts the passes that are drawn during its life.
class Passes final : public quadmill::PassObserver {
  public:
    explicit Passes(quadmill::Context& context) : context_(context) { context_.observe(this); }
    Passes(const Passes&) = delete;
    Passes& operator=(const Passes&) = delete;
    ~Passes() override { context_.observe(nullptr); }
    void before(const quadmill::PassEvent& /*pass*/) override { ++count_; }
    [[nodiscard]] unsigned long count() const { return count_; }

  private:
    quadmill::Context& context_;
    unsigned long count_ = 0;
};

// Without a window.
void run_headless(const SimulationOptions& options, const MakeSimulation& make) {
    const auto& pictures = options.pictures;
    const auto size = pictures.parsed_size();
    auto context = quadmill::Context::headless();
    const auto simulation = make(context);
    const Passes passes(context);
    Count count;
    if (pictures.recorded()) {
        const auto said =
            show::record({.directory = pictures.record, .frames = pictures.frames}, [&](std::size_t frame) {
                if (frame > 0) count.advance(*simulation, options.steps);
                return simulation->picture(size);
            });
        std::puts(said.c_str());
    } else {
        count.advance(*simulation, options.steps);
    }
    const auto drawn = passes.count();  // before the conserved quantities are measured
    std::printf("%s, %ld steps, %lu passes: %s\n", simulation->what().c_str(), count.steps(), drawn,
                simulation->kept().c_str());
    if (count.steps() > 0) std::puts(simulation->rate(count.a_second()).c_str());
}

}  // namespace

void add_simulation_options(CLI::App& app, SimulationOptions& options) {
    add_picture_options(app, options.pictures, "Recorded");
    auto* no_window = app.add_flag("--no-window", options.no_window, "No pictures, only the result at the end");
    no_window->excludes(app.get_option("--record"));
    app.add_option("--steps", options.steps, "Steps before each frame except the first, or with --no-window the total")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
}

void caption(show::Canvas& canvas, const std::string& title, const std::string& state) {
    const show::Font bold(17, show::Weight::Bold), body(13);
    const int width = std::max(bold.width(title), body.width(state)) + 24;
    canvas.fill({0, 0, width, bold.line() + body.line() + 20}, show::ink, 0.75F);
    canvas.text(12, 8, title, bold, show::white);
    canvas.text(12, 12 + bold.line(), state, body, show::white);
}

void run_simulation(const std::string& name, const SimulationOptions& options, const MakeSimulation& make) {
    const auto size = options.pictures.parsed_size();  // a wrong size is an error in any case
    if (options.no_window || options.pictures.recorded()) return run_headless(options, make);
    run_window({.name = name, .size = size}, [&](auto get_proc_address) {
        return std::make_unique<SimulationScene>(quadmill::Context::adopt(get_proc_address), make, options.steps);
    });
}

}  // namespace demo
