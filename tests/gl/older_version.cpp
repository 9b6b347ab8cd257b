#include "gl/older_version.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "gl/uploads.hpp"

namespace quadmill::test {

namespace {

using detail::gl::Api;
constexpr int never = detail::gl::Features::never;

Api below;  // the context's own functions
bool is_es = false;

struct Made {
    GLenum target, internal;
    GLsizei width, height;
};
std::map<GLuint, Made> textures;

GLint get(GLenum name) {
    GLint value = 0;
    below.GetIntegerv(name, &value);
    return value;
}

// Binds an object for its own life.
class Bound {
  public:
    using Bind = void(GLAD_API_PTR*)(GLenum target, GLuint id);
    Bound(Bind bind, GLenum target, GLenum name, GLuint id)
        : bind_(bind), target_(target), before_(static_cast<GLuint>(get(name))) {
        bind_(target_, id);
    }
    Bound(const Bound&) = delete;
    Bound& operator=(const Bound&) = delete;
    ~Bound() { bind_(target_, before_); }

  private:
    Bind bind_;
    GLenum target_;
    GLuint before_;
};

class BoundArray {
  public:
    explicit BoundArray(GLuint id) : before_(static_cast<GLuint>(get(GL_VERTEX_ARRAY_BINDING))) {
        below.BindVertexArray(id);
    }
    BoundArray(const BoundArray&) = delete;
    BoundArray& operator=(const BoundArray&) = delete;
    ~BoundArray() { below.BindVertexArray(before_); }

  private:
    GLuint before_;
};

GLenum binding_of(GLenum target) {
    constexpr std::array<std::pair<GLenum, GLenum>, 11> names{
        {{GL_TEXTURE_1D, GL_TEXTURE_BINDING_1D},
         {GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D},
         {GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D},
         {GL_TEXTURE_1D_ARRAY, GL_TEXTURE_BINDING_1D_ARRAY},
         {GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY},
         {GL_TEXTURE_RECTANGLE, GL_TEXTURE_BINDING_RECTANGLE},
         {GL_TEXTURE_BUFFER, GL_TEXTURE_BINDING_BUFFER},
         {GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP},
         {GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY},
         {GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BINDING_2D_MULTISAMPLE},
         {GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY}}};
    for (const auto& [of, name] : names) {
        if (of == target) return name;
    }
    FAIL("no binding of target ", target);
    return 0;
}

Bound bound_texture(GLuint id) {
    const auto known = textures.find(id);
    const auto target = known == textures.end() ? GLenum{GL_TEXTURE_2D} : known->second.target;
    return {below.BindTexture, target, binding_of(target), id};
}
GLenum target_of(GLuint id) {
    const auto known = textures.find(id);
    return known == textures.end() ? GLenum{GL_TEXTURE_2D} : known->second.target;
}
Bound bound_buffer(GLuint id) {
    return {below.BindBuffer, GL_ARRAY_BUFFER, GL_ARRAY_BUFFER_BINDING, id};
}
Bound bound_framebuffer(GLenum target, GLuint id) {
    return {below.BindFramebuffer, target,
            target == GL_READ_FRAMEBUFFER ? GLenum{GL_READ_FRAMEBUFFER_BINDING} : GLenum{GL_DRAW_FRAMEBUFFER_BINDING},
            id};
}
Bound without_upload() {
    return {below.BindBuffer, GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING, 0};
}

std::pair<GLenum, GLenum> pixels_of(GLenum internal) {
    switch (internal) {
        case GL_R32F:
            return {GL_RED, GL_FLOAT};
        case GL_R32UI:
            return {GL_RED_INTEGER, GL_UNSIGNED_INT};
        case GL_RGBA32F:
            return {GL_RGBA, GL_FLOAT};
        default:
            break;
    }
    const auto* const known = std::ranges::find(uploaded_formats, internal, &Uploaded::internal);
    if (known != uploaded_formats.end()) return {known->format, known->type};
    return {GL_RGBA, GL_UNSIGNED_BYTE};
}

void create_textures(GLenum target, GLsizei count, GLuint* ids) {
    below.GenTextures(count, ids);
    for (GLsizei i = 0; i < count; ++i) {
        textures[ids[i]] = {target, 0, 0, 0};
        const auto bound = bound_texture(ids[i]);
    }
}

// Every other texture is immutable, if the version can make one.
void store(GLuint id, GLsizei levels, GLenum internal, GLsizei width, GLsizei height, GLsizei depth) {
    auto& made = textures[id];
    made = {made.target, internal, width, height};
    const auto target = made.target;
    const auto bound = bound_texture(id);
    const auto no_upload = without_upload();
    const auto [format, type] = pixels_of(internal);
    const bool is_deep =
        target == GL_TEXTURE_3D || target == GL_TEXTURE_2D_ARRAY || target == GL_TEXTURE_CUBE_MAP_ARRAY;
    if (below.TexStorage2D && id % 2 == 0 && target != GL_TEXTURE_1D) {
        if (is_deep) return below.TexStorage3D(target, levels, internal, width, height, depth);
        return below.TexStorage2D(target, levels, internal, width, height);
    }
    const auto as_int = static_cast<GLint>(internal);
    for (GLint level = 0; level < levels; ++level) {
        const auto w = std::max(width >> level, 1), h = std::max(height >> level, 1);
        if (target == GL_TEXTURE_1D) {
            below.TexImage1D(target, level, as_int, w, 0, format, type, nullptr);
        } else if (is_deep) {
            below.TexImage3D(target, level, as_int, w, h, depth, 0, format, type, nullptr);
        } else if (target == GL_TEXTURE_CUBE_MAP) {
            for (GLenum face = 0; face < 6; ++face)
                below.TexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, level, as_int, w, h, 0, format, type, nullptr);
        } else {
            below.TexImage2D(target, level, as_int, w, target == GL_TEXTURE_1D_ARRAY ? height : h, 0, format, type,
                             nullptr);
        }
    }
    if (target != GL_TEXTURE_RECTANGLE) below.TexParameteri(target, GL_TEXTURE_MAX_LEVEL, levels - 1);
}

void read_image(GLuint id, GLint level, GLenum format, GLenum type, GLsizei bytes, void* to) {
    if (!is_es) {
        const auto bound = bound_texture(id);
        return below.GetTexImage(target_of(id), level, format, type, to);
    }
    const auto& made = textures.at(id);
    GLuint framebuffer = 0;
    below.GenFramebuffers(1, &framebuffer);
    {
        const auto bound = bound_framebuffer(GL_READ_FRAMEBUFFER, framebuffer);
        below.FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, id, level);
        // OpenGL ES promises to read four channels of 32 bits.
        const auto texels = static_cast<std::size_t>(made.width) * static_cast<std::size_t>(made.height);
        std::vector<std::array<std::uint32_t, 4>> four(texels);
        below.ReadPixels(0, 0, made.width, made.height, type == GL_FLOAT ? GL_RGBA : GL_RGBA_INTEGER, type,
                         four.data());
        const std::size_t kept = format == GL_RGBA ? 4 : 1;
        REQUIRE(static_cast<std::size_t>(bytes) == texels * kept * sizeof(std::uint32_t));
        for (std::size_t i = 0; i < texels; ++i)
            std::memcpy(static_cast<std::uint32_t*>(to) + i * kept, four[i].data(), kept * sizeof(std::uint32_t));
    }
    below.DeleteFramebuffers(1, &framebuffer);
}

void replace_textures(Api& gl) {
    gl.CreateTextures = create_textures;
    gl.TextureStorage1D = [](GLuint id, GLsizei levels, GLenum internal, GLsizei width) {
        store(id, levels, internal, width, 1, 1);
    };
    gl.TextureStorage2D = [](GLuint id, GLsizei levels, GLenum internal, GLsizei width, GLsizei height) {
        store(id, levels, internal, width, height, 1);
    };
    gl.TextureStorage3D = store;
    gl.TextureStorage2DMultisample = [](GLuint id, GLsizei samples, GLenum internal, GLsizei width, GLsizei height,
                                        GLboolean fixed) {
        const auto bound = bound_texture(id);
        below.TexImage2DMultisample(target_of(id), samples, internal, width, height, fixed);
    };
    gl.TextureStorage3DMultisample = [](GLuint id, GLsizei samples, GLenum internal, GLsizei width, GLsizei height,
                                        GLsizei depth, GLboolean fixed) {
        const auto bound = bound_texture(id);
        below.TexImage3DMultisample(target_of(id), samples, internal, width, height, depth, fixed);
    };
    gl.TextureBuffer = [](GLuint id, GLenum internal, GLuint buffer) {
        const auto bound = bound_texture(id);
        below.TexBuffer(GL_TEXTURE_BUFFER, internal, buffer);
    };
    gl.TextureSubImage2D = [](GLuint id, GLint level, GLint x, GLint y, GLsizei width, GLsizei height, GLenum format,
                              GLenum type, const void* from) {
        const auto bound = bound_texture(id);
        below.TexSubImage2D(target_of(id), level, x, y, width, height, format, type, from);
    };
    gl.TextureParameteri = [](GLuint id, GLenum name, GLint value) {
        const auto bound = bound_texture(id);
        below.TexParameteri(target_of(id), name, value);
    };
    gl.TextureParameterf = [](GLuint id, GLenum name, GLfloat value) {
        const auto bound = bound_texture(id);
        below.TexParameterf(target_of(id), name, value);
    };
    gl.TextureParameterfv = [](GLuint id, GLenum name, const GLfloat* values) {
        const auto bound = bound_texture(id);
        below.TexParameterfv(target_of(id), name, values);
    };
    gl.TextureParameteriv = [](GLuint id, GLenum name, const GLint* values) {
        const auto bound = bound_texture(id);
        // OpenGL ES knows only the single channels.
        if (name != GL_TEXTURE_SWIZZLE_RGBA) return below.TexParameteriv(target_of(id), name, values);
        for (GLenum channel = 0; channel < 4; ++channel)
            below.TexParameteri(target_of(id), GL_TEXTURE_SWIZZLE_R + channel, values[channel]);
    };
    gl.GetTextureParameteriv = [](GLuint id, GLenum name, GLint* values) {
        const auto bound = bound_texture(id);
        if (name != GL_TEXTURE_SWIZZLE_RGBA) return below.GetTexParameteriv(target_of(id), name, values);
        for (GLenum channel = 0; channel < 4; ++channel)
            below.GetTexParameteriv(target_of(id), GL_TEXTURE_SWIZZLE_R + channel, values + channel);
    };
    gl.GetTextureImage = read_image;
    gl.ClearTexImage = [](GLuint id, GLint level, GLenum format, GLenum type, const void* texel) {
        REQUIRE((format == GL_RGBA && type == GL_FLOAT));
        const auto& made = textures.at(id);
        std::vector<std::array<GLfloat, 4>> texels(static_cast<std::size_t>(made.width) *
                                                   static_cast<std::size_t>(made.height));
        for (auto& one : texels) std::memcpy(one.data(), texel, sizeof one);
        const auto bound = bound_texture(id);
        below.TexSubImage2D(made.target, level, 0, 0, made.width, made.height, format, type, texels.data());
    };
}

void replace_buffers(Api& gl) {
    gl.CreateBuffers = [](GLsizei count, GLuint* ids) {
        below.GenBuffers(count, ids);
        for (GLsizei i = 0; i < count; ++i) const auto bound = bound_buffer(ids[i]);
    };
    gl.NamedBufferStorage = [](GLuint id, GLsizeiptr size, const void* from, GLbitfield /*flags*/) {
        const auto bound = bound_buffer(id);
        below.BufferData(GL_ARRAY_BUFFER, size, from, GL_DYNAMIC_COPY);
    };
    gl.NamedBufferData = [](GLuint id, GLsizeiptr size, const void* from, GLenum usage) {
        const auto bound = bound_buffer(id);
        below.BufferData(GL_ARRAY_BUFFER, size, from, usage);
    };
    gl.GetNamedBufferSubData = [](GLuint id, GLintptr offset, GLsizeiptr size, void* to) {
        const auto bound = bound_buffer(id);
        const void* const from = below.MapBufferRange(GL_ARRAY_BUFFER, offset, size, GL_MAP_READ_BIT);
        REQUIRE(from != nullptr);
        std::memcpy(to, from, static_cast<std::size_t>(size));
        below.UnmapBuffer(GL_ARRAY_BUFFER);
    };
    gl.CreateQueries = [](GLenum /*target*/, GLsizei count, GLuint* ids) { below.GenQueries(count, ids); };
    gl.CreateSamplers = [](GLsizei count, GLuint* ids) { below.GenSamplers(count, ids); };
    gl.CreateTransformFeedbacks = [](GLsizei count, GLuint* ids) {
        below.GenTransformFeedbacks(count, ids);
        for (GLsizei i = 0; i < count; ++i)
            const Bound bound(below.BindTransformFeedback, GL_TRANSFORM_FEEDBACK, GL_TRANSFORM_FEEDBACK_BINDING,
                              ids[i]);
    };
    gl.CreateProgramPipelines = [](GLsizei count, GLuint* ids) { below.GenProgramPipelines(count, ids); };
    gl.CreateVertexArrays = [](GLsizei count, GLuint* ids) {
        below.GenVertexArrays(count, ids);
        for (GLsizei i = 0; i < count; ++i) const BoundArray bound(ids[i]);
    };
    gl.VertexArrayElementBuffer = [](GLuint id, GLuint buffer) {
        const BoundArray bound(id);
        below.BindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffer);
    };
    gl.EnableVertexArrayAttrib = [](GLuint id, GLuint attribute) {
        const BoundArray bound(id);
        below.EnableVertexAttribArray(attribute);
    };
    // Only for stream 0.
    if (!gl.BeginQueryIndexed) {
        gl.BeginQueryIndexed = [](GLenum target, GLuint /*stream*/, GLuint id) { below.BeginQuery(target, id); };
        gl.EndQueryIndexed = [](GLenum target, GLuint /*stream*/) { below.EndQuery(target); };
        gl.GetQueryIndexediv = [](GLenum target, GLuint /*stream*/, GLenum name, GLint* value) {
            below.GetQueryiv(target, name, value);
        };
    }
}

void replace_framebuffers(Api& gl) {
    gl.CreateFramebuffers = [](GLsizei count, GLuint* ids) {
        below.GenFramebuffers(count, ids);
        for (GLsizei i = 0; i < count; ++i) const auto bound = bound_framebuffer(GL_DRAW_FRAMEBUFFER, ids[i]);
    };
    gl.NamedFramebufferTexture = [](GLuint id, GLenum point, GLuint texture, GLint level) {
        const auto bound = bound_framebuffer(GL_DRAW_FRAMEBUFFER, id);
        below.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, point, GL_TEXTURE_2D, texture, level);
    };
    gl.NamedFramebufferDrawBuffers = [](GLuint id, GLsizei count, const GLenum* names) {
        const auto bound = bound_framebuffer(GL_DRAW_FRAMEBUFFER, id);
        if (!is_es) return below.DrawBuffers(count, names);
        // OpenGL ES has buffer i or none at place i.
        std::vector<GLenum> places(static_cast<std::size_t>(count), GL_NONE);
        for (GLsizei i = 0; i < count; ++i) {
            if (names[i] != GL_NONE) places.at(names[i] - GL_COLOR_ATTACHMENT0) = names[i];
        }
        below.DrawBuffers(count, places.data());
    };
    gl.NamedFramebufferReadBuffer = [](GLuint id, GLenum name) {
        const auto bound = bound_framebuffer(GL_READ_FRAMEBUFFER, id);
        below.ReadBuffer(name);
    };
    gl.NamedFramebufferParameteri = [](GLuint id, GLenum name, GLint value) {
        const auto bound = bound_framebuffer(GL_DRAW_FRAMEBUFFER, id);
        if (below.FramebufferParameteri) below.FramebufferParameteri(GL_DRAW_FRAMEBUFFER, name, value);
    };
    gl.CreateRenderbuffers = [](GLsizei count, GLuint* ids) {
        below.GenRenderbuffers(count, ids);
        for (GLsizei i = 0; i < count; ++i)
            const Bound bound(below.BindRenderbuffer, GL_RENDERBUFFER, GL_RENDERBUFFER_BINDING, ids[i]);
    };
    gl.NamedRenderbufferStorage = [](GLuint id, GLenum internal, GLsizei width, GLsizei height) {
        const Bound bound(below.BindRenderbuffer, GL_RENDERBUFFER, GL_RENDERBUFFER_BINDING, id);
        below.RenderbufferStorage(GL_RENDERBUFFER, internal, width, height);
    };
    gl.NamedFramebufferRenderbuffer = [](GLuint id, GLenum point, GLenum target, GLuint renderbuffer) {
        const auto bound = bound_framebuffer(GL_DRAW_FRAMEBUFFER, id);
        below.FramebufferRenderbuffer(GL_DRAW_FRAMEBUFFER, point, target, renderbuffer);
    };
}

}  // namespace

detail::gl::Features version_of(const Api& gl) {
    detail::gl::Features found;
    const auto* const text = reinterpret_cast<const char*>(gl.GetString(GL_VERSION));
    found.is_es = text && std::string_view(text).starts_with("OpenGL ES");
    GLint major = 0, minor = 0;
    gl.GetIntegerv(GL_MAJOR_VERSION, &major);
    gl.GetIntegerv(GL_MINOR_VERSION, &minor);
    found.version = 10 * major + minor;
    return found;
}

void complete_older(Api& gl, void (*(*load)(const char* name))()) {
    const auto version = version_of(gl);
    if (version.has(45, never)) return;
    const auto add = [&](auto& function, const char* name, int desktop, int es) {
        if (!function && version.has(desktop, es)) function = reinterpret_cast<decltype(+function)>(load(name));
    };
#define QUADMILL_ADD(name, desktop, es) add(gl.name, "gl" #name, desktop, es)
    QUADMILL_ADD(ActiveShaderProgram, 41, 31);
    QUADMILL_ADD(BindImageTexture, 42, 31);
    QUADMILL_ADD(BindProgramPipeline, 41, 31);
    QUADMILL_ADD(BindSampler, 33, 30);
    QUADMILL_ADD(BindTransformFeedback, 40, 30);
    QUADMILL_ADD(BlendEquationSeparatei, 40, 32);
    QUADMILL_ADD(BlendEquationi, 40, 32);
    QUADMILL_ADD(BlendFuncSeparatei, 40, 32);
    QUADMILL_ADD(ClearDepthf, 41, 30);
    QUADMILL_ADD(DebugMessageCallback, 43, 32);
    QUADMILL_ADD(DebugMessageControl, 43, 32);
    QUADMILL_ADD(DebugMessageInsert, 43, 32);
    QUADMILL_ADD(DeleteProgramPipelines, 41, 31);
    QUADMILL_ADD(DeleteSamplers, 33, 30);
    QUADMILL_ADD(DeleteTransformFeedbacks, 40, 30);
    QUADMILL_ADD(DepthRangef, 41, 30);
    QUADMILL_ADD(FramebufferParameteri, 43, 31);
    QUADMILL_ADD(GenProgramPipelines, 41, 31);
    QUADMILL_ADD(GenSamplers, 33, 30);
    QUADMILL_ADD(GenTransformFeedbacks, 40, 30);
    QUADMILL_ADD(GetFramebufferParameteriv, 43, 31);
    QUADMILL_ADD(GetInteger64i_v, 32, 30);
    QUADMILL_ADD(GetInteger64v, 32, 30);
    QUADMILL_ADD(GetProgramInterfaceiv, 43, 31);
    QUADMILL_ADD(GetProgramPipelineiv, 41, 31);
    QUADMILL_ADD(GetSamplerParameteriv, 33, 30);
    QUADMILL_ADD(IsProgramPipeline, 41, 31);
    QUADMILL_ADD(IsSampler, 33, 30);
    QUADMILL_ADD(IsTransformFeedback, 40, 30);
    QUADMILL_ADD(MinSampleShading, 40, 32);
    QUADMILL_ADD(PatchParameteri, 40, 32);
    QUADMILL_ADD(PauseTransformFeedback, 40, 30);
    QUADMILL_ADD(PopDebugGroup, 43, 32);
    QUADMILL_ADD(PushDebugGroup, 43, 32);
    QUADMILL_ADD(ResumeTransformFeedback, 40, 30);
    QUADMILL_ADD(SamplerParameteri, 33, 30);
    QUADMILL_ADD(UseProgramStages, 41, 31);
    // Extensions, with which desktop versions below 4.2 and 4.1 make these.
    QUADMILL_ADD(ProgramParameteri, 33, 30);
    QUADMILL_ADD(TexStorage2D, 33, 30);
    QUADMILL_ADD(TexStorage3D, 33, 30);
    QUADMILL_ADD(VertexAttribDivisor, 33, 30);
#undef QUADMILL_ADD
    GLint origin = 0;
    gl.GetIntegerv(GL_CLIP_ORIGIN, &origin);
    if (gl.GetError() == GL_NO_ERROR) add(gl.ClipControl, version.is_es ? "glClipControlEXT" : "glClipControl", 0, 0);
    if (version.is_es) {
        gl.PolygonMode = nullptr;
        std::array<GLint, 2> modes{};
        gl.GetIntegerv(GL_POLYGON_MODE, modes.data());
        if (gl.GetError() == GL_NO_ERROR) add(gl.PolygonMode, "glPolygonModeNV", 0, 0);
    }
    below = gl;
    is_es = version.is_es;
    textures.clear();
    replace_textures(gl);
    replace_buffers(gl);
    replace_framebuffers(gl);
}

}  // namespace quadmill::test
