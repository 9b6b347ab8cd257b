#include "external/block_maker.hpp"

#include <utility>

namespace quadmill::detail::external {

BlockMaker::BlockMaker(Make make, Tick tick)
    : tick_(std::move(tick)), thread_([this, make = std::move(make)] { gate_.run([&] { fill_blocks(make); }); }) {}

BlockMaker::~BlockMaker() {
    gate_.fail({});
    thread_.join();
}

void BlockMaker::fill_blocks(const Make& make) {
    const auto stream = make([this] {
        if (gate_.failed()) throw Abandoned{};
    });
    while (const auto block = wanted_.pop()) filled_.push(stream->fill(*block));
}

}  // namespace quadmill::detail::external
