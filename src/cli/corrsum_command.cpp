#include <fmt/core.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/aggregate.hpp"
#include "cli/commands.hpp"
#include "cli/stream_run.hpp"
#include "input/expression.hpp"

namespace quadmill::detail::cli {

namespace {

struct CorrsumCommand {
    StreamOptions stream;
    ThresholdChoice threshold;
    std::string g;
    double eps = 0.001;
    std::optional<std::uint64_t> n{};

    void run() const;

  private:
    void check_formula(const std::string& has) const;
};

double number_of(auto value) {
    return static_cast<double>(value);
}
double number_of(Half value) {
    return value.value();
}

// Pairs of numbers of a type as two columns.
struct Columns {
    KeyType type;
    input::Form form;
    std::vector<std::byte> x{};
    std::vector<double> y{};

    void take(const input::Records& records) {
        cpu::visit_key_type(type, [&]<class T>(const T*) {
            form == input::Form::Text ? split<T>(records.as<input::Pair<T>>()) : split<T>(records.as<RawPair<T>>());
        });
    }

  private:
    template <class T>
    struct RawPair {
        T x, y;
    };
    template <class T>
    void split(auto pairs) {
        x.resize(pairs.size() * sizeof(T));
        y.resize(pairs.size());
        auto* to = reinterpret_cast<T*>(x.data());
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            to[i] = pairs[i].x;
            y[i] = number_of(pairs[i].y);
        }
    }
};

template <class T>
input::Fault check_pair(const void* pair) {
    return std::isinf(number_of(static_cast<const T*>(pair)[1])) ? "y is infinite and cannot be summed" : nullptr;
}

// Otherwise the sums would be of different things.
void CorrsumCommand::check_formula(const std::string& has) const {
    if (has == g) return;
    throw CLI::ValidationError("--g", fmt::format("the summary in '{}' has sums of {}, not of {}", stream.resume,
                                                  has.empty() ? "y" : has, g.empty() ? "y" : g));
}

void CorrsumCommand::run() const {
    constexpr auto kind = SummaryKind::CorrelatedSums;
    const auto type = stream.type();
    StreamRun run(stream, 2 * cpu::bytes_of(type));
    const auto summed = g.empty() ? std::function<double(double)>() : input::parse_expression(g, "y");
    const auto options = [&](double with_eps, std::size_t window) {
        return CorrelatedSumOptions{.eps = with_eps, .n = n, .window = window, .g = summed, .formula = g};
    };
    const Summaries how{
        .make = [&](auto sorter) { return make_summary(kind, type, options(eps, stream.window), std::move(sorter)); },
        .load = [&](auto bytes, auto sorter) { return load_summary(kind, type, bytes, std::move(sorter), summed); },
        .check =
            [&](const OneSummary& some) {
                check_resumed_eps(stream, eps, some.eps());
                check_formula(some.made_with().formula);
                check_resumed_plan(stream, some, [&](std::size_t window) {
                    return make_summary(kind, type, options(some.eps(), window));
                });
            },
        .ask = [&](const OneSummary& some) { return some.answer(threshold.question()); }};
    auto summary = run.resumed(how, run.sorter());
    Columns columns{type, stream.reading.form};
    std::uint64_t pairs = 0;
    const auto add = [&](const input::Records& records, const input::Records& /*second*/) {
        columns.take(records);
        std::string fault;
        auto good = records.size();
        for (std::size_t i = 0; summed && i < good; ++i) {
            const auto y = columns.y[i];
            if (std::isnan(y) || std::isfinite(summed(y))) continue;
            fault = fmt::format("pair {}{}: {} is not finite for y = {}", pairs + i + 1, run.share_words(), g, y);
            good = i;
        }
        summary->add({columns.x.data(), good, cpu::bytes_of(type)}, {columns.y.data(), good, sizeof(double)});
        pairs += good;
        return StreamRun::Taken{good, fault};
    };
    auto form = run.numbers();
    form.parser = input::pair_parser(type, stream.reading.integers());
    form.raw->what = "pair of " + form.raw->what + "s";
    form.raw->values = 2;
    form.raw->check = cpu::visit_key_type(type, []<class T>(const T*) { return check_pair<T>; });
    run.run(how, *summary, form, add);
}

}  // namespace

void add_corrsum_command(CLI::App& app) {
    auto command = std::make_shared<CorrsumCommand>();
    auto* verb = app.add_subcommand(
        "corrsum", "The sum of y over the pairs (x, y) with x at or below a threshold computed from all x");
    add_threshold_options(*verb, command->threshold)->required();
    verb->add_option("--g", command->g, "The summand: a formula of y, in doubles, such as \"y*y\" (default: y)")
        ->check([](const std::string& text) { return input::fault_of_expression(text, "y"); })
        ->type_name("G");
    add_eps_option(*verb, command->eps);
    add_n_option(*verb, command->n);
    add_stream_options(*verb, command->stream, input::type_words,
                       "Input is text, two numbers per line, separated by a comma, a tab or blanks; y is read as f64");
    add_resume_options(*verb, command->stream);
    verb->footer(
        "In formulas: the sum of g(y) over all pairs with x <= f(AGG(x)). By default g(y) is y, and f(AGG(x)) is "
        "A * AGG(x) + B.\n"
        "Raw input is x, y, x, y, ... of --type. The exact sum is between lower and upper.\n"
        "\n"
        "Examples:\n"
        "  quadmill corrsum pairs.f32 --agg quantile:0.5\n"
        "  cut -d, -f2,5 sales.csv | quadmill corrsum --text --agg avg --scale 0.5 --json\n"
        "  quadmill corrsum pairs.f64 --type f64 --agg min --offset 10 --eps 0.0001\n"
        "  cut -d, -f2,5 sales.csv | quadmill corrsum --text --agg quantile:0.9 --g 'y*y' --f '2*x + 1'");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
