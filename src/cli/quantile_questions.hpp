// Questions to quantiles, as `quantiles` and `merge` have them.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/answer.hpp"
#include "cli/stream_options.hpp"
#include "input/checks.hpp"
#include "input/reading.hpp"

namespace quadmill::detail::cli {

[[nodiscard]] inline double double_of(Half value) {
    return value.value();
}
[[nodiscard]] double double_of(auto value) {
    return static_cast<double>(value);
}

template <class T>
[[nodiscard]] T value_near(double number) {
    if constexpr (std::is_same_v<T, Half>) {
        return Half::from_float(static_cast<float>(number));
    } else {
        return static_cast<T>(std::is_integral_v<T> ? std::floor(number) : number);
    }
}

template <class T>
[[nodiscard]] T greatest_finite() {
    constexpr float of_half = 65504;
    if constexpr (std::is_same_v<T, Half>) return Half::from_float(of_half);
    return std::numeric_limits<T>::max();
}

// The estimated number of values in a bar, from those below it and those up to its end.
[[nodiscard]] inline std::uint64_t estimate_of(const Count& below, const Count& at_most) {
    return at_most.estimate - std::min(at_most.estimate, below.estimate);
}

class QuantileQuestions {
  public:
    // --phi, --rank, --histogram, --plot and --stats.
    void add_options(CLI::App& verb);
    // The options that only quantiles of all values, or of the last ones, answer.
    static constexpr std::array whole_only{"--rank", "--histogram", "--plot", "--stats"};
    // Rejects a picture that would replace an input, or is not one.
    void check(const std::vector<std::string>& inputs) const;

    std::vector<double> phis = default_phis;
    std::string title = "Histogram";  // of the picture
    Format format = Format::Table;

    [[nodiscard]] bool stats() const { return stats_; }
    [[nodiscard]] bool of_quantiles() const { return ranks_.empty() && bars_ == 0 && !stats_; }
    // The values of --rank, read as the input's values are.
    template <class T>
    [[nodiscard]] std::vector<T> values_to_rank(const input::Reading& reading) const;
    // Instead of the quantiles, the rows of --rank or --histogram; also the facts of --stats.
    template <class T>
    void answer(Answer& answer, const Quantiles<T>& summary, const std::vector<T>& values) const;

  private:
    template <class T>
    void add_bars(Answer& answer, const Quantiles<T>& summary) const;
    void draw(const std::vector<double>& ends, const std::vector<Count>& counts) const;
    [[nodiscard]] Json bar_row(Json from, Json to, const Count& below, const Count& at_most, std::uint64_t most) const;

    std::vector<std::string> ranks_{};
    std::size_t bars_ = 0;
    std::string plot_{};
    bool stats_ = false;
};

// "10k" and "2^20" are values, too.
[[nodiscard]] std::string as_digits(std::string word);

template <class T>
std::vector<T> QuantileQuestions::values_to_rank(const input::Reading& reading) const {
    std::vector<T> values;
    for (const auto& list : ranks_) {
        for (const auto& word : input::comma_separated(list)) {
            T value{};
            auto fault = reading.parse<T>()(word, value);
            if (fault) fault = reading.parse<T>()(as_digits(word), value) ? fault : nullptr;
            if (!fault && std::isnan(double_of(value))) fault = "has no rank";
            if (fault) throw CLI::ValidationError("--rank", input::in_quotes(word) + " " + fault);
            values.push_back(value);
        }
    }
    return values;
}

template <class T>
void QuantileQuestions::answer(Answer& answer, const Quantiles<T>& summary, const std::vector<T>& values) const {
    if (summary.n() == 0) return;
    if (!values.empty()) {
        answer.rows_of = "ranks";
        answer.rows = Json::array();
        for (const auto& value : values) answer.rows.push_back(counted_row(json_of(value), summary.rank(value)));
    }
    if (bars_ > 0) add_bars(answer, summary);
    if (!stats_) return;
    const auto all = summary.stats();
    answer.head["min"] = json_of(all.min);
    answer.head["max"] = json_of(all.max);
    answer.head["mean"] = json_of(all.mean);
    answer.head["sd"] = json_of(std::sqrt(all.variance));
}

// Infinite values have bars of their own. The ends of the others are then the first and the last of the other values,
// as the summary knows them.
template <class T>
void QuantileQuestions::add_bars(Answer& answer, const Quantiles<T>& summary) const {
    const auto n = summary.n();
    const auto at_rank = [&](std::uint64_t rank) {
        return summary.quantile(static_cast<double>(std::clamp<std::uint64_t>(rank, 1, n)) / static_cast<double>(n))
            .value;
    };
    struct Bar {
        T from, to;
        Count below, at_most;
    };
    std::vector<Bar> all;
    const Count everything{n, n, n};
    auto min = summary.quantile(0).value, max = summary.quantile(1).value;
    Count below{}, at_most = everything;
    if (std::isinf(double_of(min))) {
        below = summary.rank(min);
        all.push_back({min, min, {}, below});
        min = at_rank(below.upper + 1);
    }
    std::optional<Bar> infinite;
    if (std::isinf(double_of(max)) && (all.empty() || max != all.front().to)) {
        at_most = summary.rank(greatest_finite<T>());
        infinite = Bar{max, max, at_most, everything};
        max = at_rank(at_most.lower);
    }
    const double first = double_of(min), last = double_of(max);
    if (std::isfinite(first) && std::isfinite(last)) {
        const auto of_finite = all.size();
        for (std::size_t i = 1; i <= bars_; ++i) {
            const auto part = static_cast<double>(i) / static_cast<double>(bars_);
            const auto end = i == bars_ ? max : value_near<T>(std::lerp(first, last, part));
            const auto count = i == bars_ ? at_most : summary.rank(end);
            all.push_back({i == 1 ? min : all.back().to, end, i == 1 ? below : all.back().at_most, count});
        }
        if (!plot_.empty()) {
            std::vector<double> ends{first};
            std::vector<Count> counts{below};
            for (auto i = of_finite; i < all.size(); ++i) {
                ends.push_back(double_of(all[i].to));
                counts.push_back(all[i].at_most);
            }
            draw(ends, counts);
        }
    }
    if (infinite) all.push_back(*infinite);
    std::uint64_t most = 0;
    for (const auto& bar : all) most = std::max(most, estimate_of(bar.below, bar.at_most));
    answer.rows_of = "bars";
    answer.rows = Json::array();
    for (const auto& bar : all)
        answer.rows.push_back(bar_row(json_of(bar.from), json_of(bar.to), bar.below, bar.at_most, most));
}

}  // namespace quadmill::detail::cli
