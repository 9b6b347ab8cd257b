#include "mpi/cuts.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace quadmill::detail::mpi {

namespace {

constexpr std::uint64_t max_sampled = 1 << 14;

}  // namespace

SortedKeys::SortedKeys(const RunFile& file, const external::FixedKeys& format, std::uint64_t records)
    : file_(file),
      format_(format),
      records_(records),
      step_(records / max_sampled + 1),
      record_(format.record_bytes()) {
    const auto sampled = static_cast<std::size_t>((records + step_ - 1) / step_);
    std::vector<std::byte> sample(sampled * key_bytes());
    for (std::size_t i = 0; i < sampled; ++i) read(i * step_, sample.data() + i * key_bytes());
    sample_ = std::move(sample);
}

void SortedKeys::read(std::uint64_t record, std::byte* key) const {
    if (record % step_ == 0 && !sample_.empty()) {
        std::memcpy(key, sample_.data() + record / step_ * key_bytes(), key_bytes());
        return;
    }
    file_.read(record_, record * format_.record_bytes());
    format_.make(record_.data(), key);
}

std::uint64_t SortedKeys::middle(std::uint64_t low, std::uint64_t high) const {
    const auto middle = low + (high - low) / 2, sampled = middle - middle % step_;
    if (sampled >= low) return sampled;
    return sampled + step_ < high ? sampled + step_ : middle;
}

std::uint64_t SortedKeys::count(const std::byte* key, Bound bound, std::uint64_t low, std::uint64_t high) const {
    std::vector<std::byte> other(key_bytes());
    while (low < high) {
        const auto at = middle(low, high);
        read(at, other.data());
        const int order = std::memcmp(other.data(), key, key_bytes());
        if (order < 0 || (order == 0 && bound == Bound::UpTo)) {
            low = at + 1;
        } else {
            high = at;
        }
    }
    return low;
}

namespace {

// A rank's range for a cut, and the record that it proposes to narrow the range: the middle one.
struct Proposal {
    std::uint64_t weight = 0, record = 0;
};

// The proposals of all ranks, one for each position, each followed by its key.
class Proposals {
  public:
    Proposals(const Comm& comm, std::size_t positions, std::size_t key_bytes)
        : comm_(comm),
          positions_(positions),
          bytes_(sizeof(Proposal) + key_bytes),
          key_bytes_(key_bytes),
          mine_(positions * bytes_),
          all_(comm.ranks() * mine_.size()) {}

    [[nodiscard]] std::byte* key(std::size_t position) { return mine_.data() + position * bytes_ + sizeof(Proposal); }
    void set(std::size_t position, const Proposal& proposal) {
        std::memcpy(mine_.data() + position * bytes_, &proposal, sizeof proposal);
    }
    void gather() {
        check(MPI_Allgather(mine_.data(), static_cast<int>(mine_.size()), MPI_BYTE, all_.data(),
                            static_cast<int>(mine_.size()), MPI_BYTE, comm_.get()),
              "MPI_Allgather");
    }
    [[nodiscard]] Proposal of(std::size_t rank, std::size_t position) const {
        Proposal proposal;
        std::memcpy(&proposal, at(rank, position), sizeof proposal);
        return proposal;
    }
    [[nodiscard]] const std::byte* key(std::size_t rank, std::size_t position) const {
        return at(rank, position) + sizeof(Proposal);
    }
    // The rank whose proposal is the weighted median. The number of ranks if no proposals are left.
    [[nodiscard]] std::size_t median(std::size_t position) const {
        std::vector<std::size_t> order;
        std::uint64_t weight = 0, before = 0;
        for (std::size_t r = 0; r < comm_.ranks(); ++r) {
            if (of(r, position).weight > 0) order.push_back(r);
            weight += of(r, position).weight;
        }
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
            return std::memcmp(key(a, position), key(b, position), key_bytes_) < 0;
        });
        for (const auto r : order) {
            before += of(r, position).weight;
            if (2 * before >= weight) return r;
        }
        return comm_.ranks();
    }

  private:
    [[nodiscard]] const std::byte* at(std::size_t rank, std::size_t position) const {
        return all_.data() + (rank * positions_ + position) * bytes_;
    }
    const Comm& comm_;
    std::size_t positions_, bytes_, key_bytes_;
    std::vector<std::byte> mine_, all_;
};

}  // namespace

std::vector<std::uint64_t> cuts_at(const Comm& comm, const SortedKeys& keys, std::span<const std::uint64_t> positions) {
    // The cut for position i is in [low[i], high[i]].
    std::vector<std::uint64_t> low(positions.size(), 0), high(positions.size(), keys.size()), counts(positions.size());
    const auto me = static_cast<std::size_t>(comm.rank());
    Proposals proposals(comm, positions.size(), keys.key_bytes());
    for (;;) {
        comm.together([&] {
            for (std::size_t i = 0; i < positions.size(); ++i) {
                Proposal mine{.weight = high[i] - low[i]};
                if (mine.weight > 0) {
                    mine.record = keys.middle(low[i], high[i]);
                    keys.read(mine.record, proposals.key(i));
                }
                proposals.set(i, mine);
            }
        });
        proposals.gather();
        bool is_done = true;
        std::vector<std::size_t> medians(positions.size());
        comm.together([&] {
            for (std::size_t i = 0; i < positions.size(); ++i) {
                const auto rank = medians[i] = proposals.median(i);
                counts[i] = low[i];
                if (rank == comm.ranks()) continue;
                is_done = false;
                // Counts records before the median. Records with an equal key come before it if their rank does.
                const auto bound = me < rank ? SortedKeys::Bound::UpTo : SortedKeys::Bound::Below;
                counts[i] = me == rank ? proposals.of(rank, i).record
                                       : keys.count(proposals.key(rank, i), bound, low[i], high[i]);
            }
        });
        if (is_done) return low;
        auto all = counts;
        comm.sum(all);
        for (std::size_t i = 0; i < positions.size(); ++i) {
            if (medians[i] == comm.ranks()) continue;
            // Whether the median is among the first places[i].
            if (all[i] < positions[i]) {
                low[i] = counts[i] + (me == medians[i] ? 1 : 0);
            } else {
                high[i] = counts[i];
            }
        }
    }
}

}  // namespace quadmill::detail::mpi
