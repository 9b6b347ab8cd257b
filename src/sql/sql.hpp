// SQL text to a Query: the part of SQL that the library does, and errors that point at the character for the rest.
//
// SELECT (* | column | aggregate) [AS name], ... FROM path [AS alias] [JOIN path [AS alias] ON x.k = y.k]
// [WHERE condition] [GROUP BY column or name, ...] [LIMIT n] [;]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/error.hpp"
#include "quadmill/plan.hpp"

namespace quadmill::detail::sql {

// What is wrong with a text, and at which of its bytes. The message shows the line with a caret under the character.
class SqlError : public InvalidArgument {
  public:
    SqlError(const std::string& what, std::string_view text, std::size_t offset);
    ~SqlError() override;
    [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

  private:
    std::size_t offset_;
};

struct SqlSource {
    std::string path;  // "-" is standard input
    std::string name;  // the alias, else the file's name without folder, .gz or .zst, and extension; "stdin" for "-"
};

// Names of a table's columns: as its file has them, and as the table does, of which no two are the same.
struct SqlNames {
    std::vector<std::string> written{}, unique{};
};

// What a column is used with, which says what type it must have, or may be read as.
enum class SqlUse { Any, WithText, WithNumber, Sum };

// A column that the text names, and where; of a *, each.
struct SqlColumn {
    std::string name;
    std::optional<std::size_t> source{};  // the place in `sources` of its table, if that is known
    std::size_t offset = 0;
    SqlUse use = SqlUse::Any;
    std::optional<std::size_t> beside{};  // the place in `columns` of one that it is compared with
    std::vector<std::string> texts{};     // that it is compared with
};

struct SqlQuery {
    Query query{};
    std::vector<SqlSource> sources{};  // one, or the two of a join
    std::vector<std::size_t> stars{};  // SELECT * of tables that are not known: before which outputs, or at the end
    std::vector<SqlColumn> columns{};  // so that no others need be read
};

// All throw SqlError. Without names of columns, those in the text are taken as they are.
[[nodiscard]] SqlQuery parse_sql(std::string_view text);
// With those of each of its sources: a name is that of a column with the same letters, otherwise of the one that has
// them in another case.
[[nodiscard]] SqlQuery parse_sql(std::string_view text, const std::vector<SqlNames>& tables);
// What is known of the columns of a query, each in the order of `columns`.
struct SqlTypes {
    std::vector<ColumnType> types{};
    std::vector<std::string> why{};  // it is of text; empty: that is not known
};
void check_types(std::string_view text, const SqlQuery& query, const SqlTypes& known);
// The query with numbers for texts that a column of numbers is compared with. Pre: check_types() passed.
[[nodiscard]] Query typed(const SqlQuery& query, const SqlTypes& known);

// Makes those of `columns` text that are compared with text, directly or by way of others, and `may` be text.
void spread_text(const SqlQuery& query, const std::vector<bool>& may, std::vector<bool>& is_text);

}  // namespace quadmill::detail::sql
