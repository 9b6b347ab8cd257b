#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

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

  private:
    [[nodiscard]] SavedSummary saved(std::size_t which) const;
    void must_be_like_the_first(std::size_t which) const;
    [[nodiscard]] std::unique_ptr<MergedSummary> load(Kind kind) const;
    [[nodiscard]] std::unique_ptr<MergedSummary> merged(Kind kind);
    [[nodiscard]] Question question(double eps, double usual_support) const;
    [[nodiscard]] Answer answer(Kind kind, const MergedSummary& summary) const;

    files::Bytes content_;  // of one file at a time
    SavedSummary first_{};
    Summaries parts_{};  // of Groups and LastSeconds
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

// The summary in content_. Windows become summaries of their values.
std::unique_ptr<MergedSummary> MergeCommand::load(Kind kind) const {
    if (first_.kind == Kind::Groups) return std::make_unique<GroupSummaries>(parts_, content_.span());
    std::unique_ptr<OneSummary> one;
    if (first_.kind == Kind::LastSeconds) {
        const auto recent =
            Recent<Part>::load(content_.span(), [this](SavedBytes bytes) { return parts_.part(bytes); });
        one = recent.summary(recent.latest().value_or(0)).summary;
    } else {
        one = load_summary(kind, first_.type, content_.span());
    }
    auto window = one->window({});
    return window ? std::move(window) : std::move(one);
}

// Pre: content_ is that of the first file.
std::unique_ptr<MergedSummary> MergeCommand::merged(Kind kind) {
    std::unique_ptr<MergedSummary> all;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (all) {
            content_ = files::read_file(files[i]);
            must_be_like_the_first(i);
        }
        try {
            auto one = load(kind);
            const auto* quantiles = dynamic_cast<const SomeQuantiles*>(one.get());
            if (questions.stats() && quantiles && quantiles->made_with().moments == Moments::Off)
                throw CLI::ValidationError("--stats",
                                           fmt::format("{} was saved without --stats", files::input_name(files[i])));
            if (all) {
                all->merge(*one);
            } else {
                all = std::move(one);
            }
        } catch (const InvalidArgument& error) {
            refuse_file(files[i], error);
        }
    }
    return all;
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

Answer MergeCommand::answer(Kind kind, const MergedSummary& summary) const {
    Question asked;
    switch (kind) {
        case Kind::Frequencies:
        case Kind::NameFrequencies:
        case Kind::SlidingFrequencies:
            asked = question(summary.eps(), std::min(1.0, (top > 0 ? 1 : 10) * summary.eps()));
            asked.top = top;
            break;
        case Kind::HeavyPrefixes:
        case Kind::Ipv6Prefixes: {
            const auto has = dynamic_cast<const OneSummary&>(summary).made_with().prefixes.support;
            asked = question(has, has);
            break;
        }
        case Kind::Distinct:
            break;
        default:
            asked = question(0, 1);
    }
    auto answer = summary.answer([&](const OneSummary& one) { return one.answer(asked); });
    if (const auto* quantiles = dynamic_cast<const SomeQuantiles*>(&summary))
        questions.answer(answer, *quantiles, questions.values_to_rank({}, first_.type));
    return answer;
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
    if (kind == Kind::HeavyPrefixes && type != KeyType::U32 && type != KeyType::U64)
        throw InvalidArgument(files::input_name(files.front()) +
                              " has prefixes of values without prefixes; it is damaged");
    parts_.load = [kind, type](auto bytes, auto sorter) { return load_summary(kind, type, bytes, std::move(sorter)); };
    const auto all = merged(kind);
    auto all_answer = answer(kind, *all);
    all_answer.tail.update({{"bytes", all->bytes()}, {"nans", all->nans()}});
    if (!save_->takes_standard_output()) {
        const auto text = to_text(all_answer, format);
        files::OutputFile("-").write(std::as_bytes(std::span(text)));
    }
    save_->save(*all);
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
