// Converts SQL text to a Query. The library supports a part of SQL; errors for everything else point at the character.
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

// An error in a text, with the index of its byte. The message shows the line with a caret under the character.
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

// Names of a table's columns: as written in the file, and as the table has them, without duplicates.
struct SqlNames {
    std::vector<std::string> written{}, unique{};
};

// How a column is used, which determines the type that it must have, or may be read as.
enum class SqlUse { Any, WithText, WithNumber, Sum };

// A column that the text names, and its position; for a *, each of its columns.
struct SqlColumn {
    std::string name;
    std::optional<std::size_t> source{};  // index of its table in `sources`, if that is known
    std::size_t offset = 0;
    SqlUse use = SqlUse::Any;
    std::optional<std::size_t> beside{};  // index in `columns` of a column that it is compared with
    std::vector<std::string> texts{};     // texts that it is compared with
};

struct SqlQuery {
    Query query{};
    std::vector<SqlSource> sources{};  // one source, or the two of a join
    std::vector<std::size_t> stars{};  // SELECT * of unknown tables: each goes before this output, or at the end
    std::vector<SqlColumn> columns{};  // the only ones that need to be read
};

// Both functions throw SqlError. Without column names, names in the text are taken as written.
[[nodiscard]] SqlQuery parse_sql(std::string_view text);
// With the column names of each source. A name refers to the column with the same letters in the same case, otherwise
// to the one that only differs in case.
[[nodiscard]] SqlQuery parse_sql(std::string_view text, const std::vector<SqlNames>& tables);
// Facts about the columns of a query, in the order of `columns`.
struct SqlTypes {
    std::vector<ColumnType> types{};
    std::vector<std::string> why{};  // why it is text; empty if that is not known
};
void check_types(std::string_view text, const SqlQuery& query, const SqlTypes& known);
// The query, in which texts that are compared with a numeric column are replaced by numbers. Pre: check_types() passed.
[[nodiscard]] Query typed(const SqlQuery& query, const SqlTypes& known);

// Marks columns as text if they are compared with text, directly or through other columns, and `may` be text.
void spread_text(const SqlQuery& query, const std::vector<bool>& may, std::vector<bool>& is_text);

}  // namespace quadmill::detail::sql
