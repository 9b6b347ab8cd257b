#include "cli/quantile_questions.hpp"

#include <fmt/core.h>

#include <span>

#include "bench/plot.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"

namespace quadmill::detail::cli {

std::string as_digits(std::string word) {
    constexpr auto max = std::uint64_t{1} << 53U;
    auto digits = word;
    return input::count_up_to(max)(digits).empty() ? digits : word;
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
