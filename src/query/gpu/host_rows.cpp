#include "query/gpu/host_rows.hpp"

#include <algorithm>
#include <string>

#include "gl/pass.hpp"
#include "quadmill/error.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

constexpr int piece_height = 4096;  // of the list, which is drawn in pieces

BitWords words_of(const SelectedWords& rows) {
    return {.glsl = shaders::query_selected_words_glsl,
            .texture = &rows.texture,
            .uniforms = {{"width", rows.shape.words}},
            .words = rows.shape.words_in_use()};
}

}  // namespace

gl::HostBuffer buffer_for(gl::Device& device, const char* function, const char* what, std::uint32_t id,
                          std::size_t offset, std::size_t words) {
    gl::HostBuffer buffer(device, id, function, what);
    if (offset % 4 == 0 && offset <= buffer.bytes() && words <= (buffer.bytes() - offset) / 4) return buffer;
    throw InvalidArgument(std::string(function) + ": " + std::to_string(words) + " words of 32 bits from byte " +
                          std::to_string(offset) + " on, a multiple of 4, do not fit into " + what + ", which has " +
                          std::to_string(buffer.bytes()) + " bytes");
}

void HostRows::write_bits(const SelectedWords& rows, const gl::Texture& to, sort::IndexWrite how) {
    if (rows.shape.rows == 0) return;  // a draw needs at least one quad
    sort::IndexTarget target(device_, to, how);
    const gl::QuadList quads(device_, pass::first_texels(to.width(), rows.shape.words_in_use()));
    draw(device_, {.name = "bits to caller",
                   .program = &programs_.get("query/selection_texels.frag", shaders::query_selection_texels_frag),
                   .inputs = {&rows.texture},
                   .uniforms = {{"width", rows.shape.words}, {"target_width", to.width()}},
                   .target = &target.framebuffer(),
                   .quads = &quads});
    target.finish(rows.shape.words_in_use());
}

void HostRows::write_count(const SelectedWords& rows, const gl::HostBuffer& to, std::size_t offset) {
    const auto& top = list_.count_on_gpu(words_of(rows));
    fit(device_, total_, gl::Format::R32ui, 1, 1);
    pass::fill(device_, "total of counts", programs_.get("query/bits_total.frag", shaders::query_bits_total_frag),
               total_, {&top});
    copy_to_buffer(device_, total_.texture, 1, to, offset);
}

void HostRows::write_rows(const SelectedWords& rows, const gl::HostBuffer& index, std::size_t index_offset,
                          const gl::HostBuffer& count, std::size_t count_offset) {
    write_count(rows, count, count_offset);
    const auto all = rows.shape.rows;
    if (all == 0) return;
    const auto lines = up(all, list_width);
    fit(device_, piece_, gl::Format::R32ui, list_width, static_cast<int>(std::min<std::size_t>(lines, piece_height)));
    const auto max = static_cast<std::size_t>(list_width) * static_cast<std::size_t>(piece_.texture.height());
    for (std::size_t first = 0; first < all; first += max) {
        const auto n = std::min(max, all - first);
        list_.draw(words_of(rows), first, n, piece_, BitList::Length::OnGpu);
        copy_to_buffer(device_, piece_.texture, n, index, index_offset + first * sizeof(std::uint32_t));
    }
}

}  // namespace quadmill::detail::query
