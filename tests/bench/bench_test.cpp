// Tests of `quadmill bench`: its inputs, its checks of results, and its plots. No OpenGL.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>

#include "bench/cache.hpp"
#include "bench/external_bench.hpp"
#include "bench/linalg_bench.hpp"
#include "bench/plot.hpp"
#include "bench/rivals.hpp"
#include "bench/sort_bench.hpp"
#include "bench/tune.hpp"
#include "bench/wake.hpp"
#include "cpu/keys.hpp"
#include "cpu/sample_keys.hpp"

using namespace quadmill;
using namespace quadmill::detail;
using namespace quadmill::detail::cpu;
using namespace quadmill::detail::bench;

namespace {

constexpr std::array types{KeyType::F16, KeyType::F32, KeyType::F64, KeyType::I32,
                           KeyType::U32, KeyType::I64, KeyType::U64};
constexpr std::array distributions{Distribution::Uniform, Distribution::Gauss,    Distribution::Zipf,
                                   Distribution::Sorted,  Distribution::Reversed, Distribution::Nearly,
                                   Distribution::Dup,     Distribution::Equal};

// The keys as unsigned numbers in the library's order.
std::vector<std::uint64_t> ranks(Keys keys) {
    return cpu::visit(keys, []<class Key>(std::span<Key> values) {
        const cpu::TotalOrder<Key> rule(Order::Ascending);
        std::vector<std::uint64_t> found;
        for (const auto value : values) found.push_back(rule.encode(cpu::KeyBits<Key>::of(value)));
        return found;
    });
}

std::size_t distinct(Keys keys) {
    const auto all = ranks(keys);
    return std::set<std::uint64_t>(all.begin(), all.end()).size();
}

}  // namespace

TEST_CASE("A copy past the system's cache has all bytes, or reports that the file system cannot do it") {
    for (const std::uint64_t records : {1U, 41U, 30'000U, 300'000U}) {  // below a page, a block, all blocks, more
        const BenchFolder folder(std::filesystem::temp_directory_path().string());
        const auto found = run_files(folder, {direct_copy()}, records, 2);
        const auto& copy = found.results.front();
        CHECK(copy.verified);
        if (!copy.ran()) CHECK(copy.refusal == "this file system has no transfers past the system's cache");
    }
}

TEST_CASE("inputs match their distribution, for every type") {
    for (const auto type : types) {
        CAPTURE(static_cast<int>(type));
        constexpr std::size_t n = 2000;
        const auto of = [&](Distribution distribution) { return KeyBuffer(type, distribution, n, 7); };
        for (const auto distribution : distributions) {
            CAPTURE(static_cast<int>(distribution));
            auto keys = of(distribution), again = of(distribution), other = KeyBuffer(type, distribution, n, 8);
            CHECK(keys.keys().size() == n);
            CHECK(keys.keys().type() == type);
            CHECK(ranks(keys.keys()) == ranks(again.keys()));
            CHECK((ranks(keys.keys()) == ranks(other.keys())) == (distribution == Distribution::Equal));
            cpu::visit(keys.keys(), []<class Key>(std::span<Key> values) {
                if constexpr (cpu::is_float<Key>) {
                    using Bits = cpu::KeyBits<Key>;
                    const auto bad = [](Key key) {
                        const auto bits = Bits::of(key);
                        return bits == Bits::sign || (bits & Bits::exponent) == Bits::exponent;
                    };
                    CHECK(std::ranges::none_of(values, bad));
                }
            });
            KeyBuffer one(type, distribution, 1, 7);
            CHECK(one.keys().size() == 1);
        }
        auto sorted = of(Distribution::Sorted), reversed = of(Distribution::Reversed),
             nearly = of(Distribution::Nearly), dup = of(Distribution::Dup), equal = of(Distribution::Equal),
             uniform = of(Distribution::Uniform);
        CHECK(in_order(sorted.keys()));
        CHECK_FALSE(in_order(reversed.keys()));
        CHECK(std::ranges::is_sorted(ranks(reversed.keys()), std::greater<>()));
        CHECK_FALSE(in_order(nearly.keys()));
        const auto a = ranks(sorted.keys()), b = ranks(nearly.keys());
        std::size_t moved = 0;
        for (std::size_t i = 0; i < n; ++i) moved += a[i] != b[i];
        CHECK(moved <= n / 50);
        CHECK(distinct(dup.keys()) == 16);
        CHECK(distinct(equal.keys()) == 1);
        CHECK(distinct(uniform.keys()) > n / 2);
    }
}

TEST_CASE("the check of a result detects one changed key, and ignores the order") {
    for (const auto type : types) {
        KeyBuffer buffer(type, Distribution::Uniform, 1000, 3);
        auto changed = buffer, moved = buffer;
        cpu::visit(changed.keys(), [](auto values) { values[500] = values[501]; });
        cpu::visit(moved.keys(), [](auto values) { std::ranges::reverse(values); });
        CHECK(checksum(buffer.keys()) != checksum(changed.keys()));
        CHECK(checksum(buffer.keys()) == checksum(moved.keys()));
    }
}

TEST_CASE("every rival that was built in sorts every type and distribution") {
#ifdef QUADMILL_TBB
    CHECK(rival_of("std::sort par"));  // its library was found
#endif
    for (const auto& rival : rivals()) {
        CAPTURE(rival.name);
        if (!rival.sort) continue;
        for (const auto type : types) {
            for (const auto distribution : distributions) {
                KeyBuffer buffer(type, distribution, 3000, 5);
                const auto sum = checksum(buffer.keys());
                rival.sort(buffer.keys());
                CHECK(in_order(buffer.keys()));
                CHECK(checksum(buffer.keys()) == sum);
            }
        }
    }
}

TEST_CASE("a rival that does not sort, or loses keys, is detected; engines without a context are refused") {
    const Rival idle{"idle", nullptr, [](Keys) {}};
    const Rival careless{"careless", nullptr, [](Keys keys) {
                             cpu::visit(keys, [](auto values) { std::ranges::fill(values, values.front()); });
                         }};
    SortBench bench(std::nullopt, "there is no OpenGL",
                    {{"cpu", SortOptions{.engine = Engine::Cpu}},
                     {"pbsn", SortOptions{.engine = Engine::Pbsn}},
                     {"idle", &idle},
                     {"careless", &careless}},
                    3);
    const auto found = bench.run({KeyType::F32, Distribution::Uniform, 1000});
    REQUIRE(found.results.size() == 4);
    CHECK(found.results[0].ran());
    CHECK(found.results[0].verified);
    CHECK(found.results[0].low_ms <= found.results[0].ms);
    CHECK(found.results[0].ms <= found.results[0].high_ms);
    CHECK_FALSE(found.results[0].percent_of_limit());
    CHECK(found.results[1].refusal == "there is no OpenGL");
    CHECK_FALSE(found.results[2].verified);
    CHECK_FALSE(found.results[3].verified);
}

TEST_CASE("a wrong LU is detected, alone and among many; every built-in rival's is right") {
    const LuRival idle{"idle", "", Pivot::Partial, 1000, [](float*, std::size_t, LuOrder) { return 0; }};
    const LuRival failing{"failing", "", Pivot::Partial, 1000, [](float*, std::size_t, LuOrder) { return 3; }};
    std::vector<LuContender> contenders{{"idle", {}, &idle}, {"failing", {}, &failing}};
    for (const auto& rival : lu_rivals()) {
        if (rival.factor) contenders.push_back({rival.name, {}, &rival});
    }
    LinalgBench bench(std::nullopt, "there is no OpenGL", contenders, 2);
    const auto check = [](const LuTimes& times) {
        CAPTURE(times.contender->name);
        CHECK(times.verified == (times.contender->name != "idle"));
        CHECK(times.ran() == (times.contender->name != "failing" && times.contender->name != "all together"));
        if (times.ran()) CHECK(times.residual > 0);
    };
    for (const auto pivot : {Pivot::Diagonal, Pivot::Partial, Pivot::Full}) {
        for (const auto& times : bench.run(33, pivot).results) check(times);
    }
    for (const auto& times : bench.run_batch(5, 300).results) check(times);
}

TEST_CASE("a plot escapes its text and keeps all points on the page") {
    const auto svg =
        plot({{"<a & b>", "x", "y", {{"one \"point\"", Line::Solid, {{1000, 5}}}, {"none", Line::Dashed, {}}}},
              {"empty", "x", "y", {}}});
    CHECK(svg.find("&lt;a &amp; b>") != std::string::npos);
    CHECK(svg.find("one &quot;point&quot;") != std::string::npos);
    CHECK(svg.find("nothing ran") != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(svg.find("height=\"1000\"") != std::string::npos);
}

TEST_CASE("a linear axis of a plot begins at 0 and has even steps") {
    const auto svg = plot(
        {{"shares", "%", "%", {{"a", Line::Solid, {{0, 0}, {37.5, 0.3}, {75, 0.6}}}}, Scale::Linear, Scale::Linear}});
    // From 84 to 636 for 0 to 80, from 440 up to 44 for 0 to 0.6.
    CHECK(svg.find("points=\"84.0,440.0 342.8,242.0 601.5,44.0 \"") != std::string::npos);
    for (const auto* tick : {">0<", ">10<", ">80<", ">0.1<", ">0.6<"}) CHECK(svg.find(tick) != std::string::npos);
    CHECK(svg.find(">90<") == std::string::npos);
    const auto nothing = plot({{"none", "%", "%", {{"a", Line::Solid, {{0, 0}}}}, Scale::Linear, Scale::Linear}});
    CHECK(nothing.find("points=\"84.0,440.0 \"") != std::string::npos);
}

TEST_CASE("The cache model: misses of a step, and the sum over all steps of a sort") {
    CHECK(cache_misses(64, 32, 1, 8) == 2 * 64 * 32 / 8);
    CHECK(cache_misses(64, 32, 4, 8) == 2 * 64 * 32 / (4 * 8));
    CHECK(cache_fetches(1 << 20, 1) == 0.5 * 20 * 20);
    CHECK(cache_fetches(1 << 20, 8) == 7 * 19 + 0.5 * 17 * 17);
    // The sum in f(B): each step with quads lower than a block fetches 2 B / h texels per texel instead of 2. The
    // closed form leaves out terms of order lg n.
    for (const double block : {2.0, 4.0, 16.0}) {
        double sum = 0;
        for (int k = 1; k <= 24; ++k) sum += (24 - k + 1) * std::max(block / std::exp2(k - 1), 1.0);
        CHECK(cache_fetches(std::exp2(24), block) == doctest::Approx(sum).epsilon(0.5));
    }
}

TEST_CASE("A GPU counts as awake when its work gets no faster, and not before") {
    // 5 ms at full clock, which a GPU reaches only after more than a second if it has idled for seconds.
    Steady steady(200);
    double spent = 0, ms = 0;
    do {
        ms = 5 * std::max(1.0, 5 - spent / 300);
        spent += ms;
    } while (!steady.add(ms));
    CHECK(ms == 5);
    CHECK(spent < 1700);
    Steady never_quiet(200);  // ends nevertheless
    int times = 0;
    for (ms = 1000; !never_quiet.add(ms); ms *= 0.9) ++times;
    CHECK(times < 10);
    Steady once(0);
    CHECK((once.add(7) || once.add(7)));
}

TEST_CASE("Tuning finds a GPU that wins only with many keys, and reports never only if it never wins") {
    const auto cpu = [](const TunePoint& p) { return p.cpu_ms; };
    const auto gpu = [](const TunePoint& p) { return p.gpu_ms; };
    struct Machine {
        double cpu_ns, gpu_start_ms, gpu_ns;
    };
    const auto crossing_of = [&](const Machine& machine, const TuneLimits& limits, std::size_t& largest) {
        const auto points = measure_points(limits, [&](std::size_t n) {
            const double ns = static_cast<double>(n);
            return TunePoint{.n = n,
                             .cpu_ms = ns * machine.cpu_ns * 1e-6,
                             .gpu_ms = machine.gpu_start_ms + ns * machine.gpu_ns * 1e-6};
        });
        CHECK(std::ranges::is_sorted(points, {}, &TunePoint::n));
        largest = points.back().n;
        return crossing_or_predicted(points, cpu, gpu);
    };
    constexpr TuneLimits quick{std::size_t{1} << 12U, std::size_t{1} << 20U, 2000};
    std::size_t largest = 0, furthest = 0;
    for (const Machine machine : {Machine{4, 1, 2.7}, Machine{4, 10, 2}, Machine{4, 30, 3.5}, Machine{1, 40, 0.5}}) {
        const double truth = machine.gpu_start_ms * 1e6 / (machine.cpu_ns - machine.gpu_ns);
        const auto from = crossing_of(machine, quick, largest);
        furthest = std::max(furthest, largest);
        REQUIRE(from);
        CHECK(static_cast<double>(*from) == doctest::Approx(truth).epsilon(0.1));
    }
    CHECK(furthest > quick.max_n);  // it measured there
    // No time to measure there: uses only the lines.
    constexpr TuneLimits short_of_time{std::size_t{1} << 12U, std::size_t{1} << 20U, 20};
    const auto from = crossing_of({4, 30, 2}, short_of_time, largest);
    REQUIRE(from);
    CHECK(largest < 15'000'000);
    CHECK(static_cast<double>(*from) == doctest::Approx(15e6).epsilon(0.1));
    for (const Machine machine : {Machine{4, 1, 4}, Machine{4, 0.1, 100}})
        CHECK_FALSE(crossing_of(machine, quick, largest));
}
