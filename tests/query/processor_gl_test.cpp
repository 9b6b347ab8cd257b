// Processors with a context: the application's textures as columns, joins by sorting in the context, and SQLite's
// answers again.
#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engines.hpp"
#include "gl/api.hpp"
#include "gl/device.hpp"
#include "query/gpu/bitmap_columns.hpp"
#include "query/gpu/depth_engine.hpp"
#include "query/random_queries.hpp"
#include "query/table/key.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<QueryEngine> engines_of(const Context& context) {
    auto engines = test::gpu_engines(context);
    engines.insert(engines.end(), {QueryEngine::Cpu, QueryEngine::Auto});
    return engines;
}

class Texture {
  public:
    Texture(Context& context, const std::vector<float>& texels, int width) : gl_(detail::Access::of(context)->gl) {
        context.make_current();
        const auto height = static_cast<int>(texels.size()) / width;
        gl_.CreateTextures(GL_TEXTURE_2D, 1, &id_);
        gl_.TextureStorage2D(id_, 1, GL_R32F, width, height);
        put(texels, width);
    }
    Texture(const Texture&) = delete;
    Texture& operator=(const Texture&) = delete;
    ~Texture() { gl_.DeleteTextures(1, &id_); }
    [[nodiscard]] GLuint id() const { return id_; }
    void put(const std::vector<float>& texels, int width) {
        const auto height = static_cast<int>(texels.size()) / width;
        gl_.TextureSubImage2D(id_, 0, 0, 0, width, height, GL_RED, GL_FLOAT, texels.data());
    }

  private:
    const detail::gl::Api& gl_;
    GLuint id_ = 0;
};

}  // namespace

TEST_CASE("a column may be a texture of the application, read in each query") {
    auto context = Context::headless();
    std::vector<float> texels(5 * 7);
    for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i);
    Texture texture(context, texels, 5);
    Table table;
    table.add_texture("x", texture.id(), ColumnType::F32, 33);
    for (const auto engine : engines_of(context)) {
        QueryProcessor processor(context, {.engine = engine});
        CHECK(processor.count(table, column("x") >= 30) == 3);
        const auto plain = processor.run({.outputs = {{std::string("x"), ""}}, .where = column("x") > 31.5}, table);
        CHECK(plain.rows == std::vector<std::vector<Value>>{{32.0}});
        const auto groups = processor.run({.outputs = {{QueryAggregate{}, ""}}, .group_by = {"x"}}, table);
        CHECK(groups.rows.size() == 33);
        std::uint64_t pairs = 0;
        processor.join(table, table, {"x", "x", 1}, [&](auto chunk) { pairs += chunk.size(); });
        CHECK(pairs == 33 + 2 * 32);
        context.make_current();
        texture.put(std::vector<float>(texels.size(), 40), 5);
        CHECK(processor.count(table, column("x") >= 30) == 33);
        context.make_current();
        texture.put(texels, 5);
    }
    Table too_long;
    too_long.add_texture("x", texture.id(), ColumnType::F32, 36);
    QueryProcessor processor(context);
    CHECK_THROWS_AS(static_cast<void>(processor.count(too_long, column("x") > 1)), InvalidArgument);
    Table of_integers;
    of_integers.add_texture("x", texture.id(), ColumnType::U32, 33);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(processor.count(of_integers, column("x") > 1)),
        doctest::Contains("QueryProcessor: the texture of column 'x' must be a 2-D R32UI texture, and"),
        InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(QueryProcessor().count(table, column("x") > 1)), InvalidArgument);
}

TEST_CASE("rows continue in the next texture of the application") {
    auto context = Context::headless();
    const auto texels = [](float first, std::size_t count) {
        std::vector<float> values(count);
        std::iota(values.begin(), values.end(), first);
        return values;
    };
    Texture one(context, texels(0, 64 * 3), 64), two(context, texels(64 * 3, 32), 8),
        three(context, texels(224, 40), 5);
    Table table;
    table.add_textures("x", {one.id(), two.id(), three.id()}, ColumnType::F32, 230);
    for (const auto engine : engines_of(context)) {
        QueryProcessor processor(context, {.engine = engine});
        CHECK(processor.count(table, column("x") >= 0) == 230);
        const auto some = processor.select(table, column("x").between(190, 225));
        CHECK(some.rows().size() == 36);
        std::vector<std::uint32_t> bits(8);
        for (const auto row : some.rows()) bits[row / 32] |= 1U << row % 32;
        CHECK(some.bits() == bits);
        for (const float x : {0.0F, 191.0F, 192.0F, 223.0F, 224.0F, 229.0F})
            CHECK(processor.select(table, column("x") == x).rows() == std::vector{static_cast<std::uint64_t>(x)});
    }
    Table too_long, uneven;
    too_long.add_textures("x", {one.id(), two.id(), three.id()}, ColumnType::F32, 265);
    uneven.add_textures("x", {three.id(), one.id()}, ColumnType::F32, 200);
    QueryProcessor processor(context);
    CHECK_THROWS_AS(static_cast<void>(processor.count(too_long, column("x") > 1)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(processor.count(uneven, column("x") > 1)), InvalidArgument);
    CHECK_THROWS_AS(Table().add_textures("x", {}, ColumnType::F32, 0), InvalidArgument);
}

TEST_CASE("a join on the CPU whose condition and key are textures, and which returns text") {
    auto context = Context::headless();
    Texture key(context, {1, 2, 3, 4}, 2), weight(context, {5, 6, 7, 8}, 2);
    Table left, right;
    left.add_texture("k", key.id(), ColumnType::F32, 4).add_texture("w", weight.id(), ColumnType::F32, 4);
    left.add("s", std::vector<std::string>{"one, long enough to be elsewhere", "two", "three", "four"});
    right.add("r", std::vector<float>{4, 3, 1});
    QueryProcessor processor(context, {.engine = QueryEngine::Cpu});
    const Query query{.outputs = {{std::string("s"), "s"}}, .where = column("w") != 8, .join = Join{"k", "r"}};
    const auto result = processor.run(QueryPlan(query, left.columns(), right.columns()), left, right);
    CHECK(result.rows ==
          std::vector<std::vector<Value>>{{std::string("one, long enough to be elsewhere")}, {std::string("three")}});
}

TEST_CASE("linear conditions of many columns") {
    auto context = Context::headless();
    Table table;
    std::vector<Predicate::Term> seven, eight;
    for (int i = 0; i < 8; ++i) {
        const std::string name(1, static_cast<char>('a' + i));
        table.add(name, std::vector<std::int32_t>{i, 10 * i, -i});
        if (i < 7) seven.push_back({1, name});
        eight.push_back({1, name});
    }
    for (int i = 0; i < 7; ++i) seven.push_back(seven[static_cast<std::size_t>(i)]);  // no further column fits
    // As many terms as the GPU takes, and more.
    const std::vector<Predicate::Term> hundred(120, {1, "b"}), thousand(1000, {1, "b"});
    for (const auto engine : engines_of(context)) {
        QueryProcessor processor(context, {.engine = engine});
        CHECK(processor.count(table, Predicate::linear(seven, Comparison::GreaterOrEqual, 42)) == 2);
        const bool on_gpu = engine == QueryEngine::Bitmap || engine == QueryEngine::Depth;
        if (on_gpu && !detail::Access::of(context)->features.doubles) {
            CHECK_THROWS_WITH_AS(
                static_cast<void>(processor.count(table, Predicate::linear(hundred, Comparison::GreaterOrEqual, 1200))),
                doctest::Contains("64 steps"), InvalidArgument);
        } else {
            CHECK(processor.count(table, Predicate::linear(hundred, Comparison::GreaterOrEqual, 1200)) == 1);
        }
        for (const auto& all : {Predicate::linear(eight, Comparison::GreaterOrEqual, 28),
                                Predicate::linear(thousand, Comparison::LessOrEqual, 1000)}) {
            if (engine == QueryEngine::Cpu || engine == QueryEngine::Auto) {
                CHECK(processor.count(table, all) == 2);
            } else {
                CHECK_THROWS_WITH_AS(static_cast<void>(processor.count(table, all)), doctest::Contains("Auto or Cpu"),
                                     InvalidArgument);
            }
        }
    }
}

TEST_CASE("a join runs on the GPU if both of its tables may") {
    const auto context = Context::headless();
    Table small, large;
    std::vector<Predicate::Term> terms;
    for (int i = 0; i < 8; ++i) {
        const std::string name(1, static_cast<char>('a' + i));
        terms.push_back({1, name});
        small.add(name, std::vector<std::int32_t>{1, 2, 3});
    }
    std::vector<std::int32_t> keys(1U << 16U);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int32_t>(i);
    large.add("k", keys);
    const auto run = [&](const QueryOptions& options, const Table& left, const Table& right,
                         std::optional<Predicate> where) {
        QueryProcessor processor(context, options);
        const QueryPlan plan({.outputs = {{QueryAggregate{}, ""}},
                              .where = std::move(where),
                              .join = Join{.left = left.columns()[0].name, .right = right.columns()[0].name}},
                             left.columns(), right.columns());
        return processor.run(plan, left, right);
    };
    const auto of_eight = Predicate::linear(terms, Comparison::GreaterOrEqual, 16);
    QueryOptions options{.crossings = QueryCrossings{.rows = 1000, .rank_rows = 1000}};
    CHECK(run(options, small, large, {}).engine != QueryEngine::Cpu);
    for (const bool turned : {false, true}) {
        const auto answer = turned ? run(options, large, small, of_eight) : run(options, small, large, of_eight);
        CHECK(answer.engine == QueryEngine::Cpu);
        CHECK(answer.rows[0][0] == Value(std::int64_t{2}));
    }
    // Each fits alone: 256 KiB per column.
    Table another;
    another.add("k", keys);
    options.gpu_memory = 400 << 10;
    const auto of_both = column("left.k") >= 0 && column("right.k") >= 0;
    CHECK(run(options, large, another, of_both).engine == QueryEngine::Cpu);
    CHECK(run(options, large, large, of_both).engine != QueryEngine::Cpu);  // one column, joined with itself
    options.engine = QueryEngine::Bitmap;
    CHECK_THROWS_WITH_AS(static_cast<void>(run(options, large, another, of_both)),
                         doctest::Contains("of 65536 and 65536 rows take more GPU memory"), InvalidArgument);
}

TEST_CASE("columns that make room are freed, even for tables of other sizes") {
    const auto context = Context::headless();
    auto& device = *detail::Access::of(context);
    const detail::gl::Scope scope(device, "test");
    detail::query::BitmapEngine engine(device, 2);
    const auto table_of = [](std::size_t rows, int columns) {
        Table table;
        for (int i = 0; i < columns; ++i) table.add(std::to_string(i), std::vector<float>(rows, 1));
        return table;
    };
    constexpr std::size_t rows = 1U << 18U;  // a column takes a megabyte
    const auto first = table_of(rows, 6), second = table_of(rows + 64, 4);
    const std::array six{std::size_t{0}, std::size_t{1}, std::size_t{2},
                         std::size_t{3}, std::size_t{4}, std::size_t{5}};
    const auto& a = detail::Access::of(first);
    const auto& b = detail::Access::of(second);
    static_cast<void>(engine.open(a, six));
    const auto alive = [&] {
        std::size_t bytes = 0;
        for (GLuint name = 1; name < 1000; ++name) {
            if (!device.gl.IsTexture(name)) continue;
            GLint width = 0, height = 0, format = 0;
            device.gl.GetTextureLevelParameteriv(name, 0, GL_TEXTURE_WIDTH, &width);
            device.gl.GetTextureLevelParameteriv(name, 0, GL_TEXTURE_HEIGHT, &height);
            device.gl.GetTextureLevelParameteriv(name, 0, GL_TEXTURE_INTERNAL_FORMAT, &format);
            if (format == GL_RGBA32UI) bytes += static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 16;
        }
        return bytes;
    };
    CHECK(alive() >= 6 * rows * 4);
    const auto limit = engine.held() + 100'000;
    REQUIRE(engine.make_space({{*b, std::span(six).first(4)}}, limit));
    CHECK(alive() <= engine.held());
    static_cast<void>(engine.open(b, std::span(six).first(4)));
    CHECK(alive() <= engine.held());
    CHECK(engine.held() <= limit);
}

TEST_CASE("the depth engine counts the last part's buffers") {
    const auto context = Context::headless();
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    constexpr std::size_t part = 1U << 16U;
    detail::query::DepthEngine engine(*detail::Access::of(context), 2, part);
    Table table;
    table.add("a", std::vector<float>(2 * part - 32, 1));
    const std::array first{std::size_t{0}};
    const auto& data = *detail::Access::of(table);
    const auto before = engine.held(), bytes = engine.bytes({{data, first}});
    const auto columns = engine.open(detail::Access::of(table), first);
    CHECK(columns->count(*columns->leaf(detail::query::Always{true})) == 2 * part - 32);
    CHECK(engine.held() - before <= bytes);
}

TEST_CASE("a column that lost a part to make room loads that part again") {
    const auto context = Context::headless();
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    constexpr std::size_t rows = 1U << 18U, part = 1U << 16U;  // a part of a column takes 256 KiB
    detail::query::BitmapEngine engine(*detail::Access::of(context), 2, part);
    const std::array first{std::size_t{0}};
    std::array<Table, 2> tables;
    for (auto& table : tables) table.add("a", std::vector<float>(rows, 1));
    const auto &a = detail::Access::of(tables[0]), &b = detail::Access::of(tables[1]);
    static_cast<void>(engine.open(a, first));
    CHECK(engine.bytes({{*a, first}}) == 0);
    const auto whole = engine.bytes({{*b, first}});
    REQUIRE(whole > 0);
    REQUIRE(engine.make_space({{*b, first}}, engine.held() + whole / 2));
    CHECK(engine.bytes({{*a, first}}) > 0);
    CHECK(engine.bytes({{*a, first}}) < whole);
}

TEST_CASE_TEMPLATE("columns that are not in use make room for others", Engine, detail::query::BitmapEngine,
                   detail::query::DepthEngine) {
    auto context = Context::headless();
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    Engine engine(*detail::Access::of(context), 2);
    constexpr std::size_t rows = 1U << 18U, limit = 6'000'000;  // a column takes a megabyte
    const std::array first{std::size_t{0}};
    std::vector<Table> tables(8);
    for (std::size_t i = 0; i < tables.size(); ++i) tables[i].add("a", std::vector<float>(rows, static_cast<float>(i)));
    for (int round = 0; round < 2; ++round) {
        for (const auto& table : tables) {
            REQUIRE(engine.make_space({{*detail::Access::of(table), first}}, limit));
            const auto columns = engine.open(detail::Access::of(table), first);
            CHECK(columns->count(*columns->leaf(detail::query::Range{0, 0, ~detail::query::Key{0}})) == rows);
            CHECK(engine.held() <= limit);
        }
    }
    const auto in_use = engine.open(detail::Access::of(tables[0]), first);
    CHECK_FALSE(engine.make_space({{*detail::Access::of(tables[1]), first}}, 1'500'000));
    CHECK(in_use->kth(0, 7, *in_use->leaf(detail::query::Always{true})) == detail::query::KeyOf<float>::key(0));
    tables.clear();
    for (std::size_t n = 1000; n < 1100; ++n) {
        Table table;
        table.add("a", std::vector<float>(n * 1000));
        static_cast<void>(engine.open(detail::Access::of(table), first));
    }
    CHECK(engine.held() < 50'000'000);
}

TEST_CASE("joins by sorting in the context") {
    std::mt19937_64 random(3);
    Table left, right;
    std::vector<std::int64_t> a(20000);
    std::vector<float> b(30000);
    for (auto& x : a) x = static_cast<std::int64_t>(random() % 100000);
    for (auto& x : b) x = static_cast<float>(random() % 200000) / 2;
    left.add("k", a);
    right.add("k", b);
    QueryProcessor with(Context::headless()), without;
    const auto pairs = [&](QueryProcessor& processor) {
        std::vector<RowPair> all;
        processor.join(left, right, {"k", "k", 0.5},
                       [&](auto chunk) { all.insert(all.end(), chunk.begin(), chunk.end()); });
        return all;
    };
    const auto expected = pairs(without);
    CHECK(expected.size() > 1000);
    CHECK((pairs(with) == expected));
}

TEST_CASE("queries give SQLite's answers with every engine") {
    const auto context = Context::headless();
    for (const auto engine : engines_of(context)) {
        QueryProcessor processor(context, {.engine = engine});
        AgainstSqlite(processor, {.tables = 20, .seed = 7}).tables();
        AgainstSqlite(processor, {.tables = 20, .seed = 8}).joins();
    }
}
