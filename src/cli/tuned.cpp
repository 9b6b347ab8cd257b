#include "cli/tuned.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <utility>

#include "cli/json.hpp"
#include "cpu/numbers.hpp"
#include "cpu/workers.hpp"
#include "files/files.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::cli {

namespace {

constexpr int tuning_version = 2;
constexpr const char* tuning_format = "quadmill tune";

using ByWidth = SortCrossings::ByWidth;
constexpr std::array<std::pair<const char*, ByWidth SortCrossings::*>, 6> sort_kinds{
    {{"keys", &SortCrossings::keys},
     {"with_index", &SortCrossings::with_index},
     {"windows", &SortCrossings::windows},
     {"batches", &SortCrossings::batches},
     {"top", &SortCrossings::top},
     {"hybrid", &SortCrossings::hybrid}}};
constexpr std::array<std::pair<const char*, std::size_t ByWidth::*>, 3> key_widths{
    {{"16", &ByWidth::bits16}, {"32", &ByWidth::bits32}, {"64", &ByWidth::bits64}}};

using bench::StatementCosts;
constexpr std::array<std::pair<const char*, double StatementCosts::*>, 10> statement_costs{
    {{"cpu_ns", &StatementCosts::cpu_ns},
     {"gpu_ns", &StatementCosts::gpu_ns},
     {"cpu_rank_ns", &StatementCosts::cpu_rank_ns},
     {"gpu_rank_ns", &StatementCosts::gpu_rank_ns},
     {"cpu_group_ns", &StatementCosts::cpu_group_ns},
     {"gpu_group_ns", &StatementCosts::gpu_group_ns},
     {"cpu_join_ns", &StatementCosts::cpu_join_ns},
     {"gpu_join_ns", &StatementCosts::gpu_join_ns},
     {"load_ns", &StatementCosts::load_ns},
     {"start_ms", &StatementCosts::start_ms}}};

// null in the file means never.
template <class Number>
Json crossing_json(Number n, Number never) {
    return n == never ? Json() : Json(n);
}
template <class Number>
void read_crossing(const Json& from, Number& n, Number never) {
    n = from.is_null() ? never : from.get<Number>();
}

TunedEntry entry_of(const Json& from) {
    TunedEntry entry;
    from.at("renderer").get_to(entry.renderer);
    from.at("driver").get_to(entry.driver);
    from.at("cpu_sort").get_to(entry.cpu_sort);
    from.at("measured").get_to(entry.measured);
    from.at("threads").get_to(entry.threads);
    if (const auto at = from.find("device"); at != from.end()) entry.device = at->get<int>();
    entry.machine = from.value("machine", "");
    for (const auto& [kind, widths] : sort_kinds) {
        for (const auto& [width, crossing] : key_widths)
            read_crossing(from.at("sort").at(kind).at(width), entry.sort.*widths.*crossing, SortCrossings::never);
    }
    read_crossing(from.at("query").at("rows"), entry.query.rows, QueryCrossings::never);
    read_crossing(from.at("query").at("rank_rows"), entry.query.rank_rows, QueryCrossings::never);
    from.at("query").at("join_comparisons").get_to(entry.query.join_comparisons);
    if (const auto at = from.find("statements"); at != from.end()) {
        for (const auto& [name, cost] : statement_costs) entry.statements.*cost = at->value(name, 0.0);
    }
    return entry;
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
    throw Error(fmt::format("'{}' {}; run `quadmill tune` again, or remove the file to use the library's own figures",
                            path.string(), what));
}

}  // namespace

TunedEntry entry_for(const ContextInfo& info, unsigned threads) {
    return {.renderer = info.renderer,
            .driver = info.version,
            .cpu_sort = cpu::number_sort_name(),
            .measured = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))),
            .threads = cpu::threads_or_all(threads),
            .sort = {},
            .query = {},
            .statements = {}};
}

Json to_json(const TunedEntry& entry) {
    Json out{{"renderer", entry.renderer},
             {"driver", entry.driver},
             {"threads", entry.threads},
             {"cpu_sort", entry.cpu_sort},
             {"measured", entry.measured}};
    if (entry.device) out["device"] = *entry.device;
    if (!entry.machine.empty()) out["machine"] = entry.machine;
    out["sort"] = Json::object();
    for (const auto& [kind, widths] : sort_kinds) {
        for (const auto& [width, crossing] : key_widths)
            out["sort"][kind][width] = crossing_json(entry.sort.*widths.*crossing, SortCrossings::never);
    }
    out["query"] = {{"rows", crossing_json(entry.query.rows, QueryCrossings::never)},
                    {"rank_rows", crossing_json(entry.query.rank_rows, QueryCrossings::never)},
                    {"join_comparisons", entry.query.join_comparisons}};
    out["statements"] = Json::object();
    for (const auto& [name, cost] : statement_costs) out["statements"][name] = entry.statements.*cost;
    return out;
}

std::optional<std::filesystem::path> tuning_path() {
    // A relative path must be ignored according to the XDG Base Directory Specification.
    const auto folder = [](const char* name) -> std::filesystem::path {
        const char* const value = std::getenv(name);
        const std::filesystem::path path(value ? value : "");
        return path.is_absolute() ? path : std::filesystem::path();
    };
    if (const auto config = folder("XDG_CONFIG_HOME"); !config.empty()) return config / "quadmill" / "tune.json";
    if (const auto home = folder("HOME"); !home.empty()) return home / ".config" / "quadmill" / "tune.json";
    return {};
}

std::vector<TunedEntry> read_tuning() {
    const auto path = tuning_path();
    if (std::error_code none; !path || !std::filesystem::exists(*path, none)) return {};
    const auto bytes = files::read_file(path->string());
    const auto text = bytes.as<const char>();
    const auto file = Json::parse(text.begin(), text.end(), nullptr, false);
    if (file.is_discarded()) fail(*path, "is not JSON");
    if (!file.is_object() || file.value("format", Json()) != tuning_format)
        fail(*path, "is not a file of `quadmill tune`");
    const auto version = file.value("version", Json());
    if (version != tuning_version) {
        fail(*path, fmt::format("has version {} of the format, and this program reads version {}", version.dump(),
                                tuning_version));
    }
    try {
        std::vector<TunedEntry> entries;
        for (const auto& entry : file.at("entries")) entries.push_back(entry_of(entry));
        return entries;
    } catch (const Json::exception& error) {
        fail(*path, fmt::format("is damaged ({})", error.what()));
    }
}

std::optional<TunedEntry> tuned_for(const ContextInfo& info, unsigned threads) {
    const auto wanted = entry_for(info, threads);
    for (auto& entry : read_tuning()) {
        if (entry.same_place(wanted) && entry.cpu_sort == wanted.cpu_sort) return std::move(entry);
    }
    return {};
}

std::string machine_facts() {
    std::vector<std::string> facts;
    for (const auto* folder : {"/dev", "/dev/dri"}) {
        std::error_code none;
        for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
            const auto name = file.path().filename().string();
            const auto begins = [&](const char* head) { return name.starts_with(head); };
            if (begins("nvidia") || begins("renderD") || begins("dxg") || begins("mali") || begins("kgsl"))
                facts.push_back(name);
        }
    }
    std::ranges::sort(facts);
    if (std::ifstream version("/sys/module/nvidia/version"); version) std::getline(version, facts.emplace_back());
    for (const auto* name : {"LIBGL_ALWAYS_SOFTWARE", "GALLIUM_DRIVER", "MESA_LOADER_DRIVER_OVERRIDE",
                             "__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_VENDOR_LIBRARY_DIRS"}) {
        if (const char* const value = std::getenv(name)) facts.push_back(fmt::format("{}={}", name, value));
    }
    return facts.empty() ? "no GPU device" : fmt::format("{}", fmt::join(facts, " "));
}

std::optional<TunedEntry> tuned_before_context(int device, unsigned threads) {
    for (auto& entry : read_tuning()) {
        if (entry.device == device && entry.machine == machine_facts() && entry.cpu_sort == cpu::number_sort_name() &&
            entry.threads == cpu::threads_or_all(threads))
            return std::move(entry);
    }
    return {};
}

namespace {

// Creates its folder, too.
std::filesystem::path place_of_tuning() {
    const auto path = tuning_path();
    if (!path) throw Error("tune: no folder for the file; set XDG_CONFIG_HOME or HOME to an absolute path");
    std::error_code failed;
    std::filesystem::create_directories(path->parent_path(), failed);
    if (failed)
        throw Error(
            fmt::format("tune: the folder '{}' cannot be made: {}", path->parent_path().string(), failed.message()));
    return *path;
}

}  // namespace

void check_tuning_is_writable() {
    const files::OutputFile file(place_of_tuning().string());
}

Replaced write_tuning(const TunedEntry& entry) {
    const auto path = place_of_tuning();
    auto replaced = Replaced::Nothing;
    std::vector<TunedEntry> entries;
    try {
        entries = read_tuning();
    } catch (const IoError&) {
        throw;
    } catch (const Error&) {
        replaced = Replaced::DamagedFile;
    }
    std::erase_if(entries, [&](const TunedEntry& other) { return other.same_place(entry); });
    entries.push_back(entry);
    Json file{{"format", tuning_format}, {"version", tuning_version}, {"entries", Json::array()}};
    for (const auto& one : entries) file["entries"].push_back(to_json(one));
    files::OutputFile out(path.string());
    const auto text = file.dump(1) + "\n";
    out.write(std::as_bytes(std::span(text)));
    out.commit();
    return replaced;
}

std::string where_from(const std::optional<TunedEntry>& entry) {
    if (!entry) return "built-in figures; `quadmill tune` measures this machine";
    return fmt::format("measured by `quadmill tune` at {}", entry->measured);
}

}  // namespace quadmill::detail::cli
