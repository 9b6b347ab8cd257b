// BitmapColumns: aggregates and histograms of selected rows.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "query/gpu/bit_list.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/notes.hpp"
#include "query/table/key.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

const pass::Fold& BitmapColumns::partials(int words_a_fragment) {
    const int width = pool_.shape.words / words_a_fragment;
    return pool_.folds.try_emplace(width, device_, gl::Format::Rgba32ui, width, pool_.shape.height).first->second;
}

const gl::Program& BitmapColumns::partial_program(const GpuColumn& column, const pass::FoldRule& rule) {
    return programs_.get("query/partial.frag", shaders::query_partial_frag,
                         define("TYPE", number_of(column.type)) + keys_prelude(column.type, pool_.shape.words) +
                             values_prelude() + rule.glsl);
}

MeasuredTexel texel_of(pass::ReadBack& back) {
    MeasuredTexel words{};
    std::memcpy(words.data(), back.wait().data(), sizeof words);
    return words;
}

MeasuredTexel BitmapColumns::read(const gl::Texture& texel) {
    tables_.readback().request(device_, texel);
    return texel_of(tables_.readback());
}

const gl::Texture& BitmapColumns::fold_count(const Bits& rows) {
    const auto& fold = partials(words_a_count);
    const auto& program =
        programs_.get("query/count_bits.frag", shaders::query_count_bits_frag, define("WORDS", pool_.shape.words));
    const QueryNote counts{.act = QueryNote::Act::Count, .selection = &texture(rows)},
        adds{.act = QueryNote::Act::AddUp};
    pass::fill(device_, "count", program, fold.source(), {&texture(rows)}, {}, &counts);
    return fold(device_, programs_, pass::FoldRule(pass::FoldBy::Counts), &adds);
}

std::uint64_t BitmapColumns::count(const Bits& rows) {
    auto& known = gpu_bits(rows).count;
    if (!known) known = read(fold_count(rows))[0];
    return *known;
}

Counting BitmapColumns::count_later(const Bits& rows) {
    const auto back = std::make_shared<pass::ReadBack>();
    back->request(device_, fold_count(rows));
    return {.result = [back]() -> std::uint64_t { return texel_of(*back)[0]; },
            .ready = [back] { return back->ready(); }};
}

const gl::Texture& BitmapColumns::fold(const char* name, const GpuColumn& of, const Bits& rows,
                                       const pass::FoldRule& rule) {
    const auto& fold = partials(words_a_partial);
    pass::fill(device_, name, partial_program(of, rule), fold.source(), {&of.keys, &texture(rows)});
    return fold(device_, programs_, rule);
}

std::pair<Key, Key> BitmapColumns::extremes(std::size_t i, const Bits& rows) {
    return extremes_of_texel(read(fold("extremes", *column(i), rows, key_rule("EXTREMES"))));
}

const gl::Texture& BitmapColumns::fold_sum(const GpuColumn& of, const Bits& rows) {
    return fold("sum", of, rows, key_rule(is_float(of.type) ? "DOUBLES" : "INTEGERS"));
}

Sum sum_of_texel(const MeasuredTexel& texel, ColumnType type, std::uint64_t n) {
    const auto [first, second] = extremes_of_texel(texel);
    if (is_float(type)) return {.value = std::bit_cast<double>(first)};
    Sum sum{.integer = (Integer{static_cast<std::int64_t>(second)} << 64) + first};
    remove_bias(sum, type, n);
    return sum;
}

Sum BitmapColumns::sum(std::size_t i, const Bits& rows) {
    const auto& of = *column(i);
    const auto found = read(fold_sum(of, rows));
    return sum_of_texel(found, of.type, is_float(of.type) ? 0 : count(rows));
}

GpuMeasure BitmapColumns::measure(const QueryAggregate& what, std::size_t i, const Bits& rows) {
    using enum QueryAggregate::Kind;
    const auto& count = fold_count(rows);
    const auto value_of = [&](const GpuColumn& of) -> const gl::Texture& {
        if (what.kind == Min || what.kind == Max) return fold("extremes", of, rows, key_rule("EXTREMES"));
        if (what.kind == Sum || what.kind == Average) return fold_sum(of, rows);
        const auto& program =
            programs_.get("query/kth_start.frag", shaders::query_kth_start_frag,
                          what.kind == Quantile      ? "#define QUANTILE\n" + std::string(shaders::query_doubles_glsl)
                          : what.kind == KthSmallest ? "#define SMALLEST\n"
                                                     : "");
        const auto phi = std::bit_cast<std::uint64_t>(what.phi);
        return find_kth(of, rows, of.min, of.max, [&](Key prefix, const pass::Target& to) {
            gl::Uniforms uniforms{{"prefix", words_of(prefix)}};
            if (what.kind == Quantile) {
                uniforms.set("phi", words_of(phi));
            } else {
                uniforms.set("k", rank_word(what.k));
            }
            pass::fill(device_, "rank of the k-th", program, to, {&count}, std::move(uniforms));
        });
    };
    const bool counts = what.kind == CountRows || what.kind == Count;
    return {.value = counts ? nullptr : &value_of(*column(i)), .count = &count};
}

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
