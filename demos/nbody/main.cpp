// Bodies that attract each other, all by all, by the graphics pipeline: in a window, as frames in a folder (--record
// DIR), or the rate alone (--no-window); how many operations a second, and how far the energy drifts.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "input/checks.hpp"
#include "nbody/bodies.hpp"
#include "window/simulation.hpp"

namespace {

namespace show = quadmill::detail::show;

struct Options {
    std::size_t bodies = 8192;
    float step = 1e-3F;
    std::uint32_t seed = 1;
    demo::SimulationOptions simulation;
};

constexpr float softening = 0.02F;
// An interaction takes 3 differences, 7 for the distance, 4 for its cube, 6 for the sum, 2 for the potential.
constexpr double operations = 22;

class Galaxy final : public demo::Simulation {
  public:
    Galaxy(const quadmill::Context& context, const Options& options)
        : bodies_(context, demo::galaxy(options.bodies, options.seed), softening),
          count_(options.bodies),
          step_(options.step),
          energy_(bodies_.energy()) {}

    void advance(int steps) override {
        bodies_.advance(step_, steps);
        static_cast<void>(bodies_.accelerations());
    }
    [[nodiscard]] std::string what() const override { return fmt::format("{} bodies", count_); }
    [[nodiscard]] std::string kept() override {
        const double drift = energy_ == 0 ? 0 : (bodies_.energy() - energy_) / std::abs(energy_);
        return fmt::format("energy drift {:.2e} of its amount", drift);
    }
    [[nodiscard]] std::string rate(double steps_a_second) const override {
        const auto n = static_cast<double>(count_);
        return fmt::format("{:.2f} steps/s, {:.2f} GFLOP/s ({} operations an interaction)", steps_a_second,
                           n * n * operations * steps_a_second * 1e-9, operations);
    }
    [[nodiscard]] show::Canvas picture(show::Size size) override {
        show::Canvas canvas(size.width, size.height, show::ink);
        const float scale = 0.4F * static_cast<float>(std::min(size.width, size.height));
        for (const auto& body : bodies_.read()) {
            canvas.set(static_cast<int>(static_cast<float>(size.width) / 2 + scale * body.place[0]),
                       static_cast<int>(static_cast<float>(size.height) / 2 - scale * body.place[1]), show::max_color,
                       0.7F);
        }
        canvas.text(14, 12, show::with_commas(count_) + " bodies", show::Font(17, show::Weight::Bold), show::white);
        return canvas;
    }

  private:
    demo::Bodies bodies_;
    std::size_t count_;
    float step_;
    double energy_;  // at the start
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Bodies that attract each other, all by all, by the graphics pipeline.", "nbody"};
    Options options;
    demo::add_simulation_options(app, options.simulation);
    app.add_option("--bodies", options.bodies, "How many")->check(CLI::Range(1, 16384))->capture_default_str();
    app.add_option("--step", options.step, "Of time, the middle's mass and the disk's radius being 1")
        ->check(quadmill::detail::input::number_from(1e-6, 0.1))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Of their places")->capture_default_str();
    return demo::run_program(app, argc, argv, [&] {
        demo::run_simulation("nbody", options.simulation, [&](const quadmill::Context& context) {
            return std::make_unique<Galaxy>(context, options);
        });
    });
}
