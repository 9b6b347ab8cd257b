// SQL: the text alone, then with the column names of a table.
#include "fuzz.hpp"
#include "sql/binder.hpp"
#include "sql/parser.hpp"

namespace quadmill::fuzz {

void run(std::span<const std::byte> bytes) {
    const auto text = text_of(bytes);
    try_to([&] {
        const auto query = detail::sql::parse_sql(text);
        const detail::query::ColumnNames names{.written = {"a", "b", "c"}, .unique = {"a", "b", "c"}};
        static_cast<void>(detail::sql::bind(query, std::vector(query.sources.size(), names)));
    });
}

}  // namespace quadmill::fuzz
