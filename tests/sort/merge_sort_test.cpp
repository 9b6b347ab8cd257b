// Compares the merge engine with std::stable_sort, bit by bit: every type, order, distribution and size, windows,
// indices.
#include "sort/merge/merge_sort.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/error.hpp"
#include "quadmill/pairs.hpp"
#include "quadmill/sort.hpp"
#include "stable.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

TEST_CASE_TEMPLATE("The merge engine sorts every type, order, distribution and size, with and without an index", Key,
                   Half, float, double, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    sort_everything<Key>({.engine = Engine::Merge},
                         {.every_distribution = {0, 1, 33, 64, 1000},
                          .any_and_few = {2, 15, 16, 17, 31, 32, 63, 65, 127, 128, 129, 4097},
                          .uniform_and_specials = {65'535, 65'536, 65'537, 150'000}});
}

TEST_CASE_TEMPLATE("The merge engine sorts windows of any length", Key, Half, float, std::uint64_t) {
    sort_all_windows<Key>({.engine = Engine::Merge}, {1, 2, 31, 32, 33, 64, 65, 100, 128, 1000, 1024, 4999},
                          {1, 1000, 5000, 20'000});
}

TEST_CASE(
    "Segments of unequal length, including empty ones, are sorted separately, with eight render targets or four") {
    using namespace quadmill::detail;  // NOLINT(google-build-using-namespace)
    const auto context = Context::headless();
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "test");
    cpu::Workers workers(2);
    std::mt19937_64 random(5);
    struct Case {
        std::vector<int> coarse;
        int targets;
        std::size_t one_pass_pairs = 0;
        bool both_halves = false;
    };
    for (const Case& which :
         {Case{{}, 8}, {{3}, 4}, {{5, 2}, 8, 0, true}, {{8, 4}, 4, 0, true}, {{}, 8, 1U << 20U}, {{}, 4, 1U << 20U}}) {
        device.features.color_targets = which.targets;
        sort::MergeSort merge(device, workers);
        merge.plan().coarse_log2 = which.coarse;
        merge.plan().one_pass_pairs = which.one_pass_pairs;
        merge.plan().both_halves = which.both_halves;
        for (const bool with_index : {false, true}) {
            auto keys = make<float>("few", 100'000, 8);
            const auto input = keys;
            std::vector<std::uint32_t> index(with_index ? keys.size() : 0), expected(keys.size());
            std::iota(expected.begin(), expected.end(), 0U);
            const sort::KeyForm form{KeyType::F32, Order::Ascending, with_index};
            sort::Segments segments(form.pair_keys());
            for (std::size_t begin = 0; begin < keys.size();) {
                const auto longest = random() % 4 == 0 ? 30'000U : 200U;
                const auto size = std::min<std::size_t>(random() % longest, keys.size() - begin);
                segments.add(begin, size);
                std::stable_sort(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                                 expected.begin() + static_cast<std::ptrdiff_t>(begin + size),
                                 [&](auto a, auto b) { return before(input[a], input[b], Order::Ascending); });
                begin += size;
            }
            merge.run(keys, index, Order::Ascending, segments);
            std::vector<float> sorted;
            for (const auto i : expected) sorted.push_back(input[i]);
            REQUIRE(same_bits(keys, sorted));
            if (with_index) REQUIRE(index == expected);
        }
    }
    scope.check();
}

TEST_CASE("Segments given by their ends; ends that do not fit are refused") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Cpu}) {
        Sorter sorter(context, {.order = Order::Descending, .engine = engine});
        auto keys = make<float>("any bits", 1000, 1);
        const std::array<std::size_t, 6> ends{0, 10, 10, 500, 999, 1000};
        auto expected = keys;
        for (std::size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++])
            reference_sort(expected.data() + begin, expected.data() + ends[i], Order::Descending);
        CHECK(sorter.sort_segments(keys, ends).engine == engine);
        CHECK(same_bits(keys, expected));
        CHECK_THROWS_AS(sorter.sort_segments(keys, std::array<std::size_t, 2>{10, 999}), InvalidArgument);
        CHECK_THROWS_AS(sorter.sort_segments(keys, std::array<std::size_t, 3>{20, 10, 1000}), InvalidArgument);
        CHECK_THROWS_AS(sorter.sort_segments(keys, {}), InvalidArgument);
        CHECK(same_bits(keys, expected));
        std::vector<float> none;
        CHECK(sorter.sort_segments(none, {}).n == 0);
    }
    std::vector<float> keys{2, 1};
    CHECK_THROWS_AS(Sorter(context, {.engine = Engine::Pbsn}).sort_segments(keys, std::array<std::size_t, 1>{2}),
                    InvalidArgument);
}

TEST_CASE_TEMPLATE("The best keys and their indices are the first of a stable sort; the keys do not change", Key, Half,
                   float, double, std::int32_t, std::uint64_t) {
    const auto context = Context::headless();
    for (const auto order : {Order::Ascending, Order::Descending}) {
        for (const auto engine : {Engine::Merge, Engine::Cpu}) {
            for (const auto kernel : kernels_of(context, engine)) {
                Sorter sorter(context, {.order = order, .engine = engine, .merge = {kernel}});
                for (const std::size_t n : {1UL, 64UL, 1000UL, 20'000UL, 70'001UL}) {
                    for (const std::string distribution : {"few", "any bits", "specials"}) {
                        const auto input = keys_of<Key>(distribution, n, n);
                        std::vector<std::uint32_t> expected(n);
                        std::iota(expected.begin(), expected.end(), 0U);
                        std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
                            return before(input[a], input[b], order);
                        });
                        for (const std::size_t wanted : {0UL, 1UL, 10UL, 64UL, 65UL, 1500UL, 35'001UL, n}) {
                            if (wanted > n) continue;
                            CAPTURE(n);
                            CAPTURE(wanted);
                            auto keys = input;
                            std::vector<Key> best(wanted), plain(wanted), sorted;
                            std::vector<std::uint32_t> index(wanted);
                            sorter.top(keys, best, index);
                            sorter.top(keys, plain);
                            for (std::size_t i = 0; i < wanted; ++i) sorted.push_back(input[expected[i]]);
                            REQUIRE(same_bits(best, sorted));
                            REQUIRE(same_bits(plain, sorted));
                            REQUIRE(std::equal(index.begin(), index.end(), expected.begin()));
                            REQUIRE(same_bits(keys, input));
                        }
                    }
                }
            }
        }
    }
}

TEST_CASE_TEMPLATE("Const keys: argsort and top write nothing, or memory that is read-only would end the program", Key,
                   Half, float, std::int64_t) {
    const std::size_t n = 70'001;
    const auto input = keys_of<Key>("few", n, 5);
    const auto bytes = n * sizeof(Key);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    std::memcpy(memory, input.data(), bytes);
    REQUIRE(mprotect(memory, bytes, PROT_READ) == 0);
    const std::span keys(static_cast<const Key*>(memory), n);
    auto sorted = input;
    std::vector<std::uint32_t> expected(n);
    sort_with_index_on_cpu(sorted, expected);
    const auto first = std::vector(sorted.begin(), sorted.begin() + 100);
    const auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Bitonic, Engine::Cpu, Engine::Auto}) {
        Sorter sorter(context, {.engine = engine});
        std::vector<std::uint32_t> index(n);
        sorter.argsort(keys, index);
        CHECK(index == expected);
        if (engine == Engine::Bitonic) continue;  // it sorts all keys
        std::vector<Key> best(100);
        sorter.top(keys, best);
        CHECK(same_bits(best, first));
        sorter.top(keys, best, std::span(index).first(100));
        CHECK(same_bits(best, first));
        CHECK(std::equal(expected.begin(), expected.begin() + 100, index.begin()));
    }
    std::vector<Key> best(100);
    top_on_cpu(keys, best);
    CHECK(same_bits(best, first));
    munmap(memory, bytes);
}

TEST_CASE("Finding the best keys writes ever fewer keys; invalid calls are refused") {
    auto context = Context::headless();
    Sorter sorter(context, {.engine = Engine::Merge, .merge = {MergeKernel::Fragment}});
    struct Recorder : PassObserver {
        void after(const PassEvent& event) override { texels += event.texels; }
        std::uint64_t texels = 0;
    };
    auto keys = make<float>("uniform", 1U << 16U, 1);
    std::vector<float> best(64), too_many(keys.size() + 1);
    std::vector<std::uint32_t> short_index(63);
    std::array<std::uint64_t, 2> texels{};
    for (const bool all : {false, true}) {
        Recorder recorder;
        context.observe(&recorder);
        all ? sorter.sort(keys) : sorter.top(keys, best);
        context.observe(nullptr);
        texels.at(all ? 1 : 0) = recorder.texels;
    }
    // With four targets, runs are half as long at first, so one more level writes all keys.
    const bool few_targets = detail::Access::of(context)->features.color_targets < 8;
    CHECK(texels[0] * (few_targets ? 3 : 4) <= texels[1]);
    CHECK_THROWS_AS(sorter.top(keys, too_many), InvalidArgument);
    CHECK_THROWS_AS(sorter.top(keys, best, short_index), InvalidArgument);
    std::vector<double> other(3);
    CHECK_THROWS_AS(sorter.top(keys, other), InvalidArgument);
    CHECK_THROWS_AS(Sorter(context, {.engine = Engine::Pbsn}).top(keys, best), InvalidArgument);
}

TEST_CASE("A sorter's textures are reused for every form and size that fits, and replaced for others") {
    auto context = Context::headless();
    detail::Access::of(context)->info.max_texture_size = 256;  // so that rows of the source are as long for every form
    Sorter sorter(context, {.engine = Engine::Merge});
    std::mt19937_64 random(9);
    for (int round = 0; round < 24; ++round) {
        const auto n = std::size_t{1} << (6 + random() % 10);
        const auto check = [&](const auto& keys, bool with_index) {
            expect_stable(keys, whole, Order::Ascending, with_index, [&](auto& k, auto& index) {
                with_index ? sorter.sort_with_index(k, index) : sorter.sort(k);
            });
        };
        CAPTURE(round);
        check(keys_of<float>("any bits", n, random()), round % 3 == 0);
        check(keys_of<double>("any bits", n, random()), round % 4 == 0);
        check(keys_of<Half>("any bits", n, random()), round % 5 == 0);
    }
}

TEST_CASE("GPU and staging memory of a sort are as documented") {
    const auto context = Context::headless();
    auto& device = *detail::Access::of(context);
    CHECK(device.texture_bytes == 0);
    for (const bool with_index : {false, true}) {
        for (const std::size_t n : {5000UL, 1UL << 18U, 1UL << 20U, (1UL << 20U) + 1}) {
            Sorter sorter(context, {.engine = Engine::Merge, .merge = {MergeKernel::Fragment}});
            auto keys = make<float>("uniform", n, 1);
            std::vector<std::uint32_t> index(with_index ? n : 0);
            const auto stats = with_index ? sorter.sort_with_index(keys, index) : sorter.sort(keys);
            CAPTURE(n);
            const double bytes = 4.0 * static_cast<double>(n), textures = static_cast<double>(stats.texture_bytes);
            CHECK(stats.texture_bytes == device.texture_bytes);
            CHECK(stats.staging_bytes == device.staging_bytes);
            // The textures are near square and consist of whole tiles.
            CHECK(textures >= (with_index ? 5.0 : 3.0) * bytes);
            if (std::has_single_bit(n)) CHECK(textures <= (with_index ? 5.5 : 3.2) * bytes);
            CHECK(static_cast<double>(stats.staging_bytes) <= (with_index ? 3.2 : 2.1) * bytes + 200'000);
            // The size in the message is the size that is taken.
            const detail::sort::KeyForm form{KeyType::F32, Order::Ascending, with_index};
            const auto foreseen = static_cast<double>(
                detail::sort::MergeTextures::bytes(form, (n + form.pair_keys() - 1) / form.pair_keys()));
            CHECK(textures <= foreseen);
            CHECK(foreseen <= 1.25 * textures + 10'000);
        }
        CHECK(device.texture_bytes == 0);
        CHECK(device.staging_bytes == 0);
    }
}

TEST_CASE("More keys than fit are refused with the memory that they need, before any work; auto takes the CPU") {
    auto context = Context::headless();
    std::vector<float> keys(64);
    const auto view = [&](std::size_t n) { return std::span<float>(keys.data(), n); };  // no key is ever read
    {
        Sorter sorter(context, {.engine = Engine::Merge});
        CHECK_THROWS_WITH_AS(sorter.sort(view((1UL << 30U) + 1)),
                             doctest::Contains("at most 1073741824 such keys at a time, and these need 1073741888"),
                             InvalidArgument);
        CHECK_THROWS_WITH_AS(sorter.sort_windows(view((1UL << 24U) + 1), 1),
                             doctest::Contains("counts as a multiple of 64"), InvalidArgument);
    }
    // 2^20 keys take about 13 MB.
    Sorter small(context, {.engine = Engine::Merge, .gpu_memory = 10'000'000});
    CHECK_THROWS_WITH_AS(small.sort(view(1UL << 20U)), doctest::Contains("SortOptions::gpu_memory, 10000000 bytes"),
                         InvalidArgument);
    CHECK_THROWS_AS(small.top(view(1UL << 20U), view(10)), InvalidArgument);
    auto few = make<float>("uniform", 1000, 1);
    CHECK(small.sort(few).engine == Engine::Merge);
    const detail::gl::Scope scope(*detail::Access::of(context), "test");
    const auto free = detail::gl::free_bytes(*detail::Access::of(context));
    if (free) CHECK(*free > 0);
    // The existing textures count as free.
    Sorter again(context, {.engine = Engine::Merge});
    auto many = make<float>("uniform", 1U << 18U, 1);
    CHECK(again.top(many, few).texture_bytes > 0);
    CHECK(again.top(many, few).texture_bytes == again.sort(many).texture_bytes);
}

TEST_CASE("Textures of one kernel are freed if those of the other do not fit next to them") {
    const auto context = Context::headless();
    auto keys = make<float>("uniform", std::size_t{1} << 18U, 1);
    const std::vector<std::size_t> ends{1000, keys.size()};  // different lengths: sorted by fragments
    std::size_t in_one = 0, in_parts = 0;
    {
        Sorter plain(context, {.engine = Engine::Merge});
        in_one = plain.sort(keys).texture_bytes;
    }
    {
        Sorter plain(context, {.engine = Engine::Merge});
        in_parts = plain.sort_segments(keys, ends).texture_bytes;
    }
    // On a software renderer staging memory counts, too.
    const auto limit = std::max(in_one, in_parts) + std::max(in_one, in_parts) / 10 +
                       detail::sort::MergeTextures::staging_bytes({KeyType::F32}, keys.size() / 8);
    Sorter sorter(context, {.engine = Engine::Merge, .gpu_memory = limit});
    for (int round = 0; round < 2; ++round) {
        CHECK(sorter.sort(keys).texture_bytes <= limit);
        CHECK(sorter.sort_segments(keys, ends).texture_bytes <= limit);
    }
}

TEST_CASE("Auto takes the CPU if the merge engine has no room") {
    auto context = Context::headless();
    detail::Access::of(context)->info.software = false;  // pretends to be a GPU
    Sorter sorter(context, {.gpu_memory = 1'000'000});
    auto keys = make<float>("uniform", 1U << 17U, 1);
    CHECK(sorter.sort(keys).engine == Engine::Cpu);
    // The crossover depends on the machine. Here the GPU gets even few keys.
    const SortOptions on_gpu{.crossings = SortCrossings{.keys = {1000, 1000, 1000}, .windows = {1000, 1000, 1000}}};
    CHECK(Sorter(context, on_gpu).sort(keys).engine == Engine::Merge);
    // Short windows and few keys.
    CHECK(Sorter(context, {}).sort_windows(keys, 1).engine == Engine::Cpu);
    CHECK(Sorter(context, on_gpu).sort_windows(keys, 64).engine == Engine::Merge);
    std::vector<std::size_t> ends(3 * keys.size());  // most segments are empty, the others have one key
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = (i + 1) / 3;
    CHECK(Sorter(context, {}).sort_segments(keys, ends).engine == Engine::Cpu);
    std::vector<float> few(100), best(5);
    CHECK(Sorter(context, {}).sort(few).engine == Engine::Cpu);
    CHECK(Sorter(context, {}).top(few, best).engine == Engine::Cpu);
    CHECK(Sorter(context, {}).top(keys, best).engine == Engine::Merge);
}

TEST_CASE("Functions that do not convert keys refuse a precision that would") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Auto, Engine::Merge, Engine::Cpu}) {
        Sorter sorter(context, {.engine = engine, .precision = Precision::Float16});
        std::vector<float> keys{3, 1, 2}, best(1);
        std::vector<std::uint32_t> index(3);
        CHECK_THROWS_AS(sorter.sort_with_index(keys, index), InvalidArgument);
        CHECK_THROWS_AS(sorter.top(keys, best), InvalidArgument);
        CHECK_THROWS_AS(sorter.sort_segments(keys, std::array<std::size_t, 1>{3}), InvalidArgument);
        CHECK(keys == std::vector<float>{3, 1, 2});
        std::vector<std::int32_t> integers{3, 1, 2};
        sorter.sort_with_index(integers, index);
        CHECK(integers == std::vector<std::int32_t>{1, 2, 3});
    }
}

TEST_CASE("Slices that make their first levels one after the other, an odd and an even number of them") {
    using namespace quadmill::detail;  // NOLINT(google-build-using-namespace)
    const auto context = Context::headless();
    const gl::Scope scope(*detail::Access::of(context), "test");
    cpu::Workers workers(2);
    sort::MergeSort merge(*detail::Access::of(context), workers);
    for (const std::size_t slice : {256UL, 512UL, 1024UL}) {  // at least a row of tiles
        merge.plan().slice_pairs = slice;
        for (const std::size_t n : {64 * slice, 64 * slice + 1, std::size_t{200'000}}) {
            for (const std::string distribution : {"any bits", "few"}) {
                expect_stable(keys_of<float>(distribution, n, slice), whole, Order::Descending, false,
                              [&](auto& keys, auto&) {
                                  sort::Segments all(64);
                                  all.add(0, n);
                                  merge.run(keys, {}, Order::Descending, all);
                              });
            }
        }
    }
    scope.check();
}

TEST_CASE("Random sizes, windows and seeds") {
    const auto context = Context::headless();
    for (const auto kernel : kernels_of(context)) {
        Sorter sorter(context, {.order = Order::Descending, .engine = Engine::Merge, .merge = {kernel}});
        std::mt19937_64 random(20261121);
        for (int round = 0; round < 30; ++round) {
            const auto n = 1 + random() % 30'000, window = 1 + random() % n;
            CAPTURE(round);
            expect_stable(keys_of<std::int32_t>(round % 2 ? "few" : "any bits", n, random()), window, Order::Descending,
                          false, [&](auto& k, auto&) { sorter.sort_windows(k, window); });
        }
    }
}

TEST_CASE("The CPU's index equals that of the merge engine; engines without an index refuse it") {
    const auto context = Context::headless();
    const auto keys = keys_of<double>("few", 5000, 3);
    for (const auto order : {Order::Ascending, Order::Descending}) {
        expect_stable(keys, whole, order, true, [&](auto& k, auto& index) { sort_with_index_on_cpu(k, index, order); });
    }
    std::vector<float> floats{3, 1, 2};
    std::vector<std::uint32_t> index(3), short_index(2);
    Sorter sorter(context, {.engine = Engine::Merge});
    sorter.sort_with_index(floats, index);
    CHECK(index == std::vector<std::uint32_t>{1, 2, 0});
    CHECK_THROWS_WITH_AS(sorter.sort_with_index(floats, short_index),
                         "Sorter::sort_with_index: the index must have as many elements as there are keys, 3, not 2",
                         InvalidArgument);
    Sorter pbsn(context, {.engine = Engine::Pbsn});
    CHECK_THROWS_AS(pbsn.sort_with_index(floats, index), InvalidArgument);
    std::vector<std::uint32_t> integers{2, 1};
    CHECK_THROWS_AS(pbsn.sort(integers), InvalidArgument);
    CHECK(integers == std::vector<std::uint32_t>{2, 1});
}

TEST_CASE("Arrays of one call that share memory are refused") {
    const auto context = Context::headless();
    std::vector<std::uint32_t> memory{5, 3, 9, 1, 7, 2};
    const auto before = memory;
    const std::span all(memory), keys = all.first(3), near = all.subspan(2, 3), apart = all.last(3);
    const std::array<std::size_t, 2> ends{1, 3};
    PairSorter pairs(context);
    const auto refused = [&](const char* what, const auto& call) {
        CHECK_THROWS_WITH_AS(call(), doctest::Contains(what), InvalidArgument);
        CHECK(memory == before);
    };
    for (const auto engine : {Engine::Cpu, Engine::Merge}) {
        Sorter sorter(context, {.engine = engine});
        refused("Sorter::sort_with_index: keys and index must", [&] { sorter.sort_with_index(keys, near); });
        refused("Sorter::argsort: keys and index must", [&] { sorter.argsort(keys, near); });
        refused("Sorter::top: keys and best must", [&] { sorter.top(keys, near.first(2), apart.first(2)); });
        refused("Sorter::top: keys and index must", [&] { sorter.top(near, all.first(2), near.first(2)); });
        refused("Sorter::top: best and index must", [&] { sorter.top(keys, apart.first(2), apart.last(2)); });
    }
    refused("sort_with_index_on_cpu: keys and index must", [&] { sort_with_index_on_cpu(keys, near); });
    refused("top_on_cpu: keys and best must", [&] { top_on_cpu(keys, keys); });
    refused("PairSorter::sort_by_key: keys and values must", [&] { pairs.sort_by_key(keys, near); });
    refused("PairSorter::sort_by_key: keys and values must", [&] { pairs.sort_by_key(keys, keys); });
    refused("PairSorter::sort_segments_by_key: keys and values must",
            [&] { pairs.sort_segments_by_key(keys, near, ends); });
    refused("PairSorter::argsort_segments: keys and index must", [&] { pairs.argsort_segments(keys, ends, near); });
    pairs.sort_by_key(keys, apart);
    CHECK(memory == std::vector<std::uint32_t>{3, 5, 9, 7, 1, 2});
}

TEST_CASE("Passes of the merge engine: blocks are sorted, and each level is one pass, or two and the search of cuts") {
    struct Recorder : PassObserver {
        void before(const PassEvent& pass) override { seen.emplace_back(pass.name); }
        std::vector<std::string> seen;
    } recorder;
    auto context = Context::headless();
    context.observe(&recorder);
    Sorter sorter(context, {.engine = Engine::Merge, .merge = {MergeKernel::Fragment}});
    auto keys = make<float>("uniform", 256, 1);  // 4 pairs of blocks of 32, or 8 of 16
    const auto stats = sorter.sort(keys);
    CHECK(stats.passes == recorder.seen.size());
    const int levels = detail::Access::of(context)->features.color_targets < 8 ? 3 : 2;
    const bool one_pass = !context.info().software;
    std::vector<std::string> wanted(one_pass ? 1 : 2, "sort blocks");
    for (int level = 0; level < levels; ++level) {
        if (!one_pass) wanted.insert(wanted.end(), {"cuts", "merge"});
        wanted.emplace_back("merge");
    }
    CHECK(recorder.seen == wanted);
}
