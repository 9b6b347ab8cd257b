#include "cli/text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>

#include "quadmill/error.hpp"

namespace quadmill::cli {

namespace {

constexpr Fault out_of_range = "is out of the type's range";

std::string_view trim(std::string_view text) {
    constexpr auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

// What is read and written for a key: a half goes by way of a float.
template <class Key>
using Number = std::conditional_t<std::is_same_v<Key, Half>, float, Key>;

template <class Key>
std::optional<Key> key_of(Number<Key> number) {
    if constexpr (std::is_same_v<Key, Half>) {
        const auto half = Half::nearest(number);
        if (std::isinf(half.value()) && !std::isinf(number)) return {};
        return half;
    } else {
        return number;
    }
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
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc::result_out_of_range) return out_of_range;
    if (error != std::errc() || rest != digits.data() + digits.size())
        return std::is_integral_v<Key> ? "is not an integer of the type" : "is not a number";
    const auto found = key_of<Key>(number);
    if (!found) return out_of_range;
    key = *found;
    return nullptr;
}

Fault parse_ipv4(std::string_view word, std::uint32_t& address) {
    if (word.find('.') == std::string_view::npos) return parse_number(word, address);
    constexpr Fault fault = "is no IPv4 address such as 10.0.0.1";
    std::array<char, INET_ADDRSTRLEN> text{};
    if (word.size() >= text.size()) return fault;
    std::copy(word.begin(), word.end(), text.begin());
    in_addr parsed{};
    if (inet_pton(AF_INET, text.data(), &parsed) != 1) return fault;
    address = ntohl(parsed.s_addr);
    return nullptr;
}

template <class Key>
Fault parse_pair(std::string_view line, Pair<Key>& pair) {
    const auto end = std::min(line.find_first_of(", \t"), line.size());
    if (const auto fault = parse_number(line.substr(0, end), pair.x)) return fault;
    auto rest = trim(line.substr(end));
    if (rest.starts_with(',')) rest = trim(rest.substr(1));
    const auto fault = parse_number(rest, pair.y);
    if (fault) return fault == out_of_range ? fault : "is not two numbers such as 1,2";
    return std::isinf(pair.y) ? "has an infinite second number, which cannot be summed" : nullptr;
}

std::string line_of(const std::string& path, std::uint64_t line) {
    return (path == "-" ? "standard input" : path) + ", line " + std::to_string(line) + ": ";
}

std::string in_quotes(std::string_view word) {
    constexpr std::size_t most = 40;
    std::string text("'");
    text += word.substr(0, most);
    return text + (word.size() > most ? "...'" : "'");
}

std::string_view Lines::next(std::string_view& text) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto word = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number_;
    return word;
}

void Lines::refuse(std::uint64_t line, std::string_view word, Fault why) const {
    throw InvalidArgument(line_of(path_, line) + in_quotes(word) + " " + why);
}

template <class Key>
void parse_lines(std::string_view text, const std::string& path, std::vector<Key>& keys) {
    for (Lines lines(path); !text.empty();) {
        const auto word = lines.next(text);
        Key key{};
        if (const auto fault = parse_number(word, key)) lines.refuse(lines.number(), word, fault);
        keys.push_back(key);
    }
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

template <class Key>
std::string format_lines(std::span<const Key> keys) {
    std::string text;
    text.reserve(keys.size() * 12);
    for (const auto& key : keys) {
        text += format_number(key);
        text += '\n';
    }
    return text;
}

#define QUADMILL_TEXT_OF(Key)                                                           \
    template Fault parse_number(std::string_view, Key&);                                \
    template Fault parse_pair(std::string_view, Pair<Key>&);                            \
    template void parse_lines(std::string_view, const std::string&, std::vector<Key>&); \
    template std::string format_number(Key);                                            \
    template std::string format_lines(std::span<const Key>);
QUADMILL_TEXT_OF(Half)
QUADMILL_TEXT_OF(float)
QUADMILL_TEXT_OF(double)
QUADMILL_TEXT_OF(std::int32_t)
QUADMILL_TEXT_OF(std::uint32_t)
QUADMILL_TEXT_OF(std::int64_t)
QUADMILL_TEXT_OF(std::uint64_t)

}  // namespace quadmill::cli
