#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands.hpp"
#include "cli/groups.hpp"
#include "cli/quantile_questions.hpp"
#include "cli/recent.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"

namespace quadmill::detail::cli {

namespace {

const input::Words<Tail> tail_words{{"high", Tail::High}, {"low", Tail::Low}, {"both", Tail::Both}};

struct QuantilesCommand {
    StreamOptions stream;
    SlidingChoice sliding;
    QuantileQuestions questions;
    double eps = 0.001;
    std::optional<std::uint64_t> n{};
    Tail tail = Tail::Off;
    std::uint64_t max_groups = 10'000;

    void run();

  private:
    void check() const;
    void check_resumed(const OneSummary& summary) const;
    void pass() const;
    void hint(double own_eps, Tail own_tail) const;
    [[nodiscard]] QuantileOptions options() const {
        return {.eps = eps,
                .n = n,
                .window = stream.window,
                .tail = tail,
                .moments = questions.stats() ? Moments::Kept : Moments::Off};
    }

    mutable bool hinted_ = false;
};

void QuantilesCommand::check_resumed(const OneSummary& summary) const {
    const auto with = summary.made_with();
    const auto has_eps = summary.eps();
    check_resumed_eps(stream, eps, has_eps);
    if (sliding.on()) {
        sliding.check_resumed(stream, with.sliding);
        return hint(has_eps, Tail::Off);
    }
    if (stream.verb->count("--tail") > 0 && tail != with.tail) {
        const auto has =
            with.tail == Tail::Off ? "has no tail" : "has --tail " + input::word_for(tail_words, with.tail);
        refuse_resumed(stream, "--tail", has);
    }
    if (questions.stats() && with.moments == Moments::Off)
        refuse_resumed(stream, "--stats", "was made without --stats, so it has no mean,");
    if (n && with.tail != Tail::Off) refuse_resumed(stream, "--n", "has a tail, so it does not use a number");
    check_resumed_plan(stream, summary, [&](std::size_t window) {
        return make_summary(SummaryKind::Quantiles, stream.type(),
                            QuantileOptions{.eps = has_eps, .n = n, .window = window, .tail = with.tail});
    });
    hint(has_eps, with.tail);
}

void QuantilesCommand::pass() const {
    const auto type = stream.type();
    const auto values = questions.values_to_rank(stream.reading, type);
    StreamRun run(stream, cpu::bytes_of(type));
    const Question question{.phis = questions.phis, .width = sliding.asked()};
    const auto kind = sliding.on() ? SummaryKind::SlidingQuantiles : SummaryKind::Quantiles;
    const Summaries how{
        .make =
            [&](auto sorter) {
                return sliding.on() ? make_summary(kind, type, sliding.options(eps), std::move(sorter))
                                    : make_summary(kind, type, options(), std::move(sorter));
            },
        .load = [&](auto bytes, auto sorter) { return load_summary(kind, type, bytes, std::move(sorter)); },
        .check = [this](const OneSummary& some) { check_resumed(some); },
        .ask =
            [&](const OneSummary& some) {
                auto answer = some.answer(question);
                if (questions.of_quantiles()) return answer;
                const auto window = some.window(question.width);
                questions.answer(answer, window ? *window : some, values);
                return answer;
            }};
    if (!stream.group.empty()) return run_groups(run, max_groups, how);
    if (sliding.seconds > 0) return run_recent(run, stream, sliding, how, run.numbers());
    auto summary = run.resumed(how, run.sorter());
    run.run(how, *summary, run.numbers());
}

void QuantilesCommand::check() const {
    questions.check(stream.inputs);
    sliding.check(eps, stream);
    if (n && (sliding.on() || sliding.seconds > 0)) throw CLI::ValidationError("--n", "does not go with --sliding");
    if (questions.stats() && sliding.on())
        throw CLI::ValidationError("--stats", "does not go with --sliding: its mean is of all values");
    if (tail != Tail::Off && sliding.on()) throw CLI::ValidationError("--tail", "does not go with --sliding");
    if (tail != Tail::Off && n) throw CLI::ValidationError("--n", "does not go with --tail, which does not use it");
    refuse_with(stream, "--by", {"--sliding", "--stats", "--rank", "--histogram", "--n"});
    refuse_with(stream, "--weight", {"--sliding", "--n", "--engine"});
    if (!stream.resumes()) hint(eps, tail);
}

// Once, also for groups.
void QuantilesCommand::hint(double own_eps, Tail own_tail) const {
    if (stream.verb->count("--phi") == 0 || own_tail != Tail::Off || std::exchange(hinted_, true)) return;
    for (const double phi : questions.phis) {
        const double part = std::min(phi, 1 - phi);
        if (part <= 0 || part >= own_eps * (1 - 1e-9)) continue;
        fmt::print(stderr,
                   "quadmill: {} {} is coarser than the tail at --phi {}; take --eps {:.1g} or less, or --tail{}\n",
                   stream.resumes() ? "the summary's eps" : "--eps", own_eps, phi, part / 10,
                   stream.resumes() ? ", in a new summary" : "");
        break;
    }
}

void QuantilesCommand::run() {
    questions.format = stream.format;
    if (!stream.column.which.empty()) questions.title = stream.column.which;
    check();
    pass();
}

}  // namespace

void add_quantiles_command(CLI::App& app) {
    auto command = std::make_shared<QuantilesCommand>();
    auto* verb = app.add_subcommand("quantiles",
                                    "Approximate percentiles of a file or pipe, with guaranteed bounds of their ranks");
    add_eps_option(*verb, command->eps);
    verb->add_option(
            "--tail", command->tail,
            "The end near which quantiles are more exact: high, low, or both. The error of a rank is then at most "
            "E times its distance from that end, instead of E * N (default of E with --tail: 0.01)")
        ->transform(input::one_of(tail_words))
        ->type_name("high|low|both");
    command->questions.add_options(*verb);
    add_n_option(*verb, command->n);
    add_sliding_options(*verb, command->sliding);
    add_stream_options(*verb, command->stream, input::type_words);
    auto* column = add_column_options(*verb, command->stream);
    add_group_options(*verb, command->stream, command->max_groups, column, "quantiles");
    add_time_option(*verb, command->stream, column);
    add_weight_option(*verb, command->stream, column);
    add_resume_options(*verb, command->stream);
    verb->footer(
        "For each printed value: its true rank among all N values is between rank_lower and rank_upper, and differs "
        "from phi * N by at most E * N (with --tail by at most E times the distance from the end).\n"
        "\n"
        "Examples:\n"
        "  quadmill quantiles latencies.f32 --eps 0.0001 --phi 0.5,0.99,0.999\n"
        "  quadmill quantiles requests.csv.gz --column seconds --phi p50,p99 --stats\n"
        "  quadmill quantiles latencies.f32 --tail high --phi p99,p99.99\n"
        "  quadmill quantiles requests.csv.gz --column seconds --phi p99 --by path\n"
        "  quadmill quantiles requests.csv --column seconds --weight count --phi p50,p99\n"
        "  tail -n +1 -f latencies.log | quadmill quantiles --text --sliding 100000 --every 10000 "
        "--json\n"
        "  tail -n +1 -f latencies.log | quadmill quantiles --text --sliding 5min --every 10s --json\n"
        "  quadmill quantiles requests.csv --column seconds --time at --sliding 5min --every 1min --phi p99\n"
        "  quadmill quantiles monday.f64 --type f64 --save monday.summary");
    verb->callback([command, verb] {
        if (command->tail != Tail::Off && verb->count("--eps") == 0) command->eps = 0.01;
        command->run();
    });
}

}  // namespace quadmill::detail::cli
