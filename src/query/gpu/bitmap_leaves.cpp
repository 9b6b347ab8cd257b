// BitmapColumns: selections by conditions.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "query/gpu/bit_list.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/condition_program.hpp"
#include "query/gpu/notes.hpp"
#include "query/plan/plain_tables.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

// Longer lists whose keys are within this many keys of each other become a table of bits.
constexpr Key max_table_bits = Key{1} << 25U;

constexpr QueryNote compares{.act = QueryNote::Act::Compare}, selects{.act = QueryNote::Act::Select};

}  // namespace

BitsPtr BitmapColumns::bits(const Member& leaf) {
    const auto& of = *column(leaf.column);
    const auto keys = keys_within(leaf, of.type);
    if (keys.empty()) return leaf.negate ? of.valid : combine(BoolOp::AndNot, *of.valid, *of.valid);
    if (keys.size() <= few_keys) return member_of_few(of, keys, leaf.negate);
    if (keys.back() - keys.front() < max_table_bits) return member_of_table(of, keys, leaf.negate);
    return member_of_list(of, keys, leaf.negate);
}

BitsPtr BitmapColumns::leaf_of(const GpuColumn& of, const char* name, const std::string& kind, bool negate,
                               const gl::Texture* list, gl::Uniforms uniforms, gl::Note note) {
    const auto& program =
        programs_.get("query/leaf.frag", shaders::query_leaf_frag, kind + keys_prelude(of.type, pool_.shape.words));
    uniforms.set("negate", negate ? ~0U : 0U);
    auto bits = make_bits();
    pass::fill(device_, name, program, bits->target(), {&of.keys, &texture(*of.valid), list}, std::move(uniforms),
               note);
    return bits;
}

BitsPtr BitmapColumns::bits(const Range& leaf) {
    const auto& of = *column(leaf.column);
    return leaf_of(of, "range", "#define RANGE\n", leaf.negate, nullptr,
                   {key_uniform("low", of.type, leaf.low), key_uniform("span", of.type, leaf.high - leaf.low)},
                   &compares);
}

BitsPtr BitmapColumns::member_of_few(const GpuColumn& of, std::span<const Key> keys, bool negate) {
    const auto positions = std::bit_ceil(keys.size());  // rounded up, so that few programs are compiled
    gl::Uniforms list;
    for (std::size_t i = 0; i < positions; ++i)
        list.set({key_uniform("list[" + std::to_string(i) + "]", of.type, keys[std::min(i, keys.size() - 1)])});
    return leaf_of(of, "member of few", define("FEW", static_cast<int>(positions)), negate, nullptr, std::move(list),
                   &selects);
}

BitsPtr BitmapColumns::member_of_table(const GpuColumn& of, std::span<const Key> keys, bool negate) {
    const auto span = keys.back() - keys.front();
    std::vector<std::uint32_t> words(span / 32 + 1);
    for (const auto key : keys) {
        const auto bit = key - keys.front();
        words[bit / 32] |= std::uint32_t{1} << (bit % 32);
    }
    const auto table = send_list(gl::Format::R32ui, std::as_bytes(std::span(words)));
    return leaf_of(of, "member of table", "#define TABLE\n", negate, &table,
                   {key_uniform("low", of.type, keys.front()), key_uniform("span", of.type, span)}, &selects);
}

BitsPtr BitmapColumns::member_of_list(const GpuColumn& of, std::span<const Key> keys, bool negate) {
    const auto list = send_list(gl::Format::Rg32ui, std::as_bytes(keys));
    return leaf_of(of, "member of list", "", negate, &list, {{"count", static_cast<int>(keys.size())}}, &selects);
}

gl::Texture BitmapColumns::send_list(gl::Format format, std::span<const std::byte> bytes) {
    const auto line = list_width * gl::info(format).bytes;
    gl::Texture list(device_, format, list_width, static_cast<int>((bytes.size() + line - 1) / line));
    tables_.uploader().send(device_, list, tables_.workers(), [&](std::size_t first, std::size_t, auto memory) {
        const auto from = bytes.subspan(std::min(first * line, bytes.size()));
        std::memcpy(memory.data(), from.data(), std::min(from.size(), memory.size()));
    });
    return list;
}

BitsPtr BitmapColumns::bits(const Pair& leaf) {
    const auto &a = *column(leaf.a), &b = *column(leaf.b);
    const auto& program = programs_.get("query/pair.frag", shaders::query_pair_frag,
                                        pair_prelude(leaf.as, a.type, b.type, pool_.shape.words));
    const auto valid = all_valid(std::array{leaf.a, leaf.b});
    auto bits = make_bits();
    // The program may ignore some of these uniforms.
    pass::fill(device_, "pair", program, bits->target(), {&a.keys, &b.keys, &texture(*valid)},
               {{"wanted", relations_of(leaf.op, leaf.negate)}, max_number_uniform(leaf.as, a.type)}, &selects);
    return bits;
}

BitsPtr BitmapColumns::bits(const Formula& leaf) {
    if constexpr (plain_tables) std::abort();
    if (leaf.steps.size() > max_steps_without_doubles && leaf.as != Formula::As::Integers &&
        !device_.features.doubles) {
        throw InvalidArgument(
            "query: in this version of OpenGL, engines of the GPU take linear conditions and sums of "
            "at most " +
            std::to_string(max_steps_without_doubles) +
            " steps (names, constants and signs); use QueryEngine::Auto or Cpu");
    }
    const auto made = formula_program(leaf, FormulaRows::Words, SumPrecision::Exact,
                                      [this](std::size_t i) { return column(i)->type; });
    const auto& program =
        programs_.get("query/formula.frag", shaders::query_formula_frag,
                      keys_prelude(ColumnType::F64, pool_.shape.words) + values_prelude() + made.prelude);
    auto bits = make_bits();
    const auto valid = all_valid(made.columns);
    gl::Pass pass{.name = "formula",
                  .note = &selects,
                  .program = &program,
                  .uniforms = made.uniforms,
                  .target = &bits->target().framebuffer,
                  .quads = &bits->target().whole};
    pass.inputs[0] = &texture(*valid);
    for (std::size_t i = 0; i < made.columns.size(); ++i) pass.inputs.at(i + 1) = &column(made.columns[i])->keys;
    draw(device_, pass);
    return bits;
}

BitsPtr BitmapColumns::bits(const IsNull& leaf) {
    const auto& valid = column(leaf.column)->valid;
    return leaf.negate ? valid : combine(BoolOp::AndNot, *pool_.all, *valid);
}

BitsPtr BitmapColumns::bits(const Always& leaf) {
    return leaf.value ? pool_.all : combine(BoolOp::AndNot, *pool_.all, *pool_.all);
}

BitsPtr BitmapColumns::leaf(const Leaf& leaf) {
    return std::visit([this](const auto& one) { return bits(one); }, leaf);
}

// One program if all clauses fit into it. Otherwise several programs, each with the previous one's selection as input.
BitsPtr BitmapColumns::conjunction(const Clauses& clauses) {
    if (clauses.size() == 1 && clauses.front().size() == 1) return leaf(clauses.front().front());
    std::vector<std::pair<Leaf, BitsPtr>> known;
    const auto bits_of = [&](const Leaf& wanted) {
        const auto found = std::ranges::find(known, wanted, &std::pair<Leaf, BitsPtr>::first);
        return found != known.end() ? found->second : known.emplace_back(wanted, leaf(wanted)).second;
    };
    const ConditionProgram none([this](std::size_t i) -> const GpuColumn& { return *column(i); }, pool_.all, bits_of);
    auto program = none;
    const auto add = [&](const auto& more) {
        if (program.add(more)) return true;
        if (program.empty()) return false;
        const auto before = selected(program);
        program = none;
        return program.add(before) && program.add(more);
    };
    for (const auto& clause : clauses) {
        if (add(clause)) continue;
        BitsPtr any;  // for a clause that is too large for a program
        for (const auto& leaf : clause) any = any ? combine(BoolOp::Or, *any, *bits_of(leaf)) : bits_of(leaf);
        static_cast<void>(add(any));
    }
    return selected(program);
}

BitsPtr BitmapColumns::selected(const ConditionProgram& by) {
    const auto& program = programs_.get("query/condition.frag", shaders::query_condition_frag, by.prelude(pool_.shape));
    auto bits = make_bits();
    gl::Pass pass{.name = "condition",
                  .note = &selects,
                  .program = &program,
                  .uniforms = by.uniforms(pool_.shape),
                  .target = &bits->target().framebuffer,
                  .quads = &bits->target().whole};
    std::ranges::copy(by.textures(), pass.inputs.begin());
    draw(device_, pass);
    return bits;
}

Counting BitmapColumns::count_by_index(const Clauses& clauses) {
    const auto& indexes = tables_.indexes();
    if (!indexes) return {};
    if (auto counting = indexes->count_later(clauses, *this)) return counting;
    const auto some = near(clauses);
    return some ? some->count_later(*some->conjunction(clauses)) : Counting();
}

std::shared_ptr<BitmapColumns> BitmapColumns::near(const Clauses& clauses) {
    const auto& indexes = tables_.indexes();
    return indexes ? indexes->near(clauses, *this) : nullptr;
}

std::uint64_t BitmapColumns::count_conjunction(const Clauses& clauses) {
    if (const auto by_index = count_by_index(clauses)) return by_index.result();
    return count(*conjunction(clauses));
}

Counting BitmapColumns::count_conjunction_later(const Clauses& clauses) {
    if (auto by_index = count_by_index(clauses)) return by_index;
    return count_later(*conjunction(clauses));
}

}  // namespace quadmill::detail::query
