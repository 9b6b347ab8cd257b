#include "sql/cursor.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace quadmill::detail::sql {

namespace {

constexpr std::array<std::string_view, 26> keywords{"SELECT",  "FROM",  "WHERE",  "AND",  "OR",      "NOT",   "IN",
                                                    "BETWEEN", "IS",    "NULL",   "TRUE", "FALSE",   "AS",    "ON",
                                                    "GROUP",   "BY",    "LIMIT",  "JOIN", "HAVING",  "ORDER", "LIKE",
                                                    "ILIKE",   "USING", "OFFSET", "LEFT", "DISTINCT"};

// SQL that is not supported, and what to use instead.
struct Advice {
    std::string_view word, advice;
};
constexpr std::string_view out_of_scope =
    "is not supported: quadmill query answers conditions, groups, orders and joins; use a full SQL engine for the rest";
constexpr std::array<Advice, 27> not_offered{{{"GLOB", "is not supported; use LIKE"},
                                              {"REGEXP", "is not supported; use LIKE"},
                                              {"SIMILAR", "is not supported; use LIKE"},
                                              {"UNION", out_of_scope},
                                              {"INTERSECT", out_of_scope},
                                              {"EXCEPT", out_of_scope},
                                              {"WITH", out_of_scope},
                                              {"EXISTS", out_of_scope},
                                              {"RIGHT", out_of_scope},
                                              {"FULL", out_of_scope},
                                              {"OUTER", "goes after LEFT"},
                                              {"CROSS", out_of_scope},
                                              {"COLLATE", out_of_scope},
                                              {"CURRENT_DATE", out_of_scope},
                                              {"CURRENT_TIME", out_of_scope},
                                              {"CURRENT_TIMESTAMP", out_of_scope},
                                              {"NATURAL", "is not supported; write USING (k)"},
                                              {"INNER", "is only allowed before JOIN"},
                                              {"CASE", out_of_scope},
                                              {"OVER", out_of_scope},
                                              {"QUALIFY", out_of_scope},
                                              {"WINDOW", out_of_scope},
                                              {"ISNULL", "is written IS NULL"},
                                              {"NOTNULL", "is written IS NOT NULL"},
                                              {"::", out_of_scope},
                                              {"FETCH", "is not supported; write LIMIT at the end"},
                                              {"||", out_of_scope}}};

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
        fail("an integer is from -2^127 to 2^127-1; write " + text + ".0 if it may be rounded", begin);
    }
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) return value;
    return std::strtod(text.c_str(), nullptr);  // it returns the nearest double for those out of range
}

SqlToken SqlCursor::path() {
    auto token = lexer_.path(taken_);
    taken_ = token.end;
    if (!token.text.empty()) return token;
    if (token.end > token.begin) fail("the path of a file must not be empty", token.begin);
    if (this->token().is_symbol("(")) {
        take();
        check_offered();
    }
    refuse("the path of a file");
}

std::uint64_t SqlCursor::whole_number(std::uint64_t min, const char* what) {
    const auto begin = token().begin;
    if (token().kind != SqlToken::Kind::Number) fail(what, begin);
    const auto value = query::value_of(number());
    const auto* integer = value ? std::get_if<std::int64_t>(&*value) : nullptr;
    if (!integer || static_cast<std::uint64_t>(*integer) < min) fail(what, begin);
    return static_cast<std::uint64_t>(*integer);
}

bool SqlCursor::at_word_before(std::string_view word, std::string_view symbol) const {
    auto ahead = *this;
    return ahead.accept_word(word) && ahead.token().is_symbol(symbol);
}

void SqlCursor::check_after_call() {
    for (const auto* word : {"FILTER", "OVER"}) {
        if (at_word_before(word, "(")) fail(std::string(word) + " " + std::string(out_of_scope), token().begin);
    }
}

void SqlCursor::check_function(const SqlToken& name) const {
    for (const auto* word :
         {"CAST",   "TRY_CAST", "EXTRACT",  "COALESCE",   "IF",     "IIF",       "NULLIF", "ROW_NUMBER",
          "RANK",   "DATE",     "STRFTIME", "DATE_TRUNC", "SUBSTR", "SUBSTRING", "LOWER",  "UPPER",
          "LENGTH", "ROUND",    "ABS",      "CONCAT",     "TRIM",   "REPLACE",   "ROLLUP", "CUBE",
          "RANDOM", "NOW",      "IFNULL",   "STRING_AGG", "FLOOR",  "CEIL",      "TOTAL",  "GROUP_CONCAT"}) {
        if (name.is_word(word)) fail(name.text + "() " + std::string(out_of_scope), name.begin);
    }
}

void SqlCursor::check_type(const SqlToken& type) {
    const bool named = std::ranges::any_of(std::array{"DATE", "TIME", "TIMESTAMP", "INTERVAL"},
                                           [&](const char* word) { return type.is_word(word); });
    if (!named || token().kind != SqlToken::Kind::Text) return;
    fail(type.text + " '...' " + std::string(out_of_scope) + ". Dates of the form 2024-12-31 are compared as text",
         type.begin);
}

void SqlCursor::check_offered(const std::string& hint) {
    if (token().is_word("SELECT"))
        fail("a sub-query " + std::string(out_of_scope) + ", or pipe its answer: FROM -", token().begin);
    if (const auto* advice = advice_for(token())) {
        const bool is_cast = advice->word == "::";
        fail((is_cast ? "a cast" : std::string(advice->word)) + " " + std::string(advice->advice) +
                 (advice->advice == out_of_scope ? "" : hint),
             token().begin);
    }
}

void SqlCursor::refuse(const std::string& expected) {
    refuse(expected, "");
}

void SqlCursor::refuse_name(const std::string& expected) {
    const bool word = token().kind == SqlToken::Kind::Word;
    refuse(expected, word ? "; a column of that name goes in double quotes: \"" + token().text + "\"" : "");
}

void SqlCursor::refuse(const std::string& expected, const std::string& hint) {
    if (!token().is_word("SELECT")) check_offered(hint);
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
