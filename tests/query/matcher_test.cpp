// Nested loops on the GPU: columns directly, cut into blocks of few rows, and joins through a processor.
#include "query/gpu/matcher.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "engines.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/bitmap_columns.hpp"

using namespace quadmill;                 // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::query;  // NOLINT(google-build-using-namespace)

namespace {

using Found = std::vector<std::pair<std::size_t, std::size_t>>;  // left row, right row

template <class T>
Found by_loops(const std::vector<T>& left, const std::vector<T>& right) {
    Found found;
    for (std::size_t i = 0; i < left.size(); ++i) {
        for (std::size_t j = 0; j < right.size(); ++j) {
            if (left[i] == right[j]) found.emplace_back(i, j);
        }
    }
    return found;
}

// Calls the matcher with two columns without NULLs.
template <class T>
std::uint64_t match(Matcher& matcher, BitmapEngine& engine, const std::vector<T>& left, const std::vector<T>& right,
                    std::size_t block_rows, const TakeMatches& take) {
    const std::array<std::size_t, 1> all{0};
    Table a, b;
    a.add("k", left);
    b.add("k", right);
    const auto l = engine.open(detail::Access::of(a), all), r = engine.open(detail::Access::of(b), all);
    const auto whole = [](Columns& columns) {
        auto& textures = *columns.textures();
        return TextureSide{*textures.column(0), textures.shape(), nullptr, textures.shape().rows};
    };
    return matcher(whole(*l), whole(*r), Pair::As::Keys, nullptr, block_rows, take);
}

Next append(Found& found, std::span<const Match> matches) {
    for (const auto& [left, right] : matches) found.emplace_back(left, right);
    return Next::More;
}

template <class T>
Found by(Matcher& matcher, BitmapEngine& engine, const std::vector<T>& left, const std::vector<T>& right,
         std::size_t block_rows = 0) {
    Found found;
    const auto n = match(matcher, engine, left, right, block_rows,
                         [&](std::span<const Match> matches) { return append(found, matches); });
    CHECK(n == found.size());
    return found;
}

Context context_of_test() {
    return Context::headless();
}

// Pairs from the processor's nested loops, ordered by left row, then by right row.
std::vector<RowPair> pairs_of(QueryProcessor& processor, const Table& left, const Table& right, double band = 0,
                              const Selection* left_rows = nullptr, const Selection* right_rows = nullptr) {
    std::vector<RowPair> all;
    const auto n = processor.join(
        left, right, {.left = "k", .right = "k", .band = band, .method = JoinMethod::NestedLoops},
        [&](std::span<const RowPair> pairs) { all.insert(all.end(), pairs.begin(), pairs.end()); }, left_rows,
        right_rows);
    CHECK(n == all.size());
    return all;
}

class ThrowAt : public PassObserver {
  public:
    explicit ThrowAt(int pass) : left_(pass) {}
    void before(const PassEvent& /*pass*/) override {
        if (left_-- == 0) throw std::runtime_error("the observer's");
    }

  private:
    int left_;
};

class CountMatchPasses : public PassObserver {
  public:
    void before(const PassEvent& pass) override { count += pass.name == "match" ? 1 : 0; }
    int count = 0;
};

class CountJoins : public PassObserver {
  public:
    void before(const PassEvent& pass) override {
        keys += pass.name == "join keys" ? 1 : 0;
        blocks += pass.name == "match" ? 1 : 0;
    }
    int keys = 0, blocks = 0;
};

}  // namespace

TEST_CASE("matches of every size, key width and cut equal those of plain loops") {
    auto context = context_of_test();
    std::mt19937_64 random(2);
    for (const std::size_t texels : {std::size_t{32}, std::size_t{128}, std::size_t{2048}, std::size_t{1} << 20U}) {
        const detail::gl::Scope scope(*detail::Access::of(context), "test");
        auto& device = *detail::Access::of(context);
        Matcher matcher(device, texels);
        BitmapEngine engine(device, 1);
        const auto check = [&]<class T>(std::size_t rows, std::size_t n, T base, T spread) {
            std::vector<T> left(rows), right(n);
            for (auto* side : {&left, &right}) {
                for (auto& key : *side) key = base + static_cast<T>(random() % (2 * n + 2)) * spread;
            }
            INFO("texels " << texels << ", keys " << n << ", rows " << rows << ", spread " << spread);
            const auto expected = by_loops(left, right);
            CHECK((by(matcher, engine, left, right) == expected));
            for (const std::size_t block_rows : {1U, 7U, 64U, 1'000'000U}) {
                if (n > 2049 && block_rows != 7) continue;  // the time
                CHECK((by(matcher, engine, left, right, block_rows) == expected));
            }
        };
        for (const auto n : std::vector<std::size_t>{1, 31, 32, 33, 1023, 1024, 1025, 2049, 16384, 16385, 20000}) {
            for (const auto rows : std::vector<std::size_t>{1, 2, 4, 5, 13, 130}) {
                if (rows * n > texels * 1000) continue;  // too many passes
                check(rows, n, std::int64_t{1} << 33U, std::int64_t{1} << 40U);
                check(rows, n, std::uint32_t{5}, std::uint32_t{2});
            }
        }
        scope.check();
    }
}

TEST_CASE("keys at the ends of the range of 32 and 64 bits") {
    auto context = context_of_test();
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    auto& device = *detail::Access::of(context);
    Matcher matcher(device);
    BitmapEngine engine(device, 1);
    const auto check = [&]<class T>(T) {
        using Limits = std::numeric_limits<T>;
        const std::vector<T> ends{Limits::min(), Limits::min() + 1, 0, 1, Limits::max() - 1, Limits::max()};
        for (std::size_t n = 1; n <= ends.size(); ++n) {
            const std::vector<T> some(ends.end() - static_cast<std::ptrdiff_t>(n), ends.end());
            CHECK((by(matcher, engine, ends, some) == by_loops(ends, some)));
        }
    };
    check(std::uint32_t{});
    check(std::int32_t{});
    check(std::int64_t{});
    scope.check();
}

TEST_CASE("more pairs than are read back together, with a matcher that is used again during the call") {
    auto context = context_of_test();
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    auto& device = *detail::Access::of(context);
    Matcher matcher(device);
    BitmapEngine engine(device, 2);
    std::vector<std::uint32_t> keys(2000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::uint32_t>(i % 2);
    const std::vector<std::uint32_t> left(1100, 1), few{1, 7};
    Found found;
    int calls = 0;
    match(matcher, engine, left, keys, 0, [&](std::span<const Match> matches) {
        ++calls;
        CHECK((by(matcher, engine, few, few) == Found{{0, 0}, {1, 1}}));
        return append(found, matches);
    });
    CHECK(calls > 2);
    CHECK((found == by_loops(left, keys)));
    CHECK_THROWS_AS(match(matcher, engine, left, keys, 0,
                          [](auto /*matches*/) -> Next { throw std::runtime_error("the caller's"); }),
                    std::runtime_error);
    CHECK((by(matcher, engine, few, few) == Found{{0, 0}, {1, 1}}));
    scope.check();
}

TEST_CASE("joins under selections of no, few and all rows, with NULLs, with every GPU engine") {
    auto context = context_of_test();
    std::mt19937_64 random(4);
    std::vector<float> a(1000);
    std::vector<std::int32_t> b(1500);
    std::vector<bool> valid(b.size());
    for (auto& x : a) x = static_cast<float>(random() % 400) / 2;
    for (auto& x : b) x = static_cast<std::int32_t>(random() % 300) - 50;
    for (std::size_t i = 0; i < valid.size(); ++i) valid[i] = random() % 5 > 0;
    a[17] = -0.0F;
    a[18] = std::numeric_limits<float>::quiet_NaN();
    Table left, right;
    left.add("k", a);
    right.add("k", b, valid);
    QueryProcessor cpu;
    for (const auto engine : test::gpu_engines(context)) {
        QueryProcessor processor(context, {.engine = engine});
        for (const double share : {-100.0, 0.0, 20.0, 1000.0}) {
            const auto condition = column("k") <= share;
            const auto l = processor.select(left, condition), r = processor.select(right, condition);
            const auto cpu_l = cpu.select(left, condition), cpu_r = cpu.select(right, condition);
            for (const double band : {0.0, 0.5, 3.0}) {
                INFO("up to " << share << ", band " << band);
                CHECK((pairs_of(processor, left, right, band, &l, &r) ==
                       pairs_of(cpu, left, right, band, &cpu_l, &cpu_r)));
                CHECK((pairs_of(processor, left, right, band, &l) == pairs_of(cpu, left, right, band, &cpu_l)));
                CHECK((pairs_of(processor, right, left, band, nullptr, &l) ==
                       pairs_of(cpu, right, left, band, nullptr, &cpu_l)));
            }
        }
        CHECK((pairs_of(processor, left, right) == pairs_of(cpu, left, right)));
    }
}

TEST_CASE("a cross join in many chunks") {
    auto context = context_of_test();
    QueryProcessor processor(context, {.engine = QueryEngine::Bitmap});
    Table left, right;
    left.add("k", std::vector<std::int64_t>(701, 5));
    right.add("k", std::vector<std::int64_t>(997, 5));
    CountMatchPasses passes;
    context.observe(&passes);
    std::uint64_t expected = 0, chunks = 0;
    const auto n = processor.join(left, right, {.left = "k", .right = "k", .method = JoinMethod::NestedLoops},
                                  [&](std::span<const RowPair> pairs) {
                                      ++chunks;
                                      const auto in_order = std::all_of(pairs.begin(), pairs.end(), [&](auto pair) {
                                          const auto i = expected++;
                                          return pair == RowPair{i / 997, i % 997};
                                      });
                                      CHECK(in_order);
                                  });
    context.observe(nullptr);
    CHECK(n == 701 * 997);
    CHECK(expected == n);
    CHECK(chunks == (n + 65535) / 65536);
    CHECK(passes.count > 0);
}

// Two predicates on one table, either of which keeps a row, then the join: MDS'09, figure 8.
TEST_CASE("the use case of MDS'09: 15,000 floats, 7,679 masked out, 13,068 after OR, 6,790 pairs") {
    constexpr std::size_t rows = 15000, masked = 7679, after = 13068, pairs = 6790;
    std::mt19937_64 random(9);
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::vector<float> c(rows), e(rows), b(rows), other(rows);
    for (std::size_t place = 0; place < rows; ++place) {
        const auto row = order[place];
        c[row] = place < masked ? -1.5F : 2.5F;
        e[row] = place >= rows - after ? 1.25F : 0.5F;  // E alone keeps `after` rows, including all of C's
        b[row] = static_cast<float>(row) / 8;
        other[place] = -1 - static_cast<float>(place);
    }
    for (std::size_t i = 0; i < pairs; ++i) other[(i * 7) % rows] = b[order[rows - 1 - i]];
    Table left, right;
    left.add("c", c);
    left.add("e", e);
    left.add("k", b);
    right.add("k", other);
    QueryProcessor processor(context_of_test(), {.engine = QueryEngine::Bitmap});
    const auto by_c = processor.select(left, column("c") > 0.0), by_e = processor.select(left, column("e") > 1.0);
    const auto either = by_c | by_e;
    CHECK(rows - by_c.count() == masked);
    CHECK(either.count() == after);

    std::vector<RowPair> expected;
    for (std::size_t i = 0; i < rows; ++i) {
        if (!(c[i] > 0 || e[i] > 1)) continue;
        for (std::size_t j = 0; j < rows; ++j) {
            if (b[i] == other[j]) expected.push_back({i, j});
        }
    }
    CHECK(expected.size() == pairs);
    CHECK((pairs_of(processor, left, right, 0, &either) == expected));
    const QueryPlan plan({.outputs = {{QueryAggregate{}, "pairs"}},
                          .where = column("c") > 0.0 || column("e") > 1.0,
                          .join = Join{.left = "k", .right = "k", .method = JoinMethod::NestedLoops}},
                         left.columns(), right.columns());
    CHECK(processor.run(plan, left, right).rows == std::vector<std::vector<Value>>{{std::int64_t{pairs}}});
}

TEST_CASE("columns of every type join on the GPU as on the CPU, selected or not, and nothing but pairs comes back") {
    auto context = context_of_test();
    std::mt19937_64 random(21);
    constexpr std::size_t left_rows = 1300, right_rows = 777;
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const auto table_of = [&](std::size_t rows) {
        const std::vector<float> special{0.0F, -0.0F, infinity, -infinity, nan, 2.5F};
        std::vector<float> f(rows);
        std::vector<double> d(rows);
        std::vector<std::int32_t> i(rows);
        std::vector<std::uint32_t> u(rows);
        std::vector<std::int64_t> l(rows);
        std::vector<std::string> t(rows);
        std::vector<bool> valid(rows);
        for (std::size_t row = 0; row < rows; ++row) {
            const auto small = static_cast<std::int32_t>(random() % 300) - 20;
            f[row] = random() % 9 == 0 ? special[random() % special.size()] : static_cast<float>(small);
            d[row] = random() % 9 == 0 ? double{special[random() % special.size()]} : small;
            i[row] = random() % 50 == 0 ? -1 : small;
            u[row] = random() % 50 == 0 ? ~std::uint32_t{0} : static_cast<std::uint32_t>(small + 20);
            l[row] = random() % 50 == 0 ? std::int64_t{small} << 40U : small;
            t[row] = "word " + std::to_string(random() % (rows / 2));
            valid[row] = random() % 5 > 0;
        }
        Table table;
        table.add("f", f).add("d", d).add("i", i).add("u", u).add("l", l).add("t", t).add("n", i, valid);
        return table;
    };
    const auto left = table_of(left_rows), right = table_of(right_rows);
    QueryProcessor cpu;
    const auto joined = [&](QueryProcessor& processor, const Join& on, bool some) {
        std::vector<RowPair> all;
        std::optional<Selection> l, r;
        if (some) {
            l.emplace(processor.select(left, column("i") > 100 || column("u") < 50));
            r.emplace(processor.select(right, column("i") < 200));
        }
        const auto n = processor.join(
            left, right, on, [&](std::span<const RowPair> pairs) { all.insert(all.end(), pairs.begin(), pairs.end()); },
            l ? &*l : nullptr, r ? &*r : nullptr);
        CHECK(n == all.size());
        return all;
    };
    std::size_t pairs = 0;
    for (const auto engine : test::gpu_engines(context)) {
        QueryProcessor processor(context, {.engine = engine});
        for (const auto* columns :
             {"ff", "dd", "ii", "uu", "ll", "tt", "nn", "fd", "if", "ui", "iu", "lu", "dl", "nf"}) {
            const Join on{.left = {columns[0]}, .right = {columns[1]}, .method = JoinMethod::NestedLoops};
            for (const bool some : {false, true}) {
                INFO(columns << (some ? ", selected" : ""));
                const auto expected = joined(cpu, on, some);
                pairs += expected.size();
                CountJoins passes;
                context.observe(&passes);
                const auto found = joined(processor, on, some);
                context.observe(nullptr);
                CHECK((found == expected));
                CHECK(passes.keys == 1);  // made on the GPU
                if (some) continue;
                auto in_blocks = on;
                in_blocks.block_rows = 150;  // 152 of them
                CountJoins more;
                context.observe(&more);
                CHECK((joined(processor, in_blocks, some) == expected));
                context.observe(nullptr);
                CHECK(more.blocks > passes.blocks);
            }
        }
        // For values that doubles do not represent, the CPU compares.
        Table large;
        large.add("k", std::vector<std::int64_t>{(std::int64_t{1} << 53U) + 1, 5});
        CHECK_THROWS_WITH_AS(processor.join(large, left, {.left = "k", .right = "d", .method = JoinMethod::NestedLoops},
                                            [](auto /*pairs*/) {}),
                             doctest::Contains("beyond 2^53"), InvalidArgument);
    }
    CHECK(pairs > 10000);
}

TEST_CASE("a plan's operations one by one give the same result as together") {
    auto context = context_of_test();
    std::mt19937_64 random(22);
    std::vector<float> c(5000), e(5000), b(5000), other(3000);
    for (std::size_t i = 0; i < c.size(); ++i) {
        c[i] = static_cast<float>(random() % 100);
        e[i] = static_cast<float>(random() % 100);
        b[i] = static_cast<float>(random() % 4000);
    }
    for (auto& x : other) x = static_cast<float>(random() % 4000);
    Table left, right;
    left.add("c", c).add("e", e).add("b", b);
    right.add("b", other);
    const Query query{.outputs = {{std::string("c"), "c"}, {std::string("right.b"), "b"}},
                      .where = (column("c") > 50 || column("e") > 60) && column("e") != 7,
                      .join = Join{.left = "b", .right = "b", .method = JoinMethod::NestedLoops}};
    const QueryPlan plan(query, left.columns(), right.columns());
    const Query aggregates{
        .outputs = {{QueryAggregate{}, "n"}, {QueryAggregate{.kind = QueryAggregate::Kind::Max, .column = "e"}, "m"}},
        .where = column("c") > 50 || column("e").between(3, 5)};
    QueryProcessor cpu;
    const auto expected = cpu.run(plan, left, right).rows;
    CHECK(expected.size() > 1000);
    auto engines = test::gpu_engines(context);
    engines.push_back(QueryEngine::Cpu);
    for (const auto engine : engines) {
        QueryProcessor pipelined(context, {.engine = engine});
        QueryProcessor one(context, {.engine = engine, .paper = {.execution = Execution::OneOperation}});
        for (int run = 0; run < 2; ++run) {
            CHECK((pipelined.run(plan, left, right).rows == expected));
            CHECK((one.run(plan, left, right).rows == expected));
            CHECK(one.run(aggregates, left).rows == cpu.run(aggregates, left).rows);
        }
    }
}

TEST_CASE("an observer that throws in the middle of a join leaves the processor usable") {
    auto context = context_of_test();
    QueryProcessor processor(context, {.engine = QueryEngine::Bitmap});
    Table table;
    std::vector<std::uint32_t> values(300);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i % 50);
    table.add("k", values);
    const auto expected = pairs_of(processor, table, table);
    CHECK(expected.size() == 300 * 6);
    for (int pass = 0; pass < 3; ++pass) {
        ThrowAt observer(pass);
        context.observe(&observer);
        CHECK_THROWS_AS(pairs_of(processor, table, table), std::runtime_error);
        context.observe(nullptr);
        CHECK((pairs_of(processor, table, table) == expected));
    }
}
