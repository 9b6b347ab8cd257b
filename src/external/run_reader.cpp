#include "external/run_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill::detail::external {

RunReader::RunReader(const std::vector<Input>& inputs, std::size_t margin, std::size_t block, StageClock& clock,
                     Tick tick)
    : margin_(margin),
      memory_(inputs.size() * 2 * (margin + block) + readable),
      own_io_(std::in_place, files::BlockIo::Method::Auto, clock, std::move(tick)),
      io_(*own_io_) {
    add_blocks(inputs, memory_.data(), block);
}

RunReader::RunReader(const std::vector<Input>& inputs, std::size_t margin, std::span<std::byte> memory, Transfers& io)
    : margin_(margin), io_(io) {
    std::uint64_t pages = 0;
    for (const auto& input : inputs) pages += files::page_up(input.place.offset % files::page + input.bytes);
    if (pages <= memory.size()) {
        add_whole(inputs, memory.data());
    } else {
        add_blocks(inputs, memory.data(), files::page_down(memory.size() / (2 * inputs.size())) - margin);
    }
}

RunReader::Run& RunReader::add(const Input& input) {
    const auto skip = input.place.offset % files::page;
    return runs_.emplace_back(Run{.place = input.place,
                                  .next = input.place.offset - skip,
                                  .end = input.place.offset + input.bytes,
                                  .skip = static_cast<std::size_t>(skip)});
}

void RunReader::add_blocks(const std::vector<Input>& inputs, std::byte* memory, std::size_t block) {
    for (const auto& input : inputs) {
        auto& run = add(input);
        run.block = block;
        for (auto& begin : run.blocks) {
            begin = memory + margin_;
            memory += margin_ + block;
        }
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) read_next(i);
}

// Nothing is moved to the front of a block if there is only one.
void RunReader::add_whole(const std::vector<Input>& inputs, std::byte* memory) {
    for (const auto& input : inputs) {
        auto& run = add(input);
        run.block = files::page_up(run.end - run.next);
        run.blocks[0] = memory;
        memory += run.block;
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) read_next(i);
}

// Begins to read into the block that is not in use.
void RunReader::read_next(std::size_t which) {
    auto& run = runs_[which];
    run.has_come = false;
    run.coming = static_cast<std::size_t>(std::min<std::uint64_t>(run.end - run.next, run.block));
    if (run.coming == 0) return;
    // The last page of a run was written completely.
    io_.read(run.place.file, {run.blocks[1 - run.current], files::page_up(run.coming)}, run.next, which);
    run.next += run.coming;
}

void RunReader::wait_for(std::size_t which) {
    while (!runs_[which].has_come) {
        const auto done = io_.next();
        auto& run = runs_[done.tag];
        const auto at = run.next - run.coming + done.bytes;
        if (done.error != 0) fail_io("read", run.place, at, done.error);
        if (done.bytes < run.coming)
            throw IoError(run.place.name + " ends at byte " + std::to_string(at) + ", where there was more before",
                          run.place.path, at);
        run.has_come = true;
    }
}

bool RunReader::next_block(std::size_t which) {
    auto& run = runs_[which];
    if (run.coming == 0) return false;
    wait_for(which);
    auto* begin = run.blocks[1 - run.current];
    const auto left = static_cast<std::size_t>(run.to - run.at);
    if (left > 0) std::memcpy(begin - left, run.at, left);
    run.at = begin - left + std::exchange(run.skip, 0);
    run.to = begin + run.coming;
    run.current = 1 - run.current;
    read_next(which);
    return true;
}

}  // namespace quadmill::detail::external
