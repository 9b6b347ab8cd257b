#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/devices.hpp"
#include "cli/help.hpp"
#include "cli/passes.hpp"
#include "cli/pbsn_options.hpp"
#include "cli/phase_progress.hpp"
#include "cli/refusals.hpp"
#include "cli/sort_lines.hpp"
#include "cli/sort_spill.hpp"
#include "cli/tuned.hpp"
#include "cpu/keys.hpp"
#include "cpu/stopwatch.hpp"
#include "files/files.hpp"
#include "input/checks.hpp"
#include "input/npy.hpp"
#include "input/reading.hpp"
#include "input/stream_input.hpp"
#include "input/text.hpp"
#include "input/words.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "sort/choose.hpp"

namespace quadmill::detail::cli {

namespace {

static_assert(std::endian::native == std::endian::little, "raw files are little-endian and are read as they are");

using cpu::Stopwatch;

constexpr const char* verb_for_lines = "`quadmill sort --lines` sorts lines of text";

struct SortCommand {
    std::string input = "-", output = "-", index_output;
    std::vector<std::string> inputs{"-"};
    LineSort line_sort;
    input::Reading reading;
    bool stats = false, profile = false, profile_steps = false, explain_engine = false, has_memory = false;
    std::size_t window = 0, top = 0;
    Devices device;
    SortOptions sort;

    void run_as_called(const CLI::App& verb);
    void run();

  private:
    [[nodiscard]] files::Bytes read();
    [[nodiscard]] std::vector<std::byte> parsed(std::string_view text) const;
    void must_come_back(std::string_view text, const input::Records& keys) const;
    void sort_in_memory();
    [[nodiscard]] bool sorts_lines(const CLI::App& verb);
    [[nodiscard]] bool is_text() const { return reading.form == input::Form::Text; }
    SortStats sort_keys(Keys keys, Keys best, std::span<std::uint32_t> index);
    void refuse_others(std::string_view content) const;
    void take_npy(const input::NpyHeader& header, std::size_t bytes, std::size_t value_bytes);
    [[nodiscard]] bool spills() const;
    void spill() const;
    [[nodiscard]] sort::SortWork work_of(std::size_t n) const;
    [[nodiscard]] bool open_context(std::size_t n);
    SortStats sort_by_group(Keys keys);
    void print_stats(const SortStats& stats) const;
    void print_profile(const SortStats& sorted);

    std::optional<Context> context_;
    std::optional<PassProfiler> profiler_;
    std::vector<DeviceShare> shares_;
    std::string why_ = "as --engine says";  // why the engine was chosen
    double context_ms_ = 0, read_ms_ = 0, write_ms_ = 0;
    std::size_t begin_ = 0;  // of the values in the input
};

input::Records next_of(input::RecordLines& lines, std::string_view& text, bool is_first) {
    try {
        return lines.next(text);
    } catch (const input::BadInput& error) {
        if (!is_first || !error.is_not_a_number()) throw;
        throw input::BadInput(fmt::format("{}; {}", error.what(), verb_for_lines));
    }
}

std::vector<std::byte> SortCommand::parsed(std::string_view text) const {
    std::vector<std::byte> keys;
    input::Skipped skipped;
    input::RecordLines lines(input, reading.parser(), reading.lines, skipped);
    while (!text.empty()) {
        constexpr std::size_t piece = std::size_t{1} << 20U;  // in pieces, so that keys are not held twice
        const auto end = text.find('\n', piece);
        auto part = text.substr(0, end == std::string_view::npos ? text.size() : end + 1);
        text.remove_prefix(part.size());
        while (!part.empty()) {
            const auto found = next_of(lines, part, keys.empty()).bytes();
            keys.insert(keys.end(), found.begin(), found.end());
        }
    }
    input::refuse_all_bad(skipped, keys.size());
    input::note_skipped("quadmill sort", skipped);
    return keys;
}

// The output may replace the input, so each line must be written exactly as it was read.
void SortCommand::must_come_back(std::string_view text, const input::Records& keys) const {
    const bool are_all_values = reading.lines.header == 0 && reading.lines.bad == input::LineOptions::Bad::Refuse;
    for (std::size_t line = 0; !text.empty(); ++line) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto word = text.substr(0, end);
        const auto written = line < keys.size() ? input::format_number(reading.type(), keys.at(line)) : "";
        if (word != written)
            throw CLI::ValidationError(
                "-o", fmt::format("'{}' is an input, which this would replace, and its line {}, {}, would be "
                                  "{}; name another file",
                                  output, line + 1, input::in_quotes(word),
                                  are_all_values ? "written as " + written : "lost"));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// Other forms than the values that are wanted. `content` may be the beginning of the file.
void SortCommand::refuse_others(std::string_view content) const {
    if (reading.form == input::Form::Raw) return;
    constexpr std::size_t head = 4096;
    const auto name = files::input_name(input);
    const auto what = input::word_for(input::type_words, reading.type()) + " value";
    const auto look =
        input::look_at(content.substr(0, head), content.size() > head ? input::Head::AndMore : input::Head::IsAll);
    if (look.kind == input::Look::Kind::Text && !is_text())
        throw InvalidArgument(
            fmt::format("{} looks like text, not like raw {}s; --text sorts numbers, one per line, and {} (--raw "
                        "reads it as it is)",
                        name, what, verb_for_lines));
    input::refuse_other_forms(look, reading.form, name, what);
}

void SortCommand::take_npy(const input::NpyHeader& header, std::size_t bytes, std::size_t value_bytes) {
    const auto name = files::input_name(input);
    if (header.type != reading.type()) {
        const auto& word = input::word_for(input::type_words, header.type);
        throw InvalidArgument(fmt::format("{} has {} values; say --type {}", name, word, word));
    }
    header.check_size(bytes, value_bytes, name);
    begin_ = header.bytes;
}

files::Bytes SortCommand::read() {
    const auto size = cpu::bytes_of(reading.type());
    auto bytes = files::read_file(input);
    const std::string_view content(bytes.as<const char>().data(), bytes.size());
    const auto name = files::input_name(input);
    const auto what = input::word_for(input::type_words, reading.type()) + " value";
    const auto header = reading.form == input::Form::Unsaid
                            ? input::npy_header(content.substr(0, input::max_npy_header), name)
                            : std::nullopt;
    if (header) {
        take_npy(*header, bytes.size(), size);
        return bytes;
    }
    refuse_others(content);
    if (is_text()) {
        const auto keys = parsed(content);
        if (files::same_file(input, output)) must_come_back(content, {keys.data(), keys.size() / size, size});
        bytes.resize(keys.size());
        std::ranges::copy(keys, bytes.span().begin());
    } else if (bytes.size() % size != 0) {
        throw InvalidArgument(fmt::format(
            "{} has {} bytes, which is not a multiple of {}, the size of one {}; is --type right, or should "
            "it be --text?",
            name, bytes.size(), size, what));
    }
    return bytes;
}

sort::SortWork SortCommand::work_of(std::size_t n) const {
    return {.n = n, .window = window, .top = top > 0, .index = !index_output.empty(), .type = reading.type()};
}

// Whether a context is opened. `auto` does without one if the CPU is known to be faster.
bool SortCommand::open_context(std::size_t n) {
    if (sort.engine == Engine::Cpu) return false;
    const bool converts = sort.precision != Precision::Native;  // only a Sorter converts
    const auto work = work_of(n);
    if (sort.engine == Engine::Auto && !converts && !sort::gpu_may_win_with_startup(work, sort.threads)) {
        why_ = sort::explain_startup(work, sort.threads);
        return false;
    }
    if (sort.engine == Engine::Auto && !converts) {
        const auto tuned = tuned_before_context(device.one(), sort.threads);
        if (tuned && sort::choose(tuned->sort, work) == Engine::Cpu) {
            why_ = fmt::format("{} ({})", sort::explain(tuned->sort, work), where_from(tuned));
            return false;
        }
    }
    const Stopwatch time;
    try {
        context_ = Context::headless({.device = device.one()});
    } catch (const ContextError& error) {
        if (sort.engine != Engine::Auto || converts) throw;
        fmt::print(stderr, "quadmill sort: sorting on the CPU: {}\n", error.what());
        why_ = "the GPU cannot be used";
        return false;
    }
    context_ms_ = time.ms();
    if (sort.engine != Engine::Auto) return true;
    const auto tuned = tuned_for(context_->info(), sort.threads);
    if (tuned) sort.crossings = tuned->sort;
    why_ = fmt::format("{} ({})", sort::explain(sort::crossings_for(context_->info(), sort), work), where_from(tuned));
    return true;
}

SortStats SortCommand::sort_by_group(Keys keys) {
    const Stopwatch time;
    const auto group = device.group();
    GroupSorter sorter(group, sort);
    context_ms_ = time.ms();
    context_ = group.contexts().front();
    why_ = "the one that sorts on several devices";
    const auto result = sorter.sort(keys);
    shares_ = group.shares();
    warn_of_failures(shares_);
    return result;
}

// `best` is the same as `keys` except with --top.
SortStats SortCommand::sort_keys(Keys keys, Keys best, std::span<std::uint32_t> index) {
    if (device.several()) return sort_by_group(keys);
    if (!open_context(keys.size())) {
        if (top > 0) return top_on_cpu(keys, best, index, sort.order, sort.threads);
        if (!index_output.empty()) return sort_with_index_on_cpu(keys, index, sort.order, sort.threads);
        return window > 0 ? sort_windows_on_cpu(keys, window, sort.order, sort.threads)
                          : sort_on_cpu(keys, sort.order, sort.threads);
    }
    Sorter sorter(*context_, sort);
    if (profile || profile_steps)
        profiler_.emplace(*context_, profile_steps ? PassProfiler::Rows::ByStep : PassProfiler::Rows::ByName);
    if (top > 0) return sorter.top(keys, best, index);
    if (!index_output.empty()) return sorter.sort_with_index(keys, index);
    return window > 0 ? sorter.sort_windows(keys, window) : sorter.sort(keys);
}

// Raw values, after a header if the output's name asks for one.
void write_raw(files::OutputFile& out, const Keys& values) {
    if (input::is_npy_name(out.path())) {
        const std::array<std::uint64_t, 1> shape{values.size()};
        const auto header = input::made_npy_header(values.type(), shape);
        out.write(std::as_bytes(std::span(header)));
    }
    out.write({static_cast<const std::byte*>(values.data()), values.size() * cpu::bytes_of(values.type())});
}

// Whether more memory would be needed than is allowed: the values and, for text, the text twice.
bool SortCommand::spills() const {
    const auto size = input == "-" || files::is_regular(input) ? files::InputFile(input).size() : std::nullopt;
    if (!size) return has_memory;
    constexpr std::uint64_t program = std::uint64_t{16} << 20U;
    const auto need = *size * (is_text() ? 4 : 1) + program;
    if (has_memory) return need > line_sort.memory;
    const bool is_whole = window == 0 && top == 0 && index_output.empty() && sort.precision == Precision::Native;
    return is_whole && sort.engine == Engine::Auto && !device.several() && need > files::machine_memory() / 4 * 3;
}

void SortCommand::spill() const {
    const bool is_whole = window == 0 && top == 0 && index_output.empty() && sort.precision == Precision::Native;
    if (!is_whole || device.several() || profile || profile_steps ||
        (sort.engine != Engine::Auto && sort.engine != Engine::Cpu))
        throw CLI::ValidationError(
            "--memory",
            "is too little to hold all values; temporary files are not used with --window, --top, --with-index, "
            "--precision, --profile, --device or an --engine other than cpu and auto");
    if (is_text()) input::refuse_inputs("-o", output, {input});  // its lines might not come back
    if (input != "-" && files::is_regular(input)) {
        std::string head(4097, '\0');
        const files::InputFile file(input);
        const auto got = files::read_at(file.descriptor(), std::as_writable_bytes(std::span(head)), 0);
        head.resize(got.bytes);
        if (!input::is_npy(head) || is_text()) refuse_others(head);
    }
    if (!is_text()) refuse_terminal("-o", files::OutputFile(output));
    sort_by_spilling({.input = input,
                      .output = output,
                      .reading = reading,
                      .order = sort.order,
                      .memory = has_memory ? line_sort.memory : files::machine_memory() / 2,
                      .temp = line_sort.temp,
                      .threads = sort.threads,
                      .stats = stats});
}

void SortCommand::sort_in_memory() {
    files::OutputFile out(output);
    out.must_be_open();
    if (!is_text() && out.is_terminal()) {
        throw CLI::ValidationError("-o", "standard output is a terminal; name a file with -o FILE, or use --text");
    }
    std::optional<files::OutputFile> index_out;
    if (!index_output.empty()) index_out.emplace(index_output);
    if (index_out && index_out->same_as(out)) throw CLI::ValidationError("--with-index", "must not be the output file");
    if (index_out && index_out->is_terminal())
        throw CLI::ValidationError("--with-index", "standard output is a terminal; name a file");
    PhaseProgress progress("reading");
    const Stopwatch read_time;
    auto bytes = read();
    const auto type = reading.type();
    const auto size = cpu::bytes_of(type), first = begin_ / size;
    const auto keys = cpu::keys_of(type, bytes.span().data() + first * size, bytes.size() / size - first);
    read_ms_ = read_time.ms();
    progress.is("sorting");
    const auto best_size = top > 0 ? std::min(top, keys.size()) : 0;
    std::vector<std::byte> best(best_size * size);
    const auto sorted = top > 0 ? cpu::keys_of(type, best.data(), best_size) : keys;
    std::vector<std::uint32_t> index(index_out ? sorted.size() : 0);
    const auto result = sort_keys(keys, sorted, index);
    progress.is("writing");
    const Stopwatch writing;
    if (is_text()) {
        const auto lines = input::format_lines(sorted);
        out.write(std::as_bytes(std::span(lines)));
    } else {
        write_raw(out, sorted);
    }
    if (index_out) {
        write_raw(*index_out, index);
        index_out->commit();
    }
    out.commit();
    write_ms_ = writing.ms();
    progress.end();
    if (profile || profile_steps) print_profile(result);
    if (explain_engine)
        fmt::print(stderr, "engine {}: {}\n", input::word_for(input::engine_words, result.engine), why_);
    if (stats) print_stats(result);
}

void SortCommand::run() {
    if (sort.engine == Engine::Cpu && sort.precision != Precision::Native) {
        throw CLI::ValidationError("--precision", "does not go with --engine cpu, which sorts values as they are");
    }
    if (output.empty()) throw CLI::ValidationError("-o", "the name of the output file is empty");
    input::refuse_inputs("--with-index", index_output, {input});
    const bool keeps_values = top == 0 && sort.rounding != Rounding::Nearest;
    if (!keeps_values || output == "-") input::refuse_inputs("-o", output, {input});
    if (!index_output.empty() && window > 0)
        throw CLI::ValidationError("--with-index", "does not go with --window; sort whole files with an index");
    const auto type = reading.type();
    if (sort.engine == Engine::Pbsn && type != KeyType::F32 && type != KeyType::F16)
        throw CLI::ValidationError(
            "--engine", fmt::format("pbsn sorts f32 and f16, not {}; use merge, bitonic, hybrid, auto or cpu{}",
                                    input::word_for(input::type_words, type),
                                    reading.given_type ? "" : ", or --type f32, which rounds text where it must"));
    if (!index_output.empty() && (sort.engine == Engine::Pbsn || sort.engine == Engine::Hybrid))
        throw CLI::ValidationError("--with-index", "goes with --engine merge, bitonic, auto or cpu");
    if ((!index_output.empty() || top > 0) && sort.precision != Precision::Native)
        throw CLI::ValidationError("--precision",
                                   "does not go with --with-index or --top, which sort values as they are");
    if (top > 0 && window > 0)
        throw CLI::ValidationError("--top", "does not go with --window; it finds the first values of all");
    if (top > 0 && (sort.engine == Engine::Pbsn || sort.engine == Engine::Hybrid || sort.engine == Engine::Bitonic))
        throw CLI::ValidationError("--top", "goes with --engine merge, auto or cpu; the others sort all values");
    if (device.several()) {
        const bool whole = window == 0 && top == 0 && index_output.empty();
        if (!whole || profile || profile_steps || sort.precision != Precision::Native)
            throw CLI::ValidationError("--device",
                                       "several devices sort whole files as they are: without --window, --top, "
                                       "--with-index, --precision and --profile, or on one device");
        if (sort.engine != Engine::Auto && sort.engine != Engine::Merge)
            throw CLI::ValidationError("--device", "several devices go with --engine merge or auto");
    }
    if (spills()) return spill();
    sort_in_memory();
}

void SortCommand::print_stats(const SortStats& s) const {
    const bool cpu = s.engine == Engine::Cpu;
    nlohmann::ordered_json out{{"n", s.n},
                               {"engine", input::word_for(input::engine_words, s.engine)},
                               {"renderer", cpu ? "none" : context_->info().renderer},
                               {"textures", s.textures},
                               {"steps", s.steps},
                               {"stages_run", s.stages_run},
                               {"stages_max", s.stages_max},
                               {"passes", s.passes},
                               {"cpu_keys", s.cpu_keys},
                               {"merge_moves", s.merge_moves},
                               {"set_aside", s.set_aside},
                               {"upload_ms", s.upload_ms},
                               {"sort_ms", s.sort_ms},
                               {"readback_ms", s.readback_ms},
                               {"merge_ms", s.merge_ms},
                               {"total_ms", s.total_ms},
                               {"keys_per_s", s.total_ms > 0 ? static_cast<double>(s.n) / s.total_ms * 1e3 : 0},
                               {"context_ms", context_ms_},
                               {"read_ms", read_ms_},
                               {"write_ms", write_ms_}};
    if (device.several()) out["devices"] = shares_json(shares_);
    fmt::print(stderr, "{}\n", out.dump());
}

void SortCommand::print_profile(const SortStats& sorted) {
    if (!profiler_) {
        fmt::print(stderr, "no passes: sorted on the CPU\n");
        return;
    }
    const auto rows = profiler_->rows();
    profiler_.reset();  // limits are measured with passes, too
    print_passes(*context_, rows);
    if (sorted.engine == Engine::Pbsn)
        print_blending(*context_, rows, {.keys = sorted.n, .steps = sorted.steps, .merge_moves = sorted.merge_moves});
}

void check_engine_options(const CLI::App& verb, const SortCommand& command) {
    const auto engine = command.sort.engine;
    const bool pbsn = engine == Engine::Pbsn;
    const auto type = command.reading.type();
    check_pbsn_options(verb, engine);
    only_with(verb, {"--channels"}, command.window > 0, "--window, which has windows to put into channels");
    only_with(verb, {"--max-texels", "--max-run"}, pbsn, "--engine pbsn");
    only_with(verb, {"--representation", "--block", "--steps-per-pass"}, engine == Engine::Bitonic, "--engine bitonic");
    only_with(verb, {"--kernel"}, engine == Engine::Merge || engine == Engine::Hybrid || engine == Engine::Auto,
              "--engine merge, hybrid or auto");
    only_with(verb, {"--precision"}, type == KeyType::F32 || type == KeyType::F16,
              "--type f32 and f16; text is f64 without --type");
    only_with(verb, {"--round"}, type == KeyType::F32 && command.sort.precision == Precision::Float16,
              "--type f32 and --precision f16");
}

// Whether numbers were asked for in words. --reverse and --numeric-sort then only say what is known or possible.
bool SortCommand::sorts_lines(const CLI::App& verb) {
    if (!has_line_options(verb)) return false;
    const bool numbers = verb.count("--text") + verb.count("--raw") + verb.count("--type") > 0;
    if (!numbers || line_sort.lines) return true;
    const auto rules = std::exchange(line_sort.rules, {});
    for (const auto* option : verb.get_options()) {
        if (option->count() > 0 && option->get_group() == lines_group && !option->check_name("--reverse") &&
            !option->check_name("--numeric-sort"))
            throw CLI::ValidationError(option->get_name(), "sorts lines, without --text, --raw and --type");
    }
    if (rules.reverse) sort.order = Order::Descending;
    return false;
}

void SortCommand::run_as_called(const CLI::App& verb) {
    if (sorts_lines(verb)) {
        refuse_options_of_numbers(verb);
        return sort_lines(line_sort, {.inputs = inputs,
                                      .output = output,
                                      .header = reading.lines.header,
                                      .engine = sort.engine,
                                      .threads = sort.threads,
                                      .devices = device,
                                      .stats = stats});
    }
    if (inputs.size() > 1) {
        throw CLI::ValidationError("FILE", fmt::format("{} is a second one; only --lines sorts several together",
                                                       input::in_quotes(inputs[1])));
    }
    only_with(verb, {"--header"}, is_text(), "--text or lines");
    input = inputs.front();
    has_memory = verb.count("--memory") > 0;
    reading.take_type_of(input, input::type_words);
    check_engine_options(verb, *this);
    run();
}

void add_engine_options(CLI::App& verb, SortOptions& sort) {
    add_pbsn_options(verb, sort.paper.pbsn);
    verb.add_option("--max-texels", sort.paper.pbsn.max_texels, "For pbsn: max texels in one texture (4 values each)")
        ->transform(input::count_up_to(std::uint64_t{1} << 48U))
        ->capture_default_str();
    verb.add_option("--max-run", sort.paper.pbsn.max_run,
                    "For pbsn: max number of keys that the network sorts in each channel; the CPU merges these runs "
                    "(default: 262144). Short runs leave more work to the CPU: 256 was the fastest. The paper has no "
                    "max: use the value of --max-texels")
        ->transform(input::count_up_to(std::uint64_t{1} << 48U))
        ->type_name("N");
    verb.add_option("--representation", sort.paper.bitonic.representation,
                    "For bitonic: four consecutive keys in a texel, or a quarter of the keys in each channel")
        ->transform(input::one_of(input::representation_words))
        ->default_str("single");
    verb.add_option("--block", sort.paper.bitonic.block,
                    "For bitonic: draw in squares of N x N texels if both sides of a comparison lie in one; 0: off "
                    "(default: 128; 0 on software renderers)")
        ->check(input::whole_number(0, std::uint64_t{1} << 20U))
        ->type_name("N");
    verb.add_option("--steps-per-pass", sort.paper.bitonic.steps_per_pass,
                    "For bitonic: steps of the network in one pass; 1 is the paper's form")
        ->check(input::shown_number(1, 3))
        ->capture_default_str();
    verb.add_option("--kernel", sort.merge.kernel,
                    "For merge. fragment: each fragment sorts alone; subgroup: 32 fragments sort together, if the "
                    "driver can; auto: subgroup if available")
        ->transform(input::one_of(input::kernel_words))
        ->default_str("auto");
}

}  // namespace

void add_sort_command(CLI::App& app) {
    auto command = std::make_shared<SortCommand>();
    auto* verb = app.add_subcommand("sort",
                                    "Sort numbers or lines of a file or pipe\n"
                                    "It takes:\n"
                                    "- raw values, 32-bit floats unless --type says otherwise;\n"
                                    "- NumPy's .npy files, whose header says the type;\n"
                                    "- numbers as text, one per line: --text;\n"
                                    "- lines of text, which stay as they are: --lines, or by keys such as -n, -k2,2, "
                                    "--column price;\n"
                                    "- records of one length: the verb `quadmill terasort`.");
    verb->add_option("FILE", command->inputs, "Input; - is standard input. Several files only with --lines")
        ->default_str("-");
    verb->add_option("-o,--output", command->output, "Output; - is standard output. Appears only when complete")
        ->capture_default_str();
    input::add_reading_options(*verb, command->reading, input::type_words,
                               "Input and output are text, one number per line");
    auto* header = verb->get_option("--header");
    header->remove_needs(verb->get_option("--text"));
    header->description("With --text: skip the first N lines; with lines: keep them on top");
    verb->add_option("--order", command->sort.order, "Order of the output; NaNs always come last")
        ->transform(input::one_of(input::order_words))
        ->default_str("asc");
    verb->add_option("--engine", command->sort.engine,
                     "merge: merge sort, any type; hybrid: merge and CPU threads together; bitonic: GPUTeraSort's "
                     "network, any type; pbsn: blending, SIGMOD'05, f32 and f16; cpu: CPU threads; auto: the one "
                     "that was fastest in measurements (see `quadmill tune`), cpu unless the GPU saves at least 100 "
                     "ms")
        ->transform(input::one_of(input::engine_words))
        ->default_str("auto");
    verb->add_option("--precision", command->sort.precision,
                     "For f32 and f16: sort in 32-bit or 16-bit floats (default: as --type). With f16, values that "
                     "are not exactly 16-bit floats are an error, unless --round is given")
        ->transform(input::one_of(input::precision_words));
    verb->add_flag(
        "--round", [command](std::int64_t) { command->sort.rounding = Rounding::Nearest; },
        "With --precision f16: round the values to the nearest 16-bit floats");
    verb->add_option("--window", command->window, "Sort each N values separately")
        ->transform(input::count_up_to(std::uint64_t{1} << 48U))
        ->type_name("N");
    verb->add_option("--with-index", command->index_output,
                     "Also write the index of each value in the input, from 0, as 32-bit unsigned integers; equal "
                     "values keep the order of the input")
        ->check(input::file_name())
        ->type_name("FILE");
    verb->add_option("--top", command->top,
                     "Output only the first K values: the smallest, or with --order desc the largest")
        ->transform(input::count_up_to(std::uint64_t{1} << 48U))
        ->type_name("K");
    add_engine_options(*verb, command->sort);
    verb->add_option("--threads,--parallel", command->sort.threads,
                     "CPU threads for packing, merging and hybrid sorting (default: all)")
        ->check(input::thread_count());
    verb->add_flag("--stats", command->stats,
                   "Print one line of JSON about the sort on standard error (other verbs have --json)")
        ->group(performance_group);
    verb->add_flag("--explain-engine", command->explain_engine,
                   "Print the chosen engine and the reason on standard error");
    verb->add_flag("--profile", command->profile, "A table of GPU time by pass on standard error");
    verb->add_flag("--profile-steps", command->profile_steps,
                   "Like --profile, with one line per step of the sorting network");
    add_devices_option(*verb, command->device);
    add_line_options(*verb, command->line_sort);
    verb->footer(
        "Raw values and .npy files come out as they were, in order. An output whose name ends in .npy gets NumPy's "
        "header, with one dimension.\n"
        "Numbers of --text are parsed and printed again: 3.50 becomes 3.5, and 1e2 becomes 100. An integer that a "
        "double cannot hold is refused; --type i64 or u64 holds it. With -n, lines are sorted by their numbers and "
        "stay "
        "as they are.\n"
        "\n"
        "Examples:\n"
        "  quadmill sort data.f32 -o sorted.f32\n"
        "  quadmill sort data.i64 --type i64 --order desc -o sorted.i64 --with-index order.u32\n"
        "  quadmill sort data.f32 -o largest.f32 --order desc --top 100\n"
        "  quadmill sort data.npy -o sorted.npy --memory 1G\n"
        "  cut -f3 log.tsv | quadmill sort --text | tail -1\n"
        "  quadmill sort -t, -k2,2nr data.csv -o sorted.csv\n"
        "  quadmill sort --column price:n --column name data.csv -o sorted.csv");
    verb->callback([command, verb] { command->run_as_called(*verb); });
}

}  // namespace quadmill::detail::cli
