#include <memory>
#include <optional>
#include <vector>

#include "cli/commands.hpp"
#include "cli/stream_run.hpp"

namespace quadmill::detail::cli {

namespace {

struct QuantilesCommand {
    StreamOptions stream;
    SlidingChoice sliding;
    std::vector<double> phis = default_phis;
    double eps = 0.001;
    std::optional<std::uint64_t> n{};

    void run() const;
    template <class T>
    void run_as() const;
};

template <class T>
void QuantilesCommand::run_as() const {
    StreamRun run(stream, sizeof(T));
    const Question question{.phis = phis, .width = sliding.asked()};
    if (sliding.on()) {
        SlidingQuantiles<T> summary(sliding.options(eps), run.sorter());
        return run.run<T>(summary, [&](const auto& some) { return answer_of(some, question); });
    }
    Quantiles<T> summary({.eps = eps, .n = n, .window = stream.window}, run.sorter());
    run.run<T>(summary, [&](const auto& some) { return answer_of(some, question); });
}

void QuantilesCommand::run() const {
    sliding.check(eps, stream);
    if (n && sliding.on()) throw CLI::ValidationError("--n", "does not go with --sliding");
    cpu::visit_key_type(stream.type(), [this]<class T>(const T*) { run_as<T>(); });
}

}  // namespace

void add_quantiles_command(CLI::App& app) {
    auto command = std::make_shared<QuantilesCommand>();
    auto* verb = app.add_subcommand("quantiles",
                                    "Approximate percentiles of a file or pipe, with guaranteed bounds of their ranks");
    add_eps_option(*verb, command->eps);
    add_phi_option(*verb, command->phis);
    add_n_option(*verb, command->n);
    add_sliding_options(*verb, command->sliding);
    add_stream_options(*verb, command->stream, input::type_words);
    verb->footer(
        "For each printed value: its true rank among all N values is between rank_lower and rank_upper, and differs "
        "from phi * N by at most E * N.\n"
        "\n"
        "Examples:\n"
        "  quadmill quantiles latencies.f32 --eps 0.0001 --phi 0.5,0.99,0.999\n"
        "  tail -n +1 -f latencies.log | quadmill quantiles --text --sliding 100000 --every 10000 "
        "--json\n"
        "  quadmill quantiles monday.f64 --type f64 --save monday.summary");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
