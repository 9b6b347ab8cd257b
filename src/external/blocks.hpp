// Sorted bytes from a merge or a sort, and asynchronous writes of them to a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "external/gate.hpp"
#include "external/stage.hpp"
#include "files/block_io.hpp"
#include "files/temporary_file.hpp"

namespace quadmill::detail::external {

// The bytes of records, in order.
class Stream {
  public:
    Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    virtual ~Stream() = default;
    // Fills the memory. Returns fewer bytes only at the end.
    [[nodiscard]] virtual std::size_t fill(std::span<std::byte> memory) = 0;
};

// A stream that also gives one record at a time.
class RecordStream : public Stream {
  public:
    // The next record, valid until the next call; empty at the end. Pre: fill() has cut no record.
    [[nodiscard]] virtual std::span<const std::byte> next() = 0;
};

// Transfers of one stage. The stage's clock runs while some are in flight. Errors are IoErrors.
class Transfers {
  public:
    Transfers(files::BlockIo::Method method, StageClock& clock, Tick tick)
        : io_(method), clock_(clock), tick_(std::move(tick)) {}
    void read(int file, std::span<std::byte> memory, std::uint64_t offset, std::uint64_t tag);
    void write(int file, std::span<const std::byte> memory, std::uint64_t offset, std::uint64_t tag);
    [[nodiscard]] std::size_t in_flight() const { return io_.in_flight(); }
    // A finished transfer. Pre: at least one is in flight.
    files::BlockIo::Done next();
    [[nodiscard]] const char* name() const { return io_.name(); }

  private:
    void begin();
    files::BlockIo io_;
    StageClock& clock_;
    Tick tick_;
};

// Where bytes are written: an open file or a part of one. `name` is for messages.
struct FilePlace {
    int file = -1;
    std::uint64_t offset = 0;
    std::string name, path{};
    bool is_file = false;  // whether it can be read at any offset
};

// Writes blocks asynchronously while the next ones are filled.
class BlockWriter {
  public:
    BlockWriter(files::BlockIo::Method method, std::size_t block, StageClock& clock, Tick tick);
    static constexpr std::size_t blocks = 3;

    // Pre: the previous place is finished.
    void begin(FilePlace place);
    // A block to fill. Waits until one is free.
    std::span<std::byte> block();
    // Writes that many bytes of the block. Only the last block before finish() may be incomplete. In files with offsets
    // its last page is written completely.
    void write(std::size_t bytes);
    // Waits until everything is written. Returns the number of bytes, not counting the padding of the last page.
    std::uint64_t finish();
    // Writes a whole stream. `clock` counts the stream's time. Returns the number of bytes.
    std::uint64_t write_all(Stream& stream, StageClock& clock);
    [[nodiscard]] const char* name() const { return io_.name(); }

  private:
    void reap();
    bool pads_;
    std::size_t block_;
    files::Memory memory_;
    FilePlace place_;
    std::uint64_t written_ = 0;
    std::vector<std::size_t> free_;
    Transfers io_;  // last member, so that its destructor waits before the memory is freed
};

// Runs in temporary files, one per folder. The folders take turns.
class TemporarySpace {
  public:
    explicit TemporarySpace(std::vector<std::string> folders) : folders_(std::move(folders)) {}
    struct Run {
        std::size_t file = 0;
        std::uint64_t offset = 0, bytes = 0, passes = 0;  // passes: how often it was merged
    };
    // Begins the next run. end_run() ends it.
    Run begin();
    void end(const Run& run);
    [[nodiscard]] FilePlace place(const Run& run) const;
    // Frees the disk space, if the file system can do that.
    void release(const Run& run);

  private:
    std::vector<std::string> folders_;
    std::vector<files::TemporaryFile> files_;  // opened for the first run
    std::vector<std::uint64_t> ends_;
    std::size_t next_ = 0;
};

[[noreturn]] void fail_io(const std::string& what, const FilePlace& place, std::uint64_t at, int error);

// Throws IoError if the last record is truncated. `end` is the end of the complete records, `size` of all bytes.
void check_end(const FilePlace& place, std::uint64_t end, std::uint64_t size, std::size_t record_bytes);

}  // namespace quadmill::detail::external
