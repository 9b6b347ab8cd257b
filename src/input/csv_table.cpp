#include "input/csv_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "input/text.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

using cpu::Workers;
using query::ColumnNames;

void refuse(const std::string& path, std::uint64_t line, const CsvFault& fault) {
    throw InvalidArgument(line_of(path, line - 1 + fault.line) + fault.what);
}

ColumnNames with_unique(std::vector<std::string> written) {
    ColumnNames names{.written = std::move(written)};
    std::unordered_set<std::string> taken;
    for (const auto& name : names.written) {
        auto own = name;
        while (!taken.insert(own).second) own = fmt::format("{} (column {})", own, names.unique.size() + 1);
        names.unique.push_back(std::move(own));
    }
    return names;
}

CsvTable table_of(const ColumnNames& names, const CsvColumns& columns, std::vector<std::vector<Cells>>& parts,
                  const std::vector<Cells::Seen>& seen, Widths widths, query::SharedTexts& shared,
                  const Workers& workers) {
    CsvTable all;
    Cells::TextParts texts;
    for (const auto& part : parts.front()) all.rows += part.rows();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto& name = names.unique[columns[i]];
        const auto kind = seen[i].column();
        all.notes[name] = {.is_empty = kind == Cells::Kind::Nothing,
                           .printed = kind >= Cells::Kind::WideIntegers && parts[i].front().is_printed(),
                           .wide = kind == Cells::Kind::WideIntegers,
                           .mostly_numbers = kind == Cells::Kind::Texts && seen[i].mostly_numbers(),
                           .why = seen[i].why()};
        if (kind != Cells::Kind::Nothing) Cells::add_to(all.table, texts, name, parts[i], kind, widths);
        parts[i].clear();
    }
    query::add_texts(all.table, texts.numbered, shared, workers);
    all.memory = std::move(texts.printed);
    return all;
}

std::size_t length_of_mark(const std::string& path, std::string_view text) {
    const bool is_utf32 = text.starts_with(std::string_view("\xff\xfe\0\0", 4));
    if ((text.starts_with("\xff\xfe") && !is_utf32) || text.starts_with("\xfe\xff"))
        refuse(path, 1, {1, "looks like UTF-16; `iconv -f UTF-16 -t UTF-8` makes it readable"});
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return text.starts_with(mark) ? mark.size() : 0;
}

char delimiter_of(std::string_view text) {
    constexpr std::string_view delimiters = ",;\t|";
    std::array<std::size_t, delimiters.size()> counts{};
    bool inside = false;
    for (const char c : text) {
        inside ^= c == '"';
        if (!inside && (c == '\n' || c == '\r')) break;
        if (const auto at = delimiters.find(c); !inside && at != std::string_view::npos) ++counts.at(at);
    }
    return delimiters[static_cast<std::size_t>(std::ranges::max_element(counts) - counts.begin())];
}

std::vector<std::string> numbered(std::size_t columns) {
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= columns; ++i) names.push_back(fmt::format("column{}", i));
    return names;
}

Table filled(const CsvTable& from, const std::vector<std::string>& texts) {
    auto table = from.table;
    const std::unordered_set<std::string> of_text(texts.begin(), texts.end());
    for (const auto& [name, notes] : from.notes) {
        if (!notes.is_empty) continue;
        std::vector<bool> valid(from.rows, false);
        if (of_text.contains(name)) {
            table.add(name, std::vector<std::string>(from.rows), std::move(valid));
        } else {
            table.add(name, std::vector<std::int32_t>(from.rows), std::move(valid));
        }
    }
    return table;
}

}  // namespace quadmill::detail::input
