#include "external/slot.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace quadmill::detail::external {

Format::Format(const char* function, const RecordFormat& format) : kind_(format.kind) {
    if (format.kind == RecordFormat::Kind::Fixed) fixed_.emplace(function, format);
}

std::size_t Format::index_bytes() const {
    if (fixed_) return fixed_->key_bytes();
    return kind_ == RecordFormat::Kind::Sized ? sizeof(RecordPlace) : sizeof(std::uint64_t);
}

std::size_t SlotSize::memory(const Format& format) const {
    return files::page_up(bytes + 2 * files::page) + files::page_up((records + 1) * format.index_bytes()) +
           files::page_up(records * sizeof(std::uint32_t));
}

Slot::Slot(const Format& format, SlotSize size)
    : format_(&format),
      size_(size),
      memory_(size.bytes + 2 * files::page),
      index_((size.records + 1) * format.index_bytes()),
      order_(size.records * sizeof(std::uint32_t)) {
    reset(0);
}

void Slot::reset(std::size_t skew) {
    begin_ = memory_.data() + skew;
    filled_ = whole_ = records_ = coded_ = longest_ = 0;
    if (format_->kind() == RecordFormat::Kind::Lines) offsets()[0] = 0;
    if (format_->kind() == RecordFormat::Kind::Sized) *places() = {0, {memory_.data(), 0}};
}

std::span<std::byte> Slot::space() const {
    return {begin_ + filled_, is_full() ? 0 : size_.bytes - filled_};
}

bool Slot::is_full() const {
    return has_all_records() || (!format_->fixed() && filled_ == size_.bytes);
}

void Slot::add(std::size_t bytes) {
    filled_ += bytes;
    if (format_->kind() == RecordFormat::Kind::Sized) return add_sized();
    if (format_->kind() == RecordFormat::Kind::Lines) {
        const auto from = std::exchange(coded_, filled_);
        code_lines({begin_ + from, filled_ - from});
        return add_lines(std::max(from, whole_));
    }
    const auto& keys = *format_->fixed();
    const auto n = std::min((filled_ - whole_) / keys.record_bytes(), size_.records - records_);
    keys.make(begin_ + whole_, n, index_.data() + records_ * keys.key_bytes());
    whole_ += n * keys.record_bytes();
    records_ += n;
    longest_ = keys.record_bytes();
}

void Slot::add_rest(const Slot& other) {
    const auto rest = other.rest();
    std::memcpy(begin_, rest.data(), rest.size());
    if (format_->kind() != RecordFormat::Kind::Lines) return add(rest.size());
    filled_ = coded_ = rest.size();
    add_lines(0);
}

// Pre: no line ends between the complete lines and `search`.
void Slot::add_lines(std::size_t search) {
    while (records_ < size_.records && search < filled_) {
        const void* end = std::memchr(begin_ + search, static_cast<int>(end_of_line), filled_ - search);
        if (!end) break;
        search = static_cast<std::size_t>(static_cast<const std::byte*>(end) - begin_) + 1;
        end_line(search);
    }
}

void Slot::end_line(std::size_t end) {
    end_record(end);
    offsets()[records_] = end;
}

namespace {

SizedHeader header_of(const std::byte* record) {
    const auto header = SizedHeader::of(record);
    if (header.is_valid()) return header;
    throw InvalidArgument("sort: a record says that it has " + std::to_string(header.bytes) + " bytes and its key " +
                          std::to_string(header.key_bytes) + " from byte " + std::to_string(header.key_offset) +
                          " on; the key must be within the record");
}

}  // namespace

void Slot::add_sized() {
    while (records_ < size_.records && filled_ - whole_ >= sizeof(SizedHeader)) {
        const auto header = header_of(begin_ + whole_);
        if (header.bytes > filled_ - whole_) break;
        places()[records_] = place_of(header.key(begin_ + whole_));
        end_record(whole_ + header.bytes);
    }
    places()[records_] = {whole_, {begin_, 0}};
}

std::size_t Slot::fitting(std::span<const SomeRecords> parts) const {
    std::size_t n = 0, bytes = filled_, records = records_;
    if (!rest().empty()) return 0;
    for (; n < parts.size(); ++n) {
        bytes += parts[n].bytes.size();
        records += parts[n].records;
        if (bytes > size_.bytes || records > size_.records) break;
    }
    return n;
}

void Slot::add(std::span<const SomeRecords> parts, const cpu::Workers& workers) {
    struct Begin {
        std::size_t bytes, records;
    };
    std::vector<Begin> begins{{whole_, records_}};
    for (const auto& part : parts)
        begins.push_back({begins.back().bytes + part.bytes.size(), begins.back().records + part.records});
    std::vector<std::size_t> longest(parts.size());
    workers.for_each(parts.size(), [&](std::size_t i) {
        longest[i] = add_some(parts[i], begins[i].bytes, begins[i].records);
    });
    for (const auto bytes : longest) longest_ = std::max(longest_, bytes);
    filled_ = whole_ = begins.back().bytes;
    records_ = begins.back().records;
    places()[records_] = {whole_, {begin_, 0}};
}

// Adds records at byte `at` as those from `number` on. Returns the bytes of the longest one.
std::size_t Slot::add_some(const SomeRecords& some, std::size_t at, std::size_t number) {
    std::memcpy(begin_ + at, some.bytes.data(), some.bytes.size());
    std::size_t longest = 0;
    for (auto rest = some.bytes; !rest.empty(); ++number) {
        const auto header = header_of(rest.data());
        places()[number] = {at, header.key(rest.data())};
        longest = std::max<std::size_t>(longest, header.bytes);
        at += header.bytes;
        rest = rest.subspan(header.bytes);
    }
    return longest;
}

// The place of the next record. Bytes behind `filled_` may be read from a file at this moment, so a short key that ends
// near it is copied.
RecordPlace Slot::place_of(std::span<const std::byte> key) const {
    std::array<std::byte, RecordPlace::bytes_read> copy{};
    if (begin_ + filled_ - key.data() >= static_cast<std::ptrdiff_t>(copy.size())) return {whole_, key};
    std::ranges::copy(key, copy.begin());
    return {whole_, {copy.data(), key.size()}};
}

void Slot::end_record(std::size_t end) {
    longest_ = std::max(longest_, end - whole_);
    whole_ = end;
    ++records_;
}

void Slot::end_last_line() {
    if (format_->kind() != RecordFormat::Kind::Lines || rest().empty()) return;
    begin_[filled_++] = end_of_line;  // there is a page after the records
    ++coded_;
    end_line(filled_);
}

WideKeys Slot::keys() const {
    if (const auto& keys = format_->fixed())
        return {{index_.data(), records_ * keys->key_bytes()}, keys->key_bytes(), keys->key_bytes(), {}};
    if (format_->kind() == RecordFormat::Kind::Sized)
        return {.bytes = {begin_, whole_}, .places = {places(), records_ + 1}};
    return {.bytes = {begin_, whole_}, .offsets = {offsets(), records_ + 1}};
}

std::span<std::uint32_t> Slot::order() const {
    return {reinterpret_cast<std::uint32_t*>(order_.data()), records_};
}

std::span<const std::byte> Slot::record(std::size_t i) const {
    if (const auto& keys = format_->fixed()) return {begin_ + i * keys->record_bytes(), keys->record_bytes()};
    if (format_->kind() == RecordFormat::Kind::Sized) {
        const auto offset = places()[i].offset();
        return {begin_ + offset, places()[i + 1].offset() - offset};
    }
    return {begin_ + offsets()[i], offsets()[i + 1] - offsets()[i]};
}

namespace {

// Prefetches a record that will soon be copied, and where a later one is. GCC removes calls of a function that only
// prefetches, so it must be inlined.
[[gnu::always_inline]] inline void prefetch(const Slot& slot, std::span<const std::uint32_t> order,
                                            std::size_t position) {
    constexpr std::size_t ahead = 16;
    if (position + ahead >= order.size()) return;
    slot.prefetch_place(order[std::min(position + 2 * ahead, order.size() - 1)]);
    const auto record = slot.record(order[position + ahead]);
    __builtin_prefetch(record.data());
    __builtin_prefetch(record.data() + record.size() - 1);
}

}  // namespace

std::size_t Gather::fill(std::span<std::byte> memory) {
    begins_.assign(memory.size() / cell + 1, none);
    std::size_t filled = 0;
    for (;;) {
        const auto part = std::min(rest_.size(), memory.size() - filled);
        std::copy_n(rest_.begin(), part, memory.begin() + static_cast<std::ptrdiff_t>(filled));
        rest_ = rest_.subspan(part);
        filled = fill_with_records(memory, filled + part);
        if (filled == memory.size() || next_ == end_) return filled;
        rest_ = next();
    }
}

std::span<const std::byte> Gather::next() {
    if (next_ == end_) return {};
    prefetch(slot_, slot_.order(), next_);
    return slot_.record(slot_.order()[next_++]);
}

// Copies records as long as they fit. Returns the rest.
Gather::Part Gather::copy(Part part, std::span<std::byte> memory) {
    const auto order = slot_.order().first(end_);
    // A part's first record may be in the last cell of the part before.
    for (auto noted = part.filled == 0 ? none : part.filled / cell; part.next < part.end; ++part.next) {
        prefetch(slot_, order, part.next);
        const auto record = slot_.record(order[part.next]);
        if (record.size() > memory.size() - part.filled) break;
        if (part.filled / cell != noted) {
            noted = part.filled / cell;
            begins_[noted] = part.filled;
        }
        std::memcpy(memory.data() + part.filled, record.data(), record.size());
        part.filled += record.size();
    }
    return part;
}

// Threads copy groups of records, while a whole group fits.
std::size_t Gather::fill_in_tasks(std::span<std::byte> memory, std::size_t filled) {
    constexpr std::size_t task = 512;
    const auto room = memory.size() - filled;
    const auto order = slot_.order().first(end_).subspan(next_);
    const auto records = std::min(order.size(), room / (slot_.bytes() / slot_.records() + 1));
    std::vector<std::size_t> ends(records / task);
    workers_.for_each(ends.size(), [&](std::size_t t) {
        std::size_t bytes = 0;
        for (auto i = t * task; i < (t + 1) * task; ++i) {
            slot_.prefetch_place(order[std::min(i + 16, order.size() - 1)]);
            bytes += slot_.record(order[i]).size();
        }
        ends[t] = bytes;
    });
    std::inclusive_scan(ends.begin(), ends.end(), ends.begin());
    const auto fit = static_cast<std::size_t>(std::ranges::upper_bound(ends, room) - ends.begin());
    workers_.for_each(fit, [&](std::size_t t) {
        const auto first = next_ + t * task;
        static_cast<void>(copy({first, first + task, filled + (t == 0 ? 0 : ends[t - 1])}, memory));
    });
    next_ += fit * task;
    return filled + (fit == 0 ? 0 : ends[fit - 1]);
}

// Copies as many complete records as fit.
std::size_t Gather::fill_with_records(std::span<std::byte> memory, std::size_t filled) {
    if (next_ == end_) return filled;
    constexpr std::size_t task = 4096;
    const auto longest = slot_.longest();
    if (longest == slot_.record(0).size() && longest * slot_.records() == slot_.bytes()) {  // all have one length
        const auto n = std::min((memory.size() - filled) / longest, end_ - next_);
        workers_.for_each((n + task - 1) / task, [&](std::size_t t) {
            const Part part{next_ + t * task, next_ + std::min(n, (t + 1) * task), filled + t * task * longest};
            static_cast<void>(copy(part, memory));
        });
        next_ += n;
        return filled + n * longest;
    }
    if (workers_.threads() > 2) filled = fill_in_tasks(memory, filled);
    const auto rest = copy({next_, end_, filled}, memory);
    next_ = rest.next;
    return rest.filled;
}

}  // namespace quadmill::detail::external
