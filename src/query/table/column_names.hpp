// Names of a table's columns: as written in its file, and as the table has them, without duplicates.
#pragma once

#include <string>
#include <vector>

namespace quadmill::detail::query {

struct ColumnNames {
    std::vector<std::string> written{}, unique{};
};

}  // namespace quadmill::detail::query
