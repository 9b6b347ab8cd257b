// Bodies that attract each other, computed with the graphics pipeline: in a window, as frames in a folder (--record
// DIR), or without pictures (--no-window), with the operations per second and the drift of the energy.
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
// An interaction takes 3 operations for differences, 7 for the distance, 4 for its cube, 6 for the sum, and 2 for the
// potential.
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
        steps_ += steps;
        static_cast<void>(bodies_.accelerations());
    }
    [[nodiscard]] std::string what() const override { return fmt::format("{} bodies", count_); }
    [[nodiscard]] std::string kept() override { return fmt::format("energy drift {:.2e} of its amount", drift()); }
    [[nodiscard]] std::string rate(double steps_a_second) const override {
        const auto n = static_cast<double>(count_);
        return fmt::format("{:.2f} steps/s, {:.2f} GFLOP/s ({} operations an interaction)", steps_a_second,
                           n * n * operations * steps_a_second * 1e-9, operations);
    }
    [[nodiscard]] show::Canvas picture(show::Size size) override {
        show::Canvas canvas(size.width, size.height, show::ink);
        const float scale = 0.4F * static_cast<float>(std::min(size.width, size.height));
        // Two pixels per body, and a white square for the heavy centre.
        for (const auto& body : bodies_.read()) {
            const auto x = static_cast<int>(static_cast<float>(size.width) / 2 + scale * body.position[0]),
                       y = static_cast<int>(static_cast<float>(size.height) / 2 - scale * body.position[1]);
            if (body.mass >= heavy) {
                canvas.fill({x - 3, y - 3, 7, 7}, show::white);
            } else {
                canvas.fill({x, y, 2, 2}, show::max_color, 0.7F);
            }
        }
        demo::caption(canvas,
                      fmt::format("{} bodies (orange) around a heavy one (white)", show::with_commas(count_ - 1)),
                      fmt::format("time {:.3f}, energy drift {:.1e}",
                                  static_cast<double>(step_) * static_cast<double>(steps_), drift()));
        return canvas;
    }

  private:
    static constexpr float heavy = 0.5F;  // of the total mass
    [[nodiscard]] double drift() { return energy_ == 0 ? 0 : (bodies_.energy() - energy_) / std::abs(energy_); }

    demo::Bodies bodies_;
    std::size_t count_;
    float step_;
    double energy_;  // at the start
    long steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Bodies that attract each other, computed with the graphics pipeline.", "nbody"};
    Options options;
    demo::add_simulation_options(app, options.simulation);
    app.add_option("--bodies", options.bodies, "Number of bodies")->check(CLI::Range(1, 16384))->capture_default_str();
    app.add_option("--step", options.step, "Time step, in units in which the middle's mass and the disk's radius are 1")
        ->check(quadmill::detail::input::number_from(1e-6, 0.1))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Seed of the positions")->capture_default_str();
    return demo::run_program(app, argc, argv, [&] {
        demo::run_simulation("nbody", options.simulation, [&](const quadmill::Context& context) {
            return std::make_unique<Galaxy>(context, options);
        });
    });
}
