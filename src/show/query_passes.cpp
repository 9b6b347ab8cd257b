#include "show/query_passes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gl/device.hpp"
#include "gl/observing.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "query/plan/describe.hpp"
#include "query/table/cells.hpp"

namespace quadmill::detail::show {

namespace {

using query::QueryNote;
using Act = QueryNote::Act;

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

// The note is valid only during the call, so its content is copied.
DepthContent content_of(const query::DepthHolds& holds) {
    return {holds.column, holds.less, holds.planes ? *holds.planes : query::DepthPlanes{}, holds.plane};
}

class Watcher : public PassObserver {
  public:
    Watcher(Context& context, WatchedQuery& query, std::optional<DepthContent>& content)
        : device_(*detail::Access::of(context)), query_(query), content_(content) {}

    void after(const PassEvent& pass) override {
        const auto* note = gl::note_of<QueryNote>(pass);
        if (!note) return;
        auto step = query_.steps.back();  // buffers that a pass does not change keep their content
        step.name = pass.name;
        step.act = note->act;
        step.depth_test = pass.pass->depth;
        step.stencil_test = pass.pass->stencil;
        step.bounds = note->bounds;
        step.drawn = note->code;
        step.level = note->clause;
        step.passed.clear();
        step.counted.reset();
        if (step.is_load() || step.is_test()) {
            after_test(pass, *note, step);
        } else if (note->act == Act::Count || note->act == Act::AddUp) {
            after_fold(pass, *note, step);
        } else {
            query_.texture_width = 32 * pass.width;
            step.passed = step.selected = bits_of(gl::read_target(device_, pass));
        }
        query_.steps.push_back(std::move(step));
    }

  private:
    [[nodiscard]] const QueryStep& before() const { return query_.steps.back(); }

    void after_test(const PassEvent& pass, const QueryNote& note, QueryStep& step) {
        query_.texture_width = pass.width;
        read_surface(pass, step);
        if (step.is_load()) content_ = step.content = content_of(*note.depth);
        if (!step.content) step.content = content_;  // left by the previous query
        if (step.is_load()) return;
        if (pass.pass->count_samples) step.counted = pass.pass->count_samples->result();
        if (!step.stencil_test) {
            step.passed = passed_depth(step);
        } else if (step.stencil_test->pass_if != gl::Compare::Always) {
            step.passed = changed(step);
        } else if (step.stencil_test->on_depth_fail != gl::StencilOp::Keep) {  // tells for each row whether it passed
            for (const auto stencil : step.stencil) step.passed.push_back(stencil == step.stencil_test->reference);
        }
        if (step.stencil_test)
            query_.flags |= static_cast<std::uint8_t>(step.stencil_test->written & ~query::level_bits);
        if (step.level > 0) query_.levels = std::max(query_.levels, step.level + 1);
    }

    // A pixel of the depth buffer is a row of the table, line after line.
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

    [[nodiscard]] std::vector<bool> bits_of(const std::vector<std::byte>& selection) const {
        std::vector<bool> bits(query_.rows());
        for (std::size_t i = 0; i < bits.size(); ++i)
            bits[i] = (std::to_integer<unsigned>(selection[i / 8]) >> (i % 8) & 1U) != 0;
        return bits;
    }

    // Partial results; the last one is the count.
    void after_fold(const PassEvent& pass, const QueryNote& note, QueryStep& step) const {
        if (note.selection) step.selected = bits_of(gl::read_texels(device_, *note.selection));
        step.passed = step.selected;
        if (pass.width != 1 || pass.height != 1) return;
        std::uint32_t count = 0;
        std::memcpy(&count, gl::read_target(device_, pass).data(), sizeof count);
        step.counted = count;
    }

    // The rows whose stencil is written: those that pass the stencil test.
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

    gl::Device& device_;
    WatchedQuery& query_;
    std::optional<DepthContent>& content_;
};

}  // namespace

std::uint64_t QueryStep::rows_passed() const {
    return static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), true));
}

std::optional<Value> value_at(const WatchedQuery& query, const DepthContent& content, std::uint32_t code) {
    if (!content.whole() || code >= content.codes()) return {};
    return query::value_of(*detail::Access::of(query.table), content.column, content.planes.key(code));
}

QueryWatcher::QueryWatcher(Context context, Table table) : context_(std::move(context)), table_(std::move(table)) {
    if (table_.rows() == 0 || table_.rows() > max_rows)
        throw InvalidArgument("show: the table has " + std::to_string(table_.rows()) + " rows; tables of 1 to " +
                              std::to_string(max_rows) + " rows can be shown");
}

QueryProcessor& QueryWatcher::processor(QueryEngine engine) {
    if (engine != QueryEngine::Depth && engine != QueryEngine::Bitmap)
        throw InvalidArgument("show: the passes of a query are those of QueryEngine::Depth or Bitmap");
    auto& kept = engine == QueryEngine::Depth ? depth_ : bitmap_;
    return kept ? *kept : kept.emplace(context_, QueryOptions{.engine = engine});
}

WatchedQuery QueryWatcher::watch(const Predicate& where, QueryEngine engine) {
    if (engine == QueryEngine::Auto) {
        const bool has_depths = detail::Access::of(context_)->features.exact_depths;
        engine = has_depths ? QueryEngine::Depth : QueryEngine::Bitmap;
    }
    auto& by = processor(engine);
    WatchedQuery query{
        .table = table_, .condition = query::describe(detail::Access::of(where)), .engine = engine, .steps = {}};
    query.steps.emplace_back().name = "rows";
    Watcher watcher(context_, query, content_);
    const gl::Observing observing(context_, watcher);
    query.count = by.count(table_, where);
    // Passes between clauses belong to the next clause, those after the last one to the answer.
    int level = query.levels;
    for (auto step = query.steps.rbegin(); step + 1 != query.steps.rend(); ++step) {
        if (step->level == 0) step->level = level;
        level = step->level;
    }
    return query;
}

}  // namespace quadmill::detail::show
