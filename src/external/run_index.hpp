// Some keys of a run and where their records are, so that several threads can merge parts of runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "external/blocks.hpp"
#include "external/slot.hpp"

namespace quadmill::detail::external {

// Which records may be in different parts: also those with equal keys, or not.
enum class EqualKeys { Apart, Together };

// A position between records of all runs. Of records with this key, those of earlier runs and those before the offset
// in this run come before it.
struct Boundary {
    std::vector<std::byte> key;
    std::size_t run = 0;
    std::uint64_t offset = 0;

    [[nodiscard]] bool comes_after(std::span<const std::byte> record_key, std::size_t of_run, std::uint64_t at) const;
    bool operator==(const Boundary&) const = default;
};

// The first record of `bytes`, with its key.
struct FoundRecord {
    std::size_t bytes = 0;  // 0: its length is not known
    std::span<const std::byte> key{};
    bool is_whole = false;  // the key
};
// `made` has the key if it must be made. Valid as long as both.
[[nodiscard]] FoundRecord first_record(const Format& format, std::span<const std::byte> bytes,
                                       std::vector<std::byte>& made);

class RunIndex {
  public:
    // The first bytes of a record's key.
    struct Sample {
        std::uint64_t offset;
        std::uint32_t key_begin;
        std::uint16_t key_bytes;
        bool is_cut;
    };
    static constexpr std::size_t longest_key = 128;

    // Pre: the record is after those that were added before.
    void add(std::uint64_t offset, std::span<const std::byte> key);
    // Keeps every second sample, of one none.
    void thin();
    [[nodiscard]] std::size_t memory() const { return samples_.size() * sizeof(Sample) + keys_.size(); }
    [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }
    [[nodiscard]] std::span<const std::byte> key(const Sample& sample) const {
        return std::span(keys_).subspan(sample.key_begin, sample.key_bytes);
    }
    // Max bytes from a sample to the next one, or from the begin or to the end of the run.
    [[nodiscard]] std::uint64_t longest_gap(std::uint64_t run_bytes) const;
    // The position at a sample of run `run`, or at the first record with its key or the part of it that is here.
    [[nodiscard]] Boundary boundary(const Sample& sample, std::size_t run, EqualKeys equal) const;

    // The first record after the boundary is in bytes [from, to) of the run `run`, or at `to`.
    struct Bracket {
        std::uint64_t from, to;
    };
    [[nodiscard]] Bracket bracket(const Boundary& boundary, std::size_t run, std::uint64_t run_bytes) const;

  private:
    std::vector<Sample> samples_;
    std::vector<std::byte> keys_;
};

// How densely runs are sampled, so that their indexes fit into the memory.
struct Sampling {
    std::size_t memory = 0;
    std::size_t interval = 0;  // bytes from a sample to the next one, at least
};

// Passes on the records of a run, and makes its index.
class IndexedStream final : public Stream {
  public:
    IndexedStream(const Format& format, Stream& records, std::size_t interval, RunIndex& index)
        : format_(format),
          records_(records),
          gather_(format.kind() == RecordFormat::Kind::Sized ? dynamic_cast<const Gather*>(&records) : nullptr),
          interval_(interval),
          index_(index) {}
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;

  private:
    void sample_begins(std::span<const std::byte> bytes);
    void scan(std::span<const std::byte> bytes);
    void scan_lines(std::span<const std::byte> bytes);
    void sample(const FoundRecord& record);

    const Format& format_;
    Stream& records_;
    const Gather* gather_;  // if it knows where records begin, so that not each is read
    std::size_t interval_;
    RunIndex& index_;
    std::uint64_t at_ = 0, next_ = 0, wanted_ = 0;  // offsets: of the bytes, of the next record, of the next sample
    std::vector<std::byte> cut_, made_;             // cut_: a header that began in the bytes before
};

}  // namespace quadmill::detail::external
