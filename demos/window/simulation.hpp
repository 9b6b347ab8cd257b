// A simulation in steps: in a window, as frames in a folder, or without any picture.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "quadmill/context.hpp"
#include "show/canvas.hpp"
#include "window/program.hpp"

namespace demo {

class Simulation {
  public:
    virtual ~Simulation() = default;
    // Returns when the GPU has finished.
    virtual void advance(int steps) = 0;
    [[nodiscard]] virtual show::Canvas picture(show::Size size) = 0;
    // "8,192 bodies"
    [[nodiscard]] virtual std::string what() const = 0;
    // The drift of quantities that should be conserved.
    [[nodiscard]] virtual std::string kept() = 0;
    // The rate as text.
    [[nodiscard]] virtual std::string rate(double steps_a_second) const = 0;
};
using MakeSimulation = std::function<std::unique_ptr<Simulation>(const quadmill::Context&)>;

struct SimulationOptions {
    int steps = 10;  // before each frame except the first
    bool no_window = false;
    Pictures pictures{.frames = 24};
};

// Adds --steps, --no-window, and the options of pictures.
void add_simulation_options(CLI::App& app, SimulationOptions& options);

// Draws two lines in the upper left corner of a frame, on a dark background.
void caption(show::Canvas& canvas, const std::string& title, const std::string& state);

// Runs as the options say. Without a window it prints kept() and the rate at the end.
void run_simulation(const std::string& name, const SimulationOptions& options, const MakeSimulation& make);

}  // namespace demo
