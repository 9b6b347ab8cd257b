#include "show/monitor_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "show/parts.hpp"
#include "show/scale.hpp"

namespace quadmill::detail::show {

namespace {

using Band = MonitorModel::Band;
using Moment = MonitorModel::Moment;
using State = MonitorModel::State;

constexpr auto curves = MonitorModel::phis.size();
constexpr std::array<Color, curves> colors{sky, leaf, ink, max_color, alarm};
constexpr Color window_color{232, 238, 244};

struct MonitorLayout : PageStyle {
    explicit MonitorLayout(Size size);
    Box header, words, plot, histogram, table, frequent, legend;
};

// The histogram and the plot share an axis of values.
MonitorLayout::MonitorLayout(Size size) : PageStyle(size, 12, 16) {
    Box page = Box{0, 0, size.width, size.height}.inset(gap);
    header = page.take_top(title.line());
    words = page.take_top((large ? 2 : 3) * body.line() + 2);
    legend = page.take_bottom(small.line());
    page.take_bottom(gap / 2);
    Box below = page.take_bottom(bold.line() + 4 + 6 * (body.line() + (large ? 4 : 1)));
    page.take_bottom(gap);
    table = below.take_left((below.width - 2 * gap) * 2 / 5);
    below.take_left(2 * gap);
    frequent = below;
    page.take_top(gap / 2);
    histogram = page.take_right(page.width / 4);
    page.take_right(small.width("p99") + gap);
    plot = page;
    plot.take_left(small.width("0.0000001") + 8);
    for (auto* box : {&plot, &histogram}) {
        box->take_top(small.line() + 4);
        box->take_bottom(2 * small.line() + 8);
    }
}

std::string number(double value) {
    return std::isinf(value) ? (value < 0 ? "\u2212inf" : "inf") : fmt::format("{:.4g}", value);
}

std::string name_of_curve(std::size_t i) {
    return fmt::format("p{:g}", 100 * MonitorModel::phis.at(i));
}

std::string count_of(std::uint64_t values) {
    return values < 1000000 ? with_commas(values) : fmt::format("{:.6g} M", static_cast<double>(values) / 1e6);
}

std::string bytes_of(std::size_t bytes) {
    return bytes < 1000000 ? fmt::format("{:.0f} KB", static_cast<double>(bytes) / 1e3)
                           : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// A scale for all finite values of the curves and their bands.
Scale scale_of(const MonitorModel& model, const Box& box) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& moment : model.history) {
        for (const auto& band : moment.bands) {
            for (const double value : {band.lower, band.value, band.upper}) {
                if (std::isinf(value)) continue;
                low = std::min(low, value);
                high = std::max(high, value);
            }
        }
    }
    if (low > high) low = high = 0;
    return {low, high, box.y, box.bottom(), 8};
}

class Page {
  public:
    Page(const MonitorModel& model, Size size)
        : model_(model), at_(size), scale_(scale_of(model, at_.plot)), canvas_(size.width, size.height) {}

    Canvas draw() {
        header();
        frames();
        if (!model_.history.empty()) {
            histogram();
            bands();
            lines();
            names();
        }
        table();
        frequent();
        legend();
        return std::move(canvas_);
    }

  private:
    void header() {
        canvas_.text(at_.header.x, at_.header.y, "The last values of a stream", at_.title);
        const auto* state = model_.state == State::Ended    ? "end of stream"
                            : model_.state == State::Paused ? "paused"
                                                            : "";
        canvas_.text(at_.header.right(), at_.header.y, state, at_.title, model_.state == State::Ended ? accent : alarm,
                     Canvas::Align::Right);
        canvas_.paragraph(at_.words, summary(), at_.body, faint);
    }

    [[nodiscard]] std::string summary() const {
        if (model_.held == 0)
            return fmt::format("No values yet; the window will be the last {}.", count_of(model_.window));
        auto words = fmt::format(
            "The last {} of {} values{}{}. ", count_of(model_.held), count_of(model_.read),
            model_.held < model_.window ? fmt::format(" (the window of {} is filling)", count_of(model_.window)) : "",
            model_.nans > 0 ? fmt::format(", {} NaNs left out", count_of(model_.nans)) : "");
        words += fmt::format("Ranks and counts are off by at most eps = {:g} of them, in {} of memory; {} sorts.",
                             model_.eps, bytes_of(model_.bytes), sorter());
        if (model_.values_per_s)
            words += fmt::format(" {} values/s.", with_commas(static_cast<std::uint64_t>(*model_.values_per_s)));
        return words;
    }

    [[nodiscard]] const char* sorter() const {
        if (model_.sorter == "cpu") return "the CPU";
        if (model_.sorter == "pbsn") return "the graphics pipeline, using blending";
        if (model_.sorter == "bitonic") return "the graphics pipeline, using a bitonic network";
        return model_.sorter == "merge" ? "the graphics pipeline" : "the graphics pipeline and the CPU together";
    }

    void heading(const Box& box, const std::string& words) {
        canvas_.label({box.x, box.y - at_.small.line() - 4, box.width, at_.small.line()}, words, at_.small);
    }

    // Time is counted in values. The axis is filled from the left; then it moves.
    [[nodiscard]] std::uint64_t first_shown() const {
        return model_.read > model_.span ? model_.read - model_.span : 0;
    }
    [[nodiscard]] float x_of(std::uint64_t read) const {
        const auto passed = static_cast<double>(read) - static_cast<double>(first_shown());
        return static_cast<float>(at_.plot.x + passed / static_cast<double>(model_.span) * at_.plot.width);
    }

    void frames() {
        heading(at_.plot, "quantiles over time");
        heading(at_.histogram, fmt::format("{} bars of equal depth", model_.bars.size()));
        canvas_.fill(at_.plot, shade);
        canvas_.fill(at_.histogram, shade);
        const auto from = static_cast<int>(x_of(std::max(model_.read - model_.held, first_shown())));
        const auto to = static_cast<int>(x_of(model_.read));
        canvas_.fill({from, at_.plot.y, to - from, at_.plot.height}, window_color);
        scale_.draw(canvas_, at_.plot, at_.small);
        times();
        canvas_.text(at_.histogram.x, at_.histogram.bottom() + 4, "few", at_.small, faint);
        canvas_.text(at_.histogram.right(), at_.histogram.bottom() + 4, "many", at_.small, faint, Canvas::Align::Right);
        canvas_.text(at_.histogram.x + at_.histogram.width / 2, at_.histogram.bottom() + 4 + at_.small.line(),
                     "values of about that size", at_.small, faint, Canvas::Align::Middle);
        if (model_.history.empty())
            canvas_.text(at_.plot.x + at_.plot.width / 2, at_.plot.y + at_.plot.height / 2, "no values yet", at_.title,
                         faint, Canvas::Align::Middle);
    }

    void times() {
        const auto widest = static_cast<double>(at_.small.width("999,999 M") + at_.gap);
        const double min = static_cast<double>(model_.span) * widest / at_.plot.width;
        const auto every = static_cast<std::uint64_t>(round_step(std::max(min, 1.0)));
        const auto first = (first_shown() + every - 1) / every * every;
        for (auto read = first; read <= first_shown() + model_.span; read += every) {
            const auto x = static_cast<int>(x_of(read));
            canvas_.fill({x, at_.plot.bottom(), 1, 4}, faint);
            canvas_.text(x, at_.plot.bottom() + 4, count_of(read), at_.small, faint, Canvas::Align::Middle);
        }
        canvas_.text(at_.plot.x + at_.plot.width / 2, at_.plot.bottom() + 4 + at_.small.line(), "values of the stream",
                     at_.small, faint, Canvas::Align::Middle);
    }

    // Straight lines between moments.
    void bands() {
        for (std::size_t m = 1; m < model_.history.size(); ++m) {
            const auto &before = model_.history[m - 1], &after = model_.history[m];
            const float x0 = x_of(before.read), x1 = x_of(after.read);
            for (auto x = static_cast<int>(std::max(x0, static_cast<float>(at_.plot.x))); x < static_cast<int>(x1);
                 ++x) {
                const float part = (static_cast<float>(x) + 0.5F - x0) / (x1 - x0);
                for (std::size_t i = 0; i < curves; ++i) {
                    const auto y_at = [&](float a, float b) {
                        return static_cast<int>(std::lround(std::lerp(scale_.y(a), scale_.y(b), part)));
                    };
                    const int top = y_at(before.bands[i].upper, after.bands[i].upper);
                    const int bottom = y_at(before.bands[i].lower, after.bands[i].lower);
                    canvas_.fill({x, top, 1, bottom - top + 1}, colors.at(i), 0.3F);
                }
            }
        }
    }

    void lines() {
        const float thickness = at_.large ? 2 : 1.5F;
        for (std::size_t i = 0; i < curves; ++i) {
            std::vector<Point> line;
            for (const auto& moment : model_.history)
                line.push_back({x_of(moment.read), scale_.y(moment.bands.at(i).value)});
            cut_left(line);
            canvas_.polyline(line, colors.at(i), thickness);
            const auto& now = line.back();
            canvas_.line(now.x, now.y, now.x, now.y, colors.at(i), 2.5F * thickness);
        }
    }

    // The oldest moment may be just left of the axis.
    void cut_left(std::vector<Point>& line) const {
        const auto edge = static_cast<float>(at_.plot.x);
        if (line.size() < 2 || line[0].x >= edge) return;
        const float part = (edge - line[0].x) / (line[1].x - line[0].x);
        line[0] = {edge, std::lerp(line[0].y, line[1].y, part)};
    }

    // Names stand at the curves' ends, one below the other if the ends are close.
    void names() {
        const int line = at_.small.line(), x = static_cast<int>(x_of(model_.read)) + at_.gap / 2;
        std::array<int, curves> y{};
        int above = at_.plot.y - line;
        for (std::size_t i = curves; i-- > 0;)
            above = y.at(i) = std::max(static_cast<int>(end_of(i)) - line / 2, above + line);
        int below = at_.plot.bottom() + line / 2;
        for (std::size_t i = 0; i < curves; ++i) {
            below = y.at(i) = std::min(y.at(i), below - line);
            canvas_.text(x, y.at(i), name_of_curve(i), at_.small, mix(colors.at(i), ink, 0.25F));
        }
    }
    [[nodiscard]] float end_of(std::size_t curve) const {
        return scale_.y(model_.history.back().bands.at(curve).value);
    }

    // A horizontal histogram on the axis of the curves. The area of a bar is its count. A bar that is much denser than
    // most is cut off.
    void histogram() {
        const auto height = [&](const Bar<float>& bar) {
            return std::max(std::abs(scale_.position(bar.from) - scale_.position(bar.to)), 1.0);
        };
        const auto dense = [&](const Bar<float>& bar, std::uint64_t count) {
            return static_cast<double>(count) / height(bar);
        };
        std::vector<double> densities;
        for (const auto& bar : model_.bars) densities.push_back(dense(bar, bar.count.upper));
        std::ranges::sort(densities);
        const double full = std::max(std::min(densities.back(), 3 * densities[densities.size() / 2]), 1e-9);
        for (const auto& bar : model_.bars) {
            const auto width = [&](std::uint64_t count) {
                const double part = dense(bar, count) / full;
                return static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * at_.histogram.width));
            };
            const int top = static_cast<int>(scale_.y(bar.to)), bottom = static_cast<int>(scale_.y(bar.from));
            Box box{at_.histogram.x, top, width(bar.count.upper),
                    std::max(bottom - top - (bottom - top > 2 ? 1 : 0), 1)};
            canvas_.fill(box, accent, 0.35F);
            box.width = width(bar.count.lower);
            canvas_.fill(box, accent);
            if (dense(bar, bar.count.upper) > full)
                canvas_.fill({at_.histogram.right() - 4, box.y, 4, box.height}, ink);
        }
    }

    void table() {
        Box box = at_.table;
        const int value = box.x + box.width * 9 / 20;
        const auto cells = [&](const std::string& name, const std::string& at, const std::string& between,
                               const Font& font) {
            canvas_.text(box.x + 18, box.y, name, font);
            canvas_.text(value, box.y, at, font, ink, Canvas::Align::Right);
            canvas_.text(box.right(), box.y, between, font, font.line() == at_.bold.line() ? ink : faint,
                         Canvas::Align::Right);
        };
        cells("quantile", "value", "surely from \u2026 to", at_.bold);
        box.take_top(at_.bold.line() + 4);
        for (std::size_t i = curves; i-- > 0 && !model_.history.empty();) {
            const auto& band = model_.history.back().bands.at(i);
            canvas_.fill({box.x, box.y + 3, 12, at_.body.line() - 6}, colors.at(i));
            cells(name_of_curve(i), number(band.value), number(band.lower) + " \u2026 " + number(band.upper), at_.body);
            box.take_top(at_.body.line() + (at_.large ? 4 : 1));
        }
    }

    void frequent() {
        Box box = at_.frequent;
        canvas_.label(box.take_top(at_.bold.line()),
                      fmt::format("values that are {:g} % of the window or more{}", 100 * model_.support,
                                  model_.frequent.empty() ? ": none" : ""),
                      at_.bold);
        box.take_top(4);
        if (model_.frequent.empty()) return;
        const int names = at_.body.width("\u22121.234e+38") + at_.gap / 2,
                  shares = at_.body.width("99.99 \u2026 99.99 %") + at_.gap / 2;
        const auto max = static_cast<double>(
            std::ranges::max(model_.frequent, {}, [](const auto& f) { return f.count.upper; }).count.upper);
        for (const auto& [key, count] : model_.frequent) {
            Box row = box.take_top(at_.body.line() + (at_.large ? 4 : 1));
            if (box.height < 0) break;
            canvas_.text(row.x + names - at_.gap / 2, row.y, number(key), at_.body, ink, Canvas::Align::Right);
            row.take_left(names);
            const auto share = [&](std::uint64_t n) {
                return 100 * static_cast<double>(n) / static_cast<double>(model_.held);
            };
            canvas_.text(row.right(), row.y,
                         fmt::format("{:.2f} \u2026 {:.2f} %", share(count.lower), share(count.upper)), at_.body, faint,
                         Canvas::Align::Right);
            row.take_right(shares);
            const auto width = [&](std::uint64_t n) {
                return static_cast<int>(std::lround(static_cast<double>(n) / max * row.width));
            };
            canvas_.fill({row.x, row.y + 2, width(count.upper), at_.body.line() - 4}, accent, 0.35F);
            canvas_.fill({row.x, row.y + 2, width(count.lower), at_.body.line() - 4}, accent);
        }
    }

    void legend() {
        Box box = at_.legend;
        const int gap = at_.large ? 22 : 10;
        const std::array meanings{std::pair{mix(white, leaf, 0.3F), "surely holds the exact quantile"},
                                  std::pair{accent, "at least"}, std::pair{mix(white, accent, 0.35F), "at most"},
                                  std::pair{window_color, "the window"}, std::pair{ink, "bar cut off"}};
        for (const auto& [color, words] : meanings) swatch(canvas_, box, color, words, at_.small, gap);
    }

    const MonitorModel& model_;
    MonitorLayout at_;
    Scale scale_;
    Canvas canvas_;
};

}  // namespace

Canvas draw_monitor(const MonitorModel& model, Size size) {
    return Page(model, size).draw();
}

}  // namespace quadmill::detail::show
