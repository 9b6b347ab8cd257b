// Engine::Auto: the choice of an engine. The measurements are in docs/notes/auto.md.
#pragma once

#include <cstddef>
#include <string>

#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// Elements per channel that PBSN sorts before the CPU merges: enough for the paper's own network up to a million keys.
// (2^8 is fastest.)
inline constexpr std::size_t paper_run = std::size_t{1} << 18;

// The work of a sort: windows (or segments of that mean length), all keys (window 0), or the first ones. `batch`: the
// windows are one of many batches, and meanwhile the threads summarize the previous batch.
struct SortWork {
    std::size_t n = 0, window = 0;
    bool top = false, index = false, batch = false;
    KeyType type = KeyType::F32;
};

// Built-in crossovers for a device and a number of CPU threads, computed from measured costs of a GPU and of the CPU
// sort in this build. 0 threads: as many as the machine has.
[[nodiscard]] SortCrossings built_in_crossings(const ContextInfo& info, unsigned threads);
// The crossovers of the options, or the built-in ones.
[[nodiscard]] SortCrossings crossings_for(const ContextInfo& info, const SortOptions& options);

// Engine::Cpu, Merge or Hybrid.
[[nodiscard]] Engine choose(const SortCrossings& crossings, const SortWork& work);
// The reason, as text.
[[nodiscard]] std::string explain(const SortCrossings& crossings, const SortWork& work);

// The choice for a program without a context: opening one and loading shaders takes about 100 ms, in which the CPU can
// sort. (Compiling shaders the first time takes a second.)
[[nodiscard]] bool gpu_may_win_with_startup(const SortWork& work, unsigned threads);
// The reason against it, as text.
[[nodiscard]] std::string explain_startup(const SortWork& work, unsigned threads);

}  // namespace quadmill::detail::sort
