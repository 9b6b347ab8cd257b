// Answers about streams, as JSON or as a table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/json.hpp"
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

template <class Summary>
[[nodiscard]] std::uint64_t nans_of(const Summary& summary) {
    if constexpr (requires { summary.nans(); }) {
        return summary.nans();
    } else {
        return 0;  // an integer
    }
}

// `value_bits`: bits of the type.
[[nodiscard]] std::string prefix_text(std::uint64_t value, int length, int value_bits, Notation notation);
[[nodiscard]] std::string prefix_text(const Ipv6& address, int length, int value_bits, Notation notation);

[[nodiscard]] Json quantile_row(double phi, Json value, std::uint64_t rank_lower, std::uint64_t rank_upper);
[[nodiscard]] Json counted_row(Json value, const Count& count);
[[nodiscard]] Json head_of(std::uint64_t n, double eps);
[[nodiscard]] Json head_of(std::uint64_t n, double eps, const Question& asked);  // of frequent values

template <class T>
[[nodiscard]] Json rows_of(const std::vector<Quantile<T>>& quantiles) {
    auto rows = Json::array();
    for (const auto& q : quantiles) rows.push_back(quantile_row(q.phi, json_of(q.value), q.rank_lower, q.rank_upper));
    return rows;
}

template <class T>
[[nodiscard]] Json rows_of(const std::vector<Frequent<T>>& items, std::size_t top) {
    auto rows = Json::array();
    for (const auto& item : items) {
        if (top > 0 && rows.size() == top) break;
        rows.push_back(counted_row(json_of(item.value), item.count));
    }
    return rows;
}

// The support to ask for. With -k, all that the summary can tell.
[[nodiscard]] inline double support_of(const Question& asked, double eps) {
    return asked.top > 0 ? std::max(asked.support, eps) : asked.support;
}

// What a file has: "groups of quantiles".
[[nodiscard]] std::string name_of(const SavedSummary& summary);
// And of which values: "groups of quantiles of f64 values".
[[nodiscard]] std::string full_name_of(const SavedSummary& summary);

[[nodiscard]] inline Json window_of(const SlidingOptions& options, const Question& asked) {
    return {{"window", options.window}, {"width", asked.width.value_or(options.window)}};
}

template <class T>
[[nodiscard]] Answer answer_of(const Quantiles<T>& summary, const Question& asked) {
    Answer answer{.head = head_of(summary.n(), summary.eps()), .rows_of = "quantiles"};
    if (summary.n() > 0) answer.rows = rows_of(summary.quantiles(asked.phis));
    return answer;
}

template <class T>
[[nodiscard]] Answer answer_of(const Frequencies<T>& summary, const Question& asked) {
    return {.head = head_of(summary.n(), summary.eps(), asked),
            .rows_of = "items",
            .rows = rows_of(summary.frequent(support_of(asked, summary.eps())), asked.top)};
}

template <class T>
[[nodiscard]] Answer answer_of(const SlidingQuantiles<T>& summary, const Question& asked) {
    Answer answer{.head = head_of(summary.n(), summary.options().eps),
                  .rows_of = "quantiles",
                  .tail = window_of(summary.options(), asked)};
    if (summary.n() > 0) answer.rows = rows_of(summary.quantiles(asked.phis, asked.width));
    return answer;
}

template <class T>
[[nodiscard]] Answer answer_of(const SlidingFrequencies<T>& summary, const Question& asked) {
    return {.head = head_of(summary.n(), summary.options().eps, asked),
            .rows_of = "items",
            .rows = rows_of(summary.frequent(support_of(asked, summary.options().eps), asked.width), asked.top),
            .tail = window_of(summary.options(), asked)};
}

[[nodiscard]] inline Answer answer_of(const Distinct& summary, const Question& /*asked*/) {
    const auto count = summary.count();
    return {.head = {{"n", count.estimate}}, .rows = Json::array({json_of(count)})};
}

template <class T>
[[nodiscard]] Answer answer_of(const HeavyPrefixes<T>& summary, const Question& asked) {
    Answer answer{.head = {{"n", summary.n()}, {"eps", summary.options().eps}, {"support", asked.support}},
                  .rows_of = "items"};
    if (asked.rule == HeavyRule::All) answer.tail["prefixes"] = "all";
    for (const auto& item : summary.heavy(asked.support, asked.rule)) {
        Json row{{"prefix", prefix_text(item.value, item.length, 8 * sizeof(T), asked.notation)}};
        row.update(json_of(item.discounted));
        row["count"] = json_of(item.count);
        answer.rows.push_back(std::move(row));
    }
    return answer;
}

template <class T>
[[nodiscard]] Answer answer_of(const CorrelatedSums<T>& summary, const Question& asked) {
    Json row{{"threshold", nullptr}, {"sum", 0}, {"lower", 0}, {"upper", 0}};
    if (summary.n() > 0) {
        const auto found = asked.f ? summary.sum(asked.aggregate, asked.f)
                                   : summary.sum(asked.aggregate, Affine{asked.scale, asked.offset});
        // A double does not represent every 64-bit integer, but every float.
        const bool exact = std::is_integral_v<T> && found.exact;
        row = {{"threshold", exact ? json_of(*found.exact) : json_of(found.threshold)},
               {"sum", json_of(found.sum)},
               {"lower", json_of(found.lower)},
               {"upper", json_of(found.upper)}};
    }
    return {.head = {{"n", summary.n()}}, .rows = Json::array({row}), .tail = {{"eps", summary.eps()}}};
}

}  // namespace quadmill::detail::cli
