// Counts of rectangles with an index of cells, compared with a loop over the rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engines.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/index/cell_index.hpp"
#include "query/index/indexes.hpp"
#include "query/table/key.hpp"
#include "reference.hpp"

using namespace quadmill;                 // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::query;  // NOLINT(google-build-using-namespace)

namespace {

// The keys of a column; nothing for NULL.
using ColumnKeys = std::vector<std::optional<Key>>;

class Indexed {
  public:
    Indexed() : scope_(*detail::Access::of(context_), "test"), engine_(*detail::Access::of(context_), 2) {}

    void of(const Table& table, const std::vector<std::size_t>& on) {
        index_.reset();
        table_ = detail::Access::of(table);
        columns_ = engine_.open(table_, on);
        index_.emplace(*columns_->textures(), on);
        types_.clear();
        keys_.clear();
        for (const auto i : on) {
            types_.push_back(table_->infos[i].type);
            auto& keys = keys_.emplace_back();
            for (std::size_t row = 0; row < table_->rows; ++row)
                keys.push_back(has_value(*table_->columns[i], row) ? std::optional(reference::key_of(*table_, i, row))
                                                                   : std::nullopt);
        }
    }
    [[nodiscard]] std::uint64_t counted(const std::vector<KeyRange>& ranges) const {
        std::uint64_t rows = 0;
        for (std::size_t row = 0; row < table_->rows; ++row) {
            bool in = true;
            for (std::size_t i = 0; i < ranges.size(); ++i) {
                const auto& key = keys_[i][row];
                in = in && key && ranges[i].low <= *key && *key <= ranges[i].high;
            }
            rows += in ? 1 : 0;
        }
        return rows;
    }
    // Bounds are keys of rows, their neighbours, or the ends of all keys.
    [[nodiscard]] KeyRange some_range(std::size_t i, std::mt19937_64& random) const {
        const auto last = key_bits(types_[i]) == 64 ? ~Key{0} : Key{0xffffffff};
        const auto bound = [&] {
            if (keys_[i].empty() || random() % 16 == 0) return random() % 2 == 0 ? Key{0} : last;
            const auto& key = keys_[i][random() % keys_[i].size()];
            auto some = key ? *key : Key{0};
            if (random() % 3 == 0 && some < last) ++some;
            if (random() % 3 == 0 && some > 0) --some;
            return without_negative_zero_of(types_[i], some);
        };
        auto low = bound(), high = bound();
        if (random() % 8 == 0) high = low;  // equality
        return {.low = std::min(low, high), .high = std::max(low, high)};
    }
    void check(std::size_t rectangles, std::mt19937_64& random) {
        for (std::size_t n = 0; n < rectangles; ++n) {
            std::vector<KeyRange> ranges;
            for (std::size_t i = 0; i < types_.size(); ++i) ranges.push_back(some_range(i, random));
            CAPTURE(n);
            REQUIRE(index_->count(ranges) == counted(ranges));
        }
    }
    [[nodiscard]] CellIndex& index() { return *index_; }
    [[nodiscard]] std::size_t rows() const { return table_->rows; }

  private:
    static Key without_negative_zero_of(ColumnType type, Key key) {
        return visit_column_type(type, [&]<class T>(const T* /*type*/) { return KeyOf<T>::key(KeyOf<T>::value(key)); });
    }
    Context context_ = Context::headless();
    detail::gl::Scope scope_;
    BitmapEngine engine_;
    std::shared_ptr<const TableData> table_;
    std::shared_ptr<Columns> columns_;
    std::optional<CellIndex> index_;
    std::vector<ColumnType> types_;
    std::vector<ColumnKeys> keys_;
};

template <class T, class Number>
std::vector<T> values_of(std::size_t n, Number number) {
    std::vector<T> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<T>(number(i));
    return all;
}

}  // namespace

TEST_CASE("Cuts give a frequent key a cell of its own, and tell which cells a range covers") {
    const Cuts cuts({1, 5, 5, 5, 5, 5, 9, 20}, 4, 0, 30);
    CHECK(cuts.cuts() == std::vector<Key>{5, 6, 9});
    const auto found = [&](Key low, Key high) {
        const auto cells = cuts.cells_of({low, high});
        REQUIRE(cells.has_value());
        return std::array{cells->outer.begin, cells->outer.end, cells->inner.begin, cells->inner.end};
    };
    CHECK(found(5, 5) == std::array{1, 2, 1, 2});
    CHECK(found(0, 30) == std::array{0, 4, 0, 4});
    CHECK(found(0, 99) == std::array{0, 4, 0, 4});
    CHECK(found(1, 4) == std::array{0, 1, 1, 1});
    CHECK(found(4, 10) == std::array{0, 4, 1, 3});
    CHECK(found(7, 8) == std::array{2, 3, 3, 3});
    CHECK(found(10, 20) == std::array{3, 4, 4, 4});
    CHECK(!cuts.cells_of({31, 99}).has_value());
    CHECK(Cuts({}, 4, 0, 30).cells() == 1);
    CHECK(Cuts({~Key{0}, ~Key{0}, ~Key{0}}, 3, 0, ~Key{0}).cuts() == std::vector<Key>{~Key{0}});
}

TEST_CASE("An index counts rectangles of columns of all types exactly") {
    Indexed indexed;
    std::mt19937_64 random(46);
    for (const std::size_t rows :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{33}, std::size_t{5000}}) {
        const auto table = reference::hard_table(rows, rows);
        const auto columns = detail::Access::of(table)->columns.size();
        for (std::size_t x = 0; x < columns; ++x) {
            CAPTURE(rows);
            CAPTURE(x);
            indexed.of(table, {x});
            indexed.check(10, random);
            const auto y = (x + 1 + random() % (columns - 1)) % columns;
            CAPTURE(y);
            indexed.of(table, {x, y});
            indexed.check(20, random);
        }
    }
}

TEST_CASE("An index counts rectangles of every distribution exactly") {
    constexpr std::size_t rows = (std::size_t{1} << 17U) + 1;
    Indexed indexed;
    std::mt19937_64 random(47);
    const auto check = [&](auto x, auto y) {
        indexed.of(Table().add("x", values_of<std::int32_t>(rows, x)).add("y", values_of<float>(rows, y)), {0, 1});
        indexed.check(60, random);
        CHECK(indexed.index().bytes() <= 5 * rows + (std::size_t{1} << 20U));  // the pixels that are counted
    };
    const auto noise = [&](std::size_t /*i*/) { return random() >> 40U; };
    SUBCASE("random") {
        check(noise, noise);
    }
    SUBCASE("all equal") {
        check([](std::size_t) { return 7; }, [](std::size_t) { return 7; });
    }
    SUBCASE("all equal, and random") {
        check([](std::size_t) { return 7; }, noise);
    }
    SUBCASE("two values") {
        check([&](std::size_t) { return random() % 2; }, [&](std::size_t) { return random() % 2; });
    }
    SUBCASE("sorted, both") {
        check([](std::size_t i) { return i; }, [](std::size_t i) { return i; });
    }
    SUBCASE("ascending and descending") {
        check([](std::size_t i) { return i; }, [](std::size_t i) { return rows - i; });
    }
    SUBCASE("half of all equal") {
        check([&](std::size_t i) { return i % 2 == 0 ? 1 << 20U : static_cast<int>(random() >> 40U); }, noise);
    }
    SUBCASE("NaN, infinities and zeros") {
        const std::array some{std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(),
                              -0.0F,
                              0.0F,
                              1.0F};
        check(noise, [&](std::size_t) { return some[random() % some.size()]; });
    }
    SUBCASE("outliers") {
        check(
            [&](std::size_t i) { return i == 5 ? std::numeric_limits<std::int32_t>::max() : static_cast<int>(i % 10); },
            [&](std::size_t i) { return i == 9 ? 1e30F : static_cast<float>(random() % 1000); });
    }
}

TEST_CASE("A rectangle tests about the rows of the cells on its edge") {
    constexpr std::size_t rows = std::size_t{1} << 18U;  // 128 x 128 cells
    Indexed indexed;
    std::mt19937_64 random(48);
    const auto noise = [&](std::size_t /*i*/) { return random() >> 32U; };
    indexed.of(Table().add("x", values_of<std::uint32_t>(rows, noise)).add("y", values_of<std::uint32_t>(rows, noise)),
               {0, 1});
    constexpr Key from = 0x40000000, to = 0xbfffffff;
    const std::vector<KeyRange> ranges{{from, to}, {from, to}};
    CHECK(indexed.index().count(ranges) == indexed.counted(ranges));
    CHECK(indexed.index().rows_on_edge(ranges) < 4 * 66 * 16 * 3 / 2);
    const std::vector<KeyRange> all{{0, ~Key{0}}, {0, ~Key{0}}};
    CHECK(indexed.index().count(all) == rows);
    CHECK(indexed.index().rows_on_edge(all) == 0);
}

TEST_CASE("Counts of an index that are in flight together are exact, also after the index") {
    constexpr std::size_t rows = 100'003;
    Indexed indexed;
    std::mt19937_64 random(49);
    const auto noise = [&](std::size_t /*i*/) { return random() >> 40U; };
    indexed.of(Table().add("x", values_of<float>(rows, noise)), {0});
    std::vector<Counting> counts;
    std::vector<std::uint64_t> expected;
    for (int n = 0; n < 100; ++n) {
        const std::vector<KeyRange> ranges{indexed.some_range(0, random)};
        counts.push_back(indexed.index().count_later(ranges));
        expected.push_back(indexed.counted(ranges));
    }
    indexed.of(Table().add("x", values_of<float>(1, noise)), {0});
    for (std::size_t n = 0; n < counts.size(); ++n) CHECK(counts[n].result() == expected[n]);
}

namespace {

// Whether passes of an index were drawn.
class EdgeTests final : public PassObserver {
  public:
    explicit EdgeTests(Context& context) : context_(context) { context_.observe(this); }
    EdgeTests(const EdgeTests&) = delete;
    EdgeTests& operator=(const EdgeTests&) = delete;
    ~EdgeTests() override { context_.observe(nullptr); }
    void before(const PassEvent& pass) override { ++(pass.name == "test edge" ? edges : others); }
    std::size_t edges = 0, others = 0;

  private:
    Context& context_;
};

Table points(std::size_t rows, std::mt19937_64& random) {
    std::vector<bool> valid(rows);
    for (std::size_t i = 0; i < rows; ++i) valid[i] = random() % 8 != 0;
    const auto noise = [&](std::size_t /*i*/) { return static_cast<double>(random() >> 40U) * 0x1p-24; };
    Table table;
    table.add("x", values_of<float>(rows, noise)).add("y", values_of<float>(rows, noise));
    table.add("z", values_of<double>(rows, noise), std::move(valid));
    return table;
}

}  // namespace

TEST_CASE("A processor counts ranges of indexed columns with the index, and everything else without") {
    constexpr std::size_t rows = 20'011;
    auto context = Context::headless();
    std::mt19937_64 random(50);
    const auto table = points(rows, random);
    QueryProcessor plain;
    for (const auto engine : quadmill::test::gpu_engines(context)) {
        QueryProcessor processor(context, {.engine = engine});
        const auto passes_of_index = [&](const Predicate& where, const Table& of) {
            EdgeTests tests(context);
            const auto later = processor.count_async(of, where);
            CHECK(processor.count(of, where) == plain.count(of, where));
            CHECK(later.get() == plain.count(of, where));
            const auto n = tests.edges;
            const Query query{.outputs = {{.what = QueryAggregate{}, .name = "n"}}, .where = where};
            CHECK(std::get<std::int64_t>(processor.run(query, of).rows.at(0).at(0)) ==
                  static_cast<std::int64_t>(plain.count(of, where)));
            return n;
        };
        const auto x = column("x") > 0.25, y = column("y") <= 0.6, z = column("z").between(0.2, 0.7);
        CHECK(passes_of_index(x && y, table) == 0);
        processor.index(table, {"x", "y"});
        processor.index(table, {"y", "z"});
        CHECK(passes_of_index(x && y, table) == 2);
        CHECK(passes_of_index(column("y") == 0.5 && x, table) <= 2);
        CHECK(passes_of_index(x, table) == 2);  // y has no NULLs
        CHECK(passes_of_index(z, table) == 2);
        CHECK(passes_of_index(z && y, table) == 2);
        CHECK(passes_of_index(y, table) == 2);  // by the index with x: z has NULLs
        CHECK(passes_of_index(x && z, table) == 0);
        CHECK(passes_of_index(x && y && z, table) == 0);
        CHECK(passes_of_index(x || y, table) == 0);
        CHECK(passes_of_index(!(x && y), table) == 0);
        CHECK(passes_of_index(column("x") != 0.5 && y, table) == 0);
        const auto copy = table;
        CHECK(passes_of_index(x && y, copy) == 2);
        CHECK(passes_of_index(x && y, points(rows, random)) == 0);  // other columns of the same names
        CHECK(passes_of_index(x && y, table) == 2);
        {
            EdgeTests tests(context);
            processor.index(copy, {"x", "y"});  // there is one
            CHECK(tests.others == 0);
        }
    }
}

TEST_CASE("An index is refused with a reason") {
    auto context = Context::headless();
    std::mt19937_64 random(51);
    auto table = points(10, random);
    table.add_texture("t", 1, ColumnType::F32, 10);
    QueryProcessor processor(context), by_cpu(context, {.engine = QueryEngine::Cpu}), without;
    const auto refused = [&](QueryProcessor& by, const std::vector<std::string>& columns, const char* why) {
        EdgeTests tests(context);
        CHECK_THROWS_WITH_AS(by.index(table, columns), doctest::Contains(why), InvalidArgument);
        CHECK(tests.others == 0);
    };
    refused(processor, {}, "0 were given");
    refused(processor, {"x", "y", "z"}, "3 were given");
    refused(processor, {"x", "x"}, "both 'x'");
    refused(processor, {"x", "w"}, "'w'");
    refused(processor, {"x", "t"}, "column 't' is an object of OpenGL");
    refused(by_cpu, {"x"}, "QueryEngine::Cpu");
    refused(without, {"x"}, "with a context");
}

TEST_CASE("A table that is gone takes its index along") {
    auto context = Context::headless();
    std::mt19937_64 random(52);
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    BitmapEngine engine(*detail::Access::of(context), 1);
    const std::vector<std::size_t> on{0, 1};
    {
        const auto data = detail::Access::of(points(1000, random));
        const auto opened = engine.open(data, on);
        Indexes::of(engine.tables()).add(*opened->textures(), on);
        CHECK(Indexes::of(engine.tables()).bytes() > 0);
    }
    static_cast<void>(engine.open(detail::Access::of(points(1000, random)), on));
    CHECK(Indexes::of(engine.tables()).bytes() == 0);
}
