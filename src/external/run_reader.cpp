#include "external/run_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill::detail::external {

RunReader::RunReader(const std::vector<Input>& inputs, std::size_t margin, std::size_t block, StageClock& clock,
                     Tick tick)
    : margin_(margin),
      block_(block),
      memory_(inputs.size() * 2 * (margin + block)),
      io_(files::BlockIo::Method::Auto, clock, tick) {
    auto* memory = memory_.data();
    for (const auto& [place, bytes, make] : inputs) {
        auto& run = runs_.emplace_back(Run{.place = place, .next = place.offset, .end = place.offset + bytes});
        if (make) run.maker = std::make_unique<BlockMaker>(make, tick);
        for (auto& begin : run.blocks) {
            begin = memory;
            memory += margin + block;
        }
    }
    for (std::size_t i = 0; i < runs_.size(); ++i) read_next(i);
}

// Begins to read into the block that is not in use.
void RunReader::read_next(std::size_t which) {
    auto& run = runs_[which];
    run.has_come = false;
    if (run.maker) {
        run.coming = run.has_ended ? 0 : block_;
        if (run.coming > 0) run.maker->begin({run.blocks[1 - run.current] + margin_, block_});
        return;
    }
    run.coming = static_cast<std::size_t>(std::min<std::uint64_t>(run.end - run.next, block_));
    if (run.coming == 0) return;
    // The last page of a run was written completely.
    io_.read(run.place.file, {run.blocks[1 - run.current] + margin_, files::page_up(run.coming)}, run.next, which);
    run.next += run.coming;
}

void RunReader::wait_for(std::size_t which) {
    if (auto& run = runs_[which]; run.maker) {
        run.coming = run.maker->wait();
        run.has_ended = run.coming < block_;
        return;
    }
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
    if (run.coming == 0) return false;
    auto* begin = run.blocks[1 - run.current] + margin_;
    const auto left = static_cast<std::size_t>(run.to - run.at);
    if (left > 0) std::memcpy(begin - left, run.at, left);
    run.at = begin - left;
    run.to = begin + run.coming;
    run.current = 1 - run.current;
    read_next(which);
    return true;
}

}  // namespace quadmill::detail::external
