// Nested loops on the GPU: ranges against keys directly, cut into few rows at once, and joins through a processor.
#include "query/gpu/matcher.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "gl/device.hpp"
#include "quadmill/query.hpp"

using namespace quadmill;                 // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::query;  // NOLINT(google-build-using-namespace)

namespace {

using Found = std::vector<std::pair<std::size_t, std::size_t>>;  // range, key

Found by_loops(const std::vector<KeyRange>& ranges, const std::vector<Key>& keys) {
    Found found;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        for (std::size_t j = 0; j < keys.size(); ++j) {
            if (keys[j] >= ranges[i].low && keys[j] <= ranges[i].high) found.emplace_back(i, j);
        }
    }
    return found;
}

Next append(Found& found, std::span<const Match> matches) {
    for (const auto& [range, key] : matches) found.emplace_back(range, key);
    return Next::More;
}

Found by(Matcher& matcher, const std::vector<KeyRange>& ranges, const std::vector<Key>& keys) {
    Found found;
    const auto n = matcher(ranges, keys, [&](std::span<const Match> matches) { return append(found, matches); });
    CHECK(n == found.size());
    return found;
}

// Keys from `base` on, about `spread` apart; ranges of none, one and some of them, and of all.
struct Case {
    std::vector<KeyRange> ranges;
    std::vector<Key> keys;

    Case(std::mt19937_64& random, std::size_t rows, std::size_t n, Key base, Key spread) {
        const auto place = [&] { return random() % (2 * n + 2); };
        for (std::size_t i = 0; i < n; ++i) keys.push_back(base + place() * spread);
        for (std::size_t i = 0; i < rows; ++i) {
            const auto low = base + place() * spread;
            switch (random() % 8) {
                case 0:
                    ranges.push_back({0, ~Key{0}});
                    break;
                case 1:
                    ranges.push_back({low, low + 5 * spread});
                    break;
                case 2:
                    ranges.push_back({low + 1, low + 1});
                    break;
                case 3:
                    ranges.push_back({0, base - 1});
                    break;
                default:
                    ranges.push_back({low, low});
            }
        }
    }
};

Context context_of_test() {
    return Context::headless();
}

// Pairs by the processor's nested loops, which come by left row, then by right row.
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

}  // namespace

TEST_CASE("matches of every size, key width and cut are those of plain loops") {
    auto context = context_of_test();
    std::mt19937_64 random(2);
    for (const std::size_t texels : {std::size_t{32}, std::size_t{128}, std::size_t{2048}, std::size_t{1} << 20U}) {
        const detail::gl::Scope scope(*detail::Access::of(context), "test");
        Matcher matcher(*detail::Access::of(context), 1, texels);
        for (const auto n : std::vector<std::size_t>{1, 31, 32, 33, 1023, 1024, 1025, 2049, 16384, 16385, 20000}) {
            for (const auto rows : std::vector<std::size_t>{1, 2, 4, 5, 13, 130}) {
                if (rows * n > texels * 1000) continue;  // too many passes
                for (const Key spread : {Key{2}, Key{1} << 40U}) {
                    const Case some(random, rows, n, Key{1} << 33U, spread);
                    INFO("texels " << texels << ", keys " << n << ", rows " << rows << ", spread " << spread);
                    CHECK((by(matcher, some.ranges, some.keys) == by_loops(some.ranges, some.keys)));
                }
            }
        }
        CHECK(by(matcher, {}, {1}).empty());
        CHECK(by(matcher, {{0, 1}}, {}).empty());
        scope.check();
    }
}

TEST_CASE("keys at the ends of what 32 and 64 bits hold") {
    auto context = context_of_test();
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    Matcher matcher(*detail::Access::of(context), 1);
    constexpr Key most = ~Key{0}, narrow = 0xffffffffU;
    for (const auto& keys :
         {std::vector<Key>{0, 1, narrow - 1}, std::vector<Key>{0, 1, narrow}, std::vector<Key>{most - narrow + 1, most},
          std::vector<Key>{0, most}, std::vector<Key>{most}, std::vector<Key>{0}}) {
        std::vector<KeyRange> ranges;
        const std::vector<Key> ends{0, 1, 2, narrow - 2, narrow - 1, narrow, narrow + 1, most - narrow, most - 1, most};
        for (const auto low : ends) {
            for (const auto high : ends) {
                if (low <= high) ranges.push_back({low, high});
            }
        }
        CHECK((by(matcher, ranges, keys) == by_loops(ranges, keys)));
    }
    scope.check();
}

TEST_CASE("more pairs than are read back at once, by a matcher that is used while it gives them") {
    auto context = context_of_test();
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    Matcher matcher(*detail::Access::of(context), 2);
    std::vector<Key> keys(2000);
    std::iota(keys.begin(), keys.end(), Key{7});
    const std::vector<KeyRange> ranges(1100, KeyRange{8, 2001});
    Found found;
    int calls = 0;
    matcher(ranges, keys, [&](std::span<const Match> matches) {
        ++calls;
        CHECK(by(matcher, {{9, 9}, {7, 7}}, keys) == Found{{0, 2}, {1, 0}});
        return append(found, matches);
    });
    CHECK(calls > 2);
    CHECK((found == by_loops(ranges, keys)));
    CHECK_THROWS_AS(matcher(ranges, keys, [](auto /*matches*/) -> Next { throw std::runtime_error("the caller's"); }),
                    std::runtime_error);
    CHECK(by(matcher, {{9, 9}}, keys) == Found{{0, 2}});
    scope.check();
}

TEST_CASE("joins under selections of no, few and all rows, with NULLs, by every engine of the GPU") {
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
    for (const auto engine : {QueryEngine::Bitmap, QueryEngine::Depth}) {
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

// Two predicates on one table, either of which lets a row go on, then the join: MDS'09, figure 8.
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
        e[row] = place >= rows - after ? 1.25F : 0.5F;  // E alone lets `after` rows go on, all of C's among them
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
