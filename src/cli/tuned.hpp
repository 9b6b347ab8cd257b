// What `quadmill tune` measured, in a file of the user's: $XDG_CONFIG_HOME/quadmill/tune.json, an entry for each
// device, driver and number of threads.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "quadmill/context.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::cli {

struct TunedEntry {
    std::string renderer, driver, cpu_sort, measured;  // `measured`: when
    unsigned threads = 1;
    std::optional<int> device{};  // as --device named it
    std::string machine{};        // machine_facts() then; empty in older files
    SortCrossings sort;
    QueryCrossings query;
    [[nodiscard]] bool same_place(const TunedEntry& other) const {
        return renderer == other.renderer && driver == other.driver && threads == other.threads;
    }
};

// An entry without figures, measured now. 0 threads are as many as the machine has.
[[nodiscard]] TunedEntry entry_for(const ContextInfo& info, unsigned threads);
[[nodiscard]] nlohmann::ordered_json to_json(const TunedEntry& entry);

// Where the file is; nothing without XDG_CONFIG_HOME and HOME.
[[nodiscard]] std::optional<std::filesystem::path> tuning_path();
// All entries; none if there is no file. Throws Error for a file that is damaged, or of another version.
[[nodiscard]] std::vector<TunedEntry> read_tuning();
// The one for the context and that many threads that was measured with this program's sort.
[[nodiscard]] std::optional<TunedEntry> tuned_for(const ContextInfo& info, unsigned threads);
// The GPU devices of the system, their driver where the kernel tells it, and the settings that choose among drivers:
// what can be known before a context is opened.
[[nodiscard]] std::string machine_facts();
// The entry that `quadmill tune` measured with the same --device and threads while these facts were the same; so
// nothing needs to be opened to know which device it will be.
[[nodiscard]] std::optional<TunedEntry> tuned_before_context(int device, unsigned threads);
// Puts the entry in the place of the one for the same device, driver and threads, and leaves the others. The file
// appears when it is whole; one that is damaged is replaced, which the answer says.
enum class Replaced { Nothing, DamagedFile };
Replaced write_tuning(const TunedEntry& entry);
// Throws where write_tuning() could not write.
void check_tuning_is_writable();

// "measured by `quadmill tune` at ..." or "the library's own figures; ...".
[[nodiscard]] std::string where_from(const std::optional<TunedEntry>& entry);

}  // namespace quadmill::detail::cli
