#include "cli/help.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

namespace quadmill::detail::cli {

const char* const exit_statuses =
    "0: done.\n"
    "1: the work failed.\n"
    "2: the call was wrong.\n"
    "3: the input has an error, such as a malformed line (quantiles, frequent, hhh, corrsum; other verbs: 1). The "
    "answer, and what --save writes, covers the values before it.\n"
    "130, 143, 129: stopped by SIGINT (Ctrl-C), SIGTERM or SIGHUP. quantiles, frequent, hhh, corrsum and query --batch "
    "then print the answer for the input so far; with --save, the first four also save it.";

namespace {

constexpr std::size_t page_width = 80, description_column = 26;
constexpr const char *common = "Options", *papers = "Reproducing the papers";

const std::set<std::string_view> performance_options{"device",        "engine", "explain-engine", "join",
                                                     "join-block",    "kernel", "layout",         "profile",
                                                     "profile-steps", "swap",   "threads"};
const std::set<std::string_view> paper_options{
    "block",         "channel-merge",   "channels",  "early-stop",     "execution", "max-run",  "max-texels",
    "no-early-stop", "no-exact-window", "precision", "representation", "round",     "run-size", "sorted-levels",
    "sorter-min",    "steps-per-pass",  "sums"};

// Wraps the words of a line. Later lines are indented by `hanging`. `more` ends each line that continues.
std::string wrapped(std::string_view line, std::size_t begin, std::size_t hanging, std::string_view more = "") {
    std::string out;
    auto column = begin;
    for (bool first = true; !line.empty(); first = false) {
        auto size = line.find_first_not_of(' ');  // an indent belongs to the first word
        size = std::min(line.find(' ', size == line.npos ? line.size() : size), line.size());
        auto word = line.substr(0, size);
        line.remove_prefix(size);
        if (!first && column + word.size() + (line.empty() ? 0 : more.size()) > page_width) {
            out.append(more).append("\n").append(hanging, ' ');
            word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
            column = hanging;
        }
        out += word;
        column += word.size();
    }
    return out;
}

class HelpText : public CLI::Formatter {
  public:
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
        const bool whole = mode == CLI::AppFormatMode::All;
        auto out = wrapped_footer(app->get_description()) + wrapped(usage(*app, name), 0, 6) + "\n";
        out += section("Positionals", *app, [](const CLI::Option& option) { return option.get_positional(); });
        bool hidden = false;
        for (const char* group : {common, lines_group, performance_group, papers}) {
            const auto text = section(group, *app, [&](const CLI::Option& option) {
                return !option.get_positional() && option.get_group() == group;
            });
            if (whole || group == common || group == lines_group) {
                out += text;
            } else {
                hidden = hidden || !text.empty();
            }
        }
        out += verbs_of(*app);
        if (!app->get_footer().empty()) out += "\n" + wrapped_footer(app->get_footer());
        if (hidden) out += fmt::format("\n`{} --help` has more options.\n", name);
        return out;
    }

  private:
    static std::string usage(const CLI::App& app, const std::string& name) {
        auto out = "Usage: " + name + " [OPTIONS]";
        for (const auto* option : app.get_options()) {
            if (!option->get_positional()) continue;
            const auto word = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
            out += option->get_required() ? " " + word : " [" + word + "]";
        }
        const bool verbs =
            !app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); }).empty();
        return out + (verbs ? " VERB" : "");
    }

    static std::string entry(const std::string& names, const std::string& description) {
        auto out = "  " + names;
        if (out.size() + 2 > description_column) {
            out += "\n" + std::string(description_column, ' ');
        } else {
            out.append(description_column - out.size(), ' ');
        }
        return out + wrapped(description, description_column, description_column) + "\n";
    }

    template <class Wanted>
    static std::string section(const char* title, const CLI::App& app, const Wanted& wanted) {
        std::string out;
        for (const auto* option : app.get_options()) {
            if (option->get_group().empty() || !wanted(*option)) continue;
            auto names = option->get_name(option->get_positional(), true);
            auto description = shown_description(*option);
            auto type = option->get_positional() ? "" : shown_type(*option);
            if (const auto brace = names.find('{'); brace != names.npos) {  // a flag with an optional value
                names = names.substr(0, brace) + "[=" + type + "]";
                type.clear();
            }
            if (names.size() + type.size() + 3 > page_width) {  // too many words to list
                std::string words;
                for (const auto& word : CLI::detail::split(type, '|')) words += (words.empty() ? "" : ", ") + word;
                description += ": " + words;
                type = "WORD";
            }
            out += entry(type.empty() ? names : names + " " + type, description);
        }
        return out.empty() ? out : fmt::format("\n{}:\n{}", title, out);
    }

    static std::string verbs_of(const CLI::App& app) {
        std::string out;
        for (const auto* verb : app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); }))
            out += entry(verb->get_name(), first_line_of(verb->get_description()));
        return out.empty() ? out : "\nVerbs:\n" + out;
    }
};

}  // namespace

std::string shown_type(const CLI::Option& option) {
    if (option.get_items_expected_max() == 0 && option.get_type_name().empty()) return {};
    auto type = option.get_type_name();
    if (const auto range = type.find(" in ["); range != std::string::npos) {
        const auto limits = type.substr(range + 5, type.find(']', range) - range - 5);
        const auto between = limits.find(" - ");
        return limits.substr(0, between) + ".." + limits.substr(std::min(between + 3, limits.size()));
    }
    if (const auto colon = type.find(':'); colon != std::string::npos && type != "quantile:P|min|max|avg|count|sum") {
        auto words = type.substr(colon + 1);
        if (words.starts_with('{')) words = words.substr(1, words.find('}') - 1);
        std::ranges::replace(words, ',', '|');
        if (!words.empty()) return words;
        type.erase(colon);
    }
    if (type == "UINT" || type == "INT") return "N";
    if (type == "FLOAT") return "X";
    if (type == "TEXT" && option.check_lname("output")) return "FILE";
    return type;
}

std::string shown_description(const CLI::Option& option) {
    auto out = option.get_description();
    if (!option.get_default_str().empty() && out.find("(default") == std::string::npos)
        out += fmt::format(" (default: {})", option.get_default_str());
    std::string excluded;
    for (const auto* other : option.get_excludes()) {
        const auto name = other->get_name();
        if (out.find(name) == std::string::npos) excluded += (excluded.empty() ? "" : ", ") + name;
    }
    if (!excluded.empty()) out += fmt::format(" (not with {})", excluded);
    for (const auto* other : option.get_needs()) {
        const auto name = other->get_name();
        if (out.find(name) == std::string::npos) out += fmt::format(" (needs {})", name);
    }
    return out;
}

std::string first_line_of(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

std::string wrapped_footer(const std::string& text) {
    std::string out;
    for (const auto& line : CLI::detail::split(text, '\n')) {
        const bool command = line.starts_with("  ");
        const std::size_t hanging = command ? 6U : line.starts_with("- ") ? 2U : 0U;
        out += wrapped(line, 0, hanging, command ? " \\" : "") + "\n";
    }
    return out;
}

void set_help(CLI::App& app) {
    app.formatter(std::make_shared<HelpText>());
    app.set_help_flag("-h", "Print the common options");
    app.set_help_all_flag("--help", "Print all options");
}

void group_options(CLI::App& app) {
    for (auto* option : app.get_options()) {
        const auto in = [&](const auto& names) {
            return std::ranges::any_of(option->get_lnames(), [&](const auto& name) { return names.contains(name); });
        };
        if (in(performance_options)) option->group(performance_group);
        if (in(paper_options)) option->group(papers);
    }
    for (auto* verb : app.get_subcommands([](const CLI::App*) { return true; })) group_options(*verb);
}

}  // namespace quadmill::detail::cli
