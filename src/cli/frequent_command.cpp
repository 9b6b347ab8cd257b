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
    template <class T>
    void run_as() const;

  private:
    void run_names() const;
};

// Values that are text.
void FrequentCommand::run_names() const {
    StreamRun run(stream, 0);
    using Names = Frequencies<std::string>;
    const Question question{.support = support.support, .top = top};
    const auto make = [this] { return Names({.eps = support.eps()}); };
    const auto ask = [&](const Names& some) { return answer_of(some, question); };
    const auto check = [this](const Names& some) { support.check_resumed(stream, some.eps()); };
    if (sliding.seconds > 0) return run_recent<std::string, Names>(run, stream, sliding, make, check, ask);
    auto summary = run.resumed([](auto bytes) { return Names::load(bytes); }, make, check);
    const auto any = any_summary<Names>(summary, ask);
    run.use_cpu();
    if (!stream.weight.empty()) {
        return run.run_pairs<std::string, std::uint64_t>(any, input_parser<std::string>(stream), parse_weight,
                                                         [&](auto pairs) {
                                                             for (const auto& [name, weight] : pairs)
                                                                 summary.add(name, weight);
                                                         });
    }
    run.run_names(any, [&](std::span<const std::string> some) { summary.add(some); });
}

template <class T>
void FrequentCommand::run_as() const {
    StreamRun run(stream, sizeof(T));
    const Question question{.support = support.support, .top = top, .width = sliding.asked()};
    const FrequencyOptions options{.eps = support.eps(), .window = stream.window};
    const auto make = [options] { return Frequencies<T>(options); };
    const auto ask = [&](const Frequencies<T>& some) { return answer_of(some, question); };
    const auto check = [this](const Frequencies<T>& some) {
        support.check_resumed(stream, some.eps());
        check_resumed_plan(stream, some,
                           [&](std::size_t window) { return Frequencies<T>({.eps = some.eps(), .window = window}); });
    };
    if (!stream.group.empty()) return run_groups<T, Frequencies<T>>(run, stream, max_groups, make, check, ask);
    if (sliding.seconds > 0) return run_recent<T, Frequencies<T>>(run, stream, sliding, make, check, ask);
    const auto run_with = [&]<class Summary>(Summary summary) {
        const auto any = any_summary<Summary>(summary, [&](const auto& some) { return answer_of(some, question); });
        if constexpr (std::is_same_v<Summary, Frequencies<T>>) {
            if (!stream.weight.empty())
                return run.run_weighted<T>(any, [&](auto values, auto weights) { summary.add(values, weights); });
        }
        run.run<T>(any, [&](std::span<const T> values) { summary.add(values); });
    };
    auto sorter = run.sorter();
    const auto resumed = [&]<class Summary>(const auto& how, const auto& check_it) {
        return run.resumed([&](auto bytes) { return Summary::load(bytes, std::move(sorter)); },
                           [&] { return Summary(how, std::move(sorter)); }, check_it);
    };
    if (sliding.on()) {
        return run_with(resumed.template operator()<SlidingFrequencies<T>>(
            sliding.options(support.eps()), [this](const SlidingFrequencies<T>& some) {
                support.check_resumed(stream, some.options().eps);
                sliding.check_resumed(stream, some.options());
            }));
    }
    run_with(resumed.template operator()<Frequencies<T>>(options, check));
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
        return run_names();
    }
    try {
        cpu::visit_key_type(stream.type(), [this]<class T>(const T*) { run_as<T>(); });
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
