#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "cli/aggregate.hpp"
#include "cli/commands.hpp"
#include "cli/groups.hpp"
#include "cli/refusals.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using Kind = SavedSummary::Kind;

// The name of a kind, and the options that query it.
struct KindWords {
    Kind kind;
    const char* name;
    std::vector<std::string> options;
};
const std::vector<KindWords> kinds{{Kind::Quantiles, "quantiles", {"--phi"}},
                                   {Kind::Frequencies, "frequencies", {"--support", "-k"}},
                                   {Kind::SlidingQuantiles, "sliding quantiles", {"--phi"}},
                                   {Kind::SlidingFrequencies, "sliding frequencies", {"--support"}},
                                   {Kind::HeavyPrefixes, "heavy prefixes", {"--support", "--ipv4", "--all-prefixes"}},
                                   {Kind::CorrelatedSums, "correlated sums", {"--agg", "--scale", "--offset", "--f"}},
                                   {Kind::TailQuantiles, "quantiles with a tail", {"--phi"}},
                                   {Kind::NameFrequencies, "frequencies of names", {"--support", "-k"}},
                                   {Kind::Distinct, "a number of different values", {}},
                                   {Kind::Ipv6Prefixes, "IPv6 prefixes", {"--support", "--all-prefixes"}}};

// The words for a summary's kind. If it consists of parts, the words for their kind.
const KindWords& words_of(const SavedSummary& summary) {
    return *std::ranges::find(kinds, summary.parts.value_or(summary.kind), &KindWords::kind);
}

std::string name_of(const SavedSummary& summary) {
    const char* before = summary.kind == Kind::Groups        ? "groups of "
                         : summary.kind == Kind::LastSeconds ? "the last seconds' "
                                                             : "";
    return before + std::string(words_of(summary).name);
}

struct MergeCommand {
    std::vector<std::string> files;
    std::vector<double> phis = default_phis;
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
    void merge_any(const std::function<Question(const Summary&)>& ask);

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
        return fmt::format("{} holds {} of {} values", files::input_name(files[i]), name_of(summary),
                           input::word_for(input::type_words, summary.type));
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
    question.phis = phis;
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
void MergeCommand::merge_any(const std::function<Question(const Summary&)>& ask) {
    using View = std::span<const std::byte>;
    if (first_.kind == Kind::Groups) {
        const auto all =
            merged([](View b) { return Grouped<Summary>::load(b, std::numeric_limits<std::size_t>::max()); });
        const auto asked = ask(all.empty());
        const Ask<Summary> answer = [&](const Summary& one) { return answer_of(one, asked); };
        return print(answer_of_groups(all, answer), nans_of_groups(all), all);
    }
    const auto all = merged([this](View b) {
        if (first_.kind != Kind::LastSeconds) return Summary::load(b);
        const auto recent = Recent<Summary>::load(b);
        return recent.summary(recent.latest().value_or(0));
    });
    print(all, ask(all));
}

template <class T>
void MergeCommand::run_as(Kind kind) {
    const auto ask_quantiles = [this](const auto& /*summary*/) { return question(0, 1); };
    const auto answer_quantiles = [&](const auto& summary) { print(summary, ask_quantiles(summary)); };
    const auto ask_frequencies = [this](const auto& summary) {
        auto asked = question(summary.eps(), std::min(1.0, (top > 0 ? 1 : 10) * summary.eps()));
        asked.top = top;
        return asked;
    };
    const auto answer_frequencies = [&](const auto& summary) { print(summary, ask_frequencies(summary)); };
    const auto answer_prefixes = [this](const auto& summary) {
        print(summary, question(summary.options().support, summary.options().support));
    };
    using View = std::span<const std::byte>;
    switch (kind) {
        case Kind::Quantiles:
        case Kind::TailQuantiles:
            return merge_any<Quantiles<T>>(ask_quantiles);
        case Kind::SlidingQuantiles:
            return answer_quantiles(merged([](View b) { return SlidingQuantiles<T>::load(b).summary(); }));
        case Kind::Frequencies:
            return merge_any<Frequencies<T>>(ask_frequencies);
        case Kind::SlidingFrequencies:
            return answer_frequencies(merged([](View b) { return SlidingFrequencies<T>::load(b).summary(); }));
        case Kind::CorrelatedSums:
            return answer_quantiles(merged([](View b) { return CorrelatedSums<T>::load(b); }));
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
    const auto& words = words_of(first_);
    constexpr std::array with_parts{Kind::Quantiles, Kind::TailQuantiles, Kind::Frequencies, Kind::NameFrequencies};
    if (first_.parts && std::ranges::find(with_parts, kind) == with_parts.end()) {
        throw InvalidArgument(
            fmt::format("{} holds {}, which only programs read", files::input_name(files[0]), name_of(first_)));
    }
    for (const auto& option : given) {
        if (std::ranges::find(words.options, option) == words.options.end())
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
    add_phi_option(*verb, command->phis);
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
        "The options depend on the verb that saved the summaries: --phi for quantiles, --support or -k for frequent, "
        "--support, --ipv4 and --all-prefixes for hhh, the options \"for correlated sums\" for corrsum.\n"
        "The error eps of the merged summary is the max eps of its inputs.\n"
        "\n"
        "Examples:\n"
        "  quadmill merge monday.summary tuesday.summary --phi 0.5,0.99\n"
        "  quadmill merge hosts/*.summary --support 0.01 --save all.summary --json");
    verb->callback([command, verb] {
        std::vector<std::string> given;
        for (const auto& words : kinds) {
            for (const auto& option : words.options) {
                if (verb->count(option) > 0) given.push_back(option);
            }
        }
        command->run(given);
    });
}

}  // namespace quadmill::detail::cli
