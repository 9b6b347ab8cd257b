#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "cli/aggregate.hpp"
#include "cli/commands.hpp"
#include "cli/groups.hpp"
#include "cli/quantile_questions.hpp"
#include "cli/refusals.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using Kind = SavedSummary::Kind;

// The options that query a kind.
const std::vector<std::string> of_quantiles{"--phi", "--rank", "--histogram", "--plot", "--stats"};
const std::map<Kind, std::vector<std::string>> options_of{
    {Kind::Quantiles, of_quantiles},
    {Kind::Frequencies, {"--support", "-k"}},
    {Kind::SlidingQuantiles, {"--phi", "--rank", "--histogram", "--plot"}},
    {Kind::SlidingFrequencies, {"--support", "-k"}},
    {Kind::HeavyPrefixes, {"--support", "--ipv4", "--all-prefixes"}},
    {Kind::CorrelatedSums, {"--agg", "--scale", "--offset", "--f"}},
    {Kind::TailQuantiles, of_quantiles},
    {Kind::NameFrequencies, {"--support", "-k"}},
    {Kind::Distinct, {}},
    {Kind::Ipv6Prefixes, {"--support", "--all-prefixes"}}};

// The options for a summary. If it consists of parts, those for their kind; groups have no --stats and the like.
std::vector<std::string> options_for(const SavedSummary& summary) {
    const auto& all = options_of.at(summary.parts.value_or(summary.kind));
    if (summary.kind == Kind::Groups && all == of_quantiles) return {"--phi"};
    return all;
}

struct MergeCommand {
    std::vector<std::string> files;
    QuantileQuestions questions;
    double support = 0;
    std::size_t top = 0;
    ThresholdChoice threshold;
    Notation notation = Notation::Hexadecimal;
    HeavyRule rule = HeavyRule::Discounted;
    std::string save;
    Format format = Format::Table;

    // `given` are the options of the call.
    void run(const std::vector<std::string>& given);
    template <class T>
    void run_as(Kind kind);

  private:
    [[nodiscard]] SavedSummary saved(std::size_t which) const;
    void must_be_like_the_first(std::size_t which) const;
    template <class Load>
    [[nodiscard]] auto merged(const Load& load);
    [[nodiscard]] Question question(double eps, double usual_support) const;
    void print(Answer answer, std::uint64_t nans, const auto& summary);
    void print(const auto& summary, const Question& question) {
        print(answer_of(summary, question), nans_of(summary), summary);
    }
    template <class Summary>
    void merge_any(const std::function<Question(const Summary&, double eps)>& ask);
    template <class T>
    void print_quantiles(const Quantiles<T>& summary);

    files::Bytes content_;  // of one file at a time
    SavedSummary first_{};
    std::optional<SaveFile> save_;
};

// The summary in content_.
SavedSummary MergeCommand::saved(std::size_t which) const {
    try {
        return saved_summary(content_.span());
    } catch (const InvalidArgument& error) {
        refuse_file(files[which], error);
    }
}

void MergeCommand::must_be_like_the_first(std::size_t which) const {
    const auto found = saved(which);
    if (found.kind == first_.kind && found.type == first_.type && found.parts == first_.parts) return;
    const auto holds = [&](std::size_t i, const SavedSummary& summary) {
        return fmt::format("{} holds {}", files::input_name(files[i]), full_name_of(summary));
    };
    const auto is_sliding = [](Kind kind) {
        return kind == Kind::SlidingQuantiles || kind == Kind::SlidingFrequencies || kind == Kind::LastSeconds;
    };
    const bool forgets = is_sliding(found.kind) != is_sliding(first_.kind);
    throw CLI::ValidationError(
        "FILE", fmt::format("{}, and {}; only one kind and type can be merged{}", holds(0, first_), holds(which, found),
                            forgets ? ": one has all values, the other has forgotten those before its window" : ""));
}

// Pre: content_ is that of the first file.
template <class Load>
auto MergeCommand::merged(const Load& load) {
    std::optional<decltype(load(content_.span()))> all;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (all) {
            content_ = files::read_file(files[i]);
            must_be_like_the_first(i);
        }
        try {
            auto one = load(content_.span());
            if constexpr (requires { one.moments(); }) {
                if (questions.stats() && one.moments() == Moments::Off)
                    throw CLI::ValidationError(
                        "--stats", fmt::format("{} was saved without --stats", files::input_name(files[i])));
            }
            if (all) {
                all->merge(one);
            } else {
                all = std::move(one);
            }
        } catch (const InvalidArgument& error) {
            refuse_file(files[i], error);
        }
    }
    return std::move(*all);
}

Question MergeCommand::question(double eps, double usual_support) const {
    auto question = threshold.question();
    question.phis = questions.phis;
    question.support = support > 0 ? support : usual_support;
    question.notation = notation;
    question.rule = rule;
    if (question.support < eps)
        throw CLI::ValidationError("--support", fmt::format("must be at least {}, not {}", eps, question.support));
    return question;
}

void MergeCommand::print(Answer answer, std::uint64_t nans, const auto& summary) {
    answer.tail.update({{"bytes", summary.bytes()}, {"nans", nans}});
    if (!save_->takes_standard_output()) {
        const auto text = to_text(answer, format);
        files::OutputFile("-").write(std::as_bytes(std::span(text)));
    }
    save_->save(summary);
}

// Merges summaries, those of the last seconds, or those of groups.
template <class Summary>
void MergeCommand::merge_any(const std::function<Question(const Summary&, double eps)>& ask) {
    using View = std::span<const std::byte>;
    if (first_.kind == Kind::Groups) {
        const auto all =
            merged([](View b) { return Grouped<Summary>::load(b, std::numeric_limits<std::size_t>::max()); });
        const auto asked = ask(all.empty(), eps_of_groups(all));
        const Ask<Summary> answer = [&](const Summary& one) { return answer_of(one, asked); };
        return print(answer_of_groups(all, answer), nans_of_groups(all), all);
    }
    const auto all = merged([this](View b) {
        if (first_.kind != Kind::LastSeconds) return Summary::load(b);
        const auto recent = Recent<Summary>::load(b);
        return recent.summary(recent.latest().value_or(0));
    });
    if constexpr (requires { all.moments(); }) return print_quantiles(all);
    print(all, ask(all, all.eps()));
}

template <class T>
void MergeCommand::print_quantiles(const Quantiles<T>& summary) {
    auto answer = answer_of(summary, question(0, 1));
    questions.answer(answer, summary, questions.values_to_rank<T>({}));
    print(std::move(answer), nans_of(summary), summary);
}

template <class T>
void MergeCommand::run_as(Kind kind) {
    const auto ask_quantiles = [this](const auto& /*summary*/, double /*eps*/) { return question(0, 1); };
    const auto ask_frequencies = [this](const auto& /*summary*/, double eps) {
        auto asked = question(eps, std::min(1.0, (top > 0 ? 1 : 10) * eps));
        asked.top = top;
        return asked;
    };
    const auto answer_frequencies = [&](const auto& summary) {
        print(summary, ask_frequencies(summary, summary.eps()));
    };
    const auto answer_prefixes = [this](const auto& summary) {
        print(summary, question(summary.options().support, summary.options().support));
    };
    using View = std::span<const std::byte>;
    switch (kind) {
        case Kind::Quantiles:
        case Kind::TailQuantiles:
            return merge_any<Quantiles<T>>(ask_quantiles);
        case Kind::SlidingQuantiles:
            return print_quantiles(merged([](View b) { return SlidingQuantiles<T>::load(b).summary(); }));
        case Kind::Frequencies:
            return merge_any<Frequencies<T>>(ask_frequencies);
        case Kind::SlidingFrequencies:
            return answer_frequencies(merged([](View b) { return SlidingFrequencies<T>::load(b).summary(); }));
        case Kind::CorrelatedSums:
            return print(merged([](View b) { return CorrelatedSums<T>::load(b); }), question(0, 1));
        case Kind::NameFrequencies:
            return merge_any<Frequencies<std::string>>(ask_frequencies);
        case Kind::Distinct:
            return print(merged([](View b) { return Distinct::load(b); }), {});
        case Kind::Ipv6Prefixes:
            return answer_prefixes(merged([](View b) { return HeavyPrefixes<Ipv6>::load(b); }));
        case Kind::Groups:
        case Kind::LastSeconds:  // not within others
        case Kind::HeavyPrefixes:
            break;
    }
    if constexpr (std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::uint64_t>)
        return answer_prefixes(merged([](View b) { return HeavyPrefixes<T>::load(b); }));
    throw InvalidArgument(files::input_name(files.front()) + " has prefixes of values without prefixes; it is damaged");
}

void MergeCommand::run(const std::vector<std::string>& given) {
    if (std::ranges::count(files, "-") > 1)
        throw CLI::ValidationError("FILE", "- is standard input, which can be read once; name files");
    if (!save.empty()) input::refuse_inputs("--save", save, files);
    input::refuse_inputs("FILE", "-", files);
    content_ = files::read_file(files.front());
    first_ = saved(0);
    const auto kind = first_.parts.value_or(first_.kind);
    const auto type = first_.type;
    const auto options = options_for(first_);
    questions.format = format;
    questions.check(files);
    constexpr std::array with_parts{Kind::Quantiles, Kind::TailQuantiles, Kind::Frequencies, Kind::NameFrequencies};
    if (first_.parts && std::ranges::find(with_parts, kind) == with_parts.end()) {
        throw InvalidArgument(
            fmt::format("{} holds {}, which only programs read", files::input_name(files[0]), name_of(first_)));
    }
    for (const auto& option : given) {
        if (std::ranges::find(options, option) == options.end())
            throw CLI::ValidationError(option, fmt::format("does not go with {}, which {} holds", name_of(first_),
                                                           files::input_name(files[0])));
    }
    if (kind == Kind::CorrelatedSums && threshold.aggregate.empty())
        throw CLI::ValidationError("--agg", "is required for correlated sums");
    if (notation == Notation::Ipv4 && type != KeyType::U32)
        throw CLI::ValidationError("--ipv4", "goes with prefixes of u32 values");
    save_.emplace(save, format);
    files::OutputFile("-").must_be_open();
    cpu::visit_key_type(type, [&]<class T>(const T*) { run_as<T>(kind); });
}

}  // namespace

void add_merge_command(CLI::App& app) {
    auto command = std::make_shared<MergeCommand>();
    auto* verb = app.add_subcommand("merge", "Merge summaries saved with --save, and print the result for all data");
    verb->add_option(
            "FILE", command->files,
            "Summaries of the same kind and type. The summary of a sliding window adds its whole window. Those "
            "of groups (--by) are merged group by group")
        ->required();
    command->questions.add_options(*verb);
    add_support_option(*verb, command->support)->default_str("10 * eps, or the value given to hhh");
    verb->add_option("-k", command->top, "For frequencies: instead of --support, the K most frequent values")
        ->transform(input::count_up_to(1'000'000))
        ->excludes("--support")
        ->type_name("K");
    add_threshold_options(*verb, command->threshold, "For correlated sums: ");
    verb->add_flag(
        "--ipv4", [command](std::int64_t) { command->notation = Notation::Ipv4; },
        "For hhh: write prefixes as IPv4 addresses");
    add_all_prefixes_option(*verb, command->rule);
    add_save_option(*verb, command->save);
    add_json_option(*verb, command->format);
    verb->footer(
        "The options depend on the verb that saved the summaries: --phi, --rank, --histogram, --plot and --stats (if "
        "all were saved with --stats) for quantiles (--phi alone for groups), --support or -k for frequent, --support, "
        "--ipv4 and --all-prefixes for hhh, the options \"for correlated sums\" for corrsum.\n"
        "The error eps of the merged summary is the max eps of its inputs.\n"
        "\n"
        "Examples:\n"
        "  quadmill merge monday.summary tuesday.summary --phi 0.5,0.99\n"
        "  quadmill merge hosts/*.summary --support 0.01 --save all.summary --json");
    verb->callback([command, verb] {
        std::vector<std::string> given;
        for (const auto& [kind, options] : options_of) {
            for (const auto& option : options) {
                if (verb->count(option) > 0) given.push_back(option);
            }
        }
        command->run(given);
    });
}

}  // namespace quadmill::detail::cli
