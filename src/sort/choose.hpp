// Engine::Auto: which engine was measured fastest. The figures are in docs/notes/auto.md.
#pragma once

#include <cstddef>
#include <string>

#include "quadmill/sort.hpp"

namespace quadmill::detail::sort {

// Elements a channel that PBSN sorts before the CPU merges: so long that the network is the paper's own for up to a
// million keys. (2^8 is fastest.)
inline constexpr std::size_t paper_run = std::size_t{1} << 18;

// What there is to sort: windows (or segments, of that mean length), all keys (window 0), or the best of them. Windows
// may be a batch, one of many, while the threads summarize the one before.
struct Work {
    std::size_t n = 0, window = 0;
    bool top = false, index = false, batch = false;
    KeyType type = KeyType::F32;
};

// Those of a device and so many CPU threads that nobody measured: by what a GPU was measured to take, and the CPU's
// sort that was built in. 0 threads are as many as the machine has.
[[nodiscard]] SortCrossings built_in_crossings(const ContextInfo& info, unsigned threads);
// Those of the options, or built in.
[[nodiscard]] SortCrossings crossings_for(const ContextInfo& info, const SortOptions& options);

// Engine::Cpu, Merge or Hybrid.
[[nodiscard]] Engine choose(const SortCrossings& crossings, const Work& work);
// Why, for people.
[[nodiscard]] std::string explain(const SortCrossings& crossings, const Work& work);

// The same for a program that has no context yet: opening one and loading shaders takes some 100 ms, in which the CPU
// sorts as well. (Compiling them, once, where the driver keeps them, takes a second.)
[[nodiscard]] bool gpu_may_win_with_startup(const Work& work, unsigned threads);
// Why not, for people.
[[nodiscard]] std::string explain_startup(const Work& work, unsigned threads);

}  // namespace quadmill::detail::sort
