// Fills slots with records: from a file by offsets, or sequentially from a pipe or a program.
#pragma once

#include <functional>
#include <string>

#include "external/run_maker.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::external {

// The longest permitted line, and the bytes of memory that would permit a longer one.
struct LineLimit {
    std::size_t longest = 0;
    std::function<std::size_t(std::uint64_t bytes)> memory_for{};
};

// A line for which phase 2 could not guarantee memory to merge.
class LineTooLong final : public IoError {
  public:
    LineTooLong(const std::string& fact, std::size_t memory, const FilePlace& source, std::uint64_t offset)
        : IoError(fact + "; memory of " + std::to_string(memory) + " bytes is enough", source.path, offset),
          fact_(fact),
          memory_(memory) {}
    // Which line it is, its length, and the limit.
    [[nodiscard]] const std::string& fact() const { return fact_; }
    // Bytes of memory that would suffice.
    [[nodiscard]] std::size_t memory() const { return memory_; }

  private:
    std::string fact_;
    std::size_t memory_;
};

// Fills slots with bytes as they arrive. The incomplete record at the end goes to the next slot. A full slot waits
// until it is known whether it is the last one.
class Filler {
  public:
    // `source` is for messages.
    Filler(const Format& format, RunMaker& maker, LineLimit lines, FilePlace source)
        : format_(format), maker_(maker), lines_(std::move(lines)), source_(std::move(source)) {}

    // Space for the next bytes, at least one.
    std::span<std::byte> space();
    // Adds that many bytes, which have been written to space().
    void add(std::size_t bytes);
    void push(std::span<const std::byte> bytes);
    // Adds records; threads copy them.
    void push(std::span<const SomeRecords> parts, const cpu::Workers& workers);
    // Reads all of a source that has no offsets.
    void read_stream(std::size_t block, Transfers& io);
    // Reads all of a file with offsets, directly into the slots.
    void read_file(std::uint64_t size, std::size_t block, Transfers& io);
    // Throws IoError if the last record is truncated. If all records fit into one slot, returns it, sorted. Otherwise
    // all records are in runs.
    Slot* finish();

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::uint64_t records() const { return records_; }

  private:
    void submit(Slot& slot);
    void take(Slot& slot, std::size_t bytes);
    void check_lines(const Slot& slot) const;
    [[noreturn]] void refuse_line(std::uint64_t number, std::uint64_t offset, std::uint64_t seen, bool ended) const;
    void check_end(std::uint64_t end, std::uint64_t size) const;
    void read_slot(Slot& slot, std::uint64_t size, std::size_t block, Transfers& io);

    const Format& format_;
    RunMaker& maker_;
    LineLimit lines_;
    FilePlace source_;
    Slot* slot_ = nullptr;  // the slot that is being filled
    Slot* full_ = nullptr;  // the previous slot
    std::uint64_t bytes_ = 0, records_ = 0, runs_ = 0;
};

}  // namespace quadmill::detail::external
