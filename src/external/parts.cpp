#include "external/parts.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "external/records.hpp"

namespace quadmill::detail::external {

Parts::Parts(const Plan& plan, std::function<std::unique_ptr<PartMaker>(const Tick& tick)> make_maker, Shape shape,
             StageClock& clock, Tick tick)
    : plan_(plan), make_maker_(std::move(make_maker)), shape_(std::move(shape)), clock_(clock), tick_(std::move(tick)) {
    for (std::size_t i = 0; i < memories(plan.threads); ++i) {
        spaces_.push_back(std::make_unique<Space>(plan.memory, gate_));
        free_.push(spaces_.back().get());
    }
    try {
        for (std::size_t i = 0; i < plan.threads; ++i)
            threads_.emplace_back([this] { gate_.run([this] { make_parts(); }); });
    } catch (const std::system_error&) {
        if (threads_.empty()) throw;  // otherwise those that run are enough
    }
}

Parts::~Parts() {
    gate_.fail({});
    for (auto& thread : threads_) thread.join();
}

// A thread takes memory before it begins the next part, so the earliest part that is not given always has memory.
void Parts::make_parts() {
    const auto maker = make_maker_([this] {
        if (gate_.failed()) throw Abandoned{};
    });
    while (const auto space = free_.pop()) {
        const auto part = begun_++;
        if (part >= plan_.parts) return free_.push(*space);
        make_part(part, *maker, **space);
    }
}

void Parts::make_part(std::size_t part, PartMaker& maker, Space& space) {
    const auto records = maker.make(part);
    if (!records) return made_.push({part, 0, &space, Piece::Then::End});
    const auto shaped = shape_ ? shape_(*records) : nullptr;
    Stream& stream = shaped ? *shaped : *records;
    for (;;) {
        std::size_t bytes = 0;
        {
            const AtWork work(clock_);
            bytes = stream.fill({space.memory.data(), plan_.memory});
        }
        const auto then = bytes < plan_.memory ? Piece::Then::End : Piece::Then::More;
        made_.push({part, bytes, &space, then});
        if (then == Piece::Then::End) return;
        space.was_read.pop();
    }
}

// Gives back the memory of the piece.
void Parts::release() {
    const auto [part, bytes, space, then] = std::exchange(piece_, {});
    if (!space) return;
    if (then == Piece::Then::More) return space->was_read.push(true);
    free_.push(space);
    ++part_;
}

bool Parts::next_piece() {
    release();
    if (part_ == plan_.parts) return false;
    for (;;) {
        if (const auto early = early_.extract(part_)) {
            piece_ = early.mapped();
            rest_ = {piece_.space->memory.data(), piece_.bytes};
            return true;
        }
        const auto piece = wait_for(made_, gate_, tick_);
        early_.emplace(piece.part, piece);
    }
}

std::size_t Parts::fill(std::span<std::byte> memory) {
    std::size_t filled = 0;
    for (;;) {
        const auto part = std::min(rest_.size(), memory.size() - filled);
        if (part > 0) std::memcpy(memory.data() + filled, rest_.data(), part);
        rest_ = rest_.subspan(part);
        filled += part;
        if (filled == memory.size() || !next_piece()) return filled;
    }
}

std::span<const std::byte> Parts::next() {
    while (rest_.empty()) {
        if (!next_piece()) return {};
    }
    const auto left = rest_.size();
    const auto bytes = left >= sizeof(SizedHeader) ? SizedHeader::of(rest_.data()).bytes : std::size_t{0};
    if (bytes > 0 && bytes <= left) {
        const auto record = rest_.first(bytes);
        rest_ = rest_.subspan(bytes);
        return record;
    }
    joined_.resize(sizeof(SizedHeader));
    static_cast<void>(fill(joined_));
    joined_.resize(SizedHeader::of(joined_.data()).bytes);
    static_cast<void>(fill(std::span(joined_).subspan(sizeof(SizedHeader))));
    return joined_;
}

}  // namespace quadmill::detail::external
