// SQL text to a Query: the part of SQL that the library does, and errors that point at the character for the rest.
//
// SELECT (* | column | aggregate) [AS name], ... FROM path [AS alias] [JOIN path [AS alias] ON x.k = y.k]
// [WHERE condition] [GROUP BY column, ...] [LIMIT n] [;]
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/error.hpp"
#include "quadmill/query.hpp"

namespace quadmill::detail::query {

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
    std::string name;  // the alias, else the file's name without folder and extension; "stdin" for "-"
};

// A column that the text names, and where.
struct SqlColumn {
    std::string name;
    std::optional<std::size_t> source{};  // the place in `sources` of the one that qualifies it
    std::size_t offset = 0;
};

struct SqlQuery {
    Query query{};
    std::vector<SqlSource> sources{};  // one, or the two of a join
    std::vector<std::size_t> stars{};  // SELECT *: all columns come before those outputs, which may be the end
    std::vector<SqlColumn> columns{};  // so that no others need be read
};

// Throws SqlError.
[[nodiscard]] SqlQuery parse_sql(std::string_view text);

}  // namespace quadmill::detail::query
