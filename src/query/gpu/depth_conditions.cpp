// DepthColumns: conditions, as depth tests whose results are counted in the stencil.
#include <algorithm>
#include <array>
#include <utility>

#include "gl/device.hpp"
#include "query/gpu/depth_engine.hpp"
#include "query/table/key.hpp"
#include "query_shaders.hpp"

namespace quadmill::detail::query {

namespace {

using gl::Compare;
using gl::StencilOp;
using gl::StencilTest;

constexpr std::size_t max_clauses = 60;

// These compare the stored depth (left) with the code that is drawn.
constexpr Compare at_most = Compare::GreaterOrEqual, more = Compare::Less, fewer = Compare::Greater;

// The code of a difference of 0, and the max distance of other codes from it.
constexpr std::uint32_t zero_code = 1U << 29U, reach = zero_code - (1U << 25U);

// A test of rows at `level` with the given flags. `compared` and `on_pass` are used as given.
StencilTest flagged(int level, std::uint8_t flags, std::uint8_t compared, StencilOp on_pass, std::uint8_t written) {
    return {.pass_if = Compare::Equal,
            .reference = static_cast<std::uint8_t>(static_cast<unsigned>(level) | flags),
            .on_pass = on_pass,
            .compared = compared,
            .written = written};
}

// Moves rows at `level` to the next level; no test for level 0.
std::optional<StencilTest> next_level(int level) {
    if (level == 0) return {};
    return at_level(level, StencilOp::Increment);
}

StencilTest clear_flags(std::uint8_t flags) {
    return {.pass_if = Compare::Always, .on_pass = StencilOp::Zero, .written = flags};
}

// The test for a op b, where a is stored and b is drawn.
Compare stored_op_drawn(Comparison op, bool negate) {
    constexpr std::array<std::array<Compare, 2>, 6> all{{{fewer, at_least},
                                                         {at_most, more},
                                                         {Compare::Equal, Compare::NotEqual},
                                                         {Compare::NotEqual, Compare::Equal},
                                                         {at_least, fewer},
                                                         {more, at_most}}};
    return all.at(static_cast<std::size_t>(op)).at(negate ? 1 : 0);
}

}  // namespace

void DepthColumns::range(const Range& asked, int level, bool count) {
    const auto& of = column(asked.column);
    const Range range{asked.column, std::max(asked.low, of.min), std::min(asked.high, of.max)};
    if (range.low > range.high) return;
    const auto& planes = planes_of(range.column);
    if (planes.planes > 1) return range_in_planes(range, planes, level, count);
    const bool from_below = range.low > of.min, from_above = range.high < of.max || has_nulls(range.column);
    const auto stencil = next_level(level);
    if (!from_below && !from_above) return test("all", {level, stencil}, count);
    const auto codes = planes.codes(range.low, range.high);
    if (!codes) return;
    load(range.column, 0);
    const auto [low, high] = *codes;
    if (!from_above) return test("at least", {level, stencil, at_least, low}, count);
    if (!from_below) return test("at most", {level, stencil, at_most, high}, count);
    if (device_.features.depth_bounds)
        return test("within", {.level = level, .stencil = stencil, .bounds = {{low, high}}}, count);
    test("at least", {level, flagged(level, decided, level_bits, StencilOp::Replace, decided), at_least, low});
    test("at most",
         {level, flagged(level, decided, level_bits | decided, StencilOp::Increment, level_bits), at_most, high},
         count);
    test("clear", {0, clear_flags(decided)});
}

void DepthColumns::compare_planes(std::size_t i, const DepthPlanes& planes, Key key, Compare wins, Compare loses,
                                  int level) {
    constexpr std::uint8_t all = 0xff;
    for (int plane = 0; plane < planes.planes; ++plane) {
        load(i, plane);
        const auto code = planes.code(key, plane);
        test("decide", {level, flagged(level, undecided, all, StencilOp::Invert, decided), wins, code});
        test("drop", {level, flagged(level, undecided, all, StencilOp::Zero, undecided), loses, code});
    }
    test("clear", {0, clear_flags(decided)});
}

void DepthColumns::range_in_planes(const Range& range, const DepthPlanes& planes, int level, bool count) {
    const auto& of = column(range.column);
    test("undecided", {level, flagged(level, undecided, level_bits, StencilOp::Replace, undecided)});
    if (range.low > of.min) compare_planes(range.column, planes, range.low, more, fewer, level);
    if (range.high < of.max || has_nulls(range.column))
        compare_planes(range.column, planes, range.high, fewer, more, level);
    test("next", {level, flagged(level, undecided, level_bits | undecided, StencilOp::Increment, level_bits)}, count);
    test("clear", {0, clear_flags(undecided)});
}

void DepthColumns::pair(const Pair& pair, int level, bool count) {
    const auto &a = column(pair.a), &b = column(pair.b);
    const auto valid = bitmap_.all_valid(std::array{pair.a, pair.b});
    const auto& program =
        programs_.get("query/difference.frag", {at_depth_vertex(), shaders::query_difference_frag},
                      pair_prelude(pair.as, a.type, b.type, bitmap_.shape().words) + depth_code() +
                          shaders::query_shifted_glsl + shaders::query_selection_glsl + shaders::query_depth_glsl);
    const auto pass_if = stored_op_drawn(pair.op, pair.negate);
    // A code that passes the test, or one that fails it.
    const auto code_that = [pass_if](bool passes) -> std::uint32_t {
        constexpr std::uint32_t below = zero_code - reach, above = zero_code + reach;
        switch (pass_if) {
            case fewer:
            case at_most:
                return passes ? below : above;
            case Compare::Equal:
                return passes ? zero_code : below;
            case Compare::NotEqual:
                return passes ? below : zero_code;
            default:
                return passes ? above : below;
        }
    };
    const bool nan_passes = (relations_of(pair.op, pair.negate) & 8U) != 0;
    forget_depth();
    holds_ = {.column = pair.a, .less = pair.b};
    const QueryNote note{.act = QueryNote::Act::Load, .depth = &holds_};
    issue({.name = "difference to depth",
           .note = &note,
           .program = &program,
           .inputs = {&a.keys, &b.keys, &texture(*valid)},
           .uniforms = {max_number_uniform(pair.as, a.type),
                        {"zero", zero_code},
                        {"reach", reach},
                        {"null_code", code_that(false)},
                        {"nan_code", code_that(nan_passes)}},
           .depth = gl::DepthTest{.pass_if = Compare::Always, .write = gl::DepthWrite::On}},
          false);
    test("against 0", {level, next_level(level), pass_if, zero_code}, count);
}

void DepthColumns::formula(const Formula& formula, int level, bool count) {
    const auto made =
        formula_program(formula, FormulaRows::Pixels, engine_.sums_, [this](std::size_t i) { return column(i).type; });
    const auto& program = programs_.get("query/at_formula.frag", {at_depth_vertex(), shaders::query_at_formula_frag},
                                        keys_prelude(ColumnType::F64, bitmap_.shape().words) + values_prelude() +
                                            shaders::query_selection_glsl + made.prelude);
    const QueryNote note{.act = QueryNote::Act::TestSum, .clause = level};
    const auto valid = bitmap_.all_valid(made.columns);
    gl::Pass pass{
        .name = "sum", .note = &note, .program = &program, .uniforms = made.uniforms, .stencil = next_level(level)};
    pass.inputs[0] = &texture(*valid);
    for (std::size_t i = 0; i < made.columns.size(); ++i) pass.inputs.at(i + 1) = &column(made.columns[i]).keys;
    issue(std::move(pass), count);
}

void DepthColumns::literal(const Leaf& leaf, int level, bool count) {
    if (const auto* asked = std::get_if<Range>(&leaf)) {
        if (!asked->negate) return range(*asked, level, count);
        // NULLs are in neither part, and no row is in both.
        if (asked->low > 0) range({asked->column, 0, asked->low - 1}, level, count);
        if (asked->high < ~Key{0}) range({asked->column, asked->high + 1, ~Key{0}}, level, count);
        return;
    }
    if (const auto* both = std::get_if<Pair>(&leaf)) return pair(*both, level, count);
    if (const auto* sum = std::get_if<Linear>(&leaf)) return formula(formula_of(*sum), level, count);
    if (const auto* sums = std::get_if<Formula>(&leaf)) return formula(*sums, level, count);
    selected(*bitmap_.leaf(leaf), level, next_level(level), count);
}

bool DepthColumns::one_test(const Range& range) {
    if (planes_of(range.column).planes > 1) return false;
    if (device_.features.depth_bounds) return true;
    const auto& of = column(range.column);
    return range.low <= of.min || (range.high >= of.max && !has_nulls(range.column));
}

// Whether a single depth test selects the rows.
bool DepthColumns::one_test(std::span<const std::vector<Leaf>> clauses) {
    if (clauses.size() != 1 || clauses[0].size() != 1) return false;
    const auto* range = std::get_if<Range>(&clauses[0][0]);
    if (!range) return std::holds_alternative<Pair>(clauses[0][0]);
    if (!range->negate) return one_test(*range);
    return (range->low == 0 || one_test({range->column, 0, range->low - 1})) &&
           (range->high == ~Key{0} || one_test({range->column, range->high + 1, ~Key{0}}));
}

bool DepthColumns::start_with(const std::vector<Leaf>& clause) {
    const auto* range = clause.size() == 1 ? std::get_if<Range>(&clause.front()) : nullptr;
    if (!range || range->negate || planes_of(range->column).planes > 1) return false;
    const auto& of = column(range->column);
    const bool from_below = range->low > of.min, from_above = range->high < of.max || has_nulls(range->column);
    const auto codes = planes_of(range->column).codes(range->low, range->high);
    if (from_below == from_above || !codes) return false;
    load(range->column, 0);
    queries_used_ = 0;
    test("first clause", {.level = first_level,
                          .stencil = StencilTest{.pass_if = Compare::Always,
                                                 .reference = first_level + 1,
                                                 .on_pass = StencilOp::Replace,
                                                 .on_depth_fail = StencilOp::Zero},
                          .depth = from_below ? at_least : at_most,
                          .code = from_below ? codes->first : codes->second});
    return true;
}

void DepthColumns::run(std::span<const std::vector<Leaf>> clauses, bool count) {
    int level = first_level;
    if (count && start_with(clauses.front())) {
        clauses = clauses.subspan(1);
        ++level;
    } else {
        start(first_level);
    }
    for (const auto& clause : clauses) {
        const bool last = &clause == &clauses.back();
        for (const auto& leaf : clause) literal(leaf, level, count && last);
        ++level;
    }
}

BitsPtr DepthColumns::bits_at(int level) {
    const auto& program = programs_.get("query/stencil_bits.frag", shaders::query_stencil_bits_frag);
    auto bits = bitmap_.make_bits();
    const QueryNote note{.act = QueryNote::Act::Select};
    pass::fill(device_, "stencil to bits", program, bits->target(), {&buffers_->texture},
               {{"level", static_cast<unsigned>(level)}, {"mask", unsigned{level_bits}}}, &note);
    return bits;
}

BitsPtr DepthColumns::conjunction(const Clauses& clauses) {
    BitsPtr all;
    for (std::size_t first = 0; first < clauses.size(); first += max_clauses) {
        const auto some = std::span(clauses).subspan(first, std::min(max_clauses, clauses.size() - first));
        run(some, false);
        auto bits = bits_at(first_level + static_cast<int>(some.size()));
        all = all ? combine(BoolOp::And, *all, *bits) : std::move(bits);
    }
    return all ? all : bitmap_.all();
}

void DepthColumns::issue_count(const Clauses& clauses) {
    queries_used_ = 0;
    if (one_test(clauses)) {
        literal(clauses[0][0], 0, true);
    } else {
        run(clauses, true);
    }
}

Counting DepthColumns::count_conjunction_later(const Clauses& clauses) {
    if (auto by_index = bitmap_.count_by_index(clauses)) return by_index;
    if (clauses.empty()) return known<std::uint64_t>(bitmap_.shape().rows);
    if (clauses.size() > max_clauses) return count_later(*conjunction(clauses));
    issue_count(clauses);
    return take_queries();
}

BitsPtr DepthColumns::leaf(const Leaf& leaf) {
    const bool by_tests = std::holds_alternative<Range>(leaf) || std::holds_alternative<Pair>(leaf) ||
                          std::holds_alternative<Linear>(leaf) || std::holds_alternative<Formula>(leaf);
    return by_tests ? conjunction({{leaf}}) : bitmap_.leaf(leaf);
}

}  // namespace quadmill::detail::query
