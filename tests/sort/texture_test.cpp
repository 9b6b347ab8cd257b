// Sorting the caller's textures, seen through the caller's own OpenGL calls.
#include <doctest/doctest.h>

#include <array>

#include "data.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

class HostTexture {
  public:
    HostTexture(Context& context, GLenum format, int width, int height) : gl_(context.device()->gl) {
        context.make_current();
        gl_.CreateTextures(GL_TEXTURE_2D, 1, &id_);
        gl_.TextureStorage2D(id_, 1, format, width, height);
    }
    HostTexture(const HostTexture&) = delete;
    HostTexture& operator=(const HostTexture&) = delete;
    ~HostTexture() { gl_.DeleteTextures(1, &id_); }
    [[nodiscard]] GLuint id() const { return id_; }

  private:
    const detail::gl::Api& gl_;
    GLuint id_ = 0;
};

void expect_texture_sorted(Context& context, Sorter& sorter, const std::string& distribution, int width, int height) {
    context.make_current();
    const auto& gl = context.device()->gl;
    const HostTexture input(context, GL_RGBA32F, width, height), output(context, GL_RGBA32F, width, height);
    const auto texels = static_cast<std::size_t>(width * height);
    const auto keys = make<float>(distribution, 4 * texels, texels);
    gl.TextureSubImage2D(input.id(), 0, 0, 0, width, height, GL_RGBA, GL_FLOAT, keys.data());
    // What would disturb a sampler of the host's must not disturb the sort.
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

}  // namespace

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
    const auto& gl = context.device()->gl;
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

TEST_CASE("A texture that cannot be sorted is refused, with the reason") {
    auto context = Context::headless();
    const HostTexture good(context, GL_RGBA32F, 8, 8), other_size(context, GL_RGBA32F, 8, 4);
    const HostTexture other_format(context, GL_RGBA16F, 8, 8);
    Sorter sorter(context);
    CHECK_THROWS_AS(sorter.sort_texture(good.id(), other_size.id()), InvalidArgument);
    CHECK_THROWS_AS(sorter.sort_texture(other_format.id(), good.id()), InvalidArgument);
    CHECK_THROWS_AS(sorter.sort_texture(good.id(), 0), InvalidArgument);
    CHECK(context.device()->gl.GetError() == GL_NO_ERROR);
}
