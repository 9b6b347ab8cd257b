#include "pass/banked.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "gl/pixels.hpp"
#include "pass/layout.hpp"
#include "pass/transfer.hpp"

namespace quadmill::detail::pass {

namespace {

// Bytes of words that are put in order at a time. They are on the stack, so that nothing can fail once keys are being
// written, and fit into the cache.
constexpr std::size_t scratch_bytes = std::size_t{1} << 15U;

}  // namespace

Banked Banked::of_pairs(std::size_t pairs, int layers) {
    const int row_log2 = std::clamp((log2_ceil(pairs) + (layers < max_layers ? 1 : 0)) / 2, 3, 13);
    return {row_log2, rows_for(pairs, row_log2), layers};
}

int Banked::rows_for(std::size_t pairs, int row_log2) {
    const auto tile_row = (std::size_t{1} << static_cast<unsigned>(row_log2)) * tile_height;
    return tile_height * static_cast<int>(std::max<std::size_t>((pairs + tile_row - 1) / tile_row, 1));
}

std::size_t Banked::texel_of_pair(std::size_t pair) const {
    constexpr std::size_t across = tile_width, up = tile_height;
    const auto tile = pair / (across * up), tiles = static_cast<std::size_t>(width()) / across;
    const auto x = tile % tiles * across + pair % across, y = tile / tiles * up + pair / across % up;
    return y * static_cast<std::size_t>(width()) + x;
}

void BankedReadBack::request(gl::Device& device, const gl::Texture& texture, const Banked& shape, std::size_t pairs) {
    shape_ = shape;
    pairs_ = pairs;
    texel_bytes_ = gl::info(texture.format()).bytes;
    const auto tile_row = static_cast<std::size_t>(shape.width()) * Banked::tile_height;  // in pairs
    // Bytes of its even or odd blocks.
    const auto half_bytes = tile_row * static_cast<std::size_t>(shape.layers) * texel_bytes_;
    const auto tile_rows = (pairs + tile_row - 1) / tile_row;
    grow(buffer_, device, gl::PixelBuffer::Direction::ReadBack, 2 * tile_rows * half_bytes);
    const auto each = std::max<std::size_t>(command_bytes / (2 * half_bytes), 1);
    parts_.clear();
    for (std::size_t first = 0; first < tile_rows; first += each) {
        const auto count = std::min(each, tile_rows - first);
        const auto offset = 2 * first * half_bytes;
        for (const std::size_t odd : {std::size_t{0}, std::size_t{1}}) {
            const auto row = static_cast<int>(first) * Banked::tile_height + (odd != 0 ? shape.half_height : 0);
            gl::read_rows(device, texture, row, static_cast<int>(count) * Banked::tile_height, buffer_,
                          offset + odd * count * half_bytes);
        }
        parts_.push_back({first, count, offset, gl::Fence(device)});
    }
    gl::flush(device);
}

// A part has the rows of its even blocks, layer after layer, and then those of its odd blocks.
void BankedReadBack::take_tile_row(const Part& part, std::size_t tile_row, const Take& take) const {
    constexpr std::size_t across = Banked::tile_width;
    const auto banks = 2 * static_cast<std::size_t>(shape_.layers);
    const auto width = static_cast<std::size_t>(shape_.width());
    const auto row_pairs = width * Banked::tile_height;
    const auto layer_bytes = part.rows * row_pairs * texel_bytes_;
    const auto* from = buffer_.receive(part.offset, banks * layer_bytes).data() + tile_row * row_pairs * texel_bytes_;
    const auto first_pair = (part.first + tile_row) * row_pairs;
    const auto pairs = std::min(row_pairs, pairs_ - first_pair);
    const auto copy = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes> /*of a texel*/) {
        static_assert(scratch_bytes / (2 * Banked::max_layers * bytes) % across == 0);
        const std::size_t pair_bytes = banks * bytes, max_pairs = scratch_bytes / pair_bytes;
        std::array<std::byte, scratch_bytes> words;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
        for (std::size_t begin = 0; begin < pairs; begin += max_pairs) {
            const auto end = std::min(begin + max_pairs, pairs);
            auto* to = words.data();
            for (std::size_t run = begin; run < end; run += across) {  // 8 consecutive pairs, side by side
                const auto tile = run / (across * Banked::tile_height), y = run / across % Banked::tile_height;
                const auto* texels = from + (y * width + tile * across) * bytes;
                for (std::size_t i = 0; i < across; ++i) {
                    for (std::size_t bank = 0; bank < banks; ++bank, to += bytes)
                        std::memcpy(to, texels + bank * layer_bytes + i * bytes, bytes);
                }
            }
            take((first_pair + begin) * 4 * banks, std::span(words).first((end - begin) * pair_bytes));
        }
    };
    if (texel_bytes_ == 16) {
        copy(std::integral_constant<std::size_t, 16>{});
    } else {
        copy(std::integral_constant<std::size_t, 8>{});
    }
}

void BankedReadBack::wait() {
    for (auto& part : parts_) part.arrived.wait();
}

void BankedReadBack::take(cpu::Workers& workers, const Take& take) {
    take_rows(buffer_, parts_, workers, 1,
              [&](const Part& part, std::size_t row, std::size_t /*piece*/) { take_tile_row(part, row, take); });
}

}  // namespace quadmill::detail::pass
