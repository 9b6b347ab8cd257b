// Resolves column names of a query.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "quadmill/join.hpp"
#include "quadmill/table.hpp"

namespace quadmill::detail::query {

// A column: its table, and its index in the plan's list of columns.
struct ColumnPlace {
    std::size_t table = 0, column = 0;
    bool operator==(const ColumnPlace&) const = default;
};

class Schema {
  public:
    explicit Schema(std::vector<ColumnInfo> columns);
    // The schema of the pairs of a join.
    Schema(std::vector<ColumnInfo> left, std::vector<ColumnInfo> right, const Join& join);

    [[nodiscard]] bool joined() const noexcept { return joined_; }
    [[nodiscard]] const std::vector<ColumnInfo>& columns(std::size_t table) const { return tables_.at(table); }
    [[nodiscard]] const ColumnInfo& operator[](const ColumnPlace& place) const {
        return tables_.at(place.table).at(place.column);
    }
    // In a join, "x.k" is column k of table x. If there is no such column, it is a column whose whole name is "x.k";
    // results of joins have such names. Throws InvalidArgument if no column or both tables have the name; `where` goes
    // into the message.
    [[nodiscard]] ColumnPlace find(const std::string& where, const std::string& name) const;
    // find() within one table, where a column's own name comes first.
    [[nodiscard]] ColumnPlace find_in(std::size_t table, const std::string& where, const std::string& name) const;
    // The unique name of a column in the plan: for pairs, with the table's name.
    [[nodiscard]] std::string name(const ColumnPlace& place) const;
    // The columns of pairs, with these names.
    [[nodiscard]] std::vector<ColumnInfo> pair_columns() const;

  private:
    using Places = std::unordered_map<std::string, std::vector<ColumnPlace>>;  // columns of table 0 first
    void find_places();

    bool joined_ = false;
    std::array<std::vector<ColumnInfo>, 2> tables_;
    std::array<std::string, 2> names_;
    Places own_, with_table_;  // with_table_: only in a join
};

}  // namespace quadmill::detail::query
