// Looks up the names of a statement, and checks its types.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "quadmill/table.hpp"
#include "query/table/column_names.hpp"
#include "sql/statement.hpp"

namespace quadmill::detail::sql {

using query::ColumnNames;

// The statement with the names that its tables have for columns, or with names as written if there are no tables. A
// name refers to the column with the same letters in the same case, otherwise to the one that only differs in case.
// Afterwards each key of a group is a column or a computed column, and so is each argument of an aggregate. Throws
// SqlError.
[[nodiscard]] SqlQuery bind(SqlQuery query, std::span<const ColumnNames> tables = {});

// The columns of one source that the statement reads, as indices in its names; the first one if it reads none.
[[nodiscard]] std::vector<std::size_t> columns_read(const SqlQuery& query, std::size_t source,
                                                    const ColumnNames& names);
// The columns of one source whose texts are only printed or matched with LIKE, as indices in its names.
[[nodiscard]] std::set<std::size_t> columns_printed(const SqlQuery& query, std::size_t source,
                                                    const ColumnNames& names);

// A source, whose table lacks columns without values.
struct SqlTable {
    const Table& table;
    const query::NotesByName& notes;
};
struct SqlType : query::ColumnNotes {
    ColumnType type = ColumnType::I32;
    bool is_text = false;
};
// The types of the columns of a statement, in the order of `columns`.
using SqlTypes = std::vector<SqlType>;
// A column without a value is text if it is compared with text, otherwise an integer.
[[nodiscard]] SqlTypes types_in(const SqlQuery& query, std::span<const SqlTable> sources);
// The types of the columns, one per line, for --explain.
[[nodiscard]] std::string types_text(const SqlQuery& query, const SqlTypes& known);
// Throws SqlError.
void check_types(const SqlQuery& query, const SqlTypes& known);
// Gives constants the types of the columns that they are compared with, and marks printed and wide columns. Throws
// InvalidArgument for a fraction that is compared with a wide integer. Pre: check_types() passed.
void take_types(SqlQuery& query, const SqlTypes& known);

// The expression as text.
[[nodiscard]] std::string text_of(const SqlSteps& steps);

}  // namespace quadmill::detail::sql
