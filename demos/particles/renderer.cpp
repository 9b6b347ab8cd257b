#include "renderer.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <glm/gtc/matrix_transform.hpp>
#include <glm/gtc/type_ptr.hpp>
#include <glm/mat3x3.hpp>
#include <numbers>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace demo {

namespace show = quadmill::detail::show;

namespace {

constexpr const char* common = R"(#version 450 core
layout(binding = 0) uniform sampler2D places;
layout(binding = 1) uniform usampler2D order;
uniform mat3 camera;
uniform int side;
uniform int sorted;
uniform float aspect;
vec3 seen(int sprite) {  // x to the right, y up, z away from the camera
    return camera * texelFetch(places, ivec2(sprite % side, sprite / side), 0).xyz + vec3(0, 0, 2.6);
}
)";

constexpr const char* everywhere = R"(
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }
)";

constexpr const char* distance_of = R"(
layout(location = 0) out float distance_to_camera;
void main() { distance_to_camera = length(seen(int(gl_FragCoord.y) * side + int(gl_FragCoord.x))); }
)";

constexpr const char* sprite_vertex = R"(
uniform float pixels;
out vec4 color;
void main() {
    int sprite = gl_VertexID;
    if (sorted != 0) sprite = int(texelFetch(order, ivec2(sprite % side, sprite / side), 0).x);
    vec3 at = seen(sprite);
    float kind = texelFetch(places, ivec2(sprite % side, sprite / side), 0).w;
    gl_Position = vec4(at.x * 2.0 / aspect, at.y * 2.0, 0, at.z);
    gl_PointSize = pixels / at.z;
    vec3 near = mix(vec3(1.0, 0.62, 0.1), vec3(0.1, 0.45, 0.8), kind);
    color = vec4(near * clamp(3.4 - at.z, 0.15, 1.6), 0.55);
}
)";

constexpr const char* sprite_fragment = R"(
in vec4 color;
layout(location = 0) out vec4 result;
void main() {
    float away = length(gl_PointCoord * 2 - 1);
    result = vec4(color.rgb, color.a * clamp(1.5 - 1.5 * away, 0, 1));
}
)";

GLuint compile(GLenum kind, const std::string& source) {
    const GLuint shader = glCreateShader(kind);
    const auto* text = source.c_str();
    glShaderSource(shader, 1, &text, nullptr);
    glCompileShader(shader);
    GLint good = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (good) return shader;
    std::array<char, 1000> words{};
    glGetShaderInfoLog(shader, static_cast<GLsizei>(words.size()), nullptr, words.data());
    throw std::runtime_error(std::string("a shader does not compile: ") + words.data());
}

GLuint link(const std::string& vertex, const std::string& fragment) {
    const GLuint program = glCreateProgram();
    for (const auto shader : {compile(GL_VERTEX_SHADER, vertex), compile(GL_FRAGMENT_SHADER, fragment)}) {
        glAttachShader(program, shader);
        glDeleteShader(shader);
    }
    glLinkProgram(program);
    return program;
}

GLuint target_of(GLuint texture) {
    GLuint target = 0;
    glCreateFramebuffers(1, &target);
    glNamedFramebufferTexture(target, GL_COLOR_ATTACHMENT0, texture, 0);
    return target;
}

double ms_since(std::chrono::steady_clock::time_point begun) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

double ms_of(const auto& work) {
    const auto begun = std::chrono::steady_clock::now();
    work();
    glFinish();
    return ms_since(begun);
}

// A rotation about the vertical axis, then the spiral tilted towards the camera.
glm::mat3 camera_at(double turn) {
    constexpr float tilt = -0.45F;
    const auto angle = static_cast<float>(2 * std::numbers::pi * turn);
    const auto turned = glm::rotate(glm::mat4(1), -angle, glm::vec3(0, 1, 0));
    return glm::mat3(glm::rotate(glm::mat4(1), tilt, glm::vec3(1, 0, 0)) * turned);
}

}  // namespace

Renderer::Renderer(const quadmill::Context& context, const Load& load, std::size_t sprites, show::Size size,
                   std::uint32_t seed)
    : context_(context), sprites_(sprites), size_(size) {
    const auto load_by = [](void* by, const char* name) { return (*static_cast<const Load*>(by))(name); };
    auto by = load;
    if (!gladLoadGLUserPtr(load_by, &by)) throw std::runtime_error("the driver has no OpenGL functions");
    while (static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_) < sprites) ++side_;
    sorter_.emplace(context_, quadmill::SortOptions{.order = quadmill::Order::Descending});
    make_programs();
    make_textures(seed);
    make_image();
}

Renderer::~Renderer() {
    const std::array textures{places_, distances_, order_, image_};
    const std::array targets{distance_target_, image_target_};
    glDeleteTextures(static_cast<GLsizei>(textures.size()), textures.data());
    glDeleteFramebuffers(static_cast<GLsizei>(targets.size()), targets.data());
    glDeleteVertexArrays(1, &no_vertices_);
    glUseProgram(0);  // a current program would stay, flagged for deletion
    glDeleteProgram(distance_program_);
    glDeleteProgram(sprite_program_);
}

void Renderer::make_programs() {
    distance_program_ = link(std::string(common) + everywhere, std::string(common) + distance_of);
    sprite_program_ = link(std::string(common) + sprite_vertex, std::string(common) + sprite_fragment);
}

unsigned Renderer::make_texture(unsigned format, int width, int height) const {
    GLuint texture = 0;
    glCreateTextures(GL_TEXTURE_2D, 1, &texture);
    glTextureStorage2D(texture, 1, format, width, height);
    glTextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTextureParameteri(texture, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    return texture;
}

void Renderer::make_textures(std::uint32_t seed) {
    std::vector<std::array<float, 4>> places(static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_));
    std::mt19937 random(seed);
    const auto part = [&] { return static_cast<float>(random()) / 4294967296.0F; };  // the same with every library
    for (auto& place : places) {
        const float out = std::sqrt(part()), arm = part() < 0.5F ? 0.0F : 1.0F;
        const float angle = 7 * out + arm * std::numbers::pi_v<float> + (part() - part()) * 0.7F;
        const float high = (part() - part()) * 0.28F * (1.1F - out) + (part() - part()) * 0.04F;
        place = {out * std::cos(angle), high, out * std::sin(angle), arm};
    }
    places_ = make_texture(GL_RGBA32F, side_, side_);
    glTextureSubImage2D(places_, 0, 0, 0, side_, side_, GL_RGBA, GL_FLOAT, places.data());
    distances_ = make_texture(GL_R32F, side_, side_);
    order_ = make_texture(GL_R32UI, side_, side_);
    distance_target_ = target_of(distances_);
    glCreateVertexArrays(1, &no_vertices_);
}

void Renderer::make_image() {
    image_ = make_texture(GL_RGBA8, size_.width, size_.height);
    glTextureParameteri(image_, GL_TEXTURE_SWIZZLE_A, GL_ONE);  // for those who draw it as it is
    image_target_ = target_of(image_);
}

void Renderer::resize(show::Size size) {
    size_ = size;
    glDeleteFramebuffers(1, &image_target_);
    glDeleteTextures(1, &image_);
    make_image();
}

double Renderer::empty_session() {
    const auto begun = std::chrono::steady_clock::now();
    { const quadmill::Session session(context_); }
    return ms_since(begun);
}

FrameTimes Renderer::draw(double turn, Sorting sorting) {
    const auto camera = camera_at(turn);
    const auto set = [&](GLuint program) {
        glProgramUniformMatrix3fv(program, glGetUniformLocation(program, "camera"), 1, GL_FALSE,
                                  glm::value_ptr(camera));
        glProgramUniform1i(program, glGetUniformLocation(program, "side"), side_);
        glUseProgram(program);
    };
    glBindVertexArray(no_vertices_);
    glBindTextureUnit(0, places_);
    glBindTextureUnit(1, order_);
    FrameTimes times;
    times.distances = ms_of([&] {
        set(distance_program_);
        glBindFramebuffer(GL_FRAMEBUFFER, distance_target_);
        glViewport(0, 0, side_, side_);
        glDisable(GL_BLEND);
        glDrawArrays(GL_TRIANGLES, 0, 3);
    });
    // Texture to texture; bindings, program and blending are as they were after it.
    if (sorting == Sorting::On) times.sort = ms_of([&] { sorter_->argsort_texture(distances_, order_, sprites_); });
    times.draw = ms_of([&] {
        set(sprite_program_);
        const auto at = [&](const char* name) { return glGetUniformLocation(sprite_program_, name); };
        glProgramUniform1i(sprite_program_, at("sorted"), sorting == Sorting::On ? 1 : 0);
        glProgramUniform1f(sprite_program_, at("aspect"),
                           static_cast<float>(size_.width) / static_cast<float>(size_.height));
        // So large that all sprites together cover the picture some times, however many they are.
        const double each = static_cast<double>(size_.width) * size_.height / static_cast<double>(sprites_);
        glProgramUniform1f(sprite_program_, at("pixels"), static_cast<float>(std::max(7 * std::sqrt(each), 5.0)));
        glBindFramebuffer(GL_FRAMEBUFFER, image_target_);
        glViewport(0, 0, size_.width, size_.height);
        glClearColor(0.02F, 0.02F, 0.05F, 1);
        glClear(GL_COLOR_BUFFER_BIT);
        glEnable(GL_PROGRAM_POINT_SIZE);
        glEnable(GL_BLEND);
        glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
        glDrawArrays(GL_POINTS, 0, static_cast<GLsizei>(sprites_));
    });
    return times;
}

show::Canvas Renderer::picture() const {
    std::vector<show::Color> pixels(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glGetTextureImage(image_, 0, GL_RGB, GL_UNSIGNED_BYTE, static_cast<GLsizei>(3 * pixels.size()), pixels.data());
    return show::from_lowest_row(pixels, size_.width, size_.height);
}

bool Renderer::order_holds() const {
    const auto texels = static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_);
    std::vector<float> distances(texels);
    std::vector<std::uint32_t> order(texels);
    const auto bytes = static_cast<GLsizei>(4 * texels);
    glGetTextureImage(distances_, 0, GL_RED, GL_FLOAT, bytes, distances.data());
    glGetTextureImage(order_, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, bytes, order.data());
    order.resize(sprites_);
    for (std::size_t i = 1; i < sprites_; ++i) {
        if (distances.at(order[i - 1]) < distances.at(order[i])) return false;
    }
    std::ranges::sort(order);
    for (std::size_t i = 0; i < sprites_; ++i) {
        if (order[i] != i) return false;
    }
    return glGetError() == GL_NO_ERROR;
}

}  // namespace demo
