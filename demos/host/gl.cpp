#include "host/gl.hpp"

#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace demo {

namespace {

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

void attach(GLuint program, GLenum kind, const std::string& source) {
    const GLuint shader = compile(kind, source);
    glAttachShader(program, shader);
    glDeleteShader(shader);
}

GLuint linked(GLuint program) {
    glLinkProgram(program);
    GLint good = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &good);
    if (good) return program;
    std::array<char, 1000> words{};
    glGetProgramInfoLog(program, static_cast<GLsizei>(words.size()), nullptr, words.data());
    throw std::runtime_error(std::string("shaders do not link: ") + words.data());
}

}  // namespace

void load_gl(const Load& load) {
    const auto load_by = [](void* by, const char* name) { return (*static_cast<const Load*>(by))(name); };
    auto by = load;
    if (!gladLoadGLUserPtr(load_by, &by)) throw std::runtime_error("the driver has no OpenGL functions");
}

unsigned link(const std::string& common, const std::string& vertex, const std::string& fragment) {
    const GLuint program = glCreateProgram();
    attach(program, GL_VERTEX_SHADER, common + vertex);
    attach(program, GL_FRAGMENT_SHADER, common + fragment);
    return linked(program);
}

unsigned link_capture(const std::string& common, const std::string& vertex, const char* captured) {
    const GLuint program = glCreateProgram();
    attach(program, GL_VERTEX_SHADER, common + vertex);
    glTransformFeedbackVaryings(program, 1, &captured, GL_INTERLEAVED_ATTRIBS);
    return linked(program);
}

int square_side(std::size_t texels) {
    int side = 1;
    while (static_cast<std::size_t>(side) * static_cast<std::size_t>(side) < texels) ++side;
    return side;
}

unsigned make_texture(unsigned format, int width, int height, int layers) {
    GLuint texture = 0;
    glCreateTextures(layers > 0 ? GL_TEXTURE_2D_ARRAY : GL_TEXTURE_2D, 1, &texture);
    if (layers > 0) {
        glTextureStorage3D(texture, 1, format, width, height, layers);
    } else {
        glTextureStorage2D(texture, 1, format, width, height);
    }
    glTextureParameteri(texture, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTextureParameteri(texture, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    return texture;
}

unsigned make_target(unsigned texture) {
    GLuint target = 0;
    glCreateFramebuffers(1, &target);
    glNamedFramebufferTexture(target, GL_COLOR_ATTACHMENT0, texture, 0);
    return target;
}

unsigned make_buffer(std::size_t bytes, const void* content) {
    GLuint buffer = 0;
    glCreateBuffers(1, &buffer);
    glNamedBufferStorage(buffer, static_cast<GLsizeiptr>(bytes), content, GL_DYNAMIC_STORAGE_BIT);
    return buffer;
}

void Image::make(show::Size size) {
    size_ = size;
    texture_ = make_texture(GL_RGBA8, size.width, size.height);
    glTextureParameteri(texture_, GL_TEXTURE_SWIZZLE_A, GL_ONE);  // for renderers that draw it unsorted
    target_ = make_target(texture_);
}

void Image::release() {
    glDeleteFramebuffers(1, &target_);
    glDeleteTextures(1, &texture_);
}

void Image::resize(show::Size size) {
    release();
    make(size);
}

void Image::begin() const {
    glBindFramebuffer(GL_FRAMEBUFFER, target_);
    glViewport(0, 0, size_.width, size_.height);
    glClearColor(0.02F, 0.02F, 0.05F, 1);
    glClear(GL_COLOR_BUFFER_BIT);
}

show::Canvas Image::picture() const {
    std::vector<show::Color> pixels(static_cast<std::size_t>(size_.width) * static_cast<std::size_t>(size_.height));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glGetTextureImage(texture_, 0, GL_RGB, GL_UNSIGNED_BYTE, static_cast<GLsizei>(3 * pixels.size()), pixels.data());
    return show::from_lowest_row(pixels, size_.width, size_.height);
}

double Median::value() const {
    const auto known = std::min(next_, last_.size());
    if (known == 0) return 0;
    auto sorted = last_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(known / 2);
    std::ranges::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(known));
    return *middle;
}

Clock::Clock(std::size_t spans, const quadmill::Context& context)
    : software_(context.info().software), queries_(spans + 1), ms_(spans) {
    glCreateQueries(GL_TIMESTAMP, static_cast<GLsizei>(queries_.size()), queries_.data());
}

Clock::~Clock() {
    glDeleteQueries(static_cast<GLsizei>(queries_.size()), queries_.data());
}

void Clock::begin() {
    collect();
    frame_ = frame_ == Frame::UnderWay ? Frame::Unmeasured : Frame::Marked;
    marks_ = 0;
    mark();
}

void Clock::mark() {
    if (software_) {
        glFinish();
        const auto now = std::chrono::steady_clock::now();
        if (marks_ > 0) ms_.at(marks_ - 1).add(std::chrono::duration<double, std::milli>(now - last_).count());
        last_ = now;
        ++marks_;
        return;
    }
    if (frame_ == Frame::Marked) glQueryCounter(queries_.at(marks_), GL_TIMESTAMP);
    if (++marks_ == queries_.size()) frame_ = Frame::UnderWay;  // the last frame's times, if this one was not measured
}

double Clock::ms(std::size_t span) {
    collect();
    return ms_.at(span).value();
}

void Clock::collect() {
    if (frame_ != Frame::UnderWay) return;
    GLint known = 0;
    glGetQueryObjectiv(queries_.back(), GL_QUERY_RESULT_AVAILABLE, &known);
    if (!known) return;
    std::vector<GLuint64> at(queries_.size());
    for (std::size_t i = 0; i < at.size(); ++i) glGetQueryObjectui64v(queries_[i], GL_QUERY_RESULT, &at[i]);
    for (std::size_t i = 0; i < ms_.size(); ++i) ms_[i].add(static_cast<double>(at[i + 1] - at[i]) / 1e6);
    frame_ = Frame::None;
}

}  // namespace demo
