#include <memory>

#include "cli/commands.hpp"
#include "cli/stream_run.hpp"

namespace quadmill::detail::cli {

namespace {

struct FrequentCommand {
    StreamOptions stream;
    SlidingChoice sliding;
    SupportChoice support;

    void run() const;
    template <class T>
    void run_as() const;
};

template <class T>
void FrequentCommand::run_as() const {
    StreamRun run(stream, sizeof(T));
    const Question question{.support = support.support, .width = sliding.asked()};
    if (sliding.on()) {
        SlidingFrequencies<T> summary(sliding.options(support.eps()), run.sorter());
        return run.run<T>(summary, [&](const auto& some) { return answer_of(some, question); });
    }
    Frequencies<T> summary({.eps = support.eps(), .window = stream.window}, run.sorter());
    run.run<T>(summary, [&](const auto& some) { return answer_of(some, question); });
}

void FrequentCommand::run() const {
    support.check();
    sliding.check(support.eps(), stream);
    cpu::visit_key_type(stream.type(), [this]<class T>(const T*) { run_as<T>(); });
}

}  // namespace

void add_frequent_command(CLI::App& app) {
    auto command = std::make_shared<FrequentCommand>();
    auto* verb =
        app.add_subcommand("frequent", "Values that occur often in a file or pipe, with bounds of their counts");
    add_support_options(*verb, command->support);
    add_sliding_options(*verb, command->sliding);
    add_stream_options(*verb, command->stream, input::type_words);
    verb->footer(
        "Reports every value that makes up at least the fraction S of the input, and no value that makes up less "
        "than S - E.\n"
        "\n"
        "Examples:\n"
        "  quadmill frequent ports.u32 --type u32 --support 0.01\n"
        "  cut -d' ' -f9 access.log | quadmill frequent --text --type i32 --support 0.05 --eps 0.001\n"
        "  tail -f codes.txt | quadmill frequent --text --type u32 --support 0.1 --sliding 10000 "
        "--every 1000");
    verb->callback([command] { command->run(); });
}

}  // namespace quadmill::detail::cli
