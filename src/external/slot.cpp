#include "external/slot.hpp"

#include <algorithm>
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

void Slot::add_sized() {
    while (records_ < size_.records && filled_ - whole_ >= sizeof(SizedHeader)) {
        const auto header = SizedHeader::of(begin_ + whole_);
        if (!header.is_valid()) {
            throw InvalidArgument("sort: a record says that it has " + std::to_string(header.bytes) +
                                  " bytes and its key " + std::to_string(header.key_bytes) + " from byte " +
                                  std::to_string(header.key_offset) + " on; the key must be within the record");
        }
        if (header.bytes > filled_ - whole_) break;
        places()[records_] = {whole_, header.key(begin_ + whole_)};
        end_record(whole_ + header.bytes);
    }
    places()[records_] = {whole_, {begin_, 0}};
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
    std::size_t filled = 0;
    for (;;) {
        const auto part = std::min(rest_.size(), memory.size() - filled);
        std::copy_n(rest_.begin(), part, memory.begin() + static_cast<std::ptrdiff_t>(filled));
        rest_ = rest_.subspan(part);
        filled += part;
        filled += fill_with_records(memory.subspan(filled));
        if (filled == memory.size() || next_ == end_) return filled;
        rest_ = next();
    }
}

std::span<const std::byte> Gather::next() {
    if (next_ == end_) return {};
    prefetch(slot_, slot_.order(), next_);
    return slot_.record(slot_.order()[next_++]);
}

// Threads copy groups of records, while a whole group fits.
std::size_t Gather::fill_in_tasks(std::span<std::byte> memory) {
    constexpr std::size_t task = 1024;
    const auto order = slot_.order().first(end_).subspan(next_);
    const auto records = std::min(order.size(), memory.size() / (slot_.bytes() / slot_.records() + 1));
    std::vector<std::size_t> ends(records / task);
    const auto for_task = [&](std::size_t t, const auto& work) {
        for (auto i = t * task; i < (t + 1) * task; ++i) work(i);
    };
    workers_.for_each(ends.size(), [&](std::size_t t) {
        std::size_t bytes = 0;
        for_task(t, [&](std::size_t i) {
            slot_.prefetch_place(order[std::min(i + 16, order.size() - 1)]);
            bytes += slot_.record(order[i]).size();
        });
        ends[t] = bytes;
    });
    std::inclusive_scan(ends.begin(), ends.end(), ends.begin());
    const auto fit = static_cast<std::size_t>(std::ranges::upper_bound(ends, memory.size()) - ends.begin());
    workers_.for_each(fit, [&](std::size_t t) {
        auto* to = memory.data() + (t == 0 ? 0 : ends[t - 1]);
        for_task(t, [&](std::size_t i) {
            prefetch(slot_, order, i);
            const auto record = slot_.record(order[i]);
            std::memcpy(to, record.data(), record.size());
            to += record.size();
        });
    });
    next_ += fit * task;
    return fit == 0 ? 0 : ends[fit - 1];
}

// Copies as many complete records as fit.
std::size_t Gather::fill_with_records(std::span<std::byte> memory) {
    const auto order = slot_.order().first(end_);
    if (next_ == order.size()) return 0;
    constexpr std::size_t task = 4096;
    const auto longest = slot_.longest();
    const auto n = std::min(memory.size() / longest, order.size() - next_);
    if (longest == slot_.record(0).size() && longest * slot_.records() == slot_.bytes()) {  // all have one length
        workers_.for_each((n + task - 1) / task, [&](std::size_t t) {
            for (auto i = t * task; i < std::min(n, (t + 1) * task); ++i) {
                prefetch(slot_, order, next_ + i);
                std::memcpy(memory.data() + i * longest, slot_.record(order[next_ + i]).data(), longest);
            }
        });
        next_ += n;
        return n * longest;
    }
    auto filled = workers_.threads() > 2 ? fill_in_tasks(memory) : 0;
    for (; next_ < order.size(); ++next_) {
        prefetch(slot_, order, next_);
        const auto record = slot_.record(order[next_]);
        if (record.size() > memory.size() - filled) break;
        std::memcpy(memory.data() + filled, record.data(), record.size());
        filled += record.size();
    }
    return filled;
}

}  // namespace quadmill::detail::external
