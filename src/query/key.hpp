// Values of columns as unsigned keys whose order is that of the values, of 32 or 64 bits. -0 has the key of +0; NaNs
// come after +inf. Text has the key of its place in the dictionary.
#pragma once

#include "quadmill/query.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::query {

using stream::Key;
using stream::KeyOf;

[[nodiscard]] inline int key_bits(ColumnType type) {
    return type == ColumnType::F64 || type == ColumnType::I64 ? 64 : 32;
}

}  // namespace quadmill::detail::query
