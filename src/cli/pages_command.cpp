// `quadmill man` and `quadmill completion SHELL` print the help as a manual page and as a shell's completion. Both are
// hidden from the help. The build installs what they print.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "input/words.hpp"
#include "quadmill/version.hpp"

namespace quadmill::detail::cli {

namespace {

enum class Verbs { OfHelp, All };

std::vector<const CLI::App*> verbs_of(const CLI::App& app, Verbs which) {
    return app.get_subcommands([&](const CLI::App* verb) { return which == Verbs::All || !verb->get_group().empty(); });
}

// Calls visit(app, its verbs) for the program, for each of its verbs, and recursively for theirs.
template <class Visit>
void for_each_verb(const CLI::App& app, Verbs which, const Visit& visit, const std::string& verbs = "") {
    visit(app, verbs);
    for (const auto* verb : verbs_of(app, which))
        for_each_verb(*verb, which, visit, verbs + (verbs.empty() ? "" : " ") + verb->get_name());
}

std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const auto& name : option.get_snames()) names.push_back("-" + name);
    for (const auto& name : option.get_lnames()) names.push_back("--" + name);
    return names;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
    std::string all;
    for (const auto& word : words) all += (all.empty() ? "" : between) + word;
    return all;
}

// In roff a backslash and a minus must be escaped, and a period at the beginning of a line would be a request.
std::string roff(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        if ((out.empty() || out.back() == '\n') && (letter == '.' || letter == '\'')) out += "\\&";
        if (letter == '\\') {
            out += "\\e";
        } else if (letter == '-') {
            out += "\\-";
        } else {
            out += letter;
        }
    }
    return out;
}

std::string manual_entry(const CLI::Option& option) {
    const auto names = option.get_positional() ? std::vector{option.get_name(true, false)} : names_of(option);
    auto entry = fmt::format(".TP\n\\fB{}\\fR", roff(joined(names, ", ")));
    if (const auto type = shown_type(option); !type.empty() && !option.get_positional())
        entry += fmt::format(" \\fI{}\\fR", roff(type));
    return entry + fmt::format("\n{}\n", roff(shown_description(option)));
}

// Entries that several verbs share, with a number: they are printed once.
using Shared = std::map<std::string, int>;

Shared entries_of_verbs(const CLI::App& app) {
    Shared entries;
    for_each_verb(app, Verbs::OfHelp, [&](const CLI::App& verb, const std::string& words) {
        if (words.empty()) return;
        for (const auto* option : verb.get_options()) ++entries[manual_entry(*option)];
    });
    std::erase_if(entries, [](const auto& entry) { return entry.second < 2; });
    for (const auto* option : app.get_options()) ++entries[manual_entry(*option)];  // print_man() prints these first
    return entries;
}

void print_options(const CLI::App& app, const Shared& shared) {
    std::string others;
    for (const auto* option : app.get_options()) {
        const auto entry = manual_entry(*option);
        if (!shared.contains(entry)) {
            fmt::print("{}", entry);
        } else {
            const auto name = option->get_positional() ? option->get_name(true, false) : names_of(*option).back();
            others += (others.empty() ? "" : ", ") + name;
        }
    }
    if (!others.empty()) fmt::print(".PP\nAlso: {}.\n", roff(others));
}

void print_text(const std::string& text) {
    if (!text.empty()) fmt::print(".PP\n.nf\n{}.fi\n", roff(wrapped_footer(text)));
}

constexpr const char* environment = R"(.TP
QUADMILL_DEVICE
Number of the EGL device to use; the default of \-\-device. \fBquadmill info\fR lists the devices.
.TP
QUADMILL_API
Use this version of OpenGL and nothing later: gl45, gl41, gl33 or es3 (default: the newest that the driver has).
.TP
QUADMILL_DEBUG_GROUPS
1 names calls, passes and shaders for tools that record OpenGL; 0 turns this off in debug contexts, where it is the
default.
.TP
QUADMILL_DISABLE_WORKAROUNDS
Names of driver workarounds to turn off, separated by blanks; "all" turns off every one.
.TP
QUADMILL_SHADERS
An existing folder to which the source of each compiled shader is written.
.TP
QUADMILL_SGETRF_MIN
For the LAPACK replacement: the GPU factors matrices with at least this number of rows and columns (default: 1024).
.TP
TMPDIR
Folder for temporary files (default: /tmp).
.TP
XDG_CONFIG_HOME, HOME
Folder of quadmill/tune.json, which \fBquadmill tune\fR writes (default: $HOME/.config).
)";

void print_man(const CLI::App& app) {
    fmt::print(".TH QUADMILL 1 \"\" \"quadmill {}\" \"User Commands\"\n", QUADMILL_VERSION);
    fmt::print(".SH NAME\nquadmill \\- {}\n", roff(app.get_description()));
    fmt::print(".SH SYNOPSIS\n\\fBquadmill\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR] [\\fIFILE\\fR]\n.SH OPTIONS\n");
    print_options(app, {});
    const auto shared = entries_of_verbs(app);
    fmt::print(
        ".SH OPTIONS OF SEVERAL VERBS\nEach verb lists its options from this section after the word \"Also\".\n");
    std::set<std::string> said;
    for (const auto* option : app.get_options()) said.insert(manual_entry(*option));
    for (const auto& [entry, count] : shared) {
        if (!said.contains(entry)) fmt::print("{}", entry);
    }
    fmt::print(".SH VERBS\n");
    for_each_verb(app, Verbs::OfHelp, [&](const CLI::App& verb, const std::string& words) {
        if (words.empty()) return;
        fmt::print(".SS quadmill {}\n{}\n", roff(words), roff(verb.get_description()));
        print_options(verb, shared);
        print_text(verb.get_footer());
    });
    const auto footer = app.get_footer();
    fmt::print(".SH EXAMPLES\n");
    print_text(footer.substr(0, footer.find("Exit status:")));
    fmt::print(".SH EXIT STATUS\n");
    print_text(exit_statuses);
    fmt::print(".SH ENVIRONMENT\n{}", environment);
    fmt::print(".SH SEE ALSO\n\\fBsort\\fR(1), \\fBzstd\\fR(1), \\fBgzip\\fR(1)\n");
}

// The words that an option accepts if its type names them: ENUM:asc|desc, or TEXT:{auto,cpu}. A type that begins with a
// colon belongs to a flag with an optional value after =.
std::vector<std::string> values_of(const CLI::Option& option) {
    auto type = option.get_type_name();
    const auto colon = type.find(':');
    if (colon == std::string::npos || colon == 0 || type.find_first_of("|{", colon) == std::string::npos) return {};
    type.erase(0, colon + 1);
    std::erase(type, '{');
    type.erase(std::min(type.size(), type.find_first_of("}=; ")));
    std::replace(type.begin(), type.end(), '|', ',');
    return CLI::detail::split(type, ',');
}

// The words that a verb takes where no option stands, as the shells of `completion`.
std::vector<std::string> words_of(const CLI::App& verb) {
    std::vector<std::string> words;
    for (const auto* option : verb.get_options([](const CLI::Option* each) { return each->get_positional(); })) {
        const auto taken = values_of(*option);
        words.insert(words.end(), taken.begin(), taken.end());
    }
    return words;
}

void print_bash(const CLI::App& app) {
    std::vector<std::string> verbs;
    std::string words, values;
    for_each_verb(app, Verbs::All, [&](const CLI::App& verb, const std::string& name) {
        if (!name.empty()) verbs.push_back('"' + name + '"');
        std::vector<std::string> options, below = words_of(verb);
        for (const auto* option : verb.get_options()) {
            const auto names = names_of(*option);
            options.insert(options.end(), names.begin(), names.end());
            const auto taken = values_of(*option);
            for (const auto& each : names) {
                if (taken.empty()) continue;
                values += fmt::format("        \"{} {}\") values='{}' ;;\n", name, each, joined(taken, " "));
            }
        }
        for (const auto* each : verbs_of(verb, Verbs::All)) below.push_back(each->get_name());
        words +=
            fmt::format("        \"{}\") verbs='{}' options='{}' ;;\n", name, joined(below, " "), joined(options, " "));
    });
    fmt::print(R"(# Completion of quadmill {}
_quadmill() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} verb= verbs= options= values= i next
    for ((i = 1; i < COMP_CWORD; ++i)); do
        next="${{verb:+$verb }}${{COMP_WORDS[i]}}"
        case $next in
        {}) verb=$next ;;
        esac
    done
    case $verb in
{}    esac
    case "$verb $before" in
{}    esac
    COMPREPLY=()  # empty: files, by -o default
    if [[ -n $values ]]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
    elif [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
    elif [[ -n $verbs ]]; then
        COMPREPLY=($(compgen -W "$verbs" -- "$word"))
    fi
}}
complete -o default -F _quadmill quadmill
)",
               QUADMILL_VERSION, joined(verbs, " | "), words, values);
}

// zsh has bash's `complete`, which runs such a function. On the first <Tab>, zsh's own completion loads the file as the
// body of a function, which must complete immediately.
void print_zsh(const CLI::App& app) {
    fmt::print("#compdef quadmill\nautoload -Uz bashcompinit && bashcompinit\n");
    print_bash(app);
    fmt::print("if [[ ${{funcstack[1]}} == _quadmill ]]; then _bash_complete -o default -F _quadmill; fi\n");
}

// A quoted word for fish.
std::string fish(std::string_view text) {
    std::string out = "'";
    for (const char letter : text) {
        if (letter == '\'') {
            out += R"('\'')";
        } else if (letter == '\\') {
            out += R"(\\)";
        } else {
            out += letter == '\n' ? ' ' : letter;
        }
    }
    return out + "'";
}

void print_fish_option(const CLI::Option& option, const std::string& when) {
    const auto taken = values_of(option);
    auto line = when;
    for (const auto& name : option.get_snames()) line += " -s " + name;
    for (const auto& name : option.get_lnames()) line += " -l " + name;
    if (option.get_items_expected_max() > 0) line += taken.empty() ? " -r" : " -x -a " + fish(joined(taken, " "));
    fmt::print("{} -d {}\n", line, fish(option.get_description()));
}

void print_fish(const CLI::App& app) {
    std::vector<std::string> verbs;
    for_each_verb(app, Verbs::All, [&](const CLI::App&, const std::string& name) {
        if (!name.empty()) verbs.push_back(fish(name));
    });
    fmt::print(R"(# Completion of quadmill {}
function __quadmill_verb -d 'Whether the line has this verb'
    set -l verb
    for word in (commandline -opc)[2..-1]
        switch (string join -- ' ' $verb $word)
            case {}
                set -a verb $word
        end
    end
    test "$verb" = "$argv"
end
)",
               QUADMILL_VERSION, joined(verbs, " "));
    for_each_verb(app, Verbs::All, [](const CLI::App& verb, const std::string& name) {
        const auto when = fmt::format("complete -c quadmill -n {}", fish("__quadmill_verb " + name));
        for (const auto* each : verbs_of(verb, Verbs::All))
            fmt::print("{} -f -a {} -d {}\n", when, each->get_name(), fish(first_line_of(each->get_description())));
        if (const auto words = words_of(verb); !words.empty())
            fmt::print("{} -f -a {}\n", when, fish(joined(words, " ")));
        for (const auto* option : verb.get_options([](const CLI::Option* each) { return !each->get_positional(); }))
            print_fish_option(*option, when);
    });
}

}  // namespace

void add_pages_commands(CLI::App& app) {
    app.add_subcommand("man", "This help as a manual page")->group("")->callback([&app] { print_man(app); });
    auto* completion = app.add_subcommand("completion", "This help as a shell's completion")->group("");
    auto shell = std::make_shared<std::string>();
    completion->add_option("SHELL", *shell, "The shell that the completion is for")
        ->required()
        ->check(input::one_of(std::vector<std::string>{"bash", "zsh", "fish"}));
    completion->callback([&app, shell] {
        if (*shell == "bash") print_bash(app);
        if (*shell == "zsh") print_zsh(app);
        if (*shell == "fish") print_fish(app);
    });
}

}  // namespace quadmill::detail::cli
