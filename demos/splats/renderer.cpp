#include "renderer.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <functional>
#include <glm/gtc/type_ptr.hpp>
#include <numeric>
#include <vector>

#include "cloud.hpp"

namespace demo {

namespace {

constexpr const char* common = R"(#version 450 core
layout(binding = 0) uniform sampler2DArray cloud;  // layers: middle and opacity, covariance, covariance and nothing, color
layout(binding = 1) uniform usampler2D order;
uniform mat3 camera;
uniform int side;
vec4 texel(int splat, int layer) { return texelFetch(cloud, ivec3(splat % side, splat / side, layer), 0); }
vec3 seen(vec3 middle) { return camera * middle + vec3(0, 0, 3.1); }  // x to the right, y up, z away from the camera
)";

constexpr const char* everywhere = R"(
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }
)";

constexpr const char* depth_of = R"(
layout(location = 0) out float depth;
void main() { depth = seen(texel(int(gl_FragCoord.y) * side + int(gl_FragCoord.x), 0).xyz).z; }
)";

// In perspective, a Gaussian is nearly a Gaussian in the picture: the covariance is transformed by the derivative of
// the projection. Its square extends along the ellipse's axes to where nothing of it is visible.
constexpr const char* splat_vertex = R"(
uniform vec2 size;  // of the picture, in pixels
uniform int sorted;
out vec2 deviations;
flat out vec4 color;
void main() {
    int splat = gl_InstanceID;
    if (sorted != 0) splat = int(texelFetch(order, ivec2(splat % side, splat / side), 0).x);
    vec4 middle = texel(splat, 0), a = texel(splat, 1), b = texel(splat, 2);
    mat3 covariance = mat3(a.x, a.y, a.z, a.y, a.w, b.x, a.z, b.x, b.y);
    vec3 at = seen(middle.xyz);
    float focus = 1.35 * size.y / at.z;
    mat2x3 derivative = mat2x3(vec3(focus, 0, -focus * at.x / at.z), vec3(0, focus, -focus * at.y / at.z));
    mat2x3 through = transpose(camera) * derivative;
    mat2 flat_one = transpose(through) * covariance * through;
    float xx = flat_one[0][0] + 0.3, xy = flat_one[0][1], yy = flat_one[1][1] + 0.3;  // a pixel is not a point
    float mean = (xx + yy) / 2, apart = length(vec2((xx - yy) / 2, xy));
    vec2 long_axis = apart < 1e-6 ? vec2(1, 0) : normalize(xx > yy ? vec2(apart + (xx - yy) / 2, xy)
                                                                    : vec2(xy, apart - (xx - yy) / 2));
    deviations = 3 * vec2(gl_VertexID % 2 * 2 - 1, gl_VertexID / 2 * 2 - 1);
    vec2 pixels = deviations.x * sqrt(mean + apart) * long_axis +
                  deviations.y * sqrt(max(mean - apart, 0.1)) * vec2(-long_axis.y, long_axis.x);
    gl_Position = vec4((at.xy * focus + pixels) * 2 / size, 0, 1);
    color = vec4(texel(splat, 3).rgb, middle.w);
}
)";

constexpr const char* splat_fragment = R"(
in vec2 deviations;
flat in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    float opacity = color.a * exp(-0.5 * dot(deviations, deviations));
    if (opacity < 1.0 / 255) discard;
    result = vec4(color.rgb * opacity, opacity);
}
)";

}  // namespace

SplatRenderer::SplatRenderer(const quadmill::Context& context, const Load& load, std::size_t splats, show::Size size,
                             std::uint32_t seed, Sorter sorter)
    : splats_(splats),
      side_(square_side(splats)),
      by_(sorter),
      sorter_(context, {.order = quadmill::Order::Descending}),
      image_((load_gl(load), size)),
      clock_(3, context) {
    constexpr int layers = sizeof(Splat) / 16;
    cloud_ = make_texture(GL_RGBA32F, side_, side_, layers);
    auto cloud = make_cloud(splats, seed);
    cloud.resize(static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_));
    std::vector<std::array<float, 4>> texels(cloud.size());
    for (int layer = 0; layer < layers; ++layer) {
        std::ranges::transform(cloud, texels.begin(), [&](const Splat& splat) {
            return std::bit_cast<std::array<std::array<float, 4>, layers>>(splat).at(static_cast<std::size_t>(layer));
        });
        glTextureSubImage3D(cloud_, 0, 0, 0, layer, side_, side_, 1, GL_RGBA, GL_FLOAT, texels.data());
    }
    depths_ = make_texture(GL_R32F, side_, side_);
    order_ = make_texture(GL_R32UI, side_, side_);
    depth_target_ = make_target(depths_);
    glCreateVertexArrays(1, &no_vertices_);
    depth_program_ = link(common, everywhere, depth_of);
    splat_program_ = link(common, splat_vertex, splat_fragment);
}

SplatRenderer::~SplatRenderer() {
    const std::array textures{cloud_, depths_, order_};
    glDeleteTextures(static_cast<GLsizei>(textures.size()), textures.data());
    glDeleteFramebuffers(1, &depth_target_);
    glDeleteVertexArrays(1, &no_vertices_);
    glUseProgram(0);  // a current program would stay, flagged for deletion
    glDeleteProgram(depth_program_);
    glDeleteProgram(splat_program_);
}

bool SplatRenderer::prepare() {
    return sorter_.prepare(quadmill::SortCall::ArgsortTexture, quadmill::KeyType::F32, splats_, 1);
}

void SplatRenderer::set_uniforms(double turn, Sorting sorting) const {
    const auto camera = camera_at(turn, -0.35F);
    for (const auto program : {depth_program_, splat_program_}) {
        glProgramUniformMatrix3fv(program, glGetUniformLocation(program, "camera"), 1, GL_FALSE,
                                  glm::value_ptr(camera));
        glProgramUniform1i(program, glGetUniformLocation(program, "side"), side_);
    }
    const auto at = [&](const char* name) { return glGetUniformLocation(splat_program_, name); };
    const auto [width, height] = image_.size();
    glProgramUniform1i(splat_program_, at("sorted"), sorting == Sorting::On ? 1 : 0);
    glProgramUniform2f(splat_program_, at("size"), static_cast<float>(width), static_cast<float>(height));
}

void SplatRenderer::measure_depths() const {
    glBindFramebuffer(GL_FRAMEBUFFER, depth_target_);
    glViewport(0, 0, side_, side_);
    glDisable(GL_BLEND);
    glUseProgram(depth_program_);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

void SplatRenderer::sort_on_cpu() const {
    const auto texels = static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_);
    std::vector<float> depths(texels);
    std::vector<GLuint> order(texels);
    glGetTextureImage(depths_, 0, GL_RED, GL_FLOAT, static_cast<GLsizei>(4 * texels), depths.data());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(splats_), std::greater<>(),
                             [&](GLuint i) { return depths[i]; });
    glTextureSubImage2D(order_, 0, 0, 0, side_, side_, GL_RED_INTEGER, GL_UNSIGNED_INT, order.data());
}

void SplatRenderer::draw(double turn, Sorting sorting) {
    clock_.begin();
    set_uniforms(turn, sorting);
    glBindVertexArray(no_vertices_);
    glBindTextureUnit(0, cloud_);
    glBindTextureUnit(1, order_);
    measure_depths();
    clock_.mark();
    // From texture to texture. Bindings, program and blending are unchanged afterwards.
    if (sorting == Sorting::On && by_ == Sorter::Quadmill) sorter_.argsort_texture(depths_, order_, splats_);
    if (sorting == Sorting::On && by_ == Sorter::Cpu) sort_on_cpu();
    clock_.mark();
    image_.begin();
    glUseProgram(splat_program_);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<GLsizei>(splats_));
    clock_.mark();
}

std::string SplatRenderer::words() {
    std::array<char, 100> line{};
    std::snprintf(line.data(), line.size(), "depths %.2f ms, sort %.2f ms, draw %.2f ms", clock_.ms(0), clock_.ms(1),
                  clock_.ms(2));
    return line.data();
}

}  // namespace demo
