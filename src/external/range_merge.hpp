// Phase 2 on several threads: each merges ranges of keys, of all runs.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "external/merger.hpp"
#include "external/parts.hpp"
#include "external/run_index.hpp"

namespace quadmill::detail::external {

struct IndexedRun {
    FilePlace place;
    std::uint64_t bytes = 0;
    const RunIndex* index = nullptr;
};

// Consecutive ranges of about `bytes` bytes of records. A range is longer if it has equal keys, which must be together
// or are longer than those of an index.
class Ranges {
  public:
    // Pre: the indexes and `format` outlive this object.
    Ranges(const Format& format, std::vector<IndexedRun> runs, std::uint64_t bytes, EqualKeys equal);
    [[nodiscard]] std::size_t size() const { return boundaries_.size() + 1; }
    // The parts of the runs that are not empty, in the order of the runs. Reads some records to `memory`, which has
    // room for the bytes from a sample of an index to the next one and two pages.
    [[nodiscard]] std::vector<Merger::Input> range(std::size_t which, std::span<std::byte> memory, Transfers& io) const;

  private:
    // Bytes of a run in which a boundary is.
    struct Search {
        std::size_t run;
        std::uint64_t from;
        std::span<const std::byte> bytes;
    };
    [[nodiscard]] std::vector<std::uint64_t> find(const Boundary& boundary, std::span<std::byte> memory,
                                                  Transfers& io) const;
    [[nodiscard]] std::uint64_t find(const Boundary& boundary, const Search& search) const;
    void wait_for(const std::vector<Search>& searches, Transfers& io) const;

    const Format& format_;
    std::vector<IndexedRun> runs_;
    std::vector<Boundary> boundaries_;  // between ranges
};

// Merges ranges. Equal keys are in the order of the runs. Pre: `ranges` outlives the stream.
[[nodiscard]] std::unique_ptr<Parts> merge_ranges(const Format& format, const Ranges& ranges, const RangePlan& plan,
                                                  Shape shape, StageClock& reading, StageClock& merging, Tick tick);
// Parts of the sorted records of a slot, which outlives the stream.
[[nodiscard]] std::unique_ptr<Parts> give_parts(const Slot& slot, const Parts::Plan& plan, EqualKeys equal, Shape shape,
                                                StageClock& clock, Tick tick);

}  // namespace quadmill::detail::external
