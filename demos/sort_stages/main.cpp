// Watches a sort, stage by stage, forward and back: in a window, or as frames in a folder (--record DIR).
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/show_words.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "show/film.hpp"
#include "window.hpp"

namespace {

using quadmill::cli::one_of;
using quadmill::cli::watched_words;

constexpr int failed = 1, wrong_call = 2;

struct Options {
    demo::show::Request request;
    std::optional<demo::show::Watched> race;
    std::string size = "1280x800", record;
    std::size_t frames = 0;
    bool hide_times = false;
};

void add_options(CLI::App& app, Options& options) {
    quadmill::cli::add_watch_options(app, options.request);
    app.add_option("--race", options.race, "A second engine beside it, at the same number of passes")
        ->transform(one_of(watched_words));
    app.add_option("--size", options.size, "Of the frames or the window")->capture_default_str();
    app.add_option("--record", options.record, "Write frames to this folder as PNG, without a window or display");
    app.add_option("--frames", options.frames, "So many, evenly spaced (default: one a step)")
        ->check(CLI::PositiveNumber);
    app.add_flag("--hide-times", options.hide_times, "Leave measured times out of the window");
}

std::vector<demo::show::Request> requests(const Options& options) {
    std::vector<demo::show::Request> all{options.request};
    if (options.race) {
        all.push_back(options.request);
        all.back().engine = *options.race;
    }
    return all;
}

int record(const Options& options, demo::show::Size size) {
    auto context = quadmill::Context::headless();
    std::vector<demo::show::Stages> sorts;
    for (const auto& request : requests(options)) sorts.push_back(demo::show::watch(context, request));
    demo::Player player(std::move(sorts));
    const auto frames = options.frames > 0 ? options.frames : player.places();
    const auto outcome = demo::show::record({.directory = options.record, .frames = frames}, [&](std::size_t frame) {
        const auto last = player.places() - 1;
        player.go_to(static_cast<std::ptrdiff_t>(frames > 1 ? frame * last / (frames - 1) : last));
        return player.draw(size, demo::show::Times::Hidden);
    });
    std::puts(outcome.c_str());
    return 0;
}

int run(int argc, char** argv) {
    CLI::App app{"Watch a sort by the graphics pipeline, stage by stage, forward and back.", "sort_stages"};
    Options options;
    add_options(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : wrong_call;
    }
    const auto size = demo::show::parse_size(options.size);
    if (!options.record.empty()) return record(options, size);
    return demo::run_window({.sorts = requests(options),
                             .size = size,
                             .times = options.hide_times ? demo::show::Times::Hidden : demo::show::Times::Shown});
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const quadmill::InvalidArgument& error) {
        std::fprintf(stderr, "sort_stages: %s\n", error.what());
        return wrong_call;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sort_stages: %s\n", error.what());
        return failed;
    }
}
