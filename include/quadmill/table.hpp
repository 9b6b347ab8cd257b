/// Tables of columns: in memory, or in the caller's textures and buffers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/sort.hpp"

namespace quadmill {

/// The type of a column; Text is bytes.
enum class ColumnType { F32, F64, I32, U32, I64, Text };

namespace detail::query {
struct TableData;
template <class Range>
concept OtherColumn = std::ranges::range<Range> && !SortableKey<std::ranges::range_value_t<Range>> &&
                      !std::same_as<std::ranges::range_value_t<Range>, std::string>;
}  // namespace detail::query

/// A column's name and type.
struct ColumnInfo {
    std::string name;                   ///< unique in its table
    ColumnType type = ColumnType::F32;  ///< of its values
};

/// Columns of one length, in memory or in the caller's textures and buffers. Copies share the data; adding to a copy
/// does not change the others. Each call that adds returns the table.
///
/// Throws: InvalidArgument for a duplicate name, a column of another length, or a `valid` of another length; the table
/// is not changed.
class QUADMILL_API Table {
  public:
    Table();
    /// Adds a column. A row is NULL if its element of `valid` is false; an empty `valid` means no NULLs.
    Table& add(std::string name, std::vector<float> values, std::vector<bool> valid = {});
    Table& add(std::string name, std::vector<double> values, std::vector<bool> valid = {});         ///< the same
    Table& add(std::string name, std::vector<std::int32_t> values, std::vector<bool> valid = {});   ///< the same
    Table& add(std::string name, std::vector<std::uint32_t> values, std::vector<bool> valid = {});  ///< the same
    Table& add(std::string name, std::vector<std::int64_t> values, std::vector<bool> valid = {});   ///< the same
    /// Adds a copy of the values.
    Table& add(std::string name, std::span<const float> values, std::vector<bool> valid = {});
    Table& add(std::string name, std::span<const double> values, std::vector<bool> valid = {});         ///< the same
    Table& add(std::string name, std::span<const std::int32_t> values, std::vector<bool> valid = {});   ///< the same
    Table& add(std::string name, std::span<const std::uint32_t> values, std::vector<bool> valid = {});  ///< the same
    Table& add(std::string name, std::span<const std::int64_t> values, std::vector<bool> valid = {});   ///< the same
    template <detail::query::OtherColumn Range>
    Table& add(std::string, Range&&, std::vector<bool> = {}) = delete;  ///< float, double, (u)int32_t, int64_t, string
    /// Adds a column of text. It is stored as indices into a sorted dictionary, which all columns of the table share. A
    /// column with new texts renumbers the earlier columns.
    Table& add(std::string name, const std::vector<std::string>& values, std::vector<bool> valid = {});
    /// Adds a column that is the caller's texture: row i is texel i in row-major order, among the first `rows` texels.
    /// Level 0 is read in each query, so the content may change between queries; a processor without a context refuses
    /// it.
    /// Shape: 2-D; R32F for F32, R32I for I32, R32UI for U32. Format and size are checked when it is used; filters,
    /// BASE_LEVEL, swizzle and other parameters do not matter and are not changed. After an image store into it, the
    /// program calls glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT) first.
    /// Throws: InvalidArgument also for other types, and for texture 0.
    Table& add_texture(std::string name, std::uint32_t texture, ColumnType type, std::size_t rows);
    /// add_texture() for more rows than a texture holds: they continue in the next texture. Each texture but the last
    /// must have a multiple of 32 texels.
    Table& add_textures(std::string name, std::vector<std::uint32_t> textures, ColumnType type, std::size_t rows);
    /// add_texture() for one channel of a rectangle, layer or face, one row per texel.
    /// Shape: as for Sorter::argsort_texture(); R32I for I32, R32UI for U32, other formats for F32: the floats that a
    /// shader reads. `texels` gives the number of rows, by its count, or by its width and height.
    /// Throws: as above, also if `texels` does not.
    ///
    ///     table.add_texture("alpha", {.texture = sprites, .count = n}, ColumnType::F32, 3);
    Table& add_texture(std::string name, const TextureRegion& texels, ColumnType type, int channel = 0);
    /// Adds a column that is in the caller's buffer and is read in each query. Its type is that of the keys; 16-bit
    /// floats are F32.
    /// Shape: as for Sorter::argsort_buffer(), but not U64; checked when it is used.
    /// Throws: InvalidArgument also for U64 and for buffer 0.
    ///
    ///     table.add_buffer("speed", {.buffer = particles, .offset = 12, .stride = 16}, n);
    Table& add_buffer(std::string name, const BufferKeys& values, std::size_t rows);

    [[nodiscard]] std::size_t rows() const noexcept;                        ///< of each column
    [[nodiscard]] const std::vector<ColumnInfo>& columns() const noexcept;  ///< in the order of adding

  private:
    friend detail::Access;
    [[nodiscard]] const std::shared_ptr<const detail::query::TableData>& inside() const noexcept { return data_; }
    std::shared_ptr<const detail::query::TableData> data_;
};

}  // namespace quadmill
