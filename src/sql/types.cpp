// Types of a statement's columns.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "query/plan/expression.hpp"
#include "query/table/table.hpp"
#include "query/table/text_numbers.hpp"
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

// Marks further columns without values, because they are compared with marked ones, directly or through others.
static void spread(const SqlQuery& query, SqlTypes& known, bool SqlType::*mark) {
    const auto& columns = query.columns;
    std::map<std::pair<std::size_t, std::string>, std::size_t> positions;
    std::vector<std::size_t> first;  // for columns of the same name, the index of the first one
    for (const auto& column : columns)
        first.push_back(
            positions.emplace(std::pair(column.source.value_or(0), column.name), first.size()).first->second);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (known[i].*mark) known[first[i]].*mark = true;
    }
    for (bool more = true; more;) {
        more = false;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (!columns[i].beside) continue;
            auto &a = known[first[i]], &b = known[first[*columns[i].beside]];
            auto& other = a.*mark ? b : a;
            if (a.*mark == b.*mark || !other.is_empty) continue;
            other.*mark = more = true;
        }
    }
    for (std::size_t i = 0; i < columns.size(); ++i) known[i].*mark = known[first[i]].*mark;
}

SqlTypes types_in(const SqlQuery& query, std::span<const SqlTable> sources) {
    SqlTypes known(query.columns.size());
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto& column = query.columns[i];
        auto& one = known[i];
        if (!column.source) continue;  // the name of an output
        const auto& [table, notes] = sources[*column.source];
        if (const auto noted = notes.find(column.name); noted != notes.end())
            static_cast<query::ColumnNotes&>(one) = noted->second;
        const auto& data = *detail::Access::of(table);
        const auto place = data.places.find(column.name);
        one.is_empty = place == data.places.end();
        if (!one.is_empty) one.type = data.infos[place->second].type;
        const bool is_word = std::ranges::any_of(column.texts, [](const auto& word) { return !number_of(word); });
        one.is_text =
            one.printed || one.type == ColumnType::Text || (one.is_empty && (is_word || column.use == SqlUse::Pattern));
    }
    spread(query, known, &SqlType::is_text);
    spread(query, known, &SqlType::wide);
    for (auto& one : known) {
        if (one.is_text) one.type = ColumnType::Text;
    }
    return known;
}

// "a is text (line 3 has 'x')"
static std::string type_words(const SqlQuery& query, const SqlTypes& known, std::size_t i) {
    const auto& one = query.columns[i];
    const bool is_text = known[i].is_text;
    const auto words = (one.source && query.sources.size() > 1 ? query.sources[*one.source].name + "." : "") +
                       one.name + " is " + (known[i].wide ? "an integer beyond 64 bits" : words_of(known[i].type));
    if (!is_text) return words;
    if (!known[i].why.empty()) return words + " (" + known[i].why + ")";
    const auto chosen = [&](const SqlColumn& c) {
        return same_column(c, one) && (c.use == SqlUse::WithText || c.use == SqlUse::Pattern);
    };
    const bool empty = known[i].is_empty && std::ranges::any_of(query.columns, chosen);
    return words + (empty ? " (it has no value and is compared with text)" : "");
}

std::string types_text(const SqlQuery& query, const SqlTypes& known) {
    std::set<std::string> lines;
    std::string text;
    for (std::size_t i = 0; i < query.columns.size(); ++i) {
        const auto line = "column " + type_words(query, known, i) + "\n";
        if (query.columns[i].source && lines.insert(line).second) text += line;
    }
    return text;
}

void check_types(const SqlQuery& query, const SqlTypes& known) {
    const auto& text = query.text;
    const auto& columns = query.columns;
    const auto is_text = [&](std::size_t i) { return known[i].is_text; };
    const auto has_type = [&](std::size_t i) { return type_words(query, known, i); };
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto& [written, leaf, name, source, use, beside, texts, alias, printed, wide] = columns[i];
        if (!source) continue;
        const auto offset = written.offset;
        if ((!is_text(i) || known[i].wide) && use == SqlUse::Pattern)
            throw SqlError("LIKE needs text, and " + has_type(i), text, offset);
        if (is_text(i) && use == SqlUse::Sum) throw SqlError("sums need numbers, but " + has_type(i), text, offset);
        const auto odd = std::ranges::find_if(texts, [&](const std::string& word) {
            return known[i].wide ? !query::integer_of(without_blanks(word)) : !number_of(word);
        });
        if (known[i].wide && odd != texts.end())
            throw SqlError(has_type(i) + ", and '" + *odd + "' is not an integer from -2^127 to 2^127-1", text, offset);
        if (!is_text(i) && odd != texts.end()) {
            throw SqlError(has_type(i) + ", and '" + *odd + "' is " +
                               (is_whole(without_blanks(*odd)) ? "beyond 64 bits; write it with .0 if it may be rounded"
                                                               : "not a number"),
                           text, offset);
        }
        if (is_text(i) && !known[i].wide && use == SqlUse::WithNumber)
            throw SqlError("text cannot be compared with a number, and " + has_type(i), text, offset);
        if (!beside || (is_text(i) == is_text(*beside) && known[i].wide == known[*beside].wide)) continue;
        for (const auto& [a, b] : {std::pair(i, *beside), std::pair(*beside, i)}) {
            if (known[a].wide && !known[b].wide)
                throw SqlError(has_type(a) + ", and " + has_type(b) + "; --types " + columns[b].name +
                                   ":i128 reads it as such an integer, too",
                               text, offset);
        }
        throw SqlError("text cannot be compared with numbers, and " + has_type(*beside) + "; " + has_type(i), text,
                       offset);
    }
}

// A constant that is compared with a wide integer.
static Value wide_constant(const std::string& name, const query::Numeral& number) {
    const auto* const fraction = std::get_if<double>(&number);
    if (fraction && (std::abs(*fraction) >= 0x1p126 || std::trunc(*fraction) != *fraction))
        throw InvalidArgument(name + " is an integer beyond 64 bits, which is compared with integers only");
    return query::ordered_text(fraction ? static_cast<query::Integer>(*fraction) : std::get<query::Integer>(number));
}

// The same condition, but constants have the types of the columns, which are named by their leaves.
static Predicate with_types(const query::Expression& expression, const std::set<std::string>& numbers,
                            const std::map<std::string, std::string>& wide) {
    auto copy = expression;
    for (auto& operand : copy.operands)
        operand = std::make_shared<const query::Expression>(detail::Access::of(with_types(*operand, numbers, wide)));
    const auto known = wide.find(copy.column);
    for (auto& value : copy.values) {
        const auto* const text = std::get_if<std::string>(&value);
        if (known == wide.end()) {
            if (text && numbers.contains(copy.column)) value = *number_of(*text);
        } else if (text) {
            value = query::ordered_text(*query::integer_of(without_blanks(*text)));
        } else if (const auto* const integer = std::get_if<std::int64_t>(&value)) {
            value = wide_constant(known->second, query::Integer{*integer});
        } else {
            value = wide_constant(known->second, std::get<double>(value));
        }
    }
    for (const auto& step : copy.steps) {
        const auto of = wide.find(step.leaf);
        if (step.op != query::Arithmetic::Leaf || of == wide.end()) continue;
        if (copy.steps.size() != 2)
            throw InvalidArgument(of->second + " is an integer beyond 64 bits, which expressions do not take");
        // A comparison with an integer beyond 64 bits.
        return query::predicate({.kind = query::Expression::Kind::Compare,
                                 .column = step.leaf,
                                 .op = copy.op,
                                 .values = {wide_constant(of->second, copy.steps[1].constant)}});
    }
    return query::predicate(std::move(copy));
}

bool SqlQuery::is_wide(const std::string& leaf) const {
    const auto aggregate = std::ranges::find(aggregates, leaf, &SqlAggregate::leaf);
    if (aggregate == aggregates.end()) {
        const auto column = std::ranges::find(columns, leaf, &SqlColumn::leaf);
        return column != columns.end() && column->wide;
    }
    const auto kind = aggregate->what.kind;
    return aggregate->form == SqlAggregate::Form::Plain && kind != QueryAggregate::Kind::Count &&
           aggregate->argument.size() == 1 && is_wide(aggregate->argument[0].leaf);
}

void take_types(SqlQuery& query, const SqlTypes& known) {
    std::set<std::string> numbers;            // leaves
    std::map<std::string, std::string> wide;  // leaves and names
    for (std::size_t i = 0; i < query.columns.size(); ++i) {
        auto& column = query.columns[i];
        column.printed = known[i].printed;
        column.wide = known[i].wide;
        if (column.wide) wide.emplace(column.leaf, column.name);
        if (!known[i].is_text && !column.texts.empty()) numbers.insert(column.leaf);
    }
    for (const auto& one : query.aggregates) {
        if (query.is_wide(one.leaf)) wide.emplace(one.leaf, one.leaf);
    }
    if (numbers.empty() && wide.empty()) return;
    for (auto* condition : {&query.where, &query.having}) {
        if (*condition) *condition = with_types(detail::Access::of(**condition), numbers, wide);
    }
}

}  // namespace quadmill::detail::sql
