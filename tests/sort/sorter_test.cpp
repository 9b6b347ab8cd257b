// Compares sorts on the GPU with the reference, bit by bit.
#include <doctest/doctest.h>

#include <cstdio>

#include "data.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

template <class Float>
void expect_sorted(Sorter& sorter, const std::string& distribution, std::size_t n, std::uint64_t seed) {
    auto keys = make<Float>(distribution, n, seed);
    auto expected = keys;
    reference_sort(expected.data(), expected.data() + n, sorter.options().order);
    const auto stats = sorter.sort(std::span(keys));
    CAPTURE(distribution);
    CAPTURE(n);
    CAPTURE(seed);
    REQUIRE(stats.n == n);
    REQUIRE(bits_of(keys) == bits_of(expected));
}

}  // namespace

TEST_CASE_TEMPLATE("PBSN sorts every distribution and size, in both orders", Float, float, Half) {
    const auto context = Context::headless();
    for (const auto order : {Order::Ascending, Order::Descending}) {
        Sorter sorter(context, {.order = order, .engine = Engine::Pbsn});
        for (const auto& distribution : distributions()) {
            for (const std::size_t n : {0UL, 1UL, 2UL, 3UL, 4UL, 5UL, 8UL, 15UL, 16UL, 17UL, 63UL, 64UL, 65UL, 1000UL,
                                        4095UL, 4096UL, 4097UL}) {
                expect_sorted<Float>(sorter, distribution, n, n + 1);
            }
        }
        for (const std::size_t n : {65'535UL, 65'536UL, 65'537UL, 100'000UL}) {
            expect_sorted<Float>(sorter, "uniform", n, n);
            expect_sorted<Float>(sorter, "any bits", n, n);
        }
    }
}

TEST_CASE_TEMPLATE("More keys than a texture holds are sorted in several textures and merged", Float, float, Half) {
    const auto context = Context::headless();
    for (const auto order : {Order::Ascending, Order::Descending}) {
        for (const std::size_t max_texels : {1UL, 7UL, 64UL, 256UL}) {
            Sorter sorter(context,
                          {.order = order, .engine = Engine::Pbsn, .paper = {.pbsn = {.max_texels = max_texels}}});
            for (const std::size_t n : {1UL, 4UL, 5UL, 29UL, 100UL, 257UL}) {
                expect_sorted<Float>(sorter, "any bits", n, n);
            }
        }
        Sorter sorter(context, {.order = order, .engine = Engine::Pbsn, .paper = {.pbsn = {.max_texels = 1024}}});
        for (const auto& distribution : distributions()) expect_sorted<Float>(sorter, distribution, 9'999, 4);
    }
}

TEST_CASE_TEMPLATE("Runs shorter than a texture are sorted next to each other in it and merged", Float, float, Half) {
    const auto context = Context::headless();
    for (const auto order : {Order::Ascending, Order::Descending}) {
        for (const std::size_t max_run : {1UL, 5UL, 64UL, 1024UL}) {
            Sorter sorter(
                context,
                {.order = order, .engine = Engine::Pbsn, .paper = {.pbsn = {.max_texels = 4096, .max_run = max_run}}});
            for (const auto& distribution : distributions()) {
                for (const std::size_t n : {1UL, 4UL, 255UL, 256UL, 257UL, 4096UL, 9'999UL, 20'000UL})
                    expect_sorted<Float>(sorter, distribution, n, n);
            }
        }
    }
    Sorter sorter(context, {.engine = Engine::Pbsn, .paper = {.pbsn = {.early_stop = EarlyStop::No, .max_run = 1024}}});
    auto keys = make<Float>("uniform", 3 * 4096, 1);
    const auto stats = sorter.sort(std::span(keys));
    CHECK(stats.steps == 100);
    CHECK(stats.textures == 1);
}

TEST_CASE("A sorter may be used again with other sizes and types") {
    Sorter sorter(Context::headless(), {.engine = Engine::Pbsn});
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        expect_sorted<float>(sorter, "any bits", 37 * seed * seed, seed);
        expect_sorted<Half>(sorter, "uniform", 5000 - 100 * seed, seed);
    }
    Sorter moved = std::move(sorter);
    expect_sorted<float>(moved, "gauss", 1000, 1);
}

TEST_CASE_TEMPLATE("Windows are sorted separately", Float, float, Half) {
    const auto context = Context::headless();
    for (const auto order : {Order::Ascending, Order::Descending}) {
        for (const auto engine : {Engine::Pbsn, Engine::Cpu}) {
            Sorter sorter(context, {.order = order, .engine = engine, .paper = {.pbsn = {.max_texels = 4096}}});
            for (const auto& [n, window] :
                 {std::pair{0UL, 4UL}, std::pair{1UL, 1UL}, std::pair{10UL, 1UL}, std::pair{17UL, 2UL},
                  std::pair{1000UL, 7UL}, std::pair{4096UL, 64UL}, std::pair{9999UL, 100UL},
                  std::pair{20'000UL, 1000UL}, std::pair{20'000UL, 4096UL}, std::pair{50UL, 1000UL}}) {
                for (const auto* distribution : {"uniform", "any bits", "specials", "zeros"}) {
                    auto keys = make<Float>(distribution, n, n + window);
                    auto expected = keys;
                    for (std::size_t begin = 0; begin < n; begin += window) {
                        reference_sort(expected.data() + begin, expected.data() + std::min(begin + window, n), order);
                    }
                    sorter.sort_windows(std::span(keys), window);
                    const auto size = n, length = window;
                    CAPTURE(size);
                    CAPTURE(length);
                    CAPTURE(distribution);
                    REQUIRE(bits_of(keys) == bits_of(expected));
                }
            }
        }
    }
}

TEST_CASE("Without early stop 2^18 keys take 16 stages of 16 steps") {
    Sorter sorter(Context::headless(), {.engine = Engine::Pbsn, .paper = {.pbsn = {.early_stop = EarlyStop::No}}});
    auto keys = make<float>("uniform", std::size_t{1} << 18, 1);
    auto expected = keys;
    reference_sort(expected.data(), expected.data() + expected.size(), Order::Ascending);
    const auto stats = sorter.sort(std::span(keys));
    CHECK(keys == expected);
    CHECK(stats.steps == 256);
    CHECK(stats.stages_run == 16);
    CHECK(stats.stages_max == 16);
    CHECK(stats.textures == 1);
    CHECK(stats.passes == 1 + 3 * 256);  // a copy at first, then two draws and a copy per step
    CHECK(stats.engine == Engine::Pbsn);
}

TEST_CASE("Sorted input needs few stages") {
    const auto context = Context::headless();
    constexpr std::size_t n = 1 << 16;
    for (const auto order : {Order::Ascending, Order::Descending}) {
        Sorter sorter(context, {.order = order, .engine = Engine::Pbsn});
        auto keys = make<float>("uniform", n, 2);
        reference_sort(keys.data(), keys.data() + n, order);
        const auto sorted = keys;
        auto stats = sorter.sort(std::span(keys));
        CHECK(stats.stages_run == 0);
        CHECK(keys == sorted);
        // Neighbours swapped: one stage.
        for (std::size_t i = 0; i + 8 < n; i += 8) std::swap(keys[i], keys[i + 4]);
        stats = sorter.sort(std::span(keys));
        CHECK(stats.stages_run == 1);
        CHECK(keys == sorted);
        // Shuffled within 64 keys: a few stages.
        std::mt19937_64 random(3);
        for (std::size_t i = 0; i < n; i += 64)
            std::shuffle(keys.begin() + static_cast<std::ptrdiff_t>(i),
                         keys.begin() + static_cast<std::ptrdiff_t>(i + 64), random);
        stats = sorter.sort(std::span(keys));
        std::printf("stages run for 2^16 keys shuffled within 64 places: %d of %d\n", stats.stages_run,
                    stats.stages_max);
        CHECK(stats.stages_run <= 5);
        CHECK(keys == sorted);
    }
}

TEST_CASE("Keys that blending cannot order are set aside and counted") {
    Sorter sorter(Context::headless(), {.engine = Engine::Pbsn});
    auto keys = make<float>("uniform", 1000, 5);
    keys[3] = keys[500] = std::numeric_limits<float>::quiet_NaN();
    keys[77] = -0.0F;
    keys[999] = std::numeric_limits<float>::denorm_min();
    CHECK(sorter.sort(std::span(keys)).set_aside == 4);
}

TEST_CASE("16-bit precision: exact if possible, otherwise refused, or rounded if requested") {
    const auto context = Context::headless();
    const auto halves = make<Half>("any bits", 3000, 6);
    std::vector<float> keys;
    for (const auto half : halves) keys.push_back(half.value());
    auto expected = keys;
    reference_sort(expected.data(), expected.data() + expected.size(), Order::Ascending);
    Sorter exact(context, {.engine = Engine::Pbsn, .precision = Precision::Float16});
    exact.sort(std::span(keys));
    CHECK(bits_of(keys) == bits_of(expected));

    std::vector<float> tenths{0.3F, 0.2F, 0.1F};
    const auto before = tenths;
    CHECK_THROWS_WITH_AS(
        exact.sort(std::span(tenths)),
        "Sorter::sort: the key 0.300000 at index 0 is not a 16-bit float and would be changed; use 32-bit "
        "precision, or allow rounding",
        InvalidArgument);
    CHECK(tenths == before);

    auto same = halves;
    Sorter wide(context, {.engine = Engine::Pbsn, .precision = Precision::Float32});
    wide.sort(std::span(same));
    for (std::size_t i = 0; i < same.size(); ++i) REQUIRE(bits_of(same[i].value()) == bits_of(expected[i]));

    Sorter rounding(context, {.engine = Engine::Pbsn, .precision = Precision::Float16, .rounding = Rounding::Nearest});
    rounding.sort(std::span(tenths));
    for (std::size_t i = 0; i < 3; ++i) CHECK(tenths[i] == Half::from_float(before[2 - i]).value());
}

TEST_CASE("Precision and rounding mean the same for every engine") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Auto, Engine::Cpu, Engine::Pbsn}) {
        Sorter refusing(context, {.engine = engine, .precision = Precision::Float16});
        std::vector<float> tenth{0.1F};
        CHECK_THROWS_AS(refusing.sort(std::span(tenth)), InvalidArgument);
        Sorter rounding(context, {.engine = engine, .precision = Precision::Float16, .rounding = Rounding::Nearest});
        rounding.sort(std::span(tenth));
        CHECK(tenth[0] == Half::from_float(0.1F).value());
    }
}

TEST_CASE("The four channels are merged in one round of n keys, or in two; both give the same result") {
    const auto context = Context::headless();
    constexpr std::size_t n = 40'000;
    for (const auto order : {Order::Ascending, Order::Descending}) {
        for (const auto* distribution : {"uniform", "any bits", "few"}) {
            auto expected = make<float>(distribution, n, 3);
            const auto keys = expected;
            reference_sort(expected.data(), expected.data() + n, order);
            for (const auto merge : {ChannelMerge::FourWays, ChannelMerge::TwoWays}) {
                Sorter sorter(context,
                              {.order = order, .engine = Engine::Pbsn, .paper = {.pbsn = {.channel_merge = merge}}});
                auto sorted = keys;
                const auto stats = sorter.sort(sorted);
                CHECK(bits_of(sorted) == bits_of(expected));
                // One texture holds 40,000 keys, so there are four runs.
                CHECK(stats.textures == 1);
                CHECK(stats.merge_moves == (n - stats.set_aside) * (merge == ChannelMerge::FourWays ? 1 : 2));
            }
        }
    }
}

TEST_CASE("A window longer than all keys is one window, whatever its size") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Auto, Engine::Cpu, Engine::Pbsn}) {
        Sorter sorter(context, {.engine = engine});
        for (const std::size_t window : {std::size_t{4}, std::size_t{1} << 62U, ~std::size_t{0}}) {
            std::vector<float> keys{3, 1, 2};
            sorter.sort_windows(std::span(keys), window);
            CHECK(keys == std::vector<float>{1, 2, 3});
        }
    }
}

TEST_CASE("Bad arguments are refused before any work") {
    const auto context = Context::headless();
    CHECK_THROWS_AS(Sorter(context, {.paper = {.pbsn = {.max_texels = 0}}}), InvalidArgument);
    CHECK(Sorter(context, {.engine = Engine::Pbsn}).options().paper.pbsn.max_run == (std::size_t{1} << 18));
    Sorter sorter(context, {.engine = Engine::Pbsn, .paper = {.pbsn = {.max_texels = 64}}});
    std::vector<float> keys(100, 1.0F);
    CHECK_THROWS_AS(sorter.sort_windows(std::span(keys), 0), InvalidArgument);
    sorter.sort_windows(std::span(keys), 65);  // a quarter in each channel
    keys.resize(300);
    CHECK_THROWS_AS(sorter.sort_windows(std::span(keys), 257), InvalidArgument);
    Sorter whole(context,
                 {.engine = Engine::Pbsn, .paper = {.pbsn = {.max_texels = 64, .channels = Channels::Windows}}});
    CHECK_THROWS_AS(whole.sort_windows(std::span(keys), 65), InvalidArgument);
    CHECK_THROWS_AS(sorter.sort_texture(0, 0), InvalidArgument);
    CHECK_THROWS_AS(sorter.sort_texture(12345, 12345), InvalidArgument);
    CHECK_THROWS_AS(sort_windows_on_cpu(std::span(keys), 0), InvalidArgument);
}

TEST_CASE("The CPU engine and the automatic choice give the same result") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Cpu, Engine::Auto}) {
        for (const auto order : {Order::Ascending, Order::Descending}) {
            Sorter sorter(context, {.order = order, .engine = engine});
            for (const auto& distribution : distributions()) {
                expect_sorted<float>(sorter, distribution, 1000, 1);
                expect_sorted<Half>(sorter, distribution, 1000, 1);
            }
        }
    }
    std::vector<float> few{2, 1};
    CHECK(sort(context, std::span(few)).engine == Engine::Cpu);
}

TEST_CASE("Observers see each pass of the network in order") {
    struct Recorder : PassObserver {
        void before(const PassEvent& pass) override {
            seen.push_back(std::string(pass.name));
            stages.push_back(pass.stage);
        }
        std::vector<std::string> seen;
        std::vector<int> stages;
    } recorder;
    auto context = Context::headless();
    context.observe(&recorder);
    Sorter sorter(context, {.engine = Engine::Pbsn, .paper = {.pbsn = {.early_stop = EarlyStop::No}}});
    auto keys = make<float>("uniform", 64, 1);  // 2^4 texels
    const auto stats = sorter.sort(std::span(keys));
    REQUIRE(recorder.seen.size() == stats.passes);
    REQUIRE(stats.passes == 1 + 3 * 16);
    CHECK(recorder.seen[0] == "copy");
    for (std::size_t i = 0; i < 16; ++i) {
        CHECK(recorder.seen[1 + 3 * i] == "min");
        CHECK(recorder.seen[2 + 3 * i] == "max");
        CHECK(recorder.seen[3 + 3 * i] == "copy to tex");
        CHECK(recorder.stages[1 + 3 * i] == static_cast<int>(i) / 4 + 1);
    }
}
