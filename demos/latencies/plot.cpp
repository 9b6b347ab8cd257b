#include "plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

constexpr double width = 800, height = 450, left = 68, right = 128, top = 64, bottom = 54;
constexpr double plot_right = width - right, plot_bottom = height - bottom;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Okabe and Ito's palette, which stays apart for the colour-blind.
constexpr std::array colors{"#0072B2", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#56B4E9", "#000000"};

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

// Which of the phis make a line and the band around it; of a line alone all three are the same.
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

// 1, 2 and 5 times the powers of ten, from the last one at or below `low` to the first one at or above `high`.
std::vector<double> decimal_ticks(double low, double high) {
    std::vector<double> ticks;
    for (double power = std::pow(10, std::max(std::floor(std::log10(low)), -300.0));; power *= 10) {
        for (const double step : {1, 2, 5}) {
            if (step * power <= low) ticks.clear();
            ticks.push_back(step * power);
            if (ticks.back() >= high && ticks.size() > 1) return ticks;
        }
    }
}

std::string with_commas(std::uint64_t number) {
    auto digits = fmt::format("{}", number);
    for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), 1, ',');
    return digits;
}

class Drawing {
  public:
    explicit Drawing(const Answers& all) : all_(all), curves_(curves_of(all)) {
        measure();
        titles();
        axes();
        for (std::size_t i = 0; i < curves_.size(); ++i) band(i);
        for (std::size_t i = 0; i < curves_.size(); ++i) line(i);
        legend();
    }
    [[nodiscard]] std::string svg() const {
        return fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
            "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{2}</svg>\n",
            width, height, body_);
    }

  private:
    template <class... Args>
    void put(fmt::format_string<Args...> format, Args&&... args) {
        body_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
    }

    void measure() {
        double low = infinity, high = 0;
        for (const auto& answer : all_.answers) {
            last_n_ = std::max(last_n_, answer.n);
            for (const double value : answer.values) {
                infinite_ |= value == infinity;
                if (!(value > 0) || value == infinity) continue;
                low = std::min(low, value);
                high = std::max(high, value);
            }
        }
        if (high == 0) throw std::runtime_error("no positive numbers to draw");
        ticks_ = decimal_ticks(low, high);
    }

    [[nodiscard]] double x_of(double n) const { return left + (plot_right - left) * n / last_n_; }

    // Infinite values have the top edge for themselves; what has no logarithm is at the bottom.
    [[nodiscard]] double y_of(double value) const {
        const double highest = infinite_ ? top + 22 : top;
        if (value == infinity) return top;
        if (!(value > ticks_.front())) return plot_bottom;
        return plot_bottom -
               (plot_bottom - highest) * std::log(value / ticks_.front()) / std::log(ticks_.back() / ticks_.front());
    }

    [[nodiscard]] std::string points(std::size_t which) const {
        std::string text;
        for (const auto& answer : all_.answers)
            text += fmt::format("{:.1f},{:.1f} ", x_of(answer.n), y_of(answer.values[which]));
        text.pop_back();
        return text;
    }

    void titles() {
        put("<text x=\"{}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">Response times{}</text>", left,
            all_.window ? fmt::format(" of the last {} requests", with_commas(*all_.window)) : "");
        const bool bands = std::ranges::any_of(curves_, has_band);
        put("<text x=\"{}\" y=\"46\" fill=\"#555555\">as quadmill saw them while the log grew, ranks within {:.6g} %{}"
            "</text>",
            left, 100 * all_.eps, bands ? "; the bands surely hold the exact quantiles" : "");
    }

    void axes() {
        for (const double tick : ticks_) y_tick(tick, fmt::format("{:g}", tick));
        if (infinite_) y_tick(infinity, "∞");
        const double raw = last_n_ / 6, power = std::pow(10, std::floor(std::log10(raw)));
        double step = 10 * power;
        for (const double part : {5, 2, 1}) step = part * power >= raw ? part * power : step;
        for (int i = 0; i * step <= last_n_ * 1.001; ++i) {  // NaNs do not count, so a round number may just be missed
            const double x = x_of(i * step);
            put("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"#555555\"/>"
                "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:g}</text>",
                x, plot_bottom, plot_bottom + 5, plot_bottom + 19, i * step / 1e6);
        }
        put("<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"#555555\"/>", left, plot_right, plot_bottom);
        put("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">requests so far, in millions</text>",
            (left + plot_right) / 2, height - 14);
        put("<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\">response time in ms</text>",
            (top + plot_bottom) / 2);
    }

    void y_tick(double value, const std::string& name) {
        const double y = y_of(value);
        put("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#e2e2e2\"/>"
            "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
            left, plot_right, y, y, left - 8, y + 4, name);
    }

    void band(std::size_t index) {
        const auto& curve = curves_[index];
        if (!has_band(curve)) return;
        std::string back;
        for (auto answer = all_.answers.rbegin(); answer != all_.answers.rend(); ++answer)
            back += fmt::format(" {:.1f},{:.1f}", x_of(answer->n), y_of(answer->values[curve.lower]));
        put("<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.25\"/>", points(curve.upper), back, color(index));
    }

    void line(std::size_t index) {
        const auto which = curves_[index].middle;
        put("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"/>",
            points(which), color(index));
        const auto& answers = all_.answers;
        for (std::size_t from = 0, to = 0; from < answers.size(); from = to + 1) {
            for (to = from; to < answers.size() && answers[to].values[which] == infinity;) ++to;
            if (to > from) up_mark((x_of(answers[from].n) + x_of(answers[to - 1].n)) / 2, top, index);
        }
    }

    // One for a stretch of infinite values.
    void up_mark(double x, double y, std::size_t index) {
        put("<path d=\"M{:.1f} {:.1f}l6 11h-12z\" fill=\"{}\"/>", x, y - 7, color(index));
    }

    // From the top down, as the lines lie.
    void legend() {
        const double x = plot_right + 18;
        double y = top + 14;
        for (auto index = curves_.size(); index-- > 0; y += 22) {
            if (has_band(curves_[index])) {
                put("<rect x=\"{}\" y=\"{}\" width=\"24\" height=\"12\" fill=\"{}\" fill-opacity=\"0.25\"/>", x, y - 6,
                    color(index));
            }
            put("<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"2\"/>"
                "<text x=\"{}\" y=\"{}\">{}</text>",
                x, x + 24, y, y, color(index), x + 32, y + 4, name(index));
        }
        if (infinite_) {
            put("<path d=\"M{:.1f} {:.1f}l6 11h-12z\" fill=\"#555555\"/><text x=\"{}\" y=\"{}\">timed out</text>",
                x + 12, y - 5, x + 32, y + 4);
        }
    }

    [[nodiscard]] std::string name(std::size_t index) const {
        const double phi = all_.phis[curves_[index].middle];
        return phi == 0.5 ? "median" : fmt::format("{:.6g} %", 100 * phi);
    }
    [[nodiscard]] static const char* color(std::size_t index) { return colors[index % colors.size()]; }

    const Answers& all_;
    std::vector<Curve> curves_;
    std::vector<double> ticks_;
    double last_n_ = 0;
    bool infinite_ = false;
    std::string body_;
};

}  // namespace

std::string plot_answers(std::istream& lines) {
    const auto all = read_answers(lines);
    if (all.answers.empty()) throw std::runtime_error("no answers to draw");
    return Drawing(all).svg();
}
