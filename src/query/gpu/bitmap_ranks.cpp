// BitmapColumns: the k-th key of selected rows. For many rows, a sample gives two keys that it almost surely lies
// between.
// The rows between them are counted and selected, until few enough are left to read back. If a sample misleads, or many
// keys are equal, the key is found digit by digit.
// Sources: Floyd, Rivest: Expected Time Bounds for Selection, CACM 1975; for the digits: docs/engines.md.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "query/gpu/bitmap_columns.hpp"
#include "query/table/key.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

// For this number of bits or fewer, finding digits takes fewer passes than a sample.
constexpr int few_bits = 6;

// Two keys from a sample such that the k-th of n keys lies between them, except about once in 10,000 cases: four
// standard deviations of the number of sampled keys below it. Beyond the ends of the sample only min and max are known.
std::pair<Key, Key> bracket(std::vector<Key> sample, std::uint64_t k, std::uint64_t n, Key min, Key max) {
    const auto size = static_cast<double>(sample.size());
    const double share = (static_cast<double>(k) + 0.5) / static_cast<double>(n);
    const double off = 4 * std::sqrt(size * share * (1 - share)) + 2;
    const double from = std::floor(size * share - off), to = std::ceil(size * share + off);
    std::pair<Key, Key> found{min, max};
    auto begin = sample.begin();
    if (from >= 0) {
        begin += static_cast<std::ptrdiff_t>(from);
        std::nth_element(sample.begin(), begin, sample.end());
        found.first = *begin;
    }
    if (to < size) {
        const auto end = sample.begin() + static_cast<std::ptrdiff_t>(to);
        std::nth_element(begin, end, sample.end());
        found.second = *end;
    }
    return found;
}

}  // namespace

BitmapColumns::Around BitmapColumns::around(const GpuColumn& of, const Bits& rows, Key low, Key high) {
    const auto& program =
        programs_.get("query/around.frag", shaders::query_around_frag, keys_prelude(of.type, pool_.shape.words));
    const auto& fold = partials(words_a_partial);
    pass::fill(device_, "count around", program, fold.source(), {&of.keys, &texture(rows)},
               {key_uniform("low", of.type, low), key_uniform("span", of.type, high - low)});
    const auto counts = read(fold(device_, programs_, pass::FoldRule(pass::FoldBy::Counts)));
    return {counts[0], counts[1]};
}

Key BitmapColumns::kth(std::size_t i, std::uint64_t k, const Bits& rows) {
    const auto& of = *column(i);
    Key min = of.min, max = of.max;
    BitsPtr kept;
    const auto* among = &rows;
    for (auto n = count(rows); std::bit_width(min ^ max) > few_bits;) {
        const SelectedKeys selected{texture(*among), of.keys, of.type, pool_.shape, n};
        if (n <= KeyList::max) {
            auto all = tables_.key_list().all(selected);
            const auto at = all.begin() + static_cast<std::ptrdiff_t>(k);
            std::nth_element(all.begin(), at, all.end());
            return *at;
        }
        const auto [low, high] = bracket(tables_.key_list().sample(selected), k, n, min, max);
        const auto [below, within] = around(of, *among, low, high);
        if (k < below || k - below >= within) break;
        k -= below;
        min = low;
        max = high;
        if (min == max) break;
        kept = combine(BoolOp::And, *among, *bits(Range{.column = i, .low = low, .high = high}));
        gpu_bits(*kept).count = within;
        among = kept.get();
        if (within > n / 2) break;
        n = within;
    }
    return kth_by_digits(of, *among, min, max, k);
}

Key BitmapColumns::kth_by_digits(const GpuColumn& of, const Bits& rows, Key min, Key max, std::uint64_t k) {
    if (min == max) return min;
    return key_of_texel(read(find_kth(of, rows, min, max, [&](Key prefix, const pass::Target& to) {
        tables_.uploader().send(device_, to.texture, tables_.workers(), [&](std::size_t, std::size_t, auto memory) {
            const MeasuredTexel start{low(prefix), high(prefix), static_cast<std::uint32_t>(k), 0};
            std::memcpy(memory.data(), start.data(), sizeof start);
        });
    })));
}

const gl::Texture& BitmapColumns::find_kth(const GpuColumn& of, const Bits& rows, Key min, Key max,
                                           const Start& start) {
    const pass::FoldRule counts(pass::FoldBy::Counts);
    const auto& partial = partial_program(of, counts);
    const auto& choose = programs_.get("query/choose_digit.frag", shaders::query_choose_digit_frag);
    const auto& fold = partials(words_a_partial);
    if (!kth_.now.texture) kth_ = pass::PingPong(device_, gl::Format::Rgba32ui, 1, 1);
    int shift = (static_cast<int>(std::bit_width(min ^ max)) - 1) & ~1;
    start(shift + 2 >= 64 ? Key{0} : min >> (shift + 2) << (shift + 2), kth_.now);
    for (; shift >= 0; shift -= 2) {
        const gl::Uniforms digit{{"shift", shift}};
        pass::fill(device_, "count digits", partial, fold.source(), {&of.keys, &texture(rows), &kth_.now.texture},
                   digit);
        pass::fill(device_, "choose digit", choose, kth_.next, {&fold(device_, programs_, counts), &kth_.now.texture},
                   digit);
        kth_.swap();
    }
    return kth_.now.texture;
}

}  // namespace quadmill::detail::query
