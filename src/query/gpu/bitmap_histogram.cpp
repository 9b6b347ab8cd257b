// BitmapColumns: histograms of selected rows.
#include <algorithm>
#include <array>
#include <vector>

#include "query/gpu/bit_list.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/notes.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

const gl::Texture& BitmapColumns::histogram(std::size_t i, std::span<const KeyRange> bins, const Bits& rows) {
    constexpr int bins_a_fragment = 4, max_width = 2048;
    const auto& of = *column(i);
    std::vector<std::array<std::uint32_t, 4>> texels;
    for (const auto& [from, to] : bins) texels.push_back({low(from), high(from), low(to - from), high(to - from)});
    texels.resize(up(bins.size(), bins_a_fragment) * bins_a_fragment, texels.back());
    const auto list = send_list(gl::Format::Rgba32ui, std::as_bytes(std::span(texels)));

    const int words = pool_.shape.words * pool_.shape.height, width = std::min(words, max_width);
    const auto height = static_cast<int>(texels.size()) / bins_a_fragment;
    if (!bins_ || bins_->source().texture.width() != width || bins_->source().texture.height() != height)
        bins_.emplace(device_, gl::Format::Rgba32ui, width, height, pass::Fold::Along::Rows);
    const auto& program =
        programs_.get("query/bins.frag", shaders::query_bins_frag, keys_prelude(of.type, pool_.shape.words));
    const QueryNote counts{.act = QueryNote::Act::Count, .selection = &texture(rows)};
    pass::fill(device_, "count in bins", program, bins_->source(), {&of.keys, &texture(rows), &list},
               {{"words", words}, {"width", width}, {"bins_width", list_width}}, &counts);
    const QueryNote adds{.act = QueryNote::Act::AddUp};
    return (*bins_)(device_, programs_, pass::FoldRule(pass::FoldBy::Counts), &adds);
}

}  // namespace quadmill::detail::query
