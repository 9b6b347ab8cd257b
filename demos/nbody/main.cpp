// Bodies that attract each other, all by all, by the graphics pipeline: frames in a folder (--record DIR), or the rate
// alone; how many operations a second, and how far the energy drifts.
#include <cstdio>

#include "cpu/stopwatch.hpp"
#include "input/checks.hpp"
#include "nbody/bodies.hpp"
#include "show/film.hpp"
#include "window/program.hpp"

namespace {

namespace show = quadmill::detail::show;

struct Options {
    std::size_t bodies = 8192;
    int steps = 10;
    float step = 1e-3F;
    std::uint32_t seed = 1;
    demo::Pictures pictures{.frames = 24};
};

constexpr float softening = 0.02F;
constexpr double operations =
    20;  // of an interaction: 3 differences, 7 for the distance, 4 for its cube, 6 for the sum

show::Canvas picture(const std::vector<demo::Body>& bodies, show::Size size) {
    show::Canvas canvas(size.width, size.height, show::ink);
    const float scale = 0.4F * static_cast<float>(std::min(size.width, size.height));
    for (const auto& body : bodies) {
        canvas.set(static_cast<int>(static_cast<float>(size.width) / 2 + scale * body.place[0]),
                   static_cast<int>(static_cast<float>(size.height) / 2 - scale * body.place[1]), show::max_color,
                   0.7F);
    }
    canvas.text(14, 12, show::with_commas(bodies.size()) + " bodies", show::Font(17, show::Weight::Bold), show::white);
    return canvas;
}

void run(const Options& options) {
    const auto size = options.pictures.parsed_size();  // a wrong one is an error in any case
    const auto begin = demo::galaxy(options.bodies, options.seed);
    demo::Bodies bodies(quadmill::Context::headless(), begin, softening);
    double ms = 0;
    long steps = 0;
    const auto advance = [&] {
        static_cast<void>(bodies.accelerations());  // what came before is no part of it
        const quadmill::detail::cpu::Stopwatch time;
        for (int i = 0; i < options.steps; ++i) bodies.advance(options.step);
        static_cast<void>(bodies.accelerations());
        ms += time.ms();
        steps += options.steps;
    };
    if (options.pictures.recorded()) {
        const auto said = show::record({.directory = options.pictures.record, .frames = options.pictures.frames},
                                       [&](std::size_t frame) {
                                           if (frame > 0) advance();
                                           return picture(bodies.read(), size);
                                       });
        std::printf("%s\n", said.c_str());
    } else {
        advance();
    }
    const double before = energy(begin, softening), after = energy(bodies.read(), softening);
    const auto n = static_cast<double>(options.bodies);
    std::printf("%zu bodies, %ld steps: energy drift %.2e of its amount\n", options.bodies, steps,
                (after - before) / std::abs(before));
    if (steps > 0)
        std::printf("%.2f steps/s, %.2f GFLOP/s (%.0f operations an interaction)\n",
                    static_cast<double>(steps) / ms * 1e3, n * n * operations * static_cast<double>(steps) / ms * 1e-6,
                    operations);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Bodies that attract each other, all by all, by the graphics pipeline.", "nbody"};
    Options options;
    demo::add_picture_options(app, options.pictures, "Recorded");
    app.add_option("--bodies", options.bodies, "How many")->check(CLI::Range(1, 16384))->capture_default_str();
    app.add_option("--steps", options.steps, "Before each frame but the first, or without --record in all")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    app.add_option("--step", options.step, "Of time, the middle's mass and the disk's radius being 1")
        ->check(quadmill::cli::number_from(1e-6, 0.1))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Of their places")->capture_default_str();
    return demo::run_program(app, argc, argv, [&] { run(options); });
}
