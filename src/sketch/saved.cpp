#include "sketch/saved.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <string>

#include "quadmill/error.hpp"

namespace quadmill::detail::sketch {

namespace {

constexpr std::array<char, 4> magic{'Q', 'M', 'S', 'K'};
constexpr std::uint8_t version = 1;
constexpr std::size_t head_bytes = 36, checksum_bytes = 8;

template <class Number>
void put(std::vector<std::byte>& to, Number value, std::size_t bytes = sizeof(Number)) {
    for (std::size_t i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}

std::uint64_t get(std::span<const std::byte> from, std::size_t at, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(from[at + i]) << (8 * i);
    return value;
}

std::uint64_t checksum(std::span<const std::byte> bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint8_t bytes_for(std::uint64_t max) {
    std::uint8_t bytes = 1;
    while (bytes < 8 && max >> (8U * bytes) != 0) bytes = static_cast<std::uint8_t>(2 * bytes);
    return bytes;
}

class Damage {
  public:
    explicit Damage(const char* function) : function_(function) {}
    void require(bool ok, const char* why) const {
        if (!ok) throw InvalidArgument(std::string(function_) + ": not a readable sketch: " + why);
    }

  private:
    const char* function_;
};

}  // namespace

int words_of(SketchKeys keys) {
    return keys == SketchKeys::U32 || keys == SketchKeys::F32 ? 1 : 2;
}

std::vector<std::byte> save(const SavedSketch& head, const Shape& shape, const CpuTable& table) {
    std::uint64_t max = 0;
    for (std::size_t i = 0; i < shape.cells(); ++i) max = std::max(max, table.get(i));
    const auto each = bytes_for(max);
    std::vector<std::byte> bytes;
    bytes.reserve(head_bytes + shape.cells() * each + checksum_bytes);
    for (const auto letter : magic) bytes.push_back(static_cast<std::byte>(letter));
    const auto& options = shape.options();
    for (const auto number : {int{version}, static_cast<int>(head.keys), static_cast<int>(options.kind), options.depth,
                              shape.fat(), int{each}, 0, 0})
        put(bytes, static_cast<std::uint8_t>(number));
    put(bytes, options.width);
    put(bytes, options.seed);
    put(bytes, head.n);
    for (std::size_t i = 0; i < shape.cells(); ++i) put(bytes, table.get(i), each);
    put(bytes, checksum(bytes));
    return bytes;
}

SavedSketch read_head(const char* function, std::span<const std::byte> bytes) {
    const Damage damage(function);
    damage.require(bytes.size() >= head_bytes + checksum_bytes, "it is too short");
    const auto begins = std::equal(magic.begin(), magic.end(), bytes.begin(),
                                   [](char a, std::byte b) { return static_cast<std::byte>(a) == b; });
    damage.require(begins, "it does not begin with QMSK");
    if (get(bytes, 4, 1) != version) {
        throw InvalidArgument(std::string(function) + ": the sketch is of version " + std::to_string(get(bytes, 4, 1)) +
                              " of the format, and this library reads version " + std::to_string(version));
    }
    damage.require(checksum(bytes.first(bytes.size() - checksum_bytes)) ==
                       get(bytes, bytes.size() - checksum_bytes, checksum_bytes),
                   "its checksum is wrong");
    const auto number = [&](std::size_t at) { return static_cast<int>(get(bytes, at, 1)); };
    damage.require(number(5) >= 1 && number(5) <= 4, "the type of keys");
    damage.require(number(6) <= static_cast<int>(SketchKind::Sf), "the kind");
    const auto each = number(9);
    damage.require(each == 1 || each == 2 || each == 4 || each == 8, "the bytes of a counter");
    damage.require(number(10) == 0 && number(11) == 0, "the bytes that must be 0");
    SavedSketch head{static_cast<SketchKeys>(number(5)),
                     {.kind = static_cast<SketchKind>(number(6)),
                      .width = get(bytes, 12, 8),
                      .depth = number(7),
                      .seed = get(bytes, 20, 8)},
                     get(bytes, 28, 8)};
    const bool has_fat = head.options.kind == SketchKind::Sf;
    damage.require(has_fat || number(8) == 1, "the number of fat counters");
    if (has_fat) head.options.fat = number(8);
    const Shape shape(head.options, words_of(head.keys), function);
    damage.require(shape.cells() == (bytes.size() - head_bytes - checksum_bytes) / static_cast<std::size_t>(each) &&
                       bytes.size() == head_bytes + checksum_bytes + shape.cells() * static_cast<std::size_t>(each),
                   "wrong number of counters");
    damage.require(head.n >> 63U == 0, "the sum of weights");
    return head;
}

void load(std::span<const std::byte> bytes, const SavedSketch& head, const Shape& shape, CpuTable& table) {
    const auto each = static_cast<std::size_t>(get(bytes, 9, 1));
    table.reserve(head.n);
    std::array<std::uint64_t, 1024> some{};
    for (std::size_t first = 0; first < shape.cells(); first += some.size()) {
        const auto part = std::span(some).first(std::min(some.size(), shape.cells() - first));
        for (std::size_t i = 0; i < part.size(); ++i) part[i] = get(bytes, head_bytes + (first + i) * each, each);
        table.add_cells(first, part);
    }
}

}  // namespace quadmill::detail::sketch
