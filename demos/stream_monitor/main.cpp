// Watches the last values of a stream while it arrives: their quantiles over time, their histogram and the frequent
// values, each with its error. In a window, or as frames in a folder (--record DIR).
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "feed.hpp"
#include "input/checks.hpp"
#include "input/words.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "scene.hpp"
#include "show/film.hpp"
#include "show/monitor.hpp"
#include "window/program.hpp"

namespace {

namespace show = demo::show;
using demo::Feed;
using quadmill::detail::input::count_up_to;
using quadmill::detail::input::number_from;

struct Options {
    std::string input;
    demo::Reading reading;
    demo::Watching watching;
    std::uint64_t seed = 1;
    demo::Pictures pictures;

    [[nodiscard]] bool made_up() const { return input.empty(); }
};

void add_options(CLI::App& app, Options& options) {
    auto* file =
        app.add_option("FILE", options.input,
                       "32-bit floats, raw and little-endian; - is standard input. Without it, a stream is made up");
    quadmill::detail::input::add_form_options(app, options.reading, "Input is text, one number a line")->needs(file);
    auto& monitor = options.watching.monitor;
    app.add_option("--window", monitor.window, "Only the last N values count")
        ->transform(count_up_to(std::uint64_t{1} << 30U))
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--eps", monitor.eps, "The allowed error as a fraction of the window, from 1e-6 to 0.5")
        ->check(number_from(1e-6, 0.5))
        ->capture_default_str();
    app.add_option("--support", monitor.support, "Min fraction of the window that counts as frequent")
        ->check(number_from(1e-6, 1))
        ->capture_default_str();
    app.add_option("--every", monitor.every, "Values between moments of the time axis (default: a 40th of the window)")
        ->transform(count_up_to(std::uint64_t{1} << 30U))
        ->type_name("K");
    app.add_option("--engine", options.watching.engine, "The engine that sorts (default: auto)")
        ->transform(quadmill::detail::input::one_of(quadmill::detail::input::engine_words));
    app.add_option("--seed", options.seed, "Seed of the made-up stream")->capture_default_str();
    app.add_option("--speed", options.watching.speed,
                   "Max values per second in the window (default: 200,000 of a made-up stream, else as they come)")
        ->check(number_from(demo::Watching::slowest, demo::Watching::fastest));
    demo::add_picture_options(
        app, options.pictures,
        "Max number of frames, one per moment (default: 120 of a made-up stream, else to its end)");
    app.add_flag(
        "--hide-times", [&options](std::int64_t) { options.watching.times = demo::Watching::Times::Hidden; },
        "Leave measured times out of the window");
}

std::unique_ptr<Feed> open(const Options& options) {
    constexpr std::uint64_t windows = 3;  // until an invented stream repeats
    if (!options.made_up()) return std::make_unique<demo::Reader>(options.input, options.reading);
    return std::make_unique<demo::MadeUp>(options.seed, windows * options.watching.monitor.window);
}

// Makes sorters in a context of their own, if there is one.
show::Monitor::MakeSorter sorters(quadmill::Engine engine) {
    using quadmill::Engine;
    try {
        if (engine != Engine::Cpu) {
            return [context = quadmill::Context::headless(), engine] {
                return quadmill::window_sorter(context, {.engine = engine});
            };
        }
    } catch (const quadmill::ContextError&) {
        if (engine != Engine::Auto) throw;
    }
    return [] { return quadmill::cpu_window_sorter(); };
}

void record(const Options& options, Feed& feed) {
    const auto size = options.pictures.parsed_size();
    show::Monitor monitor(options.watching.monitor, sorters(options.watching.engine));
    show::Recording recording{.directory = options.pictures.record, .rate = 12};
    if (options.pictures.frames > 0 || options.made_up())
        recording.frames = options.pictures.frames > 0 ? options.pictures.frames : 120;
    auto state = show::MonitorModel::State::Running;
    std::string fault;
    const auto said = show::record(recording, [&](std::size_t) -> std::optional<show::Canvas> {
        if (state == show::MonitorModel::State::Ended) return {};
        try {
            monitor.add(feed.take(monitor.options().step(), Feed::Wait::Yes));
        } catch (const demo::BadInput& error) {
            fault = error.what();
            return {};
        }
        if (feed.interrupted()) return {};
        if (feed.ended()) state = show::MonitorModel::State::Ended;
        auto model = monitor.model();
        model.state = state;
        return show::draw_monitor(model, size);
    });
    std::puts(said.c_str());
    if (!fault.empty()) throw demo::BadInput(fault);
    if (feed.interrupted()) throw demo::Interrupted();
}

// The feed is made first: it blocks signals for all threads that start later.
void run(const Options& options) {
    const auto size = options.pictures.parsed_size();
    const auto feed = open(options);
    try {
        if (options.pictures.recorded()) return record(options, *feed);
        auto watching = options.watching;
        if (watching.speed == 0) watching.speed = options.made_up() ? 2e5 : demo::Watching::fastest;
        demo::run_window({.name = "stream_monitor", .size = size}, [&](auto get_proc_address) {
            return demo::make_monitor_scene(get_proc_address, *feed, watching);
        });
    } catch (const demo::Interrupted&) {
        throw CLI::RuntimeError(feed->interrupt_status());
    } catch (const demo::BadInput& error) {
        std::fprintf(stderr, "stream_monitor: %s\n", error.what());
        throw CLI::RuntimeError(demo::BadInput::status);
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"Watch the last values of a stream: quantiles, histogram and frequent values, with their errors.",
                 "stream_monitor"};
    Options options;
    add_options(app, options);
    return demo::run_program(app, argc, argv, [&] { run(options); });
}
