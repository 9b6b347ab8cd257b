#include "cli/quantile_questions.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "bench/plot.hpp"
#include "cpu/keys.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"
#include "input/text.hpp"

namespace quadmill::detail::cli {

namespace {

// "10k" and "2^20" are values, too.
std::string as_digits(std::string word) {
    constexpr auto max = std::uint64_t{1} << 53U;
    auto digits = word;
    return input::count_up_to(max)(digits).empty() ? digits : word;
}

Value value_near(KeyType type, double number) {
    return cpu::visit_key_type(type, [&]<class T>(const T*) {
        if constexpr (std::is_same_v<T, Half>) return Value::of(Half::from_float(static_cast<float>(number)));
        if constexpr (!std::is_same_v<T, Half>)
            return Value::of(static_cast<T>(std::is_integral_v<T> ? std::floor(number) : number));
    });
}

Value greatest_finite(KeyType type) {
    return cpu::visit_key_type(type, []<class T>(const T*) {
        constexpr float of_half = 65504;
        if constexpr (std::is_same_v<T, Half>) return Value::of(Half::from_float(of_half));
        if constexpr (!std::is_same_v<T, Half>) return Value::of(std::numeric_limits<T>::max());
    });
}

// The estimated number of values in a bar, from those below it and those up to its end.
std::uint64_t estimate_of(const Count& below, const Count& at_most) {
    return at_most.estimate - std::min(at_most.estimate, below.estimate);
}

}  // namespace

std::vector<Value> QuantileQuestions::values_to_rank(const input::Reading& reading, KeyType type) const {
    const auto parser = input::number_parser(type, reading.integers());
    std::vector<Value> values;
    for (const auto& list : ranks_) {
        for (const auto& word : input::comma_separated(list)) {
            std::array<std::byte, sizeof(Value::bits)> bytes{};
            auto fault = parser.parse(word, bytes.data());
            if (fault) fault = parser.parse(as_digits(word), bytes.data()) ? fault : nullptr;
            const Value value{type, std::bit_cast<std::uint64_t>(bytes)};
            if (!fault && std::isnan(value.number())) fault = "has no rank";
            if (fault) throw CLI::ValidationError("--rank", input::in_quotes(word) + " " + fault);
            values.push_back(value);
        }
    }
    return values;
}

void QuantileQuestions::answer(Answer& answer, const OneSummary& one, const std::vector<Value>& values) const {
    const auto& summary = dynamic_cast<const SomeQuantiles&>(one);
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
void QuantileQuestions::add_bars(Answer& answer, const SomeQuantiles& summary) const {
    const auto n = summary.n();
    const auto at_rank = [&](std::uint64_t rank) {
        return summary.quantile(static_cast<double>(std::clamp<std::uint64_t>(rank, 1, n)) / static_cast<double>(n));
    };
    struct Bar {
        Value from, to;
        Count below, at_most;
    };
    std::vector<Bar> all;
    const Count everything{n, n, n};
    auto min = summary.quantile(0), max = summary.quantile(1);
    Count below{}, at_most = everything;
    if (std::isinf(min.number())) {
        below = summary.rank(min);
        all.push_back({min, min, {}, below});
        min = at_rank(below.upper + 1);
    }
    std::optional<Bar> infinite;
    if (std::isinf(max.number()) && (all.empty() || max != all.front().to)) {
        at_most = summary.rank(greatest_finite(max.type));
        infinite = Bar{max, max, at_most, everything};
        max = at_rank(at_most.lower);
    }
    const double first = min.number(), last = max.number();
    if (std::isfinite(first) && std::isfinite(last)) {
        const auto of_finite = all.size();
        for (std::size_t i = 1; i <= bars_; ++i) {
            const auto part = static_cast<double>(i) / static_cast<double>(bars_);
            const auto end = i == bars_ ? max : value_near(min.type, std::lerp(first, last, part));
            const auto count = i == bars_ ? at_most : summary.rank(end);
            all.push_back({i == 1 ? min : all.back().to, end, i == 1 ? below : all.back().at_most, count});
        }
        if (!plot_.empty()) {
            std::vector<double> ends{first};
            std::vector<Count> counts{below};
            for (auto i = of_finite; i < all.size(); ++i) {
                ends.push_back(all[i].to.number());
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

Json QuantileQuestions::bar_row(Json from, Json to, const Count& below, const Count& at_most,
                                std::uint64_t most) const {
    const auto minus = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
    const Count count{minus(at_most.lower, below.upper), estimate_of(below, at_most),
                      minus(at_most.upper, below.lower)};
    Json row{{"from", std::move(from)}, {"to", std::move(to)}};
    row.update(json_of(count));
    if (format == Format::Table) {
        constexpr double widest = 50;
        const auto part = static_cast<double>(count.estimate) / static_cast<double>(std::max<std::uint64_t>(most, 1));
        std::string bar(static_cast<std::size_t>(std::lround(part * widest)), '#');
        bar.resize(static_cast<std::size_t>(widest), ' ');
        row["bar"] = bar;
    }
    return row;
}

// The outline of the bars: bar i is from ends[i] to ends[i + 1] and has the values that are counted between.
void QuantileQuestions::draw(const std::vector<double>& ends, const std::vector<Count>& counts) const {
    bench::Series outline{.name = "values in a bar", .line = bench::Line::Unmarked, .points = {{ends.front(), 0}}};
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
        const auto count = static_cast<double>(estimate_of(counts[i], counts[i + 1]));
        outline.points.emplace_back(ends[i], count);
        outline.points.emplace_back(ends[i + 1], count);
    }
    outline.points.emplace_back(ends.back(), 0);
    for (const auto& [x, count] : outline.points) outline.band.emplace_back(0, count);
    files::OutputFile file(plot_);
    const auto picture = bench::plot({{.title = title,
                                       .x_label = "value",
                                       .y_label = "number of values",
                                       .series = {std::move(outline)},
                                       .x_scale = bench::Scale::Fitted,
                                       .y_scale = bench::Scale::Linear,
                                       .subtitle = fmt::format("{} values", counts.back().estimate)}});
    file.write(std::as_bytes(std::span(picture)));
    file.commit();
}

void QuantileQuestions::add_options(CLI::App& verb) {
    add_phi_option(verb, phis);
    auto* rank = verb.add_option("--rank", ranks_,
                                 "Instead of quantiles: how many values do not exceed each of these, a list separated "
                                 "by commas (so 10,000 is two values; write 10000 or 10k)")
                     ->allow_extra_args(false)
                     ->excludes("--phi")
                     ->type_name("X,...");
    verb.add_option("--histogram", bars_,
                    "Instead of quantiles: the number of values in each of BARS bars of equal width. Infinite values "
                    "have bars of their own")
        ->transform(input::count_up_to(10'000))
        ->expected(0, 1)
        ->default_str("10")
        ->excludes("--phi")
        ->excludes(rank)
        ->type_name("BARS");
    verb.add_option("--plot", plot_, "With --histogram: also draw it, as an SVG picture")
        ->needs("--histogram")
        ->check(input::file_name())
        ->type_name("FILE.svg");
    verb.add_flag("--stats", stats_,
                  "Also the min, max and mean, and the standard deviation of a sample (divided by n - 1)");
}

void QuantileQuestions::check(const std::vector<std::string>& inputs) const {
    if (plot_.empty()) return;
    if (!plot_.ends_with(".svg"))
        throw CLI::ValidationError("--plot", "makes an SVG picture; let its name end in .svg");
    input::refuse_inputs("--plot", plot_, inputs);
}

}  // namespace quadmill::detail::cli
