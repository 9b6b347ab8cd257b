#include <fmt/core.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "bench/stream_bench.hpp"
#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using namespace detail::bench;  // NOLINT(google-build-using-namespace): this file is that room's voice

const input::Words<Summary> summary_words{{"quantiles", Summary::Quantiles},
                                          {"frequencies", Summary::Frequencies},
                                          {"sliding-quantiles", Summary::SlidingQuantiles},
                                          {"sliding-frequencies", Summary::SlidingFrequencies}};

// Figures of Apache DataSketches (C++), whose code is not part of this program: measured elsewhere, and only quoted.
struct Quoted {
    const char *sketch, *what;
    double figure;
    const char* unit;
};
constexpr const char* quoted_from = "Apache DataSketches on one CPU thread of the H100 machine, November 2026";
constexpr std::array quoted_figures{Quoted{"KLL, k 3200", "f32 in bulk, eps 1e-3", 27e6, "values/s"},
                                    Quoted{"frequent_items", "u32 in bulk, slowest", 65e6, "values/s"},
                                    Quoted{"frequent_items", "u32 in bulk, fastest", 84e6, "values/s"},
                                    Quoted{"REQ, k 12", "p99.99 of 2e7 values", 14, "ranks off"},
                                    Quoted{"REQ, k 12", "saved", 11'000, "bytes"},
                                    Quoted{"KLL", "merge of parts of 1e5, eps 1e-3", 45, "us a part"},
                                    Quoted{"KLL", "merge of parts of 1e5, eps 1e-4", 3'100, "us a part"}};

Json quoted_json() {
    auto rows = Json::array();
    for (const auto& q : quoted_figures)
        rows.push_back({{"sketch", q.sketch}, {"what", q.what}, {"figure", q.figure}, {"unit", q.unit}});
    return {{"from", quoted_from}, {"figures", std::move(rows)}};
}

void print_quoted() {
    fmt::print("\nNot measured here: {}\n", quoted_from);
    for (const auto& q : quoted_figures) fmt::print("{:<16} {:<32} {:>12} {}\n", q.sketch, q.what, q.figure, q.unit);
}

struct BenchStream : BenchOptions {
    BenchStream() { repeat = 3; }

    std::size_t n = 100'000'000, sliding = 1'000'000, window = 0;
    std::vector<Engine> engines;
    std::vector<Summary> summaries{Summary::Quantiles, Summary::Frequencies};
    std::vector<double> eps{1e-2, 1e-3, 1e-4, 1e-5};
    std::vector<Channels> channels{Channels::Auto};
    std::vector<ChannelMerge> merges{ChannelMerge::FourWays};
    SlidingOptions form{};
    PbsnOptions pbsn{};

    void run();

  private:
    [[nodiscard]] std::vector<StreamContender> contenders() const;
    void add_forms_of_pbsn(std::vector<StreamContender>& all) const;
    static void print_case(const StreamCaseResult& found);
    [[nodiscard]] static Json to_json(const StreamCaseResult& found);
};

// One contender for each use of the channels and each merge that was asked for.
void BenchStream::add_forms_of_pbsn(std::vector<StreamContender>& all) const {
    for (const auto use : channels) {
        for (const auto merge : merges) {
            std::string name = "pbsn";
            if (channels.size() > 1) name += " " + input::word_for(input::channels_words, use);
            if (merges.size() > 1) name += " " + input::word_for(input::channel_merge_words, merge);
            all.push_back({name, Engine::Pbsn, nullptr, pbsn});
            all.back().pbsn.channels = use;
            all.back().pbsn.channel_merge = merge;
        }
    }
}

// The paper's comparison: the same summary with other sorts, each on the calling thread.
std::vector<StreamContender> BenchStream::contenders() const {
    std::vector<StreamContender> all;
    const std::vector usual{Engine::Cpu, Engine::Merge, Engine::Hybrid, Engine::Auto};
    for (const auto engine : engines.empty() ? usual : engines) {
        if (engine == Engine::Pbsn) {
            add_forms_of_pbsn(all);
        } else {
            all.push_back({input::word_for(input::engine_words, engine), engine});
        }
    }
    for (const auto* rival : rivals("stream")) all.push_back({rival->name, {}, rival});
    return all;
}

void BenchStream::print_case(const StreamCaseResult& found) {
    const auto& which = found.which;
    fmt::print("\n{} of {} {} {} values, eps {}{}\n", input::word_for(summary_words, which.summary), which.n,
               input::word_for(input::distribution_words, which.distribution),
               input::word_for(input::type_words, which.type), which.eps,
               which.slides() ? fmt::format(", window {}", which.sliding) : "");
    fmt::print("{:<14} {:>10} {:>22} {:>9} {:>8} {:>8} {:>9} {:>8} {:>8} {:>8} {:>9} {:>10} {:>9}\n", "", "ms",
               "(lowest .. highest)", "Mvalues/s", "upload", "sort", "read back", "sample", "merge", "compress",
               "x slowest", "bytes", "of eps");
    for (const auto& r : found.results) {
        if (!r.ran()) {
            fmt::print("{:<14} {:>10}  {}\n", r.contender->name, "n/a", r.refusal);
            continue;
        }
        fmt::print(
            "{:<14} {:>10.1f} {:>22} {:>9.1f} {:>8.1f} {:>8.1f} {:>9.1f} {:>8.1f} {:>8.1f} {:>8.1f} {:>9.2f} {:>10} "
            "{:>9.3f}{}\n",
            r.contender->name, r.ms, fmt::format("({:.1f} .. {:.1f})", r.low_ms, r.high_ms), per_s(which.n, r) * 1e-6,
            r.parts.upload, r.parts.sort, r.parts.readback, r.parts.sample, r.parts.merge, r.parts.compress,
            r.ms / r.slowest_ms(), r.summary_bytes, r.worst_error, r.verified ? "" : "  WRONG RESULT");
    }
}

Json BenchStream::to_json(const StreamCaseResult& found) {
    const auto& which = found.which;
    Json out{{"summary", input::word_for(summary_words, which.summary)},
             {"type", input::word_for(input::type_words, which.type)},
             {"distribution", input::word_for(input::distribution_words, which.distribution)},
             {"n", which.n},
             {"eps", which.eps},
             {"sliding", which.sliding},
             {"contenders", Json::array()}};
    for (const auto& r : found.results) {
        auto one = contender_json(r, "values_per_s", which.n);
        if (r.ran()) {
            one.update(Json{{"engine", r.engine},
                            {"upload_ms", r.parts.upload},
                            {"sort_ms", r.parts.sort},
                            {"readback_ms", r.parts.readback},
                            {"sample_ms", r.parts.sample},
                            {"merge_ms", r.parts.merge},
                            {"compress_ms", r.parts.compress},
                            {"times_slowest_part", r.ms / r.slowest_ms()},
                            {"summary_bytes", r.summary_bytes},
                            {"bytes", r.bytes},
                            {"worst_error_of_eps", r.worst_error}});
        }
        out["contenders"].push_back(std::move(one));
    }
    return out;
}

void BenchStream::run() {
    std::optional<RivalThreads> rival_threads;
    if (with_rivals) rival_threads.emplace();
    auto [context, why_not] = open_context();
    auto report = facts(context, missing_rivals());
    if (!json) {
        print_facts(context,
                    "from memory to answers; parts overlap, and x slowest is the total over the slowest of sort, "
                    "transfers and summary");
    }
    StreamBench bench(std::move(context), std::move(why_not), contenders(), repeat);
    report["cases"] = Json::array();
    bool right = true;
    for (const auto summary : summaries) {
        for (const auto type : types) {
            for (const auto distribution : distributions) {
                for (const double e : eps) {
                    const auto found = bench.run({summary, type, distribution, n, e, sliding, window, form});
                    for (const auto& result : found.results) right = right && result.verified;
                    if (!json) print_case(found);
                    report["cases"].push_back(to_json(found));
                }
            }
        }
    }
    if (with_rivals) report["quoted"] = quoted_json();
    if (with_rivals && !json) print_quoted();
    if (json) fmt::print("{}\n", report.dump());
    if (!right) throw Error("bench stream: an answer was further off than eps allows; see above");
}

}  // namespace

void add_bench_stream_command(CLI::App& bench, const std::string& command_line) {
    auto work = std::make_shared<BenchStream>();
    work->command_line = command_line;
    auto* verb = bench.add_subcommand("stream", "Time summaries of streams over different sorts of their windows");
    verb->add_option("--n", work->n, "Values of the stream, such as 1000000 or 2^24")
        ->transform(count_of_keys())
        ->default_str("100000000");
    verb->add_option("--summaries", work->summaries, "Summaries")
        ->delimiter(',')
        ->transform(input::one_of(summary_words))
        ->default_str("quantiles,frequencies");
    verb->add_option("--eps", work->eps, "Errors, comma-separated")
        ->delimiter(',')
        ->check(input::number_from(1e-9, 0.5))
        ->default_str("0.01,0.001,0.0001,0.00001");
    verb->add_option("--sliding", work->sliding, "Values of sliding windows")
        ->transform(count_of_keys())
        ->default_str("1000000");
    verb->add_option("--window", work->window, "Values per sort, except for sliding windows (default: by eps)")
        ->transform(input::count_up_to(std::uint64_t{1} << 24U))
        ->type_name("N");
    verb->add_option("--engines", work->engines, "Engines (default: cpu, merge, hybrid, auto)")
        ->delimiter(',')
        ->transform(input::one_of(input::engine_words));
    add_sliding_form_options(*verb, work->form);
    verb->add_flag(
        "--no-early-stop", [work](std::int64_t) { work->pbsn.early_stop = EarlyStop::No; },
        "For pbsn: run all stages of the network");
    verb->add_option("--channels", work->channels, "For pbsn: uses of the channels of a texture, one contender each")
        ->delimiter(',')
        ->transform(input::one_of(input::channels_words))
        ->default_str("auto");
    verb->add_option("--channel-merge", work->merges, "For pbsn: merges of the channels, one contender each")
        ->delimiter(',')
        ->transform(input::one_of(input::channel_merge_words))
        ->default_str("four");
    work->add_to(*verb);
    verb->footer(
        "Examples:\n"
        "  quadmill bench stream --n 2^24 --eps 0.001,0.0001 --rivals\n"
        "  quadmill bench stream --summaries sliding-quantiles --sliding 10000000 --engines cpu,merge --json\n"
        "  quadmill bench stream --n 2^22 --engines cpu,pbsn --channels windows,split --channel-merge four,two");
    verb->callback([work] { work->run(); });
}

}  // namespace quadmill::detail::cli
