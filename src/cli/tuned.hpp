// The measurements of `quadmill tune`, in a file of the user: $XDG_CONFIG_HOME/quadmill/tune.json. It has an entry for
// each device, driver and number of threads.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/tune.hpp"
#include "quadmill/context.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::cli {

struct TunedEntry {
    std::string renderer, driver, cpu_sort, measured;  // `measured`: date
    unsigned threads = 1;
    std::optional<int> device{};  // the number for --device
    std::string machine{};        // machine_facts() at that time; empty in older files
    SortCrossings sort;
    QueryCrossings query;
    bench::StatementCosts statements{};  // 0 in older files
    [[nodiscard]] bool same_place(const TunedEntry& other) const {
        return renderer == other.renderer && driver == other.driver && threads == other.threads;
    }
};

// An entry without figures, with the current time. 0 threads: as many as the machine has.
[[nodiscard]] TunedEntry entry_for(const ContextInfo& info, unsigned threads);
[[nodiscard]] nlohmann::ordered_json to_json(const TunedEntry& entry);

// The path of the file; nothing without XDG_CONFIG_HOME and HOME.
[[nodiscard]] std::optional<std::filesystem::path> tuning_path();
// Reads all entries. Returns an empty list if the file does not exist. Throws Error if the file is damaged or has
// another version.
[[nodiscard]] std::vector<TunedEntry> read_tuning();
// The entry for the context and that many threads, measured with this build's CPU sort.
[[nodiscard]] std::optional<TunedEntry> tuned_for(const ContextInfo& info, unsigned threads);
// Facts that are known before a context is opened: the GPU devices of the system, their driver if the kernel reports
// it, and settings that choose a driver.
[[nodiscard]] std::string machine_facts();
// The entry that `quadmill tune` measured with the same --device, threads and facts. It tells which device it is before
// a context is opened.
[[nodiscard]] std::optional<TunedEntry> tuned_before_context(int device, unsigned threads);
// Replaces the entry for the same device, driver and threads, and keeps the others. The file appears when it is
// complete. A damaged file is replaced, and the result says so.
enum class Replaced { Nothing, DamagedFile };
Replaced write_tuning(const TunedEntry& entry);
// Throws if write_tuning() could not write.
void check_tuning_is_writable();

// "measured by `quadmill tune` at ..." or "built-in figures; ...".
[[nodiscard]] std::string where_from(const std::optional<TunedEntry>& entry);

}  // namespace quadmill::detail::cli
