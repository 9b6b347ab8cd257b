// Keys of many bytes, and their words of a few bits. Each round sorts by one word.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "external/records.hpp"

namespace quadmill::detail::external {

// Keys as bytes that compare like memcmp; if one key is the beginning of another, it comes first. Key i is bytes[i *
// stride, i * stride + length) if offsets is empty, otherwise bytes[offsets[i], offsets[i + 1]), or the key in a record
// there that tells its length.
struct WideKeys {
    std::span<const std::byte> bytes;
    std::size_t stride = 0, length = 0;
    std::span<const std::uint64_t> offsets{};
    enum class Offsets { OfKeys, OfSizedRecords } offsets_are = Offsets::OfKeys;

    [[nodiscard]] bool one_length() const { return offsets.empty(); }
    [[nodiscard]] std::span<const std::byte> operator[](std::size_t i) const {
        if (one_length()) return bytes.subspan(i * stride, length);
        if (offsets_are == Offsets::OfSizedRecords) {
            const auto* record = bytes.data() + offsets[i];
            return SizedHeader::of(record).key(record);
        }
        return bytes.subspan(offsets[i], offsets[i + 1] - offsets[i]);
    }
};

// The bits of a key from bit `from` on, as a number. Bit 0 is the most significant bit of the first byte. Zeros follow
// the key's end. Pre: bits <= 57.
[[nodiscard]] inline std::uint64_t word_of(std::span<const std::byte> key, std::size_t from, unsigned bits) {
    const auto first = std::min(from / 8, key.size()), left = key.size() - first;
    const auto* bytes = key.data() + first;
    std::uint64_t word = 0;
    if (left >= 8) {
        for (std::size_t i = 0; i < 8; ++i) word = word << 8U | std::to_integer<std::uint64_t>(bytes[i]);
    } else {
        for (std::size_t i = 0; i < left; ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (56 - 8 * i);
    }
    return word << from % 8 >> (64 - bits);
}

// Compares two keys that are equal before byte `from`. Returns a number below, above or equal to 0.
[[nodiscard]] inline int compare(std::span<const std::byte> a, std::span<const std::byte> b, std::size_t from) {
    const auto common = std::min(a.size(), b.size());
    const int order = from < common ? std::memcmp(a.data() + from, b.data() + from, common - from) : 0;
    if (order != 0 || a.size() == b.size()) return order;
    return a.size() < b.size() ? -1 : 1;
}

}  // namespace quadmill::detail::external
