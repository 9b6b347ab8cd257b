// The examples of sketch.hpp and of the sketches in docs/library.md, unchanged.
#include <doctest/doctest.h>
#include <quadmill/context.hpp>
#include <quadmill/sketch.hpp>

#include <utility>
#include <vector>

#include "gl/texels.hpp"

using namespace quadmill;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::size_t side = 8;

detail::gl::Texture texture_of(Context& context, std::uint32_t key) {
    context.make_current();
    const Session session(context);
    auto& device = *detail::Access::of(context);
    detail::gl::Texture texture(device, detail::gl::Format::R32ui, side, side);
    test::write_texels(device, texture, std::vector<std::uint32_t>(side * side, key));
    return texture;
}

}  // namespace

TEST_CASE("sketch.hpp: counts") {
    const std::vector<std::uint32_t> values{443, 80, 443};
    Sketch<std::uint32_t> ports({.width = suggest_width(0.0001)});
    ports.insert(values);
    const auto count = ports.query(443);  // count.lower, count.estimate, count.upper
    CHECK(count.estimate == 2);
}

TEST_CASE("sketch.hpp: a texture of keys") {
    auto context = Context::headless();
    const auto made = texture_of(context, 7);
    const auto keys = made.id();
    Sketch<std::uint32_t> sketch(context, {.width = 4096, .engine = SketchEngine::BlendCounters});
    sketch.insert_texture(keys);  // in the program's own context
    CHECK(sketch.query(7).estimate == side * side);
}

TEST_CASE("sketch.hpp: heavy hitters") {
    std::vector<std::uint32_t> values(100, 443);
    values.resize(150, 80);
    std::vector<std::pair<std::uint32_t, std::uint64_t>> printed;
    const auto print = [&](std::uint32_t port, std::uint64_t count) { printed.emplace_back(port, count); };
    HeavyHitters<std::uint32_t> ports({.eps = 0.001}, {.width = 1 << 16});
    ports.add(values);
    for (const auto& [port, count] : ports.top(10).items) print(port, count.estimate);
    CHECK(printed == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{443, 100}, {80, 50}});
}

TEST_CASE("The library's page: sketches") {
    auto context = Context::headless();
    const auto made = texture_of(context, 443);
    const auto texture = made.id();
    const std::vector<std::uint32_t> keys{443, 80};
    Sketch<std::uint32_t> other({.width = suggest_width(0.0001)});
    other.insert(80);
    // clang-format off
// Approximate counts of keys in a table of the size you choose: never below the true count, and rarely far above it.
// Without a context it works on the CPU. Auto also uses the CPU if it is faster. Textures need a GPU engine.
quadmill::SketchOptions options{.width = quadmill::suggest_width(0.0001), .engine = quadmill::SketchEngine::Sort};
quadmill::Sketch<std::uint32_t> counts(context, options);
counts.insert(keys);                              // any number of times; remove(keys) undoes it
counts.insert_texture(texture);                   // keys in a texture
auto count = counts.query(443);                   // count.lower, count.estimate, count.upper
counts.merge(other);                              // from another machine, with save() and load()
    // clang-format on
    CHECK(count.estimate == 1 + side * side);
    CHECK(counts.query(80).estimate == 2);
}
