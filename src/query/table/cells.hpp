// The values of a column in memory, one at a time.
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>
#include <variant>

#include "query/table/key.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::query {

// NaNs are one value when rows are grouped.
template <class T>
[[nodiscard]] Key first_nan() {
    if constexpr (std::is_floating_point_v<T>) {
        return KeyOf<T>::key(std::numeric_limits<T>::infinity()) + 1;
    } else {
        return ~Key{0};
    }
}
[[nodiscard]] inline Key first_nan(ColumnType type) {
    return visit_column_type(type, []<class T>(const T* /*type*/) { return first_nan<T>(); });
}

// The value of a key in that column. Pre: some value has that key.
[[nodiscard]] inline Value value_of(const TableData& table, std::size_t column, Key key) {
    const auto type = table.columns[column]->type;
    if (type == ColumnType::Text) return (*table.dictionary)[key];
    return visit_column_type(type, [&]<class T>(const T* /*type*/) -> Value {
        return static_cast<std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>>(KeyOf<T>::value(key));
    });
}

class Cells {
  public:
    // Pre: the column is in memory. The column and the table outlive this object.
    Cells(const TableData& table, std::size_t column) : table_(&table), column_(table.columns[column].get()) {}

    [[nodiscard]] ColumnType type() const { return column_->type; }
    [[nodiscard]] bool has_value(std::size_t row) const { return query::has_value(*column_, row); }

    // Calls `work` with the value. For text, that is its index in the dictionary.
    template <class Work>
    decltype(auto) visit(std::size_t row, Work&& work) const {
        return visit_column_type(column_->type, [&]<class T>(const T* /*type*/) -> decltype(auto) {
            return work((*std::get_if<std::vector<T>>(&column_->values))[row]);
        });
    }
    [[nodiscard]] Key key(std::size_t row) const {
        return visit(row, []<class T>(T value) -> Key { return KeyOf<T>::key(value); });
    }
    // Keeps the sign of a zero, which keys do not have.
    [[nodiscard]] Value value(std::size_t row) const {
        if (!has_value(row)) return {};
        return visit(row, [&]<class T>(T value) -> Value {
            if constexpr (std::is_same_v<T, std::uint32_t>) {
                if (type() == ColumnType::Text) return (*table_->dictionary)[value];
            }
            return static_cast<std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>>(value);
        });
    }

  private:
    const TableData* table_;
    const ColumnData* column_;
};

}  // namespace quadmill::detail::query
