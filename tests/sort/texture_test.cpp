// Sorts of the caller's textures, checked with the caller's own OpenGL calls.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <random>

#include "cpu/stopwatch.hpp"
#include "data.hpp"
#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/own_texture.hpp"
#include "kernels.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

void expect_texture_sorted(Context& context, Sorter& sorter, const std::string& distribution, int width, int height) {
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    const HostTexture input(context, GL_RGBA32F, width, height), output(context, GL_RGBA32F, width, height);
    const auto texels = static_cast<std::size_t>(width * height);
    const auto keys = make<float>(distribution, 4 * texels, texels);
    gl.TextureSubImage2D(input.id(), 0, 0, 0, width, height, GL_RGBA, GL_FLOAT, keys.data());
    // A swizzle of the application, which changes what samplers read, must not affect the sort.
    const std::array<GLint, 4> swizzle{GL_ALPHA, GL_ONE, GL_RED, GL_ZERO};
    gl.TextureParameteriv(input.id(), GL_TEXTURE_SWIZZLE_RGBA, swizzle.data());
    gl.TextureParameteri(input.id(), GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);

    const auto stats = sorter.sort_texture(input.id(), output.id());
    CHECK(stats.n == 4 * texels);
    CHECK(stats.readback_ms == 0);

    const auto read = [&](GLuint id) {
        std::vector<float> values(4 * texels);
        gl.GetTextureImage(id, 0, GL_RGBA, GL_FLOAT, static_cast<GLsizei>(values.size() * 4), values.data());
        return values;
    };
    const auto sorted = read(output.id());
    CAPTURE(distribution);
    CAPTURE(width);
    CAPTURE(height);
    for (std::size_t c = 0; c < 4; ++c) {
        std::vector<float> expected, got;
        for (std::size_t i = 0; i < texels; ++i) {
            expected.push_back(keys[4 * i + c]);
            got.push_back(sorted[4 * i + c]);
        }
        reference_sort(expected.data(), expected.data() + texels, sorter.options().order);
        REQUIRE(bits_of(got) == bits_of(expected));
    }
    CHECK(bits_of(read(input.id())) == bits_of(keys));  // untouched
    CHECK(gl.GetError() == GL_NO_ERROR);
}

// Keys of a 32-bit type in a texture of one channel, and the index in another texture of another shape.
template <class Key>
void expect_argsorted(Context& context, Sorter& sorter, std::vector<Key> keys, int width, int index_width,
                      std::size_t count) {
    constexpr GLenum internal = std::is_same_v<Key, float> ? GL_R32F : std::is_signed_v<Key> ? GL_R32I : GL_R32UI;
    constexpr GLenum format = std::is_same_v<Key, float> ? GL_RED : GL_RED_INTEGER;
    constexpr GLenum type = std::is_same_v<Key, float> ? GL_FLOAT : std::is_signed_v<Key> ? GL_INT : GL_UNSIGNED_INT;
    const auto height = static_cast<int>(keys.size()) / width;
    const auto index_height = static_cast<int>(count) / index_width + 1;
    const auto& gl = detail::Access::of(context)->gl;
    context.make_current();
    const HostTexture input(context, internal, width, height), output(context, GL_R32UI, index_width, index_height);
    gl.TextureSubImage2D(input.id(), 0, 0, 0, width, height, format, type, keys.data());
    const std::array<GLint, 4> swizzle{GL_ZERO, GL_ONE, GL_RED, GL_ZERO};
    gl.TextureParameteriv(input.id(), GL_TEXTURE_SWIZZLE_RGBA, swizzle.data());
    std::vector<std::uint32_t> index(static_cast<std::size_t>(index_width * index_height), 0xabcdU);
    gl.TextureSubImage2D(output.id(), 0, 0, 0, index_width, index_height, GL_RED_INTEGER, GL_UNSIGNED_INT,
                         index.data());
    auto expected = index;
    std::iota(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count), 0U);
    std::stable_sort(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(count), [&](auto a, auto b) {
        const bool down = sorter.options().order == Order::Descending;
        if constexpr (std::is_same_v<Key, float>) {
            return rank(keys[a], sorter.options().order) < rank(keys[b], sorter.options().order);
        } else {
            return down ? keys[b] < keys[a] : keys[a] < keys[b];
        }
    });
    const auto stats =
        sorter.argsort_texture(input.id(), output.id(), count == keys.size() ? std::optional<std::size_t>() : count);
    CHECK(stats.n == count);
    CHECK((stats.engine == Engine::Bitonic) == (sorter.options().engine == Engine::Bitonic));
    gl.GetTextureImage(output.id(), 0, GL_RED_INTEGER, GL_UNSIGNED_INT, static_cast<GLsizei>(index.size() * 4),
                       index.data());
    REQUIRE(index == expected);
    CHECK(gl.GetError() == GL_NO_ERROR);
}

}  // namespace

TEST_CASE(
    "The order of a texture's keys, of any type and shape, and of the first of them; other texels do not change") {
    auto context = Context::headless();
    std::mt19937_64 random(3);
    for (const auto& [order, engine, representation] :
         {std::tuple{Order::Ascending, Engine::Auto, Representation::SingleArray},
          std::tuple{Order::Descending, Engine::Merge, Representation::SingleArray},
          std::tuple{Order::Ascending, Engine::Bitonic, Representation::FourArray},
          std::tuple{Order::Descending, Engine::Bitonic, Representation::SingleArray}}) {
        Sorter sorter(context,
                      {.order = order, .engine = engine, .paper = {.bitonic = {.representation = representation}}});
        for (const auto& [width, height, index_width] :
             {std::array{1, 1, 1}, std::array{7, 3, 5}, std::array{64, 64, 64}, std::array{100, 77, 33}}) {
            const auto texels = static_cast<std::size_t>(width * height);
            for (const auto count : {texels, (texels + 1) / 2, std::size_t{1}}) {
                for (const std::string distribution : {"any bits", "few", "specials", "sorted"}) {
                    CAPTURE(distribution);
                    expect_argsorted(context, sorter, make<float>(distribution, texels, count), width, index_width,
                                     count);
                }
                std::vector<std::int32_t> integers(texels);
                std::vector<std::uint32_t> naturals(texels);
                for (auto& key : integers) key = static_cast<std::int32_t>(random());
                for (auto& key : naturals) key = static_cast<std::uint32_t>(random() % 9 == 0 ? ~0ULL : random());
                expect_argsorted(context, sorter, integers, width, index_width, count);
                expect_argsorted(context, sorter, naturals, width, index_width, count);
            }
        }
    }
}

TEST_CASE("Textures with mutable storage are argsorted, and keep their parameters") {
    auto context = Context::headless();
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    std::array<GLuint, 2> textures{};
    gl.GenTextures(2, textures.data());
    const std::vector<float> keys{3, 1, 2, 0};
    gl.BindTexture(GL_TEXTURE_2D, textures[0]);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_R32F, 2, 2, 0, GL_RED, GL_FLOAT, keys.data());
    gl.BindTexture(GL_TEXTURE_2D, textures[1]);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_R32UI, 4, 1, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, nullptr);
    Sorter sorter(context);
    sorter.argsort_texture(textures[0], textures[1]);
    std::vector<std::uint32_t> index(4);
    gl.GetTextureImage(textures[1], 0, GL_RED_INTEGER, GL_UNSIGNED_INT, 16, index.data());
    CHECK(index == std::vector<std::uint32_t>{3, 1, 2, 0});
    GLint bound = 0, filter = 0;
    gl.GetIntegerv(GL_TEXTURE_BINDING_2D, &bound);
    CHECK(bound == static_cast<GLint>(textures[1]));
    gl.GetTextureParameteriv(textures[0], GL_TEXTURE_MIN_FILTER, &filter);
    CHECK(filter == GL_NEAREST_MIPMAP_LINEAR);
    CHECK(gl.GetError() == GL_NO_ERROR);
    gl.DeleteTextures(2, textures.data());
}

TEST_CASE("Textures that cannot be argsorted are refused, with the reason") {
    auto context = Context::headless();
    const HostTexture keys(context, GL_R32F, 8, 8), index(context, GL_R32UI, 8, 8), small(context, GL_R32UI, 8, 7);
    const HostTexture wide(context, GL_RGB5_A1, 8, 8);
    Sorter sorter(context);
    sorter.argsort_texture(keys.id(), small.id(), 56);
    CHECK(sorter.argsort_texture(keys.id(), small.id(), 0).passes == 0);
    CHECK_THROWS_WITH_AS(sorter.argsort_texture(keys.id(), small.id()),
                         doctest::Contains("64 keys do not fit: the texture of the index has 56 texels"),
                         InvalidArgument);
    CHECK_THROWS_AS(sorter.argsort_texture(keys.id(), index.id(), 65), InvalidArgument);
    CHECK_THROWS_WITH_AS(sorter.argsort_texture(wide.id(), index.id()),
                         doctest::Contains("must have one of the internal formats R32F, R32UI, R32I, RGBA32F"),
                         InvalidArgument);
    CHECK_THROWS_AS(sorter.argsort_texture(keys.id(), keys.id()), InvalidArgument);
    CHECK_THROWS_AS(sorter.argsort_texture(index.id(), index.id()), InvalidArgument);
    CHECK(detail::Access::of(context)->gl.GetError() == GL_NO_ERROR);
}

TEST_CASE("Each channel of a texture of any size is sorted, whatever its bits") {
    auto context = Context::headless();
    for (const auto order : {Order::Ascending, Order::Descending}) {
        Sorter sorter(context, {.order = order, .engine = Engine::Pbsn});
        for (const auto& [width, height] : {std::pair{1, 1}, std::pair{2, 1}, std::pair{1, 5}, std::pair{16, 16},
                                            std::pair{33, 7}, std::pair{3, 100}, std::pair{64, 32}}) {
            for (const auto& distribution : distributions())
                expect_texture_sorted(context, sorter, distribution, width, height);
        }
    }
}

TEST_CASE("Input and output may be one texture") {
    auto context = Context::headless();
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    const HostTexture texture(context, GL_RGBA32F, 8, 8);
    const auto keys = make<float>("uniform", 256, 1);
    gl.TextureSubImage2D(texture.id(), 0, 0, 0, 8, 8, GL_RGBA, GL_FLOAT, keys.data());
    Sorter sorter(context);
    sorter.sort_texture(texture.id(), texture.id());
    std::vector<float> sorted(256);
    gl.GetTextureImage(texture.id(), 0, GL_RGBA, GL_FLOAT, 1024, sorted.data());
    for (std::size_t i = 4; i < 256; ++i) CHECK(sorted[i - 4] <= sorted[i]);
    CHECK(std::is_permutation(keys.begin(), keys.end(), sorted.begin()));
}

TEST_CASE("Auto sorts a texture with Merge, and with PBSN if there is no room") {
    auto context = Context::headless();
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    Sorter any(context), by_pbsn(context, {.engine = Engine::Pbsn}), small(context, {.gpu_memory = 1000});
    for (const int side : {4, 32, 256}) {
        const HostTexture input(context, GL_RGBA32F, side, side), output(context, GL_RGBA32F, side, side);
        const auto keys = make<float>("uniform", static_cast<std::size_t>(4 * side * side), 1);
        gl.TextureSubImage2D(input.id(), 0, 0, 0, side, side, GL_RGBA, GL_FLOAT, keys.data());
        std::vector<float> by_merge(keys.size()), found(keys.size());
        const auto sort_by = [&](Sorter& sorter, Engine engine, std::vector<float>& sorted) {
            const auto stats = sorter.sort_texture(input.id(), output.id());
            CHECK(stats.engine == engine);
            CHECK(stats.n == keys.size());
            gl.GetTextureImage(output.id(), 0, GL_RGBA, GL_FLOAT, static_cast<GLsizei>(4 * sorted.size()),
                               sorted.data());
        };
        sort_by(any, Engine::Merge, by_merge);
        sort_by(by_pbsn, Engine::Pbsn, found);
        CHECK(bits_of(found) == bits_of(by_merge));
        sort_by(small, Engine::Pbsn, found);
        CHECK(bits_of(found) == bits_of(by_merge));
    }
}

TEST_CASE("A texture that cannot be sorted is refused, with the reason") {
    auto context = Context::headless();
    const HostTexture good(context, GL_RGBA32F, 8, 8), other_size(context, GL_RGBA32F, 8, 4);
    const HostTexture other_format(context, GL_RGBA16F, 8, 8);
    Sorter sorter(context);
    CHECK_THROWS_AS(sorter.sort_texture(good.id(), other_size.id()), InvalidArgument);
    CHECK_THROWS_AS(sorter.sort_texture(other_format.id(), good.id()), InvalidArgument);
    CHECK_THROWS_AS(sorter.sort_texture(good.id(), 0), InvalidArgument);
    CHECK(detail::Access::of(context)->gl.GetError() == GL_NO_ERROR);
}

TEST_CASE("argsort_texture keeps to its limit of GPU memory") {
    auto context = Context::headless();
    constexpr int side = 256;
    const HostTexture keys(context, GL_R32UI, side, side), index(context, GL_R32UI, side, side);
    constexpr std::size_t texels = std::size_t{side} * side;
    Sorter small(context, {.gpu_memory = 100'000});
    CHECK_THROWS_WITH_AS(small.argsort_texture(keys.id(), index.id()),
                         doctest::Contains("SortOptions::gpu_memory, 100000 bytes"), InvalidArgument);
    CHECK(small.argsort_texture(keys.id(), index.id(), 0).n == 0);
    // It takes the documented memory: 22 bytes per key (26 with subgroups), and 4 per texel, including texels that are
    // not sorted.
    Sorter plain(context);
    const auto before = detail::Access::of(context)->texture_bytes;
    const auto needed = plain.argsort_texture(keys.id(), index.id()).texture_bytes - before;
    CHECK(needed <= (kernels_of(context).size() > 1 ? 31 : 27) * texels);
    // Room for the table of segments, which one array does not need, is counted, too.
    Sorter enough(context, {.gpu_memory = needed + needed / 50}), too_little(context, {.gpu_memory = needed - 1});
    CHECK(enough.argsort_texture(keys.id(), index.id()).n == texels);
    CHECK_THROWS_AS(too_little.argsort_texture(keys.id(), index.id()), InvalidArgument);
    CHECK(too_little.argsort_texture(keys.id(), index.id(), texels / 4).n == texels / 4);
    context.make_current();
    CHECK(detail::Access::of(context)->gl.GetError() == GL_NO_ERROR);
}
