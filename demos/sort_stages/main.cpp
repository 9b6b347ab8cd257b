// Watches a sort, stage by stage, forward and back: in a window, or as frames in a folder (--record DIR).
#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "scene.hpp"
#include "show/film.hpp"
#include "show/watch_words.hpp"
#include "window/program.hpp"

namespace {

using quadmill::detail::input::one_of;
using quadmill::detail::show::watched_words;

struct Options {
    demo::show::Request request;
    std::optional<demo::show::Watched> race;
    demo::Pictures pictures;
    bool hide_times = false;
};

void add_options(CLI::App& app, Options& options) {
    quadmill::detail::show::add_watch_options(app, options.request);
    app.add_option("--race", options.race, "A second engine next to it, at the same number of passes")
        ->transform(one_of(watched_words));
    demo::add_picture_options(app, options.pictures, "Number of frames, evenly spaced (default: one per step)");
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

void record(const Options& options, demo::show::Size size) {
    auto context = quadmill::Context::headless();
    std::vector<demo::show::Stages> sorts;
    for (const auto& request : requests(options)) sorts.push_back(demo::show::watch(context, request));
    demo::Player player(std::move(sorts));
    const auto frames = options.pictures.frames > 0 ? options.pictures.frames : player.places();
    constexpr std::size_t min_seconds = 12;  // min length of the film, so that few steps can be read
    const demo::show::Recording recording{
        .directory = options.pictures.record,
        .frames = frames,
        .rate = static_cast<int>(std::clamp<std::size_t>(frames / min_seconds, 1, 12))};
    const auto said = demo::show::record(recording, [&](std::size_t frame) {
        const auto last = player.places() - 1;
        player.go_to(static_cast<std::ptrdiff_t>(frames > 1 ? frame * last / (frames - 1) : last));
        return player.draw(size, demo::show::Times::Hidden);
    });
    std::puts(said.c_str());
}

void run(const Options& options) {
    const auto size = options.pictures.parsed_size();
    if (options.pictures.recorded()) return record(options, size);
    demo::run_window({.name = "sort_stages", .size = size}, [&](auto get_proc_address) {
        return demo::make_stages_scene(get_proc_address, requests(options),
                                       options.hide_times ? demo::show::Times::Hidden : demo::show::Times::Shown);
    });
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Watch a sort by the graphics pipeline, stage by stage, forward and back.", "sort_stages"};
    Options options;
    add_options(app, options);
    return demo::run_program(app, argc, argv, [&] { run(options); });
}
