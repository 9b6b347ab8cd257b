#include "stream/bytes.hpp"

#include <array>
#include <bit>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill::detail::stream {

namespace {

constexpr std::array<char, 4> magic{'Q', 'M', 'S', 'M'};
constexpr std::uint8_t version = 2;
constexpr std::size_t header_bytes = 8, checksum_bytes = 4;

// CRC-32 as in zlib and PNG, eight bytes at a time: table k is for a byte that is followed by k more.
using CrcTable = std::array<std::uint32_t, 256>;
constexpr auto crc_tables = [] {
    std::array<CrcTable, 8> tables{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        auto c = i;
        for (int bit = 0; bit < 8; ++bit) c = (c & 1U) ? 0xedb88320U ^ (c >> 1U) : c >> 1U;
        tables[0][i] = c;
    }
    for (std::size_t k = 1; k < tables.size(); ++k) {
        for (std::size_t i = 0; i < 256; ++i)
            tables[k][i] = tables[0][tables[k - 1][i] & 0xffU] ^ (tables[k - 1][i] >> 8U);
    }
    return tables;
}();

std::uint32_t crc32(std::span<const std::byte> bytes) {
    auto c = ~0U;
    for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
        std::uint32_t next = 0;
        for (unsigned k = 0; k < 8; ++k) {
            const auto mixed = static_cast<std::uint32_t>(bytes[k]) ^ (k < 4 ? c >> (8 * k) & 0xffU : 0U);
            next ^= crc_tables[7 - k][mixed];
        }
        c = next;
    }
    for (const auto b : bytes) c = crc_tables[0][(c ^ static_cast<std::uint32_t>(b)) & 0xffU] ^ (c >> 8U);
    return ~c;
}

// The bytes of a double in reverse order, so that those that are often 0 come last.
std::uint64_t turned(std::uint64_t bits) {
    std::uint64_t out = 0;
    for (int i = 0; i < 8; ++i, bits >>= 8U) out = out << 8U | (bits & 0xffU);
    return out;
}

}  // namespace

Writer::Writer(const Header& header) {
    for (const char c : magic) bytes_.push_back(static_cast<std::byte>(c));
    for (const auto b :
         {version, static_cast<std::uint8_t>(header.kind), static_cast<std::uint8_t>(header.type), std::uint8_t{0}})
        bytes_.push_back(static_cast<std::byte>(b));
}

void Writer::u64(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_.push_back(static_cast<std::byte>(value | 0x80U));
    bytes_.push_back(static_cast<std::byte>(value));
}

void Writer::f64(double value) {
    u64(turned(std::bit_cast<std::uint64_t>(value)));
}

std::vector<std::byte> Writer::take() {
    const auto checksum = crc32(bytes_);
    for (std::size_t i = 0; i < checksum_bytes; ++i) bytes_.push_back(static_cast<std::byte>(checksum >> (8 * i)));
    return std::move(bytes_);
}

Reader::Reader(const char* function, std::span<const std::byte> bytes) : function_(function), rest_(bytes) {
    for (std::size_t i = 0; i < magic.size(); ++i) {
        if (bytes.size() < header_bytes || bytes[i] != static_cast<std::byte>(magic[i]))
            fail("not a saved quadmill summary");
    }
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
    if (byte(4) != version) {
        fail("it was saved in version " + std::to_string(byte(4)) + " of the format, and this program reads version " +
             std::to_string(version) + "; make it again, or read it with the quadmill that saved it");
    }
    if (bytes.size() < header_bytes + checksum_bytes) fail("the bytes end too soon");
    const auto body = bytes.first(bytes.size() - checksum_bytes);
    std::uint32_t checksum = 0;
    for (std::size_t i = 0; i < checksum_bytes; ++i) checksum |= std::uint32_t{byte(body.size() + i)} << (8 * i);
    if (checksum != crc32(body)) fail("the checksum is wrong: the bytes are damaged or not all there");
    header_ = {static_cast<Kind>(byte(5)), static_cast<KeyType>(byte(6))};
    require(byte(5) >= 1 && byte(5) <= 12 && byte(6) <= 6 && byte(7) == 0, "the header");
    rest_ = body.subspan(header_bytes);
    cpu::visit_key_type(header_.type, [this]<class T>(const T* /*type*/) {
        max_key_ = KeyOf<T>::greatest();
        if constexpr (cpu::is_float<T>) {
            is_float_ = true;
            no_key_ = cpu::TotalOrder<T>(Order::Ascending).encode(cpu::KeyBits<T>::sign);
        }
    });
}

void Writer::values(const Values& all, const KeyRule& rule) {
    u64(all.size());
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto bits = rule.raw(all[k]);
        for (std::size_t i = 0; i < rule.raw_bytes(); ++i) bytes_.push_back(static_cast<std::byte>(bits >> (8 * i)));
    }
}

Buffer Reader::values(std::uint64_t max, const KeyRule& rule) {
    Buffer all(rule.width);
    const auto size = count(rule.raw_bytes());
    require(size <= max, "the number of values that are kept as they are");
    for (all.reserve(size); all.size() < size;) {
        Key raw = 0;
        for (std::size_t i = 0; i < rule.raw_bytes(); ++i) raw |= Key{byte()} << (8 * i);
        all.push_bits(rule.of_raw(raw));
        require(!rule.is_nan(rule.of_raw(raw)), "a value");
    }
    return all;
}

void Writer::text(std::string_view text) {
    u64(text.size());
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
}

std::string Reader::text() {
    std::string text(count(), ' ');
    for (auto& c : text) c = static_cast<char>(byte());
    return text;
}

std::uint8_t Reader::byte() {
    if (rest_.empty()) fail("the bytes end too soon");
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
}

// Numbers must have as few bytes as possible, so that equal summaries have equal bytes.
std::uint64_t Reader::u64() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto next = byte();
        require(shift < 63 || next <= 1, "a number of more than 64 bits");
        value |= static_cast<std::uint64_t>(next & 0x7fU) << shift;
        if (next >= 0x80U) continue;
        require(next > 0 || shift == 0, "a number that is longer than it needs to be");
        return value;
    }
}

double Reader::f64() {
    return std::bit_cast<double>(turned(u64()));
}

std::size_t Reader::count(std::size_t bytes_each) {
    return count_of(u64(), bytes_each);
}

std::size_t Reader::count_of(std::uint64_t things, std::size_t bytes_each) const {
    if (things > rest_.size() / bytes_each) fail("the bytes end too soon");
    return static_cast<std::size_t>(things);
}

Key Reader::key(Key before) {
    const auto above = u64();
    require(before <= max_key_ && above <= max_key_ - before && !(is_float_ && before + above == no_key_), "a key");
    return before + above;
}

void Reader::end() const {
    if (!rest_.empty()) fail("there are " + std::to_string(rest_.size()) + " bytes too many");
}

void Reader::require(bool ok, const char* rule) const {
    if (!ok) fail(std::string("the bytes are damaged (") + rule + ")");
}

void Reader::fail(const std::string& why) const {
    throw InvalidArgument(std::string(function_) + ": " + why);
}

}  // namespace quadmill::detail::stream
