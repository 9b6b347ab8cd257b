#include "sort/pbsn/chunks.hpp"

#include <algorithm>
#include <bit>

namespace quadmill::detail::sort {

std::vector<Chunk> cut(std::size_t n, std::size_t max_texels, std::size_t max_run) {
    constexpr std::size_t small = std::size_t{1} << 16;  // keys; for fewer, passes cost more than texels
    const auto run = std::min(max_texels, max_run);
    const auto max_k = static_cast<int>(std::bit_width(run)) - 1;
    std::vector<Chunk> chunks;
    for (std::size_t begin = 0; begin < n;) {
        const auto rest = n - begin;
        const auto blocks = std::min(rest / (4 * run), max_texels / run);
        if (blocks > 0) {
            chunks.push_back({begin, blocks * 4 * run, pass::FourArray::of_blocks(max_k, blocks), max_k});
        } else {
            int k = pass::log2_ceil((rest + 3) / 4);
            const auto padded = std::size_t{4} << static_cast<unsigned>(k);
            const bool mostly_full = rest > padded - padded / 4 || padded <= small;
            if (!mostly_full) --k;
            const auto size = std::min(rest, std::size_t{4} << static_cast<unsigned>(k));
            chunks.push_back({begin, size, pass::FourArray::of_power(k), k});
        }
        begin += chunks.back().size;
    }
    return chunks;
}

std::vector<Chunk> cut_windows(std::size_t n, std::size_t window, std::size_t max_texels, Channels channels) {
    const int k = pass::log2_ceil(in_a_channel(window, channels));
    const auto max_blocks = std::max<std::size_t>(max_texels >> static_cast<unsigned>(k), 1);
    const std::size_t each = channels == Channels::Split ? 1 : 4;  // windows per block
    std::vector<Chunk> chunks;
    for (std::size_t begin = 0; begin < n;) {
        const auto size = std::min(n - begin, each * max_blocks * window);
        const auto blocks = ((size + window - 1) / window + each - 1) / each;
        chunks.push_back({begin, size, pass::FourArray::of_blocks(k, blocks), k});
        begin += size;
    }
    return chunks;
}

}  // namespace quadmill::detail::sort
