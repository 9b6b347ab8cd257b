#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/answer.hpp"
#include "cli/commands.hpp"
#include "cli/passes.hpp"
#include "cli/ranks.hpp"
#include "cli/saved_input.hpp"
#include "cli/stream_run.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"
#include "input/stream_input.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sketch.hpp"

namespace quadmill::detail::cli {

namespace {

// Keys of a file that are added or asked at once; of texts, a piece of the file's.
constexpr std::size_t batch_keys = std::size_t{1} << 21;
// Bytes of a file from which on a GPU may be worth opening a context.
constexpr std::uint64_t large_file = std::uint64_t{1} << 26;

// Where and how the work is done.
struct Machine {
    SketchEngine engine = SketchEngine::Auto;
    unsigned threads = 0;
    int device = -1;
    bool profile = false;

    // None where the CPU alone is meant; Auto opens one for a file that is large.
    [[nodiscard]] std::optional<Context> context(const std::string& file) const {
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
};

void add_machine_options(CLI::App& verb, Machine& machine) {
    verb.add_option(
            "--engine", machine.engine,
            "cpu; blend-counters, blend-buckets, blend-packed: points with additive blending; sort: no scatter; "
            "auto: cpu for pipes and files under 64 MiB, else what was measured fastest")
        ->transform(input::one_of(input::sketch_engine_words))
        ->default_str("auto");
    verb.add_option("--threads", machine.threads, "CPU threads (default: all)")
        ->check(CLI::Range(0U, 1024U))
        ->type_name("N");
    verb.add_flag("--profile", machine.profile, "A table of the passes on standard error");
    add_device_option(verb, machine.device);
}

class Profile {
  public:
    Profile(const Machine& machine, std::optional<Context>& context) : context_(context) {
        if (machine.profile && context_) profiler_.emplace(*context_);
    }
    void print() {
        if (!profiler_) return;
        const auto rows = profiler_->rows();
        profiler_.reset();
        print_passes(*context_, rows);
    }

  private:
    std::optional<Context>& context_;
    std::optional<PassProfiler> profiler_;
};

// A key that is a line.
input::Fault whole_line(std::string_view word, std::string_view& key) {
    key = word;
    return nullptr;
}

// Hands all keys of a file, or a share of one, to `take` in spans, of up to batch_keys but for texts.
template <class T, class Take>
void read_keys(const auto& file, input::Reading reading, SketchKeys type, const Take& take) {
    input::StreamInput input(file);
    input::Skipped skipped;
    if constexpr (std::is_same_v<T, std::string_view>) {
        input::read_text<T>(input, whole_line, reading.lines, skipped, take);
    } else {
        std::vector<T> keys;
        const auto gather = [&](std::span<const T> some) {
            keys.insert(keys.end(), some.begin(), some.end());
            if (keys.size() < batch_keys) return;
            take(std::span<const T>(keys));
            keys.clear();
        };
        reading.given_type = KeyType::U32;  // text is of the type that was said, and rounded to it
        input::read_stream<T, T>(input, reading,
                                 input::RawRecords<T>{input::word_for(input::sketch_keys_words, type) + " key"},
                                 input::parse_number<T>, skipped, gather);
        if (!input.interrupted()) take(std::span<const T>(keys));
    }
    if (input.interrupted()) throw CLI::RuntimeError(input.interrupt().status());
    input::note_skipped("quadmill sketch", skipped);
}

// Calls work.template operator()<T>() for the type of the keys.
template <class Work>
void visit_keys(SketchKeys keys, const Work& work) {
    switch (keys) {
        case SketchKeys::U32:
            return work.template operator()<std::uint32_t>();
        case SketchKeys::U64:
            return work.template operator()<std::uint64_t>();
        case SketchKeys::F32:
            return work.template operator()<float>();
        case SketchKeys::Text:
            return work.template operator()<std::string_view>();
    }
}

void write_sketch(files::OutputFile& file, std::span<const std::byte> bytes) {
    file.write(bytes);
    file.commit();
}

// What is known without asking for a key.
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

// ---- build -----------------------------------------------------------------------------------------------------

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
    template <class T>
    [[nodiscard]] Sketch<T> make(std::optional<Context> context) const;
};

// What the library refuses here is what the call asked for.
template <class T>
Sketch<T> SketchBuild::make(std::optional<Context> context) const {
    try {
        return context ? Sketch<T>(*context, options) : Sketch<T>(options);
    } catch (const InvalidArgument& error) {
        throw CLI::ValidationError("sketch", without_function(error));
    }
}

template <class T>
void SketchBuild::run_as() {
    const Ranks ranks;
    if (ranks.are_several() && !remove.empty())
        throw CLI::ValidationError("--remove", "does not go with several ranks, whose sketches hold a part of the keys");
    machine.device = ranks.device(machine.device);
    auto context = machine.context(inputs.front());
    std::optional<files::OutputFile> file;
    if (ranks.is_first()) file.emplace(output);
    auto sketch = make<T>(context);
    Profile profile(machine, context);
    const bool is_text = std::is_same_v<T, std::string_view> || reading.form == input::Form::Text;
    for (const auto& share : ranks.shares_of(inputs, is_text ? 0 : sizeof(T))) {
        auto form = reading;
        if (share.begin > 0) form.lines.header = 0;
        if (share.begin > 0 && !is_text) form.form = input::Form::Raw;
        read_keys<T>(share, form, type, [&](std::span<const T> keys) { sketch.insert(keys); });
    }
    if (!remove.empty()) read_keys<T>(remove, reading, type, [&](std::span<const T> keys) { sketch.remove(keys); });
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
    if (remove == "-") throw CLI::ValidationError("--remove", "must be a file");
    if (format == Format::JsonLine && output == "-")
        throw CLI::ValidationError("--json", "does not go with -o -, which takes standard output");
    if (type == SketchKeys::Text) reading.form = input::Form::Text;
    options.engine = machine.engine;
    options.threads = machine.threads;
    visit_keys(type, [this]<class T>() { run_as<T>(); });
}

void add_key_options(CLI::App& verb, input::Reading& reading) {
    input::add_form_options(verb, reading, "Keys are text, one number a line (--type text always is lines)");
}

// Those of a table that `build` and `top` fill alike.
void add_sketch_options(CLI::App& verb, SketchOptions& options) {
    verb.add_option("--kind", options.kind, "Where a key's counters are: in rows, in buckets of 32, 16 or 8")
        ->transform(input::one_of(input::sketch_kind_words))
        ->default_str("quarter");
    verb.add_option("--fat", options.fat, "Of kind sf: fat counters for each slim one")
        ->check(CLI::Range(1, 255))
        ->capture_default_str();
    verb.add_option("--seed", options.seed, "Of the hash functions; only sketches of one seed can be merged")
        ->capture_default_str();
}

void add_build(CLI::App& sketch) {
    auto command = std::make_shared<SketchBuild>();
    auto* verb = sketch.add_subcommand("build", "Count the keys of a file in a sketch, and save it");
    verb->add_option("FILE", command->inputs, "Keys; - is standard input. Several are read one after the other")
        ->default_str("-");
    verb->add_option("-o,--output", command->output, "Where the sketch goes; - is standard output")->required();
    verb->add_option("--type", command->type, "Type of the keys, raw and little-endian, or lines of text")
        ->transform(input::one_of(input::sketch_keys_words))
        ->default_str("u32");
    auto* width = verb->add_option("--width", command->options.width, "Counters a row; all kinds have W * D * 4 bytes")
                      ->transform(input::count_up_to(std::uint64_t{1} << 32U))
                      ->type_name("W");
    auto* depth = verb->add_option("--depth", command->options.depth, "Counters a key")
                      ->check(CLI::Range(1, 16))
                      ->type_name("D")
                      ->capture_default_str();
    verb->add_option("--eps", command->eps, "In place of --width: estimates of kind thread are at most E n too high")
        ->check(input::number_from(1e-9, 1))
        ->excludes(width)
        ->type_name("E");
    verb->add_option("--delta", command->delta, "In place of --depth: but with a probability of P")
        ->check(input::number_from(1e-6, 0.999))
        ->excludes(depth)
        ->type_name("P");
    add_sketch_options(*verb, command->options);
    verb->add_option("--remove", command->remove, "Then take the keys of this file out again")->type_name("FILE");
    add_key_options(*verb, command->reading);
    add_machine_options(*verb, command->machine);
    add_json_option(*verb, command->format);
    verb->footer(
        "Examples:\n"
        "  quadmill sketch build ports.u32 --width 2^16 -o ports.sketch\n"
        "  cut -d' ' -f1 access.log | quadmill sketch build --type text --kind msws --eps 0.0001 -o hosts.sketch");
    verb->callback([command] { command->run(); });
}

// ---- query, merge, info ----------------------------------------------------------------------------------------

SavedSketch saved(const std::string& file, const files::Bytes& content) {
    try {
        return saved_sketch(content.span());
    } catch (const InvalidArgument& error) {
        refuse_file(file, error);
    }
}

struct SketchQuery {
    std::string sketch, keys = "-";
    input::Reading reading;
    Machine machine;
    Format format = Format::Table;

    void run();

  private:
    template <class T>
    void run_as(const files::Bytes& content, SketchKeys type);
    template <class T>
    [[nodiscard]] Sketch<T> load(const files::Bytes& content, const std::optional<Context>& context) const;
};

template <class T>
Json json_of_key(const T& key) {
    if constexpr (std::is_same_v<T, std::string_view>) {
        return std::string(key);
    } else {
        return cli::json_of(key);  // not that of another file, where files are compiled together
    }
}

// Bytes that are no UTF-8 cannot be said in JSON.
std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class T, class Count>
Json json_row(const T& key, const Count& count) {
    return {{"key", json_of_key(key)}, {"estimate", count.estimate}, {"upper", count.upper}, {"lower", count.lower}};
}

const std::string row_head = fmt::format("{:>12} {:>12} {:>12}  {}\n", "estimate", "lower", "upper", "key");

template <class T, class Count>
std::string table_row(const T& key, const Count& count) {
    std::string word;
    if constexpr (std::is_same_v<T, std::string_view>) {
        word = key;
    } else {
        word = input::format_number(key);
    }
    return fmt::format("{:>12} {:>12} {:>12}  {}\n", count.estimate, count.lower, count.upper, word);
}

// What the library refuses here is the sketch, or an engine for it; what keys are refused says so itself.
template <class T>
Sketch<T> SketchQuery::load(const files::Bytes& content, const std::optional<Context>& context) const {
    try {
        return context ? Sketch<T>::load(*context, content.span(), machine.engine, machine.threads)
                       : Sketch<T>::load(content.span(), machine.threads);
    } catch (const InvalidArgument& error) {
        refuse_file(sketch, error);
    }
}

template <class T>
void SketchQuery::run_as(const files::Bytes& content, SketchKeys type) {
    auto context = machine.context(keys);
    const auto counts = load<T>(content, context);
    Profile profile(machine, context);
    files::OutputFile out("-");
    const auto write = [&](const std::string& text) { out.write(std::as_bytes(std::span(text))); };
    write(format == Format::JsonLine ? "[" : row_head);
    bool is_first = true;
    read_keys<T>(keys, reading, type, [&](std::span<const T> some) {
        const auto found = counts.query(some);
        std::string text;
        for (std::size_t i = 0; i < some.size(); ++i) {
            text += format == Format::JsonLine ? (is_first ? "" : ",") + text_of(json_row(some[i], found[i]))
                                               : table_row(some[i], found[i]);
            is_first = false;
        }
        write(text);
    });
    if (format == Format::JsonLine) write("]\n");
    profile.print();
}

void SketchQuery::run() {
    if (sketch == "-" && keys == "-")
        throw CLI::ValidationError("KEYS", "must be a file where the sketch is standard input");
    const auto content = files::read_file(sketch);
    const auto head = saved(sketch, content);
    if (head.keys == SketchKeys::Text) reading.form = input::Form::Text;
    visit_keys(head.keys, [&]<class T>() { run_as<T>(content, head.keys); });
}

void add_query(CLI::App& sketch) {
    auto command = std::make_shared<SketchQuery>();
    auto* verb = sketch.add_subcommand("query", "How often keys occur, by a sketch");
    verb->add_option("SKETCH", command->sketch, "A sketch that was saved")->required();
    verb->add_option("KEYS", command->keys, "Keys of the sketch's type; - is standard input")->capture_default_str();
    add_key_options(*verb, command->reading);
    add_machine_options(*verb, command->machine);
    add_json_option(*verb, command->format);
    verb->footer(
        "No key occurs more often than its estimate. It is lower than `lower` with a probability of at most e^-D.\n"
        "Examples:\n"
        "  echo 443 | quadmill sketch query ports.sketch --text\n"
        "  quadmill sketch query ports.sketch keys.u32 --json");
    verb->callback([command] { command->run(); });
}

// ---- top -------------------------------------------------------------------------------------------------------

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
    // Nothing found is no answer, unless there is nothing else.
    const bool sure = top.others == 0 || (!top.items.empty() && std::ranges::all_of(top.items, [&](const auto& one) {
                          return one.count.lower > top.others;
                      }));
    if (format == Format::JsonLine) {
        Json out{{"n", n}, {"top", Json::array()}, {"others", top.others}, {"sure", sure}};
        for (const auto& one : top.items) out["top"].push_back(json_row(one.value, one.count));
        return fmt::print("{}\n", text_of(out));
    }
    fmt::print("{}", row_head);
    for (const auto& one : top.items) fmt::print("{}", table_row(one.value, one.count));
    fmt::print("No other value occurs more than {} times of {}{}.\n", top.others, n,
               sure ? ", so these are the most frequent ones" : "");
}

template <class T>
void SketchTop::run_as() {
    auto context = machine.context(input);
    auto heavy = [&] {
        try {
            return context ? HeavyHitters<T>(*context, frequencies, options) : HeavyHitters<T>(frequencies, options);
        } catch (const InvalidArgument& error) {
            throw CLI::ValidationError("sketch", without_function(error));
        }
    }();
    Profile profile(machine, context);
    read_keys<T>(input, reading, type, [&](std::span<const T> keys) { heavy.add(keys); });
    const auto top = heavy.top(count);
    profile.print();
    print(top, heavy.n());
}

void SketchTop::run() {
    if (options.width == 0) options.width = suggest_width(frequencies.eps);
    options.engine = machine.engine;
    options.threads = machine.threads;
    if (type == SketchKeys::U32) return run_as<std::uint32_t>();
    if (type == SketchKeys::U64) return run_as<std::uint64_t>();
    if (type == SketchKeys::F32) return run_as<float>();
    throw CLI::ValidationError("--type", "text is not kept, so it cannot be found; number the texts first");
}

void add_top(CLI::App& sketch) {
    auto command = std::make_shared<SketchTop>();
    auto* verb = sketch.add_subcommand("top", "The most frequent keys of a file, with sure bounds of their counts");
    verb->add_option("FILE", command->input, "Keys; - is standard input")->capture_default_str();
    verb->add_option("-k,--count", command->count, "So many of them")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 30U))
        ->type_name("K")
        ->capture_default_str();
    verb->add_option("--eps", command->frequencies.eps, "Every key that is more than a part E of all is a candidate")
        ->check(input::number_from(1e-9, 0.5))
        ->type_name("E")
        ->capture_default_str();
    verb->add_option("--type", command->type, "Type of the keys, raw and little-endian")
        ->transform(input::one_of(input::sketch_keys_words))
        ->default_str("u32");
    verb->add_option("--width", command->options.width, "Counters a row of the sketch (default: e / E)")
        ->transform(input::count_up_to(std::uint64_t{1} << 32U))
        ->type_name("W");
    verb->add_option("--depth", command->options.depth, "Counters a key")
        ->check(CLI::Range(1, 16))
        ->type_name("D")
        ->capture_default_str();
    add_sketch_options(*verb, command->options);
    add_key_options(*verb, command->reading);
    add_machine_options(*verb, command->machine);
    add_json_option(*verb, command->format);
    verb->footer(
        "Candidates and lower bounds are those of a lossy count; no upper bound is more than the sketch's.\n"
        "Examples:\n"
        "  quadmill sketch top ports.u32 -k 20 --eps 0.0001 --width 2^20\n"
        "  cut -d' ' -f9 access.log | quadmill sketch top --text -k 5 --json");
    verb->callback([command] { command->run(); });
}

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
    auto all = Sketch<T>::load(content.span());
    const auto head = saved(files.front(), content);
    for (std::size_t i = 1; i < files.size(); ++i) {
        content = files::read_file(files[i]);
        const auto other = saved(files[i], content);
        auto a = facts(head), b = facts(other);
        a.erase("n");
        b.erase("n");
        if (a != b) {
            throw CLI::ValidationError(
                "FILE", fmt::format("{} and {} are not alike, so they cannot be merged: {}, and {}", name_of(files[0]),
                                    name_of(files[i]), a.dump(), b.dump()));
        }
        try {
            all.merge(Sketch<T>::load(content.span()));
        } catch (const InvalidArgument& error) {
            refuse_file(files[i], error);
        }
    }
    write_sketch(file, all.save());
}

void SketchMerge::run() const {
    auto content = files::read_file(files.front());
    const auto head = saved(files.front(), content);
    visit_keys(head.keys, [&]<class T>() { run_as<T>(std::move(content)); });
}

void add_merge(CLI::App& sketch) {
    auto command = std::make_shared<SketchMerge>();
    auto* verb = sketch.add_subcommand("merge", "The sketch of all streams from the sketches of each");
    verb->add_option("FILE", command->files, "Sketches of one kind, type, width, depth and seed")->required();
    verb->add_option("-o,--output", command->output, "Where the sketch goes; - is standard output")->required();
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
    auto* verb = sketch.add_subcommand("info", "What a saved sketch is");
    verb->add_option("SKETCH", command->file, "A sketch that was saved")->required();
    add_json_option(*verb, command->format);
    verb->callback([command] {
        const auto content = files::read_file(command->file);
        auto said = facts(saved(command->file, content));
        said["file_bytes"] = content.size();
        print_facts(said, command->format);
    });
}

}  // namespace

void add_sketch_command(CLI::App& app) {
    auto* sketch = app.add_subcommand("sketch", "How often keys occur, in a table of any size (count-min sketches)");
    sketch->require_subcommand(1);
    add_build(*sketch);
    add_query(*sketch);
    add_top(*sketch);
    add_merge(*sketch);
    add_info(*sketch);
}

}  // namespace quadmill::detail::cli
