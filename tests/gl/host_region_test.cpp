// Channels, rectangles, layers and faces of the application's textures are sorted, and everything around them stays
// unchanged.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gl/host.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

struct Kind {
    GLenum internal, format, type;
    int channels;
    std::size_t channel_bytes;  // as they are uploaded here
};
constexpr Kind r32f{GL_R32F, GL_RED, GL_FLOAT, 1, 4}, r32i{GL_R32I, GL_RED_INTEGER, GL_INT, 1, 4},
    r32ui{GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, 1, 4}, rgba32f{GL_RGBA32F, GL_RGBA, GL_FLOAT, 4, 4},
    rgba16f{GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 4, 2};

constexpr int side = 24, layers = 6;

class HostLayers {
  public:
    HostLayers(const Api& gl, GLenum target, GLenum internal, bool odd_parameters) : gl_(gl), target_(target) {
        gl.CreateTextures(target, 1, &id_);
        if (is_array()) {
            gl.TextureStorage3D(id_, 1, internal, side, side, layers);
        } else {
            gl.TextureStorage2D(id_, 1, internal, side, side);
        }
        if (!odd_parameters || target == GL_TEXTURE_RECTANGLE) return;
        const std::array<GLint, 4> swizzle{GL_ZERO, GL_ALPHA, GL_ONE, GL_RED};
        gl.TextureParameteriv(id_, GL_TEXTURE_SWIZZLE_RGBA, swizzle.data());
        gl.TextureParameteri(id_, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
        gl.TextureParameteri(id_, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    }
    HostLayers(const HostLayers&) = delete;
    HostLayers& operator=(const HostLayers&) = delete;
    ~HostLayers() { gl_.DeleteTextures(1, &id_); }
    [[nodiscard]] GLuint id() const { return id_; }
    [[nodiscard]] int depth() const { return is_array() || target_ == GL_TEXTURE_CUBE_MAP ? layers : 1; }
    void write(const Kind& kind, const std::vector<std::byte>& texels) const {
        if (kind.type == GL_HALF_FLOAT) {
            const Halves halves(gl_, depth());
            halves.write(texels);
            gl_.CopyImageSubData(halves.id, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, id_, target_, 0, 0, 0, 0, side, side,
                                 depth());
        } else if (depth() > 1) {
            gl_.TextureSubImage3D(id_, 0, 0, 0, 0, side, side, layers, kind.format, kind.type, texels.data());
        } else {
            gl_.TextureSubImage2D(id_, 0, 0, 0, side, side, kind.format, kind.type, texels.data());
        }
    }
    [[nodiscard]] std::vector<std::byte> read(const Kind& kind) const {
        const auto values = static_cast<std::size_t>(side * side * depth() * kind.channels);
        std::vector<std::byte> texels(values * kind.channel_bytes);
        const auto bytes = static_cast<GLsizei>(texels.size());
        if (kind.type == GL_HALF_FLOAT) {
            const Halves halves(gl_, depth());
            gl_.CopyImageSubData(id_, target_, 0, 0, 0, 0, halves.id, GL_TEXTURE_2D_ARRAY, 0, 0, 0, 0, side, side,
                                 depth());
            gl_.GetTextureImage(halves.id, 0, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, bytes, texels.data());
        } else {
            gl_.GetTextureImage(id_, 0, kind.format, kind.type, bytes, texels.data());
        }
        return texels;
    }

  private:
    // Halves are transferred as integers, which no driver converts. As RGBA16F, some drivers make signalling NaNs
    // quiet; NVIDIA's does so in the compatibility profile after pixel transfers were set.
    struct Halves {
        Halves(const Api& api, int depth) : gl(api), layers_(depth) {
            gl.CreateTextures(GL_TEXTURE_2D_ARRAY, 1, &id);
            gl.TextureStorage3D(id, 1, GL_RGBA16UI, side, side, depth);
            gl.TextureParameteri(id, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
            gl.TextureParameteri(id, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        }
        Halves(const Halves&) = delete;
        Halves& operator=(const Halves&) = delete;
        ~Halves() { gl.DeleteTextures(1, &id); }
        void write(const std::vector<std::byte>& texels) const {
            gl.TextureSubImage3D(id, 0, 0, 0, 0, side, side, layers_, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT,
                                 texels.data());
        }
        const Api& gl;
        GLuint id = 0;

      private:
        int layers_;
    };
    [[nodiscard]] bool is_array() const {
        return target_ == GL_TEXTURE_2D_ARRAY || target_ == GL_TEXTURE_CUBE_MAP_ARRAY;
    }
    const Api& gl_;
    GLenum target_;
    GLuint id_ = 0;
};

// The position of value i of a region, counted in values of the channel.
std::vector<std::size_t> places(const TextureRegion& region, const Kind& kind, int channel, int step) {
    const auto width = region.width == 0 ? side - region.x : region.width;
    const auto height = region.height == 0 ? side - region.y : region.height;
    std::vector<std::size_t> found;
    const auto count = region.count.value_or(static_cast<std::size_t>(width * height));
    for (std::size_t i = 0; i < count; ++i) {
        const auto x = region.x + static_cast<int>(i) % width, y = region.y + static_cast<int>(i) / width;
        const auto texel = static_cast<std::size_t>((region.layer * side + y) * side + x);
        for (int c = channel; c < kind.channels && c < channel + step; ++c)
            found.push_back(texel * static_cast<std::size_t>(kind.channels) + static_cast<std::size_t>(c));
    }
    return found;
}

template <class Key>
void sort_at(std::vector<std::byte>& texels, const std::vector<std::size_t>& from, const std::vector<std::size_t>& to,
             Order order, std::vector<std::byte>& out) {
    std::vector<Key> keys(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) std::memcpy(&keys[i], &texels[from[i] * sizeof(Key)], sizeof(Key));
    sort_on_cpu(std::span(keys), order);
    for (std::size_t i = 0; i < to.size(); ++i) std::memcpy(&out[to[i] * sizeof(Key)], &keys[i], sizeof(Key));
}

std::vector<std::byte> noise(Random& random, const Kind& kind, int depth) {
    std::vector<std::byte> texels(static_cast<std::size_t>(side * side * depth * kind.channels) * kind.channel_bytes);
    for (auto& byte : texels) byte = static_cast<std::byte>(random.bits());
    return texels;
}

TextureRegion some_region(Random& random, GLuint texture, int depth) {
    TextureRegion region{.texture = texture, .layer = random.number(0, depth - 1)};
    if (random.flag()) return region;
    region.x = random.number(0, side - 1);
    region.y = random.number(0, side - 1);
    region.width = random.number(1, side - region.x);
    region.height = random.number(1, side - region.y);
    if (random.flag()) region.count = static_cast<std::size_t>(random.number(0, region.width * region.height));
    return region;
}

constexpr std::array<GLenum, 5> targets{GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_CUBE_MAP,
                                        GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_RECTANGLE};

}  // namespace

TEST_CASE("texels of any rectangle, layer or face are sorted, each channel separately or all together") {
    const Host host(each_profile());
    Sorter sorter(Host::adopt(), {.engine = Engine::Merge});
    constexpr std::uint64_t seed = 20261123;
    CAPTURE(seed);
    Random random(seed);
    for (const auto& kind : {r32f, r32i, r32ui, rgba32f, rgba16f}) {
        for (const auto target : targets) {
            CAPTURE(kind.internal);
            CAPTURE(target);
            const HostLayers in(host.gl, target, kind.internal, random.flag()),
                out(host.gl, target, kind.internal, random.flag());
            const bool in_place = random.flag();
            auto texels = noise(random, kind, in.depth()), others = in_place ? texels : noise(random, kind, in.depth());
            in.write(kind, texels);
            out.write(kind, others);
            const auto from = some_region(random, in.id(), in.depth());
            auto to = from;
            to.texture = in_place ? in.id() : out.id();
            const auto order = random.flag() ? Order::Ascending : Order::Descending;
            const auto channels = random.flag() ? TexelChannels::EachByItself : TexelChannels::AllAsOne;
            {
                const Poison poison(host.gl, random.bits());
                const auto before = Snapshot::take(host.gl);
                sorter.sort_texture(from, to, channels, order);
                REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
            }
            const int step = channels == TexelChannels::AllAsOne ? kind.channels : 1;
            for (int channel = 0; channel < kind.channels; channel += step) {
                const auto at = places(from, kind, channel, step);
                if (kind.type == GL_FLOAT) sort_at<float>(texels, at, at, order, others);
                if (kind.type == GL_INT) sort_at<std::int32_t>(texels, at, at, order, others);
                if (kind.type == GL_UNSIGNED_INT) sort_at<std::uint32_t>(texels, at, at, order, others);
                if (kind.type == GL_HALF_FLOAT) sort_at<Half>(texels, at, at, order, others);
            }
            CHECK((in_place ? in : out).read(kind) == others);
            if (!in_place) CHECK(in.read(kind) == texels);
            CHECK(error_names(take_errors(host.gl)) == "");
        }
    }
}

TEST_CASE("the order of one channel's keys, of every format that a sampler reads") {
    const Host host(each_profile());
    Sorter merge(Host::adopt(), {.engine = Engine::Merge}), bitonic(Host::adopt(), {.engine = Engine::Bitonic});
    Random random(20261124);
    struct Format {
        GLenum internal;
        int channels;
        bool depth;
    };
    for (const auto& format : {Format{GL_RGBA32F, 4, false},
                               {GL_RGBA16F, 4, false},
                               {GL_RGBA8, 4, false},
                               {GL_R32F, 1, false},
                               {GL_R16F, 1, false},
                               {GL_R16, 1, false},
                               {GL_R8, 1, false},
                               {GL_DEPTH_COMPONENT16, 1, true},
                               {GL_DEPTH_COMPONENT24, 1, true},
                               {GL_DEPTH_COMPONENT32F, 1, true},
                               {GL_DEPTH24_STENCIL8, 1, true}}) {
        for (const auto target : {GLenum{GL_TEXTURE_2D}, GLenum{GL_TEXTURE_2D_ARRAY}, GLenum{GL_TEXTURE_CUBE_MAP}}) {
            CAPTURE(format.internal);
            CAPTURE(target);
            const HostLayers keys(host.gl, target, format.internal, random.flag());
            // Read through floats: those of a depth texture, or of four channels.
            const Kind floats{format.internal,
                              GLenum(format.depth           ? GL_DEPTH_COMPONENT
                                     : format.channels == 4 ? GL_RGBA
                                                            : GL_RED),
                              GL_FLOAT, format.channels, 4};
            std::vector<float> values(static_cast<std::size_t>(side * side * keys.depth() * format.channels));
            for (auto& value : values) value = random.real(0, 1);
            std::vector<std::byte> bytes(values.size() * sizeof(float));
            std::memcpy(bytes.data(), values.data(), bytes.size());
            if (format.internal != GL_DEPTH24_STENCIL8) {
                keys.write(floats, bytes);
            } else {  // with stencils of any value
                for (std::size_t i = 0; i < values.size(); ++i) {
                    const auto word = static_cast<std::uint32_t>(random.bits());
                    std::memcpy(&bytes[4 * i], &word, 4);
                }
                keys.write({format.internal, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, 1, 4}, bytes);
            }
            bytes = keys.read(floats);
            std::memcpy(values.data(), bytes.data(), bytes.size());
            const auto region = some_region(random, keys.id(), keys.depth());
            const int channel = random.number(0, format.channels - 1);
            std::vector<float> expected;
            for (const auto place : places(region, floats, channel, 1)) expected.push_back(values[place]);
            std::vector<std::uint32_t> expected_index(expected.size()), all(side * side, 77);
            sort_with_index_on_cpu(expected, expected_index);
            const HostLayers index(host.gl, GL_TEXTURE_2D, GL_R32UI, false);
            std::vector<std::byte> before_bytes(all.size() * 4);
            std::memcpy(before_bytes.data(), all.data(), before_bytes.size());
            index.write(r32ui, before_bytes);
            {
                const Poison poison(host.gl, random.bits());
                const auto before = Snapshot::take(host.gl);
                auto& sorter = format.internal == GL_R32F && target != GL_TEXTURE_2D ? bitonic : merge;
                sorter.argsort_texture(region, index.id(), channel);
                REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
            }
            std::ranges::copy(expected_index, all.begin());
            std::memcpy(before_bytes.data(), all.data(), before_bytes.size());
            CHECK(index.read(r32ui) == before_bytes);
            CHECK(error_names(take_errors(host.gl)) == "");
        }
    }
}

TEST_CASE("an invalid region is refused with the reason") {
    const Host host(each_profile());
    Sorter sorter(Host::adopt(), {.engine = Engine::Merge}), by_blending(Host::adopt(), {.engine = Engine::Pbsn}),
        bitonic(Host::adopt(), {.engine = Engine::Bitonic});
    const HostLayers plain(host.gl, GL_TEXTURE_2D, GL_R32F, false),
        array(host.gl, GL_TEXTURE_2D_ARRAY, GL_RGBA32F, false), bytes(host.gl, GL_TEXTURE_2D, GL_R8, false),
        index(host.gl, GL_TEXTURE_2D, GL_R32UI, false), snorm(host.gl, GL_TEXTURE_2D, GL_RGBA8_SNORM, false);
    const auto has = [&](const char* part, const TextureRegion& region, int channel = 0) {
        const auto message = message_of([&] { sorter.argsort_texture(region, index.id(), channel); });
        CAPTURE(message);
        CHECK((message.find(part) != std::string::npos));
    };
    constexpr auto max = std::numeric_limits<int>::max();
    has("is not a texture", {.texture = 0});
    has("one of the internal formats", {.texture = snorm.id()});
    has("no layer 1", {.texture = plain.id(), .layer = 1});
    has("no layer 6", {.texture = array.id(), .layer = 6});
    has("no layer -1", {.texture = array.id(), .layer = -1});
    has("not within", {.texture = plain.id(), .x = side});
    has("not within", {.texture = plain.id(), .x = -1});
    has("not within", {.texture = plain.id(), .x = 1, .width = side});
    has("not within", {.texture = plain.id(), .y = 1, .height = max});
    has("not within", {.texture = plain.id(), .width = -1});
    has("no channel 1", {.texture = plain.id()}, 1);
    has("no channel 4", {.texture = array.id()}, 4);
    has("fewer than", {.texture = plain.id(), .width = 2, .height = 2, .count = 5});
    has("different textures", {.texture = index.id()});
    CHECK_THROWS_WITH_AS(bitonic.argsort_texture({.texture = bytes.id()}, index.id()),
                         doctest::Contains("Engine::Bitonic sorts R32F, R32I and R32UI, not R8"), InvalidArgument);
    const auto sorts = [&](const char* part, const TextureRegion& from, const TextureRegion& to, Sorter& by) {
        const auto message = message_of([&] { by.sort_texture(from, to); });
        CAPTURE(message);
        CHECK((message.find(part) != std::string::npos));
    };
    sorts("keys of argsort_texture alone", {.texture = bytes.id()}, {.texture = bytes.id()}, sorter);
    sorts("the same format", {.texture = plain.id()}, {.texture = array.id()}, sorter);
    sorts("the same format", {.texture = plain.id(), .width = 3}, {.texture = plain.id(), .width = 2}, sorter);
    sorts("Engine::Merge", {.texture = plain.id()}, {.texture = plain.id()}, by_blending);
    CHECK(error_names(take_errors(host.gl)) == "");
}
