// Compares joins with all pairs, compared as real numbers: on the CPU or, with QUADMILL_TEST_GL, with nested loops and
// sorts on the GPU.
#include "query/cpu/join.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"
#include "query/run/texture_join.hpp"

using namespace quadmill;  // NOLINT(google-build-using-namespace)

namespace {

const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

QueryProcessor make_processor() {
#ifdef QUADMILL_TEST_GL
    return QueryProcessor(Context::headless(), {.engine = QueryEngine::Bitmap});
#else
    return QueryProcessor();
#endif
}

template <class T>
Table table_of(std::vector<T> values, std::vector<bool> valid = {}) {
    Table table;
    table.add("k", std::move(values), std::move(valid));
    return table;
}

std::vector<RowPair> pairs_of(QueryProcessor& processor, const Table& left, const Table& right, const Join& join) {
    std::vector<RowPair> all;
    const auto n = processor.join(left, right, join, [&](std::span<const RowPair> pairs) {
        CHECK(!pairs.empty());
        CHECK(pairs.size() <= 65536);
        all.insert(all.end(), pairs.begin(), pairs.end());
    });
    CHECK(n == all.size());
    return all;
}

// |a - b| <= band, exactly: a sum that is not a long double is split into two that are.
bool near(long double a, long double b, double band) {
    if (std::isnan(a) || std::isnan(b)) return false;
    if (a == b) return true;
    const auto high = std::max(a, b), low = std::min(a, b);
    const long double sum = high - low;
    if (sum != static_cast<long double>(band) || std::isinf(sum)) return sum <= static_cast<long double>(band);
    const long double low_seen = high - sum, high_seen = sum + low_seen;
    return (high - high_seen) + (low_seen - low) <= 0;
}

template <class A, class B>
void check_join(QueryProcessor& processor, const std::vector<A>& a, const std::vector<B>& b, double band) {
    std::vector<RowPair> expected;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < b.size(); ++j) {
            if (near(static_cast<long double>(a[i]), static_cast<long double>(b[j]), band)) expected.push_back({i, j});
        }
    }
    INFO("band " << band);
    for (const auto method : {JoinMethod::NestedLoops, JoinMethod::SortMerge}) {
        const Join join{.left = "k", .right = "k", .band = band, .method = method};
        CHECK((pairs_of(processor, table_of(a), table_of(b), join) == expected));
    }
}

template <class T>
std::vector<T> hard_values(std::mt19937_64& random, std::size_t n) {
    using Limits = std::numeric_limits<T>;
    std::vector<T> hard{T{0}, T{1}, T{2}, Limits::max(), Limits::lowest(), static_cast<T>(Limits::max() - 1)};
    if constexpr (std::is_floating_point_v<T>) {
        for (const double x : {-0.0, 0.1, 0.3, 1e-40, 1.0 + 0x1p-52, 0x1p53, 0x1p53 + 2, nan, infinity, -infinity})
            hard.push_back(static_cast<T>(x));
    } else if constexpr (sizeof(T) == 8) {
        // All are exact as doubles except for the extremes, which are left out below.
        for (const auto x : {(std::int64_t{1} << 53U) - 1, -(std::int64_t{1} << 53U), std::int64_t{5} << 32U})
            hard.push_back(x);
    }
    std::vector<T> values;
    for (std::size_t i = 0; i < n; ++i)
        values.push_back(random() % 2 ? hard[random() % hard.size()] : static_cast<T>(random() % 9));
    return values;
}

template <class A, class B>
void check_types(QueryProcessor& processor, std::mt19937_64& random) {
    constexpr bool mixed = std::is_floating_point_v<A> != std::is_floating_point_v<B>;
    auto a = hard_values<A>(random, 40);
    auto b = hard_values<B>(random, 60);
    const auto tame = [](auto& values) {
        for (auto& x : values) {
            if (x > (std::int64_t{1} << 53U) || x < -(std::int64_t{1} << 53U)) x = 7;
        }
    };
    if constexpr (mixed && std::is_same_v<A, std::int64_t>) tame(a);
    if constexpr (mixed && std::is_same_v<B, std::int64_t>) tame(b);
    for (const double band : {0.0, 0.1, 0.2, 1.0, 2.5, 0x1p53, 0x1p63, 1.5e19, 1e300, infinity})
        check_join(processor, a, b, band);
}

template <class A>
void check_all_with(QueryProcessor& processor, std::mt19937_64& random) {
    check_types<A, float>(processor, random);
    check_types<A, double>(processor, random);
    check_types<A, std::int32_t>(processor, random);
    check_types<A, std::uint32_t>(processor, random);
    check_types<A, std::int64_t>(processor, random);
}

}  // namespace

TEST_CASE("joins of every two types of numbers compare them as real numbers") {
    auto processor = make_processor();
    std::mt19937_64 random(11);
    for (int i = 0; i < 4; ++i) {
        check_all_with<float>(processor, random);
        check_all_with<double>(processor, random);
        check_all_with<std::int32_t>(processor, random);
        check_all_with<std::uint32_t>(processor, random);
        check_all_with<std::int64_t>(processor, random);
    }
}

TEST_CASE("an integer that is not a double joins no floats") {
    auto processor = make_processor();
    const auto large = table_of<std::int64_t>({1, (std::int64_t{1} << 53U) + 1});
    CHECK_THROWS_AS(pairs_of(processor, large, table_of<float>({1}), {"k", "k"}), InvalidArgument);
    CHECK(pairs_of(processor, large, large, {"k", "k"}).size() == 2);
}

TEST_CASE("a band that the rounded difference just meets") {
    auto processor = make_processor();
    // 1 - (-2^-60) rounds to 1 but is larger.
    check_join<double, double>(processor, {1}, {-0x1p-60, 0, 0x1p-60}, 1);
    CHECK(pairs_of(processor, table_of<double>({1}), table_of<double>({-0x1p-60, 0, 0x1p-60}), {"k", "k", 1}) ==
          std::vector<RowPair>{{0, 1}, {0, 2}});
}

TEST_CASE("NULLs and rows that are not selected join nothing") {
    auto processor = make_processor();
    const auto left = table_of<std::int32_t>({1, 2, 1, 3}, {true, true, false, true});
    const auto right = table_of<std::int64_t>({3, 1, 1, 0, 0}, {true, true, true, true, false});
    CHECK(pairs_of(processor, left, right, {"k", "k"}) == std::vector<RowPair>{{0, 1}, {0, 2}, {3, 0}});
    const auto small = processor.select(left, column("k") < 3), first = processor.select(right, column("k") >= 0);
    for (const auto method : {JoinMethod::Auto, JoinMethod::NestedLoops, JoinMethod::SortMerge}) {
        std::vector<RowPair> all;
        processor.join(
            left, right, {.left = "k", .right = "k", .method = method},
            [&](auto pairs) { all.insert(all.end(), pairs.begin(), pairs.end()); }, &small, &first);
        CHECK(all == std::vector<RowPair>{{0, 1}, {0, 2}});
    }
    CHECK_THROWS_AS(static_cast<void>(processor.join(
                        left, right, {"k", "k"}, [](auto /*pairs*/) {}, &first)),
                    InvalidArgument);
}

TEST_CASE("texts of two dictionaries") {
    auto processor = make_processor();
    const auto left = table_of<std::string>({"b", "", "c", "b"}),
               right = table_of<std::string>({"a", "b", "d", "c", ""});
    for (const auto method : {JoinMethod::NestedLoops, JoinMethod::SortMerge}) {
        CHECK(pairs_of(processor, left, right, {.left = "k", .right = "k", .method = method}) ==
              std::vector<RowPair>{{0, 1}, {1, 4}, {2, 3}, {3, 1}});
    }
}

TEST_CASE("many pairs arrive in chunks, complete and in order, with either method") {
    auto processor = make_processor();
    std::mt19937_64 random(5);
    std::vector<std::int32_t> a(3000), b(2000);
    for (auto& x : a) x = static_cast<std::int32_t>(random() % 4);
    for (auto& x : b) x = static_cast<std::int32_t>(random() % 6);
    for (const double band : {0.0, 1.0}) {
        const auto nested = pairs_of(processor, table_of(a), table_of(b),
                                     {.left = "k", .right = "k", .band = band, .method = JoinMethod::NestedLoops});
        CHECK(nested.size() > 65536 * 4);
        CHECK((pairs_of(processor, table_of(a), table_of(b), {.left = "k", .right = "k", .band = band}) == nested));
        CHECK((pairs_of(processor, table_of(a), table_of(b),
                        {.left = "k", .right = "k", .band = band, .method = JoinMethod::SortMerge}) == nested));
    }
}

TEST_CASE("a query of pairs counts pairs that it does not return") {
    auto processor = make_processor();
    const auto table = table_of(std::vector<std::int32_t>(3000, 1));
    const Join join{"k", "k"};
    const QueryPlan plan({.outputs = {{std::string("left.k"), ""}}, .join = join, .limit = 2}, table.columns(),
                         table.columns());
    const auto some = processor.run(plan, table, table);
    CHECK(some.rows.size() == 2);
    CHECK(some.matched == 9000000);
    const QueryPlan count({.outputs = {{QueryAggregate{}, ""}}, .join = join}, table.columns(), table.columns());
    CHECK(processor.run(count, table, table).rows == std::vector<std::vector<Value>>{{std::int64_t{9000000}}});
}

TEST_CASE("columns with the names of another table's, from a join's result that is joined again") {
    Table x, y;
    x.add("k", std::vector<std::int32_t>{1, 2, 3}).add("x.k", std::vector<std::int32_t>{3, 2, 1});
    x.add("y.k", std::vector<std::int32_t>{7, 8, 9}).add("v", std::vector<std::int32_t>{10, 20, 30});
    y.add("k", std::vector<std::int32_t>{1, 2, 3}).add("w", std::vector<std::int32_t>{100, 200, 300});
    auto processor = make_processor();
    const auto answers = [&](Query query) {
        query.join->left_name = "x";
        query.join->right_name = "y";
        return processor.run(QueryPlan(query, x.columns(), y.columns()), x, y).rows;
    };
    const auto row = [](auto... values) { return std::vector<Value>{static_cast<std::int64_t>(values)...}; };
    using Rows = std::vector<std::vector<Value>>;
    const std::vector<Output> v_w{{"v", ""}, {"w", ""}}, own{{"x.x.k", ""}, {"x.k", ""}, {"y.k", ""}, {"x.y.k", ""}};
    for (const auto method : {JoinMethod::NestedLoops, JoinMethod::SortMerge}) {
        const Join by_own_name{.left = "x.k", .right = "k", .method = method},
            by_k{.left = "k", .right = "y.k", .method = method};
        CHECK(answers({.outputs = v_w, .join = by_own_name}) == Rows{row(10, 300), row(20, 200), row(30, 100)});
        CHECK(answers({.outputs = v_w, .join = by_k}) == Rows{row(10, 100), row(20, 200), row(30, 300)});
        CHECK(answers({.outputs = own, .where = column("x.x.k") > 1, .join = by_k}) ==
              Rows{row(3, 1, 1, 7), row(2, 2, 2, 8)});
        CHECK(answers({.outputs = v_w, .where = column("x.k") > 1, .join = by_k}) == Rows{row(20, 200), row(30, 300)});
        CHECK(answers({.outputs = v_w, .where = column("x.x.k") > column("y.k"), .join = by_k}) == Rows{row(10, 100)});
        CHECK(pairs_of(processor, x, y, {.left = "x.k", .right = "k", .left_name = "x", .method = method}) ==
              std::vector<RowPair>{{0, 2}, {1, 1}, {2, 0}});
    }
    // Two columns with that whole name.
    Table a, b;
    a.add("b.c", std::vector<std::int32_t>{1});
    b.add("c", std::vector<std::int32_t>{1});
    CHECK_THROWS_WITH_AS(QueryPlan({.outputs = {{"a.b.c", ""}},
                                    .join = Join{.left = "b.c", .right = "c", .left_name = "a", .right_name = "a.b"}},
                                   a.columns(), b.columns()),
                         doctest::Contains("'a.b.c' may be 'b.c' of a or 'c' of a.b"), InvalidArgument);
}

TEST_CASE("JoinMethod::Auto takes the fastest method") {
    using namespace detail::query;  // NOLINT(google-build-using-namespace)
    int sorts = 0;
    JoinTools tools{.function = "test", .sort_with_index = [&](Keys keys, std::span<std::uint32_t> index) {
                        ++sorts;
                        sort_with_index_on_cpu(keys, index);
                    }};
    const auto sorts_of = [&](std::size_t left, std::size_t right, JoinMethod method = JoinMethod::Auto) {
        sorts = 0;
        const auto a = table_of(std::vector<float>(left, 1)), b = table_of(std::vector<float>(right, 2));
        detail::query::join({*detail::Access::of(a), 0}, {*detail::Access::of(b), 0},
                            {.left = "k", .right = "k", .method = method}, tools,
                            [](auto /*pairs*/) { return Next::More; });
        return sorts;
    };
    CHECK(sorts_of(50, 50) == 0);
    CHECK(sorts_of(600, 600) == 2);
    CHECK(sorts_of(600, 600, JoinMethod::NestedLoops) == 0);
    CHECK(sorts_of(50, 50, JoinMethod::SortMerge) == 2);
    Tuning tuning{.gpu_comparisons_a_row = 1000, .gpu_join_rows = 2000};
    CHECK(loops_on_gpu_win(3000, 1000, tuning));
    CHECK(loops_on_gpu_win(3, 100000, tuning));
    CHECK(!loops_on_gpu_win(50, 50, tuning));
    CHECK(!loops_on_gpu_win(600, 600, tuning));
    CHECK(!loops_on_gpu_win(3000, 3000, tuning));
    tuning.gpu_comparisons_a_row = 0;
    CHECK(!loops_on_gpu_win(3000, 1000, tuning));
}
