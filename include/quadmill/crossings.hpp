/// Crossover points: the numbers of keys or rows from which the engine Auto uses the GPU. `quadmill tune` measures them
/// on a machine and writes a file, which the library does not read. If the options have no crossings, the library uses
/// built-in estimates (docs/notes/auto.md).
#pragma once

#include <cstddef>
#include <cstdint>

namespace quadmill {

/// The number of keys from which Engine::Auto uses the GPU, by the width of the keys; `never` if the CPU is always
/// faster. They hold for the number of CPU threads that they were measured with.
struct SortCrossings {
    static constexpr std::size_t never = ~std::size_t{0};  ///< the CPU is always faster
    /// A number of keys for each width.
    struct ByWidth {
        std::size_t bits16 = never, bits32 = never, bits64 = never;  ///< for keys of 16, 32 and 64 bits
        bool operator==(const ByWidth&) const = default;
    };
    ByWidth keys{};        ///< a sort of all keys with Engine::Merge
    ByWidth with_index{};  ///< sort with an index, and argsort
    ByWidth windows{};     ///< keys in windows of 1,024; n keys in windows of w count as n log2(w) / 10
    ByWidth batches{};     ///< a batch of a stream's windows, while CPU threads summarize others
    ByWidth top{};         ///< Sorter::top()
    ByWidth hybrid{};      ///< a sort of all keys: from here on Engine::Hybrid is the fastest
    bool operator==(const SortCrossings&) const = default;
};

/// The sizes from which QueryEngine::Auto and JoinMethod::Auto use the GPU, for tables in memory that are queried many
/// times.
struct QueryCrossings {
    static constexpr std::uint64_t never = ~std::uint64_t{0};  ///< the CPU is always faster
    std::uint64_t rows = never;                                ///< rows of a table
    std::uint64_t rank_rows = never;                           ///< rows of a table for quantiles and k-th values
    /// Joins of l rows with r rows use nested loops on the GPU if l r / (l + r) is at most this number; 0: never.
    std::uint64_t join_comparisons = 0;
    bool operator==(const QueryCrossings&) const = default;
};

}  // namespace quadmill
