#include "renderer.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <glm/gtc/type_ptr.hpp>
#include <vector>

namespace demo {

namespace {

constexpr int bins = 192;
constexpr float darkest = 0x1p-12F, brightest = 0x1p12F;  // ends of the histogram
const std::vector<double> fractions{0.01, 0.5, 0.99};

constexpr const char* common = R"(#version 450 core
const float darkest = 1.0 / 4096, brightest = 4096;
const vec3 luminance_weights = vec3(0.2126, 0.7152, 0.0722);
)";

constexpr const char* everywhere = R"(
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }
)";

// A hall whose front is open, with columns and three spheres, seen from its middle. Each surface gets light of the sky
// according to the part of the opening that it sees, of the sun where it reaches, and of a dim lamp. Alpha is
// luminance.
constexpr const char* scene = R"(
uniform mat3 camera;
uniform vec2 size;
layout(location = 0) out vec4 result;

const vec3 room = vec3(3, 1.6, 4), sun = normalize(vec3(-0.35, 0.42, -0.84)), lamp = vec3(0, 1.3, 2.2);
const vec4 spheres[3] = vec4[3](vec4(-1.3, -1.0, -2.4, 0.6), vec4(1.2, -1.1, -1.2, 0.5), vec4(0.6, -0.9, 2.6, 0.7));
const vec3 colors[3] = vec3[3](vec3(0.8, 0.3, 0.2), vec3(0.9, 0.9, 0.9), vec3(0.2, 0.4, 0.8));

struct Hit { float far; vec3 normal, color; };

void column(vec3 from, vec3 to, vec2 at, inout Hit hit) {
    vec2 o = from.xz - at;
    float a = dot(to.xz, to.xz), b = dot(o, to.xz), c = dot(o, o) - 0.04, d = b * b - a * c;
    float far = d < 0 || a < 1e-6 ? -1 : (-b - sqrt(d)) / a;
    if (far > 1e-3 && far < hit.far) hit = Hit(far, vec3((o + far * to.xz) / 0.2, 0).xzy, vec3(0.75, 0.7, 0.6));
}

Hit trace(vec3 from, vec3 to) {
    Hit hit = Hit(1e9, vec3(0), vec3(0));
    // The room from within; its front, at -room.z, is open.
    for (int axis = 0; axis < 3; ++axis) {
        float far = ((to[axis] > 0 ? room[axis] : -room[axis]) - from[axis]) / to[axis];
        vec3 at = from + far * to;
        bool inside = all(lessThan(abs(at * vec3(axis != 0, axis != 1, axis != 2)), room + 1e-4));
        if (!(far > 0 && far < hit.far && inside) || (axis == 2 && to.z < 0)) continue;
        vec3 normal = vec3(0);
        normal[axis] = to[axis] > 0 ? -1 : 1;
        vec3 steps = floor(at * 2 + 0.25);  // no side of the room is on a step
        float tile = mod(steps.x + steps.y + steps.z, 2);
        hit = Hit(far, normal, mix(vec3(0.35, 0.3, 0.25), vec3(0.6, 0.55, 0.5), tile));
    }
    for (int i = 0; i < 3; ++i) {
        vec3 o = from - spheres[i].xyz;
        float b = dot(o, to), d = b * b - dot(o, o) + spheres[i].w * spheres[i].w, far = -b - sqrt(max(d, 0));
        if (d > 0 && far > 1e-3 && far < hit.far) hit = Hit(far, (o + far * to) / spheres[i].w, colors[i]);
    }
    for (int i = -1; i <= 1; ++i) column(from, to, vec2(1.9 * i, -room.z + 0.3), hit);
    return hit;
}

vec3 outdoors(vec3 to) {
    float near_sun = max(dot(to, sun), 0);
    vec3 sky = mix(vec3(160, 190, 230), vec3(30, 70, 170), clamp(to.y * 1.6, 0, 1));
    vec3 hills = vec3(18, 34, 12) * (1 + 0.4 * sin(to.x * 40) * sin(to.y * 90));
    float ridge = 0.05 * sin(to.x * 7) + 0.03 * sin(to.x * 17 + 1);
    return mix(hills, sky, smoothstep(ridge - 0.003, ridge + 0.003, to.y)) + vec3(600, 540, 400) * pow(near_sun, 300) +
           vec3(4000, 3700, 3000) * step(0.9993, near_sun);
}

vec3 light_at(vec3 at, vec3 normal) {
    vec3 to_front = vec3(0, 0, -room.z) - at;
    float near2 = dot(to_front, to_front);
    float facing = max(dot(normal, normalize(to_front)) * 0.7 + 0.3, 0);
    vec3 light = vec3(60, 80, 110) * facing * 0.12 / (1 + near2 * near2 * 0.06);
    vec3 to_lamp = lamp - at;
    light += vec3(0.5, 0.35, 0.2) * max(dot(normal, normalize(to_lamp)), 0) / (0.2 + dot(to_lamp, to_lamp));
    bool in_sun = dot(normal, sun) > 0 && trace(at + 1e-3 * normal, sun).far > 1e8;
    return light + 0.02 + (in_sun ? vec3(900, 820, 650) * dot(normal, sun) * 0.3 : vec3(0));
}

void main() {
    vec2 at = (2 * gl_FragCoord.xy - size) / size.y;
    vec3 from = vec3(0, 0, 0.3), to = normalize(vec3(at, -1.2) * camera);
    Hit hit = trace(from, to);
    vec3 color = hit.far > 1e8 ? outdoors(to) : hit.color * light_at(from + hit.far * to, hit.normal);
    result = vec4(color, dot(color, luminance_weights));
}
)";

// The curve maps the median to a middle gray, and the 99th percentile to white.
constexpr const char* exposure = R"(
layout(binding = 0) uniform sampler2D frame;
layout(binding = 1) uniform sampler2D percentiles;
layout(binding = 2) uniform usampler2D histogram;
uniform int exposed;
layout(location = 0) out vec4 result;

float place_of(float luminance) { return log2(luminance / darkest) / log2(brightest / darkest); }

// The histogram: bars as high as the root of their numbers, and lines at the percentiles.
vec4 panel(vec2 at) {
    int number = textureSize(histogram, 0).x, texels = textureSize(frame, 0).x * textureSize(frame, 0).y;
    float bar = sqrt(float(texelFetch(histogram, ivec2(at.x * number, 0), 0).x) / texels / 0.08);
    vec4 color = at.y < bar ? vec4(0.95, 0.75, 0.3, 0.9) : vec4(0.05, 0.06, 0.08, 0.7);
    for (int i = 0; i < 3; ++i) {
        float apart = abs(at.x - place_of(texelFetch(percentiles, ivec2(i, 0), 0).x));
        if (apart < 0.005) color = i == 1 ? vec4(1, 1, 1, 1) : vec4(0.5, 0.8, 1, 1);
    }
    return color;
}

void main() {
    vec2 size = vec2(textureSize(frame, 0));
    vec4 texel = texelFetch(frame, ivec2(gl_FragCoord.xy), 0);
    float gray = 0.18, median = texelFetch(percentiles, ivec2(1, 0), 0).x;
    float scale = exposed != 0 ? gray / max(median, darkest) : gray / 20;
    float white = max(exposed != 0 ? texelFetch(percentiles, ivec2(2, 0), 0).x * scale : 4, 0.5);
    float light = texel.a * scale;
    vec3 color = texel.rgb * scale * (1 + light / (white * white)) / (1 + light);
    result = vec4(pow(clamp(color, 0, 1), vec3(1 / 2.2)), 1);
    vec2 corner = vec2(size.x * 0.96 - 320, 20), at = (gl_FragCoord.xy - corner) / vec2(320, 100);
    if (all(greaterThanEqual(at, vec2(0))) && all(lessThan(at, vec2(1)))) {
        vec4 over = panel(at);
        result.rgb = mix(result.rgb, over.rgb, over.a);
    }
}
)";

}  // namespace

ExposureRenderer::ExposureRenderer(const quadmill::Context& context, const Load& load, show::Size size, By by)
    : by_(by), statistics_(context), image_((load_gl(load), size)), clock_(3, context) {
    histogram_ = make_texture(GL_R32UI, bins, 1);
    percentiles_ = make_texture(GL_R32F, static_cast<int>(fractions.size()), 1);
    glCreateVertexArrays(1, &no_vertices_);
    scene_program_ = link(common, everywhere, scene);
    exposure_program_ = link(common, everywhere, exposure);
}

ExposureRenderer::~ExposureRenderer() {
    release();
    const std::array textures{histogram_, percentiles_};
    glDeleteTextures(static_cast<GLsizei>(textures.size()), textures.data());
    glDeleteVertexArrays(1, &no_vertices_);
    glUseProgram(0);  // a current program would stay, flagged for deletion
    glDeleteProgram(scene_program_);
    glDeleteProgram(exposure_program_);
}

void ExposureRenderer::release() {
    glDeleteFramebuffers(1, &frame_target_);
    glDeleteTextures(1, &frame_);
}

void ExposureRenderer::resize() {
    const auto size = image_.size();
    if (size.width == size_.width && size.height == size_.height) return;
    release();
    size_ = size;
    frame_ = make_texture(GL_RGBA16F, size.width, size.height);
    frame_target_ = make_target(frame_);
}

void ExposureRenderer::find_percentiles_on_cpu() const {
    std::vector<float> texels(4 * static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height)),
        found;
    glGetTextureImage(frame_, 0, GL_RGBA, GL_FLOAT, static_cast<GLsizei>(4 * texels.size()), texels.data());
    std::vector<float> luminances;
    for (std::size_t i = 3; i < texels.size(); i += 4) luminances.push_back(texels[i]);
    std::ranges::sort(luminances);
    for (const double phi : fractions) {
        const auto index = std::round(phi * static_cast<double>(luminances.size() - 1));
        found.push_back(luminances[static_cast<std::size_t>(index)]);
    }
    glTextureSubImage2D(percentiles_, 0, 0, 0, static_cast<GLsizei>(found.size()), 1, GL_RED, GL_FLOAT, found.data());
}

void ExposureRenderer::draw(double turn, Sorting exposed) {
    resize();
    clock_.begin();
    glBindVertexArray(no_vertices_);
    glDisable(GL_BLEND);
    glBindFramebuffer(GL_FRAMEBUFFER, frame_target_);
    glViewport(0, 0, size_.width, size_.height);
    const auto camera = camera_at(turn, 0);
    glProgramUniformMatrix3fv(scene_program_, glGetUniformLocation(scene_program_, "camera"), 1, GL_FALSE,
                              glm::value_ptr(camera));
    glProgramUniform2f(scene_program_, glGetUniformLocation(scene_program_, "size"), static_cast<float>(size_.width),
                       static_cast<float>(size_.height));
    glUseProgram(scene_program_);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    clock_.mark();
    // Into the program's own textures. Bindings and programs are unchanged afterwards.
    statistics_.measure({.texture = frame_}, {.histogram = histogram_, .percentiles = percentiles_},
                        {.weights = {0, 0, 0, 1},
                         .bins = bins,
                         .low = darkest,
                         .high = brightest,
                         .scale = quadmill::BinScale::Logarithmic,
                         .phi = fractions});
    if (by_ == By::Cpu) find_percentiles_on_cpu();
    clock_.mark();
    image_.begin();
    glBindTextureUnit(0, frame_);
    glBindTextureUnit(1, percentiles_);
    glBindTextureUnit(2, histogram_);
    glProgramUniform1i(exposure_program_, glGetUniformLocation(exposure_program_, "exposed"),
                       exposed == Sorting::On ? 1 : 0);
    glUseProgram(exposure_program_);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    clock_.mark();
}

std::string ExposureRenderer::words() {
    std::array<char, 100> line{};
    std::snprintf(line.data(), line.size(), "scene %.2f ms, statistics %.2f ms, exposure %.2f ms", clock_.ms(0),
                  clock_.ms(1), clock_.ms(2));
    return line.data();
}

}  // namespace demo
