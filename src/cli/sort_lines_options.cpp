#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/help.hpp"
#include "cli/sort_lines.hpp"
#include "input/checks.hpp"
#include "input/text.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

// Adds an option letter of a key to the rules of lines. `option` is the option that was given.
void add_letter(LineSort& sort, std::string_view option, char letter) try {
    const std::string_view letters(&letter, 1);
    input::add_rules(sort.rules, letters);
    input::add_rules(sort.rules, letters, input::KeyEnd::End);
} catch (const InvalidArgument&) {
    throw CLI::ValidationError(std::string(option),
                               "is a second comparison; take one of -n, -g, -M and --human-numeric-sort");
}

// Sets the comparison by its word in `--sort=WORD`, of which the first letters are enough.
std::string set_order(LineSort& sort, const std::string& given) {
    constexpr std::array<std::pair<std::string_view, char>, 4> orders{
        {{"general-numeric", 'g'}, {"human-numeric", 'h'}, {"month", 'M'}, {"numeric", 'n'}}};
    const auto is_given = [&](std::string_view word) { return !given.empty() && word.starts_with(given); };
    for (const auto& [word, letter] : orders) {
        if (is_given(word)) add_letter(sort, "--sort", letter);
        if (is_given(word)) return {};
    }
    const auto hint = is_given("version")  ? input::for_versions
                      : is_given("random") ? input::for_random_order
                                           : "the words are numeric, general-numeric, human-numeric and month";
    return fmt::format("{} is not an order; {}", input::in_quotes(given), hint);
}

// Adds a flag that is an option letter of a key.
void add_rule(CLI::App& verb, LineSort& sort, const char* names, char letter, const char* words) {
    verb.add_flag(
            names,
            [&sort, letter, option = std::string_view(names).substr(std::string_view(names).find("--"))](std::int64_t) {
                add_letter(sort, option, letter);
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
            "Name one of these comparisons: numeric, general-numeric, human-numeric or month")
        ->type_name("WORD")
        ->group(lines_group);
    add_rule(verb, sort, "-r,--reverse", 'r', "Reverse the order; equal lines keep the order of the input");
    add_rule(verb, sort, "-b,--ignore-leading-blanks", 'b', "Ignore blanks before a key");
    add_rule(verb, sort, "-d,--dictionary-order", 'd', "Compare only blanks, letters and digits");
    add_rule(verb, sort, "-f,--ignore-case", 'f', "Ignore case");
    add_rule(verb, sort, "-i,--ignore-nonprinting", 'i', "Compare only printable characters");
    flag("-u,--unique", sort.unique, "Write only the first of lines with equal keys");
    verb.add_flag(
            "-s,--stable", [](std::int64_t) {}, "Has no effect: equal lines always keep the order of the input")
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

}  // namespace quadmill::detail::cli
