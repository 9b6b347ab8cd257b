// The engines of the wide sort. Each sorts runs of items; an item is a word above the index of its key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "cpu/workers.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::external {

// Items of consecutive runs: run i ends before ends[i]. An item is a word shifted by `place_bits`, with the index of
// its key below it. Within a run indices ascend.
struct ItemRuns {
    std::span<std::uint64_t> items, scratch;
    std::span<const std::size_t> ends;
    unsigned place_bits;
};

class ItemSorter {
  public:
    virtual ~ItemSorter() = default;
    ItemSorter() = default;
    ItemSorter(const ItemSorter&) = delete;
    ItemSorter& operator=(const ItemSorter&) = delete;

    // The engine that sorts large arrays.
    [[nodiscard]] virtual Engine engine() const = 0;
    // Bits of an index, and of the word above it, for n keys.
    [[nodiscard]] virtual unsigned place_bits(std::size_t n) const = 0;
    [[nodiscard]] virtual unsigned word_bits(std::size_t n) const = 0;
    // Runs of fewer keys are sorted faster each on its own.
    [[nodiscard]] virtual std::size_t worth_a_round() const { return 2; }
    // Sorts each run separately.
    virtual void sort(const ItemRuns& runs) = 0;
};

// Throws InvalidArgument for an engine that needs a context if there is none, or that cannot carry an index.
std::unique_ptr<ItemSorter> make_item_sorter(const std::optional<Context>& context, Engine engine,
                                             cpu::Workers& workers);

}  // namespace quadmill::detail::external
