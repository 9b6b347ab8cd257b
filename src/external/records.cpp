#include "external/records.hpp"

#include "cpu/keys.hpp"

namespace quadmill::detail::external {

namespace {

constexpr std::size_t max_record_bytes = 65535, max_key_bytes = 255;

template <class Work>
decltype(auto) visit_number(FieldType type, Work&& work) {
    switch (type) {
        case FieldType::U8:
            return work(std::uint8_t{});
        case FieldType::I8:
            return work(std::int8_t{});
        case FieldType::U16:
            return work(std::uint16_t{});
        case FieldType::I16:
        case FieldType::I16Be:
            return work(std::int16_t{});
        case FieldType::F16:
            return work(Half{});
        case FieldType::U32:
            return work(std::uint32_t{});
        case FieldType::I32:
        case FieldType::I32Be:
            return work(std::int32_t{});
        case FieldType::F32:
        case FieldType::F32Be:
            return work(float{});
        case FieldType::U64:
            return work(std::uint64_t{});
        case FieldType::I64:
        case FieldType::I64Be:
            return work(std::int64_t{});
        case FieldType::Bytes:
        case FieldType::F64:
        case FieldType::F64Be:
            break;
    }
    return work(double{});
}

bool is_big_endian(FieldType type) {
    return type >= FieldType::I16Be;
}

template <class Bits>
Bits swapped(Bits bits) {
    if constexpr (sizeof bits == 1) return bits;
    if constexpr (sizeof bits == 2) return __builtin_bswap16(bits);
    if constexpr (sizeof bits == 4) return __builtin_bswap32(bits);
    if constexpr (sizeof bits == 8) return __builtin_bswap64(bits);
}

void copy_turned(const std::byte* from, std::size_t bytes, std::byte* to) {
    std::transform(from, from + bytes, to, [](std::byte b) { return ~b; });
}

template <class Number>
void make_number(const std::byte* from, const KeyField& field, std::byte* to) {
    typename cpu::KeyBits<Number>::Bits bits{};
    std::memcpy(&bits, from, sizeof bits);
    if (is_big_endian(field.type)) bits = swapped(bits);
    bits = swapped(cpu::TotalOrder<Number>(field.order).encode(bits));
    std::memcpy(to, &bits, sizeof bits);
}

void make_field(const KeyField& field, const std::byte* record, std::byte* to) {
    const auto* from = record + field.offset;
    if (field.type != FieldType::Bytes) {
        visit_number(field.type, [&]<class Number>(Number /*type*/) { make_number<Number>(from, field, to); });
    } else if (field.order == Order::Ascending) {
        std::memcpy(to, from, field.bytes);
    } else {
        copy_turned(from, field.bytes, to);
    }
}

// A copy with a length known at compile time takes only a few instructions.
template <std::size_t Bytes>
void copy_keys(const std::byte* records, std::size_t stride, std::size_t n, std::byte* keys) {
    for (std::size_t i = 0; i < n; ++i) std::memcpy(keys + i * Bytes, records + i * stride, Bytes);
}

}  // namespace

FixedKeys::FixedKeys(const char* function, const RecordFormat& format)
    : record_bytes_(format.bytes), fields_(format.key) {
    const auto fail = [&](const std::string& what) { throw InvalidArgument(std::string(function) + ": " + what); };
    if (record_bytes_ < 1 || record_bytes_ > max_record_bytes)
        fail("a record must have 1 to 65535 bytes, not " + std::to_string(record_bytes_));
    if (fields_.empty()) fail("there must be a key field");
    for (auto& field : fields_) {
        if (field.type != FieldType::Bytes)
            field.bytes = visit_number(field.type, [](auto number) { return sizeof number; });
        if (field.bytes == 0) fail("a key field must have at least 1 byte");
        if (field.offset >= record_bytes_ || field.bytes > record_bytes_ - field.offset) {
            fail("a key field of " + std::to_string(field.bytes) + " bytes at offset " + std::to_string(field.offset) +
                 " is not within a record of " + std::to_string(record_bytes_) + " bytes");
        }
        key_bytes_ += field.bytes;
    }
    if (key_bytes_ > max_key_bytes)
        fail("the key fields together must have at most 255 bytes, not " + std::to_string(key_bytes_));
    verbatim_ = fields_.size() == 1 && fields_[0].type == FieldType::Bytes && fields_[0].order == Order::Ascending;
}

void FixedKeys::make(const std::byte* record, std::byte* key) const {
    for (const auto& field : fields_) {
        make_field(field, record, key);
        key += field.bytes;
    }
}

void FixedKeys::make(const std::byte* records, std::size_t n, std::byte* keys) const {
    if (verbatim_ && key_bytes_ == 10) return copy_keys<10>(records + offset(), record_bytes_, n, keys);
    for (std::size_t i = 0; i < n; ++i) make(records + i * record_bytes_, keys + i * key_bytes_);
}

void code_lines(std::span<std::byte> bytes) {
    for (auto& byte : bytes) {
        const auto b = static_cast<unsigned char>(byte);
        byte = static_cast<std::byte>(b == '\n' ? 0 : b + (b < '\n' ? 1 : 0));
    }
}

void decode_lines(std::span<std::byte> bytes) {
    for (auto& byte : bytes) {
        const auto b = static_cast<unsigned char>(byte);
        byte = static_cast<std::byte>(b == 0 ? '\n' : b - (b <= '\n' ? 1 : 0));
    }
}

}  // namespace quadmill::detail::external
