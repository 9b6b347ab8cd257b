// The depth engine's own methods: what they draw, and that no other engine replaces it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gl/device.hpp"
#include "gl/pass.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "quadmill/query.hpp"
#include "query/gpu/depth_codes.hpp"
#include "query/run/engines.hpp"

using namespace quadmill;                 // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::query;  // NOLINT(google-build-using-namespace)
namespace gl = quadmill::detail::gl;

namespace {

class Passes : public PassObserver {
  public:
    explicit Passes(Context& context) : context_(context) { context_.observe(this); }
    ~Passes() override { context_.observe(nullptr); }
    void before(const PassEvent& pass) override { ++count[std::string(pass.name)]; }
    [[nodiscard]] std::size_t all() const {
        return std::accumulate(count.begin(), count.end(), std::size_t{0},
                               [](std::size_t sum, const auto& one) { return sum + one.second; });
    }
    std::map<std::string, std::size_t> count;

  private:
    Context& context_;
};

// The depths of quads in a search for a k-th value, as codes, drawn again without tests; and their counts.
class Probes : public PassObserver {
  public:
    explicit Probes(Context& context) : context_(context), device_(*detail::Access::of(context)) {
        context_.observe(this);
    }
    ~Probes() override { context_.observe(nullptr); }
    void after(const PassEvent& event) override {
        if (event.name != "next bit") return;
        const auto count = event.pass->count_samples->result();
        const gl::Texture depths(device_, gl::Format::Depth32fStencil8, event.width, event.height);
        const gl::Framebuffer target(device_, gl::Framebuffer::NoColor{}, depths);
        auto again = *event.pass;
        again.name = "again";
        again.target = &target;
        again.depth = gl::DepthTest{.pass_if = gl::Compare::Always, .write = gl::DepthWrite::On};
        again.count_samples = nullptr;
        gl::draw(device_, again);
        auto written = event;
        written.target = depths.id();
        float depth = 0;
        std::memcpy(&depth, gl::read_target(device_, written).data(), sizeof depth);
        found.emplace_back(code_of(depth), count);
    }
    std::vector<std::pair<std::uint32_t, std::uint64_t>> found;

  private:
    Context& context_;
    gl::Device& device_;
};

std::uint64_t count_of(QueryProcessor& processor, const Table& table, const Predicate& where) {
    return processor.count(table, where);
}

constexpr Comparison all_comparisons[] = {Comparison::Less,     Comparison::LessOrEqual,    Comparison::Equal,
                                          Comparison::NotEqual, Comparison::GreaterOrEqual, Comparison::Greater};

}  // namespace

TEST_CASE("the 2nd largest of the slides' nine values: quads at 1000, 1100, 1010, 1011 count 3, 1, 3, 2") {
    auto context = Context::headless();
    QueryProcessor processor(context, {.engine = QueryEngine::Depth});
    using List = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
    const List slides{{0b1000, 3}, {0b1100, 1}, {0b1010, 3}, {0b1011, 2}};
    Table table;
    table.add("v", std::vector<std::int32_t>{3, 11, 13, 7, 5, 1, 7, 10, 2});
    table.add("u", std::vector<std::uint32_t>{3, 11, 13, 7, 5, 1, 7, 10, 2});
    for (const auto* name : {"v", "u"}) {
        Probes probes(context);
        CHECK(processor.kth_largest(table, name, 2) == Value(std::int64_t{0b1011}));
        CHECK((probes.found == slides));
    }
    // The k-th of the selected rows.
    table.add("w", std::vector<std::int32_t>{1, 1, 1, 1, 1, 1, 0, 0, 1});
    const auto some = processor.select(table, column("w") > 0);
    Probes probes(context);
    CHECK(processor.kth_largest(table, "v", 2, &some) == Value(std::int64_t{0b1011}));
    CHECK((probes.found == List{{0b1000, 2}, {0b1100, 1}, {0b1010, 2}, {0b1011, 2}}));
}

TEST_CASE("MIN and MAX are found bit by bit") {
    auto context = Context::headless();
    QueryProcessor processor(context, {.engine = QueryEngine::Depth});
    Table table;
    table.add("v", std::vector<std::uint32_t>{3, 11, 13, 7, 5, 1, 7, 10, 2});
    Probes probes(context);
    CHECK(processor.aggregate(table, {.kind = QueryAggregate::Kind::Min, .column = "v"}) == Value(std::int64_t{1}));
    CHECK(processor.aggregate(table, {.kind = QueryAggregate::Kind::Max, .column = "v"}) == Value(std::int64_t{13}));
    REQUIRE(probes.found.size() == 16);  // both, twice
    CHECK(probes.found[7] == std::pair{0b1101U, std::uint64_t{1}});
}

TEST_CASE("two columns compare by the depth of their difference, floats too") {
    auto context = Context::headless();
    QueryProcessor depth(context, {.engine = QueryEngine::Depth}), cpu;
    std::mt19937_64 random(11);
    constexpr std::size_t rows = 5000;
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> f(rows), g(rows);
    std::vector<double> d(rows);
    std::vector<std::int64_t> l(rows);
    std::vector<bool> valid(rows);
    const std::vector<float> special{0.0F, -0.0F, infinity, -infinity, nan, 1e-45F, -1e-45F, 3.4e38F};
    for (std::size_t i = 0; i < rows; ++i) {
        f[i] =
            i % 5 == 0 ? special[random() % special.size()] : std::ldexp(1.0F, static_cast<int>(random() % 200) - 100);
        g[i] = i % 3 == 0 ? f[i] : i % 3 == 1 ? std::nextafter(f[i], infinity) : -f[i];
        d[i] = i % 4 == 0 ? double{f[i]} : static_cast<double>(random() % 1000) - 500;
        l[i] = static_cast<std::int64_t>(random() % 1000) - 500;
        valid[i] = random() % 4 > 0;
    }
    Table table;
    table.add("f", f).add("g", g, valid).add("d", d).add("l", l, valid);
    for (const auto& [a, b] : {std::pair{"f", "g"}, {"g", "f"}, {"d", "f"}, {"l", "d"}, {"f", "l"}, {"f", "f"}}) {
        for (const auto op : all_comparisons) {
            for (const bool negate : {false, true}) {
                const auto one = column(a).compare(op, column(b));
                const auto where = negate ? !one : one;
                const std::string columns = std::string(a) + " and " + b;
                INFO(columns << ", comparison " << static_cast<int>(op) << (negate ? ", negated" : ""));
                Passes passes(context);
                const auto n = count_of(depth, table, where);
                CHECK(passes.count["difference to depth"] == 1);
                CHECK(passes.count["against 0"] == 1);
                CHECK(passes.all() <= 3);  // one pass may find the rows that have both values
                CHECK(n == count_of(cpu, table, where));
                CHECK((depth.select(table, where && column("f") > 0).rows() ==
                       cpu.select(table, where && column("f") > 0).rows()));
            }
        }
    }
}

TEST_CASE("columns of floats take one plane if their keys without the gaps do") {
    auto context = Context::headless();
    QueryProcessor depth(context, {.engine = QueryEngine::Depth}), cpu;
    std::mt19937_64 random(12);
    constexpr std::size_t rows = 20000;
    std::vector<float> halves(rows), real(rows), both(rows), wide(rows);
    std::vector<double> few(rows);
    std::vector<std::int64_t> far(rows);
    std::vector<bool> valid(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        halves[i] = static_cast<float>(random() % 2000) / 2;
        real[i] = static_cast<float>(static_cast<double>(random() % 1000000000) * 1e-6);
        both[i] = static_cast<float>(random() % 2000) / 2 - 500;
        few[i] = static_cast<double>(random() % 2000) / 3 - 300;
        far[i] = static_cast<std::int64_t>(random() % 50) * 0x123456789abcdef;
        wide[i] = std::ldexp(static_cast<float>(random() % 1000) - 500, static_cast<int>(random() % 200) - 100);
        valid[i] = i % 7 > 0;
    }
    halves[0] = real[0] = 0;
    Table table;
    table.add("halves", halves).add("real", real).add("both", both).add("few", few).add("far", far);
    table.add("nulls", few, valid).add("wide", wide);
    const auto& data = *detail::Access::of(table);
    const std::map<std::string, int> planes{{"halves", 1}, {"real", 1},  {"both", 1}, {"few", 1},
                                            {"far", 1},    {"nulls", 1}, {"wide", 1}};
    for (const auto& column : data.columns) {
        INFO(column->name);
        CHECK(DepthPlanes::of(*column, 0, rows).planes == planes.at(column->name));
        CHECK(DepthPlanes::of(column->min, column->max).planes > 1);
    }
    {
        static_cast<void>(count_of(depth, table, column("halves").between(0.5, 999)));
        Passes passes(context);
        CHECK(count_of(depth, table, column("halves").between(100, 500.5)) > 0);
        // Without a test of depth bounds, a range is two tests in the stencil.
        CHECK(passes.all() <= 3);
        CHECK(passes.count["to depth"] == 0);
    }
    const std::vector<double> ends{-1e300, -300, -299.5,  -0.1, 0,     1e-30, 0.25,
                                   0.5,    17,   99.9999, 100,  999.5, 1000,  1e300};
    for (const auto& column : data.columns) {
        const auto name = quadmill::column(column->name);
        INFO(column->name);
        for (const auto low : ends) {
            for (const auto op : all_comparisons)
                CHECK(count_of(depth, table, name.compare(op, low)) == count_of(cpu, table, name.compare(op, low)));
            for (const auto high : ends) {
                const auto where = name.between(low, high);
                CHECK(count_of(depth, table, where) == count_of(cpu, table, where));
                CHECK(count_of(depth, table, !where && quadmill::column("halves") > 10) ==
                      count_of(cpu, table, !where && quadmill::column("halves") > 10));
            }
        }
        for (const auto kind : {QueryAggregate::Kind::Min, QueryAggregate::Kind::Max, QueryAggregate::Kind::Quantile}) {
            const QueryAggregate what{.kind = kind, .column = column->name};
            CHECK(depth.aggregate(table, what) == cpu.aggregate(table, what));
            const auto some = quadmill::column("halves") < 77;
            const auto by_depth = depth.select(table, some), by_cpu = cpu.select(table, some);
            CHECK(depth.aggregate(table, what, &by_depth) == cpu.aggregate(table, what, &by_cpu));
        }
    }
}

TEST_CASE("codes of runs: gaps are left out, the widest first") {
    const auto planes = DepthPlanes::of_runs({{5, 6}, {100, 100}, {Key{1} << 40U, (Key{1} << 40U) + 9}});
    REQUIRE(planes);
    CHECK(planes->runs.size() == 2);  // the gap from 6 to 100 can stay
    CHECK(planes->null_code == 96 + 10);
    CHECK(planes->codes(0, ~Key{0}) == std::pair{0U, 105U});
    CHECK(planes->codes(7, 99) == std::pair{2U, 94U});
    CHECK(planes->codes(101, 5000) == std::nullopt);
    CHECK(planes->codes(0, 4) == std::nullopt);
    CHECK(planes->codes(~Key{0}, ~Key{0}) == std::nullopt);
    CHECK(planes->codes(99, (Key{1} << 40U) + 1) == std::pair{94U, 97U});
    for (const Key key : {Key{5}, Key{50}, Key{100}, Key{1} << 40U, (Key{1} << 40U) + 9})
        CHECK(planes->key(planes->codes(key, key)->first) == key);
    CHECK_FALSE(DepthPlanes::of_runs({{0, depth_codes - 1}}));
    CHECK(DepthPlanes::of_runs({{0, depth_codes - 2}})->null_code == depth_codes - 1);
    CHECK_FALSE(DepthPlanes::of_runs({{0, depth_codes / 2}, {~Key{0} - depth_codes / 2, ~Key{0}}}));
    CHECK_FALSE(DepthPlanes::of_runs({}));
}

namespace {

// Sums that are far enough from the constant for float32, or not.
struct Bounded {
    std::size_t yes = 0, open = 0;
};
Bounded bounded(const std::vector<std::vector<double>>& columns, const std::vector<Predicate::Term>& terms, double c) {
    Bounded found;
    const auto bound = static_cast<double>(terms.size() + 4) * 0x1p-24;
    for (std::size_t row = 0; row < columns.front().size(); ++row) {
        long double sum = 0, absolute = std::abs(c);
        for (std::size_t i = 0; i < terms.size(); ++i) {
            const auto term = static_cast<long double>(terms[i].factor) * columns[i][row];
            sum += term;
            absolute += std::abs(term);
        }
        if (std::abs(sum - c) <= bound * absolute) {
            ++found.open;
        } else if (sum > c) {
            ++found.yes;
        }
    }
    return found;
}

}  // namespace

TEST_CASE("semi-linear conditions by fragments that are discarded: exact, or in float32 up to its bound") {
    auto context = Context::headless();
    std::mt19937_64 random(13);
    constexpr std::size_t rows = 30000;
    std::vector<double> a(rows), b(rows), i(rows);
    std::vector<float> f(rows);
    std::vector<std::int32_t> n(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        a[row] = static_cast<double>(random() % 2000001) / 1000 - 1000;
        f[row] = static_cast<float>(static_cast<double>(random() % 2001) / 7 - 100);
        n[row] = static_cast<std::int32_t>(random() % 200) - 100;
        b[row] = double{f[row]};
        i[row] = static_cast<double>(n[row]);
    }
    Table table;
    table.add("a", a).add("f", f).add("n", n);
    QueryProcessor exact(context, {.engine = QueryEngine::Depth}), cpu;
    QueryProcessor rough(context, {.engine = QueryEngine::Depth, .paper = {.sums = SumPrecision::Float32}});
    std::size_t open = 0;
    for (const double factor : {0.1, 1.0, -3.3}) {
        const std::vector<Predicate::Term> terms{{factor, "a"}, {2, "f"}, {-0.7, "n"}};
        for (const double c : {-100.0, 0.0, 0.3, 250.0}) {
            const auto where = Predicate::linear(terms, Comparison::Greater, c);
            Passes passes(context);
            const auto n_exact = exact.count(table, where);
            CHECK(passes.count["sum"] == 1);
            CHECK(passes.count["formula"] == 0);
            CHECK(n_exact == cpu.count(table, where));
            const auto certain = bounded({a, b, i}, terms, c);
            const auto n_rough = rough.count(table, where);
            CHECK(n_rough >= certain.yes);
            CHECK(n_rough <= certain.yes + certain.open);
            CHECK(certain.open < 10);
            open += certain.open;
        }
    }
    CAPTURE(open);
    // A value that float32 does not represent: 2^24 + 1.
    Table large;
    large.add("x", std::vector<std::int32_t>{16777216, 16777217}).add("y", std::vector<std::int32_t>{0, 0});
    const auto more = Predicate::linear({{1, "x"}, {1, "y"}}, Comparison::Greater, 16777216);
    CHECK(exact.count(large, more) == 1);
    CHECK(rough.count(large, more) == 0);
    CHECK_THROWS_WITH_AS(QueryProcessor(context, {.paper = {.sums = SumPrecision::Float32}}),
                         doctest::Contains("engine must be Depth"), InvalidArgument);
}

TEST_CASE("pending counts: several together, answered in any order, with every engine") {
    auto context = Context::headless();
    std::mt19937_64 random(14);
    std::vector<std::int32_t> a(100'003);
    std::vector<double> b(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<std::int32_t>(random() % 1000);
        b[i] = static_cast<double>(random() % 1000) / 7;
    }
    Table table;
    table.add("a", a).add("b", b);
    std::vector<Predicate> conditions;
    for (int i = 0; i < 12; ++i) {
        conditions.push_back(column("a") < 80 * i);
        conditions.push_back(column("a") < 80 * i && (column("b") > 3 * i || column("a") == i));
    }
    auto many = column("a") < 999;
    for (int i = 0; i < 70; ++i) many = many && column("b") != i;
    auto boxes = column("a").between(0, 3) && column("b").between(0, 3);
    for (int i = 1; i < 12; ++i) boxes = boxes || (column("a").between(50 * i, 50 * i + 9) && column("b") > i);
    conditions.insert(conditions.end(), {many, boxes, column("a").in({1, 3, 5, 700}), Predicate::always(true),
                                         column("a") < column("b"), Predicate::always(false)});
    QueryProcessor cpu;
    for (const auto engine : {QueryEngine::Depth, QueryEngine::Bitmap, QueryEngine::Cpu}) {
        QueryProcessor processor(context, {.engine = engine});
        std::vector<PendingCount> pending;
        pending.reserve(conditions.size());
        for (const auto& where : conditions) pending.push_back(processor.count_async(table, where));
        CHECK(processor.count(table, column("a") < 500) == cpu.count(table, column("a") < 500));  // in between
        for (std::size_t i = conditions.size(); i-- > 0;) {
            INFO("condition " << i << ", engine " << static_cast<int>(engine));
            CHECK(pending[i].engine() == engine);
            CHECK(pending[i].get() == cpu.count(table, conditions[i]));
            CHECK(pending[i].ready());
            CHECK(pending[i].get() == pending[i].get());
        }
    }
}

TEST_CASE("the CPU does not wait for a pending count") {
    auto context = Context::headless();
    QueryProcessor processor(context, {.engine = QueryEngine::Depth});
    Table table;
    table.add("a", std::vector<std::int32_t>(1000, 1));
    auto pending = std::make_unique<PendingCount>(processor.count_async(table, column("a") < 2));
    {  // the counts outlive table and processor
        const QueryProcessor gone = std::move(processor);
        table = Table();
    }
    while (!pending->ready()) {
    }
    CHECK(pending->get() == 1000);
    CHECK_THROWS_AS(static_cast<void>(QueryProcessor(context).count_async(table, column("none") < 2)), InvalidArgument);
}

TEST_CASE("a condition is one pass of the bitmap engine, or as few as the textures of a pass allow") {
    constexpr std::size_t n = 1000, columns = 12;
    std::vector<std::vector<std::int32_t>> values(columns);
    Table table;
    for (std::size_t c = 0; c < columns; ++c) {
        for (std::size_t i = 0; i < n; ++i)
            values[c].push_back(static_cast<std::int32_t>((i + 7) * (2 * c + 3) * 2654435761U >> 16U) % 100);
        table.add("c" + std::to_string(c), values[c]);
    }
    const auto name = [](std::size_t c) { return column("c" + std::to_string(c)); };
    auto context = Context::headless();
    QueryProcessor processor(context, {.engine = QueryEngine::Bitmap});
    using Passed = std::map<std::string, std::size_t>;
    const auto count = [&](const Predicate& where, const auto& holds) {
        static_cast<void>(processor.count(table, where));  // what is loaded
        const Passes passes(context);
        const auto found = processor.count(table, where);
        std::uint64_t expected = 0;
        for (std::size_t i = 0; i < n; ++i) expected += holds(i) ? 1U : 0U;
        CHECK(found == expected);
        CHECK(expected > 0);
        CHECK(expected < n);
        auto made = passes.count;
        for (const auto* folds : {"count", "fold"}) made.erase(folds);
        return made;
    };

    CHECK(count((name(0) < 50 || name(1) > 20) && (name(0) > 10 || name(1) < 90 || name(2) == name(3)),
                [&](std::size_t i) {
                    return (values[0][i] < 50 || values[1][i] > 20) &&
                           (values[0][i] > 10 || values[1][i] < 90 || values[2][i] == values[3][i]);
                }) == Passed{{"condition", 1}});

    std::vector<Value> many;
    for (std::int64_t i = 0; i < 100; i += 3) many.emplace_back(i);
    CHECK(count(name(0).in(many) && name(1).in({1, 5, 7, 60}), [&](std::size_t i) {
              const auto b = values[1][i];
              return values[0][i] % 3 == 0 && (b == 1 || b == 5 || b == 7 || b == 60);
          }) == Passed{{"condition", 1}, {"member of table", 1}});

    // A pass has eight textures; the second pass needs one for the result of the first.
    auto all = name(0) > 5;
    for (std::size_t c = 1; c < columns; ++c) all = all && name(c) > 5;
    CHECK(count(all, [&](std::size_t i) {
              return std::ranges::all_of(values, [i](const auto& column) { return column[i] > 5; });
          }) == Passed{{"condition", 2}});

    // One clause that is too large.
    auto any = name(0) < 5;
    for (std::size_t c = 1; c < columns; ++c) any = any || name(c) < 5;
    CHECK(count(any && name(0) > 1, [&](std::size_t i) {
              return values[0][i] > 1 && std::ranges::any_of(values, [i](const auto& column) { return column[i] < 5; });
          }) == Passed{{"condition", 1}, {"range", columns}, {"combine", columns - 1}});
}

TEST_CASE("Auto takes the GPU for a column that is there, unless a sum has too many columns") {
    auto context = Context::headless();
    const gl::Scope scope(*detail::Access::of(context), "test");
    Engines engines(context, {});
    Table table;
    table.add("a", std::vector<std::int32_t>{1, 2, 3}).add_texture("t", 1, ColumnType::U32, 3);
    const auto choose = [&](std::vector<std::size_t> columns, const QueryWork& work) {
        return engines.choose({{{*detail::Access::of(table), columns}, work}}, {});
    };
    CHECK(choose({0, 1}, {}) == QueryEngine::Bitmap);
    CHECK(choose({0}, {}) == QueryEngine::Cpu);
    CHECK(choose({0, 1}, {.linear_columns = 100}) == QueryEngine::Cpu);
}
