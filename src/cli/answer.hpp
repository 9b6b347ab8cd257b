// Answers about streams, as JSON or as a table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/json.hpp"
#include "cpu/keys.hpp"
#include "input/text.hpp"
#include "quadmill/names.hpp"
#include "quadmill/stream.hpp"

namespace quadmill::detail::cli {

enum class Format { Table, JsonLine };

struct Answer {
    Json head;              // the query, and the number of values
    std::string rows_of{};  // the rows' name; empty: one row, which is joined to the head
    Json rows = Json::array();
    Json tail = Json::object();  // further facts
};

// Ends with a newline.
[[nodiscard]] std::string to_text(const Answer& answer, Format format);

// JSON has no infinite numbers and no NaN. They become the texts "inf", "-inf" and "nan".
[[nodiscard]] Json json_of(double value);
// The shortest text of a float. Converted to a double it would have more digits.
template <class T>
[[nodiscard]] Json json_of(T value) requires(!std::is_same_v<T, double>) {
    if constexpr (std::is_integral_v<T>) {
        return value;
    } else {
        double number = 0;
        static_cast<void>(input::parse_number(input::format_number(value), number));
        return json_of(number);
    }
}
// A value of a type that is known at run time.
struct Value {
    KeyType type{};
    std::uint64_t bits = 0;

    template <class T>
    [[nodiscard]] static Value of(T value) {
        return {Keys(std::span<T>()).type(), cpu::KeyBits<T>::of(value)};
    }
    template <class T>
    [[nodiscard]] T as() const {
        return cpu::KeyBits<T>::value(static_cast<typename cpu::KeyBits<T>::Bits>(bits));
    }
    [[nodiscard]] double number() const;
    bool operator==(const Value&) const = default;
};
[[nodiscard]] Json json_of(const Value& value);
[[nodiscard]] Json json_of(const Count& count);
[[nodiscard]] inline Json json_of(const std::string& text) {
    return text;
}

// On one line. Bytes that are not UTF-8 become U+FFFD, because JSON must be UTF-8.
[[nodiscard]] std::string dumped(const Json& json);

// How prefixes are written: 10.1.0.0/16 or 0x0a010000/16.
enum class Notation { Ipv4, Hexadecimal };

// The query to a summary; which members count depends on its kind.
struct Question {
    std::vector<double> phis{};
    double support = 0;
    std::size_t top = 0;                   // of frequent values; 0: all that have the support
    std::optional<std::uint64_t> width{};  // for a sliding window
    Notation notation = Notation::Hexadecimal;
    Aggregate aggregate{};
    double scale = 1, offset = 0;       // the threshold is scale AGG(x) + offset,
    std::function<double(double)> f{};  // or f(AGG(x)) if set
    HeavyRule rule = HeavyRule::Discounted;
};

// `value_bits`: bits of the type.
[[nodiscard]] std::string prefix_text(std::uint64_t value, int length, int value_bits, Notation notation);
[[nodiscard]] std::string prefix_text(const Ipv6& address, int length, int value_bits, Notation notation);

[[nodiscard]] Json quantile_row(double phi, const Value& value, std::uint64_t rank_lower, std::uint64_t rank_upper);
[[nodiscard]] Json counted_row(Json value, const Count& count);

// What a file has: "groups of quantiles".
[[nodiscard]] std::string name_of(const SavedSummary& summary);
// And of which values: "groups of quantiles of f64 values".
[[nodiscard]] std::string full_name_of(const SavedSummary& summary);

}  // namespace quadmill::detail::cli
