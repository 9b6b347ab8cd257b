// Keys of many bytes, and their words of a few bits. Each round sorts by one word.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "external/records.hpp"

namespace quadmill::detail::external {

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

// Where a record that tells its length is, and the front of its key: a look at each record is a miss of the cache.
class RecordPlace {
  public:
    static constexpr std::size_t bytes_read = 16;
    // Pre: offset < 2^48; bytes_read bytes from the key's beginning on can be read.
    RecordPlace(std::uint64_t offset, std::span<const std::byte> key)
        : place_(offset << size_bits | std::min(key.size(), long_key)),
          front_{front_word(key, 0), front_word(key, word_bytes)} {}

    [[nodiscard]] std::uint64_t offset() const { return place_ >> size_bits; }
    // Bytes of the key; nothing if they do not fit here.
    [[nodiscard]] std::optional<std::size_t> key_bytes() const {
        const auto size = place_ & long_key;
        return size < long_key ? std::optional(size) : std::nullopt;
    }
    // As word_of(); nothing if its bits are not all here.
    [[nodiscard]] std::optional<std::uint64_t> word(std::size_t from, unsigned bits) const {
        constexpr std::size_t word_bits = 64;
        if (from + bits > 2 * word_bits) return {};
        if (from >= word_bits) return front_[1] << (from - word_bits) >> (word_bits - bits);
        auto word = front_[0] << from;
        if (from > 0) word |= front_[1] >> (word_bits - from);
        return word >> (word_bits - bits);
    }

  private:
    static constexpr unsigned size_bits = 16;
    static constexpr std::size_t long_key = (std::size_t{1} << size_bits) - 1, word_bytes = 8;
    static std::uint64_t front_word(std::span<const std::byte> key, std::size_t from) {
        std::uint64_t word = 0;
        std::memcpy(&word, key.data() + from, sizeof word);
        static_assert(std::endian::native == std::endian::little);
        word = __builtin_bswap64(word);
        if (key.size() >= from + word_bytes) return word;
        const auto left = key.size() - std::min(key.size(), from);
        return left == 0 ? 0 : word >> (64 - 8 * left) << (64 - 8 * left);
    }
    std::uint64_t place_;
    std::array<std::uint64_t, 2> front_;  // as big-endian numbers; zeros follow the key's end
};

// Keys as bytes that compare like memcmp; if one key is the beginning of another, it comes first. Key i is that of
// places[i], if there are places; bytes[offsets[i], offsets[i + 1]), if there are offsets; otherwise bytes[i * stride,
// i * stride + length).
struct WideKeys {
    std::span<const std::byte> bytes;
    std::size_t stride = 0, length = 0;
    std::span<const std::uint64_t> offsets{};
    std::span<const RecordPlace> places{};

    [[nodiscard]] bool one_length() const { return offsets.empty() && places.empty(); }
    [[nodiscard]] std::span<const std::byte> operator[](std::size_t i) const {
        if (!places.empty()) {
            const auto* record = bytes.data() + places[i].offset();
            return SizedHeader::of(record).key(record);
        }
        if (!offsets.empty()) return bytes.subspan(offsets[i], offsets[i + 1] - offsets[i]);
        return bytes.subspan(i * stride, length);
    }
    [[nodiscard]] std::size_t size_of(std::size_t i) const {
        const auto size = places.empty() ? std::nullopt : places[i].key_bytes();
        return size ? *size : (*this)[i].size();
    }
    [[nodiscard]] std::uint64_t word(std::size_t i, std::size_t from, unsigned bits) const {
        const auto word = places.empty() ? std::nullopt : places[i].word(from, bits);
        return word ? *word : word_of((*this)[i], from, bits);
    }
};

// Compares two keys that are equal before byte `from`. Returns a number below, above or equal to 0.
[[nodiscard]] inline int compare(std::span<const std::byte> a, std::span<const std::byte> b, std::size_t from) {
    const auto common = std::min(a.size(), b.size());
    const int order = from < common ? std::memcmp(a.data() + from, b.data() + from, common - from) : 0;
    if (order != 0 || a.size() == b.size()) return order;
    return a.size() < b.size() ? -1 : 1;
}

}  // namespace quadmill::detail::external
