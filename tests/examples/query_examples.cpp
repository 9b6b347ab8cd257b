// The examples of query.hpp, of the headers that it includes, and of the queries in docs/library.md, unchanged.
#include <doctest/doctest.h>

#include <quadmill/context.hpp>
#include <quadmill/query.hpp>
#include <utility>
#include <vector>

#include "gl/texels.hpp"

using namespace quadmill;  // NOLINT(google-build-using-namespace)

TEST_CASE("predicate.hpp: a condition") {
    Table table;
    table.add("a", std::vector<std::int32_t>{1, 4, 5}).add("b", std::vector<float>{2.5F, 3, 3});
    table.add("d", std::vector<std::int32_t>{4, 4, 3});
    const auto wanted = (column("a") > 3 || column("b") <= 2.5) && !column("d").in({1, 2, 3});
    CHECK(QueryProcessor().count(table, wanted) == 2);
}

TEST_CASE("query.hpp: a processor") {
    Table table;
    table.add("a", std::vector<std::int32_t>{3, 1, 2});
    QueryProcessor processor(Context::headless());
    const auto n = processor.count(table, column("a") >= 2);  // 2
    CHECK(n == 2);
}

TEST_CASE("query.hpp: pending counts") {
    Table table;
    table.add("a", std::vector<std::int32_t>{3, 1, 2});
    QueryProcessor processor(Context::headless());
    const auto low = processor.count_async(table, column("a") < 2);
    const auto high = processor.count_async(table, column("a") >= 2);
    // ... the CPU does other things ...
    const auto all = low.get() + high.get();
    CHECK(all == 3);
}

TEST_CASE("query.hpp: an index") {
    Table table;
    table.add("x", std::vector<float>{0.1F, 0.2F, 0.25F}).add("y", std::vector<float>{0, 0.25F, 0.75F});
    QueryProcessor processor(Context::headless(), {.engine = QueryEngine::Bitmap});
    processor.index(table, {"x", "y"});
    const auto inside = processor.count(table, column("x").between(0.1, 0.3) && column("y") < 0.5);
    CHECK(inside == 2);
}

TEST_CASE("library.md, query.hpp: queries with an index, and what it does for a plan") {
    Table table;
    table.add("x", std::vector<float>{0.1F, 0.2F, 0.25F}).add("y", std::vector<float>{0, 0.25F, 0.75F});
    table.add("z", std::vector<float>{-1, 1, 1});
    QueryProcessor processor(Context::headless(), {.engine = QueryEngine::Bitmap});
    processor.index(table, {"x", "y"});
    const auto inside = column("x").between(0.1, 0.3) && column("y") < 0.5;
    auto n = processor.count(table, inside);                                // tests only rows at the ranges' edges
    auto rows = processor.select(table, inside && column("z") > 0).rows();  // reads few rows, if the ranges have few
    CHECK(n == 2);
    CHECK(rows == std::vector<std::uint64_t>{1});
    const QueryPlan plan(Query{.outputs = {{.what = QueryAggregate{}, .name = "n"}}, .where = inside}, table.columns());
    const auto said =
        processor.explain(plan, table);  // "node 2: index of x and y counts, 4175 of 67108864 rows are read\n"
    CHECK(said == "node 2: index of x and y counts, 3 of 3 rows are read\n");
}

TEST_CASE("plan.hpp, query.hpp: a plan, and its result by column") {
    Table table;
    table.add("a", std::vector<std::int32_t>{3, 1, 2}).add("price", std::vector<double>{1.5, 2.5, 3.5});
    QueryProcessor processor;
    const Query query{.outputs = {{.what = "price", .name = {}}}, .where = column("a") > 1};
    const auto result = processor.run(QueryPlan(query, table.columns()), table);
    const auto price = result.column<double>("price").values;
    CHECK(price == std::vector<double>{1.5, 3.5});
}

TEST_CASE("query.hpp: a join") {
    Table orders, people;
    orders.add("person", std::vector<std::int32_t>{7, 8, 7});
    people.add("id", std::vector<std::int32_t>{8, 7});
    std::vector<std::pair<std::uint64_t, std::uint64_t>> printed;
    const auto print = [&](std::uint64_t order, std::uint64_t person) { printed.emplace_back(order, person); };
    QueryProcessor processor;
    processor.join(orders, people, {.left = "person", .right = "id"}, [&](std::span<const RowPair> pairs) {
        for (const auto& pair : pairs) print(pair.left, pair.right);
    });
    CHECK(printed == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 1}, {1, 0}, {2, 1}});
}

TEST_CASE("The library's page: queries") {
    auto context = Context::headless();
    const std::vector<double> prices{1, 5, 3, 4};
    const std::vector<std::string> cities{"Paris", "Rome", "Oslo", "Oslo"};
    constexpr std::size_t rows = 4;
    context.make_current();
    const auto made = [&] {
        const Session session(context);
        detail::gl::Texture depths(*detail::Access::of(context), detail::gl::Format::R32f, 2, 2);
        test::write_texels(*detail::Access::of(context), depths, std::vector<float>{0, 0.25F, 0.5F, 0.75F});
        return depths;
    }();
    const auto texture = made.id();
    // clang-format off
// Queries on columns in memory or in your textures; NULLs, exact comparisons, any boolean expression.
quadmill::Table table;
table.add("price", prices).add("city", cities).add_texture("depth", texture, quadmill::ColumnType::F32, rows);
using quadmill::column;
quadmill::QueryProcessor processor(context);      // or QueryProcessor() without OpenGL: the CPU answers
auto n = processor.count(table, column("price") > 2.5 && !column("city").in({"Paris", "Rome"}));
auto chosen = processor.select(table, column("depth").between(0.25, 0.75));   // stays on the GPU; has &, |, ~, rows()
auto third = processor.kth_largest(table, "price", 3, &chosen);
    // clang-format on
    CHECK(n == 2);
    CHECK(chosen.count() == 3);
    CHECK(std::get<double>(third) == 3);
}
