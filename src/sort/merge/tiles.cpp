#include "sort/merge/tiles.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/layout.hpp"
#include "pass/transfer.hpp"

namespace quadmill::detail::sort {

namespace {

// Texels of a tile's keys in the layout of memory.
std::size_t source_texels(const KeyForm& form) {
    const auto keys = Tiles::granules * Tiles::granule_words / static_cast<std::size_t>(form.words());
    return keys * static_cast<std::size_t>(form.source_words()) / 4;
}

// Near square, so that rows are short: a thread fills one row at a time.
int source_width(const gl::Device& device, const KeyForm& form, const Tiles& shape) {
    const auto max = pass::log2_ceil(static_cast<std::size_t>(device.info.max_texture_size) + 1) - 1;
    return 1 << std::min((pass::log2_ceil(shape.tiles() * source_texels(form)) + 1) / 2, max);
}

}  // namespace

Tiles Tiles::of(std::size_t tiles) {
    // Near square in texels: a tile is twice as high as it is wide.
    const int row_log2 = std::clamp((pass::log2_ceil(tiles) + 1) / 2, 0, 11);
    return {row_log2, std::max(Tiles{row_log2, 0}.rows_for(tiles), 1)};
}

TileTextures::TileTextures(gl::Device& device, const KeyForm& form, std::size_t tiles)
    : made_for(form), shape(Tiles::of(tiles)), quads_(device) {
    const auto width = source_width(device, form, shape);
    const auto texels = source_texels(form) * shape.tiles(), across = static_cast<std::size_t>(width);
    source = pass::Target(device, form.source_format(), width, static_cast<int>((texels + across - 1) / across));
    keys = pass::PingPong(device, form.format(), shape.texture_width(), shape.fill_row() + 1, Tiles::layers);
    // The cuts have one more entry than there are blocks.
    cuts = pass::Target(device, gl::Format::Rgba32ui, static_cast<int>(shape.in_row()), shape.rows + 1, 2);
    const auto largest = form.format() == gl::Format::Rgba16ui ? 0xffffU : 0xffffffffU;
    for (const auto* texture : {&keys.now.texture, &keys.next.texture}) {
        gl::clear_texels(device, *texture, 0, shape.fill_row(), 1, 1, 0);
        gl::clear_texels(device, *texture, 1, shape.fill_row(), 1, 1, largest);
    }
}

std::size_t TileTextures::bytes(const KeyForm& form, std::size_t tiles) {
    const auto shape = Tiles::of(tiles);
    const auto keys = static_cast<std::size_t>(shape.texture_width()) * static_cast<std::size_t>(shape.fill_row() + 1) *
                      Tiles::layers * gl::info(form.format()).bytes;
    const auto source = shape.tiles() * source_texels(form) * gl::info(form.source_format()).bytes;
    const auto cuts = (shape.tiles() + shape.in_row()) * 2 * gl::info(gl::Format::Rgba32ui).bytes;
    return 2 * keys + source + cuts;
}

bool TileTextures::fits(const KeyForm& form, std::size_t tiles) const {
    // Whole rows of tiles are drawn and read back. If they are much longer than necessary, a small sort loses more time
    // than new textures cost.
    return made_for.key_bytes() == form.key_bytes() && made_for.indexed == form.indexed && shape.tiles() >= tiles &&
           shape.row_log2 <= Tiles::of(tiles).row_log2 + 1;
}

std::size_t TileTextures::source_rows(std::size_t tiles) const {
    const auto width = static_cast<std::size_t>(source.texture.width());
    return (source_texels(made_for) * tiles + width - 1) / width;
}

int TileTextures::rows_from(std::size_t source_rows) const {
    const auto texels = source_rows * static_cast<std::size_t>(source.texture.width());
    return static_cast<int>(texels / (source_texels(made_for) * shape.in_row()));
}

const gl::QuadList& TileTextures::rows_of(int first, int end) {
    return quads_.rectangle(0, Tiles::height * first, shape.texture_width(), Tiles::height * end);
}

const gl::QuadList& TileTextures::cuts_of(std::size_t blocks) {
    return quads_.rectangle(0, 0, static_cast<int>(shape.in_row()), shape.rows_for(blocks + 1));
}

void TileReadBack::request(gl::Device& device, const gl::Texture& texture, const Tiles& shape,
                           const TileContent& content, std::size_t tiles, const DrawTiles& draw) {
    shape_ = shape;
    content_ = content;
    tiles_ = tiles;
    texel_bytes_ = gl::info(texture.format()).bytes;
    const auto row_bytes = shape.in_row() * Tiles::lanes * Tiles::layers * texel_bytes_;
    const auto rows = static_cast<std::size_t>(shape.rows_for(tiles));
    const auto task_bytes = draw ? pass::short_task_bytes : pass::task_bytes;
    pieces_ = std::clamp<std::size_t>(row_bytes / task_bytes, 1, shape.in_row());
    pass::grow(buffer_, device, gl::PixelBuffer::Direction::ReadBack, rows * row_bytes);
    const auto each = std::max<std::size_t>(pass::command_bytes / row_bytes, 1);
    parts_.clear();
    for (std::size_t first = 0; first < rows; first += each) {
        const auto count = std::min(each, rows - first);
        if (draw) draw(static_cast<int>(first), static_cast<int>(first + count));
        gl::read_rows(device, texture, static_cast<int>(first) * Tiles::height, static_cast<int>(count) * Tiles::height,
                      buffer_, first * row_bytes);
        parts_.push_back({first, count, first * row_bytes, gl::Fence(device)});
    }
    gl::flush(device);
}

// A part has its rows of texels, layer after layer.
void TileReadBack::take_piece(const Part& part, std::size_t row, std::size_t piece, const Take& take) const {
    constexpr std::size_t max_bytes = Tiles::lanes * Tiles::layers * 16;
    const auto across = static_cast<std::size_t>(shape_.texture_width());
    const auto layer = part.rows * Tiles::height * across * texel_bytes_;
    const auto* const from =
        buffer_.receive(part.offset, Tiles::layers * layer).data() + row * Tiles::height * across * texel_bytes_;
    const auto row_begin = (part.first + row) * shape_.in_row(), each = shape_.in_row() / pieces_;
    const auto first_tile = row_begin + piece * each;
    const auto end = std::min(first_tile + each, tiles_);
    const auto copy = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes> /*of a texel*/) {
        std::array<std::byte, max_bytes> words;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
        for (auto tile = first_tile; tile < end; ++tile) {
            auto* to = words.data();
            const auto* const corner = from + (tile - row_begin) * Tiles::width * bytes;
            for (std::size_t lane = 0; lane < Tiles::lanes; ++lane) {
                const auto x = (lane & 1U) | lane >> 4U << 1U, y = lane >> 1U & 7U;
                const auto* texel = corner + (y * across + x) * bytes;
                for (std::size_t i = 0; i < Tiles::layers; ++i, to += bytes, texel += layer)
                    std::memcpy(to, texel, bytes);
            }
            constexpr auto granule = 2 * bytes;
            take(tile, std::span(words).subspan(content_.head * granule, content_.step * granule));
        }
    };
    if (texel_bytes_ == 16) {
        copy(std::integral_constant<std::size_t, 16>{});
    } else {
        copy(std::integral_constant<std::size_t, 8>{});
    }
}

void TileReadBack::wait() {
    for (auto& part : parts_) part.arrived.wait();
}

void TileReadBack::take(cpu::Workers& workers, const Take& take) {
    pass::take_rows(buffer_, parts_, workers, pieces_,
                    [&](const Part& part, std::size_t row, std::size_t piece) { take_piece(part, row, piece, take); });
}

}  // namespace quadmill::detail::sort
