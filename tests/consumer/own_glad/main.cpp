// Draws with the program's own OpenGL before and after the library sorts in the same context, and checks every pixel.
#include <glad/egl.h>
#include <glad/gl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <quadmill/context.hpp>
#include <quadmill/sort.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int size = 64;
using Pixel = std::array<std::uint8_t, 4>;

void require(bool holds, const std::string& what) {
    if (!holds) throw std::runtime_error(what);
}

void require_no_error(const std::string& when) {
    const GLenum error = glGetError();
    require(error == GL_NO_ERROR, "OpenGL error " + std::to_string(error) + " " + when);
}

bool open_context(EGLDisplay display) {
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, nullptr, nullptr)) return false;
    require(gladLoaderLoadEGL(display), "the program's glad cannot load EGL");
    constexpr std::array<EGLint, 5> config_words = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE,
                                                    EGL_OPENGL_BIT, EGL_NONE};
    constexpr std::array<EGLint, 7> context_words = {
        EGL_CONTEXT_MAJOR_VERSION,           4,       EGL_CONTEXT_MINOR_VERSION, 5, EGL_CONTEXT_OPENGL_PROFILE_MASK,
        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint configs = 0;
    eglBindAPI(EGL_OPENGL_API);
    if (!eglChooseConfig(display, config_words.data(), &config, 1, &configs) || configs == 0) return false;
    const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, context_words.data());
    return context != EGL_NO_CONTEXT && eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
}

bool open_any_context() {
    require(gladLoaderLoadEGL(EGL_NO_DISPLAY), "the program's glad finds no EGL");
    if (eglGetPlatformDisplayEXT && eglQueryDevicesEXT) {
        std::array<EGLDeviceEXT, 16> devices{};
        EGLint count = 0;
        eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count);
        for (int i = 0; i < count; ++i) {
            const EGLDeviceEXT device = devices[static_cast<std::size_t>(i)];
            if (open_context(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, nullptr))) return true;
        }
    }
    return open_context(eglGetDisplay(EGL_DEFAULT_DISPLAY));
}

GLuint compile(GLenum kind, const char* text) {
    const GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, nullptr);
    glCompileShader(shader);
    return shader;
}

// Sets everything that a frame needs, once: the library must not change it. Returns the target.
GLuint set_up() {
    GLuint target = 0, framebuffer = 0, tint = 0, vertices = 0, array = 0;
    glCreateTextures(GL_TEXTURE_2D, 1, &target);
    glTextureStorage2D(target, 1, GL_RGBA8, size, size);
    glGenFramebuffers(1, &framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    glFramebufferTexture(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, target, 0);
    require(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE, "framebuffer incomplete");

    std::vector<std::array<float, 5>> corners;
    const auto add_rectangle = [&](float left, float right, std::array<float, 3> rgb) {
        for (const float x : {left, right, left, right, left, right}) {
            constexpr std::array ys = {-.5F, -.5F, .5F, .5F, .5F, -.5F};
            corners.push_back({x, ys[corners.size() % 6], rgb[0], rgb[1], rgb[2]});
        }
    };
    add_rectangle(-.5F, 0, {1, 0, 0});
    add_rectangle(0, .5F, {0, 0, 1});
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenBuffers(1, &vertices);
    glBindBuffer(GL_ARRAY_BUFFER, vertices);
    const auto bytes = static_cast<GLsizeiptr>(corners.size() * sizeof corners[0]);
    glBufferData(GL_ARRAY_BUFFER, bytes, corners.data(), GL_STATIC_DRAW);
    glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, sizeof corners[0], nullptr);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, sizeof corners[0], reinterpret_cast<void*>(2 * sizeof(float)));
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);

    const GLuint program = glCreateProgram();
    glAttachShader(
        program,
        compile(
            GL_VERTEX_SHADER,
            "#version 450 core\nlayout(location = 0) in vec2 at; layout(location = 1) in vec3 rgb; out vec3 color;\n"
            "void main() { color = rgb; gl_Position = vec4(at, 0, 1); }"));
    glAttachShader(program, compile(GL_FRAGMENT_SHADER,
                                    "#version 450 core\nin vec3 color; out vec4 result; uniform sampler2D tint;\n"
                                    "void main() { result = vec4(color, 0) * texelFetch(tint, ivec2(0), 0); }"));
    glLinkProgram(program);
    GLint linked = GL_FALSE;
    glGetProgramiv(program, GL_LINK_STATUS, &linked);
    require(linked == GL_TRUE, "program does not link");
    glUseProgram(program);
    glUniform1i(glGetUniformLocation(program, "tint"), 3);

    constexpr Pixel tint_texel = {153, 0, 102, 0};
    glActiveTexture(GL_TEXTURE3);
    glGenTextures(1, &tint);
    glBindTexture(GL_TEXTURE_2D, tint);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 1, 1, 0, GL_RGBA, GL_UNSIGNED_BYTE, tint_texel.data());
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);

    glViewport(0, 0, size, size);
    glScissor(8, 8, 48, 48);
    glEnable(GL_SCISSOR_TEST);
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_FALSE);
    glClearColor(51 / 255.F, 102 / 255.F, 0, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 7);
    return target;
}

// One frame: black, then the clear colour in the scissor box, then the tinted rectangles in the middle.
void draw_and_check(GLuint target, const std::string& when) {
    glClearTexImage(target, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    glClear(GL_COLOR_BUFFER_BIT);
    glDrawArrays(GL_TRIANGLES, 0, 12);
    std::vector<Pixel> image(size * size);
    glReadPixels(0, 0, size, size, GL_RGBA, GL_UNSIGNED_BYTE, image.data());
    require_no_error("while drawing " + when);
    const auto inside = [](int i, int margin) { return margin <= i && i < size - margin; };
    for (int y = 0; y < size; ++y) {
        for (int x = 0; x < size; ++x) {
            Pixel expected = {0, 0, 0, 0};
            if (inside(x, 8) && inside(y, 8)) expected = {51, 102, 0, 0};
            if (inside(x, 16) && inside(y, 16)) expected[x < size / 2 ? 0 : 2] += x < size / 2 ? 153 : 102;
            require(image[static_cast<std::size_t>(y * size + x)] == expected,
                    "wrong pixel " + std::to_string(x) + ", " + std::to_string(y) + " " + when);
        }
    }
}

template <class T>
void require_same(const std::vector<T>& got, const std::vector<T>& expected, const std::string& what) {
    require(std::memcmp(got.data(), expected.data(), expected.size() * sizeof(T)) == 0, what);
}

std::vector<float> random_keys(std::size_t n) {
    std::mt19937 random(5489);
    std::vector<float> keys(n);
    for (float& key : keys) key = std::uniform_real_distribution<float>(-1000, 1000)(random);
    return keys;
}

void sort_memory(quadmill::Sorter& sorter) {
    auto keys = random_keys(10'000);
    auto expected = keys;
    std::ranges::sort(expected);
    require(sorter.sort(keys).passes > 0, "the sort of memory drew nothing");
    require_same(keys, expected, "memory is not sorted");
}

void sort_own_texture(quadmill::Sorter& sorter) {
    constexpr int width = 37, height = 29;
    constexpr std::size_t texels = width * height;
    const auto input = random_keys(4 * texels);
    std::vector<float> expected(input.size());
    for (std::size_t channel = 0; channel < 4; ++channel) {
        std::vector<float> array(texels);
        for (std::size_t i = 0; i < texels; ++i) array[i] = input[4 * i + channel];
        std::ranges::sort(array);
        for (std::size_t i = 0; i < texels; ++i) expected[4 * i + channel] = array[i];
    }

    std::array<GLuint, 2> textures{};
    glCreateTextures(GL_TEXTURE_2D, 2, textures.data());
    for (const GLuint texture : textures) glTextureStorage2D(texture, 1, GL_RGBA32F, width, height);
    GLint row_length = 0;
    glGetIntegerv(GL_UNPACK_ROW_LENGTH, &row_length);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTextureSubImage2D(textures[0], 0, 0, 0, width, height, GL_RGBA, GL_FLOAT, input.data());
    glPixelStorei(GL_UNPACK_ROW_LENGTH, row_length);

    require(sorter.sort_texture(textures[0], textures[1]).passes > 0, "the sort of a texture drew nothing");
    const auto read = [&](GLuint texture) {
        std::vector<float> data(input.size());
        const auto bytes = static_cast<GLsizei>(data.size() * sizeof(float));
        glGetTextureImage(texture, 0, GL_RGBA, GL_FLOAT, bytes, data.data());
        return data;
    };
    require_same(read(textures[0]), input, "the input texture was changed");
    require_same(read(textures[1]), expected, "the output texture is not sorted");
    glDeleteTextures(2, textures.data());
}

}  // namespace

int main() {
    try {
        require(open_any_context(), "the program can open no OpenGL 4.5 context");
        require(gladLoadGL(eglGetProcAddress), "the program's glad loads no OpenGL");
        const GLuint target = set_up();
        draw_and_check(target, "before the library");
        {
            quadmill::Sorter guest(quadmill::Context::adopt(eglGetProcAddress), {.engine = quadmill::Engine::Pbsn});
            sort_own_texture(guest);
            require_no_error("after sort_texture");
            draw_and_check(target, "after sort_texture");
            sort_memory(guest);
            require_no_error("after sort");
            draw_and_check(target, "after sort");
        }
        draw_and_check(target, "after the library's end");
        {
            // A context of the library, in addition to the program's.
            quadmill::Sorter other(quadmill::Context::headless(), {.engine = quadmill::Engine::Pbsn});
            sort_memory(other);
        }
        draw_and_check(target, "after a headless sort");
        std::printf("both draw on %s\n", reinterpret_cast<const char*>(glGetString(GL_RENDERER)));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "own_glad: %s\n", error.what());
        return 1;
    }
}
