// Sketches on the GPU: compares each engine's table with the CPU's, counter by counter, and its estimates.
#include <doctest/doctest.h>

#include <array>
#include <limits>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/halting.hpp"
#include "gl/own_texture.hpp"
#include "gl/texels.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sketch.hpp"
#include "sketch/device_table.hpp"
#include "sketch/streams.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

Context& context() {
    static Context one = Context::headless();
    return one;
}

const char* name_of(SketchEngine engine) {
    static const char* const names[]{"auto", "cpu", "blend-counters", "blend-buckets", "blend-packed", "sort"};
    return names[static_cast<int>(engine)];
}

std::vector<SketchEngine> engines_of(SketchKind kind) {
    using enum SketchEngine;
    if (kind == SketchKind::Thread) return {BlendCounters, Sort};
    if (kind == SketchKind::Sf) return {Auto};
    if (kind == SketchKind::Msws) return {Auto, BlendCounters};
    return {BlendCounters, BlendBuckets, BlendPacked, Sort};
}

template <class Work>
void for_all(const Work& work) {
    for (const auto kind : all_kinds) {
        for (const auto engine : engines_of(kind)) {
            CAPTURE(test::name_of(kind));
            CAPTURE(name_of(engine));
            work(kind, engine);
        }
    }
}

template <class T>
void expect_equal(const Sketch<T>& one, const Sketch<T>& other) {
    CHECK(one.n() == other.n());
    const auto a = one.counters(), b = other.counters();
    REQUIRE(a.size() == b.size());
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) different += a[i] != b[i];
    CHECK(different == 0);
}

}  // namespace

TEST_CASE("Tables of all engines equal the CPU's, counter by counter") {
    for_all([](SketchKind kind, SketchEngine engine) {
        for (const auto* const stream : {"uniform", "zipf", "one"}) {
            for (const std::size_t n : {1U, 4'097U, 20'000U}) {
                CAPTURE(stream);
                CAPTURE(n);
                const auto keys = sketch_stream<std::uint32_t>(stream, n, 3);
                SketchOptions options{.kind = kind, .width = 2'111, .depth = 3, .seed = 5, .engine = engine};
                Sketch<std::uint32_t> on_gpu(context(), options);
                options.engine = SketchEngine::Cpu;
                Sketch<std::uint32_t> on_cpu(options);
                on_gpu.insert(keys);
                on_cpu.insert(keys);
                if (engine != SketchEngine::Auto) CHECK(on_gpu.ran_on() == engine);
                const auto estimates = on_gpu.query(keys);
                CHECK(estimates == on_cpu.query(keys));
                expect_equal(on_gpu, on_cpu);
                const auto part = std::span(keys).first(n / 2);
                on_gpu.remove(part);
                on_cpu.remove(part);
                on_gpu.insert(keys);
                on_cpu.insert(keys);
                expect_equal(on_gpu, on_cpu);
            }
        }
    });
}

TEST_CASE("Keys of 64 bits, floats, texts, and every depth") {
    for_all([](SketchKind kind, SketchEngine engine) {
        for (const int depth : {1, 8}) {
            CAPTURE(depth);
            SketchOptions options{.kind = kind, .width = 301, .depth = depth, .engine = engine};
            const auto keys = sketch_stream<std::uint64_t>("uniform", 700, 1);
            Sketch<std::uint64_t> on_gpu(context(), options), on_cpu({.kind = kind, .width = 301, .depth = depth});
            on_gpu.insert(keys);
            on_cpu.insert(keys);
            expect_equal(on_gpu, on_cpu);
            CHECK(on_gpu.query(keys) == on_cpu.query(keys));
            if (depth > 1) continue;
            Sketch<std::string_view> texts(context(), options),
                texts_on_cpu({.kind = kind, .width = 301, .depth = depth});
            const std::array<std::string_view, 3> words{"one", "two", ""};
            texts.insert(words);
            texts_on_cpu.insert(words);
            expect_equal(texts, texts_on_cpu);
            CHECK(texts.query("two").estimate >= 1);
        }
    });
}

TEST_CASE("Removing keys that were not inserted stops at 0 with every engine") {
    const auto keys = sketch_stream<std::uint32_t>("zipf", 60'000, 5);
    for (const std::size_t absent : {500U, 40'000U}) {
        auto removed = sketch_stream<std::uint32_t>("uniform", absent, 6);
        removed.insert(removed.end(), keys.begin(), keys.begin() + 9'000);
        const std::vector<std::uint32_t> weights(removed.size(), 1);
        for_all([&](SketchKind kind, SketchEngine engine) {
            const SketchOptions options{.kind = kind, .width = 3'001};
            Sketch<std::uint32_t> only_removed(options);
            only_removed.insert(removed);
            auto on_gpu_options = options;
            on_gpu_options.engine = engine;
            Sketch<std::uint32_t> plain(context(), on_gpu_options), weighted(context(), on_gpu_options);
            plain.insert(keys);
            weighted.insert(keys);
            const auto left = less(plain.counters(), only_removed.counters());
            plain.remove(removed);
            weighted.remove(removed, weights);
            const auto absent_key = plain.query(4'000'000'000U).estimate;
            CHECK(absent_key <= plain.n() + removed.size());
            CHECK(plain.counters() == left);
            CHECK(weighted.counters() == left);
            CHECK(plain.removed_too_often() > 0);
        });
    }
}

TEST_CASE("Weights: light ones as points, heavy ones on the CPU") {
    for_all([](SketchKind kind, SketchEngine engine) {
        const SketchOptions options{.kind = kind, .width = 500, .engine = engine};
        Sketch<std::uint32_t> on_gpu(context(), options), on_cpu({.kind = kind, .width = 500});
        const auto keys = sketch_stream<std::uint32_t>("zipf", 3'000, 8);
        std::vector<std::uint32_t> light(keys.size()), heavy(keys.size());
        for (std::size_t i = 0; i < keys.size(); ++i) {
            light[i] = static_cast<std::uint32_t>(i % 7 * 60);
            heavy[i] = static_cast<std::uint32_t>(i * 1'000'003);
        }
        for (const auto& weights : {light, heavy, light}) {
            on_gpu.insert(keys, weights);
            on_cpu.insert(keys, weights);
        }
        expect_equal(on_gpu, on_cpu);
        on_gpu.remove(keys, heavy);
        on_cpu.remove(keys, heavy);
        on_gpu.remove(keys, light);
        on_cpu.remove(keys, light);
        expect_equal(on_gpu, on_cpu);
    });
}

TEST_CASE("Floats are carried over before they stop counting, and so are packed counters") {
    using detail::sketch::DeviceTable;
    for_all([](SketchKind kind, SketchEngine engine) {
        if (kind == SketchKind::Half || kind == SketchKind::Warp || engine == SketchEngine::Auto)
            return;  // the others draw the same points
        const SketchOptions options{.kind = kind, .width = 64, .engine = engine};
        Sketch<std::uint32_t> sketch(context(), options);
        // One key without a query in between, which would carry: a float counts up to 2^24 by ones.
        std::uint64_t n = 0;
        const std::vector<std::uint32_t> keys(1U << 15U, 9), weights(1U << 15U, 256);
        for (int i = 0; i < 2; ++i) sketch.insert(keys, weights);
        for (int i = 0; i < 5; ++i) sketch.insert(std::array{9U});
        n += (1U << 24U) + 5;
        CHECK(sketch.query(9).estimate == n);
        for (const std::size_t count : {4'094U, 1U, 1U, 4'095U, 4'096U, 8'191U, 40'000U, 1U}) {
            sketch.insert(std::vector<std::uint32_t>(count, 9));
            n += count;
        }
        CHECK(sketch.query(9).estimate == n);
        sketch.remove(std::vector<std::uint32_t>(30'000, 9));
        CHECK(sketch.query(9).estimate == n - 30'000);
    });
    CHECK(DeviceTable::exact == 1U << 24U);
    CHECK(DeviceTable::packed_exact == 4'095);
}

TEST_CASE("A sum of weights of 2^32 and more moves to the CPU, and is right") {
    for_all([](SketchKind kind, SketchEngine engine) {
        Sketch<std::uint32_t> sketch(context(), {.kind = kind, .width = 64, .engine = engine});
        const auto max = std::numeric_limits<std::uint32_t>::max();
        sketch.insert(std::array{1U, 1U});
        sketch.insert(std::array{1U, 2U}, std::array{max - 6, 4U});
        sketch.insert(std::array{1U, 1U, 1U});
        CHECK(sketch.query(1).estimate == std::uint64_t{max} - 1);
        CHECK(sketch.n() == std::uint64_t{max} + 3);
        CHECK(sketch.ran_on() == SketchEngine::Cpu);
        sketch.remove(std::array{1U, 2U}, std::array{max - 6, 4U});
        sketch.insert(std::array{1U, 2U});
        CHECK(sketch.query(1).estimate == 6);
    });
}

TEST_CASE("Keys in textures of the program, estimates into one") {
    for_all([](SketchKind kind, SketchEngine engine) {
        const auto& gl = detail::Access::of(context())->gl;
        const SketchOptions options{.kind = kind, .width = 300, .engine = engine};
        Sketch<float> sketch(context(), options), on_cpu({.kind = kind, .width = 300});
        std::vector<float> keys(33 * 7);
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<float>(i % 50) * 0.5F;
        keys[3] = -0.0F;
        keys[5] = -std::numeric_limits<float>::quiet_NaN();
        const HostTexture from(context(), GL_R32F, 33, 7), to(context(), GL_R32UI, 20, 20);
        gl.TextureSubImage2D(from.id(), 0, 0, 0, 33, 7, GL_RED, GL_FLOAT, keys.data());
        gl.TextureParameteri(from.id(), GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
        const std::array<GLint, 4> swizzle{GL_ONE, GL_ZERO, GL_RED, GL_ZERO};
        gl.TextureParameteriv(from.id(), GL_TEXTURE_SWIZZLE_RGBA, swizzle.data());
        if (kind == SketchKind::Sf) {
            CHECK_THROWS_AS(sketch.insert_texture(from.id()), InvalidArgument);
            sketch.insert(keys);
            sketch.insert(std::span(keys).first(100));
            sketch.remove(std::span(keys).first(7));
        } else {
            sketch.insert_texture(from.id());
            sketch.insert_texture(from.id(), 100);
            sketch.remove_texture(from.id(), 7);
        }
        on_cpu.insert(keys);
        on_cpu.insert(std::span(keys).first(100));
        on_cpu.remove(std::span(keys).first(7));
        const std::vector<std::uint32_t> before(400, 77);
        gl.TextureSubImage2D(to.id(), 0, 0, 0, 20, 20, GL_RED_INTEGER, GL_UNSIGNED_INT, before.data());
        sketch.query_texture(from.id(), to.id(), 230);
        std::vector<std::uint32_t> found(400);
        gl.GetTextureImage(to.id(), 0, GL_RED_INTEGER, GL_UNSIGNED_INT, 1600, found.data());
        const auto expected = on_cpu.query(keys);
        for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == (i < 230 ? expected[i].estimate : 77));
        expect_equal(sketch, on_cpu);
        CHECK_THROWS_AS(sketch.insert_texture(to.id()), InvalidArgument);  // R32UI
        CHECK_THROWS_AS(sketch.insert_texture(12'345), InvalidArgument);
        CHECK_THROWS_AS(sketch.query_texture(from.id(), to.id(), 232), InvalidArgument);
        CHECK(gl.GetError() == GL_NO_ERROR);
    });
}

TEST_CASE("Tables on the GPU are merged there; saved ones come back to it") {
    for_all([](SketchKind kind, SketchEngine engine) {
        const SketchOptions options{.kind = kind, .width = 777, .engine = engine};
        const auto keys = sketch_stream<std::uint32_t>("zipf", 9'000, 6);
        Sketch<std::uint32_t> one(context(), options), other(context(), options), all({.kind = kind, .width = 777});
        one.insert(std::span(keys).first(4'000));
        other.insert(std::span(keys).subspan(4'000));
        all.insert(keys);
        one.merge(other);
        CHECK(one.query(keys) == all.query(keys));
        expect_equal(one, all);
        CHECK(one.save() == all.save());
        auto loaded = Sketch<std::uint32_t>::load(context(), one.save(), engine);
        loaded.insert(keys);
        all.insert(keys);
        expect_equal(loaded, all);
        other.merge(all);  // made by the CPU
        CHECK(other.n() == all.n() + 5'000);
    });
}

TEST_CASE("Work that the GPU cannot do is refused before it begins") {
    const auto refused = [](const SketchOptions& options) {
        CHECK_THROWS_AS(Sketch<std::uint32_t>(context(), options), InvalidArgument);
    };
    using enum SketchEngine;
    refused({.kind = SketchKind::Thread, .width = 10, .engine = BlendPacked});
    refused({.kind = SketchKind::Thread, .width = 10, .engine = BlendBuckets});
    refused({.kind = SketchKind::Sf, .width = 10, .engine = BlendCounters});
    refused({.kind = SketchKind::Msws, .width = 10, .engine = Sort});
    const auto side = static_cast<std::uint64_t>(context().info().max_texture_size);
    refused({.kind = SketchKind::Thread, .width = side * side, .engine = BlendCounters});
}

TEST_CASE("Keys in memory and in a texture are added in slices") {
    auto& device = *detail::Access::of(context());
    const detail::gl::Scope scope(device, "test");
    using namespace detail::sketch;  // NOLINT(google-build-using-namespace)
    detail::cpu::Workers workers(1);
    const auto keys = sketch_stream<std::uint32_t>("zipf", 12'345, 1);
    const Batch batch{keys.size(),
                      [](const void* from, std::size_t first, std::span<Key> to) {
                          for (std::size_t i = 0; i < to.size(); ++i)
                              to[i] = key_of(static_cast<const std::uint32_t*>(from)[first + i]);
                      },
                      keys.data()};
    const detail::gl::Texture texture(device, detail::gl::Format::R32ui, 2469, 5);
    write_texels(device, texture, keys);
    for (const auto kind : {SketchKind::Thread, SketchKind::Quarter}) {
        for (const auto engine : engines_of(kind)) {
            CAPTURE(name_of(engine));
            const Shape shape({.kind = kind, .width = 1'000}, 1, "test");
            DeviceTable table(device, workers, shape, {});
            table.slice_keys() = 1'000;
            table.add(texture, keys.size(), Sign::Plus, engine);
            table.add(batch, Sign::Plus, engine);
            table.runs().ranked_from() = 256;  // of Sort, in buckets
            table.add(batch, Sign::Plus, engine);
            CpuTable found(shape), expected(shape);
            table.add_to(found);
            for (int i = 0; i < 3; ++i) expected.add(batch, Sign::Plus, 3 * keys.size(), workers);
            std::size_t different = 0;
            for (std::size_t i = 0; i < shape.cells(); ++i) different += found.get(i) != expected.get(i);
            CHECK(different == 0);
        }
    }
}

TEST_CASE("A packed batch that overflows is added in another form, and nothing is lost") {
    auto& device = *detail::Access::of(context());
    const detail::gl::Scope scope(device, "test");
    using namespace detail::sketch;  // NOLINT(google-build-using-namespace)
    const SketchOptions options{.kind = SketchKind::Quarter, .width = 1'000, .engine = SketchEngine::BlendPacked};
    const Shape shape(options, 1, "test");
    detail::cpu::Workers workers(1);
    for (const std::uint32_t same : {0U, 3'000U, 5'000U, 20'000U, 70'000U}) {
        DeviceTable table(device, workers, shape, {});
        std::vector<std::uint32_t> keys = sketch_stream<std::uint32_t>("uniform", 8'000, 1);
        keys.resize(8'000 + same, 4);
        const Batch batch{keys.size(),
                          [](const void* from, std::size_t first, std::span<Key> to) {
                              for (std::size_t i = 0; i < to.size(); ++i)
                                  to[i] = key_of(static_cast<const std::uint32_t*>(from)[first + i]);
                          },
                          keys.data()};
        CpuTable expected(shape);
        expected.add(batch, Sign::Plus, keys.size(), workers);
        const auto check = [&](DeviceTable& filled) {
            CpuTable found(shape);
            filled.add_to(found);
            std::size_t different = 0;
            for (std::size_t i = 0; i < shape.cells(); ++i) different += found.get(i) != expected.get(i);
            CHECK(different == 0);
        };
        CAPTURE(same);
        table.add(batch, Sign::Plus, SketchEngine::BlendPacked);
        CHECK(table.packed_ran_over() == (same > 4'095));
        check(table);
        DeviceTable sorted(device, workers, shape, {});  // in halves of 16 bits, which 70,000 exceeds
        sorted.add(batch, Sign::Plus, SketchEngine::Sort);
        check(sorted);
    }
}

TEST_CASE("A slim table uses 16-bit counters if they fit, and 32-bit counters otherwise") {
    auto& device = *detail::Access::of(context());
    const detail::gl::Scope scope(device, "test");
    using namespace detail::sketch;  // NOLINT(google-build-using-namespace)
    const auto keys = sketch_stream<std::uint32_t>("zipf", 6'000, 1);
    const auto batch_of = [](const std::vector<std::uint32_t>& of) {
        return Batch{of.size(),
                     [](const void* from, std::size_t first, std::span<Key> to) {
                         for (std::size_t i = 0; i < to.size(); ++i)
                             to[i] = key_of(static_cast<const std::uint32_t*>(from)[first + i]);
                     },
                     of.data()};
    };
    const std::vector<std::uint32_t> heavy(70'000, 4);
    detail::cpu::Workers workers(1);
    for (const std::uint64_t width : {1U, 9U, 1'000U, 20'000U}) {
        CAPTURE(width);
        const Shape shape({.kind = SketchKind::Sf, .width = width}, 1, "test");
        DeviceTable table(device, workers, shape, {});
        CpuTable counters(shape);
        counters.add(batch_of(keys), Sign::Plus, keys.size(), workers);
        const auto bytes = [&] {
            table.load(counters);
            std::vector<SketchCount> found(keys.size()), wanted(keys.size());
            table.query(batch_of(keys), found);
            counters.query(batch_of(keys), wanted, workers);
            CHECK(found == wanted);
            return table.bytes();
        };
        const auto in_halves = bytes();
        counters.add(batch_of(heavy), Sign::Plus, keys.size() + heavy.size(), workers);
        const auto whole = bytes();
        CHECK(in_halves >= whole + 16 * shape.columns());
        counters.add(batch_of(heavy), Sign::Minus, keys.size() + heavy.size(), workers);
        CHECK(bytes() == in_halves);
    }
}

TEST_CASE("Queries see packed counters next to an empty or filled table, after every way of filling it") {
    using enum SketchEngine;
    auto& device = *detail::Access::of(context());
    const detail::gl::Scope scope(device, "test");
    using namespace detail::sketch;  // NOLINT(google-build-using-namespace)
    const auto keys = sketch_stream<std::uint32_t>("uniform", 6'000, 1);
    const Batch batch{keys.size(),
                      [](const void* from, std::size_t first, std::span<Key> to) {
                          for (std::size_t i = 0; i < to.size(); ++i)
                              to[i] = key_of(static_cast<const std::uint32_t*>(from)[first + i]);
                      },
                      keys.data()};
    detail::cpu::Workers workers(1);
    for (const auto kind : {SketchKind::Quarter, SketchKind::Half, SketchKind::Warp}) {
        for (const auto before : {Auto, Cpu, Sort, BlendBuckets, BlendCounters, BlendPacked}) {  // Auto: nothing
            CAPTURE(test::name_of(kind));
            CAPTURE(name_of(before));
            const Shape shape({.kind = kind, .width = 1'000}, 1, "test");
            DeviceTable table(device, workers, shape, {});
            CpuTable expected(shape);
            if (before != Auto) expected.add(batch, Sign::Plus, keys.size(), workers);
            if (before == Cpu)
                table.load(expected);
            else if (before != Auto)
                table.add(batch, Sign::Plus, before);
            table.add(batch, Sign::Plus, BlendPacked);
            expected.add(batch, Sign::Plus, 2 * keys.size(), workers);
            std::vector<SketchCount> found(keys.size()), wanted(keys.size());
            table.query(batch, found);
            expected.query(batch, wanted, workers);
            CHECK(found == wanted);
            table.add(batch, Sign::Minus, BlendPacked);
            expected.add(batch, Sign::Minus, 2 * keys.size(), workers);
            table.query(batch, found);
            expected.query(batch, wanted, workers);
            CHECK(found == wanted);
        }
    }
}

TEST_CASE("After a query that was interrupted, later answers are right, or refused as lost") {
    auto with = context();
    const auto keys = sketch_stream<std::uint32_t>("zipf", 20'000, 1);
    std::size_t lost = 0, right = 0;
    for_all([&](SketchKind kind, SketchEngine engine) {
        const SketchOptions options{.kind = kind, .width = 500, .engine = engine};
        Sketch<std::uint32_t> expected({.kind = kind, .width = 500});
        expected.insert(keys);
        const auto wanted = expected.counters();
        bool halted = true;
        for (int pass = 1; halted; ++pass) {
            CAPTURE(pass);
            Sketch<std::uint32_t> sketch(with, options);
            sketch.insert(keys);
            HaltingObserver halting((pass + 1) / 2, pass % 2 == 1);
            with.observe(&halting);
            try {
                static_cast<void>(sketch.query(keys));
            } catch (const Halt&) {  // NOLINT(bugprone-empty-catch)
                // Looked at below.
            }
            with.observe(nullptr);
            halted = halting.halted();
            try {
                static_cast<void>(sketch.query(keys));
                CHECK(sketch.counters() == wanted);
                ++right;
            } catch (const GlError&) {
                CHECK(halted);
                ++lost;
            }
        }
    });
    CHECK(lost > 0);
    CHECK(right > 0);
}
