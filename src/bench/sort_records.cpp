#include "bench/sort_records.hpp"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "cpu/workers.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::bench {
namespace {

constexpr Number128 wide(std::uint64_t high, std::uint64_t low) {
    return Number128{high} << 64U | low;
}
constexpr Number128 factor = wide(0x2360ed051fc65da4, 0x4385df649fccf645);
constexpr Number128 addend = wide(0x4a696d4772617952, 0x4950202020202001);  // begins with the letters JimGrayRIP

Number128 next(Number128 number) {
    return number * factor + addend;
}

// Masks for the numbers of a binary record, so that no two of its parts are equal; applied to their upper 80 bits.
constexpr std::array<Number128, 10> part_masks{
    0,
    wide(0xf0e8e4e2e1d8d4d2, 0xd1cc000000000000),
    wide(0xcac9c6c5c3b8b4b2, 0xb1ac000000000000),
    wide(0xaaa9a6a5a39c9a99, 0x9695000000000000),
    wide(0x938e8d8b87787472, 0x716c000000000000),
    wide(0x6a696665635c5a59, 0x5655000000000000),
    wide(0x534e4d4b473c3a39, 0x3635000000000000),
    wide(0x332e2d2b271e1d1b, 0x170f000000000000),
    wide(0xc8c4c2c198949291, 0x8ce0000000000000),
    wide(0x170f332e2d2b271e, 0x1d1b000000000000),
};

void put_upper_80_bits(Number128 number, std::byte* to) {
    for (unsigned i = 0; i < 10; ++i) to[i] = static_cast<std::byte>(number >> (120 - 8 * i));
}

std::byte hexadecimal(std::uint64_t digit) {
    return static_cast<std::byte>("0123456789ABCDEF"[digit & 0xfU]);
}

// `count` printable characters: the digits of a number, lowest first.
void put_printable(std::uint64_t number, std::byte* to, std::size_t count) {
    constexpr std::uint64_t printable = 95;
    for (std::size_t i = 0; i < count; ++i) {
        to[i] = static_cast<std::byte>(' ' + number % printable);
        number /= printable;
    }
}

void put_ascii_key(Number128 number, std::byte* to) {
    put_printable(static_cast<std::uint64_t>(number >> 64U), to, 8);
    put_printable(static_cast<std::uint64_t>(number), to + 8, 2);
}

// Beginnings of keys that skewed records share, taken from the keys of records 0 to 64.
struct Beginnings {
    std::array<RecordKey, 65> binary, ascii;
    Beginnings() {
        Number128 number = 0;
        for (std::size_t i = 0; i < binary.size(); ++i) {
            number = next(number);
            put_upper_80_bits(number, binary[i].data());
            put_ascii_key(number, ascii[i].data());
        }
    }
};

// The shared beginning of the key of record `number`. The benchmark's generator treats numbers from 2^60 on as having
// 64 binary digits.
const RecordKey& beginning(RecordKind kind, std::uint64_t number) {
    static const Beginnings all;
    const auto digits = number >> 60U ? 64 : static_cast<std::size_t>(std::bit_width(number));
    return (kind == RecordKind::Binary ? all.binary : all.ascii)[digits];
}

}  // namespace

std::string to_hexadecimal(Number128 number) {
    return fmt::format("{:x}", number);
}

// Doing x -> a x + c 2^i times is a step of the same form. Its square does it 2^(i + 1) times.
Number128 random_number(std::uint64_t number) {
    Number128 result = 0, a = factor, c = addend;
    for (; number != 0; number >>= 1U) {
        if (number & 1U) result = result * a + c;
        c = c * a + c;
        a *= a;
    }
    return result;
}

RecordMaker::RecordMaker(RecordForm form, std::uint64_t first) : form_(form), number_(first) {
    random_[0] = next(random_number(first));
    for (std::size_t i = 1; i < numbers; ++i) random_[i] = next(random_[i - 1]);
}

void RecordMaker::step() {
    random_[oldest_] = next(random_[(oldest_ + numbers - 1) % numbers]);
    oldest_ = (oldest_ + 1) % numbers;
    ++number_;
}

void RecordMaker::make(std::span<std::byte> records) {
    for (std::size_t at = 0; at < records.size(); at += record_bytes) {
        auto* const record = records.data() + at;
        if (form_.kind == RecordKind::Binary) {
            make_binary(record);
        } else {
            make_ascii(record);
        }
        if (form_.spread == KeySpread::Skewed) skew(record);
        step();
    }
}

void RecordMaker::make_binary(std::byte* record) const {
    for (std::size_t part = 0; part < numbers; ++part)
        put_upper_80_bits(random_[(oldest_ + part) % numbers] ^ part_masks[part], record + 10 * part);
}

void RecordMaker::make_ascii(std::byte* record) const {
    constexpr std::size_t number_at = 12, letters_at = 46, letters = 13, end_at = 98;
    std::memset(record, ' ', record_bytes);
    put_ascii_key(own(), record);
    for (unsigned i = 0; i < 32; ++i) record[number_at + i] = hexadecimal(i < 16 ? 0 : number_ >> (124 - 4 * i));
    for (unsigned i = 0; i < letters; ++i)
        std::memset(record + letters_at + std::size_t{4} * i,
                    std::to_integer<int>(hexadecimal(static_cast<std::uint64_t>(own()) >> (48 - 4 * i))), 4);
    std::memcpy(record + end_at, "\r\n", 2);
}

void RecordMaker::skew(std::byte* record) const {
    constexpr std::size_t max_bytes = 6;
    const bool binary = form_.kind == RecordKind::Binary;
    const auto random = static_cast<std::size_t>(own() >> 32U);
    auto bits = binary ? random % 64 : 8 * (random % 8);
    if (bits > 8 * max_bytes) bits = 0;
    const auto& from = beginning(form_.kind, number_);
    std::copy_n(from.begin(), bits / 8, record);
    if (bits % 8 == 0) return;
    const auto keep = std::byte{0xff} >> bits % 8;
    auto& last = record[bits / 8];
    last = (from[bits / 8] & ~keep) | (last & keep);
}

void RecordCheck::add(const RecordCheck& next) {
    if (next.records == 0) return;
    if (records == 0) {
        *this = next;
        return;
    }
    const int order = std::memcmp(last_key.data(), next.first_key.data(), record_key_bytes);
    if (order == 0) ++duplicates;
    if (order > 0) ++unordered;
    if (!first_unordered && order > 0) first_unordered = records;
    if (!first_unordered && next.first_unordered) first_unordered = records + *next.first_unordered;
    records += next.records;
    unordered += next.unordered;
    duplicates += next.duplicates;
    checksum += next.checksum;
    last_key = next.last_key;
}

RecordCheck check_records(std::span<const std::byte> records) {
    RecordCheck check;
    const std::byte* last = nullptr;
    for (std::size_t at = 0; at < records.size(); at += record_bytes) {
        const auto* record = records.data() + at;
        const auto* bytes = reinterpret_cast<const Bytef*>(record);
        check.checksum += crc32(0, bytes, static_cast<uInt>(record_bytes));
        const int order = last ? std::memcmp(last, record, record_key_bytes) : -1;
        if (order == 0) ++check.duplicates;
        if (order > 0) {
            ++check.unordered;
            if (!check.first_unordered) check.first_unordered = check.records;
        }
        ++check.records;
        last = record;
    }
    if (last) {
        std::memcpy(check.first_key.data(), records.data(), record_key_bytes);
        std::memcpy(check.last_key.data(), last, record_key_bytes);
    }
    return check;
}

namespace {

constexpr std::size_t slice_bytes = record_bytes << 13U;  // that a thread makes or checks at a time
constexpr std::size_t slices = 16;                        // in memory

// Reads until the memory is full or the input ends.
std::size_t fill(files::InputFile& in, std::span<std::byte> memory) {
    std::size_t size = 0;
    while (size < memory.size()) {
        const auto read = in.read(memory.subspan(size));
        if (read == 0) break;
        size += read;
    }
    return size;
}

}  // namespace

void make_file(files::OutputFile& out, RecordForm form, std::uint64_t first, std::uint64_t count) {
    cpu::Workers workers;
    std::vector<std::byte> memory(slices * slice_bytes);
    for (std::uint64_t done = 0; done < count;) {
        const auto records =
            static_cast<std::size_t>(std::min<std::uint64_t>(count - done, memory.size() / record_bytes));
        const auto all = std::span(memory).first(records * record_bytes);
        const auto slice = [&](std::size_t i) {
            return all.subspan(i * slice_bytes, std::min(slice_bytes, all.size() - i * slice_bytes));
        };
        workers.then_in_order(
            (all.size() + slice_bytes - 1) / slice_bytes,
            [&](std::size_t i) { RecordMaker(form, first + done + i * slice_bytes / record_bytes).make(slice(i)); },
            [&](std::size_t i) { out.write(slice(i)); });
        done += records;
    }
}

RecordCheck check_file(files::InputFile& in) {
    cpu::Workers workers;
    std::vector<std::byte> memory(slices * slice_bytes);
    std::vector<std::size_t> sizes(slices);
    std::vector<RecordCheck> checks(slices);
    RecordCheck all;
    const auto slice = [&](std::size_t i) { return std::span(memory).subspan(i * slice_bytes, slice_bytes); };
    std::size_t last = 0;
    do {
        workers.after_in_order(
            slices, [&](std::size_t i) { sizes[i] = fill(in, slice(i)); },
            [&](std::size_t i) { checks[i] = check_records(slice(i).first(sizes[i] / record_bytes * record_bytes)); });
        for (std::size_t i = 0; i < slices; ++i) {
            all.add(checks[i]);
            if (sizes[i] % record_bytes == 0) continue;
            throw IoError(fmt::format("{} ends within a record: record {} has {} bytes, not {}", in.name(), all.records,
                                      sizes[i] % record_bytes, record_bytes),
                          in.path(), all.records * record_bytes);
        }
        last = sizes.back();
    } while (last == slice_bytes);
    return all;
}

}  // namespace quadmill::detail::bench
