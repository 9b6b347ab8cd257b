// Records of one run in memory, with their keys and order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cpu/workers.hpp"
#include "external/blocks.hpp"
#include "external/records.hpp"
#include "external/wide_keys.hpp"
#include "files/block_io.hpp"

namespace quadmill::detail::external {

// A record format that was checked.
class Format {
  public:
    // Throws InvalidArgument; its message begins with `function`.
    Format(const char* function, const RecordFormat& format);
    [[nodiscard]] RecordFormat::Kind kind() const { return kind_; }
    // Nothing for lines and records that tell their length.
    [[nodiscard]] const std::optional<FixedKeys>& fixed() const { return fixed_; }
    // Bytes of a slot's data for a record's key: of the key, or of the place of a record.
    [[nodiscard]] std::size_t index_bytes() const;

  private:
    RecordFormat::Kind kind_;
    std::optional<FixedKeys> fixed_;
};

// Sizes of a slot.
struct SlotSize {
    std::size_t bytes = 0;    // of records
    std::size_t records = 0;  // max number
    [[nodiscard]] std::size_t memory(const Format& format) const;
};

// Whole records that tell their length. `readable` bytes after them can be read, too.
struct SomeRecords {
    static constexpr std::size_t readable = RecordPlace::bytes_read;
    std::span<const std::byte> bytes{};
    std::size_t records = 0;
};

class Slot {
  public:
    Slot(const Format& format, SlotSize size);

    // Makes the slot empty. Records will begin `skew` bytes after the beginning of a page.
    void reset(std::size_t skew);
    // All of its memory, aligned to pages: two pages more than the space for records.
    [[nodiscard]] std::byte* pages() const { return memory_.data(); }
    // Memory after the records, for more of them.
    [[nodiscard]] std::span<std::byte> space() const;
    // Adds that many new bytes: finds the records in them and makes their keys. Lines are coded.
    // Throws InvalidArgument for a header that is not valid.
    void add(std::size_t bytes);
    // The number of these parts, from the first one on, for which there is space.
    [[nodiscard]] std::size_t fitting(std::span<const SomeRecords> parts) const;
    // Adds records; threads copy them. Pre: there is space for them.
    void add(std::span<const SomeRecords> parts, const cpu::Workers& workers);
    // Takes the incomplete record from the end of another slot. Pre: empty.
    void add_rest(const Slot& other);
    // Ends the last line if its end is missing. Pre: not full.
    void end_last_line();

    [[nodiscard]] bool is_full() const;
    // Whether it has as many records as it can have.
    [[nodiscard]] bool has_all_records() const { return records_ == size_.records; }
    [[nodiscard]] std::size_t records() const { return records_; }
    // The bytes of complete records, followed by those of an incomplete one.
    [[nodiscard]] std::size_t bytes() const { return whole_; }
    [[nodiscard]] std::span<const std::byte> rest() const { return {begin_ + whole_, filled_ - whole_}; }
    [[nodiscard]] std::size_t longest() const { return longest_; }

    [[nodiscard]] WideKeys keys() const;
    [[nodiscard]] std::span<std::uint32_t> order() const;
    // Record i in the order of the input.
    [[nodiscard]] std::span<const std::byte> record(std::size_t i) const;
    // Prefetches where record i is.
    [[gnu::always_inline]] void prefetch_place(std::size_t i) const {
        const auto* place = index_.data() + i * format_->index_bytes();
        __builtin_prefetch(place);
        __builtin_prefetch(place + format_->index_bytes());  // has the end of the record
    }

  private:
    void add_lines(std::size_t search);
    void add_sized();
    std::size_t add_some(const SomeRecords& some, std::size_t at, std::size_t number);
    [[nodiscard]] RecordPlace place_of(std::span<const std::byte> key) const;
    void end_line(std::size_t end);
    void end_record(std::size_t end);
    [[nodiscard]] std::uint64_t* offsets() const { return reinterpret_cast<std::uint64_t*>(index_.data()); }
    [[nodiscard]] RecordPlace* places() const { return reinterpret_cast<RecordPlace*>(index_.data()); }

    const Format* format_;
    SlotSize size_;
    files::Memory memory_, index_, order_;
    std::byte* begin_ = nullptr;
    std::size_t filled_ = 0, whole_ = 0, records_ = 0, coded_ = 0, longest_ = 0;
};

// The records of a slot, in sorted order.
class Gather final : public RecordStream {
  public:
    Gather(const Slot& slot, cpu::Workers& workers) : Gather(slot, workers, 0, slot.records()) {}
    // Gives the records at positions [begin, end) of the order.
    Gather(const Slot& slot, cpu::Workers& workers, std::size_t begin, std::size_t end)
        : slot_(slot), workers_(workers), next_(begin), end_(end) {}
    [[nodiscard]] std::size_t fill(std::span<std::byte> memory) override;
    [[nodiscard]] std::span<const std::byte> next() override;
    // Where some records of different lengths begin in the memory that was filled last, in order. Of each part of
    // `cell` bytes it is one, or `none`.
    [[nodiscard]] std::span<const std::size_t> begins() const { return begins_; }
    static constexpr std::size_t cell = std::size_t{2} << 10U, none = static_cast<std::size_t>(-1);

  private:
    // Positions of the order, and bytes that are filled.
    struct Part {
        std::size_t next, end, filled;
    };
    [[nodiscard]] std::size_t fill_with_records(std::span<std::byte> memory, std::size_t filled);
    [[nodiscard]] std::size_t fill_in_tasks(std::span<std::byte> memory, std::size_t filled);
    [[nodiscard]] Part copy(Part part, std::span<std::byte> memory);

    const Slot& slot_;
    cpu::Workers& workers_;
    std::size_t next_, end_;
    std::vector<std::size_t> begins_;
    std::span<const std::byte> rest_;  // rest of a record that was cut
};

}  // namespace quadmill::detail::external
