// Names of a table's columns: as written in its file, and as the table has them, without duplicates.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace quadmill::detail::query {

// Whether they are equal except for the case of ASCII letters.
[[nodiscard]] inline bool same_but_for_case(std::string_view a, std::string_view b) {
    const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
    return std::ranges::equal(a, b, {}, upper, upper);
}

struct ColumnNames {
    std::vector<std::string> written{}, unique{};
};

// What is known of a column of a file next to its values.
struct ColumnNotes {
    bool is_empty = false;        // it has no value, and can become numbers or text
    bool printed = false;         // text: an I64 column of PrintedTexts
    bool wide = false;            // integers beyond 64 bits: a Text column of ordered_text()
    bool mostly_numbers = false;  // text, of which most values are numbers
    std::string why{};            // why it is text: "line 3 has 'x'"; empty if that is not known
};
using NotesByName = std::map<std::string, ColumnNotes>;

// For messages about a CSV whose names or fields are not as expected: which option may help.
[[nodiscard]] inline std::string hint_for(const std::vector<std::string>& names, bool one_field) {
    if (!names.empty() && names[0].starts_with('#')) return "; with --comment '#' lines that begin with # are skipped";
    return one_field ? "; --delimiter says what separates fields" : "";
}

}  // namespace quadmill::detail::query
