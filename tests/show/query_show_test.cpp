#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/error.hpp"
#include "query/table/cells.hpp"
#include "query_view/explorer.hpp"
#include "show/query_page.hpp"

using namespace quadmill;
using namespace quadmill::detail;
using namespace quadmill::detail::show;

namespace {

const std::vector<QueryEngine> query_engines{QueryEngine::Depth, QueryEngine::Bitmap};
const std::vector<Size> sizes{{640, 480}, {1280, 800}, {1920, 1080}, {640, 800}};

Context& own_context() {
    static auto opened = Context::headless();
    return opened;
}

// Keys of all widths, for one plane and two; NULLs, NaN, -0, infinities.
Table odd_table(std::size_t rows) {
    std::vector<std::int32_t> a(rows);
    std::vector<float> f(rows);
    std::vector<double> d(rows);
    std::vector<std::string> t(rows);
    std::vector<bool> valid(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        const auto mixed = static_cast<std::uint32_t>(i * 2654435761U);
        a[i] = static_cast<std::int32_t>(mixed % 100);
        f[i] = i % 97 == 0   ? std::nanf("")
               : i % 89 == 0 ? std::numeric_limits<float>::infinity()
               : i % 83 == 0 ? -0.0F
                             : static_cast<float>(mixed) / 4e9F - 0.5F;
        d[i] = std::ldexp(static_cast<double>(mixed) - 2e9, static_cast<int>(mixed % 60) - 30);
        t[i] = std::string(1, static_cast<char>('a' + mixed % 7));
        valid[i] = i % 11 != 0;
    }
    Table table;
    table.add("a", std::move(a)).add("f", std::move(f)).add("d", std::move(d), valid).add("t", t);
    return table.add("b", std::vector<std::uint32_t>(rows, 40), valid);
}

std::vector<Predicate> conditions() {
    const auto a = column("a"), f = column("f"), d = column("d"), t = column("t"), b = column("b");
    return {a >= 30,
            a.between(20, 60),
            !a.between(20, 60),
            f > 0.25,
            f.between(-0.25, 0.25) && a<50, d.between(-1e6, 1e3), d> 0 || (a == 7 && f < 0),
            a.in({1, 2, 3, 50}) && t >= "c",
            a < b,
            Predicate::linear({{2, "a"}, {100, "f"}}, Comparison::Less, 60) && d.between(-1e9, 1e9),
            b.is_null(),
            Predicate::always(true),
            Predicate::always(false)};
}

std::uint64_t number(const std::vector<bool>& rows) {
    return static_cast<std::uint64_t>(std::count(rows.begin(), rows.end(), true));
}

// Whether the depths that were read back are codes of the content that the engine reported.
bool depths_are_of(const WatchedQuery& query, const QueryStep& step) {
    const auto& data = *detail::Access::of(query.table);
    const auto& [column, less, planes, plane] = step.content.value();
    if (less) return true;
    const query::Cells cells(data, column);
    for (std::size_t row = 0; row < data.rows; ++row) {
        const auto code = !cells.has_value(row) ? planes.null_code
                          : planes.runs.empty() ? planes.code(cells.key(row), plane)
                                                : planes.codes(cells.key(row), cells.key(row))->first;
        if (step.depth[row] != code) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("a watched query shows what the engine did: its counts equal the CPU engine's, row by row") {
    for (const std::size_t rows : {1U, 1000U, 16385U}) {
        const auto table = odd_table(rows);
        QueryProcessor cpu;
        QueryWatcher watcher(own_context(), table);
        for (const auto& where : conditions()) {
            for (const auto engine : query_engines) {
                const auto query = watcher.watch(where, engine);
                CAPTURE(rows);
                CAPTURE(query.condition);
                CAPTURE(static_cast<int>(engine));
                CHECK(query.count == cpu.count(table, where));
                std::uint64_t counted = 0;
                for (std::size_t i = 1; i < query.steps.size(); ++i) {
                    const auto& step = query.steps[i];
                    CAPTURE(i);
                    CAPTURE(step.name);
                    if (step.is_load()) CHECK(depths_are_of(query, step));
                    if (!step.counted) continue;
                    CHECK(number(step.passed) == *step.counted);
                    counted += *step.counted;
                }
                if (query.steps.size() > 1) CHECK(counted == query.count);
            }
        }
    }
}

TEST_CASE("depths belong to the column that the engine reports, and represent its values") {
    QueryWatcher watcher(own_context(), odd_table(500));
    const auto query = watcher.watch(column("a").between(20, 60) && column("f") > 0.25, QueryEngine::Depth);
    std::vector<std::size_t> loaded;
    for (const auto& step : query.steps) {
        if (step.is_load()) loaded.push_back(step.content->column);
    }
    REQUIRE(loaded.size() >= 2);
    CHECK(loaded.front() == 0);
    CHECK(loaded.back() == 1);
    // A range with two ends is one test of the stored depth where the driver has that.
    const auto compared = [](const WatchedQuery& of) {
        std::size_t count = 0;
        for (const auto& step : of.steps) {
            if (step.name != "at least" || step.content->column != 0) continue;
            ++count;
            CHECK(std::get<std::int64_t>(value_at(of, *step.content, *step.drawn).value()) == 20);
        }
        return count;
    };
    const bool at_once = std::ranges::any_of(query.steps, [](const auto& step) { return step.name == "within"; });
    CHECK(compared(query) == (at_once ? 0 : 1));
    CHECK(compared(watcher.watch(column("a") >= 20, QueryEngine::Depth)) == 1);
}

TEST_CASE("queries that cannot be shown are refused") {
    CHECK_THROWS_AS(QueryWatcher(own_context(), Table()), InvalidArgument);
    CHECK_THROWS_AS(QueryWatcher(own_context(), odd_table(QueryWatcher::max_rows + 1)), InvalidArgument);
    QueryWatcher watcher(own_context(), odd_table(10));
    CHECK_THROWS_AS(static_cast<void>(watcher.watch(column("a") > 1, QueryEngine::Cpu)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(watcher.watch(column("z") > 1, QueryEngine::Depth)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(range_of(watcher.table(), "t")), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(range_of(watcher.table(), "z")), InvalidArgument);
}

TEST_CASE("no text of a query's picture is cut off, and the same query makes the same picture") {
    const auto table = odd_table(300);
    QueryWatcher watcher(own_context(), table);
    for (const auto& where : conditions()) {
        for (const auto engine : query_engines) {
            const auto query = watcher.watch(where, engine);
            CAPTURE(query.condition);
            CHECK_FALSE(query_sheet(query).clipped());
            for (std::size_t step = 0; step < query.steps.size(); ++step) {
                CAPTURE(step);
                CAPTURE(explain(query, step));
                const auto& size = sizes[step % 3 == 1 ? 1 : 0];
                CHECK_FALSE(draw_query(query, {step, "a", "f"}, size).clipped());
            }
        }
    }
    const auto draw = [&] {
        QueryWatcher other(own_context(), table);
        return png(draw_query(other.watch(column("a") >= 30, QueryEngine::Depth), {1, "a", "f"}, sizes[0]));
    };
    CHECK(draw() == draw());
}

TEST_CASE("an explorer's query follows from its rectangle and thresholds") {
    QueryProcessor cpu;
    for (const auto engine : query_engines) {
        demo::Explorer explorer(own_context(), demo::make_houses(2000, 7), {}, engine);
        CAPTURE(static_cast<int>(engine));
        const auto check = [&] {
            CAPTURE(explorer.query().condition);
            CHECK(explorer.query().count == cpu.count(explorer.table(), explorer.condition()));
            for (const auto& size : sizes) CHECK_FALSE(explorer.draw(size).clipped());
        };
        check();
        explorer.go_to(100);
        explorer.sweep_rectangle(0.1, 0.2, 0.3);
        CHECK(explorer.at_end());
        check();
        explorer.set_threshold(0, 1990);
        explorer.set_threshold(1, 12.34);
        check();
        explorer.set_rectangle({});
        check();
        for (std::size_t i = 0; i < 2; ++i) {
            const auto& threshold = explorer.thresholds()[i];
            const bool min = threshold.keeps == demo::Explorer::Threshold::Keeps::AtLeast;
            explorer.set_threshold(i, min ? threshold.range.low : threshold.range.high);
        }
        CHECK(explorer.query().count == 2000);
        check();
        explorer.set_axes({"distance", "year"});
        check();
        CHECK_THROWS_AS(explorer.set_axes({"nothing", "year"}), InvalidArgument);
    }
}

TEST_CASE("a position in the picture gives the values that are drawn there, or a pass of the strip") {
    demo::Explorer explorer(own_context(), demo::make_houses(500, 1), {}, QueryEngine::Depth);
    for (const auto& size : sizes) {
        const auto plot = scatter_box(size);
        const auto low = scatter_values(explorer.table(), explorer.view(), size, plot.x, plot.bottom());
        const auto high = scatter_values(explorer.table(), explorer.view(), size, plot.right(), plot.y);
        const auto area = range_of(explorer.table(), "area"), price = range_of(explorer.table(), "price");
        CHECK(low[0] <= area.low);
        CHECK(high[0] >= area.high);
        CHECK(low[1] <= price.low);
        CHECK(high[1] >= price.high);
        const auto place = [&](int x) { return step_at(explorer.query(), explorer.view(), size, x, size.height - 60); };
        CHECK(place(20) == 0);
        CHECK(place(size.width + 1) == std::nullopt);
    }
}
