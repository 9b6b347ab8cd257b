#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cli/refusals.hpp"
#include "cli/sketch_verbs.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

struct SketchTop {
    std::string input = "-";
    std::size_t count = 10;
    FrequencyOptions frequencies;
    SketchOptions options;
    SketchKeys type = SketchKeys::U32;
    input::Reading reading;
    Machine machine;
    Format format = Format::Table;

    void run();

  private:
    template <class T>
    void run_as();
    template <class T>
    void print(const TopCounts<T>& top, std::uint64_t n) const;
};

template <class T>
void SketchTop::print(const TopCounts<T>& top, std::uint64_t n) const {
    // Finding nothing is a sure answer only if there are no other keys.
    const bool sure = top.others == 0 || (!top.items.empty() && std::ranges::all_of(top.items, [&](const auto& one) {
                          return one.count.lower > top.others;
                      }));
    if (format == Format::JsonLine) {
        Json out{{"n", n}, {"top", Json::array()}, {"others", top.others}, {"sure", sure}};
        for (const auto& one : top.items) out["top"].push_back(json_row(one.value, one.count));
        return fmt::print("{}\n", dumped(out));
    }
    if (n == 0) return fmt::print("no values\n");
    if (!top.items.empty()) fmt::print("{}", row_head);
    for (const auto& one : top.items) fmt::print("{}", table_row(one.value, one.count));
    fmt::print("No {}value occurs more than {} time{} of {}{}.\n", top.items.empty() ? "" : "other ", top.others,
               top.others == 1 ? "" : "s", n, sure ? ", so these are the most frequent ones" : "");
}

template <class T>
void SketchTop::run_as() {
    auto context = machine.context(input);
    auto heavy = checked([&] {
        return context ? HeavyHitters<T>(*context, frequencies, options) : HeavyHitters<T>(frequencies, options);
    });
    Profile profile(machine, context);
    read_keys<T>(input, reading, type, [&](std::span<const T> keys) { heavy.add(keys); });
    const auto top = heavy.top(count);
    profile.print();
    print(top, heavy.n());
}

void SketchTop::run() {
    input::refuse_inputs("FILE", "-", {input});
    if (options.width == 0) options.width = suggest_width(frequencies.eps);
    options.engine = machine.engine;
    options.threads = machine.threads;
    if (type == SketchKeys::U32) return run_as<std::uint32_t>();
    if (type == SketchKeys::U64) return run_as<std::uint64_t>();
    run_as<float>();
}

}  // namespace

void add_sketch_top(CLI::App& sketch) {
    static const input::Words<SketchKeys> numbers{
        {"u32", SketchKeys::U32}, {"u64", SketchKeys::U64}, {"f32", SketchKeys::F32}};
    auto command = std::make_shared<SketchTop>();
    auto* verb =
        sketch.add_subcommand("top", "The most frequent keys of a file, with guaranteed bounds of their counts");
    verb->add_option("FILE", command->input, "Keys; - is standard input")->capture_default_str();
    verb->add_option("-k,--count", command->count, "Number of keys")
        ->check(input::shown_number(1, std::uint64_t{1} << 30U))
        ->type_name("K")
        ->capture_default_str();
    verb->add_option("--eps", command->frequencies.eps,
                     "Keys that make up more than the fraction E of the input are always considered")
        ->check(input::number_from(1e-9, 0.5))
        ->type_name("E")
        ->capture_default_str();
    verb->add_option("--type", command->type, "Type of the keys, raw and little-endian")
        ->transform(input::one_of(numbers))
        ->default_str("u32");
    verb->add_option("--width", command->options.width, "Counters per row of the sketch (default: 2.72 / E)")
        ->transform(input::count_up_to(std::uint64_t{1} << 32U))
        ->type_name("W");
    verb->add_option("--depth", command->options.depth, "Counters per key")
        ->check(input::shown_number(1, 16))
        ->type_name("D")
        ->capture_default_str();
    add_sketch_options(*verb, command->options);
    add_key_options(*verb, command->reading);
    add_machine_options(*verb, command->machine);
    add_json_option(*verb, command->format);
    verb->footer(
        "The keys and lower bounds come from lossy counting. An upper bound is the smaller one of lossy counting and "
        "the sketch.\n"
        "\n"
        "Examples:\n"
        "  quadmill sketch top ports.u32 -k 20 --eps 0.0001 --width 2^20\n"
        "  cut -d' ' -f9 access.log | quadmill sketch top --text -k 5 --json");
    verb->callback([command, verb] {
        check_sketch_options(*verb, command->options);
        check_key_options(*verb, command->type);
        command->run();
    });
}

}  // namespace quadmill::detail::cli
