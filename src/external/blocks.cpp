#include "external/blocks.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill::detail::external {

void fail_io(const std::string& what, const FilePlace& place, std::uint64_t at, int error) {
    throw IoError("cannot " + what + " " + place.name + " at byte " + std::to_string(at) + ": " + std::strerror(error),
                  place.path, at);
}

void check_end(const FilePlace& place, std::uint64_t end, std::uint64_t size, std::size_t record_bytes) {
    if (end == size) return;
    throw IoError(place.name + " ends within a record: at byte " + std::to_string(end) + " there are " +
                      std::to_string(size - end) + " bytes left, and a record has " + std::to_string(record_bytes),
                  place.path, end);
}

void Transfers::begin() {
    if (io_.in_flight() == 0) clock_.begin();
}

void Transfers::read(int file, std::span<std::byte> memory, std::uint64_t offset, std::uint64_t tag) {
    begin();
    io_.read(file, memory, offset, tag);
}

void Transfers::write(int file, std::span<const std::byte> memory, std::uint64_t offset, std::uint64_t tag) {
    begin();
    io_.write(file, memory, offset, tag);
}

files::BlockIo::Done Transfers::next() {
    for (;;) {
        const auto done = io_.next(tick_time);
        if (done && io_.in_flight() == 0) clock_.end();
        if (tick_) tick_();
        if (done) return *done;
    }
}

BlockWriter::BlockWriter(files::BlockIo::Method method, std::size_t block, StageClock& clock, Tick tick)
    : pads_(method != files::BlockIo::Method::Stream),
      block_(block),
      memory_(blocks * block),
      io_(method, clock, std::move(tick)) {
    for (std::size_t i = 0; i < blocks; ++i) free_.push_back(i);
}

void BlockWriter::begin(FilePlace place) {
    place_ = std::move(place);
    written_ = 0;
}

void BlockWriter::reap() {
    const auto done = io_.next();
    const auto which = static_cast<std::size_t>(done.tag % blocks);
    if (done.error != 0) fail_io("write", place_, done.tag / blocks * block_ + done.bytes, done.error);
    free_.push_back(which);
}

std::span<std::byte> BlockWriter::block() {
    while (free_.empty()) reap();
    return {memory_.data() + free_.back() * block_, block_};
}

void BlockWriter::write(std::size_t bytes) {
    const auto which = free_.back();
    free_.pop_back();
    auto* data = memory_.data() + which * block_;
    auto size = bytes;
    if (pads_) {
        size = files::page_up(bytes);
        std::fill(data + bytes, data + size, std::byte{0});
    }
    io_.write(place_.file, {data, size}, place_.offset + written_, written_ / block_ * blocks + which);
    written_ += bytes;
}

std::uint64_t BlockWriter::finish() {
    while (io_.in_flight() > 0) reap();
    return written_;
}

std::uint64_t BlockWriter::write_all(Stream& stream, StageClock& clock) {
    for (;;) {
        const auto memory = block();
        std::size_t bytes = 0;
        {
            const AtWork work(clock);
            bytes = stream.fill(memory);
        }
        if (bytes > 0) write(bytes);
        if (bytes < memory.size()) return finish();
    }
}

TemporarySpace::Run TemporarySpace::begin() {
    if (files_.empty()) {
        files_.reserve(folders_.size());
        for (const auto& folder : folders_) {
            files_.emplace_back(folder);
            files::make_direct(files_.back().descriptor());
        }
        ends_.resize(folders_.size());
    }
    const auto file = next_++ % files_.size();
    return {.file = file, .offset = ends_[file]};
}

void TemporarySpace::end(const Run& run) {
    ends_[run.file] = run.offset + files::page_up(run.bytes);
}

FilePlace TemporarySpace::place(const Run& run) const {
    const auto& file = files_[run.file];
    return {file.descriptor(), run.offset, "a temporary file in '" + file.folder() + "'", file.folder()};
}

void TemporarySpace::release(const Run& run) {
    fallocate(files_[run.file].descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(run.offset),
              static_cast<off_t>(files::page_up(run.bytes)));
}

}  // namespace quadmill::detail::external
