// `quadmill man` and `quadmill completion SHELL`: what the help says, as a manual page and as a shell's completion. Both
// are hidden from the help; the build installs what they print.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "quadmill/version.hpp"

namespace quadmill::detail::cli {

namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

// Calls visit(app, its verbs) for the program and for each of its verbs, and theirs.
template <class Visit>
void for_each_verb(const CLI::App& app, const std::string& verbs, const Visit& visit) {
    visit(app, verbs);
    for (const auto* verb : verbs_of(app))
        for_each_verb(*verb, verbs + (verbs.empty() ? "" : " ") + verb->get_name(), visit);
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

// In roff a backslash and a minus are written so, and a point that begins a line would be a request.
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

void print_options(const CLI::App& app) {
    for (const auto* option : app.get_options()) {
        const auto names = option->get_positional() ? std::vector{option->get_name(true, false)} : names_of(*option);
        fmt::print(".TP\n\\fB{}\\fR", roff(joined(names, ", ")));
        if (const auto type = option->get_type_name(); !type.empty()) fmt::print(" \\fI{}\\fR", roff(type));
        if (!option->get_default_str().empty()) fmt::print(" (default: {})", roff(option->get_default_str()));
        fmt::print("\n{}\n", roff(option->get_description()));
    }
}

void print_text(const std::string& text) {
    if (!text.empty()) fmt::print(".PP\n.nf\n{}\n.fi\n", roff(text));
}

void print_man(const CLI::App& app) {
    fmt::print(".TH QUADMILL 1 \"\" \"quadmill {}\" \"User Commands\"\n", QUADMILL_VERSION);
    fmt::print(".SH NAME\nquadmill \\- {}\n", roff(app.get_description()));
    fmt::print(".SH SYNOPSIS\n\\fBquadmill\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR] [\\fIFILE\\fR]\n.SH OPTIONS\n");
    print_options(app);
    fmt::print(".SH VERBS\n");
    for_each_verb(app, "", [](const CLI::App& verb, const std::string& words) {
        if (words.empty()) return;
        fmt::print(".SS quadmill {}\n{}\n", roff(words), roff(verb.get_description()));
        print_options(verb);
        print_text(verb.get_footer());
    });
    fmt::print(".SH NOTES\n");
    print_text(app.get_footer());
}

// The words that an option takes, where its type names them: ENUM:asc|desc, or TEXT:{auto,cpu}. A type that begins with
// a colon is of a flag, whose word stands behind a =.
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

void print_bash(const CLI::App& app) {
    std::vector<std::string> verbs;
    std::string words, values;
    for_each_verb(app, "", [&](const CLI::App& verb, const std::string& name) {
        if (!name.empty()) verbs.push_back('"' + name + '"');
        std::vector<std::string> options, below;
        for (const auto* option : verb.get_options()) {
            const auto names = names_of(*option);
            options.insert(options.end(), names.begin(), names.end());
            const auto taken = values_of(*option);
            for (const auto& each : names) {
                if (taken.empty()) continue;
                values += fmt::format("        \"{} {}\") values='{}' ;;\n", name, each, joined(taken, " "));
            }
        }
        for (const auto* each : verbs_of(verb)) below.push_back(each->get_name());
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

}  // namespace

void add_pages_commands(CLI::App& app) {
    app.add_subcommand("man", "This help as a manual page")->group("")->callback([&app] { print_man(app); });
    auto* completion = app.add_subcommand("completion", "This help as a shell's completion")->group("");
    auto shell = std::make_shared<std::string>();
    completion->add_option("SHELL", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
    completion->callback([&app, shell] {
        // zsh has bash's `complete` and runs such a function.
        if (*shell == "zsh") fmt::print("autoload -Uz bashcompinit && bashcompinit\n");
        print_bash(app);
    });
}

}  // namespace quadmill::detail::cli
