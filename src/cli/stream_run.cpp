#include "cli/stream_run.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "cli/commands.hpp"
#include "cli/groups.hpp"
#include "cli/help.hpp"
#include "cli/passes.hpp"
#include "cli/pbsn_options.hpp"
#include "cli/refusals.hpp"
#include "cli/tuned.hpp"
#include "input/checks.hpp"
#include "quadmill/error.hpp"
#include "sort/choose.hpp"

namespace quadmill::detail::cli {

namespace {

constexpr std::uint64_t max_values = std::uint64_t{1} << 60U;

}  // namespace

void add_json_option(CLI::App& verb, Format& format) {
    verb.add_flag(
        "--json", [&format](std::int64_t) { format = Format::JsonLine; },
        "One JSON object per answer on standard output");
}

CLI::Option* add_save_option(CLI::App& verb, std::string& save) {
    return verb
        .add_option("--save", save,
                    "Write the summary to FILE at the end, for `quadmill merge`. With -, it goes to standard output "
                    "and no answer is printed")
        ->check(input::file_name())
        ->type_name("FILE");
}

void add_phi_option(CLI::App& verb, std::vector<double>& phis) {
    const auto take = [&phis](const std::vector<std::string>& lists) {
        phis.clear();
        for (const auto& list : lists) {
            for (const auto& part : input::comma_separated(list))
                static_cast<void>(input::parse_number(part, phis.emplace_back()));  // was checked
        }
    };
    verb.add_option_function<std::vector<std::string>>(
            "--phi", take,
            "Quantiles to print, from 0 (the min) to 1 (the max), separated by commas: 0.99, 99% or p99; 0.5 is the "
            "median")
        ->allow_extra_args(false)  // otherwise it would take the FILE after it
        ->transform(input::each_of(input::fraction_from(0, 1)))
        ->type_name("PHI,...")
        ->default_str("0,0.01,0.05,0.25,0.5,0.75,0.95,0.99,1");
}

void add_eps_option(CLI::App& verb, double& eps) {
    verb.add_option("--eps", eps, "Max error, as a fraction of the number of values, from 1e-9 to 0.5")
        ->transform(input::fraction_from(1e-9, 0.5))
        ->type_name("E")
        ->capture_default_str();
}

void add_n_option(CLI::App& verb, std::optional<std::uint64_t>& n) {
    verb.add_option("--n", n,
                    "Number of values in the stream, if known: the summary then needs less memory. The error is at "
                    "most E, also if N is wrong")
        ->transform(input::count_up_to(max_values))
        ->type_name("N");
}

void SupportChoice::check() const {
    if (eps() <= support) return;
    throw CLI::ValidationError("--support", fmt::format("must be at least --eps, {}, not {}", eps(), support));
}

CLI::Option* add_support_option(CLI::App& verb, double& support) {
    return verb
        .add_option("--support", support,
                    "Report what makes up at least this fraction of the input, such as 0.01 or 1%, from 1e-8 to "
                    "1")
        ->transform(input::fraction_from(1e-8, 1))
        ->type_name("S");
}

void add_support_options(CLI::App& verb, SupportChoice& choice, const std::string& range) {
    add_support_option(verb, choice.support)->required();
    verb.add_option("--eps", choice.given_eps,
                    "Max error of a count, as a fraction of the number of values, " + range + " (default: S / 10)")
        ->transform(input::fraction_from(1e-9, 0.5))
        ->type_name("E");
}

void add_all_prefixes_option(CLI::App& verb, HeavyRule& rule) {
    verb.add_flag(
        "--all-prefixes", [&rule](std::int64_t) { rule = HeavyRule::All; },
        "Also report prefixes that are frequent only because of a longer, reported prefix");
}

namespace {

// The seconds in "500ms", "10s", "5min", "1h" or "1d"; 0 if it is no such time.
double seconds_in(std::string_view text) {
    constexpr std::array units{std::pair{"ms", 1e-3}, std::pair{"s", 1.0}, std::pair{"min", 60.0},
                               std::pair{"h", 3600.0}, std::pair{"d", 86400.0}};
    for (const auto& [unit, seconds] : units) {
        double number = 0;
        if (!text.ends_with(unit)) continue;
        const auto digits = text.substr(0, text.size() - std::string_view(unit).size());
        if (input::parse_number(digits, number) == nullptr && number > 0 && number <= 1e9) return number * seconds;
    }
    return 0;
}

CLI::Option* add_every_option(CLI::App& verb, const std::string& name, std::uint64_t* values, double& seconds,
                              const std::string& text, std::uint64_t max = max_values) {
    const bool may_count = values != nullptr;
    const auto take = [values, &seconds](const std::string& word) {
        seconds = seconds_in(word);
        if (values != nullptr && seconds == 0) static_cast<void>(input::parse_number(word, *values));  // was converted
    };
    const auto convert = [may_count, count = input::count_up_to(max)](std::string& word) -> std::string {
        if (seconds_in(word) > 0) return {};
        if (!may_count) return fmt::format("'{}' is not a time such as 10s, 5min or 1h", word);
        const auto fault = count(word);
        return fault.empty() ? fault : fault + ", and not a time such as 10s, 5min or 1h";
    };
    return verb.add_option_function<std::string>(name, take, text)
        ->transform(CLI::Validator(convert, ""))
        ->type_name(may_count ? "N|TIME" : "TIME");
}

}  // namespace

CLI::Option* add_column_options(CLI::App& verb, StreamOptions& options) {
    const auto take = [&options](const std::string& which) {
        options.column.which = which;
        options.reading.form = input::Form::Text;
    };
    auto* column = verb.add_option_function<std::string>(
                           "--column", take,
                           "Read this column of CSV: its name in the first line, or its number from 1. The rules of "
                           "quotes are those of `quadmill query`; an empty field is not a value. --header 0: there is "
                           "no line of names; --header N: it is line N")
                       ->check(input::file_name())
                       ->excludes("--raw")
                       ->type_name("NAME|N");
    verb.add_option("--delimiter", options.column.delimiter,
                    "With --column: the character between fields (default: a comma). Write a tab as \\t")
        ->transform(CLI::Validator(
            [](std::string& text) -> std::string {
                if (text == "\\t") text = "\t";
                return text.size() == 1 && text != "\"" && text != "\n" && text != "\r"
                           ? ""
                           : fmt::format("'{}' is not one character that may separate fields", text);
            },
            ""))
        ->needs(column)
        ->type_name("C");
    for (const auto* option : {"--header", "--skip-bad"})
        verb.get_option(option)->remove_needs(verb.get_option("--text"));
    return column;
}

namespace {

// A second column of CSV. There is one at most.
CLI::Option* add_second_column(CLI::App& verb, const char* name, StreamOptions& options, std::string& which,
                               const std::string& text, CLI::Option* column) {
    auto* option =
        verb.add_option_function<std::string>(
                name, [&options, &which](const std::string& word) { which = options.column.by = word; }, text)
            ->check(input::file_name())
            ->needs(column)
            ->type_name("NAME|N");
    for (const auto* other : {"--by", "--time", "--weight"}) {
        if (other != std::string_view(name) && verb.get_option_no_throw(other) != nullptr) option->excludes(other);
    }
    return option;
}

}  // namespace

void add_group_options(CLI::App& verb, StreamOptions& options, std::uint64_t& max_groups, CLI::Option* column,
                       const std::string& what) {
    auto* by =
        add_second_column(verb, "--by", options, options.group,
                          "With --column: " + what + " for each value of this column, on one CPU thread", column);
    verb.add_option("--groups", max_groups, "With --by: more groups than this are an error in the input")
        ->transform(input::count_up_to(100'000'000))
        ->needs(by)
        ->type_name("N")
        ->capture_default_str();
}

void add_weight_option(CLI::App& verb, StreamOptions& options, CLI::Option* column) {
    add_second_column(verb, "--weight", options, options.weight,
                      "With --column: count each value as often as the whole number in this column says", column);
}

void add_time_option(CLI::App& verb, StreamOptions& options, CLI::Option* column) {
    add_second_column(
        verb, "--time", options, options.time,
        "With --sliding TIME: the column of times, which are seconds, such as 1764235800.5, or dates such as "
        "2026-11-27T09:30:00Z. --every TIME then means these times. Without it, the time is that of arrival",
        column)
        ->needs("--sliding");
}

void refuse_with(const StreamOptions& options, const char* column, std::initializer_list<const char*> refused) {
    if (options.verb->count(column) == 0) return;
    for (const auto* option : refused) {
        if (options.verb->get_option_no_throw(option) != nullptr && options.verb->count(option) > 0)
            throw CLI::ValidationError(column, fmt::format("does not go with {}", option));
    }
}

namespace {

// Whether the text is as the form says: d is a digit, T a T or a blank.
bool has_form(std::string_view text, std::string_view form) {
    return std::ranges::equal(text, form, [](char c, char f) {
        return c == f || (f == 'd' && c >= '0' && c <= '9') || (f == 'T' && c == ' ');
    });
}

}  // namespace

input::Fault parse_time(std::string_view text, double& seconds) {
    constexpr auto fault = "has a time that is neither a number of seconds nor a date like 2026-11-27T09:30:00Z";
    constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
    if (input::parse_number(text, seconds) == nullptr) return std::isfinite(seconds) ? nullptr : fault;
    if (!has_form(text.substr(0, form.size()), form)) return fault;
    const auto part = [](std::string_view from, std::size_t at, std::size_t digits = 2) {
        unsigned value = 0;
        static_cast<void>(input::parse_number(from.substr(at, digits), value));  // are digits
        return value;
    };
    using namespace std::chrono;  // NOLINT(google-build-using-namespace): of dates
    const year_month_day date(year(static_cast<int>(part(text, 0, 4))), month(part(text, 5)), day(part(text, 8)));
    const auto hour = part(text, 11), minute = part(text, 14), second = part(text, 17);
    if (!date.ok() || hour > 23 || minute > 59 || second > 60) return fault;
    auto rest = text.substr(form.size());
    double fraction = 0;
    if (rest.starts_with('.')) {
        const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
        if (end == 1) return fault;
        static_cast<void>(input::parse_number("0" + std::string(rest.substr(0, end)), fraction));
        rest.remove_prefix(end);
    }
    double east = 0;  // seconds of the time zone
    if (has_form(rest, "+dd:dd") || has_form(rest, "-dd:dd")) {
        if (part(rest, 1) > 23 || part(rest, 4) > 59) return fault;
        east = (rest[0] == '-' ? -60.0 : 60.0) * (60 * part(rest, 1) + part(rest, 4));
    } else if (!rest.empty() && rest != "Z") {
        return fault;
    }
    const auto days = static_cast<double>(sys_days(date).time_since_epoch().count());
    seconds = days * 86400 + hour * 3600.0 + minute * 60.0 + second + fraction - east;
    return nullptr;
}

input::Fault parse_weight(std::string_view text, std::uint64_t& weight) {
    return input::parse_number(text, weight) == nullptr ? nullptr : "has a weight that is not a whole number";
}

void add_resume_options(CLI::App& verb, StreamOptions& options) {
    verb.add_option("--resume", options.resume,
                    "Continue the summary in FILE, if the file exists; its eps, window and seconds are kept")
        ->check(input::file_name())
        ->type_name("FILE");
    add_every_option(verb, "--save-every", nullptr, options.save_every.seconds,
                     "Also save the summary at this interval, such as 1min, if there are new values. If the program is "
                     "killed, --resume continues the last saved one")
        ->needs(verb.get_option("--save"));
}

void add_stream_options(CLI::App& verb, StreamOptions& options, const input::Words<KeyType>& types,
                        const std::string& text) {
    options.verb = &verb;
    verb.add_option("FILE", options.inputs, "Input; - is standard input. Several files are read one after the other")
        ->default_str("-");
    input::add_reading_options(verb, options.reading, types, text);
    verb.parse_complete_callback([&options, types] { options.reading.take_type_of(options.inputs.front(), types); });
    add_every_option(
        verb, "--every", &options.every.values, options.every.seconds,
        "Also print an answer after every N values (NaNs count, too), or at an interval such as 10s or 5min, "
        "also while no values arrive");
    auto* save = add_save_option(verb, options.save);
    verb.add_flag(
            "--save-partial", [&options](std::int64_t) { options.partial = Partial::Replaces; },
            "Overwrite an existing FILE even if the summary is incomplete (after Ctrl-C, SIGTERM, SIGHUP or "
            "an error in the input). Without this option, an incomplete summary then goes to FILE.partial")
        ->needs(save);
    add_json_option(verb, options.format);
    verb.add_option("--engine", options.engine,
                    "The engine that sorts. cpu: CPU threads; merge: merge sort on the GPU; hybrid: both; pbsn: "
                    "blending on the GPU, four batches at a time, SIGMOD'05; bitonic: GPUTeraSort's network on the "
                    "GPU; auto: merge if the GPU saves at least 100 ms, otherwise cpu")
        ->transform(input::one_of(input::engine_words))
        ->default_str("auto");
    add_pbsn_options(verb, options.pbsn);
    verb.add_option("--window", options.window,
                    "Batch size: values that are sorted together (default: depends on eps and engine, from 2^12 to "
                    "2^24)")
        ->transform(input::count_up_to(std::uint64_t{1} << 24U))
        ->type_name("N")
        ->group(performance_group);
    verb.add_option("--threads", options.threads, "CPU threads that sort (default: all)")
        ->check(input::thread_count())
        ->type_name("N");
    verb.add_flag("--profile", options.profile,
                  "A table of times on standard error; for pbsn also the cost of blending");
    add_devices_option(verb, options.device);
}

void add_sliding_options(CLI::App& verb, SlidingChoice& sliding) {
    auto* last = add_every_option(verb, "--sliding", &sliding.window, sliding.seconds,
                                  "Answer for the last N values only, or for those of the last 5min, 10s or 1h, on one "
                                  "CPU thread (and of up to a 32nd more)",
                                  std::uint64_t{1} << 40U);
    verb.add_option(
            "--width", sliding.width,
            "With --sliding: answer for the last W of the N values, with an error of E * W. Needs more memory than "
            "--sliding W; a program can ask the saved summary for any W up to N")
        ->transform(input::count_up_to(std::uint64_t{1} << 40U))
        ->type_name("W");
    add_sliding_form_options(verb, sliding.form, last);
}

void add_sliding_form_options(CLI::App& verb, SlidingOptions& form, CLI::Option* sliding) {
    const std::array options{
        verb.add_flag(
            "--no-exact-window", [&form](std::int64_t) { form.paper.raw = RawValues::Never; },
            "Always use the summary, even if all values of the window need less memory"),
        verb.add_flag(
            "--sorted-levels", [&form](std::int64_t) { form.paper.blocks = SlidingBlocks::Sorted; },
            "As in the paper: each level of the summary sorts all values itself (default: one chain of "
            "merges)"),
        verb.add_option("--sorter-min", form.paper.sorter_min,
                        "As in the paper: leave sets of fewer than N values to the CPU (default: 0; with "
                        "--sorted-levels 2^12)")
            ->transform(input::count_up_to(std::uint64_t{1} << 28U))
            ->type_name("N")};
    for (auto* option : options) {
        if (sliding) option->needs(sliding);
    }
}

void SlidingChoice::check(double eps, const StreamOptions& stream) const {
    if (!stream.time.empty() && seconds == 0)
        throw CLI::ValidationError("--time", "goes with --sliding and a time, such as --sliding 5min");
    if (seconds > 0) {
        for (const auto* option :
             {"--width", "--no-exact-window", "--sorted-levels", "--sorter-min", "--by", "--weight"}) {
            if (stream.verb->count(option) > 0)
                throw CLI::ValidationError(option,
                                           "does not go with --sliding and a time, only with a number of values");
        }
    }
    if (width > 0 && !on()) throw CLI::ValidationError("--width", "goes with --sliding");
    if (width > window)
        throw CLI::ValidationError("--width", fmt::format("must be at most the {} values of --sliding", window));
    if (on() && eps < 1e-6) throw CLI::ValidationError("--eps", "must be at least 1e-6 with --sliding");
    if (on() && stream.window > 0)
        throw CLI::ValidationError("--window", "does not go with --sliding, which sorts in blocks of its own");
    if (on() && asked() < window && form.paper.blocks == SlidingBlocks::Sorted)
        throw CLI::ValidationError("--sorted-levels", "does not go with --width, which takes blocks of one chain");
}

SlidingOptions SlidingChoice::options(double eps) const {
    auto options = form;
    options.eps = eps;
    options.window = window;
    options.widths = asked() < window ? Widths::Variable : Widths::Fixed;
    return options;
}

void refuse_inputs_or_partial(const std::string& option, const std::string& output,
                              const std::vector<std::string>& inputs) {
    input::refuse_inputs(option, output, inputs);
    input::refuse_inputs(option, output + partial_suffix, inputs);
}

void commit_part(files::OutputFile& file, const std::string& path) {
    if (!file.would_replace()) return file.commit();
    file.commit(partial_suffix);
    fmt::print(stderr, "quadmill: '{}' is as it was, for only a part of the stream was read: that is in '{}{}'\n", path,
               path, partial_suffix);
}

SaveFile::SaveFile(const std::string& path, Format format) : path_(path) {
    if (path.empty()) return;
    if (takes_standard_output() && format == Format::JsonLine)
        throw CLI::ValidationError("--save", "- is standard output, where --json writes; name a file");
    refuse_terminal("--save", file_.emplace(path));
}

Progress::Progress() : line_(isatty(STDERR_FILENO) == 1 ? Line::Hidden : Line::Impossible) {}

void Progress::show(std::uint64_t values) {
    show_line(fmt::format("{} values, {:.0f} a second", values, static_cast<double>(values) / time_.ms() * 1e3));
}

void Progress::show_line(const std::string& line) {
    constexpr double min_ms = 200;
    const double now = time_.ms();
    if (line_ == Line::Impossible || now - shown_ms_ < min_ms) return;
    fmt::print(stderr, "\r\x1b[K{}", line);
    shown_ms_ = now;
    line_ = Line::Shown;
}

void Progress::hide() {
    if (line_ != Line::Shown) return;
    fmt::print(stderr, "\r\x1b[K");
    line_ = Line::Hidden;
}

StreamRun::StreamRun(const StreamOptions& options, std::size_t record_bytes)
    : options_(options),
      shares_(ranks_.shares_of(options.inputs, options.reading.form == input::Form::Text ? 0 : record_bytes)),
      every_((options.every.values + ranks_.size() - 1) / ranks_.size()),
      save_(ranks_.is_first() ? options.save : "", options.format) {
    input_.emplace(shares_.front());
    output_.must_be_open();
    input::refuse_inputs("FILE", "-", options.inputs);
    if (!options.save.empty()) refuse_inputs_or_partial("--save", options.save, options.inputs);
    if (save_.takes_standard_output() && (options.every.values > 0 || options.every.seconds > 0))
        throw CLI::ValidationError("--save", "- is standard output, which has the answers of --every; name a file");
    if (options.reading.form != input::Form::Text) {
        for (const auto* option : {"--header", "--skip-bad"}) {
            if (options.verb->count(option) > 0) throw CLI::ValidationError(option, "goes with --text or --column");
        }
    }
    if (!options.column.which.empty() && ranks_.are_several())
        throw CLI::ValidationError("--column", "does not go with mpirun: the shares of a file have no header");
    for (const auto& [option, is_given] :
         {std::pair{"--every", options.every.seconds > 0}, std::pair{"--save-every", options.save_every.seconds > 0},
          std::pair{"--resume", !options.resume.empty()}}) {
        if (is_given && ranks_.are_several())
            throw CLI::ValidationError(option, "does not go with mpirun, unless --every is a number of values");
    }
    if (options.save_every.seconds > 0 && save_.takes_standard_output())
        throw CLI::ValidationError("--save-every", "goes with --save FILE");
    check_pbsn_options(*options.verb, options.engine);
    if (options.device.several() && options.engine == Engine::Cpu)
        throw CLI::ValidationError("--device", "several devices do not go with --engine cpu, which needs none");
    if (options.device.several() && ranks_.are_several())
        throw CLI::ValidationError("--device", "does not go with mpirun: each rank takes its own device");
}

input::Reading StreamRun::reading() const {
    auto reading = options_.reading;
    if (!options_.column.which.empty() && options_.verb->count("--header") == 0) reading.lines.header = 1;
    if (shares_[share_].begin > 0) {
        reading.lines.header = 0;
        if (reading.form == input::Form::Unsaid) reading.form = input::Form::Raw;  // the first share was checked
    }
    return reading;
}

bool StreamRun::next_share() {
    if (share_ + 1 == shares_.size() || input_->interrupted()) return false;
    input_.emplace(shares_[++share_]);
    return true;
}

// Opening a context takes as long as the CPU needs for many million values. A pipe may be endless.
bool StreamRun::worth_a_context() const {
    constexpr std::uint64_t bytes_of_a_line = 8;
    constexpr std::size_t usual_window = 1024;
    const auto size = input_->file().size().value_or(std::uint64_t{1} << 50U);
    const auto raw_bytes = cpu::visit_key_type(options_.type(), []<class T>(const T*) { return sizeof(T); });
    const auto values = size / (options_.reading.form == input::Form::Text ? bytes_of_a_line : raw_bytes);
    const sort::SortWork work{.n = values, .window = usual_window, .batch = true, .type = options_.type()};
    if (!sort::gpu_may_win_with_startup(work, ranks_.threads(options_.threads))) return false;
    const auto tuned = tuned_before_context(ranks_.device(options_.device.one()), options_.threads);
    return !tuned || sort::choose(tuned->sort, work) != Engine::Cpu;
}

std::unique_ptr<WindowSorter> StreamRun::sorter_on_several() {
    group_ = options_.device.group();
    const auto engine = options_.engine == Engine::Auto ? Engine::Merge : options_.engine;
    auto sorter =
        window_sorter(*group_, {.engine = engine, .threads = options_.threads, .paper = {.pbsn = options_.pbsn}});
    engine_ = sorter->name();
    time_ = {};
    return sorter;
}

std::unique_ptr<WindowSorter> StreamRun::sorter() {
    if (options_.device.several()) return sorter_on_several();
    auto engine = options_.engine;
    if (engine == Engine::Auto && !worth_a_context()) engine = Engine::Cpu;
    std::unique_ptr<WindowSorter> sorter;
    if (engine != Engine::Cpu) {
        try {
            context_ = Context::headless({.device = ranks_.device(options_.device.one())});
            SortOptions how{
                .engine = engine, .threads = ranks_.threads(options_.threads), .paper = {.pbsn = options_.pbsn}};
            if (engine == Engine::Auto) {
                if (const auto tuned = tuned_for(context_->info(), options_.threads)) how.crossings = tuned->sort;
            }
            sorter = window_sorter(*context_, how);
            // One session for the whole stream: closing one after each batch would wait until the GPU is idle.
            session_.emplace(*context_);
            if (options_.profile && engine == Engine::Pbsn) profiler_.emplace(*context_);
        } catch (const ContextError&) {
            if (engine != Engine::Auto) throw;
        }
    }
    if (!sorter) sorter = cpu_window_sorter(ranks_.threads(options_.threads));
    engine_ = sorter->name();
    time_ = {};
    return sorter;
}

std::optional<files::Bytes> StreamRun::resumed() const {
    if (options_.resume.empty() || access(options_.resume.c_str(), F_OK) != 0) return {};
    return files::read_file(options_.resume);
}

void StreamRun::take_parts(const AnySummary& summary, std::size_t records,
                           const std::function<Taken(std::size_t, std::size_t)>& add) {
    for (std::size_t first = 0; first < records;) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(records - first, until_answer()));
        const auto [taken, fault] = add(first, part);
        count(taken);
        if (!fault.empty()) throw input::BadInput(fault);
        if (answer_is_due()) static_cast<void>(answer(summary, Mine::GoesOn));
        first += part;
    }
    save_if_due(summary);
}

void StreamRun::save_if_due(const AnySummary& summary) {
    const double now = time_.ms();
    if (options_.save_every.seconds == 0 || count_ == saved_count_ ||
        now - saved_ms_ < options_.save_every.seconds * 1e3)
        return;
    save_.save_now(summary);
    saved_ms_ = now;
    saved_count_ = count_;
}

int StreamRun::work_in_silence(const AnySummary& summary) {
    if (answers_by_arrival() && answer_is_due()) static_cast<void>(answer(summary, Mine::GoesOn));
    save_if_due(summary);
    auto next = std::numeric_limits<double>::infinity();
    if (answers_by_arrival()) next = answered_ms_ + options_.every.seconds * 1e3;
    if (options_.save_every.seconds > 0 && count_ != saved_count_)
        next = std::min(next, saved_ms_ + options_.save_every.seconds * 1e3);
    constexpr double longest = 1e9;  // of a wait, so that it is an int
    if (std::isinf(next)) return -1;
    return static_cast<int>(std::clamp(std::ceil(next - time_.ms()), 0.0, longest));
}

void StreamRun::run_all(const AnySummary& summary, const std::function<void()>& read) {
    if (!summary.of_all && ranks_.are_several())
        throw CLI::ValidationError("--sliding", "is about the last values of one stream, not of several ranks'");
    std::exception_ptr failure;  // of an output, which must not be taken for one of the input
    const auto in_silence = [&] {
        try {
            return work_in_silence(summary);
        } catch (...) {
            failure = std::current_exception();
            input_->stop();
            return 0;
        }
    };
    try {
        do {
            input_->while_waiting(in_silence);
            read();
        } while (next_share());
    } catch (const input::BadInput& error) {
        if (count_ == 0 && !ranks_.are_several()) throw;
        fault_ = error.what();
    }
    if (failure) std::rethrow_exception(failure);
    input_->release_interrupt();
    if (!ranks_.are_several() && fault_.empty() && !input_->interrupted()) input::refuse_all_bad(skipped_, count_);
    finish(summary);
}

AnySummary StreamRun::answer(const AnySummary& summary, Mine mine) {
    answered_ms_ = time_.ms();
    if (!ranks_.are_several()) {
        print(summary);
        return {};
    }
    for (;;) {
        auto all = summary.of_all(ranks_);
        all_count_ = ranks_.sum(count_);
        all_skipped_ = ranks_.sum(skipped_.lines);
        const bool last = ranks_.sum(mine == Mine::GoesOn ? 1 : 0) == 0;
        if (last) input::refuse_all_bad({.lines = all_skipped_, .first = skipped_.first}, all_count_);
        if (all.ask && answered_at_ != progressed()) print(all);
        if (last || mine == Mine::GoesOn) return all;
    }
}

void StreamRun::finish(const AnySummary& summary) {
    std::exception_ptr failure;
    const auto attempt = [&](const auto& work) {
        try {
            work();
        } catch (...) {
            if (!failure) failure = std::current_exception();
        }
    };
    AnySummary all;
    attempt([&] {
        if (ranks_.are_several() || answered_at_ != progressed()) all = answer(summary, Mine::HasEnded);
    });
    progress_.hide();
    if (failure && ranks_.are_several()) std::rethrow_exception(failure);  // ends the job
    const bool whole = ranks_.sum(fault_.empty() && !input_->interrupted() ? 0 : 1) == 0;
    if (ranks_.is_first()) {
        const auto& saved = all.ask ? all : summary;
        attempt([&] {
            const auto partial = options_.save_every.seconds > 0 ? Partial::Replaces : options_.partial;
            whole ? save_.save(saved) : save_.save_part(saved, partial);
        });
    }
    if (failure) std::rethrow_exception(failure);
    if (options_.profile && ranks_.is_first()) print_profile(summary.times());
    end();
}

void StreamRun::answer_before(const AnySummary& summary, double time) {
    if (options_.every.seconds == 0) return;
    const auto interval = std::floor(time / options_.every.seconds);
    if (interval_ && interval > *interval_) static_cast<void>(answer(summary, Mine::GoesOn));
    interval_ = std::max(interval_.value_or(interval), interval);
}

bool StreamRun::answer_is_due() {
    if (answers_by_arrival()) return time_.ms() - answered_ms_ >= options_.every.seconds * 1e3;
    return every_ > 0 && count_ % every_ == 0;
}

std::uint64_t StreamRun::until_answer() {
    const bool last = every_ == 0 || input_->interrupted();
    return last ? std::numeric_limits<std::uint64_t>::max() : every_ - count_ % every_;
}

void StreamRun::count(std::size_t values) {
    count_ += values;
    progress_.show(count_);
}

void StreamRun::print(Answer answer, std::uint64_t nans, std::size_t bytes) {
    progress_.hide();
    if (save_.takes_standard_output()) return;
    Json tail{{"bytes", bytes},
              {"engine", engine_},
              {"values_per_s", std::llround(static_cast<double>(progressed().first) / time_.ms() * 1e3)},
              {"nans", nans}};
    tail.update(answer.tail);
    if (options_.reading.lines.bad == input::LineOptions::Bad::Skip) tail["skipped"] = progressed().second;
    if (skipped_.empty > 0) tail["empty"] = skipped_.empty;
    if (group_) {
        const auto shares = group_->shares();
        tail["devices"] = options_.format == Format::Table ? Json(shares.size()) : Json(shares_json(shares));
    }
    answer.tail = std::move(tail);
    auto text = to_text(answer, options_.format);
    if (answered_at_ && options_.format == Format::Table) text.insert(0, "\n");
    write(std::as_bytes(std::span(text)));
    answered_at_ = progressed();
}

// So that a signal is noticed even while nobody reads the output.
void StreamRun::write(std::span<const std::byte> text) {
    while (!text.empty()) {
        input_->interrupt().wait_for_room(STDOUT_FILENO);
        const auto part = text.first(std::min<std::size_t>(text.size(), PIPE_BUF));
        output_.write(part);
        text = text.subspan(part.size());
    }
}

std::string StreamRun::share_words() const {
    return ranks_.are_several() ? fmt::format(" of the share of rank {}", ranks_.rank()) : "";
}

void StreamRun::end() {
    input::note_skipped("quadmill", skipped_);
    if (group_) warn_of_failures(group_->shares());
    if (!fault_.empty() && !ranks_.are_several())
        fmt::print(stderr, "quadmill: {}; the answer is about the values before\n", fault_);
    if (!fault_.empty() && ranks_.are_several())
        fmt::print(stderr,
                   "quadmill: {}; of the share of rank {} the answer is about the {} values before, in all about {}\n",
                   fault_, ranks_.rank(), count_, all_count_);
    int status = fault_.empty() ? 0 : input::BadInput::status;
    if (input_->interrupted()) status = input_->interrupt().status();
    status = ranks_.worst(status);
    if (status != 0) throw CLI::RuntimeError(status);
}

void StreamRun::print_profile(const StreamTimes& times) {
    const double total = time_.ms();
    fmt::print(stderr, "{:<10} {:>12} {:>8}\n", "part", "ms", "% of all");
    const std::array rows{std::pair{"upload", times.upload},
                          std::pair{"sort", times.sort},
                          std::pair{"read back", times.readback},
                          std::pair{"sample", times.sample},
                          std::pair{"merge", times.merge},
                          std::pair{"compress", times.compress},
                          std::pair{"all", total}};
    for (const auto& [name, ms] : rows) fmt::print(stderr, "{:<10} {:>12.3f} {:>8.1f}\n", name, ms, 100 * ms / total);
    if (!profiler_) return;
    const auto passes = profiler_->rows();
    profiler_.reset();  // the clock rate is measured with passes, too
    print_blending(*context_, passes, {.keys = count_});
}

}  // namespace quadmill::detail::cli
