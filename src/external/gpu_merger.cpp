#include "external/gpu_merger.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace quadmill::detail::external {

GpuMerger::GpuMerger(const Format& format, const std::vector<RunReader::Input>& inputs, std::size_t block,
                     const Context& context, unsigned threads, StageClock& reading, Tick tick)
    : format_(format.fixed().value()),
      block_(block),
      workers_(threads),
      merge_(context, threads),
      reader_(inputs, block, block, reading, std::move(tick)),
      keys_(format_.is_verbatim() ? 0 : inputs.size()) {}

// Twice the blocks with their margins; and for each record in a block a key, an item, its index and two transfers of
// the item.
std::size_t GpuMerger::memory(const Format& format, std::size_t runs, std::size_t block) {
    const auto& keys = format.fixed().value();
    const auto records = 2 * block / keys.record_bytes() + 1;
    const auto made = keys.is_verbatim() ? 0 : keys.key_bytes();
    return runs * (4 * block + records * (made + sizeof(RunPlace) + 2 * 3 * sizeof(std::uint64_t)));
}

// Makes keys that compare as bytes, unless the records contain them unchanged.
void GpuMerger::make_keys() {
    workers_.for_each(keys_.size(), [&](std::size_t r) {
        keys_[r].resize(blocks_[r].count * format_.key_bytes());
        format_.make(reader_.runs()[r].at, blocks_[r].count, keys_[r].data());
        blocks_[r].keys = {.bytes = keys_[r], .stride = format_.key_bytes(), .length = format_.key_bytes()};
    });
}

// Drops the records that were passed on, refills the blocks and merges them. False at the end.
bool GpuMerger::merge_blocks() {
    const auto bytes = format_.record_bytes();
    auto& runs = reader_.runs();
    for (const auto& place : order_) runs[place.run].at += bytes;
    blocks_.clear();
    for (std::size_t r = 0; r < runs.size(); ++r) {
        auto& run = runs[r];
        // The rest of the block must fit into the margin.
        if (static_cast<std::size_t>(run.to - run.at) <= block_) reader_.next_block(r);
        const std::span here(run.at, run.to);
        const auto skipped = std::min(format_.is_verbatim() ? format_.offset() : 0, here.size());
        blocks_.push_back({{.bytes = here.subspan(skipped), .stride = bytes, .length = format_.key_bytes()},
                           here.size() / bytes,
                           run.coming > 0 ? RunBlock::Rest::More : RunBlock::Rest::None});
    }
    make_keys();
    order_ = merge_.merge(blocks_);
    given_ = 0;
    return !order_.empty();
}

// Copies bytes of the records in order, beginning with byte `given_`.
void GpuMerger::take(std::span<std::byte> memory) {
    constexpr std::size_t piece = std::size_t{1} << 16U;
    const auto bytes = format_.record_bytes();
    workers_.for_each((memory.size() + piece - 1) / piece, [&](std::size_t task) {
        const auto part = memory.subspan(task * piece, std::min(piece, memory.size() - task * piece));
        auto at = (given_ + task * piece) / bytes, within = (given_ + task * piece) % bytes;
        for (std::size_t done = 0; done < part.size(); ++at, within = 0) {
            const auto [run, key] = order_[at];
            const auto size = std::min(bytes - within, part.size() - done);
            std::memcpy(part.data() + done, reader_.runs()[run].at + key * bytes + within, size);
            done += size;
        }
    });
    given_ += memory.size();
}

std::size_t GpuMerger::fill(std::span<std::byte> memory) {
    std::size_t filled = 0;
    while (filled < memory.size()) {
        const auto left = order_.size() * format_.record_bytes() - given_;
        if (left == 0) {
            if (!merge_blocks()) break;
            continue;
        }
        const auto size = std::min(left, memory.size() - filled);
        take(memory.subspan(filled, size));
        filled += size;
    }
    return filled;
}

}  // namespace quadmill::detail::external
