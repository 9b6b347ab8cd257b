// Queries of tables with indexes, compared with the CPU engine, which uses none.
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engines.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"

namespace quadmill::test::index_queries {

namespace {

using Kind = QueryAggregate::Kind;

// Counts the passes of a name.
class Passes final : public PassObserver {
  public:
    Passes(Context& context, std::string name) : context_(context), name_(std::move(name)) { context_.observe(this); }
    Passes(const Passes&) = delete;
    Passes& operator=(const Passes&) = delete;
    ~Passes() override { context_.observe(nullptr); }
    void before(const PassEvent& pass) override { ++(pass.name == name_ ? found : others); }
    std::size_t found = 0, others = 0;

  private:
    Context& context_;
    std::string name_;
};

constexpr std::size_t rows = 20'011;

// Coordinates x and y, and other columns of all types, some with NULLs.
Table places(std::mt19937_64& random) {
    std::vector<float> x(rows);
    std::vector<std::int32_t> y(rows), price(rows);
    std::vector<std::uint32_t> kind(rows);
    std::vector<double> z(rows);
    std::vector<std::string> name(rows);
    std::vector<bool> y_valid(rows), z_valid(rows), price_valid(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        x[i] = static_cast<float>(random() % 4096) / 4096;
        y[i] = static_cast<std::int32_t>(random() % 100'000) - 50'000;
        price[i] = static_cast<std::int32_t>(random() % 1000);
        kind[i] = static_cast<std::uint32_t>(random() % 5);
        z[i] = static_cast<double>(random() % 64) / 8 - 4;
        name[i] = std::string(1, static_cast<char>('a' + random() % 3));
        y_valid[i] = random() % 16 != 0;
        z_valid[i] = random() % 4 != 0;
        price_valid[i] = random() % 8 != 0;
    }
    Table table;
    table.add("x", std::move(x)).add("y", std::move(y), std::move(y_valid)).add("kind", std::move(kind));
    table.add("price", std::move(price), std::move(price_valid)).add("z", std::move(z), std::move(z_valid));
    table.add("name", name);
    return table;
}

// Ranges that leave about 1 of 400 rows, and sometimes more.
Predicate some_ranges(std::mt19937_64& random) {
    const auto part = random() % 8 == 0 ? 0.2 : 0.05;
    const auto x = static_cast<double>(random() % 1000) / 1000;
    const auto y = static_cast<std::int64_t>(random() % 100'000) - 50'000;
    const auto in_x = column("x").between(x, x + part);
    const auto in_y = column("y").between(y, y + static_cast<std::int64_t>(part * 100'000));
    switch (random() % 8) {
        case 0:
            return column("x") == x && in_y;
        case 1:
            return column("x").between(x, x + 0.002);
        case 2:
            return column("x") > x && in_y && column("x") <= x + part;
        default:
            return in_x && in_y;
    }
}

Predicate some_condition(std::mt19937_64& random) {
    auto where = some_ranges(random);
    for (auto more = random() % 3; more > 0; --more) {
        const auto z = static_cast<double>(random() % 8) - 4;
        switch (random() % 8) {
            case 0:
                where = where && column("z") > z;
                break;
            case 1:
                where = column("kind").in({Value(std::int64_t{1}), Value(std::int64_t{3})}) && where;
                break;
            case 2:
                where = where && (column("z") < z || column("price") >= 500);
                break;
            case 3:
                where = where && !(column("name") == "b");
                break;
            case 4:
                where = where && column("z").is_null();
                break;
            case 5:
                where = where && column("price") != 7;
                break;
            case 6:
                where = where && Predicate::linear({{1.0, "z"}, {0.01, "price"}}, Comparison::Less, z);
                break;
            default:
                where = where && !column("price").is_null();
        }
    }
    return where;
}

Query some_query(std::mt19937_64& random) {
    Query query{.outputs = {}, .where = some_condition(random)};
    const auto add = [&](Kind kind, const char* of) {
        query.outputs.push_back({.what = QueryAggregate{.kind = kind, .column = of, .phi = 0.5, .k = 2},
                                 .name = "o" + std::to_string(query.outputs.size())});
    };
    switch (random() % 6) {
        case 0:
            add(Kind::CountRows, "");
            break;
        case 1:
            query.group_by = {"kind"};
            query.outputs.push_back({.what = std::string("kind"), .name = "kind"});
            add(Kind::CountRows, "");
            add(Kind::Sum, "price");
            break;
        case 2:
            query.outputs.push_back({.what = std::string("y"), .name = "y"});
            query.outputs.push_back({.what = std::string("name"), .name = "name"});
            if (random() % 4 == 0) query.limit = 3;
            break;
        case 3:
            query.group_by = {"name", "price"};
            query.outputs.push_back({.what = std::string("price"), .name = "price"});
            add(Kind::Max, "z");
            break;
        default:
            for (const auto kind : {Kind::CountRows, Kind::Count, Kind::Sum, Kind::Average, Kind::Min, Kind::Max,
                                    Kind::Quantile, Kind::KthLargest}) {
                if (random() % 2 == 0 || query.outputs.empty())
                    add(kind, kind == Kind::CountRows ? "" : random() % 2 == 0 ? "price" : "y");
            }
    }
    return query;
}

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): no thread sets any
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

// QUADMILL_INDEX_QUERIES=100000 for the long run; QUADMILL_INDEX_SEED for other queries.
TEST_CASE("Random queries of indexed columns have the answers of the CPU engine") {
    auto context = Context::headless();
    const auto rounds = number_in("QUADMILL_INDEX_QUERIES", 150);
    std::mt19937_64 random(number_in("QUADMILL_INDEX_SEED", 146));
    const auto table = places(random);
    QueryProcessor plain({.engine = QueryEngine::Cpu});
    std::size_t counted = 0, found = 0;
    for (const auto engine : gpu_engines(context)) {
        QueryProcessor processor(context, {.engine = engine, .index_overhead = 0});
        processor.index(table, {"x", "y"});
        processor.index(table, {"x"});
        for (std::uint64_t n = 0; n < rounds; ++n) {
            CAPTURE(n);
            const auto query = some_query(random);
            const auto plan = QueryPlan(query, table.columns());
            CAPTURE(plan.text());
            const auto expected = plain.run(plan, table);
            {
                Passes lists(context, "list rows near");
                const auto result = processor.run(plan, table);
                REQUIRE(result.rows == expected.rows);
                REQUIRE(result.matched == expected.matched);
                found += lists.found > 0 ? 1 : 0;
            }
            if (n % 4 == 0) {
                Passes edges(context, "test edge");
                REQUIRE(processor.count(table, *query.where) == expected.matched);
                counted += edges.found;
            }
            if (n % 8 == 0) {
                const auto chosen = processor.select(table, *query.where), right = plain.select(table, *query.where);
                REQUIRE(chosen.rows() == right.rows());
                REQUIRE(chosen.count() == right.count());
                REQUIRE(chosen.bits() == right.bits());
                REQUIRE((~chosen).count() == rows - right.count());
            }
        }
    }
    CHECK(counted > 0);
    CHECK(found > rounds / 4);
}

TEST_CASE("A selection by an index is combined, measured and joined as any other") {
    auto context = Context::headless();
    std::mt19937_64 random(147);
    const auto table = places(random);
    QueryProcessor processor(context, {.engine = QueryEngine::Bitmap, .index_overhead = 0}), plain;
    processor.index(table, {"x", "y"});
    const auto few = column("x").between(0.5, 0.55) && column("y").between(0, 5000) && column("kind") < 4;
    const auto half = column("z") > 0;
    const auto selected = [&](QueryProcessor& by, const Predicate& where) { return by.select(table, where); };
    Passes lists(context, "list rows near");
    const auto a = selected(processor, few);
    CHECK(lists.found == 1);
    const auto b = selected(processor, half), a0 = selected(plain, few), b0 = selected(plain, half);
    CHECK((a & b).rows() == (a0 & b0).rows());
    CHECK((b | a).count() == (b0 | a0).count());
    const QueryAggregate sum{.kind = Kind::Sum, .column = "price"};
    CHECK(processor.aggregate(table, sum, &a) == plain.aggregate(table, sum, &a0));
    std::uint64_t pairs = 0;
    const auto take = [&](std::span<const RowPair> some) { pairs += some.size(); };
    CHECK(processor.join(table, table, {.left = "kind", .right = "kind"}, take, &a, &a) ==
          plain.join(table, table, {.left = "kind", .right = "kind"}, take, &a0, &a0));
}

TEST_CASE("Plans say what an index does for their conditions") {
    auto context = Context::headless();
    std::mt19937_64 random(148);
    const auto table = places(random);
    QueryProcessor processor(context, {.engine = QueryEngine::Bitmap, .index_overhead = 0}), plain;
    const auto explained = [&](QueryProcessor& by, const std::vector<Output>& outputs, const Predicate& where) {
        Passes none(context, "");
        const auto text = by.explain(QueryPlan(Query{.outputs = outputs, .where = where}, table.columns()), table);
        CHECK(none.others == 0);
        return text.substr(text.starts_with("node ") ? text.find(": ") + 2 : 0);
    };
    const std::vector<Output> count{{.what = QueryAggregate{}, .name = "n"}};
    const std::vector<Output> sum{{.what = QueryAggregate{.kind = Kind::Sum, .column = "price"}, .name = "s"}};
    const auto inside = column("x").between(0.5, 0.505) && column("y").between(0, 500);
    CHECK(explained(processor, count, inside) == "no index\n");
    CHECK(explained(plain, count, inside) == "the CPU engine uses no index\n");
    processor.index(table, {"x", "y"});
    const auto starts = [](const std::string& text, const char* with) { return text.starts_with(with); };
    CHECK(starts(explained(processor, count, inside), "index of x and y counts, "));
    CHECK(starts(explained(processor, sum, inside), "index of x and y finds rows, "));
    CHECK(starts(explained(processor, count, inside && column("z") > 1), "index of x and y finds rows, "));
    CHECK(explained(processor, sum, column("x") > 0.5 && column("y") > 0) == "no index\n");
    CHECK(explained(processor, count, inside || column("z") > 1) == "no index\n");
    CHECK(explained(processor, count, column("x") > 0.5) == "no index\n");  // y has NULLs
    CHECK(explained(processor, count, inside).ends_with(" of 20011 rows are read\n"));
    const Query joined{.outputs = count, .join = Join{.left = "kind", .right = "kind"}};
    CHECK_THROWS_AS(static_cast<void>(processor.explain(QueryPlan(joined, table.columns(), table.columns()), table)),
                    InvalidArgument);
}

// A table does not change, and one that is made from it by add() shares its columns.
TEST_CASE("An index serves the columns that it was made of, also in a table with more columns, and no others") {
    auto context = Context::headless();
    std::mt19937_64 random(149);
    auto table = places(random);
    QueryProcessor processor(context, {.engine = QueryEngine::Bitmap, .index_overhead = 0}), plain;
    processor.index(table, {"x", "y"});
    const auto inside = column("x").between(0.5, 0.55) && column("y").between(0, 5000);
    const auto edges = [&](const Table& of) {
        Passes tests(context, "test edge");
        CHECK(processor.count(of, inside) == plain.count(of, inside));
        return tests.found;
    };
    CHECK(edges(table) == 1);
    table.add("more", std::vector<float>(rows, 1.0F));
    CHECK(edges(table) == 1);
    const auto others = places(random);
    CHECK(edges(others) == 0);
    processor.index(others, {"x", "y"});
    CHECK(edges(others) == 1);
    CHECK(edges(table) == 1);
}

}  // namespace quadmill::test::index_queries
