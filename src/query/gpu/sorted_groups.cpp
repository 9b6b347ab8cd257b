#include "query/gpu/sorted_groups.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "pass/fold.hpp"
#include "quadmill/error.hpp"
#include "query/table/cells.hpp"
#include "query/table/key.hpp"
#include "query_shaders.hpp"
#include "sort/caller_keys.hpp"
#include "sort/merge/merge_sort.hpp"

namespace quadmill::detail::query {

namespace {

constexpr int word_bits = 32;

GlError wrong_groups() {
    return GlError("the GPU returned groups that are not in order: its driver breaks a rule of OpenGL");
}

Key last_value(const GpuColumn& of) {
    return is_float(of.type) ? first_nan(of.type) : ~Key{0};
}

}  // namespace

SortedGroups::SortedGroups(BitmapColumns& columns, const std::vector<ColumnPlace>& by, std::span<const Wanted> wanted,
                           const Bits& rows)
    : columns_(columns),
      tables_(columns.tables()),
      device_(tables_.device()),
      programs_(tables_.programs()),
      quads_(device_),
      bits_(device_, programs_) {
    using enum QueryAggregate::Kind;
    for (const auto& place : by) by_.push_back(place.column);
    for (const auto& [what, place] : wanted) {
        if (what.kind == CountRows) continue;
        auto found = std::ranges::find(measures_, place.column, &Measure::column);
        if (found == measures_.end()) found = measures_.insert(found, {.column = place.column});
        found->sum = found->sum || what.kind == Sum || what.kind == Average;
        found->extremes = found->extremes || what.kind == Min || what.kind == Max;
    }
    const auto& shape = columns_.shape();
    const BitWords words{.glsl = shaders::query_selected_words_glsl,
                         .texture = &BitmapColumns::texture(rows),
                         .uniforms = {{"width", shape.words}},
                         .words = shape.words_in_use()};
    rows_ = static_cast<std::size_t>(bits_.count(words));
    fits_ = has_room(rows_);
    if (rows_ == 0 || !fits_) return;
    auto list = std::make_shared<pass::Target>(make_list(gl::Format::R32ui, rows_));
    bits_.draw(words, 0, rows_, *list);
    list_ = std::move(list);
    grouped_ = sorted(by_);
    find_starts();
    if (!fits_) return;
    read_labels();
    for (const auto& one : measures_) measure(one);
    for (const auto& [what, place] : wanted) {
        if (what.kind == CountRows) continue;
        Ranks ranks{.measure = measure_of(place)};
        for (const auto& group : groups_) ranks.k.push_back(rank_in(what, group.measures[ranks.measure].count));
        if (std::ranges::none_of(ranks.k, [](const auto& k) { return k.has_value(); })) continue;
        ranks.keys = keys_of(ranks.measure, ranks.k);
        ranks_.push_back(std::move(ranks));
    }
}

std::size_t SortedGroups::measure_of(const ColumnPlace& place) const {
    return static_cast<std::size_t>(std::ranges::find(measures_, place.column, &Measure::column) - measures_.begin());
}

std::vector<Value> SortedGroups::values(const TableData& table) const {
    std::vector<Value> all;
    for (std::size_t i = 0; i < by_.size(); ++i) {
        const auto& key = groups_[now_].by[i];
        all.push_back(key ? value_of(table, by_[i], *key) : Value());
    }
    return all;
}

Key SortedGroups::kth(const ColumnPlace& place, std::uint64_t k) {
    const auto measure = measure_of(place);
    const auto found = std::ranges::find_if(
        ranks_, [&](const Ranks& ranks) { return ranks.measure == measure && ranks.k[now_] == k; });
    return found->keys[now_];
}

// Each row takes about 60 bytes: lists and words with what sorts them, or a tree. Each group takes 80 bytes: two ends,
// twice.
bool SortedGroups::has_room(std::size_t entries) const {
    if (entries > product(list_width, device_.info.max_texture_size)) return false;
    const auto bytes = 60 * rows_ + 80 * groups_.size();
    if (bytes < gl::worth_asking) return true;
    const auto free = gl::free_bytes(device_);
    return !free || bytes <= *free;
}

pass::Target SortedGroups::make_list(gl::Format format, std::size_t entries) const {
    return {device_, format, list_width, static_cast<int>(up(std::max<std::size_t>(entries, 1), list_width))};
}

const gl::Program& SortedGroups::program(const char* name, const char* fragment, const GpuColumn& of,
                                         const std::string& before, const std::string& defines) {
    return programs_.get(name, fragment,
                         defines + keys_prelude(of.type, columns_.shape().words) + before +
                             shaders::query_selection_glsl + shaders::query_group_rows_glsl);
}

void SortedGroups::draw(const char* name, const gl::Program& program, const pass::Target& to, std::size_t entries,
                        std::initializer_list<const gl::Texture*> inputs, gl::Uniforms uniforms) {
    gl::Pass pass{.name = name,
                  .program = &program,
                  .uniforms = std::move(uniforms),
                  .target = &to.framebuffer,
                  .quads = &quads_.rectangle(0, 0, list_width, static_cast<int>(up(entries, list_width)))};
    std::ranges::copy(inputs, pass.inputs.begin());
    gl::draw(device_, pass);
}

template <class Texel>
std::vector<Texel> SortedGroups::read(const gl::Texture& list, std::size_t entries) {
    std::vector<Texel> texels(entries);
    tables_.readback().request(device_, list);
    tables_.readback().copy_to(std::as_writable_bytes(std::span(texels)), tables_.workers());
    return texels;
}

// The bits of a column are key - least, and one bit above them says whether there is a value, so that NULLs come first.
std::vector<SortedGroups::Digit> SortedGroups::digits_of(std::span<const std::size_t> columns) const {
    std::vector<Digit> digits;
    std::size_t word = 0;
    int used = 0;
    const auto add = [&](std::size_t column, Key min, int bits, bool valid) {
        for (int from = 0; from < bits;) {
            if (used == word_bits) {
                ++word;
                used = 0;
            }
            const auto some = std::min(bits - from, word_bits - used);
            digits.push_back({column, min, from, some, valid, word, used});
            from += some;
            used += some;
        }
    };
    for (auto i = columns.size(); i-- > 0;) {
        const auto& of = *columns_.column(columns[i]);
        const auto min = std::min<Key>(of.min, last_value(of)), max = std::min<Key>(of.max, last_value(of));
        add(columns[i], min, max > min ? static_cast<int>(std::bit_width(max - min)) : 0, false);
        if (of.valid != columns_.all()) add(columns[i], 0, 1, true);
    }
    return digits;
}

SortedGroups::TargetPtr SortedGroups::sorted(std::span<const std::size_t> columns) {
    const auto digits = digits_of(columns);
    auto rows = list_;
    const auto index = make_list(gl::Format::R32ui, rows_);
    const sort::KeyForm form{KeyType::U32, Order::Ascending, true};
    pass::PingPong words;
    words.now = make_list(gl::Format::R32ui, rows_);
    words.next = make_list(gl::Format::R32ui, rows_);
    for (auto digit = digits.begin(); digit != digits.end();) {
        const auto word = digit->word;
        for (; digit != digits.end() && digit->word == word; ++digit) {
            const auto& of = *columns_.column(digit->column);
            const auto& code = program("query/group_code.frag", shaders::query_group_code_frag, of,
                                       shaders::query_shifted_glsl, digit->valid ? "#define VALID\n" : "");
            const auto mask = digit->bits == word_bits ? ~0U : (1U << static_cast<unsigned>(digit->bits)) - 1;
            draw("sort word", code, words.next, rows_,
                 {&rows->texture, &of.keys, &BitmapColumns::texture(*of.valid), &words.now.texture},
                 {{"nan", words_of(last_value(of))},
                  {"least", words_of(digit->min)},
                  {"from", digit->from},
                  {"to", digit->to},
                  {"mask", mask}});
            words.swap();
        }
        const auto order_of_words = tables_.sorter().sort_drawn(form, rows_, [&](const auto& source, auto source_rows) {
            sort::draw_keys(device_, programs_, quads_, words.now.texture, {.keys = rows_}, form.padding(), source,
                            source_rows);
        });
        tables_.sorter().store_index(order_of_words, index.framebuffer, rows_);
        auto ordered = std::make_shared<pass::Target>(make_list(gl::Format::R32ui, rows_));
        const auto& order = programs_.get("query/group_order.frag", shaders::query_group_order_frag);
        draw("order rows", order, *ordered, rows_, {&rows->texture, &index.texture},
             {{"count", static_cast<int>(rows_)}});
        rows = std::move(ordered);
    }
    return rows;
}

void SortedGroups::find_starts() {
    const auto words = up(rows_, Shape::rows_a_word);
    pass::PingPong heads;
    heads.now = make_list(gl::Format::R32ui, words);
    heads.next = make_list(gl::Format::R32ui, words);
    for (std::size_t i = 0; i < by_.size(); ++i) {
        const auto& of = *columns_.column(by_[i]);
        const bool first = i == 0;
        const auto& head =
            program("query/group_heads.frag", shaders::query_group_heads_frag, of, {}, first ? "#define FIRST\n" : "");
        draw("begin groups", head, heads.next, words,
             {&grouped_->texture, &of.keys, &BitmapColumns::texture(*of.valid), first ? nullptr : &heads.now.texture},
             {{"nan", words_of(last_value(of))}, {"count", static_cast<int>(rows_)}});
        heads.swap();
    }
    const BitWords begin{.glsl = shaders::query_selected_words_glsl,
                         .texture = &heads.now.texture,
                         .uniforms = {{"width", list_width}},
                         .words = words};
    const auto found = static_cast<std::size_t>(bits_.count(begin));
    if (found > rows_) throw wrong_groups();
    groups_.resize(found);
    fits_ = has_room(2 * found);
    if (!fits_) return;
    starts_ = make_list(gl::Format::R32ui, found);
    bits_.draw(begin, 0, found, starts_);
}

std::vector<SortedGroups::KeyTexel> SortedGroups::keys_at(const TargetPtr& list, std::size_t column,
                                                          const gl::Texture& positions, std::size_t count) {
    const auto& of = *columns_.column(column);
    const auto found = make_list(gl::Format::Rgba32ui, count);
    draw("keys of groups", program("query/group_keys.frag", shaders::query_group_keys_frag, of), found, count,
         {&list->texture, &of.keys, &BitmapColumns::texture(*of.valid), &positions},
         {{"nan", words_of(last_value(of))}, {"count", static_cast<int>(count)}});
    return read<KeyTexel>(found.texture, count);
}

void SortedGroups::read_labels() {
    std::vector<KeyTexel> labels;
    for (const auto column : by_) {
        labels = keys_at(grouped_, column, starts_.texture, groups_.size());
        for (std::size_t g = 0; g < groups_.size(); ++g)
            groups_[g].by.push_back(labels[g].valid != 0 ? std::optional(labels[g].key()) : std::nullopt);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const auto end = g + 1 < groups_.size() ? labels[g + 1].position : rows_;
        if (labels[g].position > end) throw wrong_groups();
        groups_[g].rows = end - labels[g].position;
        largest_ = std::max(largest_, groups_[g].rows);
    }
}

void SortedGroups::measure(const Measure& wanted) {
    const auto& of = *columns_.column(wanted.column);
    const auto each = [this](const std::vector<MeasuredTexel>& texels, const auto& take) {
        for (std::size_t g = 0; g < groups_.size(); ++g) take(groups_[g].measures.back(), texels[g]);
    };
    for (auto& group : groups_) group.measures.push_back({.count = group.rows});
    if (of.valid != columns_.all())
        each(folded(of, pass::FoldRule(pass::FoldBy::Counts)), [](auto& measured, const auto& texel) {
            if (texel[0] > measured.count) throw wrong_groups();
            measured.count = texel[0];
        });
    if (wanted.sum)
        each(folded(of, key_rule(is_float(of.type) ? "DOUBLES" : "INTEGERS")),
             [&](auto& measured, const auto& texel) { measured.sum = sum_of_texel(texel, of.type, measured.count); });
    if (wanted.extremes)
        each(folded(of, key_rule("EXTREMES")),
             [](auto& measured, const auto& texel) { measured.extremes = extremes_of_texel(texel); });
}

std::vector<MeasuredTexel> SortedGroups::folded(const GpuColumn& of, const pass::FoldRule& rule) {
    const auto n = groups_.size();
    const auto& values = program("query/group_values.frag", shaders::query_group_values_frag, of,
                                 values_prelude() + rule.glsl, define("TYPE", number_of(of.type)));
    const auto& pairs = programs_.get("query/group_pairs.frag", shaders::query_group_pairs_frag, rule.glsl);
    const auto& climb = programs_.get("query/group_climb.frag", shaders::query_group_climb_frag, rule.glsl);
    const auto& last =
        programs_.get("query/group_climb.frag", shaders::query_group_climb_frag, "#define LAST\n" + rule.glsl);
    pass::PingPong level, ends;
    level.now = make_list(gl::Format::Rgba32ui, rows_);
    level.next = make_list(gl::Format::Rgba32ui, up(rows_, 2));
    ends.now = make_list(gl::Format::Rgba32ui, 2 * n);
    ends.next = make_list(gl::Format::Rgba32ui, 2 * n);
    draw("values of groups", values, level.now, rows_,
         {&grouped_->texture, &of.keys, &BitmapColumns::texture(*of.valid)},
         {{"nan", words_of(~Key{0})}, {"count", static_cast<int>(rows_)}});
    auto nodes = rows_;
    for (int height = 0; largest_ >> static_cast<unsigned>(height) > 0; ++height) {
        if (height > 0) {
            draw("pairs of values", pairs, level.next, up(nodes, 2), {&level.now.texture},
                 {{"count", static_cast<int>(nodes)}});
            level.swap();
            nodes = up(nodes, 2);
        }
        draw("climb", climb, ends.next, 2 * n, {&ends.now.texture, &level.now.texture, &starts_.texture},
             {{"groups", static_cast<int>(n)}, {"rows", static_cast<int>(rows_)}, {"level", height}});
        ends.swap();
    }
    const auto result = make_list(gl::Format::Rgba32ui, n);
    draw("ends of groups", last, result, n, {&ends.now.texture}, {{"groups", static_cast<int>(n)}});
    return read<MeasuredTexel>(result.texture, n);
}

std::vector<Key> SortedGroups::keys_of(std::size_t measure, std::span<const std::optional<std::uint64_t>> k) {
    const auto column = measures_[measure].column;
    if (sorted_by_ != column) {
        auto by = by_;
        by.push_back(column);
        by_value_ = sorted(by);
        sorted_by_ = column;
    }
    std::vector<std::uint32_t> positions(groups_.size());
    std::uint64_t start = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        const auto nulls = groups_[g].rows - groups_[g].measures[measure].count;  // NULLs come first
        positions[g] = static_cast<std::uint32_t>(k[g] ? start + nulls + *k[g] : start);
        start += groups_[g].rows;
    }
    const auto list = columns_.send_list(gl::Format::R32ui, std::as_bytes(std::span(positions)));
    std::vector<Key> keys;
    for (const auto& texel : keys_at(by_value_, column, list, groups_.size())) keys.push_back(texel.key());
    return keys;
}

}  // namespace quadmill::detail::query
