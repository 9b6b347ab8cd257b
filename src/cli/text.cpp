#include "cli/text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>

#include "quadmill/error.hpp"

namespace quadmill::cli {

namespace {

std::string_view trim(std::string_view text) {
    constexpr std::string_view space = " \t\r";
    const auto begin = text.find_first_not_of(space);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(space) - begin + 1);
}

[[noreturn]] void refuse(const std::string& path, std::size_t line, std::string_view word, const char* why) {
    constexpr std::size_t most = 40;
    const auto shown = std::string(word.substr(0, most)) + (word.size() > most ? "..." : "");
    throw InvalidArgument((path == "-" ? "standard input" : path) + ", line " + std::to_string(line) + ": '" + shown +
                          "' " + why);
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
void parse_lines(std::string_view text, const std::string& path, std::vector<Key>& keys) {
    constexpr const char* out_of_range = "is out of the type's range";
    for (std::size_t line = 1; !text.empty(); ++line) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto word = trim(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto digits = word.starts_with('+') && !word.starts_with("+-") ? word.substr(1) : word;
        Number<Key> number{};
        const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error == std::errc::result_out_of_range) refuse(path, line, word, out_of_range);
        if (error != std::errc() || rest != digits.data() + digits.size()) {
            refuse(path, line, word, std::is_integral_v<Key> ? "is not an integer of the type" : "is not a number");
        }
        const auto key = key_of<Key>(number);
        if (!key) refuse(path, line, word, out_of_range);
        keys.push_back(*key);
    }
}

template <class Key>
std::string format_lines(std::span<const Key> keys) {
    std::string text;
    text.reserve(keys.size() * 12);
    std::array<char, 32> word{};
    for (const auto& key : keys) {
        const auto [end, error] = std::to_chars(word.data(), word.data() + word.size(), number_of(key));
        text.append(word.data(), static_cast<std::size_t>(end - word.data()));
        text += '\n';
    }
    return text;
}

template void parse_lines(std::string_view, const std::string&, std::vector<Half>&);
template std::string format_lines(std::span<const Half>);
template void parse_lines(std::string_view, const std::string&, std::vector<float>&);
template std::string format_lines(std::span<const float>);
template void parse_lines(std::string_view, const std::string&, std::vector<double>&);
template std::string format_lines(std::span<const double>);
template void parse_lines(std::string_view, const std::string&, std::vector<std::int32_t>&);
template std::string format_lines(std::span<const std::int32_t>);
template void parse_lines(std::string_view, const std::string&, std::vector<std::uint32_t>&);
template std::string format_lines(std::span<const std::uint32_t>);
template void parse_lines(std::string_view, const std::string&, std::vector<std::int64_t>&);
template std::string format_lines(std::span<const std::int64_t>);
template void parse_lines(std::string_view, const std::string&, std::vector<std::uint64_t>&);
template std::string format_lines(std::span<const std::uint64_t>);

}  // namespace quadmill::cli
