#include "stream/bytes.hpp"

#include <array>
#include <bit>
#include <utility>

#include "quadmill/error.hpp"

namespace quadmill::detail::stream {

namespace {

constexpr std::array<char, 4> magic{'Q', 'M', 'S', 'M'};
constexpr std::uint8_t version = 1;
constexpr std::size_t header_bytes = 8, checksum_bytes = 4;

// CRC-32 as in zlib and PNG.
constexpr auto crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        auto c = i;
        for (int bit = 0; bit < 8; ++bit) c = (c & 1U) ? 0xedb88320U ^ (c >> 1U) : c >> 1U;
        table[i] = c;
    }
    return table;
}();

std::uint32_t crc32(std::span<const std::byte> bytes) {
    auto c = ~0U;
    for (const auto b : bytes) c = crc_table[(c ^ static_cast<std::uint32_t>(b)) & 0xffU] ^ (c >> 8U);
    return ~c;
}

template <class Number>
void put(std::vector<std::byte>& bytes, Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

template <class Number>
Number get(std::span<const std::byte> bytes) {
    Number value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
        value |= static_cast<Number>(static_cast<Number>(bytes[i]) << (8 * i));
    return value;
}

}  // namespace

Writer::Writer(const Header& header) {
    for (const char c : magic) bytes_.push_back(static_cast<std::byte>(c));
    for (const auto b :
         {version, static_cast<std::uint8_t>(header.kind), static_cast<std::uint8_t>(header.type), std::uint8_t{0}})
        bytes_.push_back(static_cast<std::byte>(b));
}

void Writer::u64(std::uint64_t value) {
    put(bytes_, value);
}

void Writer::f64(double value) {
    put(bytes_, std::bit_cast<std::uint64_t>(value));
}

std::vector<std::byte> Writer::take() {
    put(bytes_, crc32(bytes_));
    return std::move(bytes_);
}

Reader::Reader(const char* function, std::span<const std::byte> bytes) : function_(function), rest_(bytes) {
    for (std::size_t i = 0; i < magic.size(); ++i) {
        if (bytes.size() < header_bytes || bytes[i] != static_cast<std::byte>(magic[i]))
            fail("this is no summary that quadmill saved");
    }
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
    if (byte(4) != version) {
        fail("it was saved in version " + std::to_string(byte(4)) + " of the format, and this program reads version " +
             std::to_string(version));
    }
    if (bytes.size() < header_bytes + checksum_bytes) fail("the bytes end too soon");
    const auto body = bytes.first(bytes.size() - checksum_bytes);
    if (get<std::uint32_t>(bytes.last(checksum_bytes)) != crc32(body))
        fail("the checksum is wrong: the bytes are damaged or not all there");
    header_ = {static_cast<Kind>(byte(5)), static_cast<KeyType>(byte(6))};
    require(byte(5) >= 1 && byte(5) <= 6 && byte(6) <= 6 && byte(7) == 0, "the header");
    rest_ = body.subspan(header_bytes);
}

std::uint64_t Reader::u64() {
    if (rest_.size() < sizeof(std::uint64_t)) fail("the bytes end too soon");
    const auto value = get<std::uint64_t>(rest_);
    rest_ = rest_.subspan(sizeof value);
    return value;
}

double Reader::f64() {
    return std::bit_cast<double>(u64());
}

std::size_t Reader::count(std::size_t bytes_each) {
    const auto value = u64();
    if (value > rest_.size() / bytes_each) fail("the bytes end too soon");
    return static_cast<std::size_t>(value);
}

void Reader::end() const {
    if (!rest_.empty()) fail("there are " + std::to_string(rest_.size()) + " bytes too many");
}

void Reader::require(bool ok, const char* rule) const {
    if (!ok) fail(std::string("what they say cannot be (") + rule + ")");
}

void Reader::fail(const std::string& why) const {
    throw InvalidArgument(std::string(function_) + ": " + why);
}

}  // namespace quadmill::detail::stream
