// Waves on shallow water with the graphics pipeline, one texel per cell: in a window, as frames in a folder (--record
// DIR), or without pictures (--no-window), with the drift of the amount of water.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "waves/water.hpp"
#include "window/simulation.hpp"

namespace {

namespace show = quadmill::detail::show;

struct Options {
    int width = 512, height = 320;
    std::uint32_t seed = 1;
    demo::SimulationOptions simulation;
};

// Blue water, orange dye, and light from the left.
show::Color color_of(const demo::Pond& pond, int x, int y) {
    const auto cell = [&](int column, int row) -> const demo::Cell& {
        return pond.cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(pond.width) +
                          static_cast<std::size_t>(std::clamp(column, 0, pond.width - 1))];
    };
    const auto& [height, right, up, dye] = cell(x, y);
    const auto water = show::mix(show::accent, show::sky, std::clamp(height - 0.75F, 0.0F, 1.0F));
    const auto dyed = show::mix(water, show::max_color, std::clamp(dye / height, 0.0F, 1.0F));
    const float slope = (cell(x + 1, y)[0] - cell(x - 1, y)[0]) * 4;
    return slope > 0 ? show::mix(dyed, show::white, std::min(slope, 0.8F))
                     : show::mix(dyed, show::ink, std::min(-slope, 0.8F));
}

class Waves final : public demo::Simulation {
  public:
    Waves(const quadmill::Context& context, const Options& options)
        : water_(context, demo::pond_with_drops(options.width, options.height, options.seed)),
          width_(options.width),
          height_(options.height),
          begin_(water_.sum()) {}

    void advance(int steps) override {
        water_.advance(steps);
        steps_ += steps;
        static_cast<void>(water_.sum());
    }
    [[nodiscard]] std::string what() const override { return fmt::format("{} x {} cells", width_, height_); }
    [[nodiscard]] std::string kept() override {
        const auto now = water_.sum();
        return fmt::format("drift of water {:.2e}, of dye {:.2e} of its amount", drift(now, 0), drift(now, 3));
    }
    [[nodiscard]] std::string rate(double steps_a_second) const override {
        return fmt::format("{:.2f} steps/s, {:.2f} million cells a second", steps_a_second,
                           static_cast<double>(width_) * height_ * steps_a_second * 1e-6);
    }
    [[nodiscard]] show::Canvas picture(show::Size size) override {
        const auto pond = water_.read();
        show::Canvas canvas(size.width, size.height);
        for (int y = 0; y < size.height; ++y) {
            for (int x = 0; x < size.width; ++x)
                canvas.set(x, y, color_of(pond, x * width_ / size.width, height_ - 1 - y * height_ / size.height));
        }
        demo::caption(canvas, "Shallow water with drops of orange dye; waves are lit from the left",
                      fmt::format("{} x {} cells, step {}, drift of water {:.1e}", width_, height_, steps_,
                                  drift(water_.sum(), 0)));
        return canvas;
    }

  private:
    [[nodiscard]] double drift(const demo::Cell& now, std::size_t i) const {
        return (static_cast<double>(now[i]) - begin_[i]) / begin_[i];
    }

    demo::Water water_;
    int width_, height_;
    demo::Cell begin_;  // sums at the start
    long steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Waves on shallow water, with the graphics pipeline.", "waves"};
    Options options;
    demo::add_simulation_options(app, options.simulation);
    app.add_option("--width", options.width, "Width in cells")->check(CLI::Range(1, 8192))->capture_default_str();
    app.add_option("--height", options.height, "Height in cells")->check(CLI::Range(1, 8192))->capture_default_str();
    app.add_option("--seed", options.seed, "Seed of the drops' positions and sizes")->capture_default_str();
    return demo::run_program(app, argc, argv, [&] {
        demo::run_simulation("waves", options.simulation, [&](const quadmill::Context& context) {
            return std::make_unique<Waves>(context, options);
        });
    });
}
