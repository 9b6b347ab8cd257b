// Makes tables row by row.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "quadmill/table.hpp"
#include "query/table/cells.hpp"
#include "query/table/text_numbers.hpp"
#include "sql/compute.hpp"

namespace quadmill::detail::sql {

inline void add(Table& table, const std::string& name, Numbers numbers) {
    numbers.visit([&](auto& values) { table.add(name, std::move(values), std::move(numbers.valid)); });
}

// Values of a column of that type, which is I64, F64 or Text.
class ColumnMaker {
  public:
    explicit ColumnMaker(ColumnInfo info) : info_(std::move(info)) {}

    template <class Cell>
    void add(const Cell& cell) {
        const bool has = cell.index() != 0;
        numbers_.valid.push_back(has);
        if (info_.type == ColumnType::Text) {
            using Text = std::variant_alternative_t<3, Cell>;
            has ? texts_.add(std::get<Text>(cell)) : texts_.add_empty(1);
        } else if (info_.type == ColumnType::F64) {
            numbers_.doubles.push_back(has ? std::get<double>(cell) : 0);
        } else {
            numbers_.integers.push_back(has ? std::get<std::int64_t>(cell) : 0);
        }
    }
    void add_to(Table& table, std::vector<query::NumberedTexts>& texts) {
        if (info_.type == ColumnType::Text) {
            texts.push_back({info_.name, {}, std::move(numbers_.valid)});
            texts.back().parts.push_back(std::move(texts_));
        } else {
            numbers_.are_integers = info_.type == ColumnType::I64;
            sql::add(table, info_.name, std::move(numbers_));
        }
    }

  private:
    ColumnInfo info_;
    Numbers numbers_{};
    query::TextNumbers texts_{};
};

class TableMaker {
  public:
    explicit TableMaker(const std::vector<ColumnInfo>& infos) : makers_(infos.begin(), infos.end()) {}
    template <class Row>
    void add(const Row& row) {
        for (std::size_t i = 0; i < makers_.size(); ++i) makers_[i].add(row[i]);
    }
    [[nodiscard]] std::vector<ColumnMaker>& columns() { return makers_; }
    [[nodiscard]] Table table() {
        Table made;
        std::vector<query::NumberedTexts> texts;
        for (auto& maker : makers_) maker.add_to(made, texts);
        query::SharedTexts shared;
        query::add_texts(made, texts, shared, cpu::Workers());
        return made;
    }

  private:
    std::vector<ColumnMaker> makers_;
};

[[nodiscard]] inline const query::TableData& data_of(const Table& table) {
    return *detail::Access::of(table);
}

// The type of its values in an answer.
[[nodiscard]] inline ColumnType wide(ColumnType type) {
    return type == ColumnType::Text ? type : query::is_float(type) ? ColumnType::F64 : ColumnType::I64;
}

inline constexpr auto no_row = std::numeric_limits<std::uint64_t>::max();

// The cells of pairs of rows of two tables, column by column.
[[nodiscard]] inline Table gathered(const std::vector<Table>& from,
                                    const std::array<std::vector<std::uint64_t>, 2>& rows,
                                    const std::vector<SqlSource>& sources) {
    std::vector<ColumnInfo> infos;
    std::vector<query::Cells> cells;
    for (std::size_t k = 0; k < 2; ++k) {
        const auto& data = data_of(from[k]);
        for (std::size_t i = 0; i < data.columns.size(); ++i) {
            infos.push_back({sources[k].name + "." + data.infos[i].name, wide(data.infos[i].type)});
            cells.emplace_back(data, i);
        }
    }
    TableMaker maker(infos);
    for (std::size_t k = 0; k < cells.size(); ++k) {
        for (const auto row : rows.at(k < from[0].columns().size() ? 0 : 1))
            maker.columns()[k].add(row == no_row ? Value() : cells[k].value(row));
    }
    return maker.table();
}

}  // namespace quadmill::detail::sql
