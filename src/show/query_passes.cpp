#include "show/query_passes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <variant>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "query/gpu/depth_codes.hpp"
#include "query/plan/describe.hpp"
#include "query/table/cells.hpp"
#include "show/parts.hpp"

namespace quadmill::detail::show {

namespace {

bool holds(gl::Compare compare, std::uint32_t incoming, std::uint32_t stored) {
    using gl::Compare;
    switch (compare) {
        case Compare::Never:
            return false;
        case Compare::Less:
            return incoming < stored;
        case Compare::Equal:
            return incoming == stored;
        case Compare::LessOrEqual:
            return incoming <= stored;
        case Compare::Greater:
            return incoming > stored;
        case Compare::NotEqual:
            return incoming != stored;
        case Compare::GreaterOrEqual:
            return incoming >= stored;
        case Compare::Always:
            break;
    }
    return true;
}

std::uint64_t word(const gl::Pass& pass, std::string_view uniform) {
    const auto& value = pass.uniforms[uniform];
    if (const auto* two = std::get_if<glm::uvec2>(&value)) return two->x | std::uint64_t{two->y} << 32U;
    if (const auto* one = std::get_if<unsigned>(&value)) return *one;
    return static_cast<std::uint64_t>(std::get<int>(value));
}

class Watcher : public PassObserver {
  public:
    Watcher(Context& context, WatchedQuery& query, std::optional<DepthContent>& content)
        : device_(*detail::Access::of(context)), query_(query), content_(content) {}

    void after(const PassEvent& pass) override {
        auto step = query_.steps.back();  // what a pass leaves alone is there still
        step.name = pass.name;
        step.depth_test = pass.pass ? pass.pass->depth : std::nullopt;
        step.stencil_test = pass.pass ? pass.pass->stencil : std::nullopt;
        step.passed.clear();
        step.bounds.reset();
        step.drawn.reset();
        step.counted.reset();
        if (pass.format == "DEPTH32F_STENCIL8") {
            after_test(pass, step);
        } else if (pass.format == "R32UI") {
            step.passed = step.selected = read_bits(pass);
        } else {
            after_fold(pass, step);
        }
        query_.steps.push_back(std::move(step));
    }

  private:
    [[nodiscard]] const QueryStep& before() const { return query_.steps.back(); }

    void after_test(const PassEvent& pass, QueryStep& step) {
        query_.texture_width = pass.width;
        read_surface(pass, step);
        if (step.is_load()) content_ = step.content = content_of(*pass.pass, step);
        if (!step.content) step.content = content_;  // of the query before
        if (step.is_load()) return note_level(step);
        if (pass.pass->depth_bounds) {
            const auto& bounds = *pass.pass->depth_bounds;
            step.bounds = {query::code_of(bounds[0]), query::code_of(bounds[1])};
        } else if (step.depth_test && !pass.pass->inputs[0]) {
            step.drawn = static_cast<std::uint32_t>(word(*pass.pass, "code"));
        }
        if (pass.pass->count_samples) step.counted = pass.pass->count_samples->result();
        if (!step.stencil_test) {
            step.passed = passed_depth(step);
        } else if (step.stencil_test->pass_if != gl::Compare::Always) {
            step.passed = changed(step);
        } else if (step.stencil_test->on_depth_fail != gl::StencilOp::Keep) {  // it says of each row whether it passed
            for (const auto stencil : step.stencil) step.passed.push_back(stencil == step.stencil_test->reference);
        }
        note_level(step);
    }

    // A pixel of the depth buffer is a row, line after line.
    void read_surface(const PassEvent& pass, QueryStep& step) const {
        struct Texel {
            float depth;
            std::uint32_t stencil;
        };
        const auto bytes = gl::read_target(device_, pass);
        step.depth.resize(query_.rows());
        step.stencil.resize(query_.rows());
        for (std::size_t i = 0; i < query_.rows(); ++i) {
            Texel texel{};
            std::memcpy(&texel, bytes.data() + i * sizeof texel, sizeof texel);
            step.depth[i] = query::code_of(texel.depth);
            step.stencil[i] = static_cast<std::uint8_t>(texel.stencil);
        }
    }

    [[nodiscard]] std::vector<bool> read_bits(const PassEvent& pass) const {
        const auto bytes = gl::read_target(device_, pass);
        query_.texture_width = 32 * pass.width;
        std::vector<bool> bits(query_.rows());
        for (std::size_t i = 0; i < bits.size(); ++i)
            bits[i] = (std::to_integer<unsigned>(bytes[i / 8]) >> (i % 8) & 1U) != 0;
        return bits;
    }
    [[nodiscard]] std::vector<bool> read_bits(const gl::Texture& selection) const {
        PassEvent as_target;
        as_target.target = selection.id();
        as_target.width = selection.width();
        as_target.height = selection.height();
        as_target.format = gl::info(selection.format()).name;
        return read_bits(as_target);
    }

    // Partial results, of which the last one is the count.
    void after_fold(const PassEvent& pass, QueryStep& step) const {
        if (pass.name == "count") step.selected = read_bits(*pass.pass->inputs[0]);
        step.passed = step.selected;
        if (pass.width != 1 || pass.height != 1) return;
        std::uint32_t count = 0;
        std::memcpy(&count, gl::read_target(device_, pass).data(), sizeof count);
        step.counted = count;
    }

    // Which column it is, is what its depths say.
    [[nodiscard]] std::optional<DepthContent> content_of(const gl::Pass& pass, const QueryStep& step) const {
        if (pass.name != "to depth") return {};  // a difference of two
        const auto shift = static_cast<int>(word(pass, "shift"));
        const auto& data = *detail::Access::of(query_.table);
        for (std::size_t i = 0; i < data.columns.size(); ++i) {
            const query::Cells cells(data, i);
            const auto planes = query::DepthPlanes::of(*data.columns[i], 0, data.rows);
            const int plane = planes.planes - 1 - (planes.bits > 0 ? shift / planes.bits : 0);
            if (plane < 0) continue;
            const auto is_there = [&](std::size_t row) {
                if (!cells.has_value(row)) return step.depth[row] == planes.null_code;
                const auto key = cells.key(row);
                return step.depth[row] ==
                       (planes.runs.empty() ? planes.code(key, plane) : planes.codes(key, key)->first);
            };
            std::size_t row = 0;
            while (row < data.rows && is_there(row)) ++row;
            if (row == data.rows) return DepthContent{i, planes, plane};
        }
        return {};
    }

    // Where a test of the stencil passes, it writes.
    [[nodiscard]] std::vector<bool> changed(const QueryStep& step) const {
        const auto cleared = static_cast<std::uint8_t>(step.stencil_test->reference & query::level_bits);
        std::vector<bool> rows(query_.rows());
        for (std::size_t i = 0; i < rows.size(); ++i)
            rows[i] = step.stencil[i] != (before().stencil.empty() ? cleared : before().stencil[i]);
        return rows;
    }

    [[nodiscard]] std::vector<bool> passed_depth(const QueryStep& step) const {
        std::vector<bool> rows(query_.rows(), true);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (step.bounds) rows[i] = step.depth[i] >= (*step.bounds)[0] && step.depth[i] <= (*step.bounds)[1];
            if (step.depth_test) rows[i] = holds(step.depth_test->pass_if, step.drawn.value_or(0), step.depth[i]);
        }
        return rows;
    }

    void note_level(QueryStep& step) const {
        step.level = 0;
        if (step.stencil_test)
            query_.flags |= static_cast<std::uint8_t>(step.stencil_test->written & ~query::level_bits);
        if (step.stencil_test && step.stencil_test->on_depth_fail == gl::StencilOp::Zero) {  // a first clause
            query_.levels = std::max<int>(query_.levels, step.stencil_test->reference);
            step.level = step.stencil_test->reference - 1;
            return;
        }
        if (!step.stencil_test || step.stencil_test->pass_if == gl::Compare::Always) return;
        step.level = step.stencil_test->reference & query::level_bits;
        if (step.stencil_test->on_pass == gl::StencilOp::Increment)
            query_.levels = std::max(query_.levels, step.level + 1);
    }

    gl::Device& device_;
    WatchedQuery& query_;
    std::optional<DepthContent>& content_;
};

}  // namespace

std::optional<Value> value_at(const WatchedQuery& query, const DepthContent& content, std::uint32_t code) {
    if (!content.whole() || code >= content.codes()) return {};
    return query::value_of(*detail::Access::of(query.table), content.column, content.planes.key(code));
}

QueryWatcher::QueryWatcher(Context context, Table table) : context_(std::move(context)), table_(std::move(table)) {
    if (table_.rows() == 0 || table_.rows() > most_rows)
        throw InvalidArgument("show: a table of " + std::to_string(table_.rows()) + " rows; from 1 to " +
                              std::to_string(most_rows) + " are shown");
}

QueryProcessor& QueryWatcher::processor(QueryEngine engine) {
    if (engine != QueryEngine::Depth && engine != QueryEngine::Bitmap)
        throw InvalidArgument("show: the passes of a query are those of QueryEngine::Depth or Bitmap");
    auto& kept = engine == QueryEngine::Depth ? depth_ : bitmap_;
    return kept ? *kept : kept.emplace(context_, QueryOptions{.engine = engine});
}

WatchedQuery QueryWatcher::watch(const Predicate& where, QueryEngine engine) {
    auto& by = processor(engine);
    WatchedQuery query{.table = table_,
                       .condition = query::describe(detail::Access::of(where)),
                       .renderer = context_.info().renderer,
                       .engine = engine,
                       .steps = {}};
    query.steps.emplace_back().name = "rows";
    Watcher watcher(context_, query, content_);
    const Observing observing(context_, watcher);
    query.count = by.count(table_, where);
    // Passes between clauses are of the next one, those after the last one of the answer.
    int level = query.levels;
    for (auto step = query.steps.rbegin(); step + 1 != query.steps.rend(); ++step) {
        if (step->level == 0) step->level = level;
        level = step->level;
    }
    return query;
}

}  // namespace quadmill::detail::show
