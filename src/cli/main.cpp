// quadmill <verb> [options] [FILE|-]. The help describes the exit statuses.
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
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

// The message for an unknown option before the verb.
std::string unknown_option(const CLI::App& app, const std::string& word) {
    const auto options = app.get_options([](const CLI::Option* option) { return !option->get_lnames().empty(); });
    const auto name = [](const CLI::Option* option) { return "--" + option->get_lnames().front(); };
    const auto closest = *std::ranges::min_element(
        options, {}, [&](const CLI::Option* option) { return letters_between(word, name(option)); });
    const bool close = letters_between(word, name(closest)) <= 2;
    return fmt::format("unknown option {}{}", input::in_quotes(word),
                       close ? "; did you mean '" + name(closest) + "'?"
                             : "; options of a verb go after it, as in `quadmill sort --text`");
}

// Options of other sort programs, and their equivalents here.
std::optional<std::string> hint_for(const CLI::App& verb) {
    if (verb.get_name() != "sort" || verb.remaining().empty()) return {};
    const auto word = verb.remaining().front();
    const auto say = [&](const char* hint) { return fmt::format("unknown option {}; {}", word, hint); };
    if (word == "-r" || word == "--reverse") return say("--order desc puts the largest first");
    if (word == "-n" || word == "-g" || word == "--numeric-sort")
        return say("this verb sorts numbers only; --text reads one per line");
    if (word.starts_with("-k") || word.starts_with("--key") || word.starts_with("-t"))
        return say("`quadmill terasort --key` sorts records by fields, and --lines sorts lines of text");
    if (word == "-u" || word == "--unique") return say("`quadmill query` has GROUP BY, and `uniq` takes sorted lines");
    return {};
}

// The message for a word that is not a verb; nothing if a verb was given. CLI11 only says that one is missing.
std::optional<std::string> unknown_verb(const CLI::App& app) {
    const auto verbs = app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
    const auto words = app.remaining();
    if (verbs.empty() || words.empty()) return {};
    if (words[0].starts_with('-')) return unknown_option(app, words[0]);
    const auto& word = words[0];
#ifndef QUADMILL_HAS_BENCH
    if (word == "bench") return "this build has no verb 'bench'; build it with `cmake -DQUADMILL_BENCH=ON`";
#endif
    const auto distance = [&](const CLI::App* verb) {
        return verb->get_name().starts_with(word) ? 0 : letters_between(word, verb->get_name());
    };
    const auto closest = *std::ranges::min_element(verbs, {}, distance);
    const bool close = distance(closest) <= (word.size() + 1) / 2;
    if (close) return fmt::format("unknown verb {}; did you mean '{}'?", input::in_quotes(word), closest->get_name());
    std::string names;
    for (const auto* verb : verbs) names += (names.empty() ? "" : ", ") + verb->get_name();
    return fmt::format("unknown verb {}; the verbs are {}", input::in_quotes(word), names);
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
    for (; !verb->get_subcommands().empty(); name += " " + verb->get_name()) verb = verb->get_subcommands().front();
    const auto said =
        value_of_flag(error).value_or(unknown_verb(*verb).value_or(hint_for(*verb).value_or(error.what())));
    let_first_rank_speak();
    fmt::print(stderr, "{}: {}\nTry `{} --help`.\n", name, input::printable(said), name);
}

// "--json=false" would turn some flags on and others off. `--explain` of a query has an optional value.
void refuse_values_of_flags(CLI::App& app) {
    const auto takes_none = [](const CLI::Option* option) {
        return option->get_items_expected_max() == 0 && !option->check_lname("explain");
    };
    for (auto* option : app.get_options(takes_none)) option->disable_flag_override();
    for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) refuse_values_of_flags(*verb);
}

int run(int argc, char** argv) {
    CLI::App app{"Sort, summarize and query data with the OpenGL graphics pipeline: textures, quads and blending.",
                 "quadmill"};
    app.set_version_flag("-V,--version", build_facts(), "Print version, commit and build options, and exit");
    set_help(app);
    app.require_subcommand(1);
    add_info_command(app);
    add_sort_command(app);
    add_quantiles_command(app);
    add_frequent_command(app);
    add_hhh_command(app);
    add_corrsum_command(app);
    add_merge_command(app);
    add_query_command(app);
    add_terasort_command(app);
    add_lu_command(app);
    add_gensort_command(app);
    add_valsort_command(app);
    add_sketch_command(app);
    add_limits_command(app);
    add_tune_command(app);
    add_show_command(app);
#ifdef QUADMILL_HAS_BENCH
    std::string command_line = "quadmill";
    for (int i = 1; i < argc; ++i) command_line += std::string(" ") + argv[i];
    add_bench_command(app, command_line);
#endif
    add_pages_commands(app);
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
    group_options(app);
    try {
        // `help sort` means `sort --help`.
        std::vector<std::string> words(argv + 1, argv + argc);
        if (!words.empty() && words[0] == "help") std::ranges::rotate(words, words.begin() + 1);
        if (!words.empty() && words.back() == "help" && std::string_view(argv[1]) == "help") words.back() = "--help";
        std::ranges::reverse(words);  // CLI11 takes them in reverse order
        app.parse(std::move(words));
    } catch (const CLI::RuntimeError& stop) {
        return stop.get_exit_code();  // everything has been printed
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) {
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
    try {
        quadmill::detail::input::open_standard_files();
        quadmill::detail::files::note_hook = [](const std::string& note) {
            fmt::print(stderr, "quadmill: {}\n", quadmill::detail::input::printable(note));
        };
        const int status = quadmill::detail::cli::run(argc, argv);
        if (quadmill::detail::input::standard_output_is_written()) {
            if (status != 0) quadmill::detail::cli::leave_last_words();
            return status;
        }
        say("cannot write all of standard output");
    } catch (const std::bad_alloc&) {
        say("out of memory; see `ulimit -v` and the memory limit of the container");
    } catch (const std::exception& error) {
        namespace input = quadmill::detail::input;
        say(input::printable(input::without_function(error.what())).c_str());
    }
    quadmill::detail::cli::leave_last_words();
    return quadmill::detail::cli::failed;
}
