// Conditions that are bound to a table keep their meaning, for values and constants of all types.
#include <doctest/doctest.h>

#include "quadmill/error.hpp"
#include "reference.hpp"
#include "sanitized.hpp"

using namespace reference;  // NOLINT(google-build-using-namespace)

namespace {

// The first row for which the bound condition differs from the expression, or the number of rows if there is none. One
// more if a range ends at a key that no value has.
std::size_t first_wrong(const TableData& table, const Predicate& predicate) {
    check("test", detail::Access::of(predicate), table.infos);
    const auto bound = bind("test", detail::Access::of(predicate), table);
    if (const auto* range = std::get_if<Range>(&bound.leaf)) {
        for (const auto key : {range->low, range->high}) {
            const bool own = visit_column_type(table.columns[range->column]->type, [&]<class T>(const T* /*type*/) {
                return KeyOf<T>::key(KeyOf<T>::value(key)) == key;
            });
            if (!own) return table.rows + 1;
        }
    }
    std::size_t row = 0;
    while (row < table.rows &&
           holds(table, bound, row) == (truth(table, detail::Access::of(predicate), row) == Truth(true)))
        ++row;
    return row;
}

void right(const TableData& table, const Predicate& predicate) {
    const auto wrong = first_wrong(table, predicate);
    const auto wrong_negated = first_wrong(table, !predicate);
    CHECK(wrong == table.rows);
    CHECK(wrong_negated == table.rows);
}

std::vector<Value> constants() {
    std::vector<Value> all;
    for (const auto x : hard_doubles()) all.emplace_back(x);
    for (const auto x : hard_integers()) all.emplace_back(x);
    return all;
}

const char* const texts[] = {"", "b", "bt", "bbt", "cs", "cszz", "d", "zz"};

std::vector<Value> constants_for(ColumnType type) {
    if (type == ColumnType::Text) return {std::begin(texts), std::end(texts)};
    return constants();
}

template <class LeafType>
LeafType bound_leaf(const Table& table, const Predicate& predicate) {
    const auto bound = bind("test", detail::Access::of(predicate), *detail::Access::of(table));
    REQUIRE(bound.kind == Bound::Kind::One);
    REQUIRE(std::holds_alternative<LeafType>(bound.leaf));
    return std::get<LeafType>(bound.leaf);
}

// A condition on columns b0, b1, ... of ones and zeros.
Predicate random_tree(std::mt19937_64& random, int depth) {
    const auto pick = random() % 8;
    if (depth == 0 || pick == 0) {
        if (random() % 12 == 0) return Predicate::always(random() % 2);
        return column({'b', static_cast<char>('0' + random() % 6)}) == 1;
    }
    if (pick < 3) return !random_tree(random, depth - 1);
    const auto a = random_tree(random, depth - 1), b = random_tree(random, depth - 1);
    return pick < 6 ? a && b : a || b;
}

std::size_t leaf_count(const Clauses& all) {
    std::size_t n = 0;
    for (const auto& clause : all) n += clause.size();
    return n;
}

// All 64 rows of six truth values. In each third other rows have NULLs.
Table truth_table() {
    Table table;
    for (std::size_t b = 0; b < 6; ++b) {
        std::vector<std::int32_t> values(192);
        std::vector<bool> valid(192);
        for (std::size_t i = 0; i < 192; ++i) {
            values[i] = static_cast<std::int32_t>(i >> b & 1U);
            valid[i] = i < 64 || (i * 7 + b * 5) % 11 > 3;
        }
        table.add({'b', static_cast<char>('0' + b)}, std::move(values), std::move(valid));
    }
    return table;
}

void is_normal(const Bound& bound) {
    CHECK((bound.kind == Bound::Kind::One || bound.operands.size() > 1));
    for (const auto& operand : bound.operands) {
        CHECK(operand.kind != bound.kind);
        CHECK((operand.kind != Bound::Kind::One || !std::holds_alternative<Always>(operand.leaf)));
        is_normal(operand);
    }
}

}  // namespace

TEST_CASE("A column compares exactly with constants of any type") {
    const auto table = hard_table(400, 1);
    for (const auto& info : table.columns()) {
        CAPTURE(info.name);
        for (const auto& constant : constants_for(info.type)) {
            for (const auto op : comparisons)
                right(*detail::Access::of(table), column(info.name).compare(op, constant));
        }
    }
}

TEST_CASE("Conditions that the min and max value decide become constant, and right") {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        const auto table = hard_table(seed % 4, seed);
        std::mt19937_64 random(seed);
        for (const auto& info : table.columns()) {
            CAPTURE(info.name);
            const auto all = constants_for(info.type);
            for (const auto op : comparisons)
                right(*detail::Access::of(table), column(info.name).compare(op, all[random() % all.size()]));
        }
    }
}

TEST_CASE("BETWEEN and IN are exact, negated too, and empty ones hold for nothing") {
    const auto table = hard_table(400, 2);
    std::mt19937_64 random(2);
    for (const auto& info : table.columns()) {
        CAPTURE(info.name);
        const auto all = constants_for(info.type);
        right(*detail::Access::of(table), column(info.name).in({}));
        right(*detail::Access::of(table), column(info.name).in(all));
        for (int i = 0; i < 60; ++i) {
            right(*detail::Access::of(table),
                  column(info.name).between(all[random() % all.size()], all[random() % all.size()]));
            std::vector<Value> list;
            for (auto n = random() % 12; n > 0; --n) list.push_back(all[random() % all.size()]);
            right(*detail::Access::of(table), column(info.name).in(list));
        }
    }
}

TEST_CASE("Columns compare with columns exactly or not at all") {
    const auto table = hard_table(1000, 3);
    const auto real = [](ColumnType type) { return type == ColumnType::F32 || type == ColumnType::F64; };
    int refused = 0;
    for (const auto& a : table.columns()) {
        for (const auto& b : table.columns()) {
            if ((a.type == ColumnType::Text) != (b.type == ColumnType::Text)) continue;
            CAPTURE(a.name);
            CAPTURE(b.name);
            for (const auto op : comparisons) {
                const auto predicate = column(a.name).compare(op, column(b.name));
                const bool wide_a = a.name == "l" || a.name == "m", wide_b = b.name == "l" || b.name == "m";
                if ((wide_a && real(b.type)) || (wide_b && real(a.type))) {
                    CHECK_THROWS_AS(static_cast<void>(first_wrong(*detail::Access::of(table), predicate)),
                                    InvalidArgument);
                    ++refused;
                } else {
                    right(*detail::Access::of(table), predicate);
                }
            }
        }
    }
    CHECK(refused == 16 * 6);
    constexpr std::int64_t end = std::int64_t{1} << 53U;
    Table edges;
    edges.add("d", std::vector<double>{1, 2}).add("both", std::vector<std::int64_t>{-end, end});
    edges.add("above", std::vector<std::int64_t>{0, end + 1}).add("below", std::vector<std::int64_t>{0, -end - 1});
    right(*detail::Access::of(edges), column("both") < column("d"));
    for (const auto* name : {"above", "below"})
        for (const auto& inexact : {column(name) < column("d"), Predicate::linear({{2, name}}, Comparison::Less, 1)})
            CHECK_THROWS_AS(static_cast<void>(first_wrong(*detail::Access::of(edges), inexact)), InvalidArgument);
}

TEST_CASE("formulas are computed as written, or refused") {
    const auto table = hard_table(300, 17);
    std::mt19937_64 random(5);
    const std::vector<std::vector<std::string>> lists{{"d"},           {"f"},      {"e", "g", "i"}, {"l"},
                                                      {"l", "m", "u"}, {"i", "v"}, {"k", "d"},      {"l", "d"}};
    int right_ones = 0, refused = 0;
    for (int i = 0; i < 3000; ++i) {
        const auto& columns = lists[random() % lists.size()];
        const auto formula = random_formula(random, columns, comparisons[random() % 6], columns.back() != "u");
        try {
            static_cast<void>(bind("test", detail::Access::of(formula), *detail::Access::of(table)));
        } catch (const InvalidArgument&) {
            ++refused;
            continue;
        }
        right(*detail::Access::of(table), random() % 2 != 0 ? formula : !formula);
        ++right_ones;
    }
    CHECK(right_ones > 2000);
    CHECK(refused > 50);
}

TEST_CASE("Semi-linear conditions, NULLs and constants") {
    const auto table = hard_table(1000, 4);
    for (const auto op : comparisons) {
        right(*detail::Access::of(table),
              Predicate::linear({{.factor = 0.5, .column = "i"}, {.factor = -2, .column = "g"}}, op, 1));
        right(*detail::Access::of(table), Predicate::linear({{.factor = 1, .column = "k"}}, op, 0x1p53));
        right(*detail::Access::of(table),
              Predicate::linear({{.factor = 1, .column = "u"}, {.factor = 1, .column = "e"}}, op,
                                std::numeric_limits<double>::quiet_NaN()));
    }
    for (const auto& info : table.columns()) right(*detail::Access::of(table), column(info.name).is_null());
    right(*detail::Access::of(table), Predicate::always(true));
    right(*detail::Access::of(table),
          column("g").is_null() || (column("g") > 0.5 && !(column("s") == "bs" || column("i") < 3)));
}

TEST_CASE("Leaves are as small as they can be") {
    Table table;
    table.add("i", std::vector<std::int32_t>{-5, 0, 9}).add("f", std::vector<float>{-1, 0.1F, 7});
    table.add("n", std::vector<float>{1, 2, 3}, {true, false, true});
    using I = KeyOf<std::int32_t>;
    const auto range = bound_leaf<Range>(table, column("i") > 2.5);
    CHECK(range.low == I::key(3));
    CHECK(range.high == I::key(std::numeric_limits<std::int32_t>::max()));
    const auto zero = bound_leaf<Range>(table, column("f") != -0.0);
    CHECK(zero.low == zero.high);
    CHECK(zero.low == KeyOf<float>::key(0));
    CHECK(zero.negate);
    CHECK(!bound_leaf<Always>(table, column("f") == 0.1).value);
    CHECK(bound_leaf<Always>(table, column("f") != 0.1).value);
    CHECK(!bound_leaf<Always>(table, column("n") == 0.1).value);
    CHECK(bound_leaf<IsNull>(table, column("n") != 0.1).negate);
    CHECK(bound_leaf<IsNull>(table, column("n") <= 3).negate);
    CHECK(bound_leaf<Always>(table, column("i") < std::int64_t{1} << 40U).value);
    CHECK(bound_leaf<Range>(table, column("i").in({1, 2.0, 3, 3})).low == I::key(1));
    const auto member = bound_leaf<Member>(table, column("i").in({9, -5, 2.5, 9, 1000, std::nan("")}));
    CHECK(member.keys == std::vector<Key>{I::key(-5), I::key(9)});
    CHECK(!bound_leaf<Always>(table, !(column("i") > -6 || column("f") < 0)).value);
    // Ranges of the same column in a conjunction are merged.
    const auto narrow = bound_leaf<Range>(table, column("i") >= -3 && (column("i") <= 8 && column("i") > -2));
    CHECK(narrow.low == I::key(-1));
    CHECK(narrow.high == I::key(8));
    CHECK(!bound_leaf<Always>(table, column("i") > 5 && column("f") > 0 && column("i") < 3).value);
    const auto both = bind("test", detail::Access::of((column("i") > 1 || column("f") > 2) && column("i") < 5),
                           *detail::Access::of(table));
    CHECK(leaves(both) == 3);
}

TEST_CASE("Trees and their conjunctive normal forms have the same truth tables") {
    const auto table = truth_table();
    int too_long = 0;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        const auto predicate = random_tree(random, 5);
        right(*detail::Access::of(table), predicate);
        const auto bound = bind("test", detail::Access::of(predicate), *detail::Access::of(table));
        is_normal(bound);
        const auto all = clauses(bound, 300);
        if (!all) {
            ++too_long;
            continue;
        }
        std::size_t wrong = 0;
        for (std::size_t row = 0; row < table.rows(); ++row) {
            bool every = true;
            for (const auto& clause : *all) {
                bool any = false;
                for (const auto& leaf : clause) any |= holds(*detail::Access::of(table), leaf, row);
                every &= any;
            }
            wrong += every != holds(*detail::Access::of(table), bound, row);
        }
        CHECK(wrong == 0);
        CHECK(leaf_count(*all) <= 300);
        CHECK(clauses(bound, leaf_count(*all)).has_value());
        CHECK(!clauses(bound, leaf_count(*all) - 1).has_value());
    }
    CHECK(too_long > 0);
    CHECK(too_long < 300);
}

TEST_CASE("Mismatched types and names are refused with the reason") {
    Table table;
    table.add("i", std::vector<std::int32_t>{1}).add("t", std::vector<std::string>{"x"});
    const auto message = [&](const Predicate& predicate) -> std::string {
        try {
            check("QueryPlan", detail::Access::of(predicate), table.columns());
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return {};
    };
    CHECK(message(column("i") == 1 && column("t") == "x").empty());
    CHECK(message(!(column("i") == 1 && column("z") == 1)) == "QueryPlan: there is no column 'z' among 'i', 't'");
    CHECK(message(column("i").in({1, "one"})) ==
          "QueryPlan: column 'i' of type I32 cannot be compared with the text 'one'");
    CHECK(message(column("t") < 3) == "QueryPlan: column 't' of type text cannot be compared with the number 3");
    CHECK(message(column("t") > 1.5e-9).ends_with("with the number 1.5e-09"));
    CHECK(message(column("t") == column("i")).find("cannot be compared with column 'i'") != std::string::npos);
    CHECK(message(column("i") == Value()).find("is_null()") != std::string::npos);
    CHECK(message(column("t").between("a", Value())).find("is_null()") != std::string::npos);
    CHECK(message(column("z").in({})).find("no column 'z'") != std::string::npos);
    CHECK(message(column("z").is_null()).find("no column 'z'") != std::string::npos);
    CHECK(message(Predicate::linear({{.factor = 1, .column = "t"}}, Comparison::Less, 1)).find("of numbers") !=
          std::string::npos);
    CHECK_THROWS_AS(static_cast<void>(Predicate::linear({}, Comparison::Less, 1)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(column("i") < ~std::uint64_t{0}), InvalidArgument);
}

TEST_CASE("A condition that was built in a loop is not deep") {
    Table table;
    table.add("i", std::vector<std::int32_t>{4000, 9000});
    auto any = column("i") == 0;
    constexpr int end = quadmill::test::sanitized ? 10'000 : 40'000;
    for (int i = 2; i < end; i += 2) any = any || column("i") == i;
    CHECK(detail::Access::of(any).operands.size() == static_cast<std::size_t>(end / 2));
    CHECK(first_wrong(*detail::Access::of(table), any && !(column("i") == 9000)) == 2);
    const auto grow = [](int levels) {
        auto mixed = column("i") == 0;
        for (int i = 1; i < levels; ++i) mixed = i % 2 == 0 ? mixed || column("i") == i : mixed && column("i") == i;
        return mixed;
    };
    CHECK(first_wrong(*detail::Access::of(table), grow(250)) == 2);
    CHECK_THROWS_WITH_AS(grow(20000), doctest::Contains("250 levels"), InvalidArgument);
}
