// quadmill <verb> [options] [FILE|-]. The help describes the exit statuses.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/build_facts.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/ranks.hpp"
#include "files/files.hpp"
#include "input/line_keys.hpp"
#include "input/printable.hpp"
#include "input/standard_files.hpp"
#include "input/text.hpp"
#include "quadmill/context.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

constexpr int failed = 1, wrong_call = 2;

// The number of letters that must be inserted, deleted or changed.
std::size_t letters_between(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto before = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const auto changed = before + (a[i] == b[j] ? 0 : 1);
            before = row[j + 1];
            row[j + 1] = std::min({changed, before + 1, row[j] + 1});
        }
    }
    return row.back();
}

bool has_verbs(const CLI::App& app) {
    return !app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); }).empty();
}

// The message for an unknown option of a verb, or before the verb.
std::string unknown_option(const CLI::App& app, const std::string& given) {
    const auto word = given.substr(0, given.find('='));
    const auto options = app.get_options([](const CLI::Option* option) { return !option->get_lnames().empty(); });
    const auto name = [](const CLI::Option* option) { return "--" + option->get_lnames().front(); };
    const auto distance = [&](const CLI::Option* option) {
        const bool longer = word.size() > 4 && (word.starts_with(name(option)) || name(option).starts_with(word));
        return longer ? 0 : letters_between(word, name(option));
    };
    const auto closest = *std::ranges::min_element(options, {}, distance);
    const bool close = word.size() > 3 ? distance(closest) <= 2 : "-" + word == name(closest);
    return fmt::format("unknown option {}{}", input::in_quotes(given),
                       close            ? "; did you mean '" + name(closest) + "'?"
                       : has_verbs(app) ? "; options of a verb go after it, as in `quadmill sort --text`"
                                        : "");
}

// An option of another program, and what to type instead.
struct Hint {
    std::string_view verb, option, instead;
};
constexpr std::string_view output_is_second = "the output is the second file, as in `quadmill terasort IN OUT`";
constexpr std::array hints{
    Hint{"terasort", "-o", output_is_second},
    Hint{"terasort", "--output", output_is_second},
    Hint{"sort", "-R", input::for_random_order},
    Hint{"sort", "--random-sort", input::for_random_order},
    Hint{"sort", "--random-source", input::for_random_order},
    Hint{"sort", "-V", input::for_versions},
    Hint{"sort", "--version-sort", input::for_versions},
    Hint{"sort", "--version", "`quadmill --version` prints the version"},
    Hint{"sort", "--debug", "`cut` with the same fields shows what a key compares"},
    Hint{"sort", "--batch-size", "--memory SIZE sets how many temporary files are merged at the same time"},
    Hint{"sort", "--compress-program", "temporary files are not compressed; --temp DIR names a folder with more room"},
    Hint{"sort", "--json", "--stats prints a line of JSON on standard error"}};

std::optional<std::string> hint_for(const CLI::App& app, const std::string& word) {
    const auto* parent = app.get_parent();
    const auto verb = parent != nullptr && parent->get_parent() == nullptr ? app.get_name() : "";  // not `bench sort`
    const auto option = word.substr(0, word.find('='));
    const auto found =
        std::ranges::find_if(hints, [&](const Hint& hint) { return hint.verb == verb && hint.option == option; });
    if (found == hints.end()) return {};
    return fmt::format("unknown option {}; {}", input::in_quotes(option), found->instead);
}

std::string names_of_verbs(const CLI::App& app) {
    std::string names;
    for (const auto* verb : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
        names += (names.empty() ? "" : ", ") + verb->get_name();
    return names;
}

// The message for a word that is not a verb.
std::string unknown_verb(const CLI::App& app, const std::string& word) {
#ifndef QUADMILL_HAS_BENCH
    if (word == "bench") return "this build has no verb 'bench'; build it with `cmake -DQUADMILL_BENCH=ON`";
#endif
    const auto verbs = app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
    const auto distance = [&](const CLI::App* verb) {
        return verb->get_name().starts_with(word) ? 0 : letters_between(word, verb->get_name());
    };
    for (const auto* verb : verbs)
        if (!verb->get_subcommands([&](const CLI::App* below) { return below->get_name() == word; }).empty())
            return fmt::format("unknown verb {}; did you mean '{} {}'?", input::in_quotes(word), verb->get_name(),
                               word);
    const auto closest = *std::ranges::min_element(verbs, {}, distance);
    const bool close = distance(closest) <= (word.size() + 1) / 2;
    return close ? fmt::format("unknown verb {}; did you mean '{}'?", input::in_quotes(word), closest->get_name())
                 : fmt::format("unknown verb {}; the verbs are {}", input::in_quotes(word), names_of_verbs(app));
}

// The message for words that the program or the verb does not know. CLI11 may miss something else first.
std::optional<std::string> unknown_words(const CLI::App& app) {
    const auto words = app.remaining();
    if (words.empty()) return {};
    if (has_verbs(app) && !words[0].starts_with('-')) return unknown_verb(app, words[0]);
    const auto is_option = [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); };
    if (const auto option = std::ranges::find_if(words, is_option); option != words.end())
        return hint_for(app, *option).value_or(unknown_option(app, *option));
    std::string list;
    for (const auto& word : words) list += (list.empty() ? "" : ", ") + input::in_quotes(word);
    return fmt::format("unexpected argument{} {}", words.size() == 1 ? "" : "s", list);
}

// The message for an option at the end of the call whose value is missing.
std::optional<std::string> missing_value(const CLI::App& app, const CLI::ParseError& error) {
    const std::string words = error.what();
    const auto name = words.substr(0, words.find(':'));
    const auto* option = words.ends_with(" missing") ? app.get_option_no_throw(name) : nullptr;
    if (option == nullptr) return {};
    return fmt::format("{} needs a value: {}", name, shown_type(*option));
}

// The message for a value of an option that takes none; CLI11 calls that a flag override.
std::optional<std::string> value_of_flag(const CLI::ParseError& error) {
    const std::string_view words = error.what(), end = " was given a disallowed flag override";
    if (!words.ends_with(end)) return {};
    return fmt::format("--{} takes no value", words.substr(0, words.size() - end.size()));
}

// Prints what was wrong with the call.
void explain(const CLI::App& app, const CLI::ParseError& error) {
    std::string name = "quadmill";
    const CLI::App* verb = &app;
    auto unknown = unknown_words(app);
    while (!verb->get_subcommands().empty()) {
        verb = verb->get_subcommands().front();
        name += " " + verb->get_name();
        if (!unknown) unknown = unknown_words(*verb);
    }
    if (!unknown) unknown = value_of_flag(error);
    if (!unknown) unknown = missing_value(*verb, error);
    const auto said = unknown            ? *unknown
                      : has_verbs(*verb) ? "a verb is missing: " + names_of_verbs(*verb)
                                         : error.what();
    let_first_rank_speak();
    fmt::print(stderr, "{}: {}\nTry `{} --help`.\n", name, input::printable(said), name);
}

// Whether help is requested for a verb that does not exist.
bool verb_is_unknown(const CLI::App& app) {
    const CLI::App* verb = &app;
    while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().front();
    const auto words = verb->remaining();
    return has_verbs(*verb) && !words.empty() && !words[0].starts_with('-');
}

// CLI11 takes any word as the value of an option: "--with-index --type" would write a file "--type".
void refuse_options_as_values(CLI::App& app) {
    for (auto* option : app.get_options([](const CLI::Option* each) { return each->get_items_expected_max() > 0; }))
        option->check(CLI::Validator(
            [&app](const std::string& value) {
                const bool is_option = value.starts_with('-') && app.get_option_no_throw(value) != nullptr;
                return is_option ? fmt::format("the value is missing before {}", value) : "";
            },
            ""));
    for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) refuse_options_as_values(*verb);
}

// "--json=false" would turn some flags on and others off. `query --explain` and `sort --check` have an optional value.
void refuse_values_of_flags(CLI::App& app) {
    const auto takes_none = [](const CLI::Option* option) {
        return option->get_items_expected_max() == 0 && !option->check_lname("explain") &&
               !option->check_lname("check");
    };
    for (auto* option : app.get_options(takes_none)) option->disable_flag_override();
    for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) refuse_values_of_flags(*verb);
}

// Adds the verb that is called, or all verbs: for help about them, and if there is no such verb. (A verb's options take
// about half a millisecond.)
void add_verbs(CLI::App& app, int argc, char** argv) {
    using Add = std::function<void(CLI::App&)>;
    std::vector<std::pair<std::string_view, Add>> verbs{{"info", add_info_command},
                                                        {"sort", add_sort_command},
                                                        {"quantiles", add_quantiles_command},
                                                        {"frequent", add_frequent_command},
                                                        {"hhh", add_hhh_command},
                                                        {"corrsum", add_corrsum_command},
                                                        {"merge", add_merge_command},
                                                        {"query", add_query_command},
                                                        {"terasort", add_terasort_command},
                                                        {"lu", add_lu_command},
                                                        {"gensort", add_gensort_command},
                                                        {"valsort", add_valsort_command},
                                                        {"sketch", add_sketch_command},
                                                        {"limits", add_limits_command},
                                                        {"tune", add_tune_command},
                                                        {"show", add_show_command}};
#ifdef QUADMILL_HAS_BENCH
    std::string command_line = "quadmill";
    for (int i = 1; i < argc; ++i) command_line += std::string(" ") + argv[i];
    verbs.emplace_back("bench", [&](CLI::App& to) { add_bench_command(to, command_line); });
#endif
    const std::string_view called = argc > 1 ? argv[1] : "";
    const auto found = std::ranges::find(verbs, called, &std::pair<std::string_view, Add>::first);
    if (found != verbs.end()) return found->second(app);
    for (const auto& [name, add] : verbs) add(app);
    add_pages_commands(app);
}

int run(int argc, char** argv) {
    CLI::App app{"Sort, summarize and query data with the OpenGL graphics pipeline: textures, quads and blending.",
                 "quadmill"};
    app.set_version_flag("-V,--version", build_facts(), "Print version, commit and build options, and exit");
    set_help(app);
    app.require_subcommand(1);
    add_verbs(app, argc, argv);
    // After the verbs, which would inherit it.
    app.footer(
        "Examples:\n"
        "  quadmill info                                  show the OpenGL driver\n"
        "  quadmill sort data.f32 -o sorted.f32           sort a file of 32-bit floats\n"
        "  seq 9 -1 1 | quadmill sort --text              sort numbers, one per line\n"
        "  seq 1000000 | quadmill quantiles --text        percentiles of a pipe\n"
        "  quadmill query \"SELECT MEDIAN(a) FROM x.csv\"   SQL on CSV files\n"
        "\n"
        "`quadmill VERB -h` lists the common options of a verb, `quadmill VERB --help` all options. `quadmill man` "
        "prints the manual page, and `quadmill completion bash` the completion of the shell (or zsh, fish).\n"
        "\n"
        "Exit status:\n" +
        std::string(exit_statuses));
    refuse_ranks(app);
    refuse_values_of_flags(app);
    refuse_options_as_values(app);
    group_options(app);
    try {
        // `help sort` means `sort --help`.
        std::vector<std::string> words(argv + 1, argv + argc);
        if (!words.empty() && words[0] == "help") std::rotate(words.begin(), words.begin() + 1, words.end());
        if (!words.empty() && words.back() == "help" && std::string_view(argv[1]) == "help") words.back() = "--help";
        std::ranges::reverse(words);  // CLI11 takes them in reverse order
        app.parse(std::move(words));
    } catch (const CLI::RuntimeError& stop) {
        return stop.get_exit_code();  // everything has been printed
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0 && !verb_is_unknown(app)) {
            app.exit(error);  // for --help and --version
            return 0;
        }
        explain(app, error);
        return wrong_call;
    }
    return 0;
}

}  // namespace
}  // namespace quadmill::detail::cli

int main(int argc, char** argv) {
    const auto say = [](const char* words) {
        quadmill::detail::cli::let_first_rank_speak();
        static_cast<void>(std::fprintf(stderr, "quadmill: %s\n", words));
    };
    constexpr auto lost_output = "cannot write all of standard output";
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is then an error like a full disk
    try {
        quadmill::detail::input::open_standard_files();
        quadmill::detail::cli::start_with_mpi(argv);
        quadmill::detail::files::note_hook = [](const std::string& note) {
            fmt::print(stderr, "quadmill: {}\n", quadmill::detail::input::printable(note));
        };
        const int status = quadmill::detail::cli::run(argc, argv);
        if (quadmill::detail::input::standard_output_is_written()) {
            if (status != 0) quadmill::detail::cli::leave_last_words();
            return status;
        }
        say(lost_output);
    } catch (const std::bad_alloc&) {
        say("out of memory; see `ulimit -v` and the memory limit of the container");
    } catch (const std::exception& error) {
        namespace input = quadmill::detail::input;
        say(std::ferror(stdout) ? lost_output : input::printable(input::without_function(error.what())).c_str());
    }
    quadmill::detail::cli::leave_last_words();
    return quadmill::detail::cli::failed;
}
