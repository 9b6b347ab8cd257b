#include "query/gpu/host_column.hpp"

#include <string>
#include <variant>

#include "quadmill/error.hpp"
#include "query/plan/plain_tables.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query {

namespace {

// The column type for texels of that format.
ColumnType column_type_of(gl::Format format) {
    const auto sampled = gl::info(format).sampled();
    return sampled == gl::Sampled::SignedIntegers     ? ColumnType::I32
           : sampled == gl::Sampled::UnsignedIntegers ? ColumnType::U32
                                                      : ColumnType::F32;
}

}  // namespace

HostColumn::HostColumn(gl::Device& device, sort::CallerKeys& keys, const ColumnData& column, std::size_t rows)
    : device_(device), keys_(keys), row_words_(key_bits(column.type) == 64 ? 2 : 1) {
    constexpr const char* function = "QueryProcessor";
    const auto& of = std::get<HostObjects>(column.values).of;
    if (const auto* buffer = plain_tables ? nullptr : std::get_if<BufferKeys>(&of)) {
        buffer_.emplace(device, function, ("the buffer of column '" + column.name + "'").c_str(), *buffer, rows);
        return;
    }
    const auto& [region, channel] = std::get<HostTexels>(of);
    texels_.emplace(device, function, ("the texture of column '" + column.name + "'").c_str(), region, channel);
    const auto format = texels_->part.format;
    if (column_type_of(format) != column.type)
        throw InvalidArgument(std::string(function) + ": column '" + column.name +
                              "' is of another type than texels of " + gl::info(format).name +
                              ": signed integers are I32, unsigned ones U32, all others are F32");
    if (texels_->count < rows)
        throw InvalidArgument(std::string(function) + ": the texture of column '" + column.name + "' has " +
                              std::to_string(texels_->count) + " texels there, fewer than " + std::to_string(rows) +
                              " rows");
    if (rows > 0 && !texels_->is_read_in_place()) keys_.copy(*texels_, texels_->copied_to(true));
}

const gl::Texture& HostColumn::draw(std::size_t first, std::size_t rows, pass::Target& words) {
    const auto line = static_cast<std::size_t>(width) * 4 / row_words_, lines = (rows + line - 1) / line;
    if (!words.texture || static_cast<std::size_t>(words.texture.height()) < lines)
        words = pass::Target(device_, gl::Format::Rgba32ui, width, static_cast<int>(lines));
    if (!plain_tables && buffer_) {
        auto some = *buffer_;
        some.offset += first * some.stride * some.texel_bytes();
        some.count = rows;
        keys_.draw(some, nullptr, 0, words, lines);
    } else {
        keys_.draw(*texels_, {rows, texels_->channel, 1, first}, 0, words, lines);
    }
    return words.texture;
}

}  // namespace quadmill::detail::query
