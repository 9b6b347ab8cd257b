// Plans: what they share, their text, and what they reject; and a run of each kind that SQL does not have.
#include "query/plan/plan.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "query/cpu/cpu_engine.hpp"
#include "query/run/executor.hpp"

using namespace quadmill;  // NOLINT(google-build-using-namespace)

namespace {

using Aggregated = QueryAggregate::Kind;

const std::vector<ColumnInfo> columns{
    {"a", ColumnType::I32}, {"b", ColumnType::F32}, {"k", ColumnType::I64}, {"t", ColumnType::Text}};
const std::vector<ColumnInfo> others{{"k", ColumnType::I32}, {"c", ColumnType::F64}, {"name", ColumnType::Text}};
const Output rows_counted{QueryAggregate{}, "n"};

template <class Work>
std::string refusal(const Work& work) {
    try {
        work();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) {
    INFO(text << " | " << part);
    CHECK(text.find(part) != std::string::npos);
    return text.find(part) != std::string::npos;
}

Table small_table() {
    Table table;
    const float not_a_number = std::numeric_limits<float>::quiet_NaN();
    table.add("a", std::vector<std::int32_t>{3, 1, 2, 3, 5, 1}, {true, true, true, true, false, true});
    table.add("b", std::vector<float>{0.5F, not_a_number, -0.0F, std::copysign(not_a_number, -1.0F), 0.0F, 2});
    table.add("k", std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
    table.add("t", std::vector<std::string>{"x", "y", "x", "z", "y", "x"});
    return table;
}

}  // namespace

TEST_CASE("a plan has each node once, whatever the order and the negations") {
    const auto big = column("a") > 3;
    const Query query{.outputs = {rows_counted, {std::string("a"), ""}, {QueryAggregate{}, "again"}},
                      .where = (big && column("b").is_null()) || !(!column("b").is_null() || !big),
                      .group_by = {"a"}};
    const QueryPlan plan(query, columns);
    CHECK(plan.text() ==
          "0: rows where a > 3\n"
          "1: rows where b is null\n"
          "2: and of 0, 1\n"
          "3: group by a of 2\n"
          "4: count(*) of 3\n"
          "5: column a of 3\n"
          "6: result n, a, again of 4, 5, 4\n");
}

TEST_CASE("the text of a plan") {
    const Query query{.outputs = {{QueryAggregate{.kind = Aggregated::Quantile, .column = "a", .phi = 0.25}, "low"}},
                      .where = !(column("t") == "it's \"x\"\n" || column("b") <= 0.1),
                      .limit = 3};
    const QueryPlan plan(query, columns);
    CHECK(plan.text() ==
          "0: rows where not (t = 'it''s \"x\"\\x0a')\n"
          "1: rows where not (b <= 0.1)\n"
          "2: and of 0, 1\n"
          "3: quantile(a, 0.25) of 2\n"
          "4: result low limit 3 of 3\n");
}

TEST_CASE("constants and columns with the same text are different") {
    const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
    const auto a = column("a");
    const Query query{.outputs = {rows_counted},
                      .where = a == nan || a == column("nan") || a == inf || a == column("inf") || a == -nan};
    const std::vector<ColumnInfo> named{{"a", ColumnType::F64}, {"nan", ColumnType::F64}, {"inf", ColumnType::F64}};
    has(QueryPlan(query, named).text(),
        "0: rows where a = nan\n"
        "1: rows where a = \"nan\"\n"
        "2: rows where a = inf\n"
        "3: rows where a = \"inf\"\n"
        "4: or of 0, 1, 2, 3\n");
}

TEST_CASE("in a join, conditions on one table are applied before it") {
    const Query query{.outputs = {{std::string("name"), ""}, {std::string("left.k"), ""}},
                      .where = column("a") > 1 && !(column("c") < 2.0 || column("b") > column("c")),
                      .join = Join{.left = "k", .right = "k", .band = 1.5}};
    const QueryPlan plan(query, columns, others);
    CHECK(plan.text() ==
          "0: rows where a > 1\n"
          "1: rows of table 1 where not (c < 2)\n"
          "2: join on |left.k - right.k| <= 1.5 of 0, 1\n"
          "3: pairs where not (left.b > right.c) of 2\n"
          "4: column right.name of 3\n"
          "5: column left.k of 3\n"
          "6: result name, left.k of 4, 5\n");
}

TEST_CASE("a query that cannot run is refused") {
    const auto planned = [](const Query& query) { return refusal([&] { QueryPlan(query, columns); }); };
    has(planned({.outputs = {}}), "at least one output");
    has(planned({.outputs = {{std::string("z"), ""}}}), "'z'");
    has(planned({.outputs = {rows_counted}, .where = column("z") > 1}), "'z'");
    has(planned({.outputs = {rows_counted}, .where = column("t") > 1}), "'t'");
    has(planned({.outputs = {rows_counted, {std::string("a"), ""}}}), "group_by");
    has(planned({.outputs = {{std::string("a"), ""}}, .group_by = {"b"}}), "'a'");
    has(planned({.outputs = {rows_counted}, .group_by = {"z"}}), "'z'");
    has(planned({.outputs = {{QueryAggregate{.kind = Aggregated::Sum, .column = "t"}, ""}}}), "text");
    has(planned({.outputs = {{QueryAggregate{.kind = Aggregated::Min}, ""}}}), "''");
    has(planned({.outputs = {{QueryAggregate{.kind = Aggregated::Quantile, .column = "a", .phi = 1.5}, ""}}}), "1.5");
    has(planned({.outputs = {{QueryAggregate{.kind = Aggregated::KthLargest, .column = "a", .k = 0}, ""}}}), "k must");
    has(planned({.outputs = {rows_counted}, .join = Join{"a", "k"}}), "both tables");
}

TEST_CASE("a join that cannot run is refused") {
    const auto joined = [](const Join& join, const std::string& output) {
        return refusal([&] { QueryPlan({.outputs = {{output, ""}}, .join = join}, columns, others); });
    };
    CHECK(joined({"k", "k"}, "a").empty());
    has(joined({"k", "k"}, "k"), "left.k or right.k");
    has(joined({"z", "k"}, "a"), "'z' in table 'left'");
    has(joined({"t", "k"}, "a"), "text");
    has(joined({.left = "k", .right = "k", .band = -1}, "a"), "band");
    has(joined({.left = "k", .right = "k", .band = std::nan("")}, "a"), "band");
    has(joined({.left = "t", .right = "name", .band = 1}, "a"), "band");
    has(joined({.left = "k", .right = "k", .left_name = "x", .right_name = "x"}, "a"), "two names");
    has(refusal([] { QueryPlan({.outputs = {rows_counted}}, columns, others); }), "no join");
}

TEST_CASE("sums of either sign beyond 64 bits are rounded in the same way in averages") {
    Table table;
    table.add("a", std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), -1025});
    table.add("b", std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), 1026});
    QueryProcessor processor;
    CHECK(processor.aggregate(table, {Aggregated::Average, "a"}) == Value(-0x1.0000000000001p+62));
    CHECK(processor.aggregate(table, {Aggregated::Average, "b"}) == Value(0x1.0000000000001p+62));
}

TEST_CASE("a Not leaves NULLs out, and nodes are measured") {
    QueryProcessor processor({.statistics = Statistics::ByNode});
    const auto answer = processor.run({.outputs = {rows_counted}, .where = !(column("a") >= 3)}, small_table());
    CHECK(answer.rows == std::vector<std::vector<Value>>{{std::int64_t{3}}});
    CHECK(answer.matched == 3);
    REQUIRE(!answer.nodes.empty());
    CHECK(answer.nodes.back().rows == 1);
}

TEST_CASE("one plan runs on one window of a stream after the other") {
    QueryProcessor processor;
    const QueryPlan plan(
        {.outputs = {{std::string("t"), ""}, rows_counted}, .where = column("a") > 1, .group_by = {"t"}}, columns);
    for (std::int32_t i = 0; i < 5; ++i) {
        Table window;
        // Each time another dictionary, and columns in another order.
        const std::string other(1, static_cast<char>('p' + i));
        window.add("t", std::vector<std::string>{other, "a", "a"});
        window.add("b", std::vector<float>(3)).add("k", std::vector<std::int64_t>(3));
        window.add("a", std::vector<std::int32_t>{2, i, 3});
        const auto answer = processor.run(plan, window);
        REQUIRE(answer.rows.size() == 2);
        CHECK(answer.rows[0] == std::vector<Value>{"a", std::int64_t{i > 1 ? 2 : 1}});
        CHECK(answer.rows[1] == std::vector<Value>{other, std::int64_t{1}});
    }
    Table lacking;
    lacking.add("a", std::vector<std::int32_t>{1});
    CHECK_THROWS_AS(processor.run(plan, lacking), InvalidArgument);
    lacking.add("t", std::vector<float>{1});
    CHECK_THROWS_AS(processor.run(plan, lacking), InvalidArgument);
}

TEST_CASE("output rows are passed on some at a time") {
    QueryProcessor processor;
    Table table;
    std::vector<std::int32_t> numbers(10'000);
    std::iota(numbers.begin(), numbers.end(), 0);
    table.add("a", numbers);
    Query query{.outputs = {{std::string("a"), "a"}}, .where = column("a") >= 100};
    const auto rows = [&](const QueryPlan& plan, const auto&... tables) {
        std::vector<std::vector<Value>> all;
        const auto result = processor.run(plan, tables..., [&](std::span<const std::vector<Value>> some) {
            CHECK(some.size() <= 4096);
            CHECK(!some.empty());
            all.insert(all.end(), some.begin(), some.end());
        });
        CHECK(result.rows.empty());
        CHECK(result.matched == 9900);
        return all;
    };
    CHECK(rows(QueryPlan(query, table.columns()), table) == processor.run(query, table).rows);
    query.limit = 5000;
    CHECK(rows(QueryPlan(query, table.columns()), table).size() == 5000);
    query.outputs = {{std::string("left.a"), "x"}};
    query.where = column("left.a") >= 100;
    query.join = Join{"a", "a"};
    CHECK(rows(QueryPlan(query, table.columns(), table.columns()), table, table).size() == 5000);
}

TEST_CASE("very many nodes take little time") {
    QueryProcessor processor;
    auto any = column("a") == 1;
    for (int i = 0; i < 3000; ++i) any = any || column("a") == 1000 + i;
    CHECK(processor.run({.outputs = {rows_counted}, .where = any}, small_table()).rows[0][0] == Value(std::int64_t{2}));
}

TEST_CASE("NaNs are one group, the last, and come last in every order") {
    QueryProcessor processor;
    const auto table = small_table();
    const auto answer = processor.run({.outputs = {{std::string("b"), ""}, rows_counted}, .group_by = {"b"}}, table);
    REQUIRE(answer.rows.size() == 4);
    const std::vector<double> values{0, 0.5, 2};
    for (std::size_t i = 0; i < 3; ++i) CHECK(answer.rows[i][0] == Value(values[i]));
    CHECK(std::isnan(std::get<double>(answer.rows[3][0])));
    CHECK(answer.rows[0][1] == Value(std::int64_t{2}));
    CHECK(answer.rows[3][1] == Value(std::int64_t{2}));
    CHECK(std::isnan(std::get<double>(processor.aggregate(table, {.kind = Aggregated::Max, .column = "b"}))));
    CHECK(processor.aggregate(table, {.kind = Aggregated::Min, .column = "b"}) == Value(0.0));
    CHECK(std::isnan(std::get<double>(processor.kth_largest(table, "b", 2))));
    CHECK(processor.kth_largest(table, "b", 3) == Value(2.0));
    CHECK(processor.kth_largest(table, "b", 7) == Value());
}

TEST_CASE("groups that an engine finds one by one equal the CPU's") {
    using namespace detail::query;  // NOLINT(google-build-using-namespace)
    const auto table = small_table();
    const Query query{.outputs = {{std::string("a"), ""},
                                  {std::string("b"), ""},
                                  rows_counted,
                                  {QueryAggregate{.kind = Aggregated::Sum, .column = "k"}, ""},
                                  {QueryAggregate{.kind = Aggregated::Max, .column = "t"}, ""}},
                      .where = column("k") > 1,
                      .group_by = {"a", "b"}};
    const QueryPlan plan(query, table.columns());
    CpuEngine engine;
    const auto run = [&](std::size_t max) {
        Tuning tuning;
        tuning.engine_groups = max;
        const RunTools tools{.engine = engine,
                             .cpu = engine,
                             .join = {.function = "test", .sort_with_index = {}, .tuning = tuning},
                             .in_memory = [](const auto& data, auto /*columns*/) { return data; }};
        return execute(detail::Access::of(plan), {detail::Access::of(table), nullptr}, tools);
    };
    const auto dealt = run(0);
    CHECK(dealt.rows.size() == 5);
    for (const auto max : {std::size_t{2}, std::size_t{64}}) {
        const auto found = run(max);
        REQUIRE(found.rows.size() == dealt.rows.size());
        for (std::size_t i = 0; i < found.rows.size(); ++i) {
            for (std::size_t c = 0; c < found.columns.size(); ++c) {
                const auto *x = std::get_if<double>(&found.rows[i][c]), *y = std::get_if<double>(&dealt.rows[i][c]);
                CHECK((found.rows[i][c] == dealt.rows[i][c] || (x && y && std::isnan(*x) && std::isnan(*y))));
            }
        }
    }
}

TEST_CASE("rows that several threads group give the same groups as one thread") {
    using namespace detail::query;  // NOLINT(google-build-using-namespace)
    constexpr std::size_t rows = 20'000;
    std::mt19937_64 random(23);
    std::vector<std::int32_t> a(rows);
    std::vector<double> b(rows), x(rows);
    std::vector<std::int64_t> k(rows);
    std::vector<bool> has_a(rows), has_k(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        a[i] = static_cast<std::int32_t>(random() % 7);
        b[i] = random() % 9 == 0 ? std::nan("") : static_cast<double>(random() % 300);
        x[i] = std::ldexp(static_cast<double>(random() % 1000) - 500, static_cast<int>(random() % 60) - 30);
        k[i] = static_cast<std::int64_t>(random() % 3 == 0 ? random() >> 24U : random() % 5) - 2;
        has_a[i] = random() % 11 != 0;
        has_k[i] = random() % 5 != 0;
    }
    Table table;
    table.add("a", a, has_a).add("b", b).add("x", x).add("k", k, has_k);
    const auto of = [](Aggregated kind, const char* name) { return QueryAggregate{.kind = kind, .column = name}; };
    auto median = of(Aggregated::Quantile, "k");
    median.phi = 0.5;
    CpuEngine engine;
    const auto run = [&](std::vector<std::string> by, std::size_t part, unsigned threads) {
        const Query query{.outputs = {{by[0], ""},
                                      rows_counted,
                                      {of(Aggregated::Count, "k"), ""},
                                      {of(Aggregated::Sum, "k"), ""},
                                      {of(Aggregated::Min, "k"), ""},
                                      {of(Aggregated::Max, "x"), ""},
                                      {median, ""},
                                      {of(Aggregated::Sum, "x"), ""}},
                          .where = column("b") > 3 || column("a") < 3,
                          .group_by = by};
        Tuning tuning;
        tuning.rows_a_deal = part;
        tuning.chunk = 700;
        const RunTools tools{.engine = engine,
                             .cpu = engine,
                             .join = {.function = "test", .sort_with_index = {}, .tuning = tuning},
                             .threads = threads,
                             .in_memory = [](const auto& data, auto /*columns*/) { return data; }};
        return execute(detail::Access::of(QueryPlan(query, table.columns())), {detail::Access::of(table), nullptr},
                       tools)
            .rows;
    };
    for (const auto& by : {std::vector<std::string>{"a"}, {"a", "b"}, {"k"}, {"b", "k", "a"}}) {
        const auto whole = run(by, rows, 1);
        REQUIRE(whole.size() > 7);
        for (const std::size_t part : {1UL, 999UL, 10'000UL}) {
            const auto one = run(by, part, 1), three = run(by, part, 3);
            REQUIRE(one.size() == whole.size());
            REQUIRE(three.size() == whole.size());
            for (std::size_t i = 0; i < whole.size(); ++i) {
                const auto last = whole[i].size() - 1;  // the sum of floats, which is rounded
                for (std::size_t c = 0; c < last; ++c) {
                    const auto *y = std::get_if<double>(&whole[i][c]), *z = std::get_if<double>(&three[i][c]);
                    CHECK((whole[i][c] == three[i][c] || (y && z && std::isnan(*y) && std::isnan(*z))));
                }
                const double sum = std::get<double>(whole[i][last]), parts = std::get<double>(three[i][last]);
                CHECK(std::abs(sum - parts) <= 1e-15 * std::abs(sum) + 0x1p-40);
                CHECK(std::get<double>(one[i][last]) == parts);  // for any number of threads
            }
        }
    }
}

TEST_CASE("arguments that a processor refuses") {
    QueryProcessor processor, other;
    const auto table = small_table();
    CHECK_THROWS_AS(QueryProcessor({.engine = QueryEngine::Bitmap}), InvalidArgument);
    CHECK_THROWS_AS(QueryProcessor({.engine = QueryEngine::Depth}), InvalidArgument);
    const auto x = processor.select(table, column("a") > 1), y = other.select(table, column("a") > 1);
    CHECK_THROWS_AS(static_cast<void>(x & y), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(other.aggregate(table, {}, &x)), InvalidArgument);
    Table longer;
    longer.add("a", std::vector<std::int32_t>(7));
    CHECK_THROWS_AS(static_cast<void>(processor.aggregate(longer, {}, &x)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(x | processor.select(longer, column("a") > 1)), InvalidArgument);
    Table large;
    std::vector<std::int64_t> values(65537);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
    large.add("k", values);
    large.add("x", std::vector<std::int64_t>(65537, std::int64_t{1} << 62U));
    has(refusal([&] { static_cast<void>(processor.aggregate(large, {.kind = Aggregated::Sum, .column = "x"})); }),
        "64 bits");
    CHECK(processor.aggregate(large, {.kind = Aggregated::Average, .column = "x"}) == Value(0x1p62));
}

TEST_CASE("all groups are returned, with a limit the first ones") {
    constexpr std::size_t rows = 600'000, groups = 200'003;
    std::vector<std::int64_t> keys(rows);
    std::vector<std::string> texts(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        keys[i] = static_cast<std::int64_t>(i * 7919 % groups) - 1000;
        texts[i] = std::to_string(i % 2);
    }
    Table table;
    table.add("k", keys).add("t", texts);
    QueryProcessor processor;
    Query query{.outputs = {{std::string("k"), ""}, rows_counted}, .group_by = {"k"}};
    const auto all = processor.run(query, table).rows;
    REQUIRE(all.size() == groups);
    for (std::size_t i = 0; i < groups; ++i) {
        REQUIRE(all[i][0] == Value(static_cast<std::int64_t>(i) - 1000));
        const auto n = std::get<std::int64_t>(all[i][1]);
        REQUIRE((n == 2 || n == 3));
    }
    query.limit = 3;
    CHECK(processor.run(query, table).rows == std::vector(all.begin(), all.begin() + 3));
    query = {.outputs = {{std::string("t"), ""}, rows_counted}, .group_by = {"t", "k"}};
    CHECK(processor.run(query, table).rows.size() > groups);
}

TEST_CASE("a table with no columns has no rows, and counts are 0") {
    QueryProcessor processor;
    CHECK(processor.count(Table(), Predicate::always(true)) == 0);
    CHECK(processor.aggregate(Table(), {}) == Value(std::int64_t{0}));
}
