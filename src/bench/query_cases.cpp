#include "bench/query_cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "query/table/key.hpp"

namespace quadmill::detail::bench {

namespace {

using query::Clauses;
using query::Key;
using query::KeyOf;
using query::Leaf;
using query::Range;
using Ask = QueryCase::Ask;

constexpr int bits_of_a = 24, bits_of_c = 40;
constexpr std::array<const char*, 5> names{"a", "b", "c", "d", "e"};

Key largest(std::size_t column) {
    switch (column) {
        case column_b:
        case column_e:
            return KeyOf<float>::key(std::numeric_limits<float>::infinity());
        case column_c:
            return KeyOf<std::int64_t>::max;
        default:
            return KeyOf<std::int32_t>::max;
    }
}

Leaf at_most(std::size_t column, double part) {
    return Range{column, 0, key_at(column, part)};
}
Leaf at_least(std::size_t column, double part) {
    return Range{column, key_at(column, part), largest(column)};
}

// Clauses with one test each, all on one column.
Clauses one_column(std::size_t column, std::size_t clauses) {
    const std::array<Leaf, 4> all{at_least(column, 0.05), at_most(column, 0.95), at_least(column, 0.1),
                                  at_most(column, 0.9)};
    Clauses out;
    for (std::size_t i = 0; i < clauses; ++i) out.push_back({all.at(i)});
    return out;
}

// Clauses with two tests each, on a and b.
Clauses two_columns(std::size_t clauses) {
    const std::array<std::vector<Leaf>, 4> all{{{at_most(column_a, 0.6), at_least(column_b, 0.6)},
                                                {at_least(column_a, 0.2), at_most(column_b, 0.7)},
                                                {at_most(column_a, 0.9), at_most(column_b, 0.3)},
                                                {at_least(column_a, 0.1), at_least(column_b, 0.8)}}};
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(clauses)};
}

Leaf linear() {
    return query::Linear{{0.5, 1e7}, {column_a, column_b}, Comparison::LessOrEqual, 8e6};
}

Leaf eight_values() {
    query::Member member{column_a, {}};
    for (int i = 1; i <= 8; ++i) member.keys.push_back(key_at(column_a, i * 0.11));
    return member;
}

class CaseList {
  public:
    CaseList(const std::vector<QueryKind>& kinds, std::size_t rows) : kinds_(kinds), rows_(rows) {
        copies();
        predicates();
        conjunctions();
        others();
        ranks();
        groups();
    }
    [[nodiscard]] std::vector<QueryCase> take() { return std::move(cases_); }

  private:
    void add(QueryCase one) {
        if (std::ranges::find(kinds_, one.kind) != kinds_.end()) cases_.push_back(std::move(one));
    }
    void copies() {
        for (const auto column : {column_a, column_b, column_c})
            add({.kind = QueryKind::Copy,
                 .name = std::string("copy ") + names.at(column) + " to depth",
                 .ask = Ask::Copy,
                 .column = column});
    }
    void predicates() {
        constexpr double goal = 1 / 0.85;
        for (const auto column : {column_a, column_b, column_c})
            add({.kind = QueryKind::Predicate,
                 .name = std::string(names.at(column)) + " <= x",
                 .where = {{at_most(column, 0.6)}},
                 .goal_passes = goal});
        add({.kind = QueryKind::Predicate,
             .name = "a <= x, copied to depth each time",
             .where = {{at_most(column_a, 0.6)}},
             .depth = QueryCase::Depth::Forgotten});
        for (const auto column : {column_a, column_c, column_e})
            add({.kind = QueryKind::Range,
                 .name = std::string("x <= ") + names.at(column) + " <= y",
                 .where = {{Range{column, key_at(column, 0.2), key_at(column, 0.8)}}},
                 .goal_passes = goal});
        add({.kind = QueryKind::Pair,
             .name = "b <= e",
             .where = {{query::Pair{column_b, column_e, Comparison::LessOrEqual}}}});
    }
    void conjunctions() {
        const auto cnf = [&](const std::string& of, Clauses where) {
            const auto clauses = where.size();
            add({.kind = QueryKind::Cnf,
                 .name = std::to_string(clauses) + " clauses, " + of,
                 .where = std::move(where),
                 .goal_passes = static_cast<double>(clauses) + 1});
        };
        for (const std::size_t clauses : {2U, 3U, 4U}) cnf("a", one_column(column_a, clauses));
        for (const std::size_t clauses : {2U, 3U, 4U}) cnf("a or b", two_columns(clauses));
        cnf("c", one_column(column_c, 2));
    }
    void others() {
        add({.kind = QueryKind::Linear, .name = "x a + y b <= z", .where = {{linear()}}});
        add({.kind = QueryKind::In, .name = "a in 8 values", .where = {{eight_values()}}});
        add({.kind = QueryKind::Nulls, .name = "d is null", .where = {{query::IsNull{column_d}}}});
        add({.kind = QueryKind::Sum, .name = "sum of a", .ask = Ask::Sum, .column = column_a});
        for (const auto column : {column_a, column_e})
            add({.kind = QueryKind::Extreme,
                 .name = std::string("least of ") + names.at(column),
                 .ask = Ask::Min,
                 .column = column});
    }
    void ranks() {
        constexpr double goal = 34;
        constexpr std::size_t top = 1000;  // k of the k-th value
        const auto kth = [&](QueryKind kind, const std::string& what, std::uint64_t k) {
            for (const auto column : {column_a, column_b, column_c})
                add({.kind = kind,
                     .name = what + " of " + names.at(column),
                     .ask = Ask::Kth,
                     .column = column,
                     .k = k,
                     .goal_passes = goal});
        };
        kth(QueryKind::Median, "median", (rows_ - 1) / 2);
        kth(QueryKind::Kth, "k-th largest", rows_ - std::min(top, rows_));
    }

    // 4,096 groups, and about as many groups as rows.
    void groups() {
        for (const auto column : {column_e, column_c})
            add({.kind = QueryKind::Groups,
                 .name = std::string("MAX of a by ") + names.at(column),
                 .ask = Ask::Groups,
                 .column = column});
    }

    const std::vector<QueryKind>& kinds_;
    std::size_t rows_;
    std::vector<QueryCase> cases_;
};

}  // namespace

query::Key key_at(std::size_t column, double part) {
    switch (column) {
        case column_b:
        case column_e:
            return KeyOf<float>::key(static_cast<float>(part));
        case column_c:
            return KeyOf<std::int64_t>::key(std::llround(std::ldexp(part, bits_of_c)));
        default:
            return KeyOf<std::int32_t>::key(static_cast<std::int32_t>(std::lround(std::ldexp(part, bits_of_a))));
    }
}

Table query_table(std::size_t rows, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::int32_t> a(rows), d(rows);
    std::vector<float> b(rows), e(rows);
    std::vector<std::int64_t> c(rows);
    std::vector<bool> valid(rows);
    for (auto& value : a) value = static_cast<std::int32_t>(random() >> (64 - bits_of_a));
    // Odd numbers, so that none is 0: between 0 and the others there are more floats than depths.
    for (auto& value : b) value = static_cast<float>((random() >> 40U) | 1U) * 0x1p-24F;
    for (auto& value : c) value = static_cast<std::int64_t>(random() >> (64 - bits_of_c));
    for (std::size_t i = 0; i < rows; ++i) {
        const auto bits = random();
        d[i] = static_cast<std::int32_t>(bits >> (64 - bits_of_a));
        valid[i] = bits % 8 != 0;
    }
    for (auto& value : e) value = static_cast<float>(random() >> 52U) * 0x1p-12F;
    e.front() = 0;
    Table table;
    table.add("a", std::move(a)).add("b", std::move(b)).add("c", std::move(c)).add("d", std::move(d), std::move(valid));
    table.add("e", std::move(e));
    return table;
}

std::vector<QueryCase> query_cases(const std::vector<QueryKind>& kinds, std::size_t rows) {
    return CaseList(kinds, rows).take();
}

}  // namespace quadmill::detail::bench
