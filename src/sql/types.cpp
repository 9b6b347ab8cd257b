// Types of a statement's columns.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "query/plan/expression.hpp"
#include "sql/binder.hpp"

namespace quadmill::detail::sql {

namespace {

std::string without_blanks(std::string_view text) {
    const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
    return std::string(text.substr(begin, text.find_last_not_of(" \t") + 1 - begin));
}

bool is_whole(const std::string& word) {
    const auto first = word.find_first_not_of("+-");
    return first <= 1 && word.find_first_not_of("0123456789", first) == std::string::npos;
}

// The number that a text represents, if a predicate can have it. As in CSV, blanks around it are ignored.
std::optional<Value> number_of(std::string_view text) {
    const auto word = without_blanks(text);
    if (word.empty() || word.find_first_of("xXpP") != std::string::npos) return {};
    if (is_whole(word)) {
        const auto integer = query::integer_of(word);
        return integer ? query::value_of(query::Numeral(*integer)) : std::nullopt;
    }
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    return end == word.c_str() + word.size() ? std::optional<Value>(value) : std::nullopt;
}

const char* words_of(ColumnType type) {
    constexpr std::array words{"real", "real", "integer", "integer", "integer", "text"};
    return words.at(static_cast<std::size_t>(type));
}

}  // namespace

static bool same_column(const SqlColumn& a, const SqlColumn& b) {
    return a.name == b.name && a.source == b.source;
}

// Marks columns as text if they are compared with text, directly or through other columns, and `may` be text.
static void spread_text(const SqlQuery& query, const std::vector<bool>& may, std::vector<bool>& is_text) {
    const auto& columns = query.columns;
    std::map<std::pair<std::size_t, std::string>, std::size_t> positions;
    std::vector<std::size_t> first;  // for columns of the same name, the index of the first one
    for (const auto& column : columns)
        first.push_back(
            positions.emplace(std::pair(column.source.value_or(0), column.name), first.size()).first->second);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (is_text[i]) is_text[first[i]] = true;
    }
    for (bool more = true; more;) {
        more = false;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (!columns[i].beside) continue;
            const auto a = first[i], b = first[*columns[i].beside];
            const auto other = is_text[a] ? b : a;
            if (is_text[a] == is_text[b] || !may[other]) continue;
            is_text[other] = more = true;
        }
    }
    for (std::size_t i = 0; i < columns.size(); ++i) is_text[i] = is_text[first[i]];
}

SqlTypes types_in(const SqlQuery& query, std::span<const SourceTypes> sources) {
    SqlTypes known;
    std::vector<bool> empty, text;
    for (const auto& column : query.columns) {
        const auto* there = column.source ? &sources[*column.source] : nullptr;  // none for the name of an output
        const auto found = there ? there->types.find(column.name) : decltype(there->types.end()){};
        empty.push_back(there && found == there->types.end());
        known.types.push_back(there && !empty.back() ? found->second : ColumnType::I32);
        const bool beside_text = empty.back() && (column.use == SqlUse::WithText || column.use == SqlUse::Pattern);
        known.printed.push_back(there && there->printed.contains(column.name));
        if (known.printed.back()) known.types.back() = ColumnType::Text;
        text.push_back(known.types.back() == ColumnType::Text || beside_text);
        const auto why = there ? there->why_text.find(column.name) : decltype(there->why_text.end()){};
        known.why.push_back(there && why != there->why_text.end() ? why->second : "");
    }
    spread_text(query, empty, text);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i]) known.types[i] = ColumnType::Text;
    }
    return known;
}

void check_types(const SqlQuery& query, const SqlTypes& known) {
    const auto& text = query.text;
    const auto& columns = query.columns;
    const auto is_text = [&](std::size_t i) { return known.types[i] == ColumnType::Text; };
    const auto whole_name = [&](std::size_t i) {
        const auto& sources = query.sources;
        const auto& source = columns[i].source;
        return (source && sources.size() > 1 ? sources[*source].name + "." : "") + columns[i].name;
    };
    // "a is text (line 3 has 'x')"
    const auto has_type = [&](std::size_t i) {
        const auto words = whole_name(i) + " is " + words_of(known.types[i]);
        if (!is_text(i)) return words;
        if (!known.why[i].empty()) return words + " (" + known.why[i] + ")";
        const auto chosen = [&](const SqlColumn& c) {
            return same_column(c, columns[i]) && (c.use == SqlUse::WithText || c.use == SqlUse::Pattern);
        };
        return words + (std::ranges::any_of(columns, chosen) ? " (it has no value and is compared with text)" : "");
    };
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto& [written, leaf, name, source, use, beside, texts, alias, printed] = columns[i];
        if (!source) continue;
        const auto offset = written.offset;
        if (!is_text(i) && use == SqlUse::Pattern) throw SqlError("LIKE needs text, and " + has_type(i), text, offset);
        if (is_text(i) && use == SqlUse::Sum) throw SqlError("sums need numbers, but " + has_type(i), text, offset);
        const auto odd = std::ranges::find_if(texts, [](const std::string& word) { return !number_of(word); });
        if (!is_text(i) && odd != texts.end()) {
            throw SqlError(has_type(i) + ", and '" + *odd + "' is " +
                               (is_whole(without_blanks(*odd)) ? "beyond 64 bits; write it with .0 if it may be rounded"
                                                               : "not a number"),
                           text, offset);
        }
        if (is_text(i) && use == SqlUse::WithNumber)
            throw SqlError("text cannot be compared with a number, and " + has_type(i), text, offset);
        if (!beside || is_text(i) == is_text(*beside)) continue;
        throw SqlError("text cannot be compared with numbers, and " + has_type(*beside) + "; " + has_type(i), text,
                       offset);
    }
}

// The same condition, but in comparisons with those columns texts become numbers.
static Predicate with_numbers(const query::Expression& expression, const std::set<std::string>& numbers) {
    auto copy = expression;
    for (auto& operand : copy.operands)
        operand = std::make_shared<const query::Expression>(detail::Access::of(with_numbers(*operand, numbers)));
    for (auto& value : copy.values) {
        const auto* text = std::get_if<std::string>(&value);
        if (text && numbers.contains(copy.column)) value = *number_of(*text);
    }
    return query::predicate(std::move(copy));
}

void take_types(SqlQuery& query, const SqlTypes& known) {
    std::set<std::string> numbers;  // names of leaves
    for (std::size_t i = 0; i < query.columns.size(); ++i) {
        auto& column = query.columns[i];
        column.printed = known.printed[i];
        if (known.types[i] != ColumnType::Text && !column.texts.empty()) numbers.insert(column.leaf);
    }
    if (numbers.empty()) return;
    for (auto* condition : {&query.where, &query.having}) {
        if (*condition) *condition = with_numbers(detail::Access::of(**condition), numbers);
    }
}

}  // namespace quadmill::detail::sql
