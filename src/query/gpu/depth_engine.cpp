#include "query/gpu/depth_engine.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "quadmill_shaders.hpp"
#include "query/table/key.hpp"

namespace quadmill::detail::query {

namespace {

using gl::Compare;
using gl::StencilOp;
using gl::StencilTest;

constexpr int first_level = 1;
constexpr std::size_t most_clauses = 60;

// The code of a difference of 0, and how far others are from it at most.
constexpr std::uint32_t zero_code = 1U << 29U, reach = zero_code - (1U << 25U);

// What is stored must be `op` the code drawn.
constexpr Compare at_least = Compare::LessOrEqual, at_most = Compare::GreaterOrEqual, more = Compare::Less,
                  fewer = Compare::Greater;

StencilTest at_level(int level, StencilOp on_pass = StencilOp::Keep) {
    return {.pass_if = Compare::Equal,
            .reference = static_cast<std::uint8_t>(level),
            .on_pass = on_pass,
            .compared = level_bits,
            .written = level_bits};
}

// With flags: compared and written as said.
StencilTest flagged(int level, std::uint8_t flags, std::uint8_t compared, StencilOp on_pass, std::uint8_t written) {
    return {.pass_if = Compare::Equal,
            .reference = static_cast<std::uint8_t>(static_cast<unsigned>(level) | flags),
            .on_pass = on_pass,
            .compared = compared,
            .written = written};
}

// For rows at `level`; none for level 0.
std::optional<StencilTest> next_level(int level) {
    if (level == 0) return {};
    return at_level(level, StencilOp::Increment);
}

StencilTest clear_flags(std::uint8_t flags) {
    return {.pass_if = Compare::Always, .on_pass = StencilOp::Zero, .written = flags};
}

// a op b, where a is stored and b is drawn.
Compare stored_op_drawn(Comparison op, bool negate) {
    switch (op) {
        case Comparison::Less:
            return negate ? at_least : fewer;
        case Comparison::LessOrEqual:
            return negate ? more : at_most;
        case Comparison::Equal:
            return negate ? Compare::NotEqual : Compare::Equal;
        case Comparison::NotEqual:
            return negate ? Compare::Equal : Compare::NotEqual;
        case Comparison::GreaterOrEqual:
            return negate ? fewer : at_least;
        case Comparison::Greater:
            break;
    }
    return negate ? at_most : more;
}

std::vector<gl::Quad> quads_over(const Shape& shape) {
    const auto width = shape.words * static_cast<int>(Shape::rows_a_word);
    const auto full = static_cast<int>(shape.rows / static_cast<std::size_t>(width));
    const auto rest = static_cast<int>(shape.rows % static_cast<std::size_t>(width));
    std::vector<gl::Quad> quads;
    if (full > 0) quads.push_back(gl::rectangle(0, 0, width, full));
    if (rest > 0) quads.push_back(gl::rectangle(0, full, rest, full + 1));
    if (quads.empty()) quads.push_back(gl::rectangle(0, 0, 0, 0));
    return quads;
}

}  // namespace

DepthSurface::DepthSurface(gl::Device& device, const Shape& shape)
    : texture(device, gl::Format::Depth32fStencil8, shape.words * static_cast<int>(Shape::rows_a_word), shape.height),
      target(device, gl::Framebuffer::NoColor{}, texture),
      rows(device, quads_over(shape)) {}

DepthEngine::DepthEngine(std::shared_ptr<GpuTables> tables, SumPrecision sums, std::size_t most_rows)
    : shared_(std::move(tables)),
      tables_(*shared_),
      sums_(sums),
      most_rows_(std::min(most_rows, tables_.most_rows(static_cast<int>(Shape::rows_a_word)))) {}

std::size_t DepthEngine::surface_bytes(std::size_t rows) {
    constexpr std::size_t a_pixel = 8;
    return rows * a_pixel;
}

std::shared_ptr<DepthSurface> DepthEngine::surface(const std::shared_ptr<Pool>& pool) {
    std::erase_if(surfaces_, [](const auto& entry) { return entry.second.pool.expired(); });
    auto& [of, surface] = surfaces_[pool->shape.rows];
    if (!surface) surface = std::make_shared<DepthSurface>(tables_.device(), pool->shape);
    of = pool;
    return surface;
}

std::shared_ptr<Columns> DepthEngine::open(const std::shared_ptr<const TableData>& table,
                                           std::span<const std::size_t> columns) {
    return tables_.open(*table, most_rows_, [&](const RowPart& part, const std::shared_ptr<Pool>& pool) {
        auto opened = std::make_shared<DepthColumns>(*this, pool, surface(pool));
        opened->add(*table, part, columns);
        return opened;
    });
}

std::size_t DepthEngine::bytes(const TableData& table, std::span<const std::size_t> columns) const {
    const auto part = std::min(table.rows, most_rows_);
    return tables_.bytes(table, columns, most_rows_) + (surfaces_.contains(part) ? 0 : surface_bytes(part));
}

std::size_t DepthEngine::held() const {
    auto bytes = tables_.held();
    for (const auto& [rows, kept] : surfaces_) bytes += surface_bytes(rows);
    return bytes;
}

void DepthEngine::drop_surfaces() {
    std::erase_if(surfaces_, [](const auto& entry) { return entry.second.surface.use_count() == 1; });
}

bool DepthEngine::make_room(const TableData& table, std::span<const std::size_t> columns, std::size_t limit) {
    if (held() + bytes(table, columns) <= limit) return true;
    const auto part = std::min(table.rows, most_rows_);
    std::erase_if(surfaces_,
                  [part](const auto& entry) { return entry.first != part && entry.second.surface.use_count() == 1; });
    const auto of_surfaces = held() - tables_.held() + (surfaces_.contains(part) ? 0 : surface_bytes(part));
    return of_surfaces <= limit && tables_.make_room(table, columns, most_rows_, limit - of_surfaces);
}

DepthColumns::DepthColumns(DepthEngine& engine, const std::shared_ptr<GpuTables::Pool>& pool,
                           std::shared_ptr<DepthSurface> surface)
    : engine_(engine),
      device_(engine.tables_.device()),
      programs_(engine.tables_.programs()),
      bitmap_(engine.tables_, pool),
      surface_(std::move(surface)) {}

void DepthColumns::add(const TableData& table, const RowPart& part, std::span<const std::size_t> columns) {
    bitmap_.add(table, part, columns);
    // What the host's texture holds may have changed since its copy to the depth buffer.
    const auto of_host = [&](std::size_t i) { return std::holds_alternative<HostTextures>(table.columns[i]->values); };
    if (std::ranges::any_of(columns, of_host)) forget_depth();
}

bool DepthColumns::has_nulls(std::size_t i) const {
    return column(i).valid != bitmap_.all();
}

std::string DepthColumns::prelude(ColumnType type, const DepthPlanes& planes) const {
    return keys_prelude(type, bitmap_.shape().words) + (planes.runs.empty() ? "" : "#define RUNS\n") +
           shaders::query_shifted_glsl + shaders::query_selection_glsl + shaders::query_depth_glsl;
}

const GpuColumn::Depths& DepthColumns::depths_of(std::size_t i) {
    auto& of = *bitmap_.column(i);
    if (of.depths) return *of.depths;
    const auto data = of.data.lock();
    GpuColumn::Depths made{.planes = DepthPlanes::of(*data, of.part.first, of.part.rows), .runs = {}};
    if (!made.planes.runs.empty()) {
        std::vector<std::array<std::uint32_t, 4>> list;
        for (const auto& [keys, code] : made.planes.runs) list.push_back({low(keys.first), high(keys.first), code, 0});
        made.runs = bitmap_.send_list(gl::Format::Rgba32ui, std::as_bytes(std::span(list)));
    }
    return of.depths.emplace(std::move(made));
}

void DepthColumns::add_runs(gl::Pass& pass, const GpuColumn::Depths& depths) {
    if (depths.planes.runs.empty()) return;
    pass.inputs[2] = &depths.runs;
    pass.uniforms.set("runs", static_cast<int>(depths.planes.runs.size()));
}

void DepthColumns::start(std::uint8_t level) {
    queries_used_ = 0;
    gl::clear_stencil(device_, surface_->target, level);
}

void DepthColumns::issue(gl::Pass pass, bool count) {
    pass.target = &surface_->target;
    pass.color = gl::ColorWrite::Off;
    pass.quads = &surface_->rows;
    pass.count = surface_->rows.quads().size();
    if (count) {
        auto& queries = engine_.queries_;
        if (queries_used_ == queries.size()) queries.emplace_back(device_, gl::Query::Kind::Samples);
        pass.count_samples = &queries[queries_used_++];
    }
    draw(device_, pass);
}

namespace {

class CountingSamples final : public Counting {
  public:
    explicit CountingSamples(std::vector<gl::Query> queries) : queries_(std::move(queries)) {}
    [[nodiscard]] bool ready() const override {
        return std::ranges::all_of(queries_, [](const gl::Query& query) { return query.ready(); });
    }
    [[nodiscard]] std::uint64_t result() override {
        std::uint64_t sum = 0;
        for (const auto& query : queries_) sum += query.result();
        return sum;
    }

  private:
    std::vector<gl::Query> queries_;
};

}  // namespace

std::unique_ptr<Counting> DepthColumns::take_queries() {
    auto& all = engine_.queries_;
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::exchange(queries_used_, 0));
    std::vector<gl::Query> taken(std::make_move_iterator(all.begin()), std::make_move_iterator(end));
    all.erase(all.begin(), end);
    return std::make_unique<CountingSamples>(std::move(taken));
}

void DepthColumns::test(const char* name, const Test& test, bool count) {
    const auto& program =
        programs_.get("query/at_depth.vert", {shaders::query_at_depth_vert, shaders::query_nothing_frag});
    gl::Pass pass{.name = name,
                  .program = &program,
                  .uniforms = {{"code", test.code}},
                  .stencil = test.stencil,
                  .depth_bounds = test.bounds};
    if (test.depth) pass.depth = gl::DepthTest{.pass_if = *test.depth};
    issue(std::move(pass), count);
}

void DepthColumns::load(std::size_t i, int plane) {
    const auto& known = bitmap_.column(i);
    if (surface_->column.lock() == known && surface_->plane == plane) return;
    const auto& depths = depths_of(i);
    const auto& planes = depths.planes;
    const auto& program =
        programs_.get("query/to_depth.frag", {shaders::query_at_depth_vert, shaders::query_to_depth_frag},
                      prelude(known->type, planes));
    surface_->column.reset();  // should the pass fail
    gl::Pass pass{.name = "to depth",
                  .program = &program,
                  .inputs = {&known->keys, &texture(*known->valid)},
                  .uniforms = {key_uniform("base", known->type, planes.base),
                               {"shift", planes.shift(plane)},
                               {"mask", planes.mask()},
                               {"null_code", planes.null_code}},
                  .depth = gl::DepthTest{.pass_if = Compare::Always, .write = gl::DepthWrite::On}};
    add_runs(pass, depths);
    issue(std::move(pass), false);
    surface_->column = known;
    surface_->plane = plane;
}

void DepthColumns::copy_to_depth(std::size_t i) {
    forget_depth();
    for (int plane = 0; plane < planes_of(i).planes; ++plane) load(i, plane);
}

void DepthColumns::range(const Range& asked, int level, bool count) {
    const auto& of = column(asked.column);
    const Range range{asked.column, std::max(asked.low, of.least), std::min(asked.high, of.most)};
    if (range.low > range.high) return;
    const auto& planes = planes_of(range.column);
    if (planes.planes > 1) return range_in_planes(range, planes, level, count);
    const bool from_below = range.low > of.least, from_above = range.high < of.most || has_nulls(range.column);
    const auto stencil = next_level(level);
    if (!from_below && !from_above) return test("all", {.stencil = stencil}, count);
    const auto codes = planes.codes(range.low, range.high);
    if (!codes) return;
    load(range.column, 0);
    const auto [low, high] = *codes;
    if (!from_above) return test("at least", {low, at_least, stencil}, count);
    if (!from_below) return test("at most", {high, at_most, stencil}, count);
    if (device_.features.depth_bounds)
        return test("within", {.stencil = stencil, .bounds = {{depth_of(low), depth_of(high)}}}, count);
    test("at least", {low, at_least, flagged(level, decided, level_bits, StencilOp::Replace, decided)});
    test("at most", {high, at_most, flagged(level, decided, level_bits | decided, StencilOp::Increment, level_bits)},
         count);
    test("clear", {.stencil = clear_flags(decided)});
}

void DepthColumns::compare_planes(std::size_t i, const DepthPlanes& planes, Key key, Compare wins, Compare loses,
                                  int level) {
    constexpr std::uint8_t all = 0xff;
    for (int plane = 0; plane < planes.planes; ++plane) {
        load(i, plane);
        const auto code = planes.code(key, plane);
        test("decide", {code, wins, flagged(level, undecided, all, StencilOp::Invert, decided)});
        test("drop", {code, loses, flagged(level, undecided, all, StencilOp::Zero, undecided)});
    }
    test("clear", {.stencil = clear_flags(decided)});
}

void DepthColumns::range_in_planes(const Range& range, const DepthPlanes& planes, int level, bool count) {
    const auto& of = column(range.column);
    test("undecided", {.stencil = flagged(level, undecided, level_bits, StencilOp::Replace, undecided)});
    if (range.low > of.least) compare_planes(range.column, planes, range.low, more, fewer, level);
    if (range.high < of.most || has_nulls(range.column))
        compare_planes(range.column, planes, range.high, fewer, more, level);
    test("next", {.stencil = flagged(level, undecided, level_bits | undecided, StencilOp::Increment, level_bits)},
         count);
    test("clear", {.stencil = clear_flags(undecided)});
}

void DepthColumns::pair(const Pair& pair, int level, bool count) {
    const auto &a = column(pair.a), &b = column(pair.b);
    const auto valid = bitmap_.all_valid(std::array{pair.a, pair.b});
    const auto& program =
        programs_.get("query/difference.frag", {shaders::query_at_depth_vert, shaders::query_difference_frag},
                      pair_prelude(pair.as, a.type, b.type, bitmap_.shape().words) + shaders::query_shifted_glsl +
                          shaders::query_selection_glsl + shaders::query_depth_glsl);
    const auto pass_if = stored_op_drawn(pair.op, pair.negate);
    // A depth that passes the test, and one that fails it.
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
    issue({.name = "difference to depth",
           .program = &program,
           .inputs = {&a.keys, &b.keys, &texture(*valid)},
           .uniforms = {most_number_uniform(pair.as, a.type),
                        {"zero", zero_code},
                        {"reach", reach},
                        {"null_code", code_that(false)},
                        {"nan_code", code_that(nan_passes)}},
           .depth = gl::DepthTest{.pass_if = Compare::Always, .write = gl::DepthWrite::On}},
          false);
    test("against 0", {zero_code, pass_if, next_level(level)}, count);
}

void DepthColumns::formula(const Formula& formula, int level, bool count) {
    const auto made =
        formula_program(formula, FormulaRows::Pixels, engine_.sums_, [this](std::size_t i) { return column(i).type; });
    const auto& program =
        programs_.get("query/at_formula.frag", {shaders::query_at_depth_vert, shaders::query_at_formula_frag},
                      keys_prelude(ColumnType::F64, bitmap_.shape().words) + shaders::query_values_glsl +
                          shaders::query_selection_glsl + made.prelude);
    const auto valid = bitmap_.all_valid(made.columns);
    gl::Pass pass{.name = "sum", .program = &program, .uniforms = made.uniforms, .stencil = next_level(level)};
    pass.inputs[0] = &texture(*valid);
    for (std::size_t i = 0; i < made.columns.size(); ++i) pass.inputs.at(i + 1) = &column(made.columns[i]).keys;
    issue(std::move(pass), count);
}

void DepthColumns::selected(const Bits& bits, const std::optional<StencilTest>& stencil, bool count) {
    const auto& program =
        programs_.get("query/at_selected.frag", {shaders::query_at_depth_vert, shaders::query_at_selected_frag},
                      shaders::query_selection_glsl);
    issue({.name = "selected", .program = &program, .inputs = {&texture(bits)}, .stencil = stencil}, count);
}

void DepthColumns::literal(const Leaf& leaf, int level, bool count) {
    if (const auto* asked = std::get_if<Range>(&leaf)) {
        if (!asked->negate) return range(*asked, level, count);
        // Neither has a NULL, and no row has both.
        if (asked->low > 0) range({asked->column, 0, asked->low - 1}, level, count);
        if (asked->high < ~Key{0}) range({asked->column, asked->high + 1, ~Key{0}}, level, count);
        return;
    }
    if (const auto* both = std::get_if<Pair>(&leaf)) return pair(*both, level, count);
    if (const auto* sum = std::get_if<Linear>(&leaf)) return formula(formula_of(*sum), level, count);
    if (const auto* sums = std::get_if<Formula>(&leaf)) return formula(*sums, level, count);
    selected(*bitmap_.leaf(leaf), next_level(level), count);
}

bool DepthColumns::one_test(const Range& range) {
    if (planes_of(range.column).planes > 1) return false;
    if (device_.features.depth_bounds) return true;
    const auto& of = column(range.column);
    return range.low <= of.least || (range.high >= of.most && !has_nulls(range.column));
}

// Whether depth alone says which rows they are.
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
    const bool from_below = range->low > of.least, from_above = range->high < of.most || has_nulls(range->column);
    const auto codes = planes_of(range->column).codes(range->low, range->high);
    if (from_below == from_above || !codes) return false;
    load(range->column, 0);
    queries_used_ = 0;
    test("first clause", {.code = from_below ? codes->first : codes->second,
                          .depth = from_below ? at_least : at_most,
                          .stencil = StencilTest{.pass_if = Compare::Always,
                                                 .reference = first_level + 1,
                                                 .on_pass = StencilOp::Replace,
                                                 .on_depth_fail = StencilOp::Zero}});
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
    pass::fill(device_, "stencil to bits", program, bits->target(), {&surface_->texture},
               {{"level", static_cast<unsigned>(level)}, {"mask", unsigned{level_bits}}});
    return bits;
}

BitsPtr DepthColumns::conjunction(const Clauses& clauses) {
    BitsPtr all;
    for (std::size_t first = 0; first < clauses.size(); first += most_clauses) {
        const auto some = std::span(clauses).subspan(first, std::min(most_clauses, clauses.size() - first));
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

std::optional<std::uint64_t> DepthColumns::count_conjunction(const Clauses& clauses) {
    if (clauses.empty()) return bitmap_.shape().rows;
    if (clauses.size() > most_clauses) return count(*conjunction(clauses));
    issue_count(clauses);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < queries_used_; ++i) sum += engine_.queries_[i].result();
    queries_used_ = 0;
    return sum;
}

std::unique_ptr<Counting> DepthColumns::count_conjunction_later(const Clauses& clauses) {
    if (clauses.empty()) return std::make_unique<Counted>(bitmap_.shape().rows);
    if (clauses.size() > most_clauses) return count_later(*conjunction(clauses));
    issue_count(clauses);
    return take_queries();
}

std::unique_ptr<Counting> DepthColumns::count_later(const Bits& rows) {
    queries_used_ = 0;
    selected(rows, std::nullopt, true);
    return take_queries();
}

void DepthColumns::send_again(std::span<const std::size_t> columns) {
    bitmap_.send_again(columns);
    forget_depth();
}

BitsPtr DepthColumns::leaf(const Leaf& leaf) {
    const bool by_tests = std::holds_alternative<Range>(leaf) || std::holds_alternative<Pair>(leaf) ||
                          std::holds_alternative<Linear>(leaf) || std::holds_alternative<Formula>(leaf);
    return by_tests ? conjunction({{leaf}}) : bitmap_.leaf(leaf);
}

Key DepthColumns::kth(std::size_t i, std::uint64_t k, const Bits& rows) {
    return kth_largest(i, count(rows) - k, rows);
}

std::pair<Key, Key> DepthColumns::extremes(std::size_t i, const Bits& rows) {
    return {kth_largest(i, count(rows), rows), kth_largest(i, 1, rows)};
}

// 'Query Processing on GPUs', bit by bit from the top: a bit is set when at least k values are no less than the one with
// it.
Key DepthColumns::kth_largest(std::size_t i, std::uint64_t k, const Bits& rows) {
    const auto& planes = planes_of(i);
    if (planes.width == 0) return planes.key(0);
    const auto found = std::string(shaders::query_shifted_glsl) + shaders::query_found_bits_glsl;
    const auto vertex = found + shaders::query_at_next_bit_vert;
    const auto& program = programs_.get("query/at_next_bit.vert", {vertex.c_str(), shaders::query_nothing_frag});
    const auto width = static_cast<std::size_t>(planes.width);
    if (engine_.counts_.size() < width) engine_.counts_ = gl::CountList(device_, width);
    queries_used_ = 0;
    for (int known = 0, plane = -1; known < planes.width; ++known) {
        const int next = planes.plane_of_bit(planes.width - 1 - known);
        if (std::exchange(plane, next) != next) load_found(i, plane, known, static_cast<unsigned>(k), rows);
        issue({.name = "next bit",
               .program = &program,
               .counts = &engine_.counts_,
               .uniforms = {{"bits", planes.width},
                            {"known", known},
                            {"shift", planes.shift(plane)},
                            {"mask", planes.mask()},
                            {"k", static_cast<unsigned>(k)}},
               .depth = gl::DepthTest{.pass_if = at_least}},
              true);
        engine_.counts_.note(static_cast<std::size_t>(known), engine_.queries_[queries_used_ - 1]);
    }
    queries_used_ = 0;
    const auto counts = engine_.counts_.read();
    Key value = 0;
    for (std::size_t bit = 0; bit < width; ++bit) value = value << 1U | Key{counts[bit] >= k ? 1U : 0U};
    return planes.key(value);
}

void DepthColumns::load_found(std::size_t i, int plane, int known, std::uint32_t k, const Bits& rows) {
    const auto& depths = depths_of(i);
    const auto& planes = depths.planes;
    if (planes.planes == 1 && &rows == bitmap_.all().get()) return load(i, 0);
    const auto& of = bitmap_.column(i);
    const auto vertex =
        std::string(shaders::query_shifted_glsl) + shaders::query_found_bits_glsl + shaders::query_found_prefix_vert;
    const auto& program = programs_.get("query/found_plane.frag", {vertex.c_str(), shaders::query_found_plane_frag},
                                        prelude(of->type, planes));
    forget_depth();
    gl::Pass pass{.name = "plane to depth",
                  .program = &program,
                  .inputs = {&of->keys, &texture(rows)},
                  .counts = &engine_.counts_,
                  .uniforms = {{"bits", planes.width},
                               {"known", known},
                               {"k", k},
                               key_uniform("base", of->type, planes.base),
                               {"shift", planes.shift(plane)},
                               {"above", planes.shift(plane) + planes.bits},
                               {"mask", planes.mask()},
                               {"null_code", planes.null_code}},
                  .depth = gl::DepthTest{.pass_if = Compare::Always, .write = gl::DepthWrite::On}};
    add_runs(pass, depths);
    issue(std::move(pass), false);
}

Sum DepthColumns::sum(std::size_t i, const Bits& rows) {
    const auto& of = column(i);
    if (of.type == ColumnType::F32 || of.type == ColumnType::F64) return bitmap_.sum(i, rows);
    const auto& program = programs_.get("query/at_bit.frag", {shaders::query_at_depth_vert, shaders::query_at_bit_frag},
                                        prelude(of.type, {}));
    start(first_level - 1);
    selected(rows, at_level(first_level - 1, StencilOp::Increment), true);  // how many there are
    const int bits = of.most > of.least ? static_cast<int>(std::bit_width(of.most - of.least)) : 0;
    for (int bit = 0; bit < bits; ++bit) {
        issue({.name = "bit",
               .program = &program,
               .inputs = {&of.keys},
               .uniforms = {key_uniform("base", of.type, of.least), {"shift", bit}},
               .stencil = at_level(first_level)},
              true);
    }
    const auto result = [&](int query) { return engine_.queries_[static_cast<std::size_t>(query)].result(); };
    Sum sum;
    const auto add = [&sum](std::uint64_t count, unsigned shift) {
        const auto low = count << shift;
        sum.low += low;
        sum.high += static_cast<std::int64_t>(shift == 0 ? 0 : count >> (64U - shift)) + (sum.low < low ? 1 : 0);
    };
    const auto n = result(0);
    for (int bit = 0; bit < bits; ++bit) add(result(bit + 1), static_cast<unsigned>(bit));
    for (unsigned bit = 0; bit < 64; ++bit) {
        if ((of.least >> bit & 1U) != 0) add(n, bit);
    }
    queries_used_ = 0;
    remove_bias(sum, of.type, n);
    return sum;
}

}  // namespace quadmill::detail::query
