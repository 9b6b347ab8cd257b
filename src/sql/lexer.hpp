// Words, names, numbers and symbols of SQL text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "query/table/column_names.hpp"

namespace quadmill::detail::sql {

struct SqlToken {
    enum class Kind {
        End,
        Word,    // a keyword or a name
        Name,    // "a name", `a name` or [a name]
        Text,    // 'a constant'
        Number,  // without a sign
        Symbol
    };
    Kind kind = Kind::End;
    std::size_t begin = 0, end = 0;  // position in the text
    std::string text{};              // without quotes

    // Whether it is that keyword, in upper or lower case.
    [[nodiscard]] bool is_word(std::string_view upper) const;
    [[nodiscard]] bool is_symbol(std::string_view symbol) const { return kind == Kind::Symbol && text == symbol; }
};

using query::same_but_for_case;

// All functions throw SqlError.
class SqlLexer {
  public:
    explicit SqlLexer(std::string_view text) : text_(text) {}

    [[nodiscard]] std::string_view text() const { return text_; }
    [[nodiscard]] SqlToken next();
    // The path of a file that starts at `begin`: up to a blank, comma, semicolon or parenthesis, or in quotes.
    [[nodiscard]] SqlToken path(std::size_t begin);

  private:
    void skip_blanks();
    [[nodiscard]] SqlToken quoted(SqlToken::Kind kind);
    [[nodiscard]] SqlToken number();
    [[nodiscard]] SqlToken symbol();
    [[nodiscard]] SqlToken up_to(SqlToken::Kind kind, std::size_t end);

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace quadmill::detail::sql
