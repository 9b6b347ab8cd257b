#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "bench/picture_bench.hpp"
#include "cli/bench_report.hpp"
#include "cli/bench_call_times.hpp"
#include "cli/commands.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

struct BenchPicture : BenchRun {
    std::vector<std::size_t> bins{64, 256, 1024};
    int width = 1920, height = 1080;
    bool with_parts = false;

    void run();

  private:
    void print(const PictureCase& which, const std::vector<CallTimes>& found) const;
    [[nodiscard]] static Json to_json(const PictureCase& which, const std::vector<CallTimes>& found);
};

const char* scale_word(BinScale scale) {
    return scale == BinScale::Linear ? "linear" : "logarithmic";
}

void BenchPicture::print(const PictureCase& which, const std::vector<CallTimes>& found) const {
    fmt::print("\n{} x {} RGBA16F, {} {} bins\n", which.width, which.height, which.bins, scale_word(which.scale));
    print_call_times(found, with_parts);
}

Json BenchPicture::to_json(const PictureCase& which, const std::vector<CallTimes>& found) {
    return {{"width", which.width},
            {"height", which.height},
            {"bins", which.bins},
            {"scale", scale_word(which.scale)},
            {"contenders", call_times_json(found)}};
}

void BenchPicture::run() {
    auto [context, why_not] = open_context();
    if (!context) throw ContextError(why_not);
    auto report = facts(context, {});
    if (!json) print_facts(context, "from the call to the end of the last pass");
    report["cases"] = Json::array();
    bool right = true;
    for (const auto scale : {BinScale::Linear, BinScale::Logarithmic}) {
        for (const auto number : bins) {
            const PictureCase which{.width = width, .height = height, .bins = number, .scale = scale};
            const auto found = measure_picture(*context, which, repeat);
            right = right && std::ranges::all_of(found, &CallTimes::verified);
            if (!json) print(which, found);
            report["cases"].push_back(to_json(which, found));
        }
    }
    if (json) fmt::print("{}\n", report.dump());
    if (!right) throw Error("bench picture: a histogram was wrong; see above");
}

}  // namespace

void add_bench_picture_command(CLI::App& bench, const std::string& command_line) {
    auto work = std::make_shared<BenchPicture>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand(
        "picture", "Time statistics of a picture in a texture: of the GPU, and of the CPU until the call returns");
    verb->add_option("--bins", work->bins, "Numbers of bins, comma-separated")
        ->delimiter(',')
        ->check(CLI::Range(1, 1024))
        ->type_name("N,...")
        ->default_str("64,256,1024");
    verb->add_option("--width", work->width, "Width of the picture")
        ->check(CLI::Range(1, 16384))
        ->capture_default_str();
    verb->add_option("--height", work->height, "Height of the picture")
        ->check(CLI::Range(1, 16384))
        ->capture_default_str();
    verb->add_flag("--parts", work->with_parts, "Also the time of each kind of pass");
    work->add_report_options(*verb);
    verb->footer(
        "Examples:\n"
        "  quadmill bench picture --parts\n"
        "  quadmill bench picture --bins 256 --width 3840 --height 2160 --json");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
