#include "external/run_index.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "external/wide_keys.hpp"

namespace quadmill::detail::external {

bool Boundary::comes_after(std::span<const std::byte> record_key, std::size_t of_run, std::uint64_t at) const {
    const int order = compare(record_key, key, 0);
    if (order != 0) return order < 0;
    return of_run != run ? of_run < run : at < offset;
}

FoundRecord first_record(const Format& format, std::span<const std::byte> bytes, std::vector<std::byte>& made) {
    if (const auto& keys = format.fixed()) {
        const auto length = keys->record_bytes();
        if (bytes.size() < length) return {length};
        if (keys->is_verbatim()) return {length, bytes.subspan(keys->offset(), keys->key_bytes()), true};
        made.resize(keys->key_bytes());
        keys->make(bytes.data(), made.data());
        return {length, made, true};
    }
    if (format.kind() == RecordFormat::Kind::Lines) {
        const auto end = std::ranges::find(bytes, end_of_line);
        if (end == bytes.end()) return {};
        const auto line = bytes.first(static_cast<std::size_t>(end - bytes.begin()) + 1);
        return {line.size(), line, true};
    }
    if (bytes.size() < sizeof(SizedHeader)) return {};
    const auto header = SizedHeader::of(bytes.data());
    if (header.key_offset + std::size_t{header.key_bytes} > bytes.size()) return {header.bytes};
    return {header.bytes, header.key(bytes.data()), true};
}

void RunIndex::add(std::uint64_t offset, std::span<const std::byte> key) {
    const auto kept = key.first(std::min(key.size(), longest_key));
    samples_.push_back({offset, static_cast<std::uint32_t>(keys_.size()), static_cast<std::uint16_t>(kept.size()),
                        kept.size() < key.size()});
    keys_.insert(keys_.end(), kept.begin(), kept.end());
}

void RunIndex::thin() {
    RunIndex kept;
    for (std::size_t i = 1; i < samples_.size(); i += 2) {
        kept.add(samples_[i].offset, key(samples_[i]));
        kept.samples_.back().is_cut = samples_[i].is_cut;
    }
    *this = std::move(kept);
}

std::uint64_t RunIndex::longest_gap(std::uint64_t run_bytes) const {
    std::uint64_t longest = 0, before = 0;
    for (const auto& sample : samples_)
        longest = std::max(longest, sample.offset - std::exchange(before, sample.offset));
    return std::max(longest, run_bytes - before);
}

Boundary RunIndex::boundary(const Sample& sample, std::size_t run, EqualKeys equal) const {
    const auto first = key(sample);
    Boundary at{.key = {first.begin(), first.end()}};
    // Records whose keys begin like a cut one are in an unknown order.
    if (sample.is_cut || equal == EqualKeys::Together) return at;
    at.run = run;
    at.offset = sample.offset;
    return at;
}

RunIndex::Bracket RunIndex::bracket(const Boundary& boundary, std::size_t run, std::uint64_t run_bytes) const {
    // The key of a boundary is at most as long as a cut one, so the rest of a cut key does not matter unless they are
    // equal, and then the record is after the boundary.
    const auto after = std::ranges::partition_point(samples_, [&](const Sample& sample) {
        if (sample.is_cut && std::ranges::equal(key(sample), boundary.key)) return false;
        return boundary.comes_after(key(sample), run, sample.offset);
    });
    return {after == samples_.begin() ? 0 : std::prev(after)->offset,
            after == samples_.end() ? run_bytes : after->offset};
}

std::size_t IndexedStream::fill(std::span<std::byte> memory) {
    const auto filled = records_.fill(memory);
    const auto bytes = memory.first(filled);
    if (gather_) {
        sample_begins(bytes);
    } else {
        format_.kind() == RecordFormat::Kind::Lines ? scan_lines(bytes) : scan(bytes);
    }
    at_ += filled;
    return filled;
}

void IndexedStream::sample(const FoundRecord& record) {
    if (next_ < wanted_ || !record.is_whole) return;
    index_.add(next_, record.key);
    wanted_ = next_ + interval_;
}

void IndexedStream::sample_begins(std::span<const std::byte> bytes) {
    for (const auto begin : gather_->begins()) {
        if (begin == Gather::none || at_ + begin < wanted_) continue;
        next_ = at_ + begin;
        sample(first_record(format_, bytes.subspan(begin), made_));
    }
}

// Finds each record. If one is cut, the next one is sampled instead.
void IndexedStream::scan(std::span<const std::byte> bytes) {
    if (!cut_.empty()) {
        const auto missing = std::min(sizeof(SizedHeader) - cut_.size(), bytes.size());
        cut_.insert(cut_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(missing));
        if (cut_.size() < sizeof(SizedHeader)) return;
        next_ += SizedHeader::of(cut_.data()).bytes;
        cut_.clear();
    }
    while (next_ < at_ + bytes.size()) {
        const auto rest = bytes.subspan(next_ - at_);
        const auto record = first_record(format_, rest, made_);
        if (record.bytes == 0) {
            cut_.assign(rest.begin(), rest.end());
            return;
        }
        sample(record);
        next_ += record.bytes;
        if (format_.fixed()) next_ = std::max(next_, (wanted_ + record.bytes - 1) / record.bytes * record.bytes);
    }
}

// A line begins after the end of another one. No search is needed before the position of the next sample.
void IndexedStream::scan_lines(std::span<const std::byte> bytes) {
    while (wanted_ < at_ + bytes.size()) {
        next_ = 0;
        if (at_ + wanted_ > 0) {
            const auto from = std::max(wanted_ - std::min<std::uint64_t>(wanted_, 1), at_);
            const auto rest = bytes.subspan(from - at_);
            const auto end = std::ranges::find(rest, end_of_line);
            if (end == rest.end()) return;
            next_ = from + static_cast<std::size_t>(end - rest.begin()) + 1;
        }
        const auto record = first_record(format_, bytes.subspan(next_ - at_), made_);
        if (!record.is_whole) return;
        sample(record);
    }
}

}  // namespace quadmill::detail::external
