// ORDER BY of more rows than fit into memory, by way of temporary files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "external/sorting.hpp"
#include "sql/run.hpp"

namespace quadmill::detail::cli {

// Whether the rows of a statement can be ordered apart from reading them: one table, and each row for itself.
[[nodiscard]] bool can_spill(const sql::SqlQuery& query);
// The statement without order and limit. The keys of the order are further outputs.
[[nodiscard]] sql::SqlQuery unordered(sql::SqlQuery query);

// Takes rows, and gives them back in order. Rows with equal keys keep their order.
class SpilledRows {
  public:
    // `memory` is that of the sort. No `temp`: the folder of temporary files.
    SpilledRows(const sql::SqlQuery& query, std::size_t memory, const std::string& temp, unsigned threads);

    // A row of the unordered statement.
    void add(std::span<const sql::SqlCell> row);
    // Ends the input. Passes on the rows that OFFSET and LIMIT leave.
    void give(const sql::TakeRow& take);

  private:
    void put_key(const sql::SqlCell& cell, const sql::SqlOrder& by);
    void put_cell(const sql::SqlCell& cell);

    const sql::SqlQuery& query_;
    external::Sorting sorting_;
    std::string record_;
};

}  // namespace quadmill::detail::cli
