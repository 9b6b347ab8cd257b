// Summaries of streams whose kind and type are known at run time: what the verbs do with them is compiled once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.hpp"
#include "input/stream_input.hpp"
#include "quadmill/stream.hpp"

namespace quadmill::detail::cli {

class OneSummary;
using Ask = std::function<Answer(const OneSummary&)>;
using SummaryKind = SavedSummary::Kind;
using SavedBytes = std::span<const std::byte>;

// One summary, a summary for each group of values, or the summaries of the last seconds.
class AnySummary {
  public:
    virtual ~AnySummary() = default;
    // The answer, of which `ask` makes the parts.
    [[nodiscard]] virtual Answer answer(const Ask& ask) const = 0;
    [[nodiscard]] virtual std::uint64_t nans() const = 0;
    [[nodiscard]] virtual std::size_t bytes() const = 0;
    [[nodiscard]] virtual std::vector<std::byte> save() const = 0;
    [[nodiscard]] virtual StreamTimes times() const { return {}; }
    // Whether those of several ranks can be merged.
    [[nodiscard]] virtual bool goes_with_ranks() const { return false; }
};

class MergedSummary : public AnySummary {
  public:
    [[nodiscard]] virtual double eps() const = 0;
    // Pre: the other one is of the same class.
    virtual void merge(const MergedSummary& other) = 0;
};

// The options of a summary; which members count depends on its kind.
struct MadeWith {
    Tail tail = Tail::Off;
    Moments moments = Moments::Off;
    SlidingOptions sliding{};
    HeavyPrefixOptions prefixes{};
    std::string formula{};
};

class OneSummary : public MergedSummary {
  public:
    [[nodiscard]] Answer answer(const Ask& ask) const override { return ask(*this); }
    [[nodiscard]] virtual Answer answer(const Question& asked) const = 0;
    [[nodiscard]] virtual MadeWith made_with() const = 0;
    [[nodiscard]] virtual std::uint64_t n() const = 0;
    // Records are values; those of names are std::string_view.
    virtual void add(const input::Records& values) = 0;
    virtual void add(const void* value) = 0;
    // `second` has weights (std::uint64_t) or, for correlated sums, y (double).
    virtual void add(const input::Records& values, const input::Records& second) = 0;
    // The summary of the last `width` values. Null if the summary is not one of a sliding window.
    [[nodiscard]] virtual std::unique_ptr<OneSummary> window(std::optional<std::uint64_t> width) const = 0;
};

class SomeQuantiles : public OneSummary {
  public:
    [[nodiscard]] virtual Value quantile(double phi) const = 0;
    [[nodiscard]] virtual Count rank(const Value& value) const = 0;
    [[nodiscard]] virtual Stats<Value> stats() const = 0;
};

// An empty summary. `options` are those of the kind. Names and IPv6 addresses take no sorter.
template <class Options>
[[nodiscard]] std::unique_ptr<OneSummary> make_summary(SummaryKind kind, KeyType type, const Options& options,
                                                       std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1));
// `g` is for correlated sums. Throws InvalidArgument as load() of the kind.
[[nodiscard]] std::unique_ptr<OneSummary> load_summary(SummaryKind kind, KeyType type, SavedBytes bytes,
                                                       std::unique_ptr<WindowSorter> sorter = cpu_window_sorter(1),
                                                       const std::function<double(double)>& g = {});

// A summary as Grouped, Recent and Ranks take it.
struct Part {
    std::unique_ptr<OneSummary> summary;

    void add(const auto& values) { summary->add(values); }
    void merge(const Part& other) { summary->merge(*other.summary); }
    [[nodiscard]] std::size_t bytes() const { return summary->bytes(); }
    [[nodiscard]] std::vector<std::byte> save() const { return summary->save(); }
};

// How a verb makes its summaries.
struct Summaries {
    std::function<std::unique_ptr<OneSummary>(std::unique_ptr<WindowSorter>)> make;
    std::function<std::unique_ptr<OneSummary>(SavedBytes, std::unique_ptr<WindowSorter>)> load;
    std::function<void(const OneSummary&)> check;  // rejects options that a resumed one does not follow
    Ask ask;

    [[nodiscard]] Part part() const { return {make(cpu_window_sorter(1))}; }
    [[nodiscard]] Part part(SavedBytes saved) const { return {load(saved, cpu_window_sorter(1))}; }
};

}  // namespace quadmill::detail::cli
