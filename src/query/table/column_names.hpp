// Names of a table's columns: as written in its file, and as the table has them, without duplicates.
#pragma once

#include <algorithm>
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

// For messages about a CSV whose names or fields are not as expected: which option may help.
[[nodiscard]] inline std::string hint_for(const std::vector<std::string>& names, bool one_field) {
    if (!names.empty() && names[0].starts_with('#')) return "; with --comment '#' lines that begin with # are skipped";
    return one_field ? "; --delimiter says what separates fields" : "";
}

}  // namespace quadmill::detail::query
