// Fills slots with records: from a file, by offsets, or from a pipe or a program, one after the other.
#pragma once

#include <functional>
#include <string>

#include "external/run_maker.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::external {

// The longest line, and the bytes of memory that a longer one takes.
struct LineLimit {
    std::size_t longest = 0;
    std::function<std::size_t(std::uint64_t bytes)> memory_for{};
};

// A line that phase 2 could not be sure to merge.
class LineTooLong final : public IoError {
  public:
    LineTooLong(const std::string& fact, std::size_t memory, const FilePlace& source, std::uint64_t offset)
        : IoError(fact + "; memory of " + std::to_string(memory) + " bytes would do", source.path, offset),
          fact_(fact),
          memory_(memory) {}
    // Which line it is, how long it is, and how long it may be.
    [[nodiscard]] const std::string& fact() const { return fact_; }
    // Bytes that would do.
    [[nodiscard]] std::size_t memory() const { return memory_; }

  private:
    std::string fact_;
    std::size_t memory_;
};

// Fills slots with arriving bytes. The part that does not fit goes to the next slot; a slot waits until it is known
// whether it is the last.
class Filler {
  public:
    // `source`: for messages.
    Filler(const Format& format, RunMaker& maker, LineLimit lines, FilePlace source)
        : format_(format), maker_(maker), lines_(std::move(lines)), source_(std::move(source)) {}

    // Space for the next bytes, at least one.
    std::span<std::byte> space();
    // That many bytes have arrived in space().
    void add(std::size_t bytes);
    void push(std::span<const std::byte> bytes);
    // Reads all of a source without offsets.
    void read_stream(std::size_t block, Transfers& io);
    // Reads all of a file with offsets, directly into the slots.
    void read_file(std::uint64_t size, std::size_t block, Transfers& io);
    // Throws IoError if the last record is truncated. Returns the slot with all records, sorted, if they fit into one;
    // otherwise all are in runs.
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
    Slot* slot_ = nullptr;  // that is being filled
    Slot* full_ = nullptr;  // the one before it
    std::uint64_t bytes_ = 0, records_ = 0, runs_ = 0;
};

}  // namespace quadmill::detail::external
