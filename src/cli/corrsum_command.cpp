#include <fmt/core.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

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
    template <class T>
    void run_as() const;

  private:
    void check_formula(const std::string& has) const;
};

double number_of(auto value) {
    return static_cast<double>(value);
}
double number_of(Half value) {
    return value.value();
}

// Pairs as two columns.
template <class T>
struct Columns {
    std::vector<T> x;
    std::vector<double> y;

    void take(auto records) {
        x.clear();
        y.clear();
        for (const auto& [first, second] : records) {
            x.push_back(first);
            y.push_back(number_of(second));
        }
    }
};

template <class T>
input::Fault check_pair(const std::array<T, 2>& pair) {
    return std::isinf(number_of(pair[1])) ? "y is infinite and cannot be summed" : nullptr;
}

// x has the type of --type. By default no value is rounded.
template <class T>
input::ParseLine<input::Pair<T>> parse_of(const StreamOptions& stream) {
    if constexpr (std::is_same_v<T, double>) {
        if (!stream.reading.given_type) return input::parse_pair<double, input::parse_exact>;
    }
    return input::parse_pair<T>;
}

// Otherwise the sums would be of different things.
void CorrsumCommand::check_formula(const std::string& has) const {
    if (has == g) return;
    throw CLI::ValidationError("--g", fmt::format("the summary in '{}' has sums of {}, not of {}", stream.resume,
                                                  has.empty() ? "y" : has, g.empty() ? "y" : g));
}

template <class T>
void CorrsumCommand::run_as() const {
    StreamRun run(stream, 2 * sizeof(T));
    const auto summed = g.empty() ? std::function<double(double)>() : input::parse_expression(g, "y");
    using Sums = CorrelatedSums<T>;
    const auto load = [&](std::span<const std::byte> bytes, std::unique_ptr<WindowSorter> with) {
        return Sums::load(bytes, summed, std::move(with));
    };
    const auto make = [&](double with_eps, std::size_t window, std::unique_ptr<WindowSorter> with) {
        return Sums({.eps = with_eps, .n = n, .window = window, .g = summed, .formula = g}, std::move(with));
    };
    auto sorter = run.sorter();
    auto summary = run.resumed([&](auto bytes) { return load(bytes, std::move(sorter)); },
                               [&] { return make(eps, stream.window, std::move(sorter)); },
                               [&](const Sums& some) {
                                   check_resumed_eps(stream, eps, some.eps());
                                   check_formula(some.formula());
                                   check_resumed_plan(stream, some, [&](std::size_t window) {
                                       return make(some.eps(), window, cpu_window_sorter(1));
                                   });
                               });
    Columns<T> columns;
    std::uint64_t pairs = 0;
    const auto add = [&](auto records) {
        columns.take(records);
        std::string fault;
        for (std::size_t i = 0; summed && i < columns.y.size() && fault.empty(); ++i) {
            const auto y = columns.y[i];
            if (std::isnan(y) || std::isfinite(summed(y))) continue;
            fault = fmt::format("pair {}{}: {} is not finite for y = {}", pairs + i + 1, run.share_words(), g, y);
            columns.x.resize(i);
            columns.y.resize(i);
        }
        summary.add(columns.x, columns.y);
        pairs += columns.x.size();
        return StreamRun::Taken{columns.x.size(), fault};
    };
    const input::RawRecords<std::array<T, 2>> raw{
        "pair of " + input::word_for(input::type_words, stream.type()) + " values", check_pair<T>};
    const auto any = any_summary<Sums>(
        summary, [&](const auto& some) { return answer_of(some, threshold.question()); },
        [&](std::span<const std::byte> bytes) { return load(bytes, cpu_window_sorter(1)); });
    run.run<std::array<T, 2>, input::Pair<T>>(any, raw, parse_of<T>(stream), add, add);
}

void CorrsumCommand::run() const {
    cpu::visit_key_type(stream.type(), [this]<class T>(const T*) { run_as<T>(); });
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
