#include "cli/answer.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "input/enum_words.hpp"
#include "input/printable.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::cli {

namespace {

// The shortest text; nlohmann writes 1 as 1.0.
std::string word_of(const Json& value) {
    if (value.is_string()) {
        // On one line, as a row of a table must be.
        const auto text = value.get<std::string>();
        std::string word;
        for (std::size_t at = 0; at < text.size();) {
            const auto length = input::printable_length(std::string_view(text).substr(at));
            word += length > 0 ? text.substr(at, length) : input::as_escape(static_cast<unsigned char>(text[at]));
            at += std::max<std::size_t>(length, 1);
        }
        return word;
    }
    return value.is_number_float() ? input::format_number(value.get<double>()) : value.dump();
}

using Row = std::vector<std::string>;

// A nested object becomes separate columns.
void flatten(const Json& object, const std::string& prefix, Row& names, Row& words) {
    for (const auto& [key, value] : object.items()) {
        if (value.is_object()) {
            flatten(value, prefix + key + " ", names, words);
            continue;
        }
        names.push_back(prefix + key);
        words.push_back(word_of(value));
    }
}

std::string table_of(const Json& rows) {
    std::vector<Row> lines(1);
    for (const auto& row : rows) {
        lines.front().clear();
        lines.emplace_back();
        flatten(row, "", lines.front(), lines.back());
    }
    std::string text;
    std::vector<std::size_t> widths(lines.front().size());
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    }
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i)
            text += fmt::format("{:>{}}", line[i], widths[i] + (i > 0 ? 2 : 0));
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    return text;
}

std::string as_table(const Answer& answer) {
    std::string text;
    std::uint64_t nans = 0, skipped = 0;
    for (const auto* facts : {&answer.head, &answer.tail}) {
        for (const auto& [key, value] : facts->items()) {
            if (key == "nans") {
                nans = value;
            } else if (key == "skipped") {
                skipped = value;
            } else {
                text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, word_of(value));
            }
        }
    }
    text += '\n';
    if (nans > 0) text += fmt::format("NaNs, not counted: {}\n", nans);
    if (skipped > 0) text += fmt::format("skipped lines: {}\n", skipped);
    if (answer.head.at("n") == 0) return text + "no values\n";
    return text + (answer.rows.empty() ? "none\n" : table_of(answer.rows));
}

std::string as_json(const Answer& answer) {
    auto out = answer.head;
    if (answer.rows_of.empty()) {
        out.update(answer.rows.at(0));
    } else {
        out[answer.rows_of] = answer.rows;
    }
    out.update(answer.tail);
    return dumped(out) + "\n";  // a group may be any bytes
}

}  // namespace

std::string to_text(const Answer& answer, Format format) {
    return format == Format::JsonLine ? as_json(answer) : as_table(answer);
}

Json json_of(double value) {
    return std::isfinite(value) ? Json(value) : Json(input::format_number(value));
}

std::string prefix_text(std::uint64_t value, int length, int value_bits, Notation notation) {
    if (notation == Notation::Hexadecimal) return fmt::format("0x{:0{}x}/{}", value, value_bits / 4, length);
    const auto part = [value](int shift) { return (value >> static_cast<unsigned>(shift)) & 255U; };
    return fmt::format("{}.{}.{}.{}/{}", part(24), part(16), part(8), part(0), length);
}

std::string prefix_text(const Ipv6& address, int length, int /*value_bits*/, Notation /*notation*/) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(AF_INET6, address.bytes.data(), text.data(), text.size());
    return fmt::format("{}/{}", text.data(), length);
}

std::string name_of(const SavedSummary& summary) {
    using Kind = SavedSummary::Kind;
    constexpr std::array names{std::pair{Kind::Quantiles, "quantiles"},
                               std::pair{Kind::Frequencies, "frequencies"},
                               std::pair{Kind::SlidingQuantiles, "sliding quantiles"},
                               std::pair{Kind::SlidingFrequencies, "sliding frequencies"},
                               std::pair{Kind::HeavyPrefixes, "heavy prefixes"},
                               std::pair{Kind::CorrelatedSums, "correlated sums"},
                               std::pair{Kind::TailQuantiles, "quantiles with a tail"},
                               std::pair{Kind::NameFrequencies, "frequencies of names"},
                               std::pair{Kind::Distinct, "a number of different values"},
                               std::pair{Kind::Ipv6Prefixes, "prefixes of IPv6 addresses"}};
    const auto* found =
        std::ranges::find(names, summary.parts.value_or(summary.kind), [](const auto& name) { return name.first; });
    const char* before = summary.kind == Kind::Groups        ? "groups of "
                         : summary.kind == Kind::LastSeconds ? "the last seconds' "
                                                             : "";
    return before + std::string(found == names.end() ? "summaries" : found->second);
}

std::string full_name_of(const SavedSummary& summary) {
    using Kind = SavedSummary::Kind;
    const auto kind = summary.parts.value_or(summary.kind);
    if (kind == Kind::NameFrequencies || kind == Kind::Distinct || kind == Kind::Ipv6Prefixes) return name_of(summary);
    return name_of(summary) + " of " + input::word_for(input::type_words, summary.type) + " values";
}

std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

double Value::number() const {
    return cpu::visit_key_type(type, [this]<class T>(const T*) { return stream::number(as<T>()); });
}

Json json_of(const Value& value) {
    return cpu::visit_key_type(value.type, [&]<class T>(const T*) { return json_of(value.as<T>()); });
}

Json quantile_row(double phi, const Value& value, std::uint64_t rank_lower, std::uint64_t rank_upper) {
    return {{"phi", phi}, {"value", json_of(value)}, {"rank_lower", rank_lower}, {"rank_upper", rank_upper}};
}

Json counted_row(Json value, const Count& count) {
    Json row{{"value", std::move(value)}};
    row.update(json_of(count));
    return row;
}

Json json_of(const Count& count) {
    return {{"lower", count.lower}, {"estimate", count.estimate}, {"upper", count.upper}};
}

}  // namespace quadmill::detail::cli
