#include <fmt/core.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/refusals.hpp"
#include "cli/sketch_verbs.hpp"
#include "cli/stream_run.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

// Crossover in bytes: for larger files, opening a context on a GPU may be worthwhile.
constexpr std::uint64_t large_file = std::uint64_t{1} << 26;

std::optional<Context> Machine::context(const std::string& file) const {
    if (engine == SketchEngine::Cpu) return {};
    const bool may = engine == SketchEngine::Auto && device < 0 && !profile;
    if (may && (file == "-" || files::InputFile(file).size().value_or(0) < large_file)) return {};
    try {
        return Context::headless({.device = device});
    } catch (const ContextError&) {
        if (!may) throw;
        return {};
    }
}

void add_machine_options(CLI::App& verb, Machine& machine) {
    verb.add_option("--engine", machine.engine,
                    "cpu; blend-counters, blend-buckets, blend-packed: points with additive blending; sort: sorting "
                    "instead of points; auto: cpu for pipes and files under 64 MiB, otherwise the fastest one")
        ->transform(input::one_of(input::sketch_engine_words))
        ->default_str("auto");
    verb.add_option("--threads", machine.threads, "CPU threads (default: all)")
        ->check(input::thread_count())
        ->type_name("N");
    verb.add_flag("--profile", machine.profile, "A table of the passes on standard error");
    add_device_option(verb, machine.device);
}

void add_key_options(CLI::App& verb, input::Reading& reading) {
    auto* text =
        input::add_form_options(verb, reading,
                                "Keys are numbers, written as text, one per line. (With --type text, keys are the "
                                "lines themselves, any text)");
    for (const auto* name : {"--header", "--skip-bad"}) verb.get_option(name)->remove_needs(text);
}

void add_sketch_options(CLI::App& verb, SketchOptions& options) {
    verb.add_option(
            "--kind", options.kind,
            "Layout of the counters. thread: the textbook sketch, one counter of a key per row; warp, "
            "half, quarter: all in one bucket of 32, 16 or 8 counters, which is faster; msws (multi-level): "
            "as quarter, with counters of 8 bits that grow; sf (slim and fat): as quarter, from a larger table on the "
            "CPU, see --fat")
        ->transform(input::one_of(input::sketch_kind_words))
        ->default_str("quarter");
    verb.add_option("--fat", options.fat,
                    "For kind sf: each counter is the max of this number of counters in the larger table")
        ->check(input::shown_number(1, 255))
        ->capture_default_str();
    verb.add_option("--seed", options.seed,
                    "Seed of the hash functions; only sketches with the same seed can be merged")
        ->capture_default_str();
}

void check_sketch_options(const CLI::App& verb, const SketchOptions& options) {
    only_with(verb, {"--fat"}, options.kind == SketchKind::Sf, "--kind sf");
}

void check_key_options(const CLI::App& verb, SketchKeys keys) {
    only_with(verb, {"--raw"}, keys != SketchKeys::Text, "numeric keys; text keys are lines");
}

void write_sketch(files::OutputFile& file, std::span<const std::byte> bytes) {
    file.write(bytes);
    file.commit();
}

Json facts(const SavedSketch& saved) {
    const auto& options = saved.options;
    Json out{{"type", input::word_for(input::sketch_keys_words, saved.keys)},
             {"kind", input::word_for(input::sketch_kind_words, options.kind)},
             {"width", options.width},
             {"depth", options.depth}};
    if (options.kind == SketchKind::Sf) out["fat"] = options.fat;
    out.update(Json{{"seed", options.seed}, {"n", saved.n}});
    return out;
}

void print_facts(const Json& facts, Format format) {
    if (format == Format::JsonLine) return fmt::print("{}\n", facts.dump());
    for (const auto& [name, value] : facts.items())
        fmt::print("{:<10} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
}

SavedSketch saved(const std::string& file, const files::Bytes& content) {
    try {
        return saved_sketch(content.span());
    } catch (const InvalidArgument& error) {
        refuse_file(file, error);
    }
}

namespace {

struct SketchMerge {
    std::vector<std::string> files;
    std::string output;

    void run() const;

  private:
    template <class T>
    void run_as(files::Bytes first) const;
};

template <class T>
void SketchMerge::run_as(files::Bytes content) const {
    files::OutputFile file(output);
    refuse_terminal("-o", file);
    const auto load = [&](std::size_t which) {
        try {
            return Sketch<T>::load(content.span());
        } catch (const InvalidArgument& error) {
            refuse_file(files[which], error);
        }
    };
    auto all = load(0);
    const auto head = saved(files.front(), content);
    for (std::size_t i = 1; i < files.size(); ++i) {
        content = files::read_file(files[i]);
        const auto other = saved(files[i], content);
        auto a = facts(head), b = facts(other);
        a.erase("n");
        b.erase("n");
        if (a != b) {
            throw CLI::ValidationError(
                "FILE", fmt::format("{} and {} differ, so they cannot be merged: {}, and {}",
                                    files::input_name(files[0]), files::input_name(files[i]), a.dump(), b.dump()));
        }
        all.merge(load(i));
    }
    write_sketch(file, all.save());
}

void SketchMerge::run() const {
    input::refuse_inputs("-o", output, files);
    auto content = files::read_file(files.front());
    const auto head = saved(files.front(), content);
    visit_keys(head.keys, [&]<class T>() { run_as<T>(std::move(content)); });
}

void add_merge(CLI::App& sketch) {
    auto command = std::make_shared<SketchMerge>();
    auto* verb = sketch.add_subcommand("merge", "Merge the sketches of several streams");
    verb->add_option("FILE", command->files, "Sketches of the same kind, type, width, depth and seed")->required();
    verb->add_option("-o,--output", command->output, "Output; - is standard output")->required();
    verb->footer(
        "Example:\n"
        "  quadmill sketch merge monday.sketch tuesday.sketch -o both.sketch");
    verb->callback([command] { command->run(); });
}

void add_info(CLI::App& sketch) {
    struct Info {
        std::string file;
        Format format = Format::Table;
    };
    auto command = std::make_shared<Info>();
    auto* verb = sketch.add_subcommand("info", "Show the type, size and options of a saved sketch");
    verb->add_option("SKETCH", command->file, "A saved sketch")->required();
    add_json_option(*verb, command->format);
    verb->footer(
        "Example:\n"
        "  quadmill sketch info ports.sketch --json");
    verb->callback([command] {
        const auto content = files::read_file(command->file);
        auto said = facts(saved(command->file, content));
        said["file_bytes"] = content.size();
        print_facts(said, command->format);
    });
}

}  // namespace

void add_sketch_command(CLI::App& app) {
    auto* sketch =
        app.add_subcommand("sketch", "Count keys approximately in a fixed amount of memory (count-min sketches)");
    sketch->require_subcommand(1);
    add_sketch_build(*sketch);
    add_sketch_query(*sketch);
    add_sketch_top(*sketch);
    add_merge(*sketch);
    add_info(*sketch);
    sketch->footer(
        "Examples:\n"
        "  quadmill sketch build ports.u32 --width 2^16 -o ports.sketch\n"
        "  echo 443 | quadmill sketch query ports.sketch --text\n"
        "  quadmill sketch top ports.u32 -k 20\n"
        "  quadmill sketch merge monday.sketch tuesday.sketch -o both.sketch");
}

}  // namespace quadmill::detail::cli
