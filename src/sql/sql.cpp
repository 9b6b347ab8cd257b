#include "sql/sql.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <unordered_set>
#include <utility>

#include "query/plan/expression.hpp"
#include "sql/condition.hpp"
#include "sql/cursor.hpp"

namespace quadmill::detail::sql {

namespace {

constexpr std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

// The line of the text with the offset, and a caret below it. A long line is cut around the character.
std::string pointed_at(std::string_view text, std::size_t offset) {
    constexpr std::size_t max = 60;
    offset = std::min(offset, text.size());
    auto begin = offset > 0 ? text.rfind('\n', offset - 1) + 1 : 0;  // 0 also if there is none
    auto end = std::min(text.find('\n', offset), text.size());
    const bool cut_left = offset - begin > max, cut_right = end - offset > max;
    const auto inside = [&](std::size_t i) { return i < end && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80; };
    if (cut_left) begin = offset - max;
    if (cut_right) end = offset + max;
    while (inside(begin)) ++begin;  // not within a UTF-8 character
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) ++end;
    std::string line(text.substr(begin, end - begin));
    std::ranges::replace_if(
        line, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; }, ' ');
    const std::string left = cut_left ? "  ..." : "  ";
    const auto width = left.size() + characters(text.substr(begin, offset - begin));
    return left + line + (cut_right ? "..." : "") + "\n" + std::string(width, ' ') + "^";
}

// A column, or an aggregate of a column or of *, before the tables are known.
struct Item {
    std::optional<SqlReference> column{};
    std::optional<QueryAggregate> aggregate{};
    std::string name{};  // empty: the column's own name
    std::size_t offset = 0;
};

// The first few of them, for a message.
std::string list_of(const std::vector<std::string>& names) {
    constexpr std::size_t max = 20;
    std::string list;
    for (std::size_t i = 0; i < std::min(max, names.size()); ++i) list += (i > 0 ? ", " : "") + names[i];
    return list + (names.size() > max ? " and " + std::to_string(names.size() - max) + " more" : "");
}

// The name without folder and extensions, also for a packed file: x for data/x.csv.gz.
std::string name_of_file(const std::string& path) {
    auto name = path.substr(path.rfind('/') + 1);
    const auto cut = [&](std::size_t dot) {
        if (dot != std::string::npos && dot > 0) name.resize(dot);
    };
    for (const auto* packed : {".gz", ".zst"}) {
        if (name.ends_with(packed)) cut(name.rfind('.'));
    }
    cut(name.rfind('.'));
    return name;
}

struct Function {
    std::string_view name;
    QueryAggregate::Kind kind;
};
constexpr std::array<Function, 9> functions{{{"COUNT", QueryAggregate::Kind::Count},
                                             {"SUM", QueryAggregate::Kind::Sum},
                                             {"AVG", QueryAggregate::Kind::Average},
                                             {"MIN", QueryAggregate::Kind::Min},
                                             {"MAX", QueryAggregate::Kind::Max},
                                             {"MEDIAN", QueryAggregate::Kind::Quantile},
                                             {"QUANTILE", QueryAggregate::Kind::Quantile},
                                             {"KTH_LARGEST", QueryAggregate::Kind::KthLargest},
                                             {"KTH_SMALLEST", QueryAggregate::Kind::KthSmallest}}};

class SqlParser {
  public:
    SqlParser(std::string_view text, const std::vector<SqlNames>* tables) : at_(text), tables_(tables) {}
    SqlQuery run();

  private:
    void select_list();
    [[nodiscard]] Item item();
    [[nodiscard]] Item call(const SqlToken& function);
    void check_no_expression(const char* words);
    void function_constants(const SqlToken& function, QueryAggregate& aggregate);
    [[nodiscard]] std::uint64_t whole_number(std::uint64_t min, const char* what);
    void source();
    void join();
    void join_condition();
    void band(const SqlReference& left);
    void on_columns(const SqlReference& left, const SqlReference& right, SqlUse use);
    void outputs();
    void star(std::size_t offset);
    void group_by();
    [[nodiscard]] const Item* named_item(const SqlReference& name);
    void check_groups();
    // Adds the column to `columns`.
    [[nodiscard]] std::string resolve(const SqlReference& column);
    [[nodiscard]] std::string name_in_query(const SqlColumn& column) const;
    void find(const SqlReference& column, SqlColumn& found);
    [[noreturn]] void refuse_unknown(const SqlReference& column);
    [[nodiscard]] std::size_t source_of(const SqlReference& column);

    SqlCursor at_;
    const std::vector<SqlNames>* tables_;
    std::vector<Item> items_;
    SqlQuery out_;
};

SqlQuery SqlParser::run() {
    if (!at_.token().is_word("SELECT")) at_.fail("a query begins with SELECT", at_.token().begin);
    at_.take();
    select_list();
    at_.expect_word("FROM");
    source();
    if (at_.token().is_word("JOIN") || at_.token().is_word("INNER")) join();
    // Checked before columns are looked up: the table may not have been understood.
    at_.check_offered();
    if (at_.token().is_symbol(",") && out_.sources.size() == 1)
        at_.fail("two tables are FROM x.csv JOIN y.csv ON x.k = y.k", at_.token().begin);
    outputs();
    auto& query = out_.query;
    if (at_.accept_word("WHERE"))
        query.where = parse_condition(
            at_, [this](const SqlReference& column) { return resolve(column); }, out_.columns);
    group_by();
    if (at_.accept_word("LIMIT")) {
        query.limit = whole_number(0, "LIMIT takes a whole number from 0, below 2^63");
        if (at_.token().is_symbol(","))
            at_.fail("LIMIT takes one number, the number of rows from the first; skipping rows is not supported",
                     at_.token().begin);
    }
    while (at_.accept_symbol(";")) {
    }
    if (at_.token().kind == SqlToken::Kind::End) {
        if (tables_) check_groups();
        return std::move(out_);
    }
    if (at_.token().is_word("JOIN")) at_.fail("only one JOIN is offered, before WHERE", at_.token().begin);
    at_.refuse("an operator or the end of the query");
}

void SqlParser::select_list() {
    do {
        const auto offset = at_.token().begin;
        items_.push_back(at_.accept_symbol("*") ? Item{.offset = offset} : item());
    } while (at_.accept_symbol(","));
}

Item SqlParser::item() {
    if (!at_.at_name()) at_.refuse_name("a column or an aggregate");
    const auto first = at_.take();
    const bool calls = first.kind == SqlToken::Kind::Word && at_.token().is_symbol("(");
    auto found = calls ? call(first) : Item{.column = at_.reference_from(first)};
    check_no_expression("expressions are for WHERE; here go columns and aggregates of one column");
    found.offset = first.begin;
    if (found.aggregate) found.name = at_.text().substr(first.begin, at_.taken() - first.begin);
    if (at_.accept_word("AS") || at_.at_name()) found.name = at_.name("a name");
    return found;
}

Item SqlParser::call(const SqlToken& function) {
    const auto* known = std::ranges::find_if(functions, [&](const Function& f) { return function.is_word(f.name); });
    if (known == functions.end()) {
        std::string all;
        for (const auto& [name, kind] : functions) all += (all.empty() ? "" : ", ") + std::string(name);
        at_.fail("there is no " + function.text + "(); there are " + all, function.begin);
    }
    at_.expect_symbol("(");
    Item found{.aggregate = QueryAggregate{.kind = known->kind}};
    const bool counts = known->kind == QueryAggregate::Kind::Count;
    if (counts && (at_.token().is_symbol("*") || at_.token().kind == SqlToken::Kind::Number)) {
        at_.take();  // COUNT(1) means COUNT(*)
        found.aggregate->kind = QueryAggregate::Kind::CountRows;
    } else {
        found.column = at_.reference();
        function_constants(function, *found.aggregate);
    }
    check_no_expression("an aggregate is of one column as it is, not of an expression");
    at_.expect_symbol(")");
    return found;
}

void SqlParser::check_no_expression(const char* words) {
    for (const char* sign : {"+", "-", "*"}) {
        if (at_.token().is_symbol(sign)) at_.fail(words, at_.token().begin);
    }
}

void SqlParser::function_constants(const SqlToken& function, QueryAggregate& aggregate) {
    using Kind = QueryAggregate::Kind;
    if (aggregate.kind == Kind::KthLargest || aggregate.kind == Kind::KthSmallest) {
        at_.expect_symbol(",");
        aggregate.k = whole_number(1, "k is a whole number from 1, below 2^63");
    } else if (function.is_word("QUANTILE")) {
        at_.expect_symbol(",");
        const auto begin = at_.token().begin;
        aggregate.phi = query::nearest_double(at_.number());
        if (!(aggregate.phi <= 1)) at_.fail("a quantile is from 0, the min, to 1, the max", begin);
    }
}

std::uint64_t SqlParser::whole_number(std::uint64_t min, const char* what) {
    const auto begin = at_.token().begin;
    if (at_.token().kind != SqlToken::Kind::Number) at_.fail(what, begin);
    const auto value = query::value_of(at_.number());
    const auto* integer = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    if (!integer || static_cast<std::uint64_t>(*integer) < min) at_.fail(what, begin);
    return static_cast<std::uint64_t>(*integer);
}

void SqlParser::source() {
    const auto [kind, begin, end, path] = at_.path();
    auto name = path == "-" ? "stdin" : name_of_file(path);
    auto offset = begin;
    const bool as = at_.accept_word("AS");
    if (as || at_.at_name()) {
        offset = at_.token().begin;
        name = at_.name("a name");
        // A misspelt keyword looks like a name.
        const auto& next = at_.token();
        if (!as && (at_.at_name() || next.kind == SqlToken::Kind::Number || next.is_symbol("(")))
            at_.fail("JOIN, WHERE, GROUP BY, LIMIT or AS is expected here, not " + name, offset);
    }
    for (const auto& other : out_.sources) {
        if (other.name == name) at_.fail("two tables are called " + name + "; give one another name by AS", offset);
        if (other.path == "-" && path == "-") at_.fail("standard input can be read only once", begin);
    }
    out_.sources.push_back({path, std::move(name)});
}

void SqlParser::join() {
    at_.accept_word("INNER");
    at_.expect_word("JOIN");
    source();
    at_.expect_word("ON");
    join_condition();
    if (at_.token().is_word("JOIN") || at_.token().is_word("INNER"))
        at_.fail("only one JOIN is offered; pipe the answer of the first into a second query: FROM -",
                 at_.token().begin);
    if (at_.token().is_word("AND") || at_.token().is_word("OR"))
        at_.fail("ON takes one comparison; further conditions go after WHERE", at_.token().begin);
}

void SqlParser::join_condition() {
    std::size_t open = 0;
    while (at_.accept_symbol("(")) ++open;
    const auto first = at_.token();
    if (!at_.at_name()) at_.refuse_name("x.k = y.k, or ABS(x.k - y.k) <= d");
    at_.take();
    if (first.is_word("ABS") && at_.accept_symbol("(")) {
        band(at_.reference());
    } else {
        const auto left = at_.reference_from(first);
        if (!at_.accept_symbol("=") && !at_.accept_symbol("==")) at_.refuse("=");
        on_columns(left, at_.reference(), SqlUse::Any);
    }
    for (; open > 0; --open) at_.expect_symbol(")");
}

// Parses ABS(x.k - y.k) <= d, beginning with the minus.
void SqlParser::band(const SqlReference& left) {
    at_.expect_symbol("-");
    const auto right = at_.reference();
    at_.expect_symbol(")");
    at_.expect_symbol("<=");
    const auto begin = at_.token().begin;
    const auto d = at_.number();
    if (!query::is_exact_double(d)) at_.fail("d must be exact as a double; add .0 if it may be rounded", begin);
    on_columns(left, right, SqlUse::WithNumber);
    out_.query.join->band = query::nearest_double(d);
}

void SqlParser::on_columns(const SqlReference& left, const SqlReference& right, SqlUse use) {
    for (const auto* side : {&left, &right}) {
        if (side->qualifier.empty())
            at_.fail("name its table: " + out_.sources[0].name + "." + side->name + " or " + out_.sources[1].name +
                         "." + side->name,
                     side->offset);
        static_cast<void>(resolve(*side));
    }
    auto& columns = out_.columns;
    const auto last = columns.size() - 1;
    columns[last].beside = last - 1;
    columns[last - 1].use = columns[last].use = use;
    auto a = columns[last - 1], b = columns[last];
    if (a.source == b.source) at_.fail("a join compares columns of two tables", right.offset);
    if (a.source == 1) std::swap(a, b);
    out_.query.join =
        Join{.left = a.name, .right = b.name, .left_name = out_.sources[0].name, .right_name = out_.sources[1].name};
}

void SqlParser::outputs() {
    for (auto& [column, aggregate, name, offset] : items_) {
        if (!column && !aggregate) {
            star(offset);
        } else if (aggregate) {
            using Kind = QueryAggregate::Kind;
            if (column) aggregate->column = resolve(*column);
            if (aggregate->kind == Kind::Sum || aggregate->kind == Kind::Average) out_.columns.back().use = SqlUse::Sum;
            out_.query.outputs.push_back({*aggregate, name});
        } else {
            auto known = resolve(*column);
            const auto& own = out_.columns.back();
            const auto plain = column->qualifier.empty() ? own.name : out_.sources[*own.source].name + "." + own.name;
            out_.query.outputs.push_back({std::move(known), name.empty() ? plain : name});
        }
    }
}

// All columns. In a join, names that both tables have get the table's name.
void SqlParser::star(std::size_t offset) {
    if (!tables_) return out_.stars.push_back(out_.query.outputs.size());
    for (std::size_t i = 0; i < tables_->size(); ++i) {
        const auto& [written, unique] = (*tables_)[i];
        std::unordered_set<std::string_view> others;
        if (tables_->size() > 1) others.insert((*tables_)[1 - i].written.begin(), (*tables_)[1 - i].written.end());
        for (std::size_t k = 0; k < written.size(); ++k) {
            out_.columns.push_back({.name = unique[k], .source = i, .offset = offset});
            const bool both = others.contains(written[k]);
            out_.query.outputs.push_back(
                {name_in_query(out_.columns.back()), both ? out_.sources[i].name + "." + written[k] : written[k]});
        }
    }
}

// The output that a name after AS refers to; null if a table has a column of that name.
const Item* SqlParser::named_item(const SqlReference& name) {
    if (!name.qualifier.empty()) return nullptr;
    for (const auto& table : tables_ ? *tables_ : std::vector<SqlNames>()) {
        for (const auto& column : table.written) {
            if (same_but_for_case(column, name.name)) return nullptr;
        }
    }
    const auto found =
        std::ranges::find_if(items_, [&](const Item& item) { return same_but_for_case(item.name, name.name); });
    return found == items_.end() ? nullptr : &*found;
}

void SqlParser::group_by() {
    if (!at_.accept_word("GROUP")) return;
    at_.expect_word("BY");
    do {
        const auto column = at_.reference();
        const auto* item = named_item(column);
        if (item && item->aggregate)
            at_.fail(item->name + " is an aggregate of a group, and no column to group by", column.offset);
        out_.query.group_by.push_back(resolve(item ? *item->column : column));
    } while (at_.accept_symbol(","));
}

// Checks which outputs are allowed with GROUP BY.
void SqlParser::check_groups() {
    const auto& by = out_.query.group_by;
    const bool all = std::ranges::none_of(items_, [](const Item& item) { return item.aggregate.has_value(); });
    if (all && by.empty()) return;
    for (const auto& output : out_.query.outputs) {
        const auto* name = std::get_if<std::string>(&output.what);
        if (!name || std::ranges::find(by, *name) != by.end()) continue;
        const auto own = std::ranges::find_if(out_.columns, [&](const auto& c) { return name_in_query(c) == *name; });
        at_.fail("a column next to an aggregate must be in GROUP BY: GROUP BY " + *name, own->offset);
    }
}

std::size_t SqlParser::source_of(const SqlReference& column) {
    const auto& sources = out_.sources;
    auto found = std::ranges::find(sources, column.qualifier, &SqlSource::name);
    const auto same = [&](const SqlSource& source) { return same_but_for_case(source.name, column.qualifier); };
    if (found == sources.end() && std::ranges::count_if(sources, same) == 1)
        found = std::ranges::find_if(sources, same);
    if (found != sources.end()) return static_cast<std::size_t>(found - sources.begin());
    std::string all = sources[0].name;
    if (sources.size() > 1) all += " and " + sources[1].name;
    at_.fail("there is no table " + column.qualifier + " in this query, only " + all, column.offset);
}

std::string SqlParser::resolve(const SqlReference& column) {
    SqlColumn named{.name = column.name, .offset = column.offset};
    if (!column.qualifier.empty()) named.source = source_of(column);
    if (tables_) find(column, named);
    out_.columns.push_back(named);
    return name_in_query(named);
}

std::string SqlParser::name_in_query(const SqlColumn& column) const {
    return column.source && out_.sources.size() > 1 ? out_.sources[*column.source].name + "." + column.name
                                                    : column.name;
}

// Finds the column. A name with the same case goes before one with another case.
void SqlParser::find(const SqlReference& column, SqlColumn& found) {
    struct Match {
        std::size_t source, index;
    };
    std::vector<Match> exact, all;
    for (std::size_t i = 0; i < tables_->size(); ++i) {
        const auto& names = (*tables_)[i].written;
        for (std::size_t k = 0; k < names.size(); ++k) {
            if (found.source.value_or(i) != i || !same_but_for_case(names[k], column.name)) continue;
            all.push_back({i, k});
            if (names[k] == column.name) exact.push_back({i, k});
        }
    }
    const auto& matches = exact.empty() ? all : exact;
    if (matches.empty()) refuse_unknown(column);
    const auto words = [&](const Match& match) {
        const auto& [source, index] = match;
        return out_.sources[source].name + "." + (*tables_)[source].written[index] + " (column " +
               std::to_string(index + 1) + ")";
    };
    if (matches.size() > 1)
        at_.fail(
            column.name + " may be " + words(matches[0]) + " or " + words(matches[1]) +
                (matches[0].source == matches[1].source ? "; give one another name in the first line" : "; say which"),
            column.offset);
    found.source = matches[0].source;
    found.name = (*tables_)[*found.source].unique[matches[0].index];
}

void SqlParser::refuse_unknown(const SqlReference& column) {
    std::string there;
    for (std::size_t i = 0; i < tables_->size(); ++i) {
        if (!column.qualifier.empty() && source_of(column) != i) continue;
        there += (there.empty() ? "" : "; ") + out_.sources[i].name + " has " + list_of((*tables_)[i].written);
    }
    at_.fail("there is no column " + column.name + ": " + there +
                 (column.in_double_quotes ? ". A text is written in single quotes: '" + column.name + "'" : ""),
             column.offset);
}

// ---- Types

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

SqlError::SqlError(const std::string& what, std::string_view text, std::size_t offset)
    : InvalidArgument(what + "\n" + pointed_at(text, offset)), offset_(offset) {}
SqlError::~SqlError() = default;

SqlQuery parse_sql(std::string_view text) {
    return SqlParser(text, nullptr).run();
}

SqlQuery parse_sql(std::string_view text, const std::vector<SqlNames>& tables) {
    return SqlParser(text, &tables).run();
}

static bool same_column(const SqlColumn& a, const SqlColumn& b) {
    return a.name == b.name && a.source == b.source;
}

void spread_text(const SqlQuery& query, const std::vector<bool>& may, std::vector<bool>& is_text) {
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

void check_types(std::string_view text, const SqlQuery& query, const SqlTypes& known) {
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
        const auto chosen = [&](const SqlColumn& c) { return same_column(c, columns[i]) && c.use == SqlUse::WithText; };
        return words + (std::ranges::any_of(columns, chosen) ? " (it has no value and is compared with text)" : "");
    };
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto& [name, source, offset, use, beside, texts] = columns[i];
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

Query typed(const SqlQuery& query, const SqlTypes& known) {
    auto result = query.query;
    std::set<std::string> numbers;  // names of columns in the query
    for (std::size_t i = 0; i < query.columns.size(); ++i) {
        const auto& [name, source, offset, use, beside, texts] = query.columns[i];
        if (known.types[i] == ColumnType::Text || texts.empty()) continue;
        numbers.insert(source && query.sources.size() > 1 ? query.sources[*source].name + "." + name : name);
    }
    if (result.where && !numbers.empty()) result.where = with_numbers(detail::Access::of(*result.where), numbers);
    return result;
}

}  // namespace quadmill::detail::sql
