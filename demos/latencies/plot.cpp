#include "plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bench/plot.hpp"

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using quadmill::detail::bench::Panel;
using quadmill::detail::bench::Series;

struct Answers {
    struct Answer {
        double n = 0;
        std::vector<double> values;
    };
    double eps = 0;
    std::optional<std::uint64_t> window;
    std::vector<double> phis;  // ascending
    std::vector<Answer> answers;
};

double number_of(const nlohmann::json& value) {
    if (!value.is_string()) return value.get<double>();
    return value == "inf" ? infinity : -infinity;
}

void take(Answers& all, const nlohmann::json& line) {
    auto rows = line.at("quantiles").get<std::vector<nlohmann::json>>();
    if (rows.empty()) return;  // no values yet
    std::ranges::sort(rows, {}, [](const nlohmann::json& row) { return row.at("phi").get<double>(); });
    Answers::Answer answer{.n = line.at("n").get<double>(), .values = {}};
    std::vector<double> phis;
    for (const auto& row : rows) {
        phis.push_back(row.at("phi").get<double>());
        answer.values.push_back(number_of(row.at("value")));
    }
    if (!all.answers.empty() && phis != all.phis) throw std::runtime_error("not the quantiles of the line before");
    all.eps = line.at("eps").get<double>();
    if (line.contains("window")) all.window = line["window"].get<std::uint64_t>();
    all.phis = std::move(phis);
    all.answers.push_back(std::move(answer));
}

Answers read_answers(std::istream& lines) {
    Answers all;
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
        try {
            take(all, nlohmann::json::parse(line));
        } catch (const std::exception& error) {
            throw std::runtime_error(fmt::format("line {}: {}", number, error.what()));
        }
    }
    return all;
}

// Indices of the phis that make a line and the band around it. For a line alone, all three are the same.
struct Curve {
    std::size_t lower, middle, upper;
};

bool has_band(const Curve& curve) {
    return curve.lower < curve.upper;
}

std::vector<Curve> curves_of(const Answers& all) {
    const auto& phis = all.phis;
    const auto next_is_eps_away = [&](std::size_t i) { return std::abs(phis[i + 1] - phis[i] - all.eps) < 1e-9; };
    std::vector<Curve> curves;
    for (std::size_t i = 0; i < phis.size();) {
        const bool band = i + 2 < phis.size() && next_is_eps_away(i) && next_is_eps_away(i + 1);
        curves.push_back(band ? Curve{i, i + 1, i + 2} : Curve{i, i, i});
        i += band ? 3 : 1;
    }
    return curves;
}

std::string with_commas(std::uint64_t number) {
    auto digits = fmt::format("{}", number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), 1, ',');
    return digits;
}

std::string name_of(double phi) {
    return phi == 0.5 ? "median" : fmt::format("{:.6g} %", 100 * phi);
}

Panel panel_of(const Answers& all) {
    const auto curves = curves_of(all);
    const bool bands = std::ranges::any_of(curves, has_band);
    Panel panel{.title = "Response times" +
                         (all.window ? fmt::format(" of the last {} requests", with_commas(*all.window)) : ""),
                .x_label = "requests so far",
                .y_label = "response time in ms",
                .series = {},
                .x_scale = quadmill::detail::bench::Scale::Linear,
                .subtitle = fmt::format("as quadmill saw them while the log grew, ranks within {:.6g} %{}",
                                        100 * all.eps, bands ? "; the bands contain the exact quantiles" : ""),
                .infinity = "timed out"};
    bool positive = false;
    for (const auto& curve : curves) {
        Series series{.name = name_of(all.phis[curve.middle]), .points = {}};
        for (const auto& answer : all.answers) {
            const double value = answer.values[curve.middle];
            positive = positive || (value > 0 && value < infinity);
            series.points.emplace_back(answer.n, value);
            if (has_band(curve)) series.band.emplace_back(answer.values[curve.lower], answer.values[curve.upper]);
        }
        panel.series.push_back(std::move(series));
    }
    if (!positive) throw std::runtime_error("no positive numbers to draw");
    return panel;
}

}  // namespace

std::string plot_answers(std::istream& lines) {
    const auto all = read_answers(lines);
    if (all.answers.empty()) throw std::runtime_error("no answers to draw");
    return quadmill::detail::bench::plot({panel_of(all)});
}
