#include "cli/any_summary.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "cpu/keys.hpp"
#include "quadmill/error.hpp"
#include "quadmill/names.hpp"

namespace quadmill::detail::cli {

namespace {

template <class T>
Json rows_of(const std::vector<Quantile<T>>& quantiles) {
    auto rows = Json::array();
    for (const auto& q : quantiles) rows.push_back(quantile_row(q.phi, Value::of(q.value), q.rank_lower, q.rank_upper));
    return rows;
}

template <class T>
Json rows_of(const std::vector<Frequent<T>>& items, std::size_t top) {
    auto rows = Json::array();
    for (const auto& item : items) {
        if (top > 0 && rows.size() == top) break;
        rows.push_back(counted_row(json_of(item.value), item.count));
    }
    return rows;
}

// The support to ask for. With -k, all that the summary can tell.
double support_of(const Question& asked, double eps) {
    return asked.top > 0 ? std::max(asked.support, eps) : asked.support;
}

Json window_of(const SlidingOptions& options, const Question& asked) {
    return {{"window", options.window}, {"width", asked.width.value_or(options.window)}};
}

Answer quantiles_answer(std::uint64_t n, double eps, Json rows) {
    return {.head = {{"n", n}, {"eps", eps}}, .rows_of = "quantiles", .rows = std::move(rows)};
}

Answer frequent_answer(std::uint64_t n, double eps, const Question& asked, Json rows) {
    Json head{{"n", n}, {"eps", eps}};
    if (asked.top > 0) {
        head["k"] = asked.top;
    } else {
        head["support"] = asked.support;
    }
    return {.head = std::move(head), .rows_of = "items", .rows = std::move(rows)};
}

Json prefix_row(const std::string& prefix, const Count& discounted, const Count& count) {
    Json row{{"prefix", prefix}};
    row.update(json_of(discounted));
    row["count"] = json_of(count);
    return row;
}

Answer sum_answer(std::uint64_t n, double eps, Json row) {
    return {.head = {{"n", n}}, .rows = Json::array({std::move(row)}), .tail = {{"eps", eps}}};
}

Json sum_row(Json threshold, double sum, double lower, double upper) {
    return {{"threshold", std::move(threshold)},
            {"sum", json_of(sum)},
            {"lower", json_of(lower)},
            {"upper", json_of(upper)}};
}

template <class T>
Answer answer_of(const Quantiles<T>& summary, const Question& asked) {
    return quantiles_answer(summary.n(), summary.eps(),
                            summary.n() > 0 ? rows_of(summary.quantiles(asked.phis)) : Json::array());
}

template <class T>
Answer answer_of(const SlidingQuantiles<T>& summary, const Question& asked) {
    auto answer =
        quantiles_answer(summary.n(), summary.options().eps,
                         summary.n() > 0 ? rows_of(summary.quantiles(asked.phis, asked.width)) : Json::array());
    answer.tail = window_of(summary.options(), asked);
    return answer;
}

template <class T>
Answer answer_of(const Frequencies<T>& summary, const Question& asked) {
    return frequent_answer(summary.n(), summary.eps(), asked,
                           rows_of(summary.frequent(support_of(asked, summary.eps())), asked.top));
}

template <class T>
Answer answer_of(const SlidingFrequencies<T>& summary, const Question& asked) {
    const auto eps = summary.options().eps;
    auto answer = frequent_answer(summary.n(), eps, asked,
                                  rows_of(summary.frequent(support_of(asked, eps), asked.width), asked.top));
    answer.tail = window_of(summary.options(), asked);
    return answer;
}

template <class T>
Answer answer_of(const HeavyPrefixes<T>& summary, const Question& asked) {
    Answer answer{.head = {{"n", summary.n()}, {"eps", summary.options().eps}, {"support", asked.support}},
                  .rows_of = "items"};
    if (asked.rule == HeavyRule::All) answer.tail["prefixes"] = "all";
    for (const auto& item : summary.heavy(asked.support, asked.rule)) {
        answer.rows.push_back(prefix_row(prefix_text(item.value, item.length, 8 * sizeof(T), asked.notation),
                                         item.discounted, item.count));
    }
    return answer;
}

template <class T>
Answer answer_of(const CorrelatedSums<T>& summary, const Question& asked) {
    if (summary.n() == 0)
        return sum_answer(0, summary.eps(), {{"threshold", nullptr}, {"sum", 0}, {"lower", 0}, {"upper", 0}});
    const auto found = asked.f ? summary.sum(asked.aggregate, asked.f)
                               : summary.sum(asked.aggregate, Affine{asked.scale, asked.offset});
    // A double does not represent every 64-bit integer, but every float.
    const bool exact = std::is_integral_v<T> && found.exact;
    return sum_answer(
        summary.n(), summary.eps(),
        sum_row(exact ? json_of(*found.exact) : json_of(found.threshold), found.sum, found.lower, found.upper));
}

Answer answer_of(const Distinct& summary, const Question& /*asked*/) {
    const auto count = summary.count();
    return {.head = {{"n", count.estimate}}, .rows = Json::array({json_of(count)})};
}

// No verb makes such a call.
[[noreturn]] void refuse_call() {
    throw Error("a summary of this kind does not have this call");
}

template <class Summary>
struct ValueOf {
    using Type = std::string_view;  // of Distinct
};
template <template <class> class Summary, class T>
struct ValueOf<Summary<T>> {
    using Type = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
};

template <class Summary>
std::unique_ptr<OneSummary> one(Summary summary);

template <class Summary, class Base = OneSummary>
class SummaryOf : public Base {
  public:
    explicit SummaryOf(Summary summary) : summary_(std::move(summary)) {}
    using Base::answer;
    [[nodiscard]] Answer answer(const Question& asked) const override { return answer_of(summary_, asked); }
    [[nodiscard]] double eps() const override {
        if constexpr (requires { summary_.options(); }) return summary_.options().eps;
        if constexpr (requires { summary_.eps(); }) return summary_.eps();
        return 0;
    }
    [[nodiscard]] std::uint64_t n() const override {
        if constexpr (requires { summary_.n(); }) return summary_.n();
        return 0;
    }
    [[nodiscard]] std::uint64_t nans() const override {
        if constexpr (requires { summary_.nans(); }) return summary_.nans();
        return 0;  // an integer
    }
    [[nodiscard]] std::size_t bytes() const override { return summary_.bytes(); }
    [[nodiscard]] std::vector<std::byte> save() const override { return summary_.save(); }
    [[nodiscard]] StreamTimes times() const override {
        if constexpr (requires { summary_.times(); }) return summary_.times();
        return {};
    }
    [[nodiscard]] bool goes_with_ranks() const override { return merges; }
    void merge(const MergedSummary& other) override {
        if constexpr (merges) return summary_.merge(static_cast<const SummaryOf&>(other).summary_);
        refuse_call();
    }
    [[nodiscard]] MadeWith made_with() const override {
        MadeWith with;
        if constexpr (requires { with.sliding = summary_.options(); }) with.sliding = summary_.options();
        if constexpr (requires { with.prefixes = summary_.options(); }) with.prefixes = summary_.options();
        if constexpr (requires { summary_.tail(); }) with.tail = summary_.tail();
        if constexpr (requires { summary_.moments(); }) with.moments = summary_.moments();
        if constexpr (requires { summary_.formula(); }) with.formula = summary_.formula();
        return with;
    }
    void add(const input::Records& values) override {
        if constexpr (of_names) {
            for (const auto name : values.as<T>()) summary_.add(name);
        } else if constexpr (requires { summary_.add(values.as<T>()); }) {
            summary_.add(values.as<T>());
        } else {
            refuse_call();
        }
    }
    void add(const void* value) override {
        if constexpr (requires(T one) { summary_.add(one); }) return summary_.add(*static_cast<const T*>(value));
        refuse_call();
    }
    void add(const input::Records& values, const input::Records& second) override {
        const auto first = values.as<T>();
        if constexpr (of_names && requires { summary_.add(T(), 1); }) {
            for (std::size_t i = 0; i < first.size(); ++i) summary_.add(first[i], second.as<std::uint64_t>()[i]);
        } else if constexpr (requires { summary_.add(first, second.as<std::uint64_t>()); }) {
            summary_.add(first, second.as<std::uint64_t>());
        } else if constexpr (requires { summary_.add(first, second.as<double>()); }) {
            summary_.add(first, second.as<double>());
        } else {
            refuse_call();
        }
    }
    [[nodiscard]] std::unique_ptr<OneSummary> window(std::optional<std::uint64_t> width) const override {
        if constexpr (requires { summary_.summary(width); }) return one(summary_.summary(width));
        return nullptr;
    }

  protected:
    using T = typename ValueOf<Summary>::Type;
    static constexpr bool of_names = std::is_same_v<T, std::string_view>;
    static constexpr bool merges = requires(Summary & some) { some.merge(some); };

    Summary summary_;
};

template <class T>
class QuantilesOf final : public SummaryOf<Quantiles<T>, SomeQuantiles> {
  public:
    using SummaryOf<Quantiles<T>, SomeQuantiles>::SummaryOf;
    [[nodiscard]] Value quantile(double phi) const override { return Value::of(this->summary_.quantile(phi).value); }
    [[nodiscard]] Count rank(const Value& value) const override { return this->summary_.rank(value.as<T>()); }
    [[nodiscard]] Stats<Value> stats() const override {
        const auto all = this->summary_.stats();
        return {all.n, Value::of(all.min), Value::of(all.max), all.mean, all.variance};
    }
};

template <class Summary>
std::unique_ptr<OneSummary> one(Summary summary) {
    if constexpr (requires { summary.moments(); }) {
        return std::make_unique<QuantilesOf<typename ValueOf<Summary>::Type>>(std::move(summary));
    } else {
        return std::make_unique<SummaryOf<Summary>>(std::move(summary));
    }
}

// Calls work.operator()<Summary>() for the class.
template <class Work>
std::unique_ptr<OneSummary> visit(SummaryKind kind, KeyType type, const Work& work) {
    const auto typed = [&]<template <class> class Summary>() {
        return cpu::visit_key_type(type, [&]<class T>(const T*) { return work.template operator()<Summary<T>>(); });
    };
    switch (kind) {
        case SummaryKind::Quantiles:
        case SummaryKind::TailQuantiles:
            return typed.template operator()<Quantiles>();
        case SummaryKind::SlidingQuantiles:
            return typed.template operator()<SlidingQuantiles>();
        case SummaryKind::Frequencies:
            return typed.template operator()<Frequencies>();
        case SummaryKind::SlidingFrequencies:
            return typed.template operator()<SlidingFrequencies>();
        case SummaryKind::CorrelatedSums:
            return typed.template operator()<CorrelatedSums>();
        case SummaryKind::NameFrequencies:
            return work.template operator()<Frequencies<std::string>>();
        case SummaryKind::Distinct:
            return work.template operator()<Distinct>();
        case SummaryKind::Ipv6Prefixes:
            return work.template operator()<HeavyPrefixes<Ipv6>>();
        case SummaryKind::HeavyPrefixes:
            if (type == KeyType::U32) return work.template operator()<HeavyPrefixes<std::uint32_t>>();
            if (type == KeyType::U64) return work.template operator()<HeavyPrefixes<std::uint64_t>>();
            break;
        case SummaryKind::Groups:
        case SummaryKind::LastSeconds:  // not within others
            break;
    }
    refuse_call();
}

}  // namespace

template <class Options>
std::unique_ptr<OneSummary> make_summary(SummaryKind kind, KeyType type, const Options& options,
                                         std::unique_ptr<WindowSorter> sorter) {
    return visit(kind, type, [&]<class Summary>() -> std::unique_ptr<OneSummary> {
        if constexpr (std::is_constructible_v<Summary, const Options&, std::unique_ptr<WindowSorter>>) {
            return one(Summary(options, std::move(sorter)));
        } else if constexpr (std::is_constructible_v<Summary, const Options&>) {
            return one(Summary(options));
        }
        refuse_call();
    });
}
#define QUADMILL_MAKE_SUMMARY(Options)                                                           \
    template std::unique_ptr<OneSummary> make_summary(SummaryKind kind, KeyType, const Options&, \
                                                      std::unique_ptr<WindowSorter>);
QUADMILL_MAKE_SUMMARY(QuantileOptions)
QUADMILL_MAKE_SUMMARY(FrequencyOptions)
QUADMILL_MAKE_SUMMARY(SlidingOptions)
QUADMILL_MAKE_SUMMARY(HeavyPrefixOptions)
QUADMILL_MAKE_SUMMARY(CorrelatedSumOptions)

std::unique_ptr<OneSummary> load_summary(SummaryKind kind, KeyType type, SavedBytes bytes,
                                         std::unique_ptr<WindowSorter> sorter, const std::function<double(double)>& g) {
    return visit(kind, type, [&]<class Summary>() {
        if constexpr (requires { Summary::load(bytes, g); }) {
            return one(Summary::load(bytes, g, std::move(sorter)));
        } else if constexpr (requires { Summary::load(bytes, std::move(sorter)); }) {
            return one(Summary::load(bytes, std::move(sorter)));
        } else {
            return one(Summary::load(bytes));
        }
    });
}

}  // namespace quadmill::detail::cli
