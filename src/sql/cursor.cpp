#include "sql/cursor.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "sql/sql.hpp"

namespace quadmill::detail::sql {

namespace {

constexpr std::array<std::string_view, 18> keywords{"SELECT", "FROM",    "WHERE", "AND",  "OR",    "NOT",
                                                    "IN",     "BETWEEN", "IS",    "NULL", "TRUE",  "FALSE",
                                                    "AS",     "ON",      "GROUP", "BY",   "LIMIT", "JOIN"};

// SQL that is not supported, and what to use instead.
struct Advice {
    std::string_view word, advice;
};
constexpr std::string_view only_inner_joins = "is not supported; a join is FROM x.csv JOIN y.csv ON x.k = y.k";
constexpr std::string_view one_query = "is not supported; combine the answers of several queries outside";
constexpr std::string_view patterns = "is not supported; text goes with = != < <= > >= BETWEEN and IN";
constexpr std::array<Advice, 26> not_offered{
    {{"ORDER", "BY is not supported; rows come in the order of the file: sort them outside"},
     {"HAVING",
      "is not supported; filter the answer: quadmill query '...' | quadmill query 'SELECT * FROM - "
      "WHERE ...'"},
     {"DISTINCT", "is not supported; GROUP BY the columns instead"},
     {"LIKE", patterns},
     {"GLOB", patterns},
     {"REGEXP", patterns},
     {"UNION", one_query},
     {"INTERSECT", one_query},
     {"EXCEPT", one_query},
     {"WITH", "is not supported; a query begins with SELECT"},
     {"LEFT", only_inner_joins},
     {"RIGHT", only_inner_joins},
     {"FULL", only_inner_joins},
     {"OUTER", only_inner_joins},
     {"CROSS", only_inner_joins},
     {"NATURAL", only_inner_joins},
     {"INNER", "is only allowed before JOIN"},
     {"USING", "is not supported; write ON x.k = y.k"},
     {"CASE", "is not supported; use one query for each case"},
     {"OVER", "is not supported; aggregates are of all rows, or GROUP BY a column"},
     {"OFFSET", "is not supported; LIMIT gives the first rows"},
     {"ISNULL", "is written IS NULL"},
     {"NOTNULL", "is written IS NOT NULL"},
     {"/", "is not supported; multiply by a constant: 0.5 * a"},
     {"%", "is not supported; sums of columns times constants are, such as 2*a + b"},
     {"||", "is not supported; text can be compared only"}}};

const Advice* advice_for(const SqlToken& token) {
    const auto same = [&](const Advice& advice) { return token.is_word(advice.word) || token.is_symbol(advice.word); };
    const auto* found = std::ranges::find_if(not_offered, same);
    return found == not_offered.end() ? nullptr : found;
}

bool is_reserved(const SqlToken& token) {
    return advice_for(token) != nullptr ||
           std::ranges::any_of(keywords, [&](std::string_view word) { return token.is_word(word); });
}

}  // namespace

const SqlToken& SqlCursor::token() {
    if (!token_) token_ = lexer_.next();
    return *token_;
}

SqlToken SqlCursor::take() {
    auto taken = token();
    taken_ = taken.end;
    token_.reset();
    return taken;
}

bool SqlCursor::accept_word(std::string_view word) {
    const bool here = token().is_word(word);
    if (here) take();
    return here;
}

bool SqlCursor::accept_symbol(std::string_view symbol) {
    const bool here = token().is_symbol(symbol);
    if (here) take();
    return here;
}

void SqlCursor::expect_word(std::string_view word) {
    if (!accept_word(word)) refuse(std::string(word));
}

void SqlCursor::expect_symbol(std::string_view symbol) {
    if (!accept_symbol(symbol)) refuse("'" + std::string(symbol) + "'");
}

bool SqlCursor::at_name() {
    return token().kind == SqlToken::Kind::Name || (token().kind == SqlToken::Kind::Word && !is_reserved(token()));
}

std::string SqlCursor::name(const char* what) {
    if (!at_name()) refuse_name(what);
    return take().text;
}

SqlReference SqlCursor::reference() {
    if (!at_name()) refuse_name("a column");
    return reference_from(take());
}

SqlReference SqlCursor::reference_from(const SqlToken& first) {
    if (!accept_symbol(".")) return {{}, first.text, first.begin, text()[first.begin] == '"'};
    return {first.text, name("a column"), first.begin};
}

query::Numeral SqlCursor::number(Sign sign) {
    if (token().kind != SqlToken::Kind::Number) refuse("a number");
    std::string text(sign == Sign::Minus ? "-" : "");
    const auto begin = token().begin;
    text += take().text;
    if (text.find_first_not_of("-0123456789") == std::string::npos) {
        if (const auto integer = query::integer_of(text)) return *integer;
        fail("an integer has at most 128 bits; write " + text + ".0 if it may be rounded", begin);
    }
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) return value;
    return std::strtod(text.c_str(), nullptr);  // it returns the nearest double for those out of range
}

SqlToken SqlCursor::path() {
    auto token = lexer_.path(taken_);
    taken_ = token.end;
    if (!token.text.empty()) return token;
    if (token.end > token.begin) fail("the path of a file is not empty", token.begin);
    if (this->token().is_symbol("(")) fail("a sub-query is not supported; pipe its answer: FROM -", token.begin);
    refuse("the path of a file");
}

void SqlCursor::check_offered(const std::string& hint) {
    if (const auto* advice = advice_for(token()))
        fail(std::string(advice->word) + " " + std::string(advice->advice) + hint, token().begin);
}

void SqlCursor::refuse(const std::string& expected) {
    refuse(expected, "");
}

void SqlCursor::refuse_name(const std::string& expected) {
    const bool word = token().kind == SqlToken::Kind::Word;
    refuse(expected, word ? "; a column of that name goes in double quotes: \"" + token().text + "\"" : "");
}

void SqlCursor::refuse(const std::string& expected, const std::string& hint) {
    check_offered(hint);
    const auto& here = token();
    const bool end = here.kind == SqlToken::Kind::End;
    const auto written = std::string(text().substr(here.begin, here.end - here.begin));
    fail(expected + " is expected here, " + (end ? "where the query ends" : "not " + written + hint),
         end ? taken_ : here.begin);
}

void SqlCursor::fail(const std::string& what, std::size_t offset) const {
    throw SqlError(what, text(), offset);
}

}  // namespace quadmill::detail::sql
