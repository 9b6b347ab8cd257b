// The meaning of column names in a query.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "quadmill/join.hpp"
#include "quadmill/table.hpp"

namespace quadmill::detail::query {

// The position of a column: its table, and its index in the plan's list.
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
    // In a join, "x.k" is column k of table x; only without such a column it is a column with that whole name, as
    // results of joins have. Throws InvalidArgument for a name that no column has, or one of both tables; `where` goes
    // into the message.
    [[nodiscard]] ColumnPlace find(const std::string& where, const std::string& name) const;
    // The same in one table, where a column's own name comes first.
    [[nodiscard]] ColumnPlace find_in(std::size_t table, const std::string& where, const std::string& name) const;
    // The one name that a plan has for a column: of pairs, with the table's.
    [[nodiscard]] std::string name(const ColumnPlace& place) const;
    // Those of pairs, by that name.
    [[nodiscard]] std::vector<ColumnInfo> pair_columns() const;

  private:
    using Places = std::unordered_map<std::string, std::vector<ColumnPlace>>;  // those of table 0 first
    void find_places();

    bool joined_ = false;
    std::array<std::vector<ColumnInfo>, 2> tables_;
    std::array<std::string, 2> names_;
    Places own_, with_table_;  // with_table_: of a join
};

}  // namespace quadmill::detail::query
