// Records and their keys, as bytes that compare like memcmp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "quadmill/external.hpp"

namespace quadmill::detail::external {

// The first eight bytes of a key as a number with the same order. A shorter key is followed by zeros.
[[nodiscard]] inline std::uint64_t prefix_of(const std::byte* key, std::size_t bytes) {
    std::uint64_t prefix = 0;
    if (bytes >= sizeof prefix) [[likely]] {
        std::memcpy(&prefix, key, sizeof prefix);
    } else {
        std::memcpy(&prefix, key, bytes);
    }
    static_assert(std::endian::native == std::endian::little);
    return __builtin_bswap64(prefix);
}

// Keys of records of one length.
class FixedKeys {
  public:
    // Throws InvalidArgument; its message begins with `function`.
    FixedKeys(const char* function, const RecordFormat& format);

    [[nodiscard]] std::size_t record_bytes() const { return record_bytes_; }
    [[nodiscard]] std::size_t key_bytes() const { return key_bytes_; }
    // Whether the record contains the key unchanged, at offset().
    [[nodiscard]] bool is_verbatim() const { return verbatim_; }
    [[nodiscard]] std::size_t offset() const { return fields_.front().offset; }

    // The key of one record: key_bytes() bytes.
    void make(const std::byte* record, std::byte* key) const;
    // The keys of `n` records, one after the other.
    void make(const std::byte* records, std::size_t n, std::byte* keys) const;

  private:
    std::size_t record_bytes_, key_bytes_ = 0;
    bool verbatim_ = false;
    std::vector<KeyField> fields_;
};

// The header of a record that tells its length (RecordFormat::Kind::Sized).
struct SizedHeader {
    std::uint32_t bytes = 0, key_offset = 0, key_bytes = 0;

    [[nodiscard]] static SizedHeader of(const std::byte* record) {
        SizedHeader header;
        std::memcpy(&header, record, sizeof header);
        return header;
    }
    [[nodiscard]] bool is_valid() const {
        return bytes >= sizeof *this && key_offset <= bytes && key_bytes <= bytes - key_offset;
    }
    [[nodiscard]] std::span<const std::byte> key(const std::byte* record) const {
        return {record + key_offset, key_bytes};
    }
};
static_assert(std::endian::native == std::endian::little && sizeof(SizedHeader) == 12);

// Lines have 256 codes: 255 bytes and their end. The end has the smallest code, so that memcmp of lines with their ends
// gives the order of lines: '\n' becomes 0, and smaller bytes are increased by one.
inline constexpr std::byte end_of_line{0};
void code_lines(std::span<std::byte> bytes);
void decode_lines(std::span<std::byte> bytes);

}  // namespace quadmill::detail::external
