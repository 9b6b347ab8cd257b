#include "external/filler.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

namespace quadmill::detail::external {

void Filler::submit(Slot& slot) {
    records_ += slot.records();
    ++runs_;
    maker_.submit(slot);
}

// Takes bytes that are already in the slot's memory.
void Filler::take(Slot& slot, std::size_t bytes) {
    const AtWork work(maker_.clocks().keys);
    const auto before = slot.bytes();
    slot.add(bytes);
    bytes_ += slot.bytes() - before;
    if (!format_.fixed()) check_lines(slot);
}

void Filler::check_lines(const Slot& slot) const {
    auto at = bytes_ - slot.bytes();
    for (std::size_t i = 0; slot.longest() > lines_.longest; at += slot.record(i++).size()) {
        const auto bytes = slot.record(i).size();
        if (bytes > lines_.longest) refuse_line(records_ + i + 1, at, bytes, true);
    }
    // If the slot has no room for more records, its rest may be several of them, which the next slot finds.
    if (slot.rest().size() > lines_.longest && !slot.has_all_records())
        refuse_line(records_ + slot.records() + 1, bytes_, slot.rest().size(), false);
}

// If the end of the line has not been read yet, it is searched in the file, but only for some distance.
void Filler::refuse_line(std::uint64_t number, std::uint64_t offset, std::uint64_t seen, bool ended) const {
    constexpr std::uint64_t far = std::uint64_t{1} << 30U;
    const bool is_line = format_.kind() == RecordFormat::Kind::Lines;
    if (std::ifstream file(source_.path, std::ios::binary); is_line && !ended && source_.is_file && file) {
        file.seekg(static_cast<std::streamoff>(offset + seen));
        for (std::string some(std::size_t{1} << 18U, '\0'); !ended && seen < far;) {
            file.read(some.data(), static_cast<std::streamsize>(some.size()));
            const auto got = std::string_view(some).substr(0, static_cast<std::size_t>(file.gcount()));
            const auto end = got.find('\n');
            ended = end != std::string_view::npos || got.empty();
            seen += std::min(end, got.size()) + (ended ? 1 : 0);
        }
    }
    throw LineTooLong(source_.name + (is_line ? ": line " : ": record ") + std::to_string(number) + ", from byte " +
                          std::to_string(offset) + " on, has " + (ended ? "" : "at least ") + std::to_string(seen) +
                          " bytes, and this memory allows " + std::to_string(lines_.longest),
                      lines_.memory_for(seen), source_, offset);
}

std::span<std::byte> Filler::space() {
    while (!slot_ || slot_->space().empty()) {
        auto& next = maker_.slot();
        if (slot_ && slot_->rest().empty()) {
            full_ = slot_;
        } else if (slot_) {
            next.add_rest(*slot_);
            bytes_ += next.bytes();
            submit(*slot_);
            if (!format_.fixed()) check_lines(next);
        }
        slot_ = &next;
    }
    return slot_->space();
}

void Filler::add(std::size_t bytes) {
    if (full_ && bytes > 0) submit(*std::exchange(full_, nullptr));
    take(*slot_, bytes);
}

void Filler::push(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        // Works in parts, so that keys are made while their records are in the cache.
        constexpr std::size_t part = std::size_t{1} << 18;
        const auto to = space();
        const auto n = std::min({bytes.size(), to.size(), part});
        std::memcpy(to.data(), bytes.data(), n);
        add(n);
        bytes = bytes.subspan(n);
    }
}

void Filler::push(std::span<const SomeRecords> parts, const cpu::Workers& workers) {
    while (!parts.empty()) {
        static_cast<void>(space());
        const auto fitting = parts.first(slot_->fitting(parts));
        if (fitting.empty()) {
            push(parts.front().bytes);
            parts = parts.subspan(1);
            continue;
        }
        if (full_) submit(*std::exchange(full_, nullptr));
        const AtWork work(maker_.clocks().keys);
        const auto before = slot_->bytes();
        slot_->add(fitting, workers);
        bytes_ += slot_->bytes() - before;
        check_lines(*slot_);
        parts = parts.subspan(fitting.size());
    }
}

void Filler::read_stream(std::size_t block, Transfers& io) {
    for (;;) {
        const auto memory = space();
        io.read(source_.file, memory.first(std::min(memory.size(), block)), 0, 0);
        const auto done = io.next();
        if (done.error != 0) fail_io("read", source_, bytes_ + slot_->rest().size() + done.bytes, done.error);
        add(done.bytes);
        if (done.bytes < std::min(memory.size(), block)) return;
    }
}

void Filler::read_file(std::uint64_t size, std::size_t block, Transfers& io) {
    if (format_.fixed()) check_end(size / format_.fixed()->record_bytes() * format_.fixed()->record_bytes(), size);
    while (bytes_ < size) {
        auto& slot = maker_.slot();
        read_slot(slot, size, block, io);
        // If there are more records than the slot has room for, the next slot reads the rest again: there may be no
        // other slot now.
        const bool is_last = bytes_ + slot.rest().size() == size && (slot.rest().empty() || !slot.is_full());
        if (is_last) {
            slot_ = &slot;
            return;
        }
        submit(slot);
    }
}

// Reads the file from byte bytes_ on, in whole pages. If a run ends within a page, the next one reads that page again.
void Filler::read_slot(Slot& slot, std::uint64_t size, std::size_t block, Transfers& io) {
    constexpr std::size_t depth = 8;
    const auto start = bytes_, first = files::page_down(start);
    slot.reset(static_cast<std::size_t>(start - first));
    const auto end = start + std::min<std::uint64_t>(slot.space().size(), size - start);
    const auto blocks = static_cast<std::size_t>((end - first + block - 1) / block);
    const auto block_end = [&](std::size_t i) { return std::min<std::uint64_t>(end, first + (i + 1) * block); };
    std::vector<char> come(blocks);
    std::size_t begun = 0, taken = 0;
    const auto begin_one = [&] {
        const auto at = first + begun * block;
        const auto bytes = files::page_up(block_end(begun) - at);
        io.read(source_.file, {slot.pages() + (at - first), bytes}, at, begun);
        ++begun;
    };
    while (taken < blocks) {
        while (begun < blocks && io.in_flight() < depth && !slot.is_full()) begin_one();
        if (io.in_flight() == 0) break;  // the slot is full of short lines
        const auto done = io.next();
        const auto at = first + done.tag * block;
        if (done.error != 0) fail_io("read", source_, at + done.bytes, done.error);
        if (at + done.bytes < block_end(done.tag)) {
            throw IoError(source_.name + " became shorter while it was read: it ends at byte " +
                              std::to_string(at + done.bytes) + " of " + std::to_string(size),
                          source_.path, at + done.bytes);
        }
        for (come[done.tag] = 1; taken < blocks && come[taken] != 0; ++taken) {
            if (slot.is_full()) continue;
            take(slot, static_cast<std::size_t>(block_end(taken) - std::max(start, first + taken * block)));
        }
    }
}

void Filler::check_end(std::uint64_t end, std::uint64_t size) const {
    external::check_end(source_, end, size, format_.fixed()->record_bytes());
}

Slot* Filler::finish() {
    while (slot_ && slot_->is_full() && !slot_->rest().empty()) static_cast<void>(space());
    if (slot_ && !slot_->rest().empty()) {
        const auto rest = slot_->rest().size();
        if (format_.fixed()) check_end(bytes_, bytes_ + rest);
        if (format_.kind() == RecordFormat::Kind::Sized) {
            throw IoError(
                source_.name + " ends within a record: the last one has " + std::to_string(rest) + " bytes of " +
                    (rest < sizeof(SizedHeader) ? "its header"
                                                : std::to_string(SizedHeader::of(slot_->rest().data()).bytes)),
                source_.path, bytes_ + rest);
        }
        slot_->end_last_line();
        bytes_ += rest + 1;
    }
    auto* last = full_ ? full_ : slot_;
    if (last && runs_ == 0) {
        records_ = last->records();
        maker_.sort(*last);
        maker_.finish();
        return last;
    }
    if (last && last->records() > 0) submit(*last);
    maker_.finish();
    return nullptr;
}

}  // namespace quadmill::detail::external
