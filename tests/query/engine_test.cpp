// Compares the engines of a test program with a plain loop over rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "engines.hpp"
#include "quadmill/error.hpp"
#include "query/plan/describe.hpp"
#include "reference.hpp"

using namespace reference;       // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

__extension__ using Wide = __int128;
constexpr std::size_t sizes[] = {0, 1, 31, 32, 33, 1000, 100003};

std::vector<std::size_t> all_columns(const TableData& table) {
    std::vector<std::size_t> all(table.columns.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

std::vector<std::uint32_t> words_of(const TableData& table, const Leaf& leaf) {
    std::vector<std::uint32_t> words((table.rows + 31) / 32);
    for (std::size_t row = 0; row < table.rows; ++row)
        words[row / 32] |= std::uint32_t{holds(table, leaf, row)} << (row % 32);
    return words;
}

// Keys of some rows, and keys that no row has; ascending, without duplicates.
std::vector<Key> some_keys(const TableData& table, std::size_t column, std::size_t n, std::mt19937_64& random) {
    std::vector<Key> keys{0};
    for (std::size_t i = 1; i < n; ++i) {
        const auto key = table.rows > 0 ? key_of(table, column, random() % table.rows) : i;
        keys.push_back(random() % 4 ? key : key / 2);
        // Half the key of the largest float is the key before that of +0, which no value has.
        visit_column_type(table.infos[column].type, [&]<class T>(const T* /*type*/) {
            keys.back() = KeyOf<T>::key(KeyOf<T>::value(keys.back()));
        });
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

std::vector<Leaf> leaves_of_column(const TableData& table, std::size_t column, std::mt19937_64& random) {
    std::vector<Leaf> leaves{IsNull{.column = column}, IsNull{.column = column, .negate = true}};
    const auto max = key_bits(table.infos[column].type) == 64 ? ~Key{0} : Key{0xffffffff};
    for (const bool negate : {false, true}) {
        const auto keys = some_keys(table, column, 4, random);
        leaves.emplace_back(Range{.column = column, .low = keys.front(), .high = keys.back(), .negate = negate});
        leaves.emplace_back(Range{.column = column, .low = keys.back(), .high = keys.back(), .negate = negate});
        leaves.emplace_back(Range{.column = column, .low = keys.back(), .high = max, .negate = negate});
        leaves.emplace_back(Range{.column = column, .low = 0, .high = max, .negate = negate});
        for (const std::size_t n : {1U, 8U, 9U, 40U})
            leaves.emplace_back(
                Member{.column = column, .keys = some_keys(table, column, n, random), .negate = negate});
        std::vector<Key> close;
        for (Key key = 0; key < 40; key += 1 + key % 3) close.push_back(table.columns[column]->min + key);
        leaves.emplace_back(Member{.column = column, .keys = close, .negate = negate});
    }
    return leaves;
}

std::vector<Leaf> pairs(const TableData& table, std::mt19937_64& random) {
    std::vector<Leaf> leaves;
    for (const auto* names : {"ff", "fg", "de", "ed", "fd", "ge", "ij", "ji", "uv", "lm", "ts", "st",
                              "iu", "vj", "lu", "im", "fi", "ju", "dk", "kf", "uk", "ev", "gu"}) {
        const auto a = index_of(table, {names[0]}), b = index_of(table, {names[1]});
        const auto op = comparisons[random() % 6];
        const auto expression = column({names[0]}).compare(op, column({names[1]}));
        auto leaf = bind("test", detail::Access::of(expression), table).leaf;
        REQUIRE(std::get<Pair>(leaf).a == a);
        REQUIRE(std::get<Pair>(leaf).b == b);
        leaves.push_back(leaf);
        std::get<Pair>(leaf).negate = true;
        leaves.push_back(leaf);
    }
    return leaves;
}

std::vector<Leaf> linears(const TableData& table, std::mt19937_64& random) {
    std::vector<Leaf> leaves{Always{true}, Always{false}};
    for (const auto op : comparisons) {
        for (const bool negate : {false, true}) {
            leaves.emplace_back(Linear{.factors = {0.1, -3},
                                       .columns = {index_of(table, "i"), index_of(table, "e")},
                                       .op = op,
                                       .constant = hard_number<double>(random),
                                       .negate = negate});
            leaves.emplace_back(Linear{.factors = {1, 1, -1},
                                       .columns = {index_of(table, "l"), index_of(table, "v"), index_of(table, "l")},
                                       .op = op,
                                       .constant = 2048,
                                       .negate = negate});
        }
    }
    for (int i = 0; i < 12; ++i) {
        const std::vector<std::string> integers{"l", "m", "u", "i"}, doubles{"f", "i", "k"};
        const bool fractions = i % 2 != 0;
        const auto e = random_formula(random, fractions ? doubles : integers, comparisons[random() % 6], fractions);
        try {
            const auto leaf = bind("test", detail::Access::of(e), table).leaf;
            if (std::holds_alternative<Formula>(leaf)) leaves.push_back(leaf);
        } catch (const InvalidArgument&) {  // not exact
        }
    }
    return leaves;
}

// For messages; only for a formula.
std::string formula_words(const TableData& table, const Leaf& leaf) {
    const auto* formula = std::get_if<Formula>(&leaf);
    if (!formula) return "";
    Expression e{.kind = Expression::Kind::Formula, .op = formula->op};
    for (const auto& step : formula->steps) {
        const bool is_column = step.op == Arithmetic::Leaf;
        e.steps.push_back({step.op, is_column ? table.infos[step.leaf].name : "", step.constant});
    }
    return describe(e) + (formula->as == Formula::As::Integers ? ", integers" : ", doubles");
}

BitsPtr random_rows(Columns& columns, const TableData& table, std::size_t column, unsigned one_in,
                    std::mt19937_64& random) {
    std::vector<std::uint32_t> words((table.rows + 31) / 32);
    for (std::size_t row = 0; row < table.rows; ++row) {
        const bool in = has_value(*table.columns[column], row) && random() % one_in == 0;
        words[row / 32] |= std::uint32_t{in} << (row % 32);
    }
    return columns.bits_of(words);
}

// The exact sum of numbers that are multiples of 2^-40.
template <class T>
Wide exact_sum(const std::vector<T>& values, const std::vector<std::uint64_t>& rows, bool absolute) {
    Wide sum = 0;
    for (const auto row : rows) {
        const auto x = static_cast<Wide>(std::ldexp(static_cast<long double>(values[row]), 40));
        sum += absolute && x < 0 ? -x : x;
    }
    return sum;
}

template <class T>
std::vector<T> wild_floats(std::size_t n, std::mt19937_64& random) {
    std::vector<T> values(n);
    for (auto& x : values) {
        const auto digits = static_cast<double>(random() % (1U << 24U)) - 0x1p23;
        x = static_cast<T>(std::ldexp(digits, static_cast<int>(random() % 60) - 40));
    }
    return values;
}

// Adding them one after the other rounds in the same direction each time.
std::vector<double> drifting(std::size_t n) {
    std::vector<double> values(n, 0x3p-40);
    values[0] = 0x1p14;
    return values;
}

template <class Engine, class T>
void check_float_sum(Engine& engine, const std::vector<T>& values, unsigned one_in, std::mt19937_64& random) {
    Table table;
    table.add("x", values);
    const auto columns = engine.open(detail::Access::of(table), all_columns(*detail::Access::of(table)));
    const auto bits = random_rows(*columns, *detail::Access::of(table), 0, one_in, random);
    const auto rows = columns->rows(*bits);
    if (rows.empty()) return;
    const auto sum = columns->sum(0, *bits).value;
    const auto error =
        std::ldexp(static_cast<long double>(sum), 40) - static_cast<long double>(exact_sum(values, rows, false));
    const auto bound = (std::log2(static_cast<long double>(rows.size())) + 8) * 0x1p-53L *
                       static_cast<long double>(exact_sum(values, rows, true));
    CHECK(std::abs(error) <= bound);
}

}  // namespace

TEST_CASE_TEMPLATE("Each leaf equals a loop over rows, for all types and sizes", Engine, ENGINES) {
    for (const auto size : sizes) {
        CAPTURE(size);
        const auto table = hard_table(size, size + 5);
        const auto& data = *detail::Access::of(table);
        Engine engine(size % 2 == 0 ? 1 : 3);
        const auto columns = engine.open(detail::Access::of(table), all_columns(data));
        std::mt19937_64 random(size);
        auto leaves = linears(data, random);
        const auto more = [&](const std::vector<Leaf>& others) {
            leaves.insert(leaves.end(), others.begin(), others.end());
        };
        if (size > 1) more(pairs(data, random));
        for (const auto column : all_columns(data)) more(leaves_of_column(data, column, random));
        if (size > 1000) {  // the reference is slow
            std::shuffle(leaves.begin(), leaves.end(), random);
            leaves.resize(110);
        }
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            CAPTURE(i);
            CAPTURE(leaves[i].index());
            CAPTURE(formula_words(data, leaves[i]));
            const auto bits = columns->leaf(leaves[i]);
            const auto words = columns->words(*bits);
            const bool same = words == words_of(data, leaves[i]);
            CHECK(same);
        }
    }
}

TEST_CASE_TEMPLATE("Conditions from their text to their rows", Engine, ENGINES) {
    const auto table = hard_table(1000, 77);
    Engine engine(2);
    const auto columns = engine.open(detail::Access::of(table), all_columns(*detail::Access::of(table)));
    std::mt19937_64 random(7);
    std::size_t selected = 0;
    for (int i = 0; i < 1000; ++i) {
        const auto& info = table.columns()[random() % 11];
        const auto op = comparisons[random() % 6];
        const auto constant = i % 2 ? Value(hard_number<double>(random)) : Value(hard_number<std::int64_t>(random));
        auto predicate = column(info.name).compare(op, constant);
        if (i % 3 == 0) predicate = !predicate;
        const auto bits = columns->leaf(bind("test", detail::Access::of(predicate), *detail::Access::of(table)).leaf);
        std::vector<std::uint64_t> expected;
        for (std::size_t row = 0; row < table.rows(); ++row) {
            if (truth(*detail::Access::of(table), detail::Access::of(predicate), row) == Truth(true))
                expected.push_back(row);
        }
        const auto rows = columns->rows(*bits);
        const bool same = rows == expected;
        CAPTURE(info.name);
        CHECK(same);
        selected += rows.size();
    }
    CHECK(selected > 100'000);
    CHECK(selected < 900'000);
}

TEST_CASE_TEMPLATE("A condition in clauses has the same rows at once as leaf by leaf", Engine, ENGINES) {
    for (const std::size_t size : {1U, 33U, 1000U, 20'001U}) {
        std::mt19937_64 random(size);
        auto table = hard_table(size, 5);
        std::vector<std::int32_t> close(size);  // whose keys fit into one depth
        for (auto& x : close) x = static_cast<std::int32_t>(random() % 1000) - 500;
        std::vector<bool> valid(size);
        for (std::size_t i = 0; i < size; ++i) valid[i] = random() % 3 > 0;
        table.add("close", close).add("closer", close, valid);
        const auto& data = *detail::Access::of(table);
        Engine engine(2);
        const auto columns = engine.open(detail::Access::of(table), all_columns(data));
        std::vector<Leaf> leaves = size > 1 ? pairs(data, random) : std::vector<Leaf>{};
        for (const auto column : all_columns(data)) {
            const auto more = leaves_of_column(data, column, random);
            leaves.insert(leaves.end(), more.begin(), more.end());
        }
        for (const bool negate : {false, true}) {
            for (const auto* name : {"close", "closer"}) {
                const auto from = KeyOf<std::int32_t>::key(-200);
                leaves.emplace_back(Range{index_of(data, name), from, from + 300, negate});
                leaves.emplace_back(Range{index_of(data, name), from, from, negate});
                leaves.emplace_back(Range{index_of(data, name), 0, from, negate});
            }
            leaves.emplace_back(Pair{.a = index_of(data, "close"),
                                     .b = index_of(data, "closer"),
                                     .op = comparisons[random() % 6],
                                     .negate = negate});
        }
        // Each formula is a program, which takes long to compile: few for small tables.
        for (int round = 0, rounds = size < 1000 ? 12 : 40; round < rounds; ++round) {
            Clauses clauses(round == 0 ? 130 : 1 + random() % 4);
            for (auto& clause : clauses) {
                clause.resize(round % 5 == 1 ? 1 : 1 + random() % 3, Always{true});
                for (auto& leaf : clause) leaf = leaves[random() % leaves.size()];
                // Each of many clauses must hold for most rows, otherwise no row is left.
                if (round == 0)
                    clause.emplace_back(
                        Range{index_of(data, "close"), 0, random() % 2 ? ~Key{0} : KeyOf<std::int32_t>::key(490)});
            }
            std::vector<std::uint32_t> expected((size + 31) / 32, ~std::uint32_t{0});
            for (const auto& clause : clauses) {
                std::vector<std::uint32_t> any(expected.size());
                for (const auto& leaf : clause) {
                    const auto words = words_of(data, leaf);
                    for (std::size_t w = 0; w < any.size(); ++w) any[w] |= words[w];
                }
                for (std::size_t w = 0; w < any.size(); ++w) expected[w] &= any[w];
            }
            std::uint64_t count = 0;
            for (const auto word : expected) count += static_cast<std::uint64_t>(std::popcount(word));
            auto* const gpu = columns->gpu();
            REQUIRE(has_conjunction<Engine> == (gpu != nullptr));
            if (!gpu) continue;
            CAPTURE(size);
            CAPTURE(round);
            const bool same = columns->words(*gpu->conjunction(clauses)) == expected;
            CHECK(same);
            CHECK(gpu->count_conjunction(clauses) == count);
        }
    }
}

TEST_CASE_TEMPLATE("Rows combine, count and come back as they were", Engine, ENGINES) {
    for (const auto size : sizes) {
        CAPTURE(size);
        const auto table = hard_table(size, 3);
        Engine engine(3);
        const auto columns = engine.open(detail::Access::of(table), {});
        std::mt19937_64 random(size);
        std::vector<std::uint32_t> x((size + 31) / 32), y(x.size());
        for (auto& word : x) word = static_cast<std::uint32_t>(random());
        for (auto& word : y) word = random() % 3 ? static_cast<std::uint32_t>(random()) : 0;
        const auto a = columns->bits_of(x), b = columns->bits_of(y);
        if (size % 32 != 0) x.back() &= (1U << (size % 32)) - 1;
        if (size % 32 != 0) y.back() &= (1U << (size % 32)) - 1;
        CHECK((columns->words(*a) == x));
        std::vector<std::uint64_t> rows;
        std::vector<std::uint32_t> both(x), either(x), only(x);
        for (std::size_t w = 0; w < x.size(); ++w) {
            both[w] &= y[w];
            either[w] |= y[w];
            only[w] &= ~y[w];
            for (std::size_t i = 0; i < 32; ++i) {
                if (x[w] >> i & 1U) rows.push_back(w * 32 + i);
            }
        }
        CHECK((columns->words(*columns->combine(BoolOp::And, *a, *b)) == both));
        CHECK((columns->words(*columns->combine(BoolOp::Or, *a, *b)) == either));
        CHECK((columns->words(*columns->combine(BoolOp::AndNot, *a, *b)) == only));
        CHECK((columns->rows(*a) == rows));
        CHECK(columns->count(*a) == rows.size());
        CHECK(columns->count(*columns->leaf(Always{true})) == size);
    }
}

TEST_CASE_TEMPLATE("Extremes and the k-th equal those of the sorted keys", Engine, ENGINES) {
    for (const std::size_t size : {1U, 33U, 1000U, 200'003U}) {
        const auto table = hard_table(size, 21);
        const auto& data = *detail::Access::of(table);
        Engine engine(3);
        const auto columns = engine.open(detail::Access::of(table), all_columns(data));
        std::mt19937_64 random(size);
        for (const auto column : all_columns(data)) {
            for (const unsigned one_in : {1U, 9U}) {
                const auto bits = random_rows(*columns, data, column, one_in, random);
                std::vector<Key> keys;
                for (const auto row : columns->rows(*bits)) keys.push_back(key_of(data, column, row));
                if (keys.empty()) continue;
                std::sort(keys.begin(), keys.end());
                CAPTURE(size);
                CAPTURE(data.infos[column].name);
                const auto extremes = columns->extremes(column, *bits);
                CHECK(extremes.first == keys.front());
                CHECK(extremes.second == keys.back());
                std::vector<std::size_t> places{keys.size() / 2};
                if (size <= 1000) places = {0, keys.size() / 2, random() % keys.size(), keys.size() - 1};
                for (const auto k : places) {
                    const auto found = columns->kth(column, k, *bits);
                    CHECK(found == keys[k]);
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("The 2nd largest of the course's example", Engine, ENGINES) {
    Engine engine(1);
    Table table;
    table.add("v", std::vector<std::uint32_t>{0b0011, 0b1011, 0b1101, 0b0111, 0b0101, 0b0001, 0b0111, 0b1010, 0b0010});
    const auto columns = engine.open(detail::Access::of(table), std::array{std::size_t{0}});
    CHECK(columns->kth(0, 9 - 2, *columns->leaf(Always{true})) == 0b1011);
    for (const auto& [probe, count] : {std::pair{0b1000U, 3U}, {0b1100U, 1U}, {0b1010U, 3U}, {0b1011U, 2U}})
        CHECK(columns->count(*columns->leaf(Range{0, probe, ~std::uint32_t{0}})) == count);
}

TEST_CASE_TEMPLATE("The k-th of many keys that are all the same, close together or far apart", Engine, ENGINES) {
    Engine engine(2);
    for (const std::uint64_t spread : {std::uint64_t{1}, std::uint64_t{3000}, ~std::uint64_t{0}}) {
        std::mt19937_64 random(spread);
        std::vector<std::int64_t> values(150'000);
        for (auto& x : values) x = static_cast<std::int64_t>(random() % spread);
        if (spread > 3000) {  // so that the last of equal ranges of keys ends beyond 2^64
            values[0] = std::numeric_limits<std::int64_t>::min() + 1;
            for (std::size_t i = 1; i < 80'000; ++i)
                values[i] = std::numeric_limits<std::int64_t>::max() - static_cast<std::int64_t>(i % 1000);
        }
        Table table;
        table.add("x", values);
        const auto columns = engine.open(detail::Access::of(table), all_columns(*detail::Access::of(table)));
        std::sort(values.begin(), values.end());
        const auto all = columns->leaf(Always{true});
        for (const std::size_t k : {0U, 1U, 75'000U, 149'000U, 149'999U}) {
            const auto found = columns->kth(0, k, *all);
            CHECK(KeyOf<std::int64_t>::value(found) == values[k]);
        }
    }
}

TEST_CASE_TEMPLATE("Sums of integers are exact", Engine, ENGINES) {
    for (const auto size : sizes) {
        const auto table = hard_table(size, 11);
        const auto& data = *detail::Access::of(table);
        Engine engine(3);
        const auto columns = engine.open(detail::Access::of(table), all_columns(data));
        std::mt19937_64 random(size);
        for (const auto* name : {"i", "j", "u", "v", "l", "m"}) {
            const auto column = index_of(data, name);
            for (const unsigned one_in : {1U, 3U}) {
                const auto bits = random_rows(*columns, data, column, one_in, random);
                Wide expected = 0;
                for (const auto row : columns->rows(*bits))
                    expected += static_cast<Wide>(std::get<Real>(cell(data, column, row)));
                const auto sum = columns->sum(column, *bits);
                CAPTURE(size);
                CAPTURE(name);
                CHECK((sum.integer == expected));
            }
        }
    }
    Table table;
    table.add("most", std::vector<std::int64_t>(70'000, std::numeric_limits<std::int64_t>::max()));
    table.add("least", std::vector<std::int64_t>(70'000, std::numeric_limits<std::int64_t>::min()));
    Engine engine(2);
    const auto columns = engine.open(detail::Access::of(table), all_columns(*detail::Access::of(table)));
    const auto all = columns->leaf(Always{true});
    using Limits = std::numeric_limits<std::int64_t>;
    CHECK((columns->sum(0, *all).integer == Wide{70'000} * Limits::max()));
    CHECK((columns->sum(1, *all).integer == Wide{70'000} * Limits::min()));
}

TEST_CASE_TEMPLATE(
    "Sums of floats are within (log2 n + 8) 2^-53 of the sum of absolute values, and the same for any threads", Engine,
    ENGINES) {
    for (const unsigned threads : {1U, 3U}) {
        Engine engine(threads);
        for (const std::size_t size : {1U, 2U, 31U, 64U, 65U, 1000U, 65'536U, 500'001U}) {
            for (const unsigned one_in : {1U, 2U, 100U}) {
                CAPTURE(size);
                std::mt19937_64 random(size);
                check_float_sum(engine, wild_floats<float>(size, random), one_in, random);
                check_float_sum(engine, wild_floats<double>(size, random), one_in, random);
                check_float_sum(engine, drifting(size), one_in, random);
            }
        }
    }
    Table table;
    std::vector<double> values(300'000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<double>(i)) * 1e3;
    table.add("x", values);
    std::vector<std::uint64_t> sums;
    for (const unsigned threads : {1U, 2U, 5U}) {
        Engine engine(threads);
        const auto columns = engine.open(detail::Access::of(table), all_columns(*detail::Access::of(table)));
        const auto sum = columns->sum(0, *columns->leaf(Always{true})).value;
        sums.push_back(std::bit_cast<std::uint64_t>(sum));
    }
    CHECK(sums[0] == sums[1]);
    CHECK(sums[0] == sums[2]);
}

TEST_CASE_TEMPLATE("NaNs and infinities go through sums, but only those that are selected", Engine, ENGINES) {
    Table table;
    const auto inf = std::numeric_limits<double>::infinity();
    std::vector<double> values(100'000, 1.0);
    values[10] = std::nan("");
    values[70'000] = inf;
    values[90'000] = -inf;
    table.add("x", values);
    Engine engine(2);
    const auto columns = engine.open(detail::Access::of(table), all_columns(*detail::Access::of(table)));
    const auto sum_without = [&](std::initializer_list<std::size_t> rows) {
        auto words = columns->words(*columns->leaf(Always{true}));
        for (const auto row : rows) words[row / 32] &= ~(1U << (row % 32));
        return columns->sum(0, *columns->bits_of(words)).value;
    };
    CHECK(std::isnan(sum_without({})));
    CHECK(std::isnan(sum_without({10})));
    CHECK(std::isnan(sum_without({70'000, 90'000})));
    CHECK(sum_without({10, 90'000}) == inf);
    CHECK(sum_without({10, 70'000}) == -inf);
    CHECK(sum_without({10, 70'000, 90'000}) == 99'997);
}

#ifndef QUADMILL_TEST_GL
TEST_CASE("Textures are refused if they are asked for") {
    Table table;
    table.add("x", std::vector<float>{1, 2}).add_texture("y", 3, ColumnType::F32, 2);
    CpuEngine engine(1);
    const std::size_t x = 0, y = 1;
    CHECK_NOTHROW(static_cast<void>(engine.open(detail::Access::of(table), {&x, 1})));
    CHECK_THROWS_AS(static_cast<void>(engine.open(detail::Access::of(table), {&y, 1})), InvalidArgument);
}
#endif
