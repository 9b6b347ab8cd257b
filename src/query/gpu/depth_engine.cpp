#include "query/gpu/depth_engine.hpp"

#include <algorithm>
#include <bit>
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

DepthEngine::DepthEngine(gl::Device& device, unsigned threads, std::size_t most_rows)
    : tables_(device, threads),
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

std::string DepthColumns::prelude(ColumnType type) const {
    return keys_prelude(type, bitmap_.shape().words) + shaders::query_shifted_glsl + shaders::query_depth_glsl;
}

DepthPlanes DepthColumns::planes_of(std::size_t i) const {
    return DepthPlanes::of(column(i).least, column(i).most);
}

std::optional<DepthPlanes> DepthColumns::planes_of(const Pair& pair) const {
    const auto &a = column(pair.a), &b = column(pair.b);
    if (pair.as != Pair::As::Keys || std::max(a.most, b.most) > most_number(a.type)) return {};
    const auto planes = DepthPlanes::of(std::min(a.least, b.least), std::max(a.most, b.most));
    if (planes.planes > 1) return {};
    return planes;
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

std::uint64_t DepthColumns::counted() {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < queries_used_; ++i) sum += engine_.queries_[i].result();
    queries_used_ = 0;
    return sum;
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

void DepthColumns::load(std::size_t i, const DepthPlanes& planes, int plane) {
    const auto& known = bitmap_.column(i);
    if (surface_->column.lock() == known && surface_->base == planes.base && surface_->plane == plane) return;
    const auto& program = programs_.get(
        "query/to_depth.frag", {shaders::query_at_depth_vert, shaders::query_to_depth_frag}, prelude(known->type));
    surface_->column.reset();  // should the pass fail
    issue({.name = "to depth",
           .program = &program,
           .inputs = {&known->keys, &texture(*known->valid)},
           .uniforms = {key_uniform("base", known->type, planes.base),
                        {"shift", planes.shift(plane)},
                        {"mask", planes.mask()},
                        {"null_code", planes.null_code}},
           .depth = gl::DepthTest{.pass_if = Compare::Always, .write = gl::DepthWrite::On}},
          false);
    surface_->column = known;
    surface_->base = planes.base;
    surface_->plane = plane;
}

void DepthColumns::copy_to_depth(std::size_t i) {
    forget_depth();
    const auto planes = planes_of(i);
    for (int plane = 0; plane < planes.planes; ++plane) load(i, planes, plane);
}

void DepthColumns::range(const Range& asked, int level, bool count) {
    const auto& of = column(asked.column);
    const Range range{asked.column, std::max(asked.low, of.least), std::min(asked.high, of.most)};
    if (range.low > range.high) return;
    const auto planes = planes_of(range.column);
    if (planes.planes > 1) return range_in_planes(range, planes, level, count);
    const bool from_below = range.low > of.least, from_above = range.high < of.most || has_nulls(range.column);
    const auto stencil = level > 0 ? std::optional(at_level(level, StencilOp::Increment)) : std::nullopt;
    if (!from_below && !from_above) return test("all", {.stencil = stencil}, count);
    load(range.column, planes, 0);
    const auto low = planes.code(range.low, 0), high = planes.code(range.high, 0);
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
        load(i, planes, plane);
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

void DepthColumns::pair(const Pair& pair, const DepthPlanes& planes, int level, bool count) {
    const auto& b = column(pair.b);
    const auto valid = bitmap_.all_valid(std::array{pair.a, pair.b});
    load(pair.a, planes, 0);
    const auto& program = programs_.get("query/at_column.frag",
                                        {shaders::query_at_depth_vert, shaders::query_at_column_frag}, prelude(b.type));
    issue({.name = "meet column",
           .program = &program,
           .inputs = {&b.keys, &texture(*valid)},
           .uniforms = {key_uniform("base", b.type, planes.base)},
           .depth = gl::DepthTest{.pass_if = stored_op_drawn(pair.op, pair.negate)},
           .stencil = at_level(level, StencilOp::Increment)},
          count);
}

void DepthColumns::selected(const Bits& bits, int level, bool count) {
    const auto& program =
        programs_.get("query/at_selected.frag", {shaders::query_at_depth_vert, shaders::query_at_selected_frag});
    issue({.name = "selected",
           .program = &program,
           .inputs = {&texture(bits)},
           .stencil = at_level(level, StencilOp::Increment)},
          count);
}

void DepthColumns::literal(const Leaf& leaf, int level, bool count) {
    if (const auto* asked = std::get_if<Range>(&leaf)) {
        if (!asked->negate) return range(*asked, level, count);
        // Neither has a NULL, and no row has both.
        if (asked->low > 0) range({asked->column, 0, asked->low - 1}, level, count);
        if (asked->high < ~Key{0}) range({asked->column, asked->high + 1, ~Key{0}}, level, count);
        return;
    }
    if (const auto* both = std::get_if<Pair>(&leaf)) {
        if (const auto planes = planes_of(*both)) return pair(*both, *planes, level, count);
    }
    selected(*bitmap_.leaf(leaf), level, count);
}

bool DepthColumns::one_test(const Range& range) const {
    if (planes_of(range.column).planes > 1) return false;
    if (device_.features.depth_bounds) return true;
    const auto& of = column(range.column);
    return range.low <= of.least || (range.high >= of.most && !has_nulls(range.column));
}

// Whether depth alone says which rows they are.
bool DepthColumns::one_test(std::span<const std::vector<Leaf>> clauses) const {
    if (clauses.size() != 1 || clauses[0].size() != 1) return false;
    const auto* range = std::get_if<Range>(&clauses[0][0]);
    if (!range) return false;
    if (!range->negate) return one_test(*range);
    return (range->low == 0 || one_test({range->column, 0, range->low - 1})) &&
           (range->high == ~Key{0} || one_test({range->column, range->high + 1, ~Key{0}}));
}

bool DepthColumns::start_with(const std::vector<Leaf>& clause) {
    const auto* range = clause.size() == 1 ? std::get_if<Range>(&clause.front()) : nullptr;
    if (!range || range->negate || planes_of(range->column).planes > 1) return false;
    const auto& of = column(range->column);
    const bool from_below = range->low > of.least, from_above = range->high < of.most || has_nulls(range->column);
    if (from_below == from_above || range->low > of.most || range->high < of.least) return false;
    const auto planes = planes_of(range->column);
    load(range->column, planes, 0);
    queries_used_ = 0;
    test("first clause", {.code = planes.code(from_below ? range->low : std::min(range->high, of.most), 0),
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

std::optional<std::uint64_t> DepthColumns::count_conjunction(const Clauses& clauses) {
    if (clauses.empty()) return bitmap_.shape().rows;
    if (clauses.size() > most_clauses) return count(*conjunction(clauses));
    if (one_test(clauses)) {
        queries_used_ = 0;
        literal(clauses[0][0], 0, true);
    } else {
        run(clauses, true);
    }
    return counted();
}

BitsPtr DepthColumns::leaf(const Leaf& leaf) {
    const auto* both = std::get_if<Pair>(&leaf);
    if (!std::holds_alternative<Range>(leaf) && !(both && planes_of(*both))) return bitmap_.leaf(leaf);
    return conjunction({{leaf}});
}

// 'Query Processing on GPUs', k-th largest, bit by bit from the top; here the k-th smallest, which needs no count of the
// rows beforehand: a bit is set when at most k values are smaller than the one with it.
Key DepthColumns::kth(std::size_t i, std::uint64_t k, const Bits& rows) {
    const auto planes = planes_of(i);
    if (planes.width == 0) return planes.base;
    const auto found = std::string(shaders::query_shifted_glsl) + shaders::query_found_bits_glsl;
    const auto vertex = found + shaders::query_at_next_bit_vert;
    const auto& program = programs_.get("query/at_next_bit.vert", {vertex.c_str(), shaders::query_nothing_frag});
    const auto width = static_cast<std::size_t>(planes.width);
    if (engine_.counts_.size() < width) engine_.counts_ = gl::CountList(device_, width);
    queries_used_ = 0;
    for (int known = 0, plane = -1; known < planes.width; ++known) {
        const int next = planes.plane_of_bit(planes.width - 1 - known);
        if (std::exchange(plane, next) != next) load_found(i, planes, plane, known, static_cast<unsigned>(k), rows);
        issue({.name = "next bit",
               .program = &program,
               .counts = &engine_.counts_,
               .uniforms = {{"bits", planes.width},
                            {"known", known},
                            {"shift", planes.shift(plane)},
                            {"mask", planes.mask()},
                            {"k", static_cast<unsigned>(k)}},
               .depth = gl::DepthTest{.pass_if = fewer}},
              true);
        engine_.counts_.note(static_cast<std::size_t>(known), engine_.queries_[queries_used_ - 1]);
    }
    queries_used_ = 0;
    const auto counts = engine_.counts_.read();
    Key value = 0;
    for (std::size_t bit = 0; bit < width; ++bit) value = value << 1U | Key{counts[bit] <= k ? 1U : 0U};
    return planes.base + value;
}

void DepthColumns::load_found(std::size_t i, const DepthPlanes& planes, int plane, int known, std::uint32_t k,
                              const Bits& rows) {
    if (planes.planes == 1 && &rows == bitmap_.all().get()) return load(i, planes, 0);
    const auto& of = bitmap_.column(i);
    const auto vertex =
        std::string(shaders::query_shifted_glsl) + shaders::query_found_bits_glsl + shaders::query_found_prefix_vert;
    const auto& program =
        programs_.get("query/found_plane.frag", {vertex.c_str(), shaders::query_found_plane_frag}, prelude(of->type));
    forget_depth();
    issue({.name = "plane to depth",
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
           .depth = gl::DepthTest{.pass_if = Compare::Always, .write = gl::DepthWrite::On}},
          false);
}

Sum DepthColumns::sum(std::size_t i, const Bits& rows) {
    const auto& of = column(i);
    if (of.type == ColumnType::F32 || of.type == ColumnType::F64) return bitmap_.sum(i, rows);
    const auto& program = programs_.get("query/at_bit.frag", {shaders::query_at_depth_vert, shaders::query_at_bit_frag},
                                        prelude(of.type));
    start(first_level - 1);
    selected(rows, first_level - 1, true);  // how many there are
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
