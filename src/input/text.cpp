#include "input/text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "cpu/keys.hpp"
#include "files/files.hpp"
#include "input/printable.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

namespace {

constexpr Fault out_of_range = "is out of the type's range";

std::string_view trim(std::string_view text) {
    constexpr auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

// The type that is read and written for a key: float for a half.
template <class Key>
using Number = std::conditional_t<std::is_same_v<Key, Half>, float, Key>;

template <class Key>
std::optional<Key> key_of(Number<Key> number) {
    if constexpr (std::is_same_v<Key, Half>) {
        const auto half = Half::from_float(number);
        if (std::isinf(half.value()) && !std::isinf(number)) return {};
        return half;
    } else {
        return number;
    }
}

// The nearest float. from_chars also reports out of range for numbers too close to 0.
template <class Float>
bool is_nearly_zero(std::string_view digits, Float& number) {
    const std::string text(digits);
    if constexpr (std::is_same_v<Float, float>) {
        number = std::strtof(text.c_str(), nullptr);
    } else {
        number = std::strtod(text.c_str(), nullptr);
    }
    return std::abs(number) < 1;
}

template <class Key>
Number<Key> number_of(Key key) {
    if constexpr (std::is_same_v<Key, Half>) {
        return key.value();
    } else {
        return key;
    }
}

}  // namespace

template <class Key>
Fault parse_number(std::string_view word, Key& key) {
    const auto digits = word.starts_with('+') && !word.starts_with("+-") ? word.substr(1) : word;
    Number<Key> number{};
    auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if constexpr (std::is_floating_point_v<Number<Key>>) {
        const bool tiny = error == std::errc::result_out_of_range && rest == digits.data() + digits.size() &&
                          is_nearly_zero(digits, number);
        if (tiny) error = {};
    }
    if (error == std::errc::result_out_of_range) return out_of_range;
    if (error != std::errc() || rest != digits.data() + digits.size())
        return std::is_unsigned_v<Key>   ? "is not an integer from 0 on"
               : std::is_integral_v<Key> ? "is not an integer"
                                         : not_a_number;
    const auto found = key_of<Key>(number);
    if (!found) return out_of_range;
    key = *found;
    return nullptr;
}

namespace {

// Whether the word is an integer that the number does not represent exactly.
bool is_rounded(std::string_view word, double number) {
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    constexpr std::size_t always_exact = 7;  // digits; even a float is exact
    if (word.size() <= always_exact || word.find_first_not_of("0123456789") != std::string_view::npos) return false;
    word.remove_prefix(std::min(word.find_first_not_of('0'), word.size() - 1));
    std::array<char, std::numeric_limits<double>::max_exponent10 + 2> digits{};  // all digits, not the shortest text
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), std::abs(number), std::chars_format::fixed, 0).ptr;
    return word != std::string_view(digits.data(), end);
}

template <class Float>
Fault parse_exactly(std::string_view word, Float& number, Fault rounded) {
    const auto fault = parse_number(word, number);
    return fault == nullptr && is_rounded(word, number) ? rounded : fault;
}

}  // namespace

Fault parse_exact(std::string_view word, double& number) {
    return parse_exactly(word, number,
                         "is an integer that f64 would round; --type i64 or u64 keeps it, --type f64 rounds it");
}

Fault parse_exact(std::string_view word, float& number) {
    return parse_exactly(word, number, "is an integer that a 32-bit float would round");
}

Fault parse_ipv4(std::string_view word, std::uint32_t& address) {
    if (word.find('.') == std::string_view::npos) return parse_number(word, address);
    constexpr Fault fault = "is not an IPv4 address such as 10.0.0.1";
    std::array<char, INET_ADDRSTRLEN> text{};
    if (word.size() >= text.size()) return fault;
    std::copy(word.begin(), word.end(), text.begin());
    in_addr parsed{};
    if (inet_pton(AF_INET, text.data(), &parsed) != 1) return fault;
    address = ntohl(parsed.s_addr);
    return nullptr;
}

namespace {

template <class Key, ParseLine<Key> parse_x = parse_number<Key>>
Fault parse_pair(std::string_view line, Pair<Key>& pair) {
    constexpr Fault rounded = "has an integer that f64 would round; add .0 to allow that";
    const auto end = std::min(line.find_first_of(", \t"), line.size());
    if (const auto fault = parse_x(line.substr(0, end), pair.x)) return fault;
    auto rest = trim(line.substr(end));
    if (rest.starts_with(',')) rest = trim(rest.substr(1));
    const auto fault = parse_exactly(rest, pair.y, rounded);
    if (fault) return fault == out_of_range || fault == rounded ? fault : "is not two numbers such as 1,2";
    return std::isinf(pair.y) ? "has an infinite second number, which cannot be summed" : nullptr;
}

}  // namespace

Parser number_parser(KeyType type, Integers integers) {
    if (type == KeyType::F64 && integers == Integers::Exact) return parser_of<double, parse_exact>;
    return cpu::visit_key_type(type, []<class Key>(const Key*) { return parser_of<Key, parse_number<Key>>; });
}

Parser pair_parser(KeyType type, Integers integers) {
    if (type == KeyType::F64 && integers == Integers::Exact)
        return parser_of<Pair<double>, parse_pair<double, parse_exact>>;
    return cpu::visit_key_type(type, []<class Key>(const Key*) { return parser_of<Pair<Key>, parse_pair<Key>>; });
}

std::string line_of(const std::string& path, std::uint64_t line) {
    return (path == "-" ? "standard input" : path) + ", line " + std::to_string(line) + ": ";
}

std::size_t printable_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
    if (first < 0xc2 || first > 0xf4) return 0;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    std::uint32_t code = first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return 0;
        code = code << 6U | (byte(i) & 0x3fU);
    }
    constexpr std::array<std::uint32_t, 5> min{0, 0, 0xa0, 0x800, 0x10000};  // below 0xa0: controls
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return code >= min.at(length) && code <= 0x10ffff && !surrogate ? length : 0;
}

std::string in_quotes(std::string_view word) {
    constexpr std::size_t max = 40;
    std::string text("'");
    std::size_t used = 0;
    while (used < std::min(max, word.size())) {
        const auto length = printable_length(word.substr(used));
        if (length == 0) {
            text += as_escape(static_cast<unsigned char>(word[used]));
        } else {
            text += word.substr(used, length);
        }
        used += std::max<std::size_t>(length, 1);
    }
    return text + (used < word.size() ? "...'" : "'");
}

std::string_view Lines::next(std::string_view& text) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto word = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number_;
    return word;
}

namespace {

// Number of lines that end before that byte of a file. 0 if it cannot be read.
std::uint64_t lines_before(const std::string& path, std::uint64_t end) {
    if (end == 0) return 0;
    const files::InputFile file(path);
    std::vector<char> block(std::size_t{1} << 20U);
    std::uint64_t lines = 0;
    for (std::uint64_t at = 0; at < end;) {
        const std::span part(block.data(), std::min<std::uint64_t>(block.size(), end - at));
        const auto got = files::read_at(file.descriptor(), std::as_writable_bytes(part), at);
        if (got.bytes == 0) break;
        lines += static_cast<std::uint64_t>(std::ranges::count(part.first(got.bytes), '\n'));
        at += got.bytes;
    }
    return lines;
}

}  // namespace

std::string Lines::about(std::uint64_t line, std::string_view word, Fault why) const {
    return line_of(path_, lines_before(path_, begin_) + line) + (word.empty() ? "" : in_quotes(word) + " ") + why;
}

template <class Key>
std::string format_number(Key key) {
    std::array<char, 32> word{};
    const auto write = [&](auto... how) {
        return std::string(word.data(), std::to_chars(word.data(), word.data() + word.size(), how...).ptr);
    };
    const auto number = number_of(key);
    if constexpr (std::is_integral_v<Number<Key>>) {
        return write(number);
    } else {
        if (std::isnan(number)) return "nan";
        const auto size = std::abs(static_cast<double>(number));
        const bool plain = size == 0 || (size >= 1e-5 && size <= 1e15) || std::isinf(size);
        return write(number, plain ? std::chars_format::fixed : std::chars_format::scientific);
    }
}

std::string format_number(KeyType type, const void* key) {
    return cpu::visit_key_type(type,
                               [&]<class Key>(const Key*) { return format_number(*static_cast<const Key*>(key)); });
}

std::string format_lines(const ConstKeys& keys) {
    std::string text;
    text.reserve(keys.size() * 12);
    cpu::visit_key_type(keys.type(), [&]<class Key>(const Key*) {
        for (const auto& key : std::span(static_cast<const Key*>(keys.data()), keys.size())) {
            text += format_number(key);
            text += '\n';
        }
    });
    return text;
}

#define QUADMILL_TEXT_OF(Key)                            \
    template Fault parse_number(std::string_view, Key&); \
    template std::string format_number(Key);
QUADMILL_TEXT_OF(Half)
QUADMILL_TEXT_OF(float)
QUADMILL_TEXT_OF(double)
QUADMILL_TEXT_OF(std::int32_t)
QUADMILL_TEXT_OF(std::uint32_t)
QUADMILL_TEXT_OF(std::int64_t)
QUADMILL_TEXT_OF(std::uint64_t)

}  // namespace quadmill::detail::input
