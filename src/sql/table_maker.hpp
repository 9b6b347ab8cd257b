// Makes tables row by row.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "quadmill/table.hpp"

namespace quadmill::detail::sql {

// Values of a column of that type, which is I64, F64 or Text.
class ColumnMaker {
  public:
    explicit ColumnMaker(ColumnInfo info) : info_(std::move(info)) {}

    template <class Cell>
    void add(const Cell& cell) {
        const bool has = cell.index() != 0;
        valid_.push_back(has);
        if (info_.type == ColumnType::Text) {
            using Text = std::variant_alternative_t<3, Cell>;
            texts_.emplace_back(has ? std::string(std::get<Text>(cell)) : std::string());
        } else if (info_.type == ColumnType::F64) {
            doubles_.push_back(has ? std::get<double>(cell) : 0);
        } else {
            integers_.push_back(has ? std::get<std::int64_t>(cell) : 0);
        }
    }
    void add_to(Table& table, std::vector<TextColumn>& texts) {
        if (info_.type == ColumnType::Text) {
            texts.push_back({info_.name, std::move(texts_), std::move(valid_)});
        } else if (info_.type == ColumnType::F64) {
            table.add(info_.name, std::move(doubles_), std::move(valid_));
        } else {
            table.add(info_.name, std::move(integers_), std::move(valid_));
        }
    }

  private:
    ColumnInfo info_;
    std::vector<std::int64_t> integers_{};
    std::vector<double> doubles_{};
    std::vector<std::string> texts_{};
    std::vector<bool> valid_{};
};

class TableMaker {
  public:
    explicit TableMaker(const std::vector<ColumnInfo>& infos) : makers_(infos.begin(), infos.end()) {}
    template <class Row>
    void add(const Row& row) {
        for (std::size_t i = 0; i < makers_.size(); ++i) makers_[i].add(row[i]);
    }
    [[nodiscard]] Table table() {
        Table made;
        std::vector<TextColumn> texts;
        for (auto& maker : makers_) maker.add_to(made, texts);
        if (!texts.empty()) made.add(texts);
        return made;
    }

  private:
    std::vector<ColumnMaker> makers_;
};

}  // namespace quadmill::detail::sql
