#include "cli/sort_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <queue>
#include <utility>

#include "cli/external_run.hpp"
#include "cli/help.hpp"
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

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// Where a record has its key.
enum class KeyIs { InLine, BeforeLine };

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

// Text before a stream, and a stream's lines without their keys.
class Lines : public external::Stream {
  public:
    explicit Lines(std::string_view header) : rest_(header) {}
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override {
        std::size_t filled = 0;
        for (;;) {
            const auto part = std::min(rest_.size(), memory.size() - filled);
            bytes_ += part;
            if (part > 0) std::memcpy(memory.data() + filled, rest_.data(), part);
            filled += part;
            rest_.remove_prefix(part);
            if (filled == memory.size()) return filled;
            const auto line = next();
            if (!line) return filled;
            rest_ = *line;
        }
    }
    // Number of bytes so far.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

  protected:
    // The next line with its end. Valid until the next call.
    virtual std::optional<std::string_view> next() = 0;

  private:
    std::string_view rest_;
    std::uint64_t bytes_ = 0;
};

// Whether a line has another key than the line before it.
class Different {
  public:
    bool operator()(std::string_view key) {
        if (key_ && *key_ == key) return false;
        key_ = key;
        return true;
    }

  private:
    std::optional<std::string> key_;
};

class SortedLines final : public Lines {
  public:
    SortedLines(std::string_view header, external::RecordStream& records, KeyIs key, bool unique)
        : Lines(header), records_(records), key_(key), unique_(unique) {}

  private:
    std::optional<std::string_view> next() override {
        for (;;) {
            const auto record = records_.next();
            if (record.empty()) return {};
            const auto header = SizedHeader::of(record.data());
            const auto* text = reinterpret_cast<const char*>(record.data());
            if (unique_ && !is_different_({text + header.key_offset, header.key_bytes})) continue;
            const auto begin = key_ == KeyIs::InLine ? sizeof header : sizeof header + header.key_bytes;
            return std::string_view(text + begin, header.bytes - begin);
        }
    }

    external::RecordStream& records_;
    KeyIs key_;
    bool unique_;
    Different is_different_;
};

// Merges sources in order. Equal keys are in the order of the sources.
class MergedLines final : public Lines {
  public:
    MergedLines(std::string_view header, std::vector<std::unique_ptr<LineSource>> sources, KeyMaker keys, bool unique)
        : Lines(header),
          sources_(std::move(sources)),
          keys_(std::move(keys)),
          unique_(unique),
          heads_(sources_.size()) {
        for (std::size_t i = 0; i < sources_.size(); ++i) advance(i);
    }

  private:
    struct Head {
        std::string key, line;
    };
    // Whether the first source's line comes later.
    struct Later {
        const std::vector<Head>& heads;
        bool operator()(std::size_t a, std::size_t b) const {
            const int order = external::compare(bytes_of(heads[a].key), bytes_of(heads[b].key), 0);
            return order != 0 ? order > 0 : a > b;
        }
    };
    void advance(std::size_t which) {
        auto& source = *sources_[which];
        const auto line = source.next();
        if (!line) return;
        auto& head = heads_[which];
        const auto key = keys_(line->substr(0, line->size() - 1));
        if (source.number() > 1 && external::compare(bytes_of(head.key), bytes_of(key), 0) > 0) {
            throw InvalidArgument(
                fmt::format("{}: line {} is out of order, so this file cannot be merged; without -m it "
                            "is sorted",
                            source.name(), source.number()));
        }
        head.key = key;
        head.line = *line;
        queue_.push(which);
    }
    std::optional<std::string_view> next() override {
        for (;;) {
            if (given_) advance(*std::exchange(given_, std::nullopt));
            if (queue_.empty()) return {};
            given_ = queue_.top();
            queue_.pop();
            if (!unique_ || is_different_(heads_[*given_].key)) return heads_[*given_].line;
        }
    }

    std::vector<std::unique_ptr<LineSource>> sources_;
    KeyMaker keys_;
    bool unique_;
    std::vector<Head> heads_;
    std::priority_queue<std::size_t, std::vector<std::size_t>, Later> queue_{Later{heads_}};
    std::optional<std::size_t> given_;
    Different is_different_;
};

void LineSorter::merge(files::OutputFile& out) {
    std::vector<std::unique_ptr<LineSource>> sources;
    while (auto source = open_next()) sources.push_back(std::move(source));
    MergedLines merged(header_, std::move(sources), maker(), sort_.unique);
    external::StageClock writing, merging;
    constexpr std::size_t block = std::size_t{1} << 20;
    external::write_stream(merged, out, block, writing, merging, [&] {
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
            .memory = memory_for(records, sort_.memory) - own_memory(sort_.memory),
            .temp = sort_.temp,
            .engine = run_.engine,
            .threads = run_.threads,
            .paper = {},
            .progress = [this](const auto& p) { return show_and_proceed(progress_, p, interrupt_.came()); }};
}

// A line and its key as a record.
struct LineRecord {
    std::string_view line, key;
    KeyIs where;

    [[nodiscard]] bool is_apart() const { return where == KeyIs::BeforeLine; }
    [[nodiscard]] std::size_t bytes() const {
        return sizeof(SizedHeader) + line.size() + (is_apart() ? key.size() : 0);
    }
    void write(void* memory) const {
        const auto offset = sizeof(SizedHeader) + (is_apart() ? 0 : static_cast<std::size_t>(key.data() - line.data()));
        const SizedHeader header{static_cast<std::uint32_t>(bytes()), static_cast<std::uint32_t>(offset),
                                 static_cast<std::uint32_t>(key.size())};
        auto* to = static_cast<char*>(memory);
        std::memcpy(to, &header, sizeof header);
        if (is_apart() && !key.empty()) std::memcpy(to + sizeof header, key.data(), key.size());
        std::memcpy(to + bytes() - line.size(), line.data(), line.size());
    }
};

LineRecord record_of(std::string_view line, KeyMaker& keys, KeyIs where) {
    return {line, keys(line.substr(0, line.size() - 1)), where};
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

// Threads find the lines in memory and make their records. This thread reads the lines and pushes the records.
void LineSorter::push_all(external::Sorting& sorting, const KeyMaker& keys) {
    const auto where = keys.makes_parts() ? KeyIs::InLine : KeyIs::BeforeLine;
    const cpu::Workers workers(key_threads());
    if (workers.threads() == 1) return push_all_here(sorting, keys, where);
    struct Part {
        KeyMaker keys;
        std::vector<char> records{};
        std::uint64_t lines = 0;
    };
    std::vector<Part> parts(workers.threads(), {keys});
    Batch batch;
    while (const auto source = open_next()) {
        while (batch.take_from(*source)) {
            const auto count = batch.parts(parts.size());
            workers.for_each(count, [&](std::size_t i) {
                auto& part = parts[i];
                part.records.clear();
                part.lines = 0;
                batch.for_part(i, count, ends().end, [&](std::string_view line) {
                    const auto record = record_of(line, part.keys, where);
                    const auto begin = part.records.size();
                    part.records.resize(begin + record.bytes());
                    record.write(part.records.data() + begin);
                    ++part.lines;
                });
            });
            auto last_line = source->number();
            for (std::size_t i = 1; i < count; ++i) last_line -= parts[i].lines;
            for (std::size_t i = 0; i < count; ++i) {
                push(sorting, *source, parts[i].records, last_line);
                if (i + 1 < count) last_line += parts[i + 1].lines;
            }
            sorting.tick()();
        }
    }
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
    sorting.finish();
    SortedLines sorted(header_, sorting, keys.makes_parts() ? KeyIs::InLine : KeyIs::BeforeLine, sort_.unique);
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

// Sets the comparison by its word in `--sort=WORD`, of which the first letters are enough.
std::string set_order(LineSort& sort, const std::string& given) {
    constexpr std::array<std::pair<std::string_view, char>, 4> orders{
        {{"general-numeric", 'g'}, {"human-numeric", 'h'}, {"month", 'M'}, {"numeric", 'n'}}};
    const auto is_given = [&](std::string_view word) { return !given.empty() && word.starts_with(given); };
    for (const auto& [word, letter] : orders) {
        if (is_given(word)) input::add_rules(sort.rules, {&letter, 1});
        if (is_given(word)) return {};
    }
    const auto hint = is_given("version")  ? input::for_versions
                      : is_given("random") ? input::for_random_order
                                           : "the words are numeric, general-numeric, human-numeric and month";
    return fmt::format("{} is not an order; {}", input::in_quotes(given), hint);
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

// Adds a flag that is an option letter of a key.
void add_rule(CLI::App& verb, LineSort& sort, const char* names, char letter, const char* words) {
    verb.add_flag(
            names,
            [&sort, letter](std::int64_t) {
                const std::string_view letters(&letter, 1);
                input::add_rules(sort.rules, letters);
                input::add_rules(sort.rules, letters, input::KeyEnd::End);
            },
            words)
        ->group(lines_group);
}

}  // namespace

void add_line_options(CLI::App& verb, LineSort& sort) {
    const auto flag = [&](const char* names, auto& value, const char* words) {
        return verb.add_flag(names, value, words)->group(lines_group);
    };
    flag("--lines", sort.lines,
         "Sort whole lines by their bytes, or by keys. The other options of this group imply it, but not -r and -n "
         "next to --text or --raw");
    verb.add_option(
            "-k,--key", sort.keys,
            "A key, such as 2, 2n, 2,2nr or 1.3,1.5, as for `sort -k`: the first field and, after a comma, the last. A "
            "field may be followed by .CHARACTER, and the key by letters of the options below. Equal lines are "
            "ordered by the next key")
        ->type_name("SPEC")
        ->allow_extra_args(false)
        ->group(lines_group);
    verb.add_option("--column", sort.columns,
                    "A key: a column of CSV, by its name in the first line, which then stays on top, or by its number; "
                    "then optionally : and letters, such as price:nr. Quotes are respected")
        ->type_name("NAME|N")
        ->allow_extra_args(false)
        ->excludes("--key")
        ->group(lines_group);
    verb.add_option("-t,--delimiter,--field-separator", sort.separator,
                    "The character between fields or columns (default: for -k blanks, for --column a comma)")
        ->type_name("CHAR")
        ->group(lines_group);
    add_rule(verb, sort, "-n,--numeric-sort", 'n', "Compare numbers of any length exactly; other text counts as 0");
    add_rule(verb, sort, "-g,--general-numeric-sort", 'g', "Compare numbers such as 1e9, inf and nan, as long double");
    add_rule(verb, sort, "--human-numeric-sort", 'h', "Compare numbers with units, such as 2K and 1G (-h of GNU sort)");
    add_rule(verb, sort, "-M,--month-sort", 'M', "Compare names of months");
    verb.add_option(
            "--sort",
            [&sort](const CLI::results_t& words) {
                const auto wrong = set_order(sort, words.back());
                if (!wrong.empty()) throw CLI::ValidationError("--sort", wrong);
                return true;
            },
            "The same comparisons in a word: numeric, general-numeric, human-numeric or month")
        ->type_name("WORD")
        ->group(lines_group);
    add_rule(verb, sort, "-r,--reverse", 'r', "Reverse the order; equal lines keep the order of the input");
    add_rule(verb, sort, "-b,--ignore-leading-blanks", 'b', "Ignore blanks before a key");
    add_rule(verb, sort, "-d,--dictionary-order", 'd', "Compare only blanks, letters and digits");
    add_rule(verb, sort, "-f,--ignore-case", 'f', "Ignore case");
    add_rule(verb, sort, "-i,--ignore-nonprinting", 'i', "Compare only printable characters");
    flag("-u,--unique", sort.unique, "Write only the first of lines with equal keys");
    verb.add_flag(
            "-s,--stable", [](std::int64_t) {}, "Equal lines keep the order of the input, as they always do here")
        ->group(lines_group);
    auto* check =
        flag("-c,--check", sort.check,
             "Sort nothing; name the first line that is out of order, and exit with 1. --check=quiet is -C")
            ->transform(CLI::Validator(
                [](std::string& word) -> std::string {
                    const bool quiet = word == "quiet" || word == "silent";
                    if (!quiet && word != "true" && word != "diagnose-first")
                        return fmt::format("{} is not quiet, silent or diagnose-first", input::in_quotes(word));
                    word = std::to_string(static_cast<int>(quiet ? LineSort::Check::Quiet : LineSort::Check::Names));
                    return {};
                },
                ""))
            ->take_last();
    verb.add_flag(
            "-C,--check-quiet", [&sort](std::int64_t) { sort.check = LineSort::Check::Quiet; },
            "Like --check, without a message")
        ->excludes(check)
        ->group(lines_group);
    flag("-m,--merge", sort.merge, "Merge files that are sorted already")->excludes(check)->excludes("--check-quiet");
    flag("-z,--zero-terminated", sort.zero, "Lines end with a zero byte");
    verb.add_option("--files0-from", sort.files_from,
                    "Read the names of the inputs from this file, in which a zero byte ends each, as `find -print0` "
                    "writes them; - is standard input")
        ->excludes("FILE")
        ->type_name("FILE")
        ->group(lines_group);
    verb.add_option(
            "-S,--memory,--buffer-size", sort.memory,
            "Max memory of the program, such as 1G or 50%. A larger input is sorted in parts, through temporary files "
            "(default: 256M for lines, 3/4 of the machine's for numbers)")
        ->transform(input::byte_count())
        ->type_name("SIZE");
    verb.add_option("-T,--temp,--temporary-directory", sort.temp,
                    "Folder for temporary files. Lines need room for the input and its keys, numbers for the raw "
                    "values. Several folders are used in turn (default: TMPDIR, or /tmp)")
        ->type_name("DIR")
        ->allow_extra_args(false);
}

bool has_line_options(const CLI::App& verb) {
    return !verb.get_options(
                    [](const CLI::Option* option) { return option->get_group() == lines_group && option->count() > 0; })
                .empty();
}

void refuse_options_of_numbers(const CLI::App& verb) {
    constexpr std::array shared{"output", "header", "engine", "threads", "stats", "device", "memory", "temp"};
    for (const auto* option : verb.get_options()) {
        if (option->count() == 0 || option->get_positional() || option->get_group() == lines_group) continue;
        if (std::ranges::none_of(shared, [&](const char* name) { return option->check_lname(name); }))
            throw CLI::ValidationError(option->get_name(), "sorts numbers, not lines");
    }
}

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
