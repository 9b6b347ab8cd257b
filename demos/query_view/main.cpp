// Watches a query: its passes over the depth and stencil buffers, while a rectangle of the rows is dragged. In a
// window, or as frames in a folder (--record DIR). With --points, an index counts the points in the rectangle instead.
#include <cstdio>
#include <numeric>
#include <utility>

#include "brush.hpp"
#include "input/csv.hpp"
#include "scene.hpp"
#include "show/film.hpp"
#include "show/watch_words.hpp"
#include "window/program.hpp"

namespace {

struct Options {
    std::string file;
    std::size_t rows = 4096, points = 0;
    std::uint32_t seed = 1;
    demo::Explorer::Axes axes;
    quadmill::QueryEngine engine = quadmill::QueryEngine::Depth;
    demo::Pictures pictures{.frames = 48};
};

void add_options(CLI::App& app, Options& options) {
    app.add_option("FILE", options.file, "CSV with a line of names (default: invented houses)")->type_name("");
    app.add_option("--rows", options.rows, "Number of houses")->check(CLI::Range(1, 1 << 16))->capture_default_str();
    app.add_option(
           "--points", options.points,
           "Instead of houses, that many invented points: an index counts those in the rectangle, and no passes "
           "are shown")
        ->check(CLI::Range(1, 1 << 26))
        ->excludes("FILE");
    app.add_option("--seed", options.seed, "Seed of the houses or points")->capture_default_str();
    app.add_option("--x", options.axes.x, "The column of the horizontal axis")->type_name("NAME");
    app.add_option("--y", options.axes.y, "The column of the vertical axis")->type_name("NAME");
    app.add_option("--engine", options.engine, "The engine that counts (default: depth)")
        ->transform(quadmill::detail::input::one_of(quadmill::detail::show::watched_query_words));
    demo::add_picture_options(app, options.pictures, "The passes of a query, then as many of a sweep");
}

quadmill::Table table_of(const Options& options) {
    if (options.file.empty()) return demo::make_houses(options.rows, options.seed);
    const quadmill::detail::input::CsvFile file(options.file);
    quadmill::detail::input::CsvColumns all(file.names().unique.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return quadmill::detail::input::filled(file.table(all, 0));
}

demo::Explorer explorer(quadmill::Context context, const Options& options) {
    return {std::move(context), table_of(options), options.axes, options.engine};
}

// The passes of the first query, one after the other; then the answers while the rectangle moves over the rows.
void record(const Options& options, demo::show::Size size) {
    auto explored = explorer(quadmill::Context::headless(), options);
    const auto frames = options.pictures.frames, swept = frames / 2, stepped = frames - swept;
    const demo::show::Recording recording{.directory = options.pictures.record, .frames = frames, .rate = 4};
    const auto said = demo::show::record(recording, [&](std::size_t frame) {
        if (frame < stepped) {
            explored.go_to(static_cast<std::ptrdiff_t>(frame * explored.places() / stepped));
        } else {
            const double way = static_cast<double>(frame - stepped + 1) / static_cast<double>(swept);
            explored.sweep_rectangle(0.05 + 0.5 * way, 0.05 + 0.35 * way, 0.4 - 0.2 * way);
            explored.go_to(static_cast<std::ptrdiff_t>(explored.places()));
        }
        return explored.draw(size);
    });
    std::puts(said.c_str());
}

// A rectangle that moves over the points and becomes smaller.
void record_brush(const Options& options, demo::show::Size size) {
    const auto context = quadmill::Context::headless();
    const quadmill::Session session(context);
    demo::Brush brush(context, options.points, options.seed);
    const auto frames = options.pictures.frames;
    const auto said = demo::show::record({.directory = options.pictures.record, .frames = frames, .rate = 30},
                                         [&](std::size_t frame) {
                                             const auto way = static_cast<float>(frame) / static_cast<float>(frames);
                                             const float x = 0.05F + 0.5F * way, y = 0.05F + 0.35F * way;
                                             const float side = 0.4F - 0.3F * way;
                                             brush.set_rectangle({x, y, x + side, y + side}, demo::Brush::Compare::Yes);
                                             return brush.draw(size);
                                         });
    std::puts(said.c_str());
    std::puts(brush.summary().c_str());
}

void run_brush(const Options& options, demo::show::Size size) {
    demo::run_window({.name = "query_view", .size = size}, [&](auto get_proc_address) {
        return demo::make_brush_scene(
            demo::Brush(quadmill::Context::adopt(get_proc_address), options.points, options.seed));
    });
}

void run(const Options& options) {
    const auto size = options.pictures.parsed_size();
    if (options.points > 0) return options.pictures.recorded() ? record_brush(options, size) : run_brush(options, size);
    if (options.pictures.recorded()) return record(options, size);
    demo::run_window({.name = "query_view", .size = size}, [&](auto get_proc_address) {
        return demo::make_query_scene(explorer(quadmill::Context::adopt(get_proc_address), options));
    });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Watch a query by the graphics pipeline: what each pass leaves in the depth and stencil buffers.",
                 "query_view"};
    Options options;
    add_options(app, options);
    return demo::run_program(app, argc, argv, [&] { run(options); });
}
