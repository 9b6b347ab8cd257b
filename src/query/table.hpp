// The data behind a Table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "quadmill/query.hpp"

namespace quadmill::detail::query {

// Values of a column: in memory, or a texture of the host.
struct HostTexture {
    std::uint32_t id = 0;
    ColumnType type = ColumnType::F32;
};
// Text: the place of each in `dictionary`, as U32.
using Values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                            std::vector<std::uint32_t>, std::vector<std::int64_t>, HostTexture>;

struct ColumnData {
    std::string name;
    ColumnType type = ColumnType::F32;
    Values values;
    std::vector<std::uint32_t> valid{};                 // a bit a row; empty: all. Values of other rows are 0.
    std::vector<std::string> dictionary{};              // ascends; for Text
    std::uint64_t least = 0, most = ~std::uint64_t{0};  // no key is outside (key.hpp); NULLs apart
};

struct TableData {
    std::size_t rows = 0;
    std::vector<std::shared_ptr<const ColumnData>> columns{};
    std::vector<ColumnInfo> infos{};
};

}  // namespace quadmill::detail::query
