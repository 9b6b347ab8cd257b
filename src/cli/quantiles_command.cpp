#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/plot.hpp"
#include "cli/commands.hpp"
#include "cli/groups.hpp"
#include "cli/recent.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"

namespace quadmill::detail::cli {

namespace {

double double_of(Half value) {
    return value.value();
}
double double_of(auto value) {
    return static_cast<double>(value);
}

template <class T>
T value_near(double number) {
    if constexpr (std::is_same_v<T, Half>) {
        return Half::from_float(static_cast<float>(number));
    } else {
        return static_cast<T>(std::is_integral_v<T> ? std::floor(number) : number);
    }
}

struct QuantilesCommand {
    StreamOptions stream;
    SlidingChoice sliding;
    std::vector<double> phis = default_phis;
    double eps = 0.001;
    std::optional<std::uint64_t> n{};
    std::vector<std::string> ranks{};
    std::size_t bars = 0;
    std::string plot{};
    bool stats = false;
    Tail tail = Tail::Off;
    std::uint64_t max_groups = 10'000;

    void run() const;
    template <class T>
    void run_as() const;

  private:
    void check() const;
    [[nodiscard]] QuantileOptions options() const {
        return {
            .eps = eps, .n = n, .window = stream.window, .tail = tail, .moments = stats ? Moments::Kept : Moments::Off};
    }
    template <class T>
    [[nodiscard]] std::vector<T> values_to_rank() const;
    template <class T>
    void add_rows(Answer& answer, const Quantiles<T>& summary, const std::vector<T>& values) const;
    void draw(const std::vector<double>& ends, const std::vector<Count>& counts) const;
    [[nodiscard]] Json bar_row(Json from, Json to, const Count& below, const Count& at_most, std::uint64_t all) const;
};

template <class T>
std::vector<T> QuantilesCommand::values_to_rank() const {
    std::vector<T> values;
    for (const auto& list : ranks) {
        for (const auto& word : input::comma_separated(list)) {
            T value{};
            auto fault = stream.reading.parse<T>()(word, value);
            if (!fault && std::isnan(double_of(value))) fault = "has no rank";
            if (fault) throw CLI::ValidationError("--rank", input::in_quotes(word) + " " + fault);
            values.push_back(value);
        }
    }
    return values;
}

Json QuantilesCommand::bar_row(Json from, Json to, const Count& below, const Count& at_most, std::uint64_t all) const {
    const auto minus = [](std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; };
    const Count count{minus(at_most.lower, below.upper), minus(at_most.estimate, below.estimate),
                      minus(at_most.upper, below.lower)};
    Json row{{"from", std::move(from)}, {"to", std::move(to)}};
    row.update(json_of(count));
    if (stream.format == Format::Table) {
        constexpr double widest = 50;
        const auto part = static_cast<double>(count.estimate) / static_cast<double>(std::max<std::uint64_t>(all, 1));
        std::string bar(static_cast<std::size_t>(std::lround(part * widest)), '#');
        bar.resize(static_cast<std::size_t>(widest), ' ');
        row["bar"] = bar;
    }
    return row;
}

// The outline of the bars: bar i is from ends[i] to ends[i + 1] and has the values that are counted between.
void QuantilesCommand::draw(const std::vector<double>& ends, const std::vector<Count>& counts) const {
    bench::Series outline{.name = "values in a bar", .line = bench::Line::Unmarked, .points = {{ends.front(), 0}}};
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
        const auto count = counts[i + 1].estimate - std::min(counts[i + 1].estimate, counts[i].estimate);
        outline.points.emplace_back(ends[i], static_cast<double>(count));
        outline.points.emplace_back(ends[i + 1], static_cast<double>(count));
    }
    outline.points.emplace_back(ends.back(), 0);
    for (const auto& [x, count] : outline.points) outline.band.emplace_back(0, count);
    files::OutputFile file(plot);
    const auto picture = bench::plot({{.title = stream.column.which.empty() ? "Histogram" : stream.column.which,
                                       .x_label = "value",
                                       .y_label = "number of values",
                                       .series = {std::move(outline)},
                                       .x_scale = bench::Scale::Fitted,
                                       .y_scale = bench::Scale::Linear,
                                       .subtitle = fmt::format("{} values", counts.back().estimate)}});
    file.write(std::as_bytes(std::span(picture)));
    file.commit();
}

template <class T>
void QuantilesCommand::add_rows(Answer& answer, const Quantiles<T>& summary, const std::vector<T>& values) const {
    if (summary.n() == 0) return;
    if (!values.empty()) {
        answer.rows_of = "ranks";
        answer.rows = Json::array();
        for (const auto& value : values) answer.rows.push_back(counted_row(json_of(value), summary.rank(value)));
    }
    if (bars == 0) return;
    const auto min = summary.quantile(0).value, max = summary.quantile(1).value;
    const double first = double_of(min), last = double_of(max);
    if (!std::isfinite(first) || !std::isfinite(last))
        throw InvalidArgument("--histogram: there are infinite values, so bars cannot have the same width");
    std::vector<T> ends;
    for (std::size_t i = 1; i < bars; ++i)
        ends.push_back(value_near<T>(std::lerp(first, last, static_cast<double>(i) / static_cast<double>(bars))));
    ends.push_back(max);
    std::vector<Count> counts(1);
    std::uint64_t most = 0;
    for (const auto& end : ends) {
        counts.push_back(summary.rank(end));
        most = std::max(most, counts.back().estimate - std::min(counts.back().estimate, counts.rbegin()[1].estimate));
    }
    if (!plot.empty()) {
        std::vector<double> corners{first};
        for (const auto& end : ends) corners.push_back(double_of(end));
        draw(corners, counts);
    }
    answer.rows_of = "bars";
    answer.rows = Json::array();
    for (std::size_t i = 0; i < bars; ++i)
        answer.rows.push_back(
            bar_row(json_of(i == 0 ? min : ends[i - 1]), json_of(ends[i]), counts[i], counts[i + 1], most));
}

template <class T>
void QuantilesCommand::run_as() const {
    const auto values = values_to_rank<T>();
    StreamRun run(stream, sizeof(T));
    const Question question{.phis = phis, .width = sliding.asked()};
    const auto make = [this] { return Quantiles<T>(options()); };
    if (!stream.group.empty()) {
        return run_groups<T, Quantiles<T>>(run, stream, max_groups, make,
                                           [&](const Quantiles<T>& some) { return answer_of(some, question); });
    }
    if (sliding.on()) {
        auto sorter = run.sorter();
        auto summary = run.resumed([&](auto bytes) { return SlidingQuantiles<T>::load(bytes, std::move(sorter)); },
                                   [&] { return SlidingQuantiles<T>(sliding.options(eps), std::move(sorter)); });
        const auto ask = [&](const SlidingQuantiles<T>& some) {
            auto answer = answer_of(some, question);
            if (!values.empty() || bars > 0) add_rows(answer, some.summary(question.width), values);
            return answer;
        };
        return run.run<T>(any_summary<SlidingQuantiles<T>>(summary, ask),
                          [&](std::span<const T> some) { summary.add(some); });
    }
    const auto ask = [&](const Quantiles<T>& some) {
        auto answer = answer_of(some, question);
        add_rows(answer, some, values);
        if (stats && some.n() > 0) {
            const auto all = some.stats();
            answer.head["min"] = json_of(all.min);
            answer.head["max"] = json_of(all.max);
            answer.head["mean"] = json_of(all.mean);
            answer.head["sd"] = json_of(std::sqrt(all.variance));
        }
        return answer;
    };
    if (sliding.seconds > 0) return run_recent<T, Quantiles<T>>(run, stream, sliding.seconds, make, ask);
    auto sorter = run.sorter();
    auto summary = run.resumed([&](auto bytes) { return Quantiles<T>::load(bytes, std::move(sorter)); },
                               [&] { return Quantiles<T>(options(), std::move(sorter)); });
    const auto any = any_summary<Quantiles<T>>(summary, ask);
    if (!stream.weight.empty())
        return run.run_weighted<T>(any, [&](auto some, auto weights) { summary.add(some, weights); });
    run.run<T>(any, [&](std::span<const T> some) { summary.add(some); });
}

void QuantilesCommand::check() const {
    if (!plot.empty()) {
        if (!plot.ends_with(".svg"))
            throw CLI::ValidationError("--plot", "makes an SVG picture; let its name end in .svg");
        input::refuse_inputs("--plot", plot, stream.inputs);
    }
    sliding.check(eps, stream);
    if (n && (sliding.on() || sliding.seconds > 0)) throw CLI::ValidationError("--n", "does not go with --sliding");
    if (stats && sliding.on())
        throw CLI::ValidationError("--stats", "does not go with --sliding: its mean is of all values");
    if (tail != Tail::Off && sliding.on()) throw CLI::ValidationError("--tail", "does not go with --sliding");
    if (tail != Tail::Off && n) throw CLI::ValidationError("--n", "does not go with --tail, which does not use it");
    refuse_with(stream, "--by", {"--sliding", "--stats", "--rank", "--histogram", "--n"});
    refuse_with(stream, "--weight", {"--sliding", "--n", "--engine"});
    if (stream.verb->count("--phi") == 0 || tail != Tail::Off) return;
    for (const double phi : phis) {
        const double part = std::min(phi, 1 - phi);
        if (part <= 0 || part >= eps * (1 - 1e-9)) continue;
        fmt::print(stderr,
                   "quadmill: --eps {} is coarser than the tail at --phi {}; take --eps {:.1g} or less, or --tail\n",
                   eps, phi, part / 10);
        break;
    }
}

void QuantilesCommand::run() const {
    check();
    cpu::visit_key_type(stream.type(), [this]<class T>(const T*) { run_as<T>(); });
}

}  // namespace

void add_quantiles_command(CLI::App& app) {
    auto command = std::make_shared<QuantilesCommand>();
    auto* verb = app.add_subcommand("quantiles",
                                    "Approximate percentiles of a file or pipe, with guaranteed bounds of their ranks");
    add_eps_option(*verb, command->eps);
    verb->add_option(
            "--tail", command->tail,
            "The end near which quantiles are more exact: high, low, or both. The error of a rank is then at most "
            "E times its distance from that end, instead of E * N (default of E with --tail: 0.01)")
        ->transform(input::one_of(input::Words<Tail>{{"high", Tail::High}, {"low", Tail::Low}, {"both", Tail::Both}}))
        ->type_name("high|low|both");
    add_phi_option(*verb, command->phis);
    auto* rank =
        verb->add_option("--rank", command->ranks,
                         "Instead of quantiles: how many values do not exceed each of these, separated by commas")
            ->allow_extra_args(false)
            ->excludes("--phi")
            ->type_name("X,...");
    verb->add_option("--histogram", command->bars,
                     "Instead of quantiles: the number of values in each of BARS bars of equal width")
        ->transform(input::count_up_to(10'000))
        ->expected(0, 1)
        ->default_str("10")
        ->excludes("--phi")
        ->excludes(rank)
        ->type_name("BARS");
    verb->add_option("--plot", command->plot, "With --histogram: also draw it, as an SVG picture")
        ->needs("--histogram")
        ->check(input::file_name())
        ->type_name("FILE.svg");
    verb->add_flag("--stats", command->stats,
                   "Also the min, max and mean, and the standard deviation of a sample (divided by n - 1)");
    add_n_option(*verb, command->n);
    add_sliding_options(*verb, command->sliding);
    add_stream_options(*verb, command->stream, input::type_words);
    auto* column = add_column_options(*verb, command->stream);
    add_group_options(*verb, command->stream, command->max_groups, column, "quantiles");
    add_time_option(*verb, command->stream, column);
    add_weight_option(*verb, command->stream, column);
    add_resume_options(*verb, command->stream);
    verb->footer(
        "For each printed value: its true rank among all N values is between rank_lower and rank_upper, and differs "
        "from phi * N by at most E * N (with --tail by at most E times the distance from the end).\n"
        "\n"
        "Examples:\n"
        "  quadmill quantiles latencies.f32 --eps 0.0001 --phi 0.5,0.99,0.999\n"
        "  quadmill quantiles requests.csv.gz --column seconds --phi p50,p99 --stats\n"
        "  quadmill quantiles latencies.f32 --tail high --phi p99,p99.99\n"
        "  quadmill quantiles requests.csv.gz --column seconds --phi p99 --by path\n"
        "  quadmill quantiles requests.csv --column seconds --weight count --phi p50,p99\n"
        "  tail -n +1 -f latencies.log | quadmill quantiles --text --sliding 100000 --every 10000 "
        "--json\n"
        "  tail -n +1 -f latencies.log | quadmill quantiles --text --sliding 5min --every 10s --json\n"
        "  quadmill quantiles requests.csv --column seconds --time at --sliding 5min --every 1min --phi p99\n"
        "  quadmill quantiles monday.f64 --type f64 --save monday.summary");
    verb->callback([command, verb] {
        if (command->tail != Tail::Off && verb->count("--eps") == 0) command->eps = 0.01;
        command->run();
    });
}

}  // namespace quadmill::detail::cli
