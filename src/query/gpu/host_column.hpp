// A column whose rows are in a rectangle of the application's texture, or in its buffer. Some rows at a time are drawn
// as words.
#pragma once

#include <cstddef>
#include <optional>

#include "query/table/table.hpp"
#include "sort/caller_keys.hpp"

namespace quadmill::detail::query {

// Pre of every call: a session is open.
class HostColumn {
  public:
    // Max rows per draw, and the target's width.
    static constexpr std::size_t max_rows = std::size_t{1} << 20U;
    static constexpr int width = 1024;

    // Pre: the column is not a list of whole textures. Throws InvalidArgument if the object does not hold that many
    // rows of its type. `keys` outlives this object and is not used by others until then.
    HostColumn(gl::Device& device, sort::CallerKeys& keys, const ColumnData& column, std::size_t rows);

    // Rows [first, first + rows) as one word each, or two for 64 bits, four words per texel. Pre: 1 <= rows <=
    // max_rows.
    [[nodiscard]] const gl::Texture& draw(std::size_t first, std::size_t rows, pass::Target& words);
    // Whether the words of rows are 16-bit floats.
    [[nodiscard]] bool halves() const { return buffer_ && buffer_->type == KeyType::F16; }

  private:
    gl::Device& device_;
    sort::CallerKeys& keys_;
    std::size_t row_words_;
    std::optional<sort::KeysInBuffer> buffer_;
    std::optional<sort::KeysInTexture> texels_;
};

}  // namespace quadmill::detail::query
