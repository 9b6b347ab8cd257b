#include "cli/stream_options.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "cli/help.hpp"
#include "cli/pbsn_options.hpp"
#include "input/checks.hpp"
#include "input/csv_cells.hpp"

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

void SupportChoice::check_resumed(const StreamOptions& options, double eps) const {
    check_resumed_eps(options, given_eps.value_or(eps), eps);
    if (options.verb->count("--support") > 0 && support < eps)
        throw CLI::ValidationError(
            "--support",
            fmt::format("must be at least {}, the eps of the summary in '{}', not {}", eps, options.resume, support));
}

CLI::Option* add_support_option(CLI::App& verb, double& support) {
    return verb
        .add_option("--support", support,
                    "Report what makes up at least this fraction of the input, such as 0.01 or 1%, from 1e-8 to 1")
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
    options.reading.csv_option = "--column";
    auto* column = verb.add_option_function<std::string>(
                           "--column", take,
                           "Read this column of CSV: its name in the first line, in upper or lower case, or its "
                           "number from 1. The rules are those of `quadmill query`: each row has as many fields as "
                           "the first line. An empty field is not a value. --header N: line N has the names")
                       ->check(input::file_name())
                       ->excludes("--raw")
                       ->type_name("NAME|N");
    verb.add_option_function<std::string>(
            "--delimiter",
            [&options](const std::string& word) { options.column.delimiter = word == "auto" ? '\0' : word[0]; },
            "With --column: the character between fields; \\t or tab is a tab; auto: of , ; tab and | the one that is "
            "most frequent in the line of names")
        ->transform(input::field_delimiter())
        ->needs(column)
        ->type_name("C")
        ->default_str("auto");
    for (const auto* option : {"--header", "--skip-bad"})
        verb.get_option(option)->remove_needs(verb.get_option("--text"));
    verb.add_flag("--no-header", options.no_header,
                  "With --column: the first line is a row; columns are called by their number")
        ->needs(column)
        ->excludes("--header");
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
    constexpr auto fault = "is neither a time in seconds nor a date like 2026-11-27T09:30:00Z";
    constexpr std::string_view form = "dddd-dd-ddTdd:dd:dd";
    constexpr double max_seconds = 1e15;  // 30 million years
    text = input::without_blanks(text);
    if (input::parse_number(text, seconds) == nullptr) return std::abs(seconds) <= max_seconds ? nullptr : fault;
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
    const bool fits = input::parse_number(input::without_blanks(text), weight) == nullptr && weight <= max_values;
    return fits ? nullptr : "is not a weight, which is a whole number up to 2^60";
}

bool StreamOptions::resumes() const {
    return !resume.empty() && access(resume.c_str(), F_OK) == 0;
}

void refuse_resumed(const StreamOptions& options, const std::string& option, const std::string& has) {
    throw CLI::ValidationError(option,
                               fmt::format("the summary in '{}' {} and goes on as it is; leave out {}, or start "
                                           "a new summary in another file",
                                           options.resume, has, option));
}

void check_resumed_eps(const StreamOptions& options, double given, double eps) {
    if (options.verb->count("--eps") > 0 && given != eps)
        refuse_resumed(options, "--eps", fmt::format("has eps {}", eps));
}

void add_resume_options(CLI::App& verb, StreamOptions& options) {
    verb.add_option("--resume", options.resume,
                    "Continue the summary in FILE, if the file exists. It goes on as it was made: options that ask "
                    "for something else, such as another --eps, are refused")
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
    refuse_with(stream, "--sorter-min", {"--resume"});  // it is not in a saved summary
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

void SlidingChoice::check_resumed(const StreamOptions& stream, const SlidingOptions& has) const {
    if (window != has.window) refuse_resumed(stream, "--sliding", fmt::format("has a window of {} values", has.window));
    if (asked() < window && has.widths == Widths::Fixed)
        refuse_resumed(stream, "--width", "was made without --width, so it only knows its whole window,");
    if (form.paper.raw != has.paper.raw && form.paper.raw == RawValues::Never)
        refuse_resumed(stream, "--no-exact-window", "may keep the values of its window");
    if (form.paper.blocks != has.paper.blocks && form.paper.blocks == SlidingBlocks::Sorted)
        refuse_resumed(stream, "--sorted-levels", "has one chain of merges");
}

void SlidingChoice::check_resumed(const StreamOptions& stream, double has_seconds) const {
    if (seconds != has_seconds)
        refuse_resumed(stream, "--sliding", fmt::format("has a window of {} seconds", has_seconds));
}

SlidingOptions SlidingChoice::options(double eps) const {
    auto options = form;
    options.eps = eps;
    options.window = window;
    options.widths = asked() < window ? Widths::Variable : Widths::Fixed;
    return options;
}

}  // namespace quadmill::detail::cli
