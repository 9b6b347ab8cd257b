// The engines that a test program runs: the CPU's or, with QUADMILL_TEST_GL, those of the graphics pipeline, each with
// its own context and session.
#pragma once

#include "query/cpu/cpu_engine.hpp"
#ifdef QUADMILL_TEST_GL
#include <vector>

#include "gl/device.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/depth_engine.hpp"
#endif

namespace quadmill::test {

#ifdef QUADMILL_TEST_GL
// `max_rows` is the size of a part of a table.
template <class Engine, std::size_t max_rows = ~std::size_t{0}>
class InContext {
  public:
    explicit InContext(unsigned threads)
        : context_(Context::headless()),
          scope_(*detail::Access::of(context_), "test"),
          engine_(*detail::Access::of(context_), threads, max_rows) {}
    [[nodiscard]] auto open(const std::shared_ptr<const detail::query::TableData>& table,
                            std::span<const std::size_t> columns) {
        return engine_.open(table, columns);
    }

  private:
    Context context_;
    detail::gl::Scope scope_;
    Engine engine_;
};
// The engines that the context's version of OpenGL has.
inline std::vector<QueryEngine> gpu_engines(const Context& context) {
    if (!detail::Access::of(context)->features.exact_depths) return {QueryEngine::Bitmap};
    return {QueryEngine::Bitmap, QueryEngine::Depth};
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a list of types, for TEST_CASE_TEMPLATE
#define ENGINES                                                                    \
    quadmill::test::InContext<quadmill::detail::query::BitmapEngine>,              \
        quadmill::test::InContext<quadmill::detail::query::DepthEngine>,           \
        quadmill::test::InContext<quadmill::detail::query::BitmapEngine, 100'000>, \
        quadmill::test::InContext<quadmill::detail::query::DepthEngine, 100'000>
#else
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define ENGINES quadmill::detail::query::CpuEngine
#endif

// Whether it accepts conditions in clauses.
template <class Engine>
inline constexpr bool has_conjunction = false;
#ifdef QUADMILL_TEST_GL
template <class Engine, std::size_t max_rows>
inline constexpr bool has_conjunction<InContext<Engine, max_rows>> = true;
#endif

}  // namespace quadmill::test
