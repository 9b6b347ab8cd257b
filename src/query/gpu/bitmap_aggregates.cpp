// BitmapColumns: aggregates of selected rows.
#include <bit>
#include <cstring>
#include <utility>

#include "quadmill_shaders.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/notes.hpp"

namespace quadmill::detail::query {

namespace {

constexpr int words_a_count = 16, words_a_partial = 4;

pass::FoldRule key_rule(const char* name) {
    return {name, shaders::query_fold_glsl};
}

}  // namespace

const pass::Fold& BitmapColumns::partials(int words_a_fragment) {
    const int width = pool_.shape.words / words_a_fragment;
    return pool_.folds.try_emplace(width, device_, gl::Format::Rgba32ui, width, pool_.shape.height).first->second;
}

const gl::Program& BitmapColumns::partial_program(const GpuColumn& column, const pass::FoldRule& rule) {
    return programs_.get("query/partial.frag", shaders::query_partial_frag,
                         define("TYPE", number_of(column.type)) + keys_prelude(column.type, pool_.shape.words) +
                             shaders::query_values_glsl + rule.glsl);
}

BitmapColumns::Texel BitmapColumns::read(const gl::Texture& texel) {
    tables_.readback().request(device_, texel);
    Texel words{};
    std::memcpy(words.data(), tables_.readback().wait().data(), sizeof words);
    return words;
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
    auto& known = dynamic_cast<const GpuBits&>(rows).count;
    if (!known) known = read(fold_count(rows))[0];
    return *known;
}

namespace {

class CountingTexel final : public Counting {
  public:
    CountingTexel(gl::Device& device, const gl::Texture& texel) : there_(device, gl::Query::Kind::Timestamp) {
        back_.request(device, texel);
        there_.note_time();
    }
    [[nodiscard]] bool ready() const override { return there_.ready(); }
    [[nodiscard]] std::uint64_t result() override {
        std::uint32_t count = 0;
        std::memcpy(&count, back_.wait().data(), sizeof count);
        return count;
    }

  private:
    pass::ReadBack back_;
    gl::Query there_;
};

}  // namespace

std::unique_ptr<Counting> BitmapColumns::count_later(const Bits& rows) {
    return std::make_unique<CountingTexel>(device_, fold_count(rows));
}

BitmapColumns::Texel BitmapColumns::aggregate(const char* name, const GpuColumn& of, const Bits& rows,
                                              const pass::FoldRule& rule) {
    const auto& fold = partials(words_a_partial);
    pass::fill(device_, name, partial_program(of, rule), fold.source(), {&of.keys, &texture(rows)});
    return read(fold(device_, programs_, rule));
}

std::pair<Key, Key> BitmapColumns::extremes(std::size_t i, const Bits& rows) {
    const auto found = aggregate("extremes", *column(i), rows, key_rule("EXTREMES"));
    return {found[0] | Key{found[1]} << 32U, found[2] | Key{found[3]} << 32U};
}

Sum BitmapColumns::sum(std::size_t i, const Bits& rows) {
    const auto& of = *column(i);
    const bool floats = of.type == ColumnType::F32 || of.type == ColumnType::F64;
    const auto found = aggregate("sum", of, rows, key_rule(floats ? "DOUBLES" : "INTEGERS"));
    const auto first = found[0] | std::uint64_t{found[1]} << 32U;
    if (floats) return {.value = std::bit_cast<double>(first)};
    Sum sum{.high = static_cast<std::int64_t>(found[2] | std::uint64_t{found[3]} << 32U), .low = first};
    remove_bias(sum, of.type, count(rows));
    return sum;
}

Key BitmapColumns::kth(std::size_t i, std::uint64_t k, const Bits& rows) {
    const auto& of = *column(i);
    const auto differ = std::bit_width(of.least ^ of.most);
    if (differ == 0) return of.least;
    // Two bits a round; what all keys begin with is known.
    const pass::FoldRule counts(pass::FoldBy::Counts);
    const auto& partial = partial_program(of, counts);
    const auto& choose = programs_.get("query/choose_digit.frag", shaders::query_choose_digit_frag);
    const auto& fold = partials(words_a_partial);
    pass::PingPong state(device_, gl::Format::Rgba32ui, 1, 1);
    int shift = (static_cast<int>(differ) - 1) & ~1;
    const auto prefix = shift + 2 >= 64 ? Key{0} : of.least >> (shift + 2) << (shift + 2);
    tables_.uploader().send(device_, state.now.texture, tables_.workers(), [&](std::size_t, std::size_t, auto memory) {
        const Texel start{low(prefix), high(prefix), static_cast<std::uint32_t>(k), 0};
        std::memcpy(memory.data(), start.data(), sizeof start);
    });
    for (; shift >= 0; shift -= 2) {
        const gl::Uniforms digit{{"shift", shift}};
        pass::fill(device_, "count digits", partial, fold.source(), {&of.keys, &texture(rows), &state.now.texture},
                   digit);
        pass::fill(device_, "choose digit", choose, state.next, {&fold(device_, programs_, counts), &state.now.texture},
                   digit);
        state.swap();
    }
    const auto found = read(state.now.texture);
    return found[0] | Key{found[1]} << 32U;
}

}  // namespace quadmill::detail::query
