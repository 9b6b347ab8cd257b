// The k-th key of the bitmap engine: with a sample, with all keys if there are few rows, and by digits if a sample
// misleads.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gl/device.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/table/key.hpp"
#include "reference.hpp"

using namespace quadmill;                 // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::query;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::size_t many_rows = 300'007;  // takes two or more rounds of samples

// Ranks of a column of one table, and the number of passes that they take.
class Ranks final : public PassObserver {
  public:
    Ranks() : scope_(*detail::Access::of(context_), "test"), engine_(*detail::Access::of(context_), 2) {
        context_.observe(this);
    }
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    ~Ranks() override { context_.observe(nullptr); }
    void before(const PassEvent& pass) override { ++passes[std::string(pass.name)]; }

    template <class T>
    void of(const std::vector<T>& values, const std::vector<bool>& has = {}) {
        Table table;
        has.empty() ? table.add("x", values) : table.add("x", values, has);
        table_ = detail::Access::of(table);
        columns = engine_.open(table_, std::array{std::size_t{0}});
        passes.clear();
    }
    // Every rank gives the key at that rank among the sorted keys of the selected rows.
    void check(const Bits& rows) {
        std::vector<Key> keys;
        for (const auto row : columns->rows(rows)) keys.push_back(reference::key_of(*table_, 0, row));
        REQUIRE(!keys.empty());
        std::sort(keys.begin(), keys.end());
        passes.clear();
        const auto n = keys.size();
        for (const auto k : {std::size_t{0}, std::size_t{1}, n / 100, n / 3, n / 2, n - n / 50, n - 2, n - 1}) {
            CAPTURE(k);
            CHECK(columns->kth(0, std::min(k, n - 1), rows) == keys[std::min(k, n - 1)]);
        }
    }
    // Rows of a sample of the selected ones.
    std::vector<Key> sampled_rows(const BitsPtr& rows, const std::vector<std::uint32_t>& places) {
        of(places);
        auto& textures = *columns->textures();
        detail::pass::Programs programs(*detail::Access::of(context_));
        KeyList list(*detail::Access::of(context_), programs);
        return list.sample({BitmapColumns::texture(*rows), textures.column(0)->keys, ColumnType::U32, textures.shape(),
                            textures.count(*rows)});
    }
    [[nodiscard]] bool by_digits() const { return passes.contains("count digits"); }

    std::map<std::string, std::size_t> passes;
    std::shared_ptr<Columns> columns;

  private:
    Context context_ = Context::headless();
    detail::gl::Scope scope_;
    BitmapEngine engine_;
    std::shared_ptr<const TableData> table_;
};

template <class T>
std::vector<T> numbers(std::size_t n, const std::function<T(std::size_t)>& number) {
    std::vector<T> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = number(i);
    return all;
}

std::vector<std::uint32_t> row_numbers() {
    return numbers<std::uint32_t>(many_rows, [](std::size_t i) { return static_cast<std::uint32_t>(i); });
}

}  // namespace

TEST_CASE("Ranks of many rows read the column twice per sample, not once per digit") {
    Ranks ranks;
    std::mt19937_64 random(1);
    ranks.of(
        numbers<float>(many_rows, [&](std::size_t) { return std::ldexp(static_cast<float>(random() >> 40U), -24); }));
    const auto all = ranks.columns->leaf(Always{true});
    ranks.check(*all);
    CHECK(!ranks.by_digits());
    CHECK(ranks.passes.at("sample bits") == 8);  // one for each of eight ranks
    CHECK(ranks.passes.at("count around") == 8);
    CHECK(ranks.passes.at("list bits") == 8);
}

TEST_CASE("Ranks are exact for every order and number of values") {
    Ranks ranks;
    std::mt19937_64 random(2);
    const auto every = [&](auto number) {
        ranks.of(numbers<std::int32_t>(many_rows, number));
        ranks.check(*ranks.columns->leaf(Always{true}));
    };
    SUBCASE("ascending") {
        every([](std::size_t i) { return static_cast<std::int32_t>(i) - 1000; });
    }
    SUBCASE("descending") {
        every([](std::size_t i) { return -static_cast<std::int32_t>(i); });
    }
    SUBCASE("a sawtooth with as many teeth as a sample has parts") {
        every([](std::size_t i) { return static_cast<std::int32_t>(i % (many_rows / KeyList::sampled)) << 20U; });
    }
    SUBCASE("few values, far apart") {
        every([&](std::size_t) { return static_cast<std::int32_t>(random() % 10) << 24U; });
    }
    SUBCASE("two values, one of them rare") {
        every([](std::size_t i) { return i % 1000 == 0 ? std::numeric_limits<std::int32_t>::min() : 1 << 30U; });
    }
    SUBCASE("half of all equal, in the middle of others") {
        every([&](std::size_t i) { return i % 2 == 0 ? 12345678 : static_cast<std::int32_t>(random()); });
    }
    SUBCASE("64 bits") {
        ranks.of(numbers<std::int64_t>(many_rows, [&](std::size_t) { return static_cast<std::int64_t>(random()); }));
        ranks.check(*ranks.columns->leaf(Always{true}));
        CHECK(!ranks.by_digits());
    }
    SUBCASE("NULLs, and some rows") {
        std::vector<bool> has(many_rows);
        for (std::size_t i = 0; i < many_rows; ++i) has[i] = random() % 3 != 0;
        ranks.of(numbers<double>(many_rows, [&](std::size_t) { return std::sqrt(static_cast<double>(random())); }),
                 has);
        const auto some = ranks.columns->leaf(Range{0, KeyOf<double>::key(1e9), KeyOf<double>::key(3.5e9)});
        ranks.check(*some);
        CHECK(!ranks.by_digits());
    }
}

TEST_CASE("A sample has one row from each of equal parts") {
    Ranks ranks;
    std::mt19937_64 random(3);
    for (const bool all : {true, false}) {
        ranks.of(row_numbers());
        auto words = std::vector<std::uint32_t>((many_rows + 31) / 32, ~0U);
        if (!all)
            for (auto& word : words) word = static_cast<std::uint32_t>(random() | random());
        const auto rows = ranks.columns->bits_of(words);
        const auto numbers = ranks.columns->rows(*rows);
        const auto sample = ranks.sampled_rows(rows, row_numbers());
        REQUIRE(sample.size() == KeyList::sampled);
        for (std::size_t i = 0; i < sample.size(); ++i) {
            const auto place = static_cast<std::size_t>(std::ranges::lower_bound(numbers, sample[i]) - numbers.begin());
            REQUIRE(numbers.at(place) == sample[i]);
            CHECK(place >= i * numbers.size() / sample.size());
            CHECK(place < (i + 1) * numbers.size() / sample.size());
        }
    }
}

TEST_CASE("If a sample misleads, ranks are found by digits") {
    Ranks ranks;
    const auto rows = row_numbers();
    ranks.of(rows);
    const auto sample = ranks.sampled_rows(ranks.columns->leaf(Always{true}), rows);
    std::mt19937_64 random(4);
    auto values =
        numbers<std::uint32_t>(many_rows, [&](std::size_t) { return static_cast<std::uint32_t>(random() >> 34U); });
    for (const auto row : sample) values[row] += 1U << 31U;
    ranks.of(values);
    ranks.check(*ranks.columns->leaf(Always{true}));
    CHECK(ranks.by_digits());
}
