#include "query/table/key.hpp"
#include "query/table/table.hpp"

namespace quadmill::detail::query {

Value value_of(const TableData& table, std::size_t column, std::uint64_t key) {
    const auto type = table.columns[column]->type;
    if (type == ColumnType::Text) return (*table.dictionary)[key];
    return visit_column_type(type, [&]<class T>(const T* /*type*/) -> Value {
        const auto value = KeyOf<T>::value(key);
        if constexpr (std::is_floating_point_v<T>) {
            return static_cast<double>(value);
        } else {
            return static_cast<std::int64_t>(value);
        }
    });
}

}  // namespace quadmill::detail::query
