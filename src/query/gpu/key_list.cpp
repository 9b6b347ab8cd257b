#include "query/gpu/key_list.hpp"

#include <cstring>

#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

constexpr int lines(std::size_t keys) {
    return static_cast<int>(keys) / list_width;
}

}  // namespace

BitWords KeyList::count(const SelectedKeys& rows) {
    BitWords words{.glsl = keys_prelude(rows.type, rows.shape.words) + shaders::query_selected_keys_glsl,
                   .texture = &rows.selection,
                   .uniforms = {{"width", rows.shape.words}},
                   .words = rows.shape.words_in_use(),
                   .values = &rows.keys};
    bits_.count_on_gpu(words);
    return words;
}

std::vector<Key> KeyList::read(const gl::Texture& list, std::size_t n) {
    back_.request(device_, list);
    std::vector<Key> keys(n);
    std::memcpy(keys.data(), back_.wait().data(), n * sizeof(Key));
    return keys;
}

std::vector<Key> KeyList::all(const SelectedKeys& rows) {
    fit(device_, all_, gl::Format::Rg32ui, list_width, lines(max));
    bits_.draw(count(rows), 0, rows.n, all_);
    return read(all_.texture, rows.n);
}

std::vector<Key> KeyList::sample(const SelectedKeys& rows) {
    fit(device_, sample_, gl::Format::Rg32ui, list_width, lines(sampled));
    bits_.draw_sample(count(rows), rows.n, sample_);
    return read(sample_.texture, sampled);
}

}  // namespace quadmill::detail::query
