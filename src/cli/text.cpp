#include "cli/text.hpp"

#include <array>
#include <charconv>
#include <cmath>

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

template <class Value, class Convert>
void parse(std::string_view text, const std::string& path, std::vector<Value>& values, Convert convert) {
    for (std::size_t line = 1; !text.empty(); ++line) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto word = trim(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto digits = word.starts_with('+') && !word.starts_with("+-") ? word.substr(1) : word;
        float value = 0;
        const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error == std::errc::result_out_of_range) refuse(path, line, word, "is out of the type's range");
        if (error != std::errc() || rest != digits.data() + digits.size()) refuse(path, line, word, "is not a number");
        const auto converted = convert(value);
        if (!converted.second) refuse(path, line, word, "is out of the type's range");
        values.push_back(converted.first);
    }
}

template <class Value, class AsFloat>
std::string format(std::span<const Value> values, AsFloat as_float) {
    std::string text;
    text.reserve(values.size() * 12);
    std::array<char, 32> word{};
    for (const auto& value : values) {
        const auto [end, error] = std::to_chars(word.data(), word.data() + word.size(), as_float(value));
        text.append(word.data(), static_cast<std::size_t>(end - word.data()));
        text += '\n';
    }
    return text;
}

}  // namespace

void parse_lines(std::string_view text, const std::string& path, std::vector<float>& values) {
    parse(text, path, values, [](float value) { return std::pair(value, true); });
}

void parse_lines(std::string_view text, const std::string& path, std::vector<Half>& values) {
    parse(text, path, values, [](float value) {
        const auto half = Half::nearest(value);
        return std::pair(half, std::isinf(value) || !std::isinf(half.value()));
    });
}

std::string format_lines(std::span<const float> values) {
    return format(values, [](float value) { return value; });
}

std::string format_lines(std::span<const Half> values) {
    return format(values, [](Half value) { return value.value(); });
}

}  // namespace quadmill::cli
