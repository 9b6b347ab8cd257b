// Exact splitters of records that lie sorted on the ranks' disks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "external/records.hpp"
#include "mpi/comm.hpp"
#include "mpi/run_file.hpp"

namespace quadmill::detail::mpi {

// The keys of a file of sorted records, with every so many of them in memory: a search reads the disk only between two
// of these.
class SortedKeys {
  public:
    SortedKeys(const RunFile& file, const external::FixedKeys& format, std::uint64_t records);
    [[nodiscard]] std::uint64_t size() const { return records_; }
    [[nodiscard]] std::size_t key_bytes() const { return format_.key_bytes(); }

    void read(std::uint64_t record, std::byte* key) const;
    enum class Bound { Below, UpTo };
    // How many records have a key below, or up to, this one; from `low` to `high`, where the answer is known to be.
    [[nodiscard]] std::uint64_t count(const std::byte* key, Bound bound, std::uint64_t low, std::uint64_t high) const;
    // One of low, ..., high - 1 that is near their middle, in memory where one is.
    [[nodiscard]] std::uint64_t middle(std::uint64_t low, std::uint64_t high) const;

  private:
    const RunFile& file_;
    const external::FixedKeys& format_;
    std::uint64_t records_, step_;
    std::vector<std::byte> sample_;  // the keys of records 0, step_, 2 step_, ...
    mutable std::vector<std::byte> record_;
};

// Where this rank's records are cut so that the first places[i] of all ranks' are before the cuts. Records are ordered
// by key, those of equal keys by rank and place, so no two are equal and the cuts are exact, whatever the keys are.
// Rounds: some 2 log2 of all records at most; in each, ranks propose a record a place, and all count what is before the
// weighted median of these.
[[nodiscard]] std::vector<std::uint64_t> cuts_at(const Comm& comm, const SortedKeys& keys,
                                                 std::span<const std::uint64_t> places);

}  // namespace quadmill::detail::mpi
