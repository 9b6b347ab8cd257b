// How records come into slots: from a file, at its offsets, or from a pipe or a program, one after the other.
#pragma once

#include <string>

#include "external/run_maker.hpp"

namespace quadmill::detail::external {

// Fills slots with bytes as they come. What a slot has no room for goes to the next one; a slot waits until it is known
// whether it is the last.
class Filler {
  public:
    // `source`: for messages.
    Filler(const Format& format, RunMaker& maker, std::size_t longest_line, FilePlace source)
        : format_(format), maker_(maker), longest_line_(longest_line), source_(std::move(source)) {}

    // Where the next bytes go, at least one.
    std::span<std::byte> space();
    // So many bytes have come to space().
    void add(std::size_t bytes);
    void push(std::span<const std::byte> bytes);
    // All of a source that has no offsets.
    void read_stream(std::size_t block, Transfers& io);
    // All of a file that has, straight into the slots.
    void read_file(std::uint64_t size, std::size_t block, Transfers& io);
    // Throws IoError when the last record is cut off. Returns the slot that holds all records, sorted, where one does;
    // otherwise all are in runs.
    Slot* finish();

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] std::uint64_t records() const { return records_; }

  private:
    void submit(Slot& slot);
    void take(Slot& slot, std::size_t bytes);
    void check_end(std::uint64_t end, std::uint64_t size) const;
    void read_slot(Slot& slot, std::uint64_t size, std::size_t block, Transfers& io);

    const Format& format_;
    RunMaker& maker_;
    std::size_t longest_line_;
    FilePlace source_;
    Slot* slot_ = nullptr;  // that is being filled
    Slot* full_ = nullptr;  // the one before it
    std::uint64_t bytes_ = 0, records_ = 0, runs_ = 0;
};

}  // namespace quadmill::detail::external
