#include "renderer.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <glm/gtc/type_ptr.hpp>
#include <numbers>
#include <random>
#include <vector>

namespace demo {

namespace {

constexpr const char* common = R"(#version 450 core
)";

constexpr const char* seen = R"(
layout(location = 0) in vec4 place;  // and the arm of the spiral
uniform mat3 camera;
vec3 seen() { return camera * place.xyz + vec3(0, 0, 2.6); }  // x to the right, y up, z away from the camera
)";

constexpr const char* distance_vertex = R"(
out float distance_to_camera;
void main() { distance_to_camera = length(seen()); }
)";

constexpr const char* sprite_vertex = R"(
uniform float pixels, aspect, light;
out vec4 color;
void main() {
    vec3 at = seen();
    gl_Position = vec4(at.x * 2.0 / aspect, at.y * 2.0, 0, at.z);
    gl_PointSize = pixels / at.z;
    vec3 near = mix(vec3(1.0, 0.62, 0.1), vec3(0.1, 0.45, 0.8), place.w);
    color = vec4(near * clamp(3.4 - at.z, 0.15, 1.6), 0.55);
    if (light > 0) color = vec4(near + 0.2, light);
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

// The parameters of glDrawElementsIndirect.
struct Command {
    GLuint count, instances, first, base_vertex, base_instance;
};

}  // namespace

Renderer::Renderer(const quadmill::Context& context, const Load& load, std::size_t sprites, show::Size size,
                   std::uint32_t seed)
    : sprites_(sprites),
      side_(square_side(sprites)),
      sorter_(context, {.order = quadmill::Order::Descending}),
      processor_(context, {.engine = quadmill::QueryEngine::Bitmap}),
      image_((load_gl(load), size)),
      clock_(4, context) {
    make_programs();
    make_sprites(seed);
}

Renderer::~Renderer() {
    const std::array buffers{positions_, distances_, order_, chosen_, command_};
    glDeleteBuffers(static_cast<GLsizei>(buffers.size()), buffers.data());
    glDeleteTextures(1, &distance_texture_);
    glDeleteVertexArrays(1, &vertices_);
    glUseProgram(0);  // a current program would stay, flagged for deletion
    glDeleteProgram(distance_program_);
    glDeleteProgram(sprite_program_);
}

void Renderer::make_programs() {
    distance_program_ = link_capture(std::string(common) + seen, distance_vertex, "distance_to_camera");
    sprite_program_ = link(common, std::string(seen) + sprite_vertex, sprite_fragment);
}

void Renderer::make_sprites(std::uint32_t seed) {
    std::vector<std::array<float, 4>> positions(sprites_);
    std::mt19937 random(seed);
    const auto part = [&] { return static_cast<float>(random()) / 4294967296.0F; };  // the same with every library
    for (auto& position : positions) {
        const float out = std::sqrt(part()), arm = part() < 0.5F ? 0.0F : 1.0F;
        const float angle = 7 * out + arm * std::numbers::pi_v<float> + (part() - part()) * 0.7F;
        const float high = (part() - part()) * 0.28F * (1.1F - out) + (part() - part()) * 0.04F;
        position = {out * std::cos(angle), high, out * std::sin(angle), arm};
    }
    const auto texels = static_cast<std::size_t>(side_) * static_cast<std::size_t>(side_);
    const Command command{.count = 0, .instances = 1, .first = 0, .base_vertex = 0, .base_instance = 0};
    positions_ = make_buffer(sizeof positions[0] * sprites_, positions.data());
    distances_ = make_buffer(4 * texels);
    order_ = make_buffer(4 * sprites_);
    chosen_ = make_buffer(4 * sprites_);
    command_ = make_buffer(sizeof command, &command);
    distance_texture_ = make_texture(GL_R32F, side_, side_);
    table_.add_texture("distance", distance_texture_, quadmill::ColumnType::F32, sprites_);
    glCreateVertexArrays(1, &vertices_);
    glVertexArrayVertexBuffer(vertices_, 0, positions_, 0, sizeof positions[0]);
    glVertexArrayAttribFormat(vertices_, 0, 4, GL_FLOAT, GL_FALSE, 0);
    glEnableVertexArrayAttrib(vertices_, 0);
}

bool Renderer::prepare() {
    return sorter_.prepare(quadmill::SortCall::ArgsortBuffer, quadmill::KeyType::F32, sprites_, 1);
}

void Renderer::set_camera(double turn) const {
    const auto camera = camera_at(turn, -0.45F);
    for (const auto program : {distance_program_, sprite_program_}) {
        glProgramUniformMatrix3fv(program, glGetUniformLocation(program, "camera"), 1, GL_FALSE,
                                  glm::value_ptr(camera));
    }
}

// Copies the distances of the vertices to a buffer of floats.
void Renderer::measure_distances() {
    glUseProgram(distance_program_);
    glEnable(GL_RASTERIZER_DISCARD);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, distances_);
    glBeginTransformFeedback(GL_POINTS);
    glDrawArrays(GL_POINTS, 0, static_cast<GLsizei>(sprites_));
    glEndTransformFeedback();
    glDisable(GL_RASTERIZER_DISCARD);
}

// Only the GPU knows which sprites these are, and how many. The CPU knows the number in some earlier frame.
void Renderer::light(const quadmill::Predicate& within) {
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, distances_);
    glTextureSubImage2D(distance_texture_, 0, 0, 0, side_, side_, GL_RED, GL_FLOAT, nullptr);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    processor_.select(table_, within).write_rows(chosen_, 0, command_);
    if (counting_ && !counting_->ready()) return;
    if (counting_) shining_ = counting_->get();
    counting_.emplace(processor_.count_async(table_, within));
}

void Renderer::draw(double turn, Sorting sorting) {
    set_camera(turn);
    clock_.begin();
    image_.begin();  // needed even if nothing is rasterized
    glBindVertexArray(vertices_);
    measure_distances();
    clock_.mark();
    // From buffer to buffer. Bindings, program and blending are unchanged afterwards.
    if (sorting == Sorting::On) sorter_.argsort_buffer({.buffer = distances_}, sprites_, order_);
    clock_.mark();
    near_ = 2.6 + 0.9 * std::sin(10 * std::numbers::pi * turn);
    far_ = near_ + 0.04;
    if (shell_) light(quadmill::column("distance").between(near_, far_));
    clock_.mark();
    const auto set = [&](const char* name, double value) {
        glProgramUniform1f(sprite_program_, glGetUniformLocation(sprite_program_, name), static_cast<float>(value));
    };
    const auto [width, height] = image_.size();
    set("aspect", static_cast<double>(width) / height);
    // With this size all sprites together cover the picture several times, whatever their number.
    set("pixels", std::max(7 * std::sqrt(static_cast<double>(width) * height / static_cast<double>(sprites_)), 5.0));
    set("light", 0);
    glUseProgram(sprite_program_);
    glEnable(GL_PROGRAM_POINT_SIZE);
    glEnable(GL_BLEND);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    glVertexArrayElementBuffer(vertices_, order_);
    if (sorting == Sorting::On) {
        glDrawElements(GL_POINTS, static_cast<GLsizei>(sprites_), GL_UNSIGNED_INT, nullptr);
    } else {
        glDrawArrays(GL_POINTS, 0, static_cast<GLsizei>(sprites_));
    }
    if (shell_) {  // the order of sums does not matter
        set("light", 0.5);
        glBlendFunc(GL_SRC_ALPHA, GL_ONE);
        glVertexArrayElementBuffer(vertices_, chosen_);
        glBindBuffer(GL_DRAW_INDIRECT_BUFFER, command_);
        glDrawElementsIndirect(GL_POINTS, GL_UNSIGNED_INT, nullptr);
    }
    clock_.mark();
}

std::string Renderer::words() {
    std::array<char, 200> line{};
    const auto shining = " (" + show::with_commas(shining_) + " shine)";
    std::snprintf(line.data(), line.size(), "distances %.2f ms, sort %.2f ms, shell %.2f ms%s, draw %.2f ms",
                  clock_.ms(0), clock_.ms(1), clock_.ms(2), shell_ ? shining.c_str() : "", clock_.ms(3));
    return line.data();
}

bool Renderer::order_holds() const {
    std::vector<float> distances(sprites_);
    std::vector<GLuint> order(sprites_), chosen(sprites_);
    Command command{};
    const auto read = [](GLuint buffer, auto& values) {
        glGetNamedBufferSubData(buffer, 0, static_cast<GLsizeiptr>(4 * values.size()), values.data());
    };
    read(distances_, distances);
    read(order_, order);
    for (std::size_t i = 1; i < sprites_; ++i) {
        if (distances.at(order[i - 1]) < distances.at(order[i])) return false;
    }
    std::ranges::sort(order);
    for (std::size_t i = 0; i < sprites_; ++i) {
        if (order[i] != i) return false;
    }
    if (!shell_) return glGetError() == GL_NO_ERROR;
    read(chosen_, chosen);
    glGetNamedBufferSubData(command_, 0, sizeof command, &command);
    chosen.resize(command.count);
    std::vector<GLuint> expected;
    for (GLuint i = 0; i < sprites_; ++i) {
        if (near_ <= distances[i] && distances[i] <= far_) expected.push_back(i);
    }
    return chosen == expected && glGetError() == GL_NO_ERROR;
}

}  // namespace demo
