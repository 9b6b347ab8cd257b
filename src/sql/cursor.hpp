// The position of a parser in SQL text, and its error messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "query/plan/formula.hpp"
#include "sql/lexer.hpp"
#include "sql/statement.hpp"

namespace quadmill::detail::sql {

// All functions throw SqlError.
class SqlCursor {
  public:
    explicit SqlCursor(std::string_view text) : lexer_(text) {}

    [[nodiscard]] std::string_view text() const { return lexer_.text(); }
    // The next token, without taking it.
    [[nodiscard]] const SqlToken& token();
    // The end of the last token that was taken.
    [[nodiscard]] std::size_t taken() const { return taken_; }
    SqlToken take();
    // Takes the token if it is that word or symbol.
    bool accept_word(std::string_view word);
    bool accept_symbol(std::string_view symbol);
    void expect_word(std::string_view word);
    void expect_symbol(std::string_view symbol);
    // Whether there is a word that is not a keyword, or a name in double quotes.
    [[nodiscard]] bool at_name();
    [[nodiscard]] std::string name(const char* what);
    [[nodiscard]] SqlReference reference();
    // The rest of a reference whose first word has been taken.
    [[nodiscard]] SqlReference reference_from(const SqlToken& first);
    // The number here, or with Sign::Minus its negation. It is an integer if it has neither point nor exponent; it must
    // then fit into 128 bits. Otherwise it is the nearest double, which is infinity for 1e400 and 0 for 1e-400.
    enum class Sign { Plus, Minus };
    [[nodiscard]] query::Numeral number(Sign sign = Sign::Plus);
    [[nodiscard]] std::uint64_t whole_number(std::uint64_t min, const char* what);
    // Pre: token() has not been called for the next token, which may not be valid SQL.
    [[nodiscard]] SqlToken path();

    // Fails if the next token is SQL that is not supported.
    void check_offered(const std::string& hint = {});
    // Fail at SQL that is not supported after a call, at such a function, and at DATE '2024-01-01'.
    void check_after_call();
    void check_function(const SqlToken& name) const;
    void check_type(const SqlToken& type);
    // Whether the word is followed by that symbol.
    [[nodiscard]] bool at_word_before(std::string_view word, std::string_view symbol) const;
    // Fails because the next token is not what is expected; says so if it is a keyword that needs quotes to be a name.
    [[noreturn]] void refuse(const std::string& expected);
    [[noreturn]] void refuse_name(const std::string& expected);
    [[noreturn]] void fail(const std::string& what, std::size_t offset) const;

  private:
    [[noreturn]] void refuse(const std::string& expected, const std::string& hint);

    SqlLexer lexer_;
    std::optional<SqlToken> token_{};
    std::size_t taken_ = 0;
};

}  // namespace quadmill::detail::sql
