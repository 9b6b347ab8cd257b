// The cases of `quadmill bench query`, its rivals, and its results. No OpenGL.
#include "bench/query_bench.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "bench/query_cases.hpp"
#include "bench/scan.hpp"
#include "bench/sqlite_rival.hpp"
#include "query/gpu/depth_engine.hpp"
#include "query/table/key.hpp"

using namespace quadmill;
using namespace quadmill::detail;
using namespace quadmill::detail::bench;

namespace {

const std::vector all_kinds{QueryKind::Copy,   QueryKind::Predicate, QueryKind::Range, QueryKind::Cnf,
                            QueryKind::Linear, QueryKind::In,        QueryKind::Nulls, QueryKind::Sum,
                            QueryKind::Median, QueryKind::Kth,       QueryKind::Pair,  QueryKind::Extreme,
                            QueryKind::Groups};

query::Key key_at(const query::ColumnData& column, std::size_t row) {
    return query::visit_column_type(column.type, [&]<class T>(const T* /*type*/) -> query::Key {
        return query::KeyOf<T>::key(std::get<std::vector<T>>(column.values)[row]);
    });
}

double number_at(const query::ColumnData& column, std::size_t row) {
    return query::visit_column_type(column.type, [&]<class T>(const T* /*type*/) {
        return static_cast<double>(std::get<std::vector<T>>(column.values)[row]);
    });
}

// By definition, one row at a time.
bool holds(const query::TableData& table, const query::Leaf& leaf, std::size_t row) {
    if (const auto* range = std::get_if<query::Range>(&leaf)) {
        const auto key = key_at(*table.columns[range->column], row);
        return range->low <= key && key <= range->high;
    }
    if (const auto* member = std::get_if<query::Member>(&leaf)) {
        const auto key = key_at(*table.columns[member->column], row);
        return std::ranges::find(member->keys, key) != member->keys.end();
    }
    if (const auto* linear = std::get_if<query::Linear>(&leaf)) {
        volatile double sum = 0;  // so that no product is fused with it
        for (std::size_t i = 0; i < linear->columns.size(); ++i) {
            volatile double product = linear->factors[i] * number_at(*table.columns[linear->columns[i]], row);
            sum = sum + product;
        }
        return sum <= linear->constant;
    }
    if (const auto* pair = std::get_if<query::Pair>(&leaf))
        return number_at(*table.columns[pair->a], row) <= number_at(*table.columns[pair->b], row);
    return !query::has_value(*table.columns[std::get<query::IsNull>(leaf).column], row);
}

std::uint64_t by_definition(const query::TableData& table, const QueryCase& which) {
    std::vector<query::Key> keys;
    std::uint64_t count = 0, sum = 0;
    for (std::size_t row = 0; row < table.rows; ++row) {
        const auto& column = *table.columns[which.column];
        keys.push_back(key_at(column, row));
        if (which.ask == QueryCase::Ask::Sum) sum += static_cast<std::uint64_t>(number_at(column, row));
        count += std::ranges::all_of(which.where, [&](const auto& clause) {
            return std::ranges::any_of(clause, [&](const auto& leaf) { return holds(table, leaf, row); });
        });
    }
    if (which.ask == QueryCase::Ask::Groups) {
        std::map<query::Key, std::pair<std::uint64_t, double>> groups;
        for (std::size_t row = 0; row < table.rows; ++row) {
            auto& [rows, max] = groups[keys[row]];
            ++rows;
            max = std::max(max, number_at(*table.columns[column_a], row));
        }
        for (const auto& [key, group] : groups) sum += group.first * static_cast<std::uint64_t>(group.second);
        return sum;
    }
    std::ranges::sort(keys);
    if (which.ask == QueryCase::Ask::Kth || which.ask == QueryCase::Ask::Min) return keys[which.k];
    return which.ask == QueryCase::Ask::Sum ? sum : count;
}

}  // namespace

TEST_CASE("the table has columns for one plane of depths and for two, and NULLs") {
    constexpr std::size_t rows = 100000;
    const auto table = detail::Access::of(query_table(rows, 1));
    const auto planes = [&](std::size_t i) {
        return query::DepthPlanes::of(table->columns[i]->min, table->columns[i]->max).planes;
    };
    CHECK(planes(column_a) == 1);
    CHECK(planes(column_b) == 1);
    CHECK(planes(column_c) == 2);
    CHECK(planes(column_e) == 2);
    CHECK(query::DepthPlanes::of(*table->columns[column_e], 0, rows).planes == 1);
    std::size_t nulls = 0;
    for (std::size_t row = 0; row < rows; ++row) nulls += query::has_value(*table->columns[column_d], row) ? 0U : 1U;
    CHECK(nulls == doctest::Approx(rows / 8.0).epsilon(0.05));
}

TEST_CASE("plain scans, nth_element and SQLite give every query's defined answer, for any number of rows") {
    for (const std::size_t rows : {1U, 2U, 31U, 1000U, 2049U, 300000U}) {
        CAPTURE(rows);
        const auto table = detail::Access::of(query_table(rows, rows));
        Scan one(1), many(3);
        const auto sqlite = open_sqlite(table);
        REQUIRE(sqlite);  // tests/setup.sh installs it
        for (const auto& which : query_cases(all_kinds, rows)) {
            CAPTURE(which.name);
            if (which.ask == QueryCase::Ask::Copy) continue;
            const auto right = by_definition(*table, which);
            CHECK(one.answer(*table, which) == right);
            CHECK(many.answer(*table, which) == right);
            if (which.ask == QueryCase::Ask::Kth) CHECK(nth_element(*table, which) == right);
            if (!sqlite) continue;
            CAPTURE(sql_of(*table, which));
            CHECK(sqlite->answer(which) == right);
            CHECK(sqlite->answer(which) == right);
        }
    }
}

TEST_CASE("queries select neither all rows nor none") {
    constexpr std::size_t rows = 20000;
    const auto table = detail::Access::of(query_table(rows, 1));
    Scan scan(1);
    for (const auto& which : query_cases(all_kinds, rows)) {
        CAPTURE(which.name);
        if (which.ask != QueryCase::Ask::Count || which.kind == QueryKind::In) continue;
        const auto found = scan.answer(*table, which);
        CHECK(found > rows / 10);
        CHECK(found < rows * 19 / 20);
    }
}

TEST_CASE("times are in order, refusals have reasons, and kinds that were not requested are left out") {
    QueryBench bench(std::nullopt, "there is no OpenGL",
                     {{"depth", QueryBy::Depth},
                      {"cpu", QueryBy::Cpu},
                      {"scan", QueryBy::Scan},
                      {"nth", QueryBy::NthElement},
                      {"sqlite", QueryBy::Sqlite}},
                     {.repeat = 3, .threads = 2, .sqlite_rows = 1000});
    CHECK_FALSE(bench.depth_limit());
    std::vector<QueryCaseResult> all;
    const auto loads = bench.run(1001, {QueryKind::Copy, QueryKind::Range, QueryKind::Median},
                                 [&](const QueryCaseResult& found) { all.push_back(found); });
    CHECK(loads.empty());
    REQUIRE(all.size() == 3 + 3 + 3);
    for (const auto& found : all) {
        CAPTURE(found.which.name);
        REQUIRE(found.results.size() == 5);
        CHECK(found.n == 1001);
        CHECK(found.results[0].refusal == "there is no OpenGL");
        CHECK(found.results[1].ran() == (found.which.kind != QueryKind::Copy));
        CHECK(found.results[2].ran() == (found.which.kind != QueryKind::Copy));
        CHECK(found.results[3].ran() == (found.which.kind == QueryKind::Median));
        CHECK(found.results[4].refusal.find("--sqlite-rows, 1000") != std::string::npos);
        for (const auto& result : found.results) {
            CHECK(result.verified);
            CHECK_FALSE(result.percent_of_limit());
            if (!result.ran()) continue;
            CHECK(result.low_ms <= result.ms);
            CHECK(result.ms <= result.high_ms);
            CHECK(result.ms > 0);
        }
    }
}
