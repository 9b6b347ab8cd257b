// Sorting keys of many bytes by few bytes at a time: GPUTeraSort's hybrid radix-bitonic sort (SIGMOD'06, section 4.3,
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
    std::uint64_t rounds = 0;    // in which the engine sorted words
    std::uint64_t tied = 0;      // keys that were in more than one round, or compared whole after one
    std::uint64_t compared = 0;  // keys that were put in order by comparing them whole
    double key_ms = 0;           // taking words out of keys
    double sort_ms = 0;          // the engine
    double scan_ms = 0;          // finding runs of equal words
};

// Sorts keys by their first word, finds runs of equal words and sorts those by the next word, all runs of a round
// together, until no ties or no bytes are left.
//
// A word is 4 bytes for Merge and Bitonic, so keys of b bytes take at most ceil(b / 4) rounds. Cpu sorts longer words,
// by radix. Auto is Cpu without a context and on a software renderer, otherwise Merge, with the CPU for inputs too
// small to be worth a transfer. Cpu and Auto compare whole keys in runs of fewer than 64; every engine does so for keys
// that are equal in their first 64 words.
class WideSorter {
  public:
    // `context`: none leaves Cpu and Auto. `threads`: of the CPU, the caller's among them; 0 takes as many as the
    // machine has. Throws InvalidArgument for an engine that needs a context and has none, and for Hybrid and
    // Pbsn, which carry no index.
    WideSorter(const std::optional<Context>& context, Engine engine, unsigned threads);
    WideSorter(WideSorter&&) noexcept;
    WideSorter& operator=(WideSorter&&) noexcept;
    ~WideSorter();

    // order[i]: index of the i-th key in order; equal keys keep the order of the input. There are order.size() keys.
    // Throws InvalidArgument for 2^32 keys and more, or more than the engine takes; GlError, std::bad_alloc.
    WideStats argsort(const WideKeys& keys, std::span<std::uint32_t> order);

    // The engine that sorts large arrays; for Auto it is Cpu or Merge.
    [[nodiscard]] Engine engine() const noexcept;

    // Bytes of an argsort with Cpu, in addition to its arguments. GPU engines need the same, and staging memory of 16
    // bytes a key. (A software renderer's textures are CPU memory, too: 24 bytes a key more.)
    static std::size_t memory(std::size_t n);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill::detail::external
