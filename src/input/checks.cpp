#include "input/checks.hpp"

#include <fmt/core.h>

#include <charconv>
#include <string>
#include <string_view>

#include "files/files.hpp"
#include "input/text.hpp"

namespace quadmill::detail::input {

namespace {

// Parses "1000" or "2^20". 0 if it is neither, or too large.
std::uint64_t parse_count(std::string_view text) {
    std::uint64_t value = 0;
    const bool power = text.starts_with("2^");
    if (parse_number(text.substr(power ? 2 : 0), value) != nullptr || (power && value >= 64)) return 0;
    return power ? std::uint64_t{1} << value : value;
}

}  // namespace

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
        try {
            if (!text.empty() && text.find_first_not_of("0123456789.") > 0 && size(text).empty()) return {};
        } catch (const CLI::ValidationError&) {  // NOLINT(bugprone-empty-catch): its words are about units
        }
        return fmt::format("'{}' is not a size such as 256M or 4G", text);
    };
    return {convert, ""};
}

CLI::Validator number_from(double min, double max) {
    const auto check = [min, max](const std::string& text) -> std::string {
        double value = 0;
        if (parse_number(text, value) == nullptr && value >= min && value <= max) return {};
        return fmt::format("'{}' is not a number from {} to {}", text, min, max);
    };
    return {check, ""};
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
    const auto check = [part](const std::string& text) -> std::string {
        for (auto& one : comma_separated(text)) {
            if (one.empty()) return fmt::format("'{}' has an empty part", text);
            if (auto wrong = part(one); !wrong.empty()) return wrong;
        }
        return {};
    };
    return {check, ""};
}

}  // namespace quadmill::detail::input
