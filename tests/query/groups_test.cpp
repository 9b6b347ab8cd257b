// Compares groups that the GPU finds by sorting with those of the CPU.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "engines.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"

using namespace quadmill;  // NOLINT(google-build-using-namespace)

namespace {

// Checks that groups were found by sorting, and counts the words that were sorted.
class Sorted final : public PassObserver {
  public:
    explicit Sorted(Context& context) : context_(context), previous_(context.observe(this)) {}
    Sorted(const Sorted&) = delete;
    Sorted& operator=(const Sorted&) = delete;
    ~Sorted() override { context_.observe(previous_); }
    void before(const PassEvent& pass) override {
        found = found || pass.name == "begin groups";
        if (pass.name == "order rows") ++words;
    }
    bool found = false;
    int words = 0;

  private:
    Context& context_;
    PassObserver* previous_;
};

using Kind = QueryAggregate::Kind;

QueryAggregate of(Kind kind, const char* column, std::uint64_t k = 1) {
    return {.kind = kind, .column = column, .k = k};
}

QueryAggregate median_of(const char* column) {
    return {.kind = Kind::Quantile, .column = column, .phi = 0.5};
}

// Every type, NULLs, NaNs of any bits and signed zeros. Most columns have few values, so that there are groups of all
// sizes.
Table random_table(std::size_t rows, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::int32_t> i(rows);
    std::vector<std::uint32_t> u(rows);
    std::vector<std::int64_t> l(rows), far(rows);
    std::vector<float> f(rows);
    std::vector<double> d(rows), x(rows);
    std::vector<std::string> t(rows);
    std::vector<bool> has_i(rows), has_l(rows), has_d(rows), none(rows, false);
    for (std::size_t r = 0; r < rows; ++r) {
        i[r] = static_cast<std::int32_t>(random() % 500) - 250;
        u[r] = random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : 7;
        l[r] = random() % 4 == 0 ? static_cast<std::int64_t>(random()) / 64 : static_cast<std::int64_t>(random() % 3);
        far[r] =
            random() % 2 == 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
        const std::vector<float> floats{
            0.0F, -0.0F, std::nanf("1"), -std::nanf("2"), 1.5F, -HUGE_VALF, static_cast<float>(random() % 100)};
        f[r] = floats[random() % floats.size()];
        d[r] = random() % 9 == 0 ? std::nan("") : static_cast<double>(random() % 2000) / 8;
        x[r] = std::ldexp(static_cast<double>(random() % 1000) - 500, static_cast<int>(random() % 60) - 30);
        t[r] = "text " + std::to_string(random() % 90);
        has_i[r] = random() % 11 != 0;
        has_l[r] = random() % 5 != 0;
        has_d[r] = random() % 3 != 0;
    }
    Table table;
    table.add("i", i, has_i).add("u", u).add("l", l, has_l).add("far", far).add("f", f).add("d", d, has_d);
    return table.add("x", x).add("t", t).add("none", std::vector<float>(rows, 1), none);
}

// Sums of floats are rounded in another order.
bool same(const Value& one, const Value& other, bool rounded) {
    const auto *x = std::get_if<double>(&one), *y = std::get_if<double>(&other);
    if (!x || !y) return one == other;
    if (std::isnan(*x) || std::isnan(*y)) return std::isnan(*x) && std::isnan(*y);
    return *x == *y || (rounded && std::abs(*x - *y) <= 1e-12 * std::abs(*x) + 0x1p-10);
}

void expect_same(QueryProcessor& gpu, QueryProcessor& cpu, const Query& query, const Table& table) {
    const auto found = gpu.run(query, table).rows, expected = cpu.run(query, table).rows;
    REQUIRE(found.size() == expected.size());
    for (std::size_t r = 0; r < expected.size(); ++r) {
        for (std::size_t c = 0; c < expected[r].size(); ++c) {
            CAPTURE(r);
            CAPTURE(c);
            const auto* what = std::get_if<QueryAggregate>(&query.outputs[c].what);
            const bool rounded = what && (what->kind == Kind::Sum || what->kind == Kind::Average);
            REQUIRE(same(found[r][c], expected[r][c], rounded));
        }
    }
}

const std::vector<std::vector<std::string>> groupings{
    {"i"}, {"u"}, {"l"}, {"f"}, {"d"}, {"t"}, {"none"}, {"far", "none"}, {"l", "u"}, {"t", "i", "f", "d"}};

}  // namespace

TEST_CASE("groups of any columns, sizes and conditions equal the CPU's") {
    const auto context = Context::headless();
    QueryProcessor cpu;
    for (const auto engine : test::gpu_engines(context)) {
        QueryProcessor gpu(context, {.engine = engine});
        for (const std::size_t rows : {1UL, 33UL, 1000UL, 7000UL}) {
            if (rows > 1000 && engine == QueryEngine::Depth) continue;  // both find groups by the same sorts
            const auto table = random_table(rows, rows);
            for (const auto& by : groupings) {
                CAPTURE(static_cast<int>(engine));
                CAPTURE(rows);
                CAPTURE(by[0]);
                CAPTURE(by.size());
                Query query{.outputs = {{QueryAggregate{}, ""}}, .group_by = by};
                for (const auto& name : by) query.outputs.push_back({name, ""});
                for (const char* name : {"i", "l", "f", "d", "none"}) {
                    for (const auto kind : {Kind::Count, Kind::Min, Kind::Max})
                        query.outputs.push_back({of(kind, name), ""});
                    query.outputs.push_back({median_of(name), ""});
                }
                query.outputs.push_back({of(Kind::KthSmallest, "l", 2), ""});
                query.outputs.push_back({of(Kind::KthLargest, "l", 3), ""});
                query.outputs.push_back({of(Kind::KthSmallest, "d", rows / 2 + 1), ""});
                query.outputs.push_back({of(Kind::Max, "t"), ""});
                query.outputs.push_back({of(Kind::Sum, "i"), ""});
                query.outputs.push_back({of(Kind::Average, "l"), ""});
                query.outputs.push_back({of(Kind::Sum, "x"), ""});
                query.outputs.push_back({of(Kind::Average, "f"), ""});
                expect_same(gpu, cpu, query, table);
                query.where = column("i") > 3 || column("d") < 100;
                query.limit = 5;
                expect_same(gpu, cpu, query, table);
                query.where = column("i") > 1000;  // none
                query.limit = {};
                CHECK(gpu.run(query, table).rows.empty());
            }
        }
    }
}

TEST_CASE("as many groups as rows, with a long one among them") {
    constexpr std::size_t rows = 150'000;
    std::vector<std::int64_t> k(rows), x(rows);
    for (std::size_t r = 0; r < rows; ++r) {
        k[r] = r % 3 == 0 ? 70'000 : static_cast<std::int64_t>(r * 7919 % rows) << 20U;
        x[r] = static_cast<std::int64_t>(r);
    }
    Table table;
    table.add("k", k).add("x", x);
    auto context = Context::headless();
    Sorted sorted(context);
    QueryProcessor cpu, gpu(context, {.engine = QueryEngine::Bitmap});
    expect_same(gpu, cpu,
                {.outputs = {{std::string("k"), ""},
                             {QueryAggregate{}, ""},
                             {of(Kind::Sum, "x"), ""},
                             {of(Kind::Max, "x"), ""},
                             {median_of("x"), ""}},
                 .group_by = {"k"}},
                table);
    CHECK(sorted.found);

    // Several quantiles of a column need one sort.
    Query query{.outputs = {{median_of("x"), ""}}, .group_by = {"k"}};
    const auto words_of_one = (sorted.words = 0, expect_same(gpu, cpu, query, table), sorted.words);
    for (const double phi : {0.1, 0.9})
        query.outputs.push_back({QueryAggregate{.kind = Kind::Quantile, .column = "x", .phi = phi}, ""});
    sorted.words = 0;
    expect_same(gpu, cpu, query, table);
    CHECK(words_of_one > 0);
    CHECK(sorted.words == words_of_one);
}

TEST_CASE("a group's sum beyond 64 bits is refused, as on the CPU") {
    constexpr std::size_t rows = 1000;
    std::vector<std::int64_t> k(rows), x(rows, std::int64_t{1} << 62U);
    for (std::size_t r = 0; r < rows; ++r) k[r] = static_cast<std::int64_t>(r / 2) * 1000;
    Table table;
    table.add("k", k).add("x", x);
    Query query{.outputs = {{of(Kind::Sum, "x"), ""}}, .group_by = {"k"}};
    QueryProcessor gpu(Context::headless(), {.engine = QueryEngine::Bitmap});
    CHECK_THROWS_WITH_AS(static_cast<void>(gpu.run(query, table)), doctest::Contains("64 bits"), InvalidArgument);
    query.outputs = {{of(Kind::Average, "x"), ""}};
    const auto rows_out = gpu.run(query, table).rows;
    REQUIRE(rows_out.size() == rows / 2);
    CHECK(rows_out[0][0] == Value(0x1p62));
}
