// Exact splitters of sorted records on the ranks' disks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "external/records.hpp"
#include "mpi/comm.hpp"
#include "mpi/run_file.hpp"

namespace quadmill::detail::mpi {

// The keys of a file of sorted records, with a sample in memory: a search reads the disk only between two samples.
class SortedKeys {
  public:
    SortedKeys(const RunFile& file, const external::FixedKeys& format, std::uint64_t records);
    [[nodiscard]] std::uint64_t size() const { return records_; }
    [[nodiscard]] std::size_t key_bytes() const { return format_.key_bytes(); }

    void read(std::uint64_t record, std::byte* key) const;
    enum class Bound { Below, UpTo };
    // The number of records with a key below this one, or up to it. Pre: it is between `low` and `high`.
    [[nodiscard]] std::uint64_t count(const std::byte* key, Bound bound, std::uint64_t low, std::uint64_t high) const;
    // An index near the middle of [low, high), in memory if possible.
    [[nodiscard]] std::uint64_t middle(std::uint64_t low, std::uint64_t high) const;

  private:
    const RunFile& file_;
    const external::FixedKeys& format_;
    std::uint64_t records_, step_;
    std::vector<std::byte> sample_;  // the keys of records 0, step_, 2 step_, ...
    mutable std::vector<std::byte> record_;
};

// Cuts this rank's records so that the first places[i] records of all ranks are before the cuts. Records are ordered by
// key, then by rank and index, so the cuts are exact for any keys. Cost: at most about 2 log2(number of all records)
// rounds. In each round ranks propose one record per cut, and all count the records before the weighted median.
[[nodiscard]] std::vector<std::uint64_t> cuts_at(const Comm& comm, const SortedKeys& keys,
                                                 std::span<const std::uint64_t> positions);

}  // namespace quadmill::detail::mpi
