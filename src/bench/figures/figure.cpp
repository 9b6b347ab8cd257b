#include "bench/figures/figure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "bench/plot.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::bench {

namespace {

using Kind = Verdict::Kind;

constexpr const char* columns = "panel,whose,series,x,y,low,high";
constexpr const char *missing_mark = "without ", *wrong_mark = "wrong: ";
const std::vector<std::pair<Whose, std::string>> whose_words{
    {Whose::Ours, "ours"}, {Whose::Baseline, "baseline"}, {Whose::Paper, "paper"}};

std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

std::string quoted(const std::string& text) {
    return text.find(',') == std::string::npos ? text : '"' + text + '"';
}

std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> out(1);
    bool inside = false;
    for (const char c : line) {
        if (c == '"') {
            inside = !inside;
        } else if (c == ',' && !inside) {
            out.emplace_back();
        } else {
            out.back() += c;
        }
    }
    return out;
}

double number(const std::string& text) {
    double value = 0;
    const auto* const end = text.data() + text.size();
    if (const auto [at, error] = std::from_chars(text.data(), end, value); error != std::errc() || at != end)
        throw Error("bench figures: '" + text + "' is not a number");
    return value;
}

// Splits "NAME: WORDS".
std::pair<std::string, std::string> named(const std::string& line) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) throw Error("bench figures: '" + line + "' has no ': '");
    return {line.substr(0, colon), line.substr(colon + 2)};
}

// Groups digits by three.
std::string grouped(std::string digits) {
    const auto point = std::min(digits.find('.'), digits.size());
    for (auto at = point; at > 3 && digits[at - 4] != '-'; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

std::string bounds(double min, double max) {
    return max >= no_limit ? fmt::format("at least {:g}", min)
           : min <= 0      ? fmt::format("at most {:g}", max)
                           : fmt::format("from {:g} to {:g}", min, max);
}

const char* words(At at) {
    return at == At::Smallest ? "at the smallest x" : at == At::Largest ? "at the largest x" : "at every x";
}

std::vector<double> some(std::vector<double> xs, At at) {
    if (xs.empty() || at == At::Every) return xs;
    return {at == At::Smallest ? xs.front() : xs.back()};
}

using Range = FigureData::Range;

std::string spoken_range(const Range& r, const std::string& unit) {
    if (r.low == r.high) return spoken(r.y) + unit;
    return fmt::format("{}{} ({} to {})", spoken(r.y), unit, spoken(r.low), spoken(r.high));
}

// Reports the worst x if the claim fails, is too noisy, or is exceeded there; otherwise the range of all x.
Verdict within(const std::vector<double>& xs, double min, double max, const std::string& unit, Better better,
               const std::function<Range(double)>& of) {
    double low = 1e300, high = -1e300;
    std::map<Kind, std::string> first;
    for (const double x : xs) {
        const auto r = of(x);
        const auto kind = kind_of(r, min, max, better);
        first.emplace(kind,
                      fmt::format("{} at x = {}", kind == Kind::Noisy ? spoken_range(r, unit) : spoken(r.y) + unit,
                                  spoken_place(x)));
        low = std::min(low, r.y);
        high = std::max(high, r.y);
    }
    for (const auto kind : {Kind::Fails, Kind::Noisy, Kind::Exceeds}) {
        if (const auto found = first.find(kind); found != first.end()) return {kind, found->second};
    }
    if (xs.size() == 1) return {Kind::Holds, first.at(Kind::Holds)};
    return {Kind::Holds, fmt::format("{} to {}{}", spoken(low), spoken(high), unit)};
}

Verdict not_measured(const FigureData& data, const std::vector<std::string>& series) {
    for (const auto& name : series) {
        const auto found = std::ranges::find(data.missing, name, &std::pair<std::string, std::string>::first);
        if (found != data.missing.end()) return {Kind::NotHere, "", name + ": " + found->second};
    }
    // For the ratio to something that was not measured.
    const auto rest = data.missing.empty()
                          ? ""
                          : fmt::format("; without {}: {}", data.missing.front().first, data.missing.front().second);
    return {Kind::NotHere, "", fmt::format("no numbers of {}{}", series.front(), rest)};
}

}  // namespace

// Compares a range with the bounds. A value that is not a number counts as too small.
Verdict::Kind kind_of(const Range& r, double min, double max, Better better) {
    const bool below = !(r.low >= min), above = !(r.high <= max);
    const auto low_side = better == Better::Below ? Kind::Exceeds : Kind::Fails;
    const auto high_side = better == Better::Above ? Kind::Exceeds : Kind::Fails;
    if (!(r.high >= min)) return low_side;
    if (!(r.low <= max)) return high_side;
    // If the range is on both sides of a bound beyond which it is only better, the claim holds.
    const bool noisy = (below && low_side == Kind::Fails) || (above && high_side == Kind::Fails);
    return noisy ? Kind::Noisy : Kind::Holds;
}

Range ratio(const Range& over, const Range& under) {
    return {over.y / under.y, over.low / under.high, over.high / under.low};
}

std::string spoken_place(double x) {
    const double power = std::log2(x);
    if (x >= 1024 && power == std::floor(power)) return fmt::format("2^{:g}", power);
    return grouped(fmt::format("{:.10g}", x));
}

std::string spoken(double value) {
    if (value == 0 || !std::isfinite(value)) return fmt::format("{:g}", value);
    const double step = std::pow(10, std::floor(std::log10(std::abs(value))) - 2);  // value of the third digit
    const double rounded = std::round(value / step) * step;
    const auto digits = 2 - static_cast<int>(std::floor(std::log10(std::abs(rounded)) + 1e-9));
    return grouped(fmt::format("{:.{}f}", rounded, std::max(digits, 0)));
}

void FigureData::note_missing(const std::string& series, const std::string& why) {
    const std::pair<std::string, std::string> note{series, one_line(why)};
    if (std::ranges::find(missing, note) == missing.end()) missing.push_back(note);
}

void FigureData::must_have_drawn(const std::string& series, double x, std::uint64_t passes) {
    if (passes == 0)
        throw Error(fmt::format("'{}' drew no pass at x = {}: the GPU was not measured", series, spoken_place(x)));
}

std::string FigureData::fact(const std::string& name) const {
    const auto found = std::ranges::find(facts, name, &std::pair<std::string, std::string>::first);
    return found == facts.end() ? "" : found->second;
}

std::optional<Range> FigureData::range(const std::string& panel, const std::string& series, double x) const {
    for (const auto& point : points) {
        if (point.panel == panel && point.series == series && point.x == x)
            return Range{point.y, point.low, point.high};
    }
    return {};
}

std::optional<double> FigureData::y(const std::string& panel, const std::string& series, double x) const {
    const auto found = range(panel, series, x);
    return found ? std::optional(found->y) : std::nullopt;
}

std::vector<double> FigureData::xs(const std::string& panel, const std::string& series) const {
    std::vector<double> out;
    for (const auto& point : points) {
        if (point.panel == panel && point.series == series) out.push_back(point.x);
    }
    std::ranges::sort(out);
    return out;
}

std::vector<double> FigureData::xs(const std::string& panel, const std::string& a, const std::string& b) const {
    auto out = xs(panel, a);
    std::erase_if(out, [&](double x) { return !y(panel, b, x); });
    return out;
}

std::string FigureData::csv() const {
    std::string out;
    for (const auto& [name, text] : facts) out += fmt::format("# {}: {}\n", name, one_line(text));
    for (const auto& [series, why] : missing) out += fmt::format("# {}{}: {}\n", missing_mark, series, why);
    for (const auto& [series, what] : wrong) out += fmt::format("# {}{}: {}\n", wrong_mark, series, one_line(what));
    out += fmt::format("{}\n", columns);
    for (const auto& p : points) {
        const auto whose = std::ranges::find(whose_words, p.whose, &std::pair<Whose, std::string>::first)->second;
        out += fmt::format("{},{},{},{:.10g},{:.6g},{:.6g},{:.6g}\n", quoted(p.panel), whose, quoted(p.series), p.x,
                           p.y, p.low, p.high);
    }
    return out;
}

FigureData FigureData::from_csv(const std::string& text) {
    FigureData data;
    bool head = true;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# ")) {
            line.erase(0, 2);
            if (line.starts_with(missing_mark)) {
                data.missing.push_back(named(line.substr(std::string(missing_mark).size())));
            } else if (line.starts_with(wrong_mark)) {
                data.wrong.push_back(named(line.substr(std::string(wrong_mark).size())));
            } else {
                data.facts.push_back(named(line));
            }
        } else if (head) {
            if (line != columns) break;
            head = false;
        } else {
            const auto row = cells(line);
            if (row.size() != 7) throw Error("bench figures: '" + line + "' must have 7 columns");
            const auto whose = std::ranges::find(whose_words, row[1], &std::pair<Whose, std::string>::second);
            if (whose == whose_words.end()) throw Error("bench figures: '" + row[1] + "' is unknown");
            data.points.push_back(
                {row[0], whose->first, row[2], number(row[3]), number(row[4]), number(row[5]), number(row[6])});
        }
    }
    if (head) throw Error(fmt::format("bench figures: no line '{}'", columns));
    return data;
}

const char* word_for(Kind kind) {
    switch (kind) {
        case Kind::Holds:
            return "holds";
        case Kind::Exceeds:
            return "exceeds";
        case Kind::Fails:
            return "does not hold";
        case Kind::Noisy:
            return "too noisy to say";
        case Kind::Unlike:
            return "not measured as the paper did";
        case Kind::NotHere:
            break;
    }
    return "cannot be measured here";
}

Verdict judge(const Claim& claim, const FigureData& data) {
    auto found = claim.judge(data);
    if (found.kind != Kind::NotHere && !data.wrong.empty())
        return {Kind::Fails, data.wrong.front().first + ": " + data.wrong.front().second};
    if (claim.about == Claim::About::Gpu && data.on_software() && found.kind != Kind::NotHere)
        return {Kind::NotHere, found.ours,
                fmt::format("{}; the rule's verdict here: {}", no_gpu, word_for(found.kind))};
    if (!claim.unlike.empty() && found.kind != Kind::NotHere) return {Kind::Unlike, found.ours, claim.unlike};
    if (found.kind == Kind::Fails || found.kind == Kind::Exceeds) found.why = claim.because;
    return found;
}

Claim unlike(Claim claim, const std::string& difference) {
    claim.unlike = difference;
    return claim;
}

Claim because(Claim claim, const std::string& reason) {
    claim.because = reason;
    return claim;
}

Claim times_as_fast(const std::string& claim, Claim::About about, const std::string& panel, const std::string& fast,
                    const std::string& slow, At at, double min, double max, Better better) {
    return {claim, fmt::format("{}: {} over {} is {}, {}", panel, slow, fast, bounds(min, max), words(at)),
            [=](const FigureData& data) {
                const auto xs = some(data.xs(panel, fast, slow), at);
                if (xs.empty()) return not_measured(data, {fast, slow});
                return within(xs, min, max, " times", better, [&](double x) {
                    return ratio(*data.range(panel, slow, x), *data.range(panel, fast, x));
                });
            },
            about};
}

Claim lies_within(const std::string& claim, Claim::About about, const std::string& panel, const std::string& series,
                  At at, double min, double max, Better better) {
    return {claim, fmt::format("{}: {} is {}, {}", panel, series, bounds(min, max), words(at)),
            [=](const FigureData& data) {
                const auto xs = some(data.xs(panel, series), at);
                if (xs.empty()) return not_measured(data, {series});
                return within(xs, min, max, "", better, [&](double x) { return *data.range(panel, series, x); });
            },
            about};
}

Claim in_order(const std::string& claim, Claim::About about, const std::string& panel,
               const std::vector<std::string>& series) {
    std::string order;
    for (const auto& name : series) order += (order.empty() ? "" : " < ") + name;
    return {claim, fmt::format("{}: {}, at the largest x", panel, order),
            [=](const FigureData& data) -> Verdict {
                std::string ours;
                auto kind = Kind::Holds;
                Range before{0, 0, 0};
                for (const auto& name : series) {
                    const auto xs = data.xs(panel, name);
                    if (xs.empty()) return not_measured(data, {name});
                    const auto r = *data.range(panel, name, xs.back());
                    ours += fmt::format("{}{} {}", ours.empty() ? "" : ", ", name, spoken_range(r, ""));
                    if (before.low >= r.high) kind = Kind::Fails;
                    if (kind == Kind::Holds && before.high >= r.low) kind = Kind::Noisy;
                    before = r;
                }
                return {kind, ours};
            },
            about};
}

bool is_todays(const Claim& claim) {
    return claim.claim.starts_with("today");
}

Claim among(Claim claim, const std::string& which, const std::function<bool(double)>& is_one) {
    claim.rule = claim.rule.substr(0, claim.rule.rfind(", at ")) + ", " + which;
    claim.judge = [is_one, judge = claim.judge](const FigureData& data) {
        auto narrowed = data;
        std::erase_if(narrowed.points, [&](const FigurePoint& p) { return !is_one(p.x); });
        return judge(narrowed);
    };
    return claim;
}

Claim only_at(double x, Claim claim) {
    return among(std::move(claim), "at x = " + spoken_place(x), [x](double other) { return other == x; });
}

Claim not_here(const std::string& claim, const std::string& why) {
    return {claim, "none", [why](const FigureData& /*data*/) { return Verdict{Kind::NotHere, "", why}; }};
}

const std::vector<Figure>& figures() {
    static const std::vector<Figure> all = [] {
        std::vector<Figure> some;
        for (auto& of : {sort_figures(), terasort_figures(), sketch_figures(), slides_figures(), join_figures()})
            some.insert(some.end(), of.begin(), of.end());
        return some;
    }();
    return all;
}

namespace {

// For each series an index, the same in every panel, that selects its colour. It is the smallest index that no other
// series in its panels has.
std::map<std::string, std::size_t> places_of(const Figure& figure, const FigureData& data) {
    std::map<std::string, std::set<const FigurePanel*>> panels;
    std::vector<std::string> order;
    for (const auto& p : data.points) {
        auto& those = panels[p.series];
        const bool is_new = those.empty();
        for (const auto& panel : figure.panels) {
            if (panel.has(p)) those.insert(&panel);
        }
        if (is_new && !those.empty()) order.push_back(p.series);
    }
    std::map<std::string, std::size_t> positions;
    for (const auto& name : order) {
        std::set<std::size_t> taken;
        for (const auto& [other, position] : positions) {
            if (std::ranges::any_of(panels[other], [&](const auto* panel) { return panels[name].contains(panel); }))
                taken.insert(position);
        }
        std::size_t position = 0;
        while (taken.contains(position)) ++position;
        positions[name] = position;
    }
    return positions;
}

}  // namespace

std::string svg_of(const Figure& figure, const FigureData& data) {
    const auto positions = places_of(figure, data);
    std::vector<Panel> panels;
    const auto has_place = [](double value, Scale scale) { return scale == Scale::Linear ? value >= 0 : value > 0; };
    for (const auto& drawn : figure.panels) {
        Panel panel{
            drawn.title.empty() ? drawn.name : drawn.title,           drawn.x_label, drawn.y_label, {}, drawn.x_scale,
            drawn.y_label == "%" ? Scale::Linear : Scale::Logarithmic};
        for (const auto& p : data.points) {
            if (!drawn.has(p) || !has_place(p.x, panel.x_scale) || !has_place(p.y, panel.y_scale)) continue;
            const auto position = positions.at(p.series);
            if (panel.series.size() <= position) panel.series.resize(position + 1);
            auto& series = panel.series[position];
            series.name = p.series;
            series.line = p.whose == Whose::Ours ? Line::Solid : Line::Dashed;
            series.points.emplace_back(p.x, p.y);
        }
        for (auto& series : panel.series) std::ranges::sort(series.points);
        if (!panel.series.empty()) panels.push_back(std::move(panel));
    }
    return panels.empty() ? std::string() : plot(panels);
}

}  // namespace quadmill::detail::bench
