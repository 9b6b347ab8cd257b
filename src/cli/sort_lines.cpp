#include "cli/sort_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/external_run.hpp"
#include "cli/line_streams.hpp"
#include "cli/refusals.hpp"
#include "cli/stream_run.hpp"
#include "cpu/workers.hpp"
#include "external/plan.hpp"
#include "external/sorting.hpp"
#include "external/wide_keys.hpp"
#include "input/checks.hpp"
#include "input/interrupt.hpp"
#include "input/line_source.hpp"
#include "input/text.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

using external::SizedHeader;
using input::KeyMaker;
using input::LineSource;

// Checks, merges or sorts the lines of the inputs.
class LineSorter {
  public:
    LineSorter(const LineSort& sort, const LineRun& run, input::Interrupt& interrupt)
        : sort_(sort), run_(run), interrupt_(interrupt) {
        read_first_header();
    }

    void check();
    void merge(files::OutputFile& out);
    void sort(files::OutputFile& out);

  private:
    [[nodiscard]] input::LineEnds ends() const;
    [[nodiscard]] std::unique_ptr<LineSource> open(const std::string& path, std::string& header);
    [[nodiscard]] std::unique_ptr<LineSource> open_next();
    [[nodiscard]] KeyMaker maker() const;
    void read_first_header();
    void push_all(external::Sorting& sorting, const KeyMaker& keys);
    void push_all_here(external::Sorting& sorting, KeyMaker keys, KeyIs where);
    [[nodiscard]] unsigned key_threads() const;
    struct Part;
    static std::uint64_t push(external::Sorting& sorting, const LineSource& source, std::span<Part> parts,
                              std::uint64_t last_line, const cpu::Workers& workers);
    static void push(external::Sorting& sorting, const LineSource& source, std::span<const char> records,
                     std::uint64_t last_line);
    void must_go_on() {
        if (interrupt_.came()) throw SortStopped("the sort was stopped");
    }
    void tell(const char* what, std::uint64_t bytes) {
        progress_.show_line(fmt::format("{}: {} MB", what, bytes / 1'000'000));
    }
    [[nodiscard]] ExternalSortOptions options();
    [[nodiscard]] std::uint64_t input_bytes() const;

    const LineSort& sort_;
    const LineRun& run_;
    input::Interrupt& interrupt_;
    std::size_t longest_ = sort_.memory / 64;
    std::size_t opened_ = 0;             // inputs so far
    std::unique_ptr<LineSource> first_;  // after its header
    std::string header_;
    std::vector<std::string> names_;
    Progress progress_;
};

// Memory of the buffers here: those of usual lines, and those of the longest ones.
std::size_t own_memory(std::size_t memory) {
    return (std::size_t{4} << 20) + memory / 16;
}
constexpr std::size_t batch_bytes = std::size_t{256} << 10;

input::LineEnds LineSorter::ends() const {
    input::LineEnds ends{.end = sort_.zero ? '\0' : '\n'};
    if (!sort_.columns.empty()) ends.csv_separator = sort_.separator.empty() ? ',' : sort_.separator[0];
    return ends;
}

// Names of columns need a header, which the first line is unless --header says more.
bool is_name(const std::string& column) {
    return column.find_first_not_of("0123456789") < column.find(':');
}

// Merged files are open together.
std::unique_ptr<LineSource> LineSorter::open(const std::string& path, std::string& header) {
    constexpr std::size_t min_memory = std::size_t{16} << 10U;
    const auto share = sort_.memory / 4 / run_.inputs.size();
    auto source = std::make_unique<LineSource>(
        path, ends(), longest_,
        [this](int descriptor) {
            interrupt_.wait_for(descriptor);
            must_go_on();
        },
        sort_.merge ? std::clamp<std::size_t>(share, min_memory, LineSource::usual_memory)
                    : LineSource::usual_memory * key_threads());
    const auto lines = std::max<std::uint64_t>(run_.header, std::ranges::any_of(sort_.columns, is_name) ? 1 : 0);
    for (std::uint64_t i = 0; i < lines; ++i) header += source->next().value_or("");
    return source;
}

// The next input after its header; nothing after the last one.
std::unique_ptr<LineSource> LineSorter::open_next() {
    if (opened_ == run_.inputs.size()) return {};
    if (++opened_ == 1) return std::move(first_);
    std::string header;
    auto source = open(run_.inputs[opened_ - 1], header);
    if (header == header_ || header.empty()) return source;
    throw InvalidArgument(
        fmt::format("{} has another header than {}; files that are sorted together must have the same one",
                    source->name(), files::input_name(run_.inputs.front())));
}

void LineSorter::read_first_header() {
    first_ = open(run_.inputs.front(), header_);
    const auto lines = run_.header;
    if (header_.empty() || std::ranges::none_of(sort_.columns, is_name)) return;
    std::string_view first = header_;
    first.remove_suffix(1);
    if (lines > 1) first = first.substr(0, *input::csv_line_end(first, *ends().csv_separator, ends().end));
    if (first.starts_with("\xef\xbb\xbf")) first.remove_prefix(3);
    names_ = input::csv_fields(first, *ends().csv_separator);
}

KeyMaker LineSorter::maker() const {
    std::vector<input::LineKey> keys;
    for (const auto& spec : sort_.keys) keys.push_back(input::parse_line_key(spec));
    for (const auto& spec : sort_.columns) keys.push_back(input::parse_column(spec, names_));
    input::LineFields fields;
    if (!sort_.separator.empty()) fields.separator = sort_.separator[0];
    if (!sort_.columns.empty()) fields = {ends().csv_separator, true};
    return {std::move(keys), sort_.rules, fields};
}

void LineSorter::check() {
    auto keys = maker();
    std::string before;
    auto& source = *first_;
    std::uint64_t bytes = 0;
    for (bool first = true; const auto line = source.next(); first = false) {
        bytes += line->size();
        if (source.number() % 65536 == 0) tell("checking", bytes);
        const auto key = keys(line->substr(0, line->size() - 1));
        const int order = first ? -1 : external::compare(bytes_of(before), bytes_of(key), 0);
        if (order < 0 || (order == 0 && !sort_.unique)) {
            before = key;
            continue;
        }
        progress_.hide();
        if (sort_.check == LineSort::Check::Names) {
            fmt::print(stderr, "quadmill sort: {}:{}: {}: {}\n", source.name(), source.number(),
                       order == 0 ? "the same key as in the line before" : "out of order",
                       input::in_quotes(line->substr(0, line->size() - 1)));
        }
        throw CLI::RuntimeError(1);
    }
}

void LineSorter::merge(files::OutputFile& out) {
    std::vector<std::unique_ptr<LineSource>> sources;
    while (auto source = open_next()) sources.push_back(std::move(source));
    MergedLines merged(std::move(sources), maker(), sort_.unique);
    AfterHeader out_text(header_, merged);
    external::StageClock writing, merging;
    constexpr std::size_t block = std::size_t{1} << 20;
    external::write_stream(out_text, out, block, writing, merging, [&] {
        must_go_on();
        tell("merging", merged.bytes());
    });
    progress_.hide();
}

// 0 if it is not known. Throws if an input cannot be opened.
std::uint64_t LineSorter::input_bytes() const {
    std::uint64_t bytes = 0;
    bool is_known = true;
    for (const auto& path : run_.inputs) {
        std::error_code error;
        const bool is_file = path != "-" && !std::filesystem::is_fifo(path, error);
        const auto size = is_file ? files::InputFile(path).size() : std::nullopt;
        bytes += size.value_or(0);
        is_known = is_known && size;
    }
    return is_known ? bytes : 0;
}

ExternalSortOptions LineSorter::options() {
    const RecordFormat records{.kind = RecordFormat::Kind::Sized};
    return {.format = records,
            .memory = memory_for(records, sort_.memory, own_memory),
            .temp = sort_.temp,
            .engine = run_.engine,
            .threads = run_.threads,
            .paper = {},
            .progress = [this](const auto& p) { return show_and_proceed(progress_, p, interrupt_.came()); }};
}

// Two cores are busy with the other stages. A thread may hold a few long lines and their keys.
unsigned LineSorter::key_threads() const {
    constexpr std::size_t busy = 2, max = 8, memory_of_thread = std::size_t{16} << 20U;
    const std::size_t threads = cpu::threads_or_all(run_.threads);
    if (threads <= busy + 1) return 1;
    return static_cast<unsigned>(
        std::clamp<std::size_t>(sort_.memory / memory_of_thread, 1, std::min(max, threads - busy)));
}

// Lines as one text or, if their ends do not tell them apart, one by one.
struct Batch {
    std::string_view text;
    std::vector<std::string_view> lines;

    bool take_from(LineSource& source) {
        lines.clear();
        const auto found = source.next_text();
        text = found.value_or("");
        return found || source.next(lines, batch_bytes);
    }
    // About how many parts are worth a thread.
    [[nodiscard]] std::size_t parts(std::size_t max) const {
        constexpr std::size_t min_lines = 64, min_bytes = std::size_t{16} << 10U;
        return std::clamp<std::size_t>(std::max(lines.size() / min_lines, text.size() / min_bytes), 1, max);
    }
    template <class Take>
    void for_part(std::size_t part, std::size_t count, char end, const Take& take) const {
        for (auto i = lines.size() * part / count; i < lines.size() * (part + 1) / count; ++i) take(lines[i]);
        const auto begin_of = [&](std::size_t which) {
            return which == 0 || text.empty()
                       ? 0
                       : std::min(text.find(end, text.size() * which / count), text.size() - 1) + 1;
        };
        auto rest = text.substr(begin_of(part), begin_of(part + 1) - begin_of(part));
        while (!rest.empty()) {
            const auto line = rest.substr(0, rest.find(end) + 1);
            take(line);
            rest.remove_prefix(line.size());
        }
    }
};

// Records that a thread makes.
struct LineSorter::Part {
    KeyMaker keys;
    std::vector<char> memory{};  // keeps its size, so that it is not set to zero again
    std::size_t bytes = 0, longest = 0;
    std::uint64_t lines = 0;

    void add(const LineRecord& record) {
        constexpr auto readable = external::SomeRecords::readable;
        if (memory.size() < bytes + record.bytes() + readable) memory.resize(2 * (bytes + record.bytes() + readable));
        record.write(memory.data() + bytes);
        longest = std::max(longest, record.bytes());
        bytes += record.bytes();
        ++lines;
    }
    [[nodiscard]] std::span<const char> records() const { return std::span(memory).first(bytes); }
};

// Threads find the lines in memory and make their records. This thread reads the lines.
void LineSorter::push_all(external::Sorting& sorting, const KeyMaker& keys) {
    const auto where = keys.makes_parts() ? KeyIs::InLine : KeyIs::BeforeLine;
    const cpu::Workers workers(key_threads());
    if (workers.threads() == 1) return push_all_here(sorting, keys, where);
    std::vector<Part> parts(std::size_t{4} * workers.threads(), {keys});
    Batch batch;
    while (const auto source = open_next()) {
        for (auto last_line = source->number(); batch.take_from(*source); last_line = source->number()) {
            const auto made = std::span(parts).first(batch.parts(parts.size()));
            workers.for_each(made.size(), [&](std::size_t i) {
                auto& part = made[i];
                part.bytes = part.longest = part.lines = 0;
                batch.for_part(i, made.size(), ends().end,
                               [&](std::string_view line) { part.add(record_of(line, part.keys, where)); });
            });
            const auto lines = push(sorting, *source, made, last_line, workers);
            if (!batch.text.empty()) source->count(lines);
            sorting.tick()();
        }
    }
}

// `last_line` is the number of the last line before them. Returns how many there are.
std::uint64_t LineSorter::push(external::Sorting& sorting, const LineSource& source, std::span<Part> parts,
                               std::uint64_t last_line, const cpu::Workers& workers) {
    constexpr std::size_t usual = std::size_t{512} << 10U, always_fits = std::size_t{64} << 10U;
    std::vector<external::SomeRecords> records;
    std::uint64_t lines = 0;
    for (const auto& part : parts) {
        records.push_back({std::as_bytes(part.records()), part.lines});
        lines += part.lines;
    }
    if (std::ranges::max(parts, {}, &Part::longest).longest <= always_fits) {
        sorting.filler().push(records, workers);
        return lines;
    }
    for (auto& part : parts) {
        push(sorting, source, part.records(), last_line += part.lines);
        if (part.memory.size() > usual) part.memory = {};
    }
    return lines;
}

// Makes usual records in the memory in which they are sorted.
void LineSorter::push_all_here(external::Sorting& sorting, KeyMaker keys, KeyIs where) {
    constexpr std::size_t usual = 4096;
    std::vector<std::string_view> lines;
    std::vector<char> cut;
    while (const auto source = open_next()) {
        for (; source->next(lines, batch_bytes); lines.clear()) {
            auto& filler = sorting.filler();
            auto space = filler.space();
            std::size_t made = 0;
            for (auto number = source->number() - lines.size(); const auto line : lines) {
                ++number;
                const auto record = record_of(line, keys, where);
                if (record.bytes() <= std::min(usual, space.size() - made)) {
                    record.write(space.data() + made);
                    made += record.bytes();
                    continue;
                }
                filler.add(std::exchange(made, 0));
                cut.resize(record.bytes());
                record.write(cut.data());
                push(sorting, *source, cut, number);
                space = filler.space();
            }
            filler.add(made);
            sorting.tick()();
        }
    }
}

// `last_line` is the number of the last one of the records.
void LineSorter::push(external::Sorting& sorting, const LineSource& source, std::span<const char> records,
                      std::uint64_t last_line) {
    try {
        sorting.filler().push(std::as_bytes(records));
    } catch (const external::LineTooLong& error) {
        std::size_t longest = 0;
        std::uint64_t after = 0;  // records after the longest one
        for (auto rest = std::as_bytes(records); !rest.empty();) {
            const std::size_t bytes = SizedHeader::of(rest.data()).bytes;
            after = bytes > longest ? 0 : after + 1;
            longest = std::max(longest, bytes);
            rest = rest.subspan(bytes);
        }
        throw Error(fmt::format("{}: line {} is too long for this memory; --memory {}M would do", source.name(),
                                last_line - after, whole_megabytes(64 * longest)));
    }
}

void LineSorter::sort(files::OutputFile& out) {
    const auto keys = maker();
    const auto options = this->options();
    const auto context = external_context("sort", run_.engine, RunMerge::Tree, sort_.memory, run_.devices);
    external::Sorting sorting("sort", options, context, {});
    const auto bytes = input_bytes();
    constexpr std::size_t mean_record = 48;
    sorting.begin(
        {.input_bytes = bytes >= options.memory ? std::optional(bytes) : std::nullopt, .mean_line = mean_record},
        {-1, 0, "the lines with their keys"});
    push_all(sorting, keys);
    const auto where = keys.makes_parts() ? KeyIs::InLine : KeyIs::BeforeLine;
    sorting.shape(
        [where, unique = sort_.unique](external::RecordStream& records) {
            return std::make_unique<SortedLines>(records, where, unique);
        },
        sort_.unique ? external::EqualKeys::Together : external::EqualKeys::Apart);
    sorting.finish();
    AfterHeader sorted(header_, sorting);
    sorting.write(sorted, out);
    progress_.hide();
    if (!run_.stats) return;
    const auto s = sorting.stats("");
    nlohmann::ordered_json out_stats{{"lines", s.records},
                                     {"record_bytes", s.bytes},
                                     {"runs", s.runs},
                                     {"merge_passes", s.merge_passes},
                                     {"seconds", s.seconds},
                                     {"runs_seconds", s.runs_seconds},
                                     {"merge_seconds", s.merge_seconds},
                                     {"peak_bytes", s.peak_bytes}};
    for (const auto& stage : s.stages) out_stats["stages"][stage.name] = stage.seconds;
    fmt::print(stderr, "{}\n", out_stats.dump());
}

void check_rules(const LineSort& sort) {
    const auto wrong = [](const char* option, const std::string& words) { throw CLI::ValidationError(option, words); };
    try {
        input::check_rules(sort.rules);
        for (const auto& spec : sort.keys) static_cast<void>(input::parse_line_key(spec));
    } catch (const InvalidArgument& error) {
        wrong("--key", error.what());
    }
    if (sort.separator.size() > 1)
        wrong("--delimiter",
              fmt::format("must be one character, such as , or \\t, not {}", input::in_quotes(sort.separator)));
    if (sort.merge && sort.check != LineSort::Check::No) wrong("--merge", "does not go with --check");
}

std::vector<std::string> names_in(const std::string& file) {
    const auto bytes = files::read_file(file);
    std::string_view text(bytes.as<const char>().data(), bytes.size());
    std::vector<std::string> names;
    while (!text.empty()) {
        const auto end = std::min(text.find('\0'), text.size());
        names.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (names.back().empty())
            throw InvalidArgument(fmt::format("{}: name {} is empty", files::input_name(file), names.size()));
    }
    if (names.empty()) throw InvalidArgument(fmt::format("{} has no names of files", files::input_name(file)));
    return names;
}

}  // namespace

void sort_lines(const LineSort& given, const LineRun& shared) {
    auto sort = given;
    auto run = shared;
    if (sort.separator == "\\t") sort.separator = "\t";
    if (sort.separator == "\\0") sort.separator = std::string(1, '\0');
    check_rules(sort);
    if (run.output.empty()) throw CLI::ValidationError("-o", "the name of the output file is empty");
    if (run.devices.several()) throw CLI::ValidationError("--device", "lines are sorted on one device");
    if (!sort.files_from.empty()) run.inputs = names_in(sort.files_from);
    if (std::ranges::count(run.inputs, "-") + (sort.files_from == "-" ? 1 : 0) > 1)
        throw CLI::ValidationError("FILE", "standard input can be read once");
    if (run.output == "-") input::refuse_inputs("-o", run.output, run.inputs);
    const bool checks = sort.check != LineSort::Check::No;
    if (checks && run.inputs.size() > 1) throw CLI::ValidationError("--check", "takes one file");
    if (checks && run.output != "-") throw CLI::ValidationError("--check", "writes nothing; it does not go with -o");
    input::Interrupt interrupt;  // before threads start, which inherit the signals that it blocks
    with_output(
        checks ? "" : run.output, sort.memory, [&] { return interrupt.status(); },
        [&](files::OutputFile* out) {
            LineSorter sorter(sort, run, interrupt);
            if (!out) {
                sorter.check();
            } else if (sort.merge) {
                sorter.merge(*out);
            } else {
                sorter.sort(*out);
            }
        });
}

}  // namespace quadmill::detail::cli
