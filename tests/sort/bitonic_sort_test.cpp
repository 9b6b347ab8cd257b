// Compares the bitonic engine with std::stable_sort, bit by bit: every type, order, distribution and size, windows,
// indices, both representations, with and without blocks, one and several steps per pass.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <tuple>

#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "stable.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr auto single = Representation::SingleArray, four = Representation::FourArray;

SortOptions bitonic(Representation representation, std::size_t block, int steps_per_pass) {
    return {.engine = Engine::Bitonic,
            .paper = {.bitonic = {.representation = representation, .block = block, .steps_per_pass = steps_per_pass}}};
}

}  // namespace

TEST_CASE_TEMPLATE("The bitonic engine sorts every type, order, distribution and size, with and without an index", Key,
                   Half, float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    const Sizes all{.every_distribution = {0, 1, 5, 300},
                    .any_and_few = {2, 3, 4, 7, 8, 9, 17, 64, 65, 1025},
                    .uniform_and_specials = {20'000}};
    sort_everything<Key>({.engine = Engine::Bitonic}, all);
    const Sizes fewer{.every_distribution = {100}, .any_and_few = {3, 4, 9, 128, 1025}, .uniform_and_specials = {}};
    sort_everything<Key>(bitonic(four, 0, 3), fewer);
    sort_everything<Key>(bitonic(single, 4, 1), fewer);
    sort_everything<Key>(bitonic(four, 16, 2), fewer);
}

TEST_CASE_TEMPLATE("The bitonic engine sorts windows of any length", Key, Half, float, std::uint64_t) {
    for (const auto& options : {bitonic(single, 0, 3), bitonic(four, 8, 2)})
        sort_all_windows<Key>(options, {1, 2, 3, 4, 5, 31, 64, 100, 1000, 4999}, {1, 1000, 5000});
}

TEST_CASE("Larger sorts, in blocks of any size") {
    const auto context = Context::headless();
    const auto keys = keys_of<float>("any bits", 70'000, 3);
    for (const auto representation : {single, four}) {
        for (const auto& [block, steps] : {std::pair{0, 1}, std::pair{17, 1}, std::pair{64, 3}, std::pair{4096, 2}}) {
            Sorter sorter(context, bitonic(representation, static_cast<std::size_t>(block), steps));
            expect_stable(keys, whole, Order::Ascending, false, [&](auto& k, auto&) { sorter.sort(k); });
        }
    }
}

TEST_CASE("A bitonic sorter may be used again with other sizes, types and windows") {
    Sorter sorter(Context::headless(), {.engine = Engine::Bitonic});
    std::mt19937_64 random(20261121);
    for (int round = 0; round < 20; ++round) {
        const auto n = 1 + random() % 3000, window = 1 + random() % n;
        CAPTURE(round);
        const auto windows = [&](auto& k, auto&) { sorter.sort_windows(k, window); };
        const auto plain = [&](auto& k, auto&) { sorter.sort(k); };
        const auto indexed = [&](auto& k, auto& index) { sorter.sort_with_index(k, index); };
        expect_stable(keys_of<std::int32_t>("any bits", n, random()), window, Order::Ascending, false, windows);
        expect_stable(keys_of<double>("few", n, random()), whole, Order::Ascending, true, indexed);
        // The same number of planes as for doubles without an index, but other textures.
        expect_stable(keys_of<std::int32_t>("few", n, random()), whole, Order::Ascending, true, indexed);
        expect_stable(keys_of<double>("few", n, random()), whole, Order::Ascending, false, plain);
        expect_stable(keys_of<Half>("few", n, random()), window, Order::Ascending, false, windows);
    }
}

TEST_CASE("Passes of the bitonic engine are numbered as in Routine 4.1, and their number is that of the formula") {
    struct Recorder : PassObserver {
        void before(const PassEvent& pass) override { seen.emplace_back(pass.name, pass.stage, pass.step); }
        std::vector<std::tuple<std::string, int, int>> seen;
    } recorder;
    auto context = Context::headless();
    context.observe(&recorder);
    const auto sort = [&](const SortOptions& options, std::size_t n) {
        recorder.seen.clear();
        auto keys = make<float>("uniform", n, 1);
        const auto stats = Sorter(context, options).sort(keys);
        CHECK(stats.passes == recorder.seen.size());
        return stats;
    };
    const auto stats = sort(bitonic(single, 0, 1), 30);  // padded to 2^5
    CHECK(std::tuple(stats.steps, stats.stages_run, stats.stages_max, stats.textures) == std::tuple(15U, 5, 5, 1U));
    const auto on_texels = [](int stage, int step) { return std::tuple(std::string("compare"), stage, step); };
    const auto in_texels = [](int stage) { return std::tuple(std::string("compare in texels"), stage, 1); };
    CHECK(recorder.seen == std::vector{std::tuple(std::string("load"), -1, -1), in_texels(2), on_texels(3, 3),
                                       in_texels(3), on_texels(4, 4), on_texels(4, 3), in_texels(4), on_texels(5, 5),
                                       on_texels(5, 4), on_texels(5, 3), in_texels(5),
                                       std::tuple(std::string("store"), -1, -1)});
    CHECK(sort(bitonic(four, 0, 1), 1000).passes == 2 + 10 * 11 / 2 - 1);
    CHECK(sort(bitonic(single, 0, 3), 1000).passes == 2 + 1 + 3 * (1 + 2) + 2 * 3);
}

TEST_CASE("Arguments that the bitonic engine cannot take are refused before any work") {
    auto context = Context::headless();
    CHECK_THROWS_WITH_AS(Sorter(context, bitonic(single, 0, 4)),
                         "Sorter: bitonic.steps_per_pass must be 1, 2 or 3, not 4", InvalidArgument);
    CHECK_THROWS_AS(Sorter(context, bitonic(single, 0, 0)), InvalidArgument);
    float key = 0;
    Sorter sorter(context, {.engine = Engine::Bitonic});
    const std::span<float> too_many(&key, (std::size_t{1} << 30U) + 1), many(&key, (std::size_t{1} << 29U) + 1);
    CHECK_THROWS_WITH_AS(sorter.sort(too_many), doctest::Contains("sort parts of them, or use Engine::Merge"),
                         InvalidArgument);
    CHECK_THROWS_AS(sorter.sort_windows(many, 1), InvalidArgument);  // each padded to 4
    std::vector<float> keys{2, 1}, best(1);
    CHECK_THROWS_AS(sorter.top(keys, best), InvalidArgument);
    CHECK_THROWS_AS(sorter.sort_segments(keys, std::array<std::size_t, 1>{2}), InvalidArgument);
    Sorter in_blocks(context, bitonic(single, 16, 1));
    CHECK_THROWS_WITH_AS(in_blocks.sort(std::span(&key, std::size_t{1} << 28U)),
                         doctest::Contains("bitonic.block must be 0 or at least 128"), InvalidArgument);
    Sorter of_four(context, bitonic(four, 0, 3));
    CHECK_THROWS_AS(of_four.sort_windows(many, std::size_t{1} << 29U),
                    InvalidArgument);  // two windows take four positions
}
