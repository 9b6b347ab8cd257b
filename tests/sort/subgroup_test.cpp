// The merge engine with subgroups. On drivers whose fragments form boxes, every sort with both kernels; on all drivers,
// its data structures.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "gl/pixels.hpp"
#include "kernels.hpp"
#include "quadmill/error.hpp"
#include "sort/merge/subgroup_passes.hpp"
#include "stable.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)
namespace sort = quadmill::detail::sort;
namespace gl = quadmill::detail::gl;

namespace {

// Bits whose spans test the ways in which keys are merged: one block of a merged run may span more than floats
// represent.
std::uint32_t random_bits(const std::string& kind, std::uint64_t random, std::size_t i) {
    if (kind == "three values") return static_cast<std::uint32_t>(random % 3 * 0x7fffffffU);
    if (kind == "thousand values") return static_cast<std::uint32_t>(random % 1000);
    if (kind == "two clusters") {
        const auto low = static_cast<std::uint32_t>(random / 2 % 4096);
        return random % 2 ? 0xfffff000U + low : low;
    }
    if (kind == "outliers" && i % 1024 < 5) return random % 2 ? 0 : 0xffffffffU;
    if (kind == "outliers") return 0x70000000U + static_cast<std::uint32_t>(random % 0x20000000U);
    if (kind == "exponential") return static_cast<std::uint32_t>(random) >> (random >> 32U & 31U);
    return static_cast<std::uint32_t>(random);
}
const std::vector<std::string> kinds{"three values", "thousand values", "two clusters",
                                     "outliers",     "exponential",     "uniform"};

}  // namespace

TEST_CASE("Spans of keys that are merged as floats, or not, with every kernel") {
    const auto context = Context::headless();
    for (const auto kernel : kernels_of(context)) {
        Sorter sorter(context, {.engine = Engine::Merge, .merge = {kernel}});
        for (const auto& kind : kinds) {
            for (const std::size_t n : {1000UL, 1025UL, 4096UL, 5000UL, 100'001UL}) {
                CAPTURE(kind);
                std::mt19937_64 random(n);
                std::vector<std::uint32_t> keys(n);
                for (std::size_t i = 0; i < n; ++i) keys[i] = random_bits(kind, random(), i);
                for (const bool with_index : {false, true}) {
                    expect_stable(keys, whole, Order::Ascending, with_index, [&](auto& k, auto& index) {
                        with_index ? sorter.sort_with_index(k, index) : sorter.sort(k);
                    });
                }
                for (const std::size_t window : {7UL, 100UL, 1000UL, 1025UL, 5000UL})
                    expect_stable(keys, window, Order::Ascending, false,
                                  [&](auto& k, auto&) { sorter.sort_windows(k, window); });
            }
        }
    }
}

TEST_CASE("Large sorts are uploaded and read back in parts, with every kernel") {
    const auto context = Context::headless();
    for (const auto kernel : kernels_of(context)) {
        Sorter sorter(context, {.engine = Engine::Merge, .merge = {kernel}});
        const auto check = [&]<class Key>(std::size_t n, std::size_t window, bool with_index, Key /*of that type*/) {
            std::mt19937_64 random(n);
            std::vector<Key> keys(n);
            for (auto& key : keys) key = static_cast<Key>(random());
            expect_stable(keys, window, Order::Descending, with_index, [&](auto& k, auto& index) {
                if (with_index) {
                    sorter.sort_with_index(k, index, Order::Descending);
                } else if (window != whole) {
                    sorter.sort_windows(k, window, Order::Descending);
                } else {
                    sorter.sort(k, Order::Descending);
                }
            });
        };
        check(2'500'001, whole, false, std::uint32_t{});  // 10 MB up, and more back
        check(2'100'000, 1025, false, std::uint32_t{});
        check(1'100'001, whole, true, std::int32_t{});
        check(1'100'001, 600, false, std::uint64_t{});
    }
}

// QUADMILL_FUZZ_ROUNDS is the number of rounds, by default few. QUADMILL_FUZZ_SEED selects other rounds.
TEST_CASE("Random sorts of random types, sizes, windows, segments and spans with every kernel") {
    const auto context = Context::headless();
    const char* const wanted = std::getenv("QUADMILL_FUZZ_ROUNDS");  // NOLINT(concurrency-mt-unsafe): one thread
    const char* const seed = std::getenv("QUADMILL_FUZZ_SEED");      // NOLINT(concurrency-mt-unsafe): one thread
    const long rounds = wanted ? std::strtol(wanted, nullptr, 10) : 60;
    for (const auto kernel : kernels_of(context)) {
        if (wanted && kernel == MergeKernel::Fragment && kernels_of(context).size() > 1) continue;
        Sorter sorter(context, {.engine = Engine::Merge, .merge = {kernel}});
        std::mt19937_64 random(seed ? std::strtoull(seed, nullptr, 10) : 20261122);
        const auto check = [&]<class Key>(Key /*of that type*/) {
            const auto n = 1 + random() % (std::size_t{1} << (4 + random() % 13));
            const auto& kind = kinds[random() % kinds.size()];
            const bool spread = random() % 2 == 0;
            std::vector<Key> keys(n);
            for (std::size_t i = 0; i < n; ++i) {
                std::uint64_t bits = random_bits(kind, random(), i);
                if (sizeof(Key) == 8) bits = spread ? bits << 32U | random_bits(kind, random(), i) : bits;
                if (sizeof(Key) == 2) bits >>= spread ? 16U : 0U;
                std::memcpy(static_cast<void*>(&keys[i]), &bits, sizeof(Key));
            }
            const auto way = random() % 4;
            const auto window = way == 0 ? 1 + random() % n : n;
            CAPTURE(kind);
            CAPTURE(way);
            expect_stable(keys, window, Order::Ascending, way == 1, [&](auto& k, auto& index) {
                if (way == 1) {
                    sorter.sort_with_index(k, index);
                } else if (way == 0) {
                    sorter.sort_windows(k, window);
                } else if (way == 2) {
                    sorter.sort(k);
                } else {
                    std::vector<Key> best(1 + random() % n);
                    sorter.top(k, best);
                    sorter.sort(k);
                    REQUIRE(std::memcmp(best.data(), k.data(), best.size() * sizeof(Key)) == 0);
                }
            });
        };
        for (long round = 0; round < rounds; ++round) {
            CAPTURE(round);
            switch (random() % 4) {
                case 0:
                    check(Half{});
                    break;
                case 1:
                    check(float{});
                    break;
                case 2:
                    check(std::uint32_t{});
                    break;
                default:
                    check(std::uint64_t{});
            }
        }
    }
}

TEST_CASE("If fragments do not form boxes, subgroups are refused and auto takes fragments") {
    auto context = Context::headless();
    detail::Access::of(context)->lanes_in_boxes = false;
    std::vector<float> keys{3, 1, 2};
    Sorter subgroups(context, {.engine = Engine::Merge, .merge = {MergeKernel::Subgroup}});
    CHECK_THROWS_WITH_AS(subgroups.sort(keys), doctest::Contains("use the auto kernel"), InvalidArgument);
    CHECK(keys == std::vector<float>{3, 1, 2});
    Sorter(context, {.engine = Engine::Merge}).sort(keys);
    CHECK(keys == std::vector<float>{1, 2, 3});
}

TEST_CASE("Segments of equal length are found, and each begins at a multiple of their distance") {
    sort::Segments segments(64);
    segments.add_windows(1000, 300);
    const auto equal = segments.equal();
    REQUIRE(equal);
    CHECK(equal->count == 4);
    CHECK(equal->size == 300);
    CHECK(equal->last_size == 100);
    std::vector<std::size_t> at(2048, 9999);  // the key at each position
    for (std::size_t first = 0; first < at.size(); first += 128) {
        std::size_t seen = first;
        equal->for_each_piece(512, first, 128, [&](auto place, auto key, auto size, auto rest) {
            REQUIRE(place == seen);
            for (std::size_t i = 0; i < size; ++i) at[place + i] = key + i;
            seen += size + rest;
        });
        REQUIRE(seen == first + 128);
    }
    for (std::size_t place = 0; place < at.size(); ++place) {
        const auto segment = place / 512, within = place % 512;
        CHECK(at[place] == (within < equal->size_of(segment) ? segment * 300 + within : 9999));
    }
    for (const auto& parts : {std::vector<std::size_t>{300, 100, 300}, {100, 300}}) {
        sort::Segments other(64);
        std::size_t begin = 0;
        for (const auto keys : parts) other.add(std::exchange(begin, begin + keys), keys);
        CHECK(!other.equal());
    }
    sort::Segments apart(64);
    apart.add(0, 100);
    apart.add(200, 100);
    CHECK(!apart.equal());
}

TEST_CASE("Distance of segments: a power of two within a tile, or whole tiles; room for every level") {
    const sort::KeyForm plain{KeyType::U32}, indexed{KeyType::U32, Order::Ascending, true};
    CHECK(sort::tile_keys(plain) == 1024);
    CHECK(sort::tile_keys(indexed) == 512);
    CHECK(sort::segment_places(plain, 1) == 32);
    CHECK(sort::segment_places(plain, 33) == 64);
    CHECK(sort::segment_places(plain, 1024) == 1024);
    CHECK(sort::segment_places(plain, 1025) == 2048);
    CHECK(sort::segment_places(indexed, 1025) == 1536);
    CHECK(sort::max_tiles(plain, {1, 1024, 1024}) == 1);
    // Four runs of 128 granules merge into blocks of 122.
    CHECK(sort::max_tiles(plain, {1, 4096, 4096}) == 5);
    CHECK(sort::max_tiles(plain, {3, 4096, 100}) == 12);  // of the source
    CHECK(sort::max_tiles(plain, {3, 4096, 4096}) == 15);
}

TEST_CASE("Tiles come back in order") {
    const auto context = Context::headless();
    auto& device = *detail::Access::of(context);
    const gl::Scope scope(device, "test");
    detail::cpu::Workers workers(2);
    for (const auto type : {KeyType::U32, KeyType::F16}) {
        const sort::KeyForm form{type};
        const std::size_t tiles = 5000, bytes = form.key_bytes(), tile_bytes = 1024 * bytes;
        sort::TileTextures textures(device, form, tiles);
        const gl::Program numbers(device, "test",
                                  R"(uniform int row_log2;
layout(location = 0) out uvec4 block[8];
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int tile = at.y / 8 * (1 << row_log2) + at.x / 4;
    int lane = at.x % 2 + at.y % 8 * 2 + at.x % 4 / 2 * 16;
    for (int t = 0; t < 8; ++t) block[t] = (uint(tile * 1024 + lane * 32 + t * 4) + uvec4(0, 1, 2, 3)) % 50021u;
})");
        const sort::DrawTiles draw = [&](int first, int end) {
            gl::draw(device, {.name = "numbers",
                              .program = &numbers,
                              .uniforms = {{"row_log2", textures.shape.row_log2}},
                              .target = &textures.keys.now.framebuffer,
                              .quads = &textures.rows_of(first, end)});
        };
        sort::TileReadBack readback;
        std::vector<std::vector<std::byte>> found(tiles);
        const auto expect_numbers = [&] {
            readback.take(workers, [&](std::size_t tile, std::span<const std::byte> words) {
                found.at(tile).assign(words.begin(), words.end());
            });
            for (std::size_t tile = 0; tile < tiles; ++tile) {
                REQUIRE(found[tile].size() == 122 * 8 * bytes);
                std::vector<std::byte> expected(tile_bytes);
                for (std::size_t k = 0; k < 1024; ++k) {
                    const auto value = static_cast<std::uint32_t>((tile * 1024 + k) % 50021);
                    std::memcpy(&expected[k * bytes], &value, bytes);
                }
                CHECK(std::memcmp(found[tile].data(), &expected[3 * 8 * bytes], found[tile].size()) == 0);
            }
            found.assign(tiles, {});
        };
        draw(0, textures.shape.rows_for(tiles));
        readback.request(device, textures.keys.now.texture, textures.shape, {3, 122, 1}, tiles);
        expect_numbers();
        int drawn = 0;
        gl::clear_texels(device, textures.keys.now.texture, 0, 0, textures.shape.texture_width(),
                         textures.shape.fill_row(), 0);
        readback.request(device, textures.keys.now.texture, textures.shape, {3, 122, 1}, tiles,
                         [&](int first, int end) {
                             CHECK(first == std::exchange(drawn, end));
                             draw(first, end);
                         });
        CHECK(drawn == textures.shape.rows_for(tiles));
        expect_numbers();
    }
    scope.check();
}
