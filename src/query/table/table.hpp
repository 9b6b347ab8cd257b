// The data behind a Table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "quadmill/predicate.hpp"
#include "quadmill/table.hpp"

namespace quadmill::detail::query {

// Values of a column in objects of the application: textures, one after the other; one channel of a part of a texture;
// or a buffer.
struct HostTexels {
    TextureRegion region;
    int channel;
};
struct HostObjects {
    std::variant<std::vector<std::uint32_t>, HostTexels, BufferKeys> of;
};
// For text: the index of each in the table's dictionary, as U32.
using Values = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int32_t>,
                            std::vector<std::uint32_t>, std::vector<std::int64_t>, HostObjects>;

struct ColumnData {
    std::string name;
    ColumnType type = ColumnType::F32;
    Values values;
    std::vector<std::uint32_t> valid{};              // one bit per row; empty: all. Other rows have the value 0.
    std::uint64_t min = 0, max = ~std::uint64_t{0};  // bounds of all keys (key.hpp) except for NULLs; least <= most
};

struct TableData {
    using Dictionary = std::vector<std::string>;

    std::size_t rows = 0;
    std::vector<std::shared_ptr<const ColumnData>> columns{};
    std::vector<ColumnInfo> infos{};
    std::unordered_map<std::string, std::size_t> places{};  // index of a column, by name
    // Sorted. All columns of Text share it, so that their keys are comparable. Never null.
    std::shared_ptr<const Dictionary> dictionary = std::make_shared<Dictionary>();
};

// For each text of a dictionary, its index in another sorted list, or no_place if it is missing there.
inline constexpr std::uint32_t no_place = ~std::uint32_t{0};
template <class Texts>
[[nodiscard]] std::vector<std::uint32_t> places_in(const TableData::Dictionary& own, const Texts& other) {
    std::vector<std::uint32_t> places;
    places.reserve(own.size());
    const bool is_sparse = other.size() / 16 > own.size();  // searches take less time than going through `other`
    auto at = other.begin();
    for (const auto& text : own) {
        if (is_sparse) {
            at = std::lower_bound(at, other.end(), text);
        } else {
            while (at != other.end() && *at < text) ++at;
        }
        places.push_back(at != other.end() && *at == text ? static_cast<std::uint32_t>(at - other.begin()) : no_place);
    }
    return places;
}

[[nodiscard]] inline bool has_value(const ColumnData& column, std::size_t row) {
    return column.valid.empty() || ((column.valid[row / 32] >> (row % 32)) & 1U);
}

}  // namespace quadmill::detail::query
