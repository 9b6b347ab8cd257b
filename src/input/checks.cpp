#include "input/checks.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "files/files.hpp"
#include "input/text.hpp"
#include "input/words.hpp"

namespace quadmill::detail::input {

namespace {

// "10,000" without its commas, if these divide all digits into groups of three.
std::string without_commas(std::string_view text) {
    std::string digits;
    const auto first = text.find(',');
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool at_comma = first != std::string_view::npos && i >= first && (i - first) % 4 == 0;
        if ((text[i] == ',') != at_comma || first == 0 || first > 3) return std::string(text);
        if (!at_comma) digits += text[i];
    }
    return first != std::string_view::npos && (text.size() - first) % 4 != 0 ? std::string(text) : digits;
}

// Parses "1000", "10,000", "2^20", "1e6", "10k", "10K", "1.5M" or "2G". 0 if it is none of them, or too large.
std::uint64_t parse_count(std::string_view given) {
    constexpr double max_exact = 0x1p53;
    const auto text = without_commas(given);
    std::uint64_t value = 0;
    const auto suffix = text.empty() ? std::string::npos : std::string_view("kKMG").find(text.back());
    if (suffix != std::string::npos || text.find('e') != std::string::npos) {
        constexpr std::array scales{"e3", "e3", "e6", "e9"};
        const auto digits =
            suffix == std::string::npos ? text : text.substr(0, text.size() - 1) + scales[suffix];  // 1.5e6 is exact
        double number = 0;
        const bool good = parse_number(digits, number) == nullptr && number >= 1 && number <= max_exact;
        return good && number == std::floor(number) ? static_cast<std::uint64_t>(number) : 0;
    }
    const bool power = text.starts_with("2^");
    if (parse_number(std::string_view(text).substr(power ? 2 : 0), value) != nullptr || (power && value >= 64))
        return 0;
    return power ? std::uint64_t{1} << value : value;
}

// 1e-9 rather than fmt's 1e-09.
std::string short_number(double value) {
    auto text = fmt::format("{}", value);
    if (const auto zero = text.find("e-0"); zero != std::string::npos) text.erase(zero + 2, 1);
    return text;
}

}  // namespace

CLI::Validator one_of(const Words<int>& words) {
    const auto convert = [words](std::string& text) -> std::string {
        const auto found = std::ranges::find(words, text, &std::pair<std::string, int>::first);
        if (found == words.end()) return "'" + text + "' is not one of " + joined(words, ", ");
        text = std::to_string(found->second);
        return {};
    };
    return {convert, joined(words, "|")};
}

CLI::Validator one_of(const std::vector<std::string>& texts) {
    Words<int> words;
    for (const auto& text : texts) words.emplace_back(text, 1);
    const auto check = [is_word = one_of(words)](const std::string& text) { return is_word(text); };
    return {check, joined(words, "|")};
}

CLI::Validator count_up_to(std::uint64_t max) {
    const auto convert = [max](std::string& text) -> std::string {
        const auto value = parse_count(text);
        if (value < 1 || value > max)
            return fmt::format("'{}' is not a whole number from 1 to {}, such as 1000000 or 2^20", text, max);
        text = std::to_string(value);
        return {};
    };
    return {convert, ""};
}

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max) {
    const auto check = [min, max](const std::string& text) -> std::string {
        std::uint64_t value = 0;
        if (parse_number(text, value) == nullptr && value >= min && value <= max) return {};
        return fmt::format("'{}' is not a whole number from {} to {}", text, min, max);
    };
    return {check, ""};
}

CLI::Validator shown_number(std::uint64_t min, std::uint64_t max) {
    return whole_number(min, max).description(fmt::format("INT in [{} - {}]", min, max));
}

CLI::Validator thread_count() {
    return whole_number(0, 1024);
}

CLI::Validator byte_count() {
    const auto convert = [size = CLI::AsSizeValue(false)](std::string& text) -> std::string {
        if (double percent = 0; text.ends_with('%')) {
            if (parse_number(std::string_view(text).substr(0, text.size() - 1), percent) != nullptr ||
                !(percent > 0 && percent <= 100))
                return fmt::format("'{}' is not a share of the machine's memory such as 50%", text);
            text = std::to_string(
                static_cast<std::uint64_t>(static_cast<double>(files::machine_memory()) * percent / 100));
            return {};
        }
        try {
            if (!text.empty() && text.find_first_not_of("0123456789.") > 0 && size(text).empty()) return {};
        } catch (const CLI::ValidationError&) {  // NOLINT(bugprone-empty-catch): its words are about units
        }
        return fmt::format("'{}' is not a size such as 256M, 4G or 50%", text);
    };
    return {convert, ""};
}

CLI::Validator number_from(double min, double max) {
    const auto check = [min, max](const std::string& text) -> std::string {
        double value = 0;
        if (parse_number(text, value) == nullptr && value >= min && value <= max) return {};
        return fmt::format("'{}' does not fit: give a number from {} to {}", text, short_number(min),
                           short_number(max));
    };
    return {check, ""};
}

CLI::Validator fraction_from(double min, double max) {
    const auto convert = [number = number_from(min, max)](std::string& text) -> std::string {
        auto fraction = text;
        if (text.size() > 1 && text.back() == '%') fraction = text.substr(0, text.size() - 1) + "e-2";
        if (text.size() > 1 && text.front() == 'p') fraction = text.substr(1) + "e-2";
        if (!number(fraction).empty()) return number(text);
        text = fraction;
        return {};
    };
    return {convert, ""};
}

CLI::Validator field_delimiter() {
    const auto convert = [](std::string& text) -> std::string {
        if (text == "\\t" || text == "tab") text = "\t";
        if (text == "auto" || (text.size() == 1 && text.find_first_of("\"\r\n") != 0)) return {};
        return fmt::format("must be one character that is not a quote or a line end, not '{}'", text);
    };
    return {convert, ""};
}

CLI::Validator file_name() {
    const auto check = [](const std::string& name) -> std::string {
        return name.empty() ? "the name of the file is empty" : "";
    };
    return {check, ""};
}

void refuse_inputs(const std::string& option, const std::string& output, const std::vector<std::string>& inputs) {
    for (const auto& input : inputs) {
        if (!files::same_file(input, output)) continue;
        throw CLI::ValidationError(
            option, output == "-"
                        ? fmt::format("standard output is an input ({}), which would be overwritten; name another file",
                                      files::input_name(input))
                        : fmt::format("'{}' is an input, which would be replaced; name another file", output));
    }
}

std::vector<std::string> comma_separated(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (auto comma = text.find(','); comma != std::string::npos; comma = text.find(',', begin)) {
        parts.push_back(text.substr(begin, comma - begin));
        begin = comma + 1;
    }
    parts.push_back(text.substr(begin));
    return parts;
}

CLI::Validator each_of(const CLI::Validator& part) {
    const auto convert = [part](std::string& text) -> std::string {
        std::string all;
        for (auto& one : comma_separated(text)) {
            if (one.empty()) return fmt::format("'{}' has an empty part", text);
            if (auto wrong = part(one); !wrong.empty()) return wrong;
            all += (all.empty() ? "" : ",") + one;
        }
        text = all;
        return {};
    };
    return {convert, ""};
}

}  // namespace quadmill::detail::input
