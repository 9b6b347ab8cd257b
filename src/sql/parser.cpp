#include "sql/parser.hpp"

#include <algorithm>
#include <utility>

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

class StatementParser {
  public:
    StatementParser(SqlCursor& at) : at_(at) {}
    SqlQuery run();

  private:
    void select_list();
    void output();
    void source();
    void join();
    void join_condition();
    void using_column();
    [[nodiscard]] std::size_t side(const SqlReference& column, SqlUse use);
    void groups();
    void order();
    void limit();

    SqlCursor& at_;
    SqlQuery out_;
};

bool at_join(SqlCursor& at) {
    return at.token().is_word("JOIN") || at.token().is_word("INNER") || at.token().is_word("LEFT");
}

// Also takes the semicolons before and after it.
SqlQuery StatementParser::run() {
    const auto pass_ends = [this] {
        while (at_.accept_symbol(";")) {
        }
    };
    pass_ends();
    if (!at_.token().is_word("SELECT")) {
        if (at_.token().is_word("WITH")) at_.check_offered();
        if (at_.token().is_word("EXPLAIN"))
            at_.fail(
                "EXPLAIN is not supported, but the option --explain prints the plan; use a full SQL engine for the "
                "rest",
                at_.token().begin);
        if (at_.token().kind == SqlToken::Kind::End) at_.fail("there is no statement", at_.token().begin);
        at_.fail("a query begins with SELECT", at_.token().begin);
    }
    at_.take();
    out_.text = at_.text();
    out_.distinct = at_.accept_word("DISTINCT");
    if (auto ahead = at_; ahead.accept_word("TOP") && ahead.token().kind == SqlToken::Kind::Number)
        at_.fail("TOP is not supported; write LIMIT at the end", at_.token().begin);
    select_list();
    at_.expect_word("FROM");
    source();
    if (at_join(at_)) join();
    if (!at_.token().is_word("SELECT")) at_.check_offered();
    if (at_.token().is_symbol(",") && out_.sources.size() == 1)
        at_.fail("two tables are FROM x.csv JOIN y.csv ON x.k = y.k", at_.token().begin);
    if (at_.accept_word("WHERE")) out_.where = parse_condition(at_, out_, SqlClause::Where);
    groups();
    if (at_.accept_word("HAVING")) out_.having = parse_condition(at_, out_, SqlClause::Having);
    order();
    limit();
    const bool ends = at_.token().is_symbol(";") || at_.token().kind == SqlToken::Kind::End;
    pass_ends();
    if (ends) return std::move(out_);
    if (at_.token().is_word("JOIN")) at_.fail("only one JOIN is supported, before WHERE", at_.token().begin);
    at_.refuse("an operator or the end of the query");
}

void StatementParser::select_list() {
    do {
        output();
    } while (at_.accept_symbol(","));
}

void StatementParser::output() {
    const auto offset = at_.token().begin;
    if (at_.accept_symbol("*")) return out_.outputs.push_back({.offset = offset, .end = at_.taken()});
    if (auto ahead = at_; ahead.at_name()) {  // t.*
        const auto table = ahead.take();
        if (ahead.accept_symbol(".") && ahead.accept_symbol("*")) {
            at_ = ahead;
            return out_.outputs.push_back({.qualifier = table.text, .offset = offset, .end = at_.taken()});
        }
    }
    SqlOutput found{.steps = parse_expression(at_, out_, SqlClause::Select), .offset = offset, .end = at_.taken()};
    if (at_.accept_word("AS") || at_.at_name()) found.name = at_.name("a name");
    out_.outputs.push_back(std::move(found));
}

void StatementParser::source() {
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
            at_.fail("JOIN, WHERE, GROUP BY, ORDER BY, LIMIT or AS is expected here, not " + name, offset);
    }
    for (const auto& other : out_.sources) {
        if (other.name == name) at_.fail("two tables are called " + name + "; give one another name by AS", offset);
        if (other.path == "-" && path == "-") at_.fail("standard input can be read only once", begin);
    }
    out_.sources.push_back({path, std::move(name)});
}

void StatementParser::join() {
    out_.join.emplace().outer = at_.accept_word("LEFT");
    if (out_.join->outer) {
        at_.accept_word("OUTER");
    } else {
        at_.accept_word("INNER");
    }
    at_.expect_word("JOIN");
    source();
    if (at_.accept_word("USING")) {
        using_column();
    } else {
        at_.expect_word("ON");
        join_condition();
    }
    if (at_join(at_))
        at_.fail("only one JOIN is supported; pipe the answer of the first into a second query: FROM -",
                 at_.token().begin);
    if (at_.token().is_word("AND") || at_.token().is_word("OR"))
        at_.fail("ON takes one comparison; further conditions go after WHERE", at_.token().begin);
}

void StatementParser::using_column() {
    at_.expect_symbol("(");
    auto column = at_.reference();
    if (!column.qualifier.empty()) at_.fail("USING takes a name that both tables have", column.offset);
    if (at_.token().is_symbol(","))
        at_.fail("a join compares one column; further conditions go after WHERE", at_.token().begin);
    at_.expect_symbol(")");
    out_.join->used = column.name;
    auto& [left, right, band, outer, used] = *out_.join;
    column.qualifier = out_.sources[0].name;
    left = side(column, SqlUse::Any);
    column.qualifier = out_.sources[1].name;
    right = side(column, SqlUse::Any);
    out_.columns[right].beside = left;
}

std::size_t StatementParser::side(const SqlReference& column, SqlUse use) {
    const auto index = out_.columns.size();
    out_.columns.push_back({.written = column, .leaf = leaf_name('c', index), .use = use});
    return index;
}

void StatementParser::join_condition() {
    std::size_t open = 0;
    while (at_.accept_symbol("(")) ++open;
    const auto first = at_.token();
    if (!at_.at_name()) at_.refuse_name("x.k = y.k, or ABS(x.k - y.k) <= d");
    at_.take();
    auto& join = *out_.join;
    const bool band = first.is_word("ABS") && at_.accept_symbol("(");
    const auto use = band ? SqlUse::WithNumber : SqlUse::Any;
    join.left = side(band ? at_.reference() : at_.reference_from(first), use);
    if (band) {
        at_.expect_symbol("-");
    } else if (!at_.accept_symbol("=") && !at_.accept_symbol("==")) {
        at_.refuse("=");
    }
    join.right = side(at_.reference(), use);
    out_.columns[join.right].beside = join.left;
    if (band) {
        at_.expect_symbol(")");
        at_.expect_symbol("<=");
        const auto begin = at_.token().begin;
        const auto d = at_.number();
        if (!query::is_exact_double(d)) at_.fail("d must be exact as a double; add .0 if it may be rounded", begin);
        join.band = query::nearest_double(d);
    }
    for (; open > 0; --open) at_.expect_symbol(")");
}

void StatementParser::groups() {
    if (!at_.accept_word("GROUP")) return;
    at_.expect_word("BY");
    do {
        const auto offset = at_.token().begin;
        out_.group_by.push_back({.steps = parse_expression(at_, out_, SqlClause::GroupBy), .offset = offset});
    } while (at_.accept_symbol(","));
}

void StatementParser::order() {
    if (!at_.accept_word("ORDER")) return;
    at_.expect_word("BY");
    do {
        const auto offset = at_.token().begin;
        SqlOrder by{.steps = parse_expression(at_, out_, SqlClause::OrderBy), .offset = offset};
        by.descending = at_.accept_word("DESC");
        if (!by.descending) at_.accept_word("ASC");
        by.nulls_first = !by.descending;
        if (at_.accept_word("NULLS")) {
            by.nulls_first = at_.accept_word("FIRST");
            if (!by.nulls_first && !at_.accept_word("LAST")) at_.refuse("FIRST or LAST");
        }
        out_.order_by.push_back(std::move(by));
    } while (at_.accept_symbol(","));
}

void StatementParser::limit() {
    if (!at_.accept_word("LIMIT")) {
        if (at_.token().is_word("OFFSET")) at_.fail("OFFSET goes after LIMIT n", at_.token().begin);
        return;
    }
    out_.limit = at_.whole_number(0, "LIMIT takes a whole number from 0 to 2^63 - 1");
    if (at_.accept_word("OFFSET")) out_.offset = at_.whole_number(0, "OFFSET takes a whole number from 0 to 2^63 - 1");
    if (at_.token().is_symbol(","))
        at_.fail("LIMIT takes one number, the number of rows; LIMIT n OFFSET m skips m rows", at_.token().begin);
}

}  // namespace

SqlError::SqlError(const std::string& what, std::string_view text, std::size_t offset)
    : InvalidArgument(what + "\n" + pointed_at(text, offset)), offset_(offset) {}
SqlError::~SqlError() = default;

std::vector<SqlQuery> parse_statements(std::string_view text) {
    SqlCursor at(text);
    std::vector<SqlQuery> all;
    do {
        all.push_back(StatementParser(at).run());
    } while (at.token().kind != SqlToken::Kind::End);
    return all;
}

SqlQuery parse_sql(std::string_view text) {
    SqlCursor at(text);
    auto query = StatementParser(at).run();
    if (at.token().kind != SqlToken::Kind::End) at.refuse("the end of the query");
    return query;
}

}  // namespace quadmill::detail::sql
