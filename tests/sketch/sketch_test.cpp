// Sketches on the CPU: exact counts, the paper's accuracy, overflow, merging, saved bytes, and rejected arguments.
#include "quadmill/sketch.hpp"

#include <doctest/doctest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <numeric>
#include <random>

#include "quadmill/error.hpp"
#include "sketch/cpu_table.hpp"
#include "sketch/reciprocal.hpp"
#include "sketch/streams.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr auto max_32 = std::numeric_limits<std::uint32_t>::max();

template <class T>
void expect_none_below(const Sketch<T>& sketch, const std::unordered_map<T, std::uint64_t>& counts) {
    std::vector<T> keys;
    for (const auto& [key, count] : counts) keys.push_back(key);
    const auto found = sketch.query(keys);
    std::size_t below = 0, unordered = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        if (found[i].upper < counts.at(keys[i])) ++below;
        if (found[i].lower > found[i].estimate || found[i].estimate > found[i].upper) ++unordered;
    }
    CHECK(below == 0);
    CHECK(unordered == 0);
}

// The mean of estimate / true count, in percent, over all different keys.
double mean_ratio(const SketchOptions& options, double load) {
    const auto keys =
        sketch_stream<std::uint32_t>("uniform", static_cast<std::size_t>(load * static_cast<double>(options.width)), 7);
    Sketch<std::uint32_t> sketch(options);
    sketch.insert(keys);
    const auto counts = exact_counts(keys);
    double sum = 0;
    for (const auto& [key, count] : counts)
        sum += static_cast<double>(sketch.query(key).estimate) / static_cast<double>(count);
    return 100 * sum / static_cast<double>(counts.size());
}

}  // namespace

TEST_CASE("No estimate is below the count, after inserts, removes and weights") {
    for (const auto kind : all_kinds) {
        for (const auto* const stream : {"uniform", "zipf", "one"}) {
            for (const unsigned threads : {1U, 3U}) {
                CAPTURE(name_of(kind));
                CAPTURE(stream);
                CAPTURE(threads);
                const auto keys = sketch_stream<std::uint32_t>(stream, 70'000, 3);
                Sketch<std::uint32_t> sketch({.kind = kind, .width = 10'007, .threads = threads});
                sketch.insert(keys);
                auto counts = exact_counts(keys);
                expect_none_below(sketch, counts);
                // Every third key is removed again, and every fifth weighs 1000 more.
                std::vector<std::uint32_t> removed, heavy;
                for (std::size_t i = 0; i < keys.size(); i += 3) removed.push_back(keys[i]);
                for (std::size_t i = 0; i < keys.size(); i += 5) heavy.push_back(keys[i]);
                sketch.remove(removed);
                sketch.insert(heavy, std::vector<std::uint32_t>(heavy.size(), 1000));
                for (const auto key : removed) --counts[key];
                for (const auto key : heavy) counts[key] += 1000;
                expect_none_below(sketch, counts);
                CHECK(sketch.n() == keys.size() - removed.size() + 1000 * heavy.size());
                CHECK(sketch.ran_on() == SketchEngine::Cpu);
            }
        }
    }
}

TEST_CASE("Inserting and removing the same keys leaves nothing") {
    for (const auto kind : all_kinds) {
        CAPTURE(name_of(kind));
        const auto keys = sketch_stream<std::uint64_t>("zipf", 40'000, 5);
        Sketch<std::uint64_t> sketch({.kind = kind, .width = 1'001});
        sketch.insert(keys);
        const auto all = sketch.counters();
        const auto sum = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
        CHECK(sum == 3 * keys.size());
        sketch.remove(keys);
        CHECK(sketch.n() == 0);
        CHECK(std::ranges::all_of(sketch.counters(), [](auto counter) { return counter == 0; }));
        CHECK_THROWS_AS(sketch.remove(keys.front()), InvalidArgument);
    }
}

TEST_CASE("Removing keys that were not inserted stops at 0, and is counted") {
    for (const auto kind : all_kinds) {
        CAPTURE(name_of(kind));
        for (const unsigned threads : {1U, 4U}) {
            const auto keys = sketch_stream<std::uint64_t>("zipf", 200'000, 5);
            auto removed = sketch_stream<std::uint64_t>("uniform", 70'000, 6);
            removed.insert(removed.end(), keys.begin(), keys.begin() + 50'000);
            const SketchOptions options{.kind = kind, .width = 10'001, .threads = threads};
            Sketch<std::uint64_t> sketch(options), only_removed(options);
            sketch.insert(keys);
            only_removed.insert(removed);
            const auto left = less(sketch.counters(), only_removed.counters());
            CHECK(sketch.removed_too_often() == 0);
            sketch.remove(removed);
            CHECK(sketch.counters() == left);
            CHECK(sketch.n() == 80'000);
            const auto clamped = std::accumulate(left.begin(), left.end(), std::uint64_t{0}) - 3 * sketch.n();
            CHECK(sketch.removed_too_often() == (clamped + 2) / 3);
            CHECK(clamped > 0);
            const auto again = Sketch<std::uint64_t>::load(sketch.save());
            CHECK(again.removed_too_often() == sketch.removed_too_often());
        }
        // A single key in the table is counted exactly.
        Sketch<std::uint32_t> few({.kind = kind, .width = 10'001});
        few.insert(std::array{1U}, std::array{1000U});
        few.remove(std::array{2U}, std::array{300U});
        CHECK(few.removed_too_often() == 300);
        CHECK(few.query(2U).estimate == 0);
        CHECK(few.query(1U).estimate == 1000);
    }
}

// The known answers, part C: computed with other hash functions by somebody who had only the paper.
TEST_CASE("The estimates are as accurate as published") {
    struct Known {
        SketchOptions options;
        double at_half, at_one, tolerance = 0.5;
    };
    const std::vector<Known> all{{{.kind = SketchKind::Thread}, 106.2, 127.2},
                                 {{.kind = SketchKind::Warp}, 108.1, 130.3},
                                 {{.kind = SketchKind::Half}, 109.3, 132.5},
                                 {{.kind = SketchKind::Quarter}, 112.6, 138.3},
                                 {{.kind = SketchKind::Msws}, 100.6, 102.6}};
    for (auto known : all) {
        CAPTURE(name_of(known.options.kind));
        known.options.width = std::uint64_t{1} << 18U;
        CHECK(std::abs(mean_ratio(known.options, 0.5) - known.at_half) < known.tolerance);
        CHECK(std::abs(mean_ratio(known.options, 1.0) - known.at_one) < known.tolerance);
    }
}

TEST_CASE("Fat counters reduce the error as published") {
    // The paper gives no ratios, but by how much the relative error is smaller than Thread's: 3.91 and 3.64 times for
    // three fat counters, 12.5 and 13.43 for eight.
    SketchOptions options{.width = std::uint64_t{1} << 18U};
    for (const double load : {0.5, 1.0}) {
        options.kind = SketchKind::Thread;
        const auto plain = mean_ratio(options, load) - 100;
        options.kind = SketchKind::Sf;
        options.fat = 3;
        const auto three = mean_ratio(options, load) - 100;
        options.fat = 8;
        const auto eight = mean_ratio(options, load) - 100;
        MESSAGE("load " << load << ": Thread / Sf-3 " << plain / three << ", Thread / Sf-8 " << plain / eight);
        CHECK(three < plain / 2.5);
        CHECK(eight < plain / 8);
    }
}

namespace {

// The mean error, in percent, of an Sf sketch with eight fat counters, of which key * seed modulo 8 selects one.
double error_by_products(double load, unsigned seed) {
    constexpr std::size_t width = std::size_t{1} << 16U, depth = 3, bucket = 8, fat = 8;
    constexpr std::size_t buckets = width * depth / bucket + 1;
    std::mt19937 random(seed);
    std::vector<std::array<std::size_t, depth>> masks(1024);
    for (auto& mask : masks) {
        std::array<std::size_t, bucket> all{0, 1, 2, 3, 4, 5, 6, 7};
        std::ranges::shuffle(all, random);
        std::copy_n(all.begin(), depth, mask.begin());
        std::ranges::sort(mask);  // from the bits of a hash mask
    }
    std::array<std::uint32_t, depth> seeds{};
    for (auto& one : seeds) one = static_cast<std::uint32_t>(random()) | 1U;
    std::vector<std::uint32_t> keys(static_cast<std::size_t>(load * width));
    for (auto& key : keys) key = static_cast<std::uint32_t>(random());
    std::vector<std::uint32_t> counters(buckets * bucket * fat);
    const auto sub_bucket = [&](std::uint32_t key, std::size_t i) {
        auto hash = (key ^ key >> 16) * 0x85ebca6bU;
        hash = (hash ^ hash >> 13) * 0xc2b2ae35U;
        hash ^= hash >> 16;
        return (hash % buckets * bucket + masks[hash % masks.size()].at(i)) * fat;
    };
    for (const auto key : keys) {
        for (std::size_t i = 0; i < depth; ++i) ++counters[sub_bucket(key, i) + key * seeds.at(i) % fat];
    }
    double sum = 0;  // 32-bit keys rarely repeat, so that each count is 1
    for (const auto key : keys) {
        std::uint32_t min = 0xffffffffU;
        for (std::size_t i = 0; i < depth; ++i) {
            const auto first = counters.begin() + static_cast<std::ptrdiff_t>(sub_bucket(key, i));
            min = std::min(min, *std::max_element(first, first + fat));
        }
        sum += min - 1;
    }
    return 100 * sum / static_cast<double>(keys.size());
}

}  // namespace

TEST_CASE("Fat counters that are selected by a product modulo 8 have the published error") {
    // Published: 0.496 and 2.014 %. Independent hashes would give 0.15 and 0.95 %.
    for (unsigned seed = 0; seed < 5; ++seed) {
        const double half = error_by_products(0.5, seed), one = error_by_products(1, seed);
        MESSAGE("seed " << seed << ": " << half << " and " << one << " %");
        CHECK(half > 0.45);
        CHECK(half < 0.65);
        CHECK(one > 1.7);
        CHECK(one < 2.1);
    }
}

TEST_CASE("The guaranteed error is rarely exceeded") {
    for (const auto kind : all_kinds) {
        CAPTURE(name_of(kind));
        const auto keys = sketch_stream<std::uint32_t>("zipf", 200'000, 11);
        Sketch<std::uint32_t> sketch({.kind = kind, .width = suggest_width(0.001), .depth = 4});
        sketch.insert(keys);
        std::size_t passed = 0;
        const auto counts = exact_counts(keys);
        for (const auto& [key, count] : counts) {
            if (sketch.query(key).lower > count) ++passed;
        }
        CHECK(static_cast<double>(passed) < 0.0184 * static_cast<double>(counts.size()));  // e^-4
    }
    CHECK(suggest_width(0.001) == 2719);
    CHECK(suggest_width(1) == 3);
    CHECK(suggest_depth(0.05) == 3);
    CHECK(suggest_depth(0.01) == 5);
    CHECK_THROWS_AS(static_cast<void>(suggest_width(0)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(suggest_width(std::nan(""))), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(suggest_depth(1)), InvalidArgument);
}

TEST_CASE("Keys with a pattern are spread like random ones") {
    for (const auto kind : all_kinds) {
        CAPTURE(name_of(kind));
        constexpr std::size_t width = 1U << 16U;
        const auto excess = [&](const std::vector<std::uint64_t>& keys) {
            Sketch<std::uint64_t> sketch({.kind = kind, .width = width});
            sketch.insert(keys);
            double sum = 0;
            for (const auto& count : sketch.query(keys)) sum += static_cast<double>(count.estimate) - 1;
            return sum / static_cast<double>(keys.size());
        };
        const auto random = excess(sketch_stream<std::uint64_t>("uniform", width, 1));
        for (const std::uint64_t stride : {std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{1} << 32U}) {
            CAPTURE(stride);
            std::vector<std::uint64_t> keys(width);
            for (std::size_t i = 0; i < width; ++i) keys[i] = i * stride;
            CHECK(excess(keys) < random + 0.02);
        }
    }
}

TEST_CASE("Counters grow past 8 and past 32 bits") {
    for (const auto kind : all_kinds) {
        CAPTURE(name_of(kind));
        Sketch<std::uint32_t> sketch({.kind = kind, .width = 64});
        for (const int times : {127, 1, 1, 126, 1, 1, 1}) {  // around the limit of 128 and around 255
            sketch.insert(std::vector<std::uint32_t>(static_cast<std::size_t>(times), 5));
            CHECK(sketch.query(5).estimate == sketch.n());
        }
        sketch.remove(std::vector<std::uint32_t>(200, 5));
        CHECK(sketch.query(5).estimate == 58);
        const std::vector<std::uint32_t> keys{5, 5, 5}, weights{max_32, max_32, 1};
        sketch.insert(keys, weights);
        CHECK(sketch.query(5).estimate == 58 + 2 * std::uint64_t{max_32} + 1);
        CHECK(sketch.query(5).lower <= sketch.query(5).estimate);
        sketch.remove(keys, weights);
        CHECK(sketch.query(5).estimate == 58);
    }
}

TEST_CASE("If memory runs out in the middle of a batch, counters of two levels are unchanged") {
    static int blocks_left = 0;  // until it does
    const auto copy = [](const void* from, std::size_t first, std::span<detail::sketch::Key> to) {
        if (--blocks_left == 0) throw std::bad_alloc();
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = detail::sketch::key_of(static_cast<const std::uint32_t*>(from)[first + i]);
    };
    const auto keys = sketch_stream<std::uint32_t>("zipf", 20'000, 4);
    const detail::sketch::Batch batch{keys.size(), copy, keys.data()};
    const detail::sketch::Shape shape({.kind = SketchKind::Msws, .width = 200}, 1, "test");
    detail::sketch::CpuTable table(shape);
    detail::cpu::Workers workers(1);
    const auto counters = [&] {
        std::vector<std::uint64_t> all(shape.cells());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = table.get(i);
        return all;
    };
    for (const auto sign : {detail::sketch::Sign::Plus, detail::sketch::Sign::Minus}) {
        for (const int blocks : {1, 2, 100}) {
            CAPTURE(blocks);
            const auto before = counters();
            blocks_left = blocks;
            CHECK_THROWS_AS(table.add(batch, sign, keys.size(), workers), std::bad_alloc);
            CHECK(counters() == before);
        }
        table.add(batch, sign, keys.size(), workers);
    }
    CHECK(counters() == std::vector<std::uint64_t>(shape.cells(), 0));
}

TEST_CASE("Floats and texts as keys") {
    Sketch<float> floats({.width = 1000});
    floats.insert(std::array{0.0F, -0.0F, std::nanf("1"), -std::nanf("2"), 1.5F, -1.5F});
    CHECK(floats.query(0.0F).estimate == 2);
    CHECK(floats.query(-0.0F).estimate == 2);
    CHECK(floats.query(std::nanf("")).estimate == 2);
    CHECK(floats.query(1.5F).estimate == 1);
    Sketch<std::string_view> texts({.width = 1000});
    const std::string long_text(10'000, 'x');
    texts.insert(std::array<std::string_view, 5>{"", "a", "a", long_text, std::string_view("\0", 1)});
    CHECK(texts.query("").estimate == 1);
    CHECK(texts.query("a").estimate == 2);
    CHECK(texts.query(long_text).estimate == 1);
    CHECK(texts.query(std::string_view("\0", 1)).estimate == 1);
    CHECK(texts.query("b").estimate == 0);
}

TEST_CASE("Merged sketches equal the sketch of both streams; order and batches do not matter") {
    for (const auto kind : all_kinds) {
        CAPTURE(name_of(kind));
        const auto keys = sketch_stream<std::uint32_t>("zipf", 30'001, 9);
        const std::span all(keys);
        const SketchOptions options{.kind = kind, .width = 999, .depth = 4, .seed = 77};
        Sketch<std::uint32_t> whole(options), first(options), second(options), turned(options);
        whole.insert(all);
        first.insert(all.first(10'000));
        second.insert(all.subspan(10'000));
        const auto before = second.counters();
        first.merge(second);
        CHECK(first.counters() == whole.counters());
        CHECK(second.counters() == before);
        CHECK(first.n() == keys.size());
        for (std::size_t i = keys.size(); i-- > 0;) turned.insert(keys[i]);
        CHECK(turned.counters() == whole.counters());
        first.merge(first);
        CHECK(first.n() == 2 * keys.size());
        CHECK(first.query(keys[0]).estimate == 2 * whole.query(keys[0]).estimate);
        for (const auto& other : {SketchOptions{.kind = kind, .width = 998, .depth = 4, .seed = 77},
                                  SketchOptions{.kind = kind, .width = 999, .depth = 3, .seed = 77},
                                  SketchOptions{.kind = kind, .width = 999, .depth = 4, .seed = 78}}) {
            const Sketch<std::uint32_t> unequal(other);
            CHECK_THROWS_AS(first.merge(unequal), InvalidArgument);
        }
    }
}

TEST_CASE("Keys inserted one at a time are counted before every other call") {
    for (const auto kind : all_kinds) {
        CAPTURE(name_of(kind));
        const SketchOptions options{.kind = kind, .width = 999, .depth = 4, .seed = 5};
        const auto keys = sketch_stream<std::uint32_t>("zipf", 10'000, 3);
        Sketch<std::uint32_t> whole(options), single(options), empty(options);
        whole.insert(keys);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            single.insert(keys[i]);
            if (i % 1000 == 7) CHECK(single.n() == i + 1);
            if (i % 1000 == 8) CHECK(single.query(keys[i]).estimate >= 1);
        }
        empty.merge(single);
        CHECK(empty.counters() == whole.counters());
        single.insert(1);
        single.remove(1);
        auto moved = std::move(single);
        moved.insert(2);
        whole.insert(2);
        CHECK(moved.save() == whole.save());
    }
    Sketch<std::string_view> texts({.width = 999});
    for (int i = 0; i < 100; ++i)
        texts.insert(std::string(30, static_cast<char>('a' + i % 10)));  // gone after the call
    CHECK(texts.query(std::string(30, 'c')).estimate >= 10);
    CHECK(texts.n() == 100);
}

TEST_CASE("Counts are written to the caller's memory") {
    Sketch<std::uint64_t> sketch({.width = 999});
    const auto keys = sketch_stream<std::uint64_t>("zipf", 5000, 3);
    sketch.insert(keys);
    std::vector<SketchCount> counts(keys.size());
    sketch.query(keys, counts);
    CHECK(counts == sketch.query(keys));
    counts.pop_back();
    CHECK_THROWS_WITH_AS(sketch.query(keys, counts),
                         "Sketch::query: 5000 keys need the same number of counts, not 4999", InvalidArgument);
}

TEST_CASE("Invalid options are refused") {
    const auto refused = [](const SketchOptions& options) {
        CHECK_THROWS_AS(Sketch<std::uint32_t>{options}, InvalidArgument);
    };
    refused({.width = 0});
    refused({.width = 10, .depth = 0});
    refused({.width = 10, .depth = 17});
    refused({.width = 10, .depth = -1});
    refused({.kind = SketchKind::Quarter, .width = 10, .depth = 9});
    refused({.kind = SketchKind::Sf, .width = 10, .fat = 0});
    refused({.width = ~std::uint64_t{0}});
    refused({.width = std::uint64_t{1} << 32U});
    refused({.kind = SketchKind::Thread, .width = std::uint64_t{1} << 32U, .depth = 1});
    refused({.width = 10, .engine = SketchEngine::Sort});  // without a context
    refused({.kind = static_cast<SketchKind>(6), .width = 10});
    Sketch<std::uint32_t> sketch({.width = 10});
    CHECK_THROWS_AS(sketch.insert(std::array{1U, 2U}, std::array{1U}), InvalidArgument);
    CHECK_THROWS_AS(sketch.insert(std::array{1U, 2U}, std::span<const std::uint32_t>{}), InvalidArgument);
    CHECK_THROWS_AS(sketch.insert_texture(1), InvalidArgument);
    CHECK(sketch.n() == 0);
    sketch.insert(std::span<const std::uint32_t>{});
    CHECK(sketch.query(std::span<const std::uint32_t>{}).empty());
    CHECK(sketch.query(3U) == SketchCount{});
}

TEST_CASE("Saved sketches load again; damaged bytes are refused") {
    for (const auto kind : all_kinds) {
        CAPTURE(name_of(kind));
        const auto keys = sketch_stream<std::uint64_t>("zipf", 5'000, 2);
        Sketch<std::uint64_t> sketch({.kind = kind, .width = 37, .depth = 5, .fat = 4, .seed = 8});
        sketch.insert(keys);
        const auto bytes = sketch.save();
        const auto loaded = Sketch<std::uint64_t>::load(bytes);
        CHECK(loaded.counters() == sketch.counters());
        CHECK(loaded.n() == sketch.n());
        CHECK(loaded.save() == bytes);
        CHECK(loaded.query(keys) == sketch.query(keys));
        const auto head = saved_sketch(bytes);
        CHECK(head.keys == SketchKeys::U64);
        CHECK(head.options.kind == kind);
        CHECK(head.options.width == 37);
        CHECK(head.options.depth == 5);
        CHECK(head.options.seed == 8);
        CHECK(head.n == keys.size());
        CHECK_THROWS_AS(static_cast<void>(Sketch<float>::load(bytes)), InvalidArgument);
        for (std::size_t size = 0; size < bytes.size(); size += 7)
            CHECK_THROWS_AS(static_cast<void>(saved_sketch(std::span(bytes).first(size))), InvalidArgument);
        auto longer = bytes;
        longer.push_back(std::byte{0});
        CHECK_THROWS_AS(static_cast<void>(saved_sketch(longer)), InvalidArgument);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            auto damaged = bytes;
            damaged[i] ^= std::byte{16};
            CHECK_THROWS_AS(static_cast<void>(saved_sketch(damaged)), InvalidArgument);
        }
    }
    Sketch<std::uint32_t> wide({.kind = SketchKind::Thread, .width = 3});
    wide.insert(std::array{1U, 1U}, std::array{max_32, max_32});
    CHECK(Sketch<std::uint32_t>::load(wide.save()).query(1U).estimate == 2 * std::uint64_t{max_32});
}

TEST_CASE("Forged bytes with a right checksum load or are refused, and never crash") {
    std::mt19937_64 numbers(20261122);
    Sketch<std::uint32_t> sketch({.kind = SketchKind::Sf, .width = 5, .fat = 2});
    sketch.insert(std::array{1U, 2U, 3U});
    const auto good = sketch.save();
    int loaded = 0, refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        auto bytes = good;
        bytes.resize(static_cast<std::size_t>(
            std::max(44, static_cast<int>(good.size()) - 4 + static_cast<int>(numbers() % 9))));
        for (int changes = static_cast<int>(numbers() % 4); changes-- > 0;) {
            const auto at = numbers() % (i % 2 == 0 ? 36 : bytes.size());
            bytes[at] = static_cast<std::byte>(numbers() % 3 == 0 ? numbers() : numbers() % 9);
        }
        const auto sum = XXH3_64bits(bytes.data(), bytes.size() - 8);
        std::memcpy(bytes.data() + bytes.size() - 8, &sum, sizeof sum);
        try {
            auto one = Sketch<std::uint32_t>::load(bytes, 1);
            one.insert(7U);
            static_cast<void>(one.query(1U));
            static_cast<void>(one.save());
            ++loaded;
        } catch (const InvalidArgument&) {
            ++refused;
        }
    }
    CHECK(loaded > 100);
    CHECK(refused > 1000);
}

TEST_CASE("The most frequent values, with guaranteed bounds") {
    const auto keys = sketch_stream<std::uint32_t>("zipf", 300'000, 4);
    auto counts = exact_counts(keys);
    HeavyHitters<std::uint32_t> hitters({.eps = 0.0005}, {.width = 1U << 16U});
    hitters.add(std::span(keys).first(100'000));
    hitters.add(std::span(keys).subspan(100'000));
    CHECK(hitters.n() == keys.size());
    const auto top = hitters.top(20);
    REQUIRE(top.items.size() == 20);
    std::vector<std::uint64_t> largest;
    for (const auto& [key, count] : counts) largest.push_back(count);
    std::ranges::sort(largest, std::greater());
    for (std::size_t i = 0; i < top.items.size(); ++i) {
        const auto& [value, count] = top.items[i];
        CHECK(count.lower <= counts[value]);
        CHECK(counts[value] <= count.upper);
        CHECK(count.upper - count.lower < 30);  // much less than eps n = 150
        counts.erase(value);
    }
    const auto max_of_others = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->second;
    CHECK(top.others >= max_of_others);
    CHECK(top.items.front().count.upper >= largest.front());
    CHECK_THROWS_AS(static_cast<void>(hitters.top(0)), InvalidArgument);
}

TEST_CASE("Products divide like divisions") {
    using detail::sketch::Reciprocal;
    std::mt19937 random(7);
    for (int i = 0; i < 20'000; ++i) {
        const auto any = static_cast<std::uint32_t>(random()) >> (random() % 32);
        const auto divisor = i < 100   ? static_cast<std::uint32_t>(i + 1)
                             : i < 132 ? 1U << (i - 100)
                                       : std::max(any, 1U);
        const auto by = Reciprocal::of(divisor);
        for (const auto x :
             {0U, 1U, divisor - 1, divisor, divisor + 1, max_32 - 1, max_32, max_32 / divisor * divisor - 1,
              max_32 / divisor * divisor, static_cast<std::uint32_t>(random())}) {
            REQUIRE(by.quotient(x) == x / divisor);
        }
    }
}
