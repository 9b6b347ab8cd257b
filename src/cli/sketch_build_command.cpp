#include <fmt/core.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/ranks.hpp"
#include "cli/refusals.hpp"
#include "cli/sketch_verbs.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

struct SketchBuild {
    std::vector<std::string> inputs{"-"};
    std::string remove, output;
    SketchOptions options;
    std::optional<double> eps, delta;
    SketchKeys type = SketchKeys::U32;
    input::Reading reading;
    Machine machine;
    Format format = Format::Table;

    void run();

  private:
    template <class T>
    void run_as();
};

template <class T>
void SketchBuild::run_as() {
    const Ranks ranks;
    if (ranks.are_several() && !remove.empty())
        throw CLI::ValidationError("--remove",
                                   "does not work with several ranks, each of which has only a part of the keys");
    machine.device = ranks.device(machine.device);
    auto context = machine.context(inputs.front());
    std::optional<files::OutputFile> file;
    if (ranks.is_first()) refuse_terminal("-o", file.emplace(output));
    auto sketch = checked([&] { return context ? Sketch<T>(*context, options) : Sketch<T>(options); });
    Profile profile(machine, context);
    const bool is_text = std::is_same_v<T, std::string_view> || reading.form == input::Form::Text;
    for (const auto& share : ranks.shares_of(inputs, is_text ? 0 : sizeof(T))) {
        auto form = reading;
        if (share.begin > 0) form.lines.header = 0;
        if (share.begin > 0 && !is_text) form.form = input::Form::Raw;
        read_keys<T>(share, form, type, [&](std::span<const T> keys) { sketch.insert(keys); });
    }
    if (!remove.empty()) read_keys<T>(remove, reading, type, [&](std::span<const T> keys) { sketch.remove(keys); });
    const auto absent = remove.empty() ? 0 : sketch.removed_too_often();
    if (absent > 0) {
        fmt::print(stderr,
                   "quadmill sketch build: at least {} of the keys in {} had not been inserted, or not that often; "
                   "estimates of other keys may now be too low\n",
                   absent, files::input_name(remove));
    }
    auto bytes = sketch.save();
    profile.print();
    if (ranks.are_several()) {
        const auto load = [this](std::span<const std::byte> some) { return Sketch<T>::load(some, machine.threads); };
        const auto all = ranks.merged(load(bytes), load);
        if (!all) return;
        bytes = all->save();
    }
    write_sketch(*file, bytes);
    if (output == "-") return;
    auto said = facts(saved_sketch(bytes));
    said.update(
        Json{{"engine", input::word_for(input::sketch_engine_words, sketch.ran_on())}, {"file_bytes", bytes.size()}});
    print_facts(said, format);
}

void SketchBuild::run() {
    if (eps) options.width = suggest_width(*eps);
    if (delta) options.depth = suggest_depth(*delta);
    if (options.width == 0) throw CLI::RequiredError("--width or --eps");
    auto read = inputs;
    if (!remove.empty()) read.push_back(remove);
    input::refuse_inputs("-o", output, read);
    if (remove == "-") throw CLI::ValidationError("--remove", "must be a file");
    if (format == Format::JsonLine && output == "-")
        throw CLI::ValidationError("--json", "does not work with -o -, which uses standard output");
    if (type == SketchKeys::Text) reading.form = input::Form::Text;
    options.engine = machine.engine;
    options.threads = machine.threads;
    visit_keys(type, [this]<class T>() { run_as<T>(); });
}

}  // namespace

void add_sketch_build(CLI::App& sketch) {
    auto command = std::make_shared<SketchBuild>();
    auto* verb = sketch.add_subcommand("build", "Count the keys of a file in a sketch, and save it");
    verb->add_option("FILE", command->inputs, "Keys; - is standard input. Several files are read one after the other")
        ->default_str("-");
    verb->add_option("-o,--output", command->output, "Output; - is standard output")->required();
    verb->add_option("--type", command->type, "Type of the keys: raw and little-endian, or lines of text")
        ->transform(input::one_of(input::sketch_keys_words))
        ->default_str("u32");
    auto* width = verb->add_option("--width", command->options.width,
                                   "Counters per row. All kinds take about W * D * 4 bytes of memory")
                      ->transform(input::count_up_to(std::uint64_t{1} << 32U))
                      ->type_name("W");
    auto* depth = verb->add_option("--depth", command->options.depth, "Counters per key")
                      ->check(input::shown_number(1, 16))
                      ->type_name("D")
                      ->capture_default_str();
    verb->add_option("--eps", command->eps,
                     "Instead of --width: choose it so that estimates of kind thread are at most E * n too high, where "
                     "n is the number of keys")
        ->check(input::number_from(1e-9, 1))
        ->excludes(width)
        ->type_name("E");
    verb->add_option("--delta", command->delta,
                     "Instead of --depth: choose it so that --eps holds with probability 1 - P")
        ->check(input::number_from(1e-6, 0.999))
        ->excludes(depth)
        ->type_name("P");
    add_sketch_options(*verb, command->options);
    verb->add_option("--remove", command->remove,
                     "After counting, subtract the keys of this file. Counters stay at 0 or above; a note says how "
                     "many keys had not been inserted")
        ->type_name("FILE");
    add_key_options(*verb, command->reading);
    add_machine_options(*verb, command->machine);
    add_json_option(*verb, command->format);
    verb->footer(
        "Examples:\n"
        "  quadmill sketch build ports.u32 --width 2^16 -o ports.sketch\n"
        "  cut -d' ' -f1 access.log | quadmill sketch build --type text --kind msws --eps 0.0001 -o hosts.sketch");
    verb->callback([command, verb] {
        check_sketch_options(*verb, command->options);
        check_key_options(*verb, command->type);
        command->run();
    });
}

}  // namespace quadmill::detail::cli
