// Sorts keys of many bytes by a few bytes at a time: GPUTeraSort's hybrid radix-bitonic sort (SIGMOD'06, section 4.3,
// Routine 4.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "external/wide_keys.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::external {

// Statistics of an argsort; times are wall-clock milliseconds.
struct WideStats {
    std::uint64_t n = 0;
    std::uint64_t rounds = 0;    // rounds in which the engine sorted words
    std::uint64_t tied = 0;      // keys that were in more than one round, or sorted as a short run after one
    std::uint64_t compared = 0;  // keys in short runs
    double key_ms = 0;           // extracting words from keys
    double sort_ms = 0;          // the engine
    double scan_ms = 0;          // finding runs of equal words
};

// Sorts keys by their first word, finds runs of equal words and sorts those by the next word, all runs of a round
// together, until there are no ties or no bytes left.
//
// A word is 4 bytes for Merge and Bitonic, so keys of b bytes take at most ceil(b / 4) rounds. Cpu sorts longer words
// with radix sort. Auto is Cpu without a context and on a software renderer; otherwise it is Merge, with the CPU for
// inputs too small to be worth a transfer. Cpu and Auto sort each run of fewer than 64 on its own, by the next 7 bytes
// of its keys. Every engine does so for keys that are equal in their first 64 words.
class WideSorter {
  public:
    // Without a `context` only Cpu and Auto are possible. `threads` are CPU threads, including the caller's; 0 takes as
    // many as the machine has. Throws InvalidArgument for an engine that needs a context if there is none, and for
    // Hybrid and Pbsn, which carry no index.
    WideSorter(const std::optional<Context>& context, Engine engine, unsigned threads);
    WideSorter(WideSorter&&) noexcept;
    WideSorter& operator=(WideSorter&&) noexcept;
    ~WideSorter();

    // order[i] becomes the index of the i-th key. Equal keys keep the order of the input. There are order.size() keys.
    // Throws InvalidArgument for 2^32 keys or more, or more than the engine takes; GlError, std::bad_alloc.
    WideStats argsort(const WideKeys& keys, std::span<std::uint32_t> order);

    // The engine that sorts large arrays; for Auto it is Cpu or Merge.
    [[nodiscard]] Engine engine() const noexcept;

    // Bytes of an argsort with Cpu, in addition to its arguments. GPU engines need the same, and staging memory of 16
    // bytes per key. (A software renderer's textures are CPU memory, too: another 24 bytes per key.)
    static std::size_t memory(std::size_t n);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill::detail::external
