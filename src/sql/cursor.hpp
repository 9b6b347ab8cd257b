// Where a parser of SQL is in its text, and how it says what it wants there.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "query/plan/formula.hpp"
#include "sql/lexer.hpp"

namespace quadmill::detail::sql {

// A column as it is written: name or qualifier.name.
struct SqlReference {
    std::string qualifier{}, name{};
    std::size_t offset = 0;
    bool in_double_quotes = false;  // which texts are not
};

// All throw SqlError.
class SqlCursor {
  public:
    explicit SqlCursor(std::string_view text) : lexer_(text) {}

    [[nodiscard]] std::string_view text() const { return lexer_.text(); }
    // The next one, not taken.
    [[nodiscard]] const SqlToken& token();
    // Where the last token that was taken ends.
    [[nodiscard]] std::size_t taken() const { return taken_; }
    SqlToken take();
    // Takes the token if it is that word or symbol.
    bool accept_word(std::string_view word);
    bool accept_symbol(std::string_view symbol);
    void expect_word(std::string_view word);
    void expect_symbol(std::string_view symbol);
    // A word that is not a keyword, or a name in double quotes.
    [[nodiscard]] bool at_name();
    [[nodiscard]] std::string name(const char* what);
    [[nodiscard]] SqlReference reference();
    // The rest of a reference whose first word is taken already.
    [[nodiscard]] SqlReference reference_from(const SqlToken& first);
    // The number here, or what is 0 less it: an integer if it has neither point nor exponent, which must have at most
    // 128 bits; otherwise the nearest double, which for 1e400 is infinity and for 1e-400 is 0.
    enum class Sign { Plus, Minus };
    [[nodiscard]] query::Numeral number(Sign sign = Sign::Plus);
    // Pre: nobody has looked at the next token, as which a path may be none.
    [[nodiscard]] SqlToken path();

    // Fails if the next token is SQL that is not offered.
    void check_offered(const std::string& hint = {});
    // The next token is not what is expected here; or not the name that is, as which a keyword needs quotes.
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
