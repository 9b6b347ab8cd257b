// Values of columns as unsigned keys of 32 or 64 bits that have the same order. -0 has the key of +0. NaNs come after
// +inf. The key of a text is its index in the dictionary.
#pragma once

#include "cpu/ordered_key.hpp"
#include "quadmill/table.hpp"

namespace quadmill::detail::query {

using cpu::Key;
using cpu::KeyOf;

// Calls `work` with a null pointer to the type that values of a column have in memory.
template <class Work>
decltype(auto) visit_column_type(ColumnType type, Work&& work) {
    switch (type) {
        case ColumnType::F64:
            return work(static_cast<const double*>(nullptr));
        case ColumnType::I32:
            return work(static_cast<const std::int32_t*>(nullptr));
        case ColumnType::U32:
        case ColumnType::Text:
            return work(static_cast<const std::uint32_t*>(nullptr));
        case ColumnType::I64:
            return work(static_cast<const std::int64_t*>(nullptr));
        case ColumnType::F32:
            break;
    }
    return work(static_cast<const float*>(nullptr));
}

[[nodiscard]] inline bool is_float(ColumnType type) {
    return type == ColumnType::F32 || type == ColumnType::F64;
}
[[nodiscard]] inline int key_bits(ColumnType type) {
    return type == ColumnType::F64 || type == ColumnType::I64 ? 64 : 32;
}

}  // namespace quadmill::detail::query
