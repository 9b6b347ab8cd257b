#include "bench/figures/figure_folder.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "files/files.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::bench {

namespace {

namespace fs = std::filesystem;
using Kind = Verdict::Kind;

std::string text_of(const std::string& path) {
    const auto bytes = files::read_file(path);
    const auto letters = bytes.as<char>();
    return {letters.begin(), letters.end()};
}

// Text for a cell of a table.
std::string cell(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|' || c == '<') out += '\\';
        out += c;
    }
    return out;
}

std::string verdict_cell(const FigureData* data, const Claim& claim) {
    if (!data) return "not measured yet";
    const auto [kind, ours, why] = judge(claim, *data);
    if (kind == Kind::NotHere && why.starts_with(no_gpu)) return fmt::format("{}: {}", no_gpu, cell(ours));
    auto text = fmt::format("**{}**", word_for(kind));
    if (!ours.empty()) text += ": " + ours;
    if (!why.empty()) text += "; " + why;
    return cell(text);
}

// The renderer of the folder's first figure; without figures, the folder's path.
std::string machine_of(const FigureFolder& folder) {
    for (const auto& figure : figures()) {
        if (const auto* data = folder.find(figure.id)) return data->fact("renderer");
    }
    return folder.path();
}

std::string table_head(const std::vector<FigureFolder>& folders) {
    std::string head = "| the paper | rule |", line = "| --- | --- |";
    for (const auto& folder : folders) {
        head += fmt::format(" {} |", cell(machine_of(folder)));
        line += " --- |";
    }
    return head + "\n" + line + "\n";
}

// The commands that measured a folder's figures, run by run, with each figure's date.
std::string commands_of(const std::multimap<std::string, std::string>& by_date) {
    std::vector<std::string> words;
    for (const auto& [date, command] : by_date) {
        const auto word = "`" + command + "`";
        if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    }
    return fmt::format("{}", fmt::join(words, ", then "));
}

// The number of claims with each result.
template <class Wanted>
std::string counts_of(const FigureFolder& folder, const Wanted& wanted) {
    std::map<Kind, int> counts;
    int missing = 0;
    for (const auto& figure : figures()) {
        const auto* data = folder.find(figure.id);
        for (const auto& claim : figure.claims) {
            if (!wanted(figure, claim)) continue;
            if (data) {
                ++counts[judge(claim, *data).kind];
            } else {
                ++missing;
            }
        }
    }
    std::vector<std::string> words;
    const auto say = [&](int count, const char* verdict) {
        if (count > 0) words.push_back(fmt::format("{} {}", count, verdict));
    };
    say(counts[Kind::Holds], "hold");
    say(counts[Kind::Exceeds], "exceed");
    say(counts[Kind::Fails], "do not hold");
    say(counts[Kind::Noisy], "too noisy");
    say(counts[Kind::Unlike], "not measured as the paper did");
    say(counts[Kind::NotHere], "cannot be measured");
    say(missing, "not measured yet");
    return fmt::format("{}", fmt::join(words, ", "));
}

std::string overview(const std::vector<FigureFolder>& folders) {
    std::string head = "| number of claims |", line = "| --- |";
    for (const auto& folder : folders) {
        head += fmt::format(" {} |", cell(machine_of(folder)));
        line += " --- |";
    }
    auto out = fmt::format("{}\n{}\n", head, line);
    const auto row = [&](const std::string& name, const auto& wanted) {
        out += fmt::format("| {} |", name);
        for (const auto& folder : folders) out += fmt::format(" {} |", counts_of(folder, wanted));
        out += "\n";
    };
    std::string paper;
    for (const auto& one : figures()) {
        if (one.paper == paper) continue;
        paper = one.paper;
        row("of " + paper,
            [&](const Figure& figure, const Claim& claim) { return figure.paper == paper && !is_todays(claim); });
    }
    row("of all papers", [](const Figure& /*figure*/, const Claim& claim) { return !is_todays(claim); });
    row("ours, against what is fastest today",
        [](const Figure& /*figure*/, const Claim& claim) { return is_todays(claim); });
    return out;
}

// The claims that fail on the first machine.
std::string what_fails(const FigureFolder& folder) {
    std::string out;
    for (const auto& figure : figures()) {
        const auto* data = folder.find(figure.id);
        if (!data) continue;
        for (const auto& claim : figure.claims) {
            const auto [kind, ours, why] = judge(claim, *data);
            if (kind != Kind::Fails) continue;
            out += fmt::format("- {}, {}: {}: {}; {}\n", figure.paper, figure.title.substr(0, figure.title.find(':')),
                               cell(claim.claim), cell(ours), cell(why));
        }
    }
    return out.empty() ? out : fmt::format("\nWhat does not hold on {}:\n\n{}", machine_of(folder), out);
}

std::string machines(const std::vector<FigureFolder>& folders) {
    std::string out;
    for (const auto& folder : folders) {
        std::multimap<std::string, std::string> by_date;
        std::set<std::string> commits;
        const FigureData* any = nullptr;
        for (const auto& figure : figures()) {
            const auto* data = folder.find(figure.id);
            if (!data) continue;
            any = data;
            by_date.emplace(data->fact("date"), data->fact("command"));
            const auto commit = data->fact("commit");
            commits.insert(commit.empty() ? "one that is not noted" : commit);
        }
        if (!any) continue;
        const auto first = by_date.begin()->first.substr(0, 10), last = by_date.rbegin()->first.substr(0, 10);
        const auto note = any->fact("note");
        out += fmt::format("- **{}**, {}, {} threads, {}{}, {}{}{}: {}.\n", any->fact("renderer"), any->fact("cpu"),
                           any->fact("threads"), first, first == last ? "" : " to " + last, any->fact("size"),
                           fmt::format(", commit{} {}", commits.size() == 1 ? "" : "s", fmt::join(commits, ", ")),
                           note.empty() ? "" : ", " + note, commands_of(by_date));
    }
    return out;
}

// Series of a figure that are missing or were wrong. A note that is the same on all machines is written once.
std::string notes_of(const Figure& figure, const std::vector<FigureFolder>& folders) {
    std::vector<std::pair<std::string, std::vector<std::string>>> notes;  // and the machines that they are about
    std::size_t measured = 0;
    for (const auto& folder : folders) {
        const auto* data = folder.find(figure.id);
        if (!data) continue;
        ++measured;
        const auto note = [&](const std::string& text) {
            auto found = std::ranges::find(notes, text, &decltype(notes)::value_type::first);
            if (found == notes.end()) found = notes.insert(notes.end(), {text, {}});
            found->second.push_back(data->fact("renderer"));
        };
        for (const auto& [series, why] : data->missing) note(fmt::format("Not in the figure: {}: {}", series, why));
        for (const auto& [series, what] : data->wrong) note(fmt::format("**Wrong**: {}: {}", series, what));
    }
    std::string out;
    for (const auto& [text, where] : notes)
        out += fmt::format("\n{}{}.\n", text,
                           where.size() == measured ? "" : fmt::format(" (on {})", fmt::join(where, " and ")));
    return out;
}

// Its picture from the first folder that has one, with links to all numbers and pictures.
std::string pictures_of(const Figure& figure, const std::vector<FigureFolder>& folders, const fs::path& here) {
    std::string picture, links;
    for (const auto& folder : folders) {
        const auto* data = folder.find(figure.id);
        if (!data) continue;
        const auto at = fs::absolute(folder.path()).lexically_relative(here).generic_string();
        const auto file = (at == "." ? "" : at + "/") + figure.id;
        links += fmt::format("{}{}: [numbers]({}.csv)", links.empty() ? "" : "; ", data->fact("renderer"), file);
        if (!fs::exists(folder.path() + "/" + figure.id + ".svg")) continue;
        links += fmt::format(", [plot]({}.svg)", file);
        if (picture.empty())
            picture = fmt::format("\n![{} on {}]({}.svg)\n", figure.title, data->fact("renderer"), file);
    }
    return picture + (links.empty() ? "" : "\n" + links + ".\n");
}

constexpr const char* intro =
    "`quadmill bench figures` measured every figure, table and claim of the five papers, and wrote this page. The\n"
    "rule next to a claim computes the verdict from the figure's CSV (`src/bench/figures/`). In rules, A over B is\n"
    "A divided by B, and x is the axis of the figure. *today* marks our own claims; they compare with the fastest\n"
    "method of today. A renderer on the CPU does not decide claims about GPUs (*no GPU*), but its numbers are\n"
    "shown. In the plots, dashed lines are other programs and the numbers that the papers print.\n\n"
    "A claim with a number holds if nine tenths of the number are reached. If the number can be missed on both\n"
    "sides, the result may be off by a tenth. *Comparable* is within a factor of two, *faster* is above 1, and\n"
    "*exceeds* is better than the paper claims. If the fastest and the slowest run are on two sides of a bound, it\n"
    "is *too noisy to say*; one measurement has no spread. *Not measured as the paper did* decides nothing, and says\n"
    "what differs.\n";

}  // namespace

FigureFolder::FigureFolder(std::string path) : path_(std::move(path)) {
    for (const auto& figure : figures()) {
        const auto csv = file(figure.id + ".csv");
        if (!fs::exists(csv)) continue;
        try {
            data_.emplace(figure.id, FigureData::from_csv(text_of(csv)));
        } catch (const IoError&) {
            throw;
        } catch (const Error& error) {
            throw Error(fmt::format("{}: {}; remove it, and it is measured again", csv, error.what()));
        }
    }
}

const FigureData* FigureFolder::find(const std::string& id) const {
    const auto found = data_.find(id);
    return found == data_.end() ? nullptr : &found->second;
}

void FigureFolder::must_be_of(const FigureFacts& facts) const {
    for (const auto& [name, text] : facts) {
        if (name != "renderer" && name != "cpu" && name != "size") continue;
        for (const auto& [id, data] : data_) {
            if (data.fact(name) != text)
                throw Error(
                    fmt::format("{}/{}.csv is of another {} ('{}', and this is '{}'); give another folder with -o, "
                                "or --again without --only to measure all again",
                                path_, id, name, data.fact(name), text));
        }
    }
}

void write_text(const std::string& path, const std::string& text) {
    files::OutputFile out(path);
    out.write(std::as_bytes(std::span(text)));
    out.commit();
}

void FigureFolder::store(const Figure& figure, FigureData data) {
    std::error_code failed;
    fs::create_directories(path_, failed);  // making the first file reports the failure
    draw(figure, data);
    write_text(file(figure.id + ".csv"), data.csv());
    data_[figure.id] = std::move(data);
}

void FigureFolder::draw(const Figure& figure, const FigureData& data) const {
    if (const auto svg = svg_of(figure, data); !svg.empty()) write_text(file(figure.id + ".svg"), svg);
}

void FigureFolder::draw() const {
    for (const auto& figure : figures()) {
        if (const auto* data = find(figure.id)) draw(figure, *data);
    }
}

std::string FigureFolder::summary_json() const {
    auto out = nlohmann::ordered_json::array();
    for (const auto& figure : figures()) {
        const auto* data = find(figure.id);
        for (const auto& claim : figure.claims) {
            nlohmann::ordered_json one{
                {"figure", figure.id}, {"paper", figure.paper}, {"claim", claim.claim}, {"rule", claim.rule}};
            if (data) {
                const auto verdict = judge(claim, *data);
                one.update(nlohmann::ordered_json{{"ours", verdict.ours},
                                                  {"verdict", word_for(verdict.kind)},
                                                  {"why", verdict.why},
                                                  {"renderer", data->fact("renderer")},
                                                  {"date", data->fact("date")},
                                                  {"command", data->fact("command")}});
            } else {
                one["verdict"] = "not measured yet";
            }
            out.push_back(std::move(one));
        }
    }
    return out.dump(1) + "\n";
}

void FigureFolder::write_summary() const {
    write_text(file("summary.md"), figures_page({*this}, file("summary.md")));
    write_text(file("summary.json"), summary_json());
}

std::string figures_page(const std::vector<FigureFolder>& folders, const std::string& from) {
    const auto here = fs::absolute(from).parent_path();
    auto out =
        fmt::format("# The papers' figures, measured again\n\n{}\n{}\n{}", intro, machines(folders), overview(folders));
    if (!folders.empty()) out += what_fails(folders.front());
    std::string paper;
    for (const auto& figure : figures()) {
        if (figure.paper != paper) out += fmt::format("\n## {}\n", paper = figure.paper);
        out += fmt::format("\n### {}\n\n`{}`: {}.\n\n{}", figure.title, figure.id, figure.how, table_head(folders));
        for (const auto& claim : figure.claims) {
            out += fmt::format("| {} | {} |", cell(claim.claim), cell(claim.rule));
            for (const auto& folder : folders) out += fmt::format(" {} |", verdict_cell(folder.find(figure.id), claim));
            out += "\n";
        }
        out += notes_of(figure, folders) + pictures_of(figure, folders, here);
    }
    return out;
}

}  // namespace quadmill::detail::bench
