#include <algorithm>
#include <memory>

#include "cli/commands.hpp"
#include "cli/groups.hpp"
#include "cli/recent.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"

namespace quadmill::detail::cli {

namespace {

struct FrequentCommand {
    StreamOptions stream;
    SlidingChoice sliding;
    SupportChoice support;
    std::size_t top = 0;
    bool names = false;
    std::uint64_t max_groups = 10'000;

    void run();

  private:
    void check_resumed(const OneSummary& summary, SummaryKind kind) const;
    void pass() const;
};

void FrequentCommand::check_resumed(const OneSummary& summary, SummaryKind kind) const {
    const auto eps = summary.eps();
    support.check_resumed(stream, eps);
    if (sliding.on()) return sliding.check_resumed(stream, summary.made_with().sliding);
    if (names) return;
    check_resumed_plan(stream, summary, [&](std::size_t window) {
        return make_summary(kind, stream.type(), FrequencyOptions{.eps = eps, .window = window});
    });
}

void FrequentCommand::pass() const {
    const auto kind = names          ? SummaryKind::NameFrequencies
                      : sliding.on() ? SummaryKind::SlidingFrequencies
                                     : SummaryKind::Frequencies;
    const auto type = stream.type();
    StreamRun run(stream, names ? 0 : cpu::bytes_of(type));
    const Question question{.support = support.support, .top = top, .width = sliding.asked()};
    const FrequencyOptions options{.eps = support.eps(), .window = stream.window};
    const Summaries how{
        .make =
            [&](auto sorter) {
                return sliding.on() ? make_summary(kind, type, sliding.options(support.eps()), std::move(sorter))
                                    : make_summary(kind, type, options, std::move(sorter));
            },
        .load = [&](auto bytes, auto sorter) { return load_summary(kind, type, bytes, std::move(sorter)); },
        .check = [&](const OneSummary& some) { check_resumed(some, kind); },
        .ask = [&](const OneSummary& some) { return some.answer(question); }};
    const auto form = names ? StreamForm{input::text_parser} : run.numbers();
    if (!stream.group.empty()) return run_groups(run, max_groups, how);
    if (sliding.seconds > 0) return run_recent(run, stream, sliding, how, form);
    auto summary = run.resumed(how, names ? nullptr : run.sorter());
    if (names) run.use_cpu();
    run.run(how, *summary, form);
}

// The k most frequent values are among those that may occur eps n times or more, unless fewer than k do.
void FrequentCommand::run() {
    if (top > 0) {
        constexpr double usual = 1e-3, a_value = 0.1;
        if (!support.given_eps) support.given_eps = std::min(usual, a_value / static_cast<double>(top));
        support.support = *support.given_eps;
    } else if (support.support == 0) {
        throw CLI::RequiredError("--support or -k");
    }
    support.check();
    sliding.check(support.eps(), stream);
    refuse_with(stream, "--by", {"--sliding", "--names"});
    refuse_with(stream, "--weight", {"--sliding", "--engine"});
    if (names) {
        if (sliding.on())
            throw CLI::ValidationError("--names",
                                       "does not go with --sliding and a number of values, only with a time");
        refuse_with(stream, "--names", {"--type", "--raw", "--window"});
        stream.reading.form = input::Form::Text;
        return pass();
    }
    try {
        pass();
    } catch (const input::BadInput& error) {
        if (!error.is_not_a_number()) throw;
        throw input::BadInput(std::string(error.what()) + "; --names counts texts");
    }
}

}  // namespace

void add_frequent_command(CLI::App& app) {
    auto command = std::make_shared<FrequentCommand>();
    auto* verb =
        app.add_subcommand("frequent", "Values that occur often in a file or pipe, with bounds of their counts");
    add_support_options(*verb, command->support);
    verb->get_option("--support")->required(false);
    verb->add_option("-k", command->top,
                     "Instead of --support: the K most frequent values, by their estimates. The default of E is then "
                     "0.1 / K, but at most 0.001. A value may be missing if its share is below E")
        ->transform(input::count_up_to(1'000'000))
        ->excludes("--support")
        ->type_name("K");
    add_sliding_options(*verb, command->sliding);
    add_stream_options(*verb, command->stream, input::type_words);
    verb->add_flag(
        "--names", command->names,
        "Values are names: the lines of the input, or with --column its fields. A summary has at most 2 / E names");
    auto* column = add_column_options(*verb, command->stream);
    add_group_options(*verb, command->stream, command->max_groups, column, "frequent values");
    add_time_option(*verb, command->stream, column);
    add_weight_option(*verb, command->stream, column);
    add_resume_options(*verb, command->stream);
    verb->footer(
        "Reports every value that makes up at least the fraction S of the input, and no value that makes up less "
        "than S - E.\n"
        "\n"
        "Examples:\n"
        "  quadmill frequent ports.u32 --type u32 --support 0.01\n"
        "  quadmill frequent requests.csv --column status --type u32 -k 10\n"
        "  quadmill frequent requests.csv --column path --names -k 20\n"
        "  quadmill frequent requests.csv --column path --names --weight bytes -k 20\n"
        "  cut -d' ' -f9 access.log | quadmill frequent --text --type i32 --support 0.05 --eps 0.001\n"
        "  tail -f codes.txt | quadmill frequent --text --type u32 --support 0.1 --sliding 10000 "
        "--every 1000");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
