#include "sql/lexer.hpp"

#include <algorithm>
#include <array>

#include "sql/statement.hpp"

namespace quadmill::detail::sql {

namespace {

// Not std::isspace: that depends on the locale.
bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
// Bytes of UTF-8 beyond ASCII count as letters.
bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_name_part(char c) {
    return is_name_start(c) || is_digit(c) || c == '$';
}

}  // namespace

bool SqlToken::is_word(std::string_view word) const {
    return kind == Kind::Word && same_but_for_case(text, word);
}

void SqlLexer::skip_blanks() {
    while (at_ < text_.size()) {
        if (is_blank(text_[at_])) {
            ++at_;
        } else if (text_.substr(at_).starts_with("--")) {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (text_.substr(at_).starts_with("/*")) {
            const auto end = text_.find("*/", at_ + 2);
            if (end == std::string_view::npos) throw SqlError("this comment is not closed", text_, at_);
            at_ = end + 2;
        } else {
            return;
        }
    }
}

SqlToken SqlLexer::up_to(SqlToken::Kind kind, std::size_t end) {
    SqlToken token{kind, at_, end, std::string(text_.substr(at_, end - at_))};
    at_ = end;
    return token;
}

SqlToken SqlLexer::next() {
    skip_blanks();
    if (at_ == text_.size()) return up_to(SqlToken::Kind::End, at_);
    const char c = text_[at_];
    if (c == '\'') return quoted(SqlToken::Kind::Text);
    if (c == '"' || c == '`' || c == '[') return quoted(SqlToken::Kind::Name);
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return number();
    if (!is_name_start(c)) return symbol();
    auto end = at_;
    while (end < text_.size() && is_name_part(text_[end])) ++end;
    return up_to(SqlToken::Kind::Word, end);
}

SqlToken SqlLexer::quoted(SqlToken::Kind kind) {
    const char open = text_[at_], quote = open == '[' ? ']' : open;
    SqlToken token{kind, at_, at_};
    for (auto i = at_ + 1; i < text_.size(); ++i) {
        if (text_[i] == quote) {
            if (!text_.substr(i + 1).starts_with(quote)) {
                if (kind == SqlToken::Kind::Name && token.text.empty())
                    throw SqlError("a name is not empty", text_, at_);
                token.end = at_ = i + 1;
                return token;
            }
            ++i;  // two quotes stand for one
        }
        token.text += text_[i];
    }
    throw SqlError(std::string("this ") + open + " is not closed", text_, at_);
}

SqlToken SqlLexer::number() {
    auto end = at_;
    const auto digits = [&] {
        const auto first = end;
        while (end < text_.size() && is_digit(text_[end])) ++end;
        return end > first;
    };
    digits();
    if (end < text_.size() && text_[end] == '.') {
        ++end;
        digits();
    }
    if (end < text_.size() && same_but_for_case(text_.substr(end, 1), "E")) {
        ++end;
        if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
        if (!digits()) throw SqlError("this number has no digits in its exponent", text_, at_);
    }
    if (end < text_.size() && (is_name_part(text_[end]) || text_[end] == '.'))
        throw SqlError("this is not a number; a name that begins with a digit goes in double quotes", text_, at_);
    return up_to(SqlToken::Kind::Number, end);
}

SqlToken SqlLexer::symbol() {
    constexpr std::array<std::string_view, 21> symbols{"::", "<=", ">=", "<>", "!=", "==", "||", "(", ")", ",", ".",
                                                       ";",  "*",  "+",  "-",  "/",  "%",  "=",  "<", ">", "?"};
    for (const auto symbol : symbols) {
        if (text_.substr(at_).starts_with(symbol)) return up_to(SqlToken::Kind::Symbol, at_ + symbol.size());
    }
    throw SqlError("this character has no meaning here", text_, at_);
}

SqlToken SqlLexer::path(std::size_t begin) {
    at_ = begin;
    skip_blanks();
    if (at_ < text_.size() && std::string_view("'\"`").find(text_[at_]) != std::string_view::npos)
        return quoted(SqlToken::Kind::Text);
    constexpr std::string_view ends = ",;()'\"";
    auto end = at_;
    while (end < text_.size() && !is_blank(text_[end]) && ends.find(text_[end]) == std::string_view::npos) ++end;
    return up_to(SqlToken::Kind::Word, end);
}

}  // namespace quadmill::detail::sql
