// Statements on a table that is read in parts: ORDER BY, GROUP BY and DISTINCT of more rows than fit into memory, by
// way of temporary files, and the first rows of an order in little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "external/sorting.hpp"
#include "sql/run.hpp"

namespace quadmill::detail::cli {

// Whether a statement can be answered from parts of its only table, or from groups one after the other.
[[nodiscard]] bool can_spill(const sql::SqlQuery& query);
// Whether it has a LIMIT, and so few rows that they stay in memory.
[[nodiscard]] bool wants_few_rows(const sql::SqlQuery& query);
// About the bytes that its order or groups take in memory, next to the table. Counts the groups if even one group a row
// would not fit into `memory`.
[[nodiscard]] std::uint64_t bytes_to_answer(const sql::SqlQuery& query, const Table& table, std::uint64_t memory);
// About the bytes that a group takes while groups are found.
[[nodiscard]] std::uint64_t bytes_of_group(const sql::SqlQuery& query);
// For groups: the statement of their rows, with all columns of the table, ordered by the groups' keys.
[[nodiscard]] sql::SqlQuery rows_of_groups(const sql::SqlQuery& query);
// The statement for a part of the rows. The keys of the order are further outputs.
[[nodiscard]] sql::SqlQuery part_of(sql::SqlQuery query);

// Takes rows, and gives them back in order. Rows with equal keys keep their order.
class OrderedRows {
  public:
    // `memory` is that of a sort, which is needed unless the statement wants few rows. No `temp`: the folder of
    // temporary files.
    OrderedRows(const sql::SqlQuery& query, std::size_t memory, const std::string& temp, unsigned threads);

    // A row of part_of() the statement.
    void add(std::span<const sql::SqlCell> row);
    // Whether all rows that are wanted have come.
    [[nodiscard]] bool is_full() const { return query_.order_by.empty() && best_.size() >= limit_; }
    // Ends the input. Passes on the rows that OFFSET and LIMIT leave.
    void give(const sql::TakeRow& take);
    // Also says whether the keys of the order differ from those of the row before.
    using TakeKeyed = std::function<void(std::span<const sql::SqlCell> row, bool is_new)>;
    void give_keyed(const TakeKeyed& take);

  private:
    void put_key(const sql::SqlCell& cell, const sql::SqlOrder& by);
    void put_cell(const sql::SqlCell& cell);
    void keep();
    void keep_best();
    [[nodiscard]] std::span<const std::byte> next(std::uint64_t i);

    const sql::SqlQuery& query_;
    std::uint64_t limit_;  // also those that OFFSET drops
    std::optional<external::Sorting> sorting_{};
    // Or the first `limit_` rows so far, and some more, as records with their number.
    std::vector<std::pair<std::string, std::uint64_t>> best_{};
    std::optional<std::string> bound_{};  // key of the last one of `limit_` rows
    std::uint64_t rows_ = 0;
    std::string record_{};
};

}  // namespace quadmill::detail::cli
