#include "gl/state_poison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <exception>

#include "gl/older_version.hpp"

namespace quadmill::test {

namespace {

constexpr const char* feedback_vertex = R"(
in vec4 position;
out gl_PerVertex { vec4 gl_Position; float gl_PointSize; };
out vec4 captured;
subroutine vec4 Moved();
subroutine(Moved) vec4 by_one() { return position + 1.0; }
subroutine(Moved) vec4 by_two() { return position + 2.0; }
subroutine uniform Moved moved;
void main() {
    gl_Position = position;
    gl_PointSize = 3.0;
    captured = moved();
})";
// For versions below 4.3, whose subroutines are not restored.
constexpr const char* plain_vertex = R"(
in vec4 position;
out vec4 captured;
void main() {
    gl_Position = position;
    captured = position + 1.0;
})";
constexpr const char* plain_fragment = R"(
out vec4 value;
void main() { value = gl_FragCoord; })";
constexpr const char* fragment = R"(
subroutine vec4 Shade();
subroutine(Shade) vec4 dark() { return vec4(0.25); }
subroutine(Shade) vec4 bright() { return vec4(0.75); }
subroutine(Shade) vec4 sloped() { return gl_FragCoord; }
subroutine uniform Shade one;
subroutine uniform Shade more[2];
out vec4 value;
void main() { value = one() + more[0]() * more[1](); })";

constexpr int never = detail::gl::Features::never;

// 0 if the version does not know the name.
GLint get(const Api& gl, GLenum name) {
    GLint value = 0;
    gl.GetIntegerv(name, &value);
    if (gl.GetError() != GL_NO_ERROR) value = 0;
    return value;
}

struct Since {
    GLenum name;
    int desktop, es;
};

GLuint limit(const Api& gl, GLenum name) {
    return static_cast<GLuint>(get(gl, name));
}

void GLAD_API_PTR ignore_message(GLenum, GLenum, GLuint, GLenum, GLsizei, const GLchar*, const void*) {}

}  // namespace

Poison::Poison(const Api& gl, std::uint64_t seed) : gl_(gl), version_(version_of(gl)), random_(seed) {
    vertices();
    rasterization();
    pixels();
    transfers();
    textures();
    if (version_.has(42, 31)) images();
    buffers();
    framebuffers();
    programs();
    capabilities();
    extensions();
    if (version_.has(43, 32)) debug();
    if (get(gl, GL_CONTEXT_PROFILE_MASK) == GL_CONTEXT_COMPATIBILITY_PROFILE_BIT) old_state();
    begin_queries();
    begin_feedback();  // last, since little may change while it is active
    const auto errors = take_errors(gl);
    REQUIRE_MESSAGE(errors.empty(), "the poison is not legal: errors", error_names(errors));
}

void Poison::clear() {
    if (std::uncaught_exceptions() != 0) take_errors(gl_);  // of the failed test; a throw here would hide it
    for (; !undo_.empty(); undo_.pop_back()) undo_.back()();
    for (const GLenum name : Enums{GL_PACK_SWAP_BYTES, GL_PACK_LSB_FIRST, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS,
                                   GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_IMAGES, GL_PACK_IMAGE_HEIGHT, GL_UNPACK_SWAP_BYTES,
                                   GL_UNPACK_LSB_FIRST, GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_ROWS,
                                   GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_IMAGES, GL_UNPACK_IMAGE_HEIGHT}) {
        if (has_integer(gl_, name)) gl_.PixelStorei(name, 0);
    }
    gl_.PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl_.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    if (gl_.MESA_pack_invert) gl_.PixelStorei(GL_PACK_INVERT_MESA, 0);
}

GLuint Poison::made(GLuint id, void (*destroy)(const Api&, GLuint)) {
    undo_.emplace_back([this, id, destroy] { destroy(gl_, id); });
    return id;
}

GLuint Poison::buffer() {
    GLuint id = 0;
    gl_.CreateBuffers(1, &id);
    constexpr GLsizeiptr size = 4096;
    if (random_.flag()) {
        gl_.NamedBufferStorage(id, size, nullptr, GL_MAP_READ_BIT | GL_MAP_WRITE_BIT);
    } else {
        gl_.NamedBufferData(id, size, nullptr, GL_DYNAMIC_COPY);
    }
    return made(id, [](const Api& gl, GLuint name) { gl.DeleteBuffers(1, &name); });
}

GLuint Poison::query(GLenum target) {
    GLuint id = 0;
    gl_.CreateQueries(target, 1, &id);
    return made(id, [](const Api& gl, GLuint name) { gl.DeleteQueries(1, &name); });
}

GLuint Poison::texture(GLenum target) {
    GLuint id = 0;
    gl_.CreateTextures(target, 1, &id);
    const GLsizei side = 4 * random_.number(1, 4), layers = 6 * random_.number(1, 2);
    switch (target) {
        case GL_TEXTURE_1D:
            gl_.TextureStorage1D(id, 2, GL_RGBA8, side);
            break;
        case GL_TEXTURE_3D:
        case GL_TEXTURE_2D_ARRAY:
        case GL_TEXTURE_CUBE_MAP_ARRAY:
            gl_.TextureStorage3D(id, 1, GL_RGBA8, side, side, layers);
            break;
        case GL_TEXTURE_BUFFER:
            gl_.TextureBuffer(id, GL_R32F, buffer());
            break;
        case GL_TEXTURE_2D_MULTISAMPLE:
            gl_.TextureStorage2DMultisample(id, 4, GL_RGBA8, side, side, GL_TRUE);
            break;
        case GL_TEXTURE_2D_MULTISAMPLE_ARRAY:
            gl_.TextureStorage3DMultisample(id, 4, GL_RGBA8, side, side, layers, GL_TRUE);
            break;
        case GL_TEXTURE_RECTANGLE:
            gl_.TextureStorage2D(id, 1, GL_RGBA32F, side, side);
            break;
        default:
            gl_.TextureStorage2D(id, 2, random_.one_of<GLenum>({GL_RGBA8, GL_RGBA32F, GL_R32UI}), side, side);
            break;
    }
    if (target == GL_TEXTURE_2D) {
        const std::array<GLint, 4> swizzle{GL_ZERO, GL_ALPHA, GL_ONE, GL_RED};
        const std::array<GLfloat, 4> border{random_.real(0, 1), random_.real(0, 1), random_.real(0, 1), 1};
        gl_.TextureParameteriv(id, GL_TEXTURE_SWIZZLE_RGBA, swizzle.data());
        if (version_.has(13, 32)) gl_.TextureParameterfv(id, GL_TEXTURE_BORDER_COLOR, border.data());
        gl_.TextureParameteri(id, GL_TEXTURE_BASE_LEVEL, random_.number(0, 1));
        gl_.TextureParameteri(id, GL_TEXTURE_WRAP_S, random_.one_of({border_or_edge(), GL_MIRRORED_REPEAT}));
        gl_.TextureParameteri(id, GL_TEXTURE_COMPARE_MODE, random_.one_of({GL_NONE, GL_COMPARE_REF_TO_TEXTURE}));
        if (version_.has(14, never)) gl_.TextureParameterf(id, GL_TEXTURE_LOD_BIAS, random_.real(-2, 2));
    }
    return made(id, [](const Api& gl, GLuint name) { gl.DeleteTextures(1, &name); });
}

GLuint Poison::color_texture() {
    GLuint id = 0;
    gl_.CreateTextures(GL_TEXTURE_2D, 1, &id);
    gl_.TextureStorage2D(id, 1, random_.one_of<GLenum>({GL_RGBA8, GL_SRGB8_ALPHA8, GL_RGBA32F, GL_RGBA16I}), 16, 16);
    return made(id, [](const Api& gl, GLuint name) { gl.DeleteTextures(1, &name); });
}

// Complete with many attachments, complete with a few, or incomplete because it has none.
GLuint Poison::framebuffer() {
    GLuint id = 0;
    gl_.CreateFramebuffers(1, &id);
    made(id, [](const Api& gl, GLuint name) { gl.DeleteFramebuffers(1, &name); });
    const int attachments = random_.one_of({0, 1, 3, 8});
    std::array<GLenum, 8> draw{};
    for (int i = 0; i < attachments; ++i) {
        const auto point = static_cast<GLenum>(GL_COLOR_ATTACHMENT0 + i);
        gl_.NamedFramebufferTexture(id, point, color_texture(), 0);
        draw[static_cast<std::size_t>(i)] = random_.flag() ? point : GLenum{GL_NONE};
    }
    // In any order, with each attachment once.
    for (std::size_t i = draw.size() - 1; i > 0; --i)
        std::swap(draw[i], draw[random_.index(static_cast<GLuint>(i + 1))]);
    gl_.NamedFramebufferDrawBuffers(id, static_cast<GLsizei>(draw.size()), draw.data());
    if (attachments > 0) {
        gl_.NamedFramebufferReadBuffer(id,
                                       static_cast<GLenum>(GL_COLOR_ATTACHMENT0 + random_.number(0, attachments - 1)));
    } else {
        gl_.NamedFramebufferReadBuffer(id, GL_NONE);
    }
    if (random_.flag()) {
        GLuint depth = 0;
        gl_.CreateRenderbuffers(1, &depth);
        made(depth, [](const Api& gl, GLuint name) { gl.DeleteRenderbuffers(1, &name); });
        gl_.NamedRenderbufferStorage(depth, GL_DEPTH24_STENCIL8, 16, 16);
        gl_.NamedFramebufferRenderbuffer(id, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, depth);
    }
    for (const GLenum what : Enums{GL_FRAMEBUFFER_DEFAULT_WIDTH, GL_FRAMEBUFFER_DEFAULT_HEIGHT,
                                   GL_FRAMEBUFFER_DEFAULT_LAYERS, GL_FRAMEBUFFER_DEFAULT_SAMPLES}) {
        if (attachments > 0) gl_.NamedFramebufferParameteri(id, what, random_.number(0, 4));
    }
    gl_.NamedFramebufferParameteri(id, GL_FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS, random_.number(0, 1));
    return id;
}

void Poison::capabilities() {
    const auto set = [this](GLenum capability) {
        if (has_capability(gl_, capability)) random_.flag() ? gl_.Enable(capability) : gl_.Disable(capability);
    };
    for (const GLenum capability : Enums{GL_COLOR_LOGIC_OP,
                                         GL_CULL_FACE,
                                         GL_DEPTH_CLAMP,
                                         GL_DEPTH_TEST,
                                         GL_DITHER,
                                         GL_FRAMEBUFFER_SRGB,
                                         GL_LINE_SMOOTH,
                                         GL_MULTISAMPLE,
                                         GL_POLYGON_OFFSET_FILL,
                                         GL_POLYGON_OFFSET_LINE,
                                         GL_POLYGON_OFFSET_POINT,
                                         GL_POLYGON_SMOOTH,
                                         GL_PRIMITIVE_RESTART,
                                         GL_PRIMITIVE_RESTART_FIXED_INDEX,
                                         GL_PROGRAM_POINT_SIZE,
                                         GL_RASTERIZER_DISCARD,
                                         GL_SAMPLE_ALPHA_TO_COVERAGE,
                                         GL_SAMPLE_ALPHA_TO_ONE,
                                         GL_SAMPLE_COVERAGE,
                                         GL_SAMPLE_MASK,
                                         GL_SAMPLE_SHADING,
                                         GL_STENCIL_TEST,
                                         GL_TEXTURE_CUBE_MAP_SEAMLESS}) {
        set(capability);
    }
    for (GLuint i = 0; i < limit(gl_, GL_MAX_CLIP_DISTANCES); ++i) set(GL_CLIP_DISTANCE0 + i);
    const auto set_indexed = [this](GLenum capability, GLuint i) {
        random_.flag() ? gl_.Enablei(capability, i) : gl_.Disablei(capability, i);
    };
    if (!version_.has(30, 32)) set(GL_BLEND);
    for (GLuint i = 0; version_.has(30, 32) && i < limit(gl_, GL_MAX_DRAW_BUFFERS); ++i) set_indexed(GL_BLEND, i);
    if (!version_.has(41, never)) set(GL_SCISSOR_TEST);
    for (GLuint i = 0; version_.has(41, never) && i < limit(gl_, GL_MAX_VIEWPORTS); ++i)
        set_indexed(GL_SCISSOR_TEST, i);
}

void Poison::vertices() {
    const GLuint attributes = limit(gl_, GL_MAX_VERTEX_ATTRIBS);
    for (GLuint i = 0; i < attributes; ++i) {
        gl_.VertexAttrib4f(i, random_.real(-9, 9), random_.real(-9, 9), random_.real(-9, 9), random_.real(-9, 9));
    }
    if (version_.has(31, never)) gl_.PrimitiveRestartIndex(static_cast<GLuint>(random_.number(0, 4)));
    if (version_.has(40, 32))
        gl_.PatchParameteri(GL_PATCH_VERTICES, random_.number(1, get(gl_, GL_MAX_PATCH_VERTICES)));
    const std::array<GLfloat, 4> levels{random_.real(1, 8), random_.real(1, 8), random_.real(1, 8), random_.real(1, 8)};
    if (version_.has(40, never)) {
        gl_.PatchParameterfv(GL_PATCH_DEFAULT_OUTER_LEVEL, levels.data());
        gl_.PatchParameterfv(GL_PATCH_DEFAULT_INNER_LEVEL, levels.data());
    }
    version_.has(45, never) ? vertex_array() : old_vertex_array();
}

void Poison::old_vertex_array() {
    GLuint array = 0;
    gl_.CreateVertexArrays(1, &array);
    made(array, [](const Api& gl, GLuint name) { gl.DeleteVertexArrays(1, &name); });
    if (random_.flag()) gl_.VertexArrayElementBuffer(array, buffer());
    gl_.BindVertexArray(array);
    for (GLuint i = 0; i < limit(gl_, GL_MAX_VERTEX_ATTRIBS); ++i) {
        if (random_.flag()) gl_.EnableVertexArrayAttrib(array, i);
        gl_.VertexAttribDivisor(i, random_.index(4));
        gl_.BindBuffer(GL_ARRAY_BUFFER, buffer());
        const auto* const offset = reinterpret_cast<const void*>(random_.bits() % 64);
        if (random_.flag()) {
            gl_.VertexAttribPointer(i, random_.number(1, 4), GL_UNSIGNED_BYTE, random_.boolean(), random_.number(8, 40),
                                    offset);
        } else {
            gl_.VertexAttribIPointer(i, random_.number(1, 4), GL_SHORT, random_.number(8, 40), offset);
        }
    }
    constexpr int rarely = 6;
    gl_.BindVertexArray(random_.number(1, rarely) == 1 ? 0 : array);
}

void Poison::vertex_array() {
    const GLuint attributes = limit(gl_, GL_MAX_VERTEX_ATTRIBS);
    GLuint array = 0;
    gl_.CreateVertexArrays(1, &array);
    made(array, [](const Api& gl, GLuint name) { gl.DeleteVertexArrays(1, &name); });
    if (random_.flag()) gl_.VertexArrayElementBuffer(array, buffer());
    const GLuint bindings = limit(gl_, GL_MAX_VERTEX_ATTRIB_BINDINGS);
    for (GLuint i = 0; i < bindings; ++i) {
        if (random_.flag())
            gl_.VertexArrayVertexBuffer(array, i, buffer(), 4 * random_.number(0, 9), random_.number(1, 99));
        gl_.VertexArrayBindingDivisor(array, i, random_.index(4));
    }
    for (GLuint i = 0; i < attributes; ++i) {
        if (random_.flag()) gl_.EnableVertexArrayAttrib(array, i);
        gl_.VertexArrayAttribBinding(array, i, random_.index(bindings));
        const GLuint offset = 4 * random_.index(30);
        switch (random_.number(0, 2)) {
            case 0:
                gl_.VertexArrayAttribFormat(array, i, random_.number(1, 4), GL_UNSIGNED_BYTE, random_.boolean(),
                                            offset);
                break;
            case 1:
                gl_.VertexArrayAttribIFormat(array, i, random_.number(1, 4), GL_SHORT, offset);
                break;
            default:
                gl_.VertexArrayAttribLFormat(array, i, random_.number(1, 4), GL_DOUBLE, offset);
                break;
        }
    }
    // The old way: sets format and binding together and remembers a pointer.
    gl_.BindVertexArray(array);
    gl_.BindBuffer(GL_ARRAY_BUFFER, buffer());
    const GLuint old_way = random_.index(attributes);
    gl_.VertexAttribPointer(old_way, 2, GL_FLOAT, GL_FALSE, random_.number(8, 40),
                            reinterpret_cast<const void*>(random_.bits() % 64));
    constexpr int rarely = 6;  // without a vertex array there is little to test
    gl_.BindVertexArray(random_.number(1, rarely) == 1 ? 0 : array);
}

void Poison::viewports() {
    if (!version_.has(41, never)) {
        gl_.Viewport(random_.number(-20, 20), random_.number(-20, 20), random_.number(0, 40), random_.number(0, 40));
        gl_.Scissor(random_.number(-5, 20), random_.number(-5, 20), random_.number(0, 9), random_.number(0, 9));
        const auto near = random_.real(0, 1), far = random_.real(0, 1);
        if (version_.is_es) return gl_.DepthRangef(near, far);
        return gl_.DepthRange(near, far);
    }
    for (GLuint i = 0; i < limit(gl_, GL_MAX_VIEWPORTS); ++i) {
        gl_.ViewportIndexedf(i, random_.real(-20, 20), random_.real(-20, 20), random_.real(0, 40), random_.real(0, 40));
        gl_.DepthRangeIndexed(i, random_.real(0, 1), random_.real(0, 1));
        gl_.ScissorIndexed(i, random_.number(-5, 20), random_.number(-5, 20), random_.number(0, 9),
                           random_.number(0, 9));
    }
}

void Poison::desktop_rasterization() {
    gl_.ClampColor(GL_CLAMP_READ_COLOR, random_.one_of<GLenum>({GL_TRUE, GL_FALSE, GL_FIXED_ONLY}));
    gl_.ProvokingVertex(random_.one_of<GLenum>({GL_FIRST_VERTEX_CONVENTION, GL_LAST_VERTEX_CONVENTION}));
    gl_.PointParameteri(GL_POINT_SPRITE_COORD_ORIGIN, random_.one_of({GL_LOWER_LEFT, GL_UPPER_LEFT}));
    gl_.PointParameterf(GL_POINT_FADE_THRESHOLD_SIZE, random_.real(0, 9));
    gl_.PointSize(random_.real(1, 9));
    gl_.PolygonMode(GL_FRONT_AND_BACK, gl_.NV_fill_rectangle && random_.number(0, 3) == 0
                                           ? GLenum{GL_FILL_RECTANGLE_NV}
                                           : random_.one_of<GLenum>({GL_POINT, GL_LINE, GL_FILL}));
}

void Poison::rasterization() {
    viewports();
    if (gl_.EXT_depth_bounds_test && !version_.is_es) {
        const double low = random_.real(0, 1);
        gl_.DepthBoundsEXT(low, random_.real(static_cast<float>(low), 1));
        (random_.flag() ? gl_.Enable : gl_.Disable)(GL_DEPTH_BOUNDS_TEST_EXT);
    }
    if (gl_.ClipControl) {
        gl_.ClipControl(random_.one_of<GLenum>({GL_LOWER_LEFT, GL_UPPER_LEFT}),
                        random_.one_of<GLenum>({GL_NEGATIVE_ONE_TO_ONE, GL_ZERO_TO_ONE}));
    }
    if (!version_.is_es) desktop_rasterization();
    if (version_.is_es && gl_.PolygonMode)
        gl_.PolygonMode(GL_FRONT_AND_BACK, random_.one_of<GLenum>({GL_POINT, GL_LINE, GL_FILL}));
    std::array<GLfloat, 2> widths{};
    gl_.GetFloatv(GL_ALIASED_LINE_WIDTH_RANGE, widths.data());
    gl_.LineWidth(random_.real(1, std::min(widths[1], 8.0F)));
    gl_.FrontFace(random_.one_of<GLenum>({GL_CW, GL_CCW}));
    gl_.CullFace(random_.one_of<GLenum>({GL_FRONT, GL_BACK, GL_FRONT_AND_BACK}));
    gl_.PolygonOffset(random_.real(-9, 9), random_.real(-9, 9));
    gl_.SampleCoverage(random_.real(0, 1), random_.boolean());
    if (version_.has(40, 32)) gl_.MinSampleShading(random_.real(0, 1));
    for (GLuint i = 0; i < limit(gl_, GL_MAX_SAMPLE_MASK_WORDS); ++i) {
        gl_.SampleMaski(i, static_cast<GLbitfield>(random_.bits()));
    }
    for (const GLenum hint : Enums{GL_LINE_SMOOTH_HINT, GL_POLYGON_SMOOTH_HINT, GL_TEXTURE_COMPRESSION_HINT,
                                   GL_FRAGMENT_SHADER_DERIVATIVE_HINT}) {
        if (has_integer(gl_, hint)) gl_.Hint(hint, random_.one_of<GLenum>({GL_FASTEST, GL_NICEST, GL_DONT_CARE}));
    }
}

void Poison::pixels() {
    const auto compare = [this] { return static_cast<GLenum>(GL_NEVER + random_.number(0, 7)); };
    const auto stencil = [this] {
        return random_.one_of<GLenum>({GL_KEEP, GL_ZERO, GL_REPLACE, GL_INCR, GL_DECR, GL_INVERT, GL_INCR_WRAP});
    };
    for (const GLenum face : Enums{GL_FRONT, GL_BACK}) {
        gl_.StencilFuncSeparate(face, compare(), random_.number(0, 255), static_cast<GLuint>(random_.bits()));
        gl_.StencilOpSeparate(face, stencil(), stencil(), stencil());
        gl_.StencilMaskSeparate(face, static_cast<GLuint>(random_.bits()));
    }
    gl_.DepthFunc(compare());
    gl_.DepthMask(random_.boolean());
    if (!version_.is_es) gl_.LogicOp(static_cast<GLenum>(GL_CLEAR + random_.number(0, 15)));
    gl_.BlendColor(random_.real(-2, 2), random_.real(-2, 2), random_.real(-2, 2), random_.real(-2, 2));
    gl_.ClearColor(random_.real(-2, 2), random_.real(-2, 2), random_.real(-2, 2), random_.real(-2, 2));
    version_.is_es ? gl_.ClearDepthf(random_.real(0, 1)) : gl_.ClearDepth(random_.real(0, 1));
    gl_.ClearStencil(random_.number(0, 255));
    blending();
}

void Poison::blending() {
    const auto factor = [this] {
        return random_.one_of<GLenum>({GL_ZERO, GL_ONE, GL_SRC_COLOR, GL_ONE_MINUS_DST_COLOR, GL_DST_ALPHA,
                                       GL_CONSTANT_COLOR, GL_ONE_MINUS_CONSTANT_ALPHA});
    };
    const auto equation = [this] {
        return random_.one_of<GLenum>({GL_FUNC_ADD, GL_FUNC_SUBTRACT, GL_FUNC_REVERSE_SUBTRACT, GL_MIN, GL_MAX});
    };
    const bool advanced = gl_.KHR_blend_equation_advanced && random_.flag();
    const auto any = [this] {
        return random_.one_of<GLenum>({GL_MULTIPLY_KHR, GL_HARDLIGHT_KHR, GL_HSL_LUMINOSITY_KHR});
    };
    if (!version_.has(40, 32)) {
        gl_.BlendFuncSeparate(factor(), factor(), factor(), factor());
        advanced ? gl_.BlendEquation(any()) : gl_.BlendEquationSeparate(equation(), equation());
    }
    if (!version_.has(30, 32))
        gl_.ColorMask(random_.boolean(), random_.boolean(), random_.boolean(), random_.boolean());
    for (GLuint i = 0; version_.has(30, 32) && i < limit(gl_, GL_MAX_DRAW_BUFFERS); ++i) {
        gl_.ColorMaski(i, random_.boolean(), random_.boolean(), random_.boolean(), random_.boolean());
        if (!version_.has(40, 32)) continue;
        gl_.BlendFuncSeparatei(i, factor(), factor(), factor(), factor());
        if (gl_.KHR_blend_equation_advanced && random_.flag()) {
            gl_.BlendEquationi(i, any());
        } else {
            gl_.BlendEquationSeparatei(i, equation(), equation());
        }
    }
}

void Poison::transfers() {
    for (const GLenum flag : Enums{GL_PACK_SWAP_BYTES, GL_PACK_LSB_FIRST, GL_UNPACK_SWAP_BYTES, GL_UNPACK_LSB_FIRST}) {
        if (has_integer(gl_, flag)) gl_.PixelStorei(flag, random_.number(0, 1));
    }
    for (const GLenum count :
         Enums{GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_IMAGES, GL_PACK_IMAGE_HEIGHT,
               GL_PACK_COMPRESSED_BLOCK_WIDTH, GL_PACK_COMPRESSED_BLOCK_HEIGHT, GL_PACK_COMPRESSED_BLOCK_DEPTH,
               GL_PACK_COMPRESSED_BLOCK_SIZE, GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS,
               GL_UNPACK_SKIP_IMAGES, GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_COMPRESSED_BLOCK_WIDTH,
               GL_UNPACK_COMPRESSED_BLOCK_HEIGHT, GL_UNPACK_COMPRESSED_BLOCK_DEPTH, GL_UNPACK_COMPRESSED_BLOCK_SIZE}) {
        if (has_integer(gl_, count)) gl_.PixelStorei(count, random_.number(0, 7));
    }
    if (gl_.MESA_pack_invert) gl_.PixelStorei(GL_PACK_INVERT_MESA, random_.number(0, 1));
    gl_.PixelStorei(GL_PACK_ALIGNMENT, random_.one_of({1, 2, 4, 8}));
    gl_.PixelStorei(GL_UNPACK_ALIGNMENT, random_.one_of({1, 2, 4, 8}));
}

void Poison::textures() {
    const GLuint units = limit(gl_, GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS);
    const auto bind = [this](GLuint unit, GLenum target) {
        gl_.ActiveTexture(GL_TEXTURE0 + unit);
        gl_.BindTexture(target, random_.number(0, 3) == 0 ? 0 : texture(target));
    };
    const auto bind_sampler = [this](GLuint unit) {
        GLuint sampler = 0;
        gl_.CreateSamplers(1, &sampler);
        made(sampler, [](const Api& gl, GLuint name) { gl.DeleteSamplers(1, &name); });
        gl_.SamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
        gl_.SamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
        gl_.SamplerParameteri(sampler, GL_TEXTURE_WRAP_S, random_.one_of({border_or_edge(), GL_MIRRORED_REPEAT}));
        gl_.SamplerParameteri(sampler, GL_TEXTURE_COMPARE_MODE, random_.one_of({GL_NONE, GL_COMPARE_REF_TO_TEXTURE}));
        gl_.BindSampler(unit, random_.number(0, 3) == 0 ? 0 : sampler);
    };
    // The units that every program uses get everything. Some others, including the last one, get something.
    for (const GLuint unit : {0U, 1U, 2U, 3U, 4U, 31U, units - 1, random_.index(units), random_.index(units)}) {
        bind_sampler(unit);
        for (const auto& [target, desktop, es] : {Since{GL_TEXTURE_1D, 11, never},
                                                  {GL_TEXTURE_2D, 11, 20},
                                                  {GL_TEXTURE_3D, 12, 30},
                                                  {GL_TEXTURE_1D_ARRAY, 30, never},
                                                  {GL_TEXTURE_2D_ARRAY, 30, 30},
                                                  {GL_TEXTURE_RECTANGLE, 31, never},
                                                  {GL_TEXTURE_BUFFER, 31, 32},
                                                  {GL_TEXTURE_CUBE_MAP, 13, 20},
                                                  {GL_TEXTURE_CUBE_MAP_ARRAY, 40, 32},
                                                  {GL_TEXTURE_2D_MULTISAMPLE, 32, 31},
                                                  {GL_TEXTURE_2D_MULTISAMPLE_ARRAY, 32, 32}}) {
            if (!version_.has(desktop, es)) continue;
            if (target == GL_TEXTURE_2D || random_.number(0, 2) == 0) bind(unit, target);
        }
    }
    gl_.ActiveTexture(GL_TEXTURE0 + (random_.flag() ? random_.index(4) : random_.index(units)));
}

void Poison::images() {
    const GLuint units = limit(gl_, GL_MAX_IMAGE_UNITS);
    for (GLuint i = 0; i < units; ++i) {
        const bool layered = random_.flag();
        gl_.BindImageTexture(i, texture(layered ? GL_TEXTURE_2D_ARRAY : GL_TEXTURE_2D),
                             layered ? 0 : random_.number(0, 1), layered ? GL_TRUE : GL_FALSE, random_.number(0, 3),
                             random_.one_of<GLenum>({GL_READ_ONLY, GL_WRITE_ONLY, GL_READ_WRITE}),
                             random_.one_of<GLenum>({GL_RGBA32F, GL_R32UI, GL_RGBA8}));
    }
}

void Poison::buffers() {
    const auto ranges = [this](GLenum target, GLuint count, GLuint alignment) {
        for (GLuint i = 0; i < count; ++i) {
            const auto step = static_cast<GLintptr>(alignment);
            if (random_.flag())
                gl_.BindBufferRange(target, i, buffer(), step * random_.number(0, 2), 4 * random_.number(1, 64));
        }
    };
    ranges(GL_UNIFORM_BUFFER, limit(gl_, GL_MAX_UNIFORM_BUFFER_BINDINGS),
           limit(gl_, GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT));
    if (version_.has(43, 31)) {
        ranges(GL_SHADER_STORAGE_BUFFER, limit(gl_, GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS),
               limit(gl_, GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT));
    }
    if (version_.has(42, 31)) ranges(GL_ATOMIC_COUNTER_BUFFER, limit(gl_, GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS), 4);

    if (version_.has(40, 30)) {
        GLuint feedback = 0;
        gl_.CreateTransformFeedbacks(1, &feedback);
        made(feedback, [](const Api& gl, GLuint name) { gl.DeleteTransformFeedbacks(1, &name); });
        gl_.BindTransformFeedback(GL_TRANSFORM_FEEDBACK, random_.flag() ? feedback : 0);
    }
    // The number in all versions.
    for (GLuint i = 0; i < limit(gl_, GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS); ++i) {
        gl_.BindBufferRange(GL_TRANSFORM_FEEDBACK_BUFFER, i, buffer(), 4 * random_.number(0, 9),
                            4 * random_.number(9, 99));
    }
    for (const auto& [target, desktop, es] : {Since{GL_ARRAY_BUFFER, 15, 20},
                                              {GL_ATOMIC_COUNTER_BUFFER, 42, 31},
                                              {GL_COPY_READ_BUFFER, 31, 30},
                                              {GL_COPY_WRITE_BUFFER, 31, 30},
                                              {GL_DISPATCH_INDIRECT_BUFFER, 43, 31},
                                              {GL_DRAW_INDIRECT_BUFFER, 40, 31},
                                              {GL_PIXEL_PACK_BUFFER, 21, 30},
                                              {GL_PIXEL_UNPACK_BUFFER, 21, 30},
                                              {GL_QUERY_BUFFER, 44, never},
                                              {GL_SHADER_STORAGE_BUFFER, 43, 31},
                                              {GL_TEXTURE_BUFFER, 31, 32},
                                              {GL_TRANSFORM_FEEDBACK_BUFFER, 30, 30},
                                              {GL_UNIFORM_BUFFER, 31, 30}}) {
        if (!version_.has(desktop, es)) continue;
        gl_.BindBuffer(target, random_.number(0, 3) == 0 ? 0 : buffer());
    }
    undo_.emplace_back([this] {
        gl_.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
        gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        if (version_.has(44, never)) gl_.BindBuffer(GL_QUERY_BUFFER, 0);
        if (version_.has(40, 30)) gl_.BindTransformFeedback(GL_TRANSFORM_FEEDBACK, 0);
    });
}

void Poison::framebuffers() {
    gl_.BindFramebuffer(GL_DRAW_FRAMEBUFFER, random_.number(0, 4) == 0 ? 0 : framebuffer());
    gl_.BindFramebuffer(GL_READ_FRAMEBUFFER, random_.number(0, 4) == 0 ? 0 : framebuffer());
    GLuint renderbuffer = 0;
    gl_.CreateRenderbuffers(1, &renderbuffer);
    made(renderbuffer, [](const Api& gl, GLuint name) { gl.DeleteRenderbuffers(1, &name); });
    gl_.BindRenderbuffer(GL_RENDERBUFFER, renderbuffer);
}

// Nothing, a program, a pipeline, or both (then the program is used). Each has a varying for transform feedback.
void Poison::programs() {
    const auto destroy = [](const Api& gl, GLuint name) { gl.DeleteProgram(name); };
    const bool has_subroutines = version_.has(43, never);
    const char* const in_vertices = has_subroutines ? feedback_vertex : plain_vertex;
    const char* const in_fragments = has_subroutines ? fragment : plain_fragment;
    const bool use_program = random_.flag(), use_pipeline = random_.flag() && version_.has(43, never);
    GLuint program = 0, pipeline = 0;
    if (use_program) program = made(make_program(gl_, in_vertices, in_fragments, false, true), destroy);
    if (use_pipeline) {
        gl_.CreateProgramPipelines(1, &pipeline);
        made(pipeline, [](const Api& gl, GLuint name) { gl.DeleteProgramPipelines(1, &name); });
        const GLuint vertex = made(make_program(gl_, in_vertices, nullptr, true, true), destroy);
        const GLuint shading = made(make_program(gl_, nullptr, in_fragments, true), destroy);
        gl_.UseProgramStages(pipeline, GL_VERTEX_SHADER_BIT, vertex);
        gl_.UseProgramStages(pipeline, GL_FRAGMENT_SHADER_BIT, shading);
        gl_.ActiveShaderProgram(pipeline, random_.one_of({vertex, shading}));
    }
    gl_.UseProgram(program);
    if (version_.has(41, 31)) gl_.BindProgramPipeline(pipeline);
    feedback_program_ = use_program || use_pipeline;
    if (feedback_program_ && has_subroutines) choose_subroutines();
    undo_.emplace_back([this] {
        gl_.UseProgram(0);
        if (version_.has(41, 31)) gl_.BindProgramPipeline(0);
    });
}

// For both stages that are in use: `one` and the elements of `more` may be any of three, `moved` any of two.
void Poison::choose_subroutines() {
    const GLuint moved = random_.index(2);
    const std::array<GLuint, 3> shades{random_.index(3), random_.index(3), random_.index(3)};
    gl_.UniformSubroutinesuiv(GL_VERTEX_SHADER, 1, &moved);
    gl_.UniformSubroutinesuiv(GL_FRAGMENT_SHADER, static_cast<GLsizei>(shades.size()), shades.data());
}

// State of extensions, if this context has it: NVIDIA's core profile lists extensions of the compatibility profile.
void Poison::extensions() {
    const auto set = [this](int has, GLenum capability) {
        if (has && has_capability(gl_, capability)) (random_.flag() ? gl_.Enable : gl_.Disable)(capability);
    };
    set(gl_.KHR_blend_equation_advanced_coherent, GL_BLEND_ADVANCED_COHERENT_KHR);
    set(gl_.NV_conservative_raster, GL_CONSERVATIVE_RASTERIZATION_NV);
    set(gl_.INTEL_conservative_rasterization, GL_CONSERVATIVE_RASTERIZATION_INTEL);
    set(gl_.INTEL_blackhole_render, GL_BLACKHOLE_RENDER_INTEL);
    set(gl_.NV_representative_fragment_test, GL_REPRESENTATIVE_FRAGMENT_TEST_NV);
    set(gl_.NV_fragment_coverage_to_color, GL_FRAGMENT_COVERAGE_TO_COLOR_NV);
    set(gl_.EXT_raster_multisample, GL_RASTER_MULTISAMPLE_EXT);
    set(gl_.NV_clip_space_w_scaling, GL_VIEWPORT_POSITION_W_SCALE_NV);
    set(gl_.AMD_depth_clamp_separate, GL_DEPTH_CLAMP_NEAR_AMD);
    set(gl_.AMD_depth_clamp_separate, GL_DEPTH_CLAMP_FAR_AMD);
    const auto set_first = [this](int has, GLenum capability) {
        if (has && has_capability_of_viewport(gl_, capability))
            (random_.flag() ? gl_.Enablei : gl_.Disablei)(capability, 0);
    };
    set_first(gl_.NV_scissor_exclusive, GL_SCISSOR_TEST_EXCLUSIVE_NV);
    set_first(gl_.NV_shading_rate_image, GL_SHADING_RATE_IMAGE_NV);
    if (gl_.EXT_window_rectangles && has_integer(gl_, GL_WINDOW_RECTANGLE_MODE_EXT)) {
        std::array<GLint, 8> boxes{};
        for (auto& number : boxes) number = random_.number(0, 9);
        gl_.WindowRectanglesEXT(random_.one_of<GLenum>({GL_INCLUSIVE_EXT, GL_EXCLUSIVE_EXT}), random_.number(0, 2),
                                boxes.data());
    }
    if (gl_.NV_conservative_raster && has_integer(gl_, GL_SUBPIXEL_PRECISION_BIAS_X_BITS_NV))
        gl_.SubpixelPrecisionBiasNV(random_.index(4), random_.index(4));
    if (gl_.NV_viewport_swizzle) {
        const auto any = [this] { return GL_VIEWPORT_SWIZZLE_POSITIVE_X_NV + random_.index(8); };
        gl_.ViewportSwizzleNV(0, any(), any(), any(), any());
    }
    if (gl_.NV_framebuffer_mixed_samples && has_integer(gl_, GL_COVERAGE_MODULATION_NV))
        gl_.CoverageModulationNV(random_.one_of<GLenum>({GL_NONE, GL_RGB, GL_RGBA, GL_ALPHA}));
    if (gl_.ARB_indirect_parameters) gl_.BindBuffer(GL_PARAMETER_BUFFER_ARB, random_.flag() ? buffer() : 0);
    if (gl_.EXT_stencil_two_side && has_capability(gl_, GL_STENCIL_TEST_TWO_SIDE_EXT)) {
        (random_.flag() ? gl_.Enable : gl_.Disable)(GL_STENCIL_TEST_TWO_SIDE_EXT);
        gl_.ActiveStencilFaceEXT(GL_BACK);
        gl_.StencilFunc(static_cast<GLenum>(GL_NEVER + random_.number(0, 7)), random_.number(0, 255),
                        random_.index(99));
        gl_.StencilMask(random_.index(99));
        gl_.StencilOp(random_.one_of<GLenum>({GL_KEEP, GL_ZERO, GL_INVERT}), GL_KEEP, GL_KEEP);
        gl_.ActiveStencilFaceEXT(random_.one_of<GLenum>({GL_FRONT, GL_BACK}));
        undo_.emplace_back([this] { gl_.ActiveStencilFaceEXT(GL_FRONT); });
    }
    undo_.emplace_back([this] {
        if (gl_.INTEL_blackhole_render) gl_.Disable(GL_BLACKHOLE_RENDER_INTEL);
    });
}

// State that only the compatibility profile has.
void Poison::old_state() {
    // The poison of later rounds starts from the same depth of the stacks.
    gl_.PushAttrib(GL_ALL_ATTRIB_BITS);
    gl_.PushClientAttrib(GL_CLIENT_VERTEX_ARRAY_BIT);
    undo_.emplace_back([this] {
        gl_.PopClientAttrib();
        gl_.PopAttrib();
    });
    for (const GLenum capability :
         Enums{GL_ALPHA_TEST, GL_AUTO_NORMAL, GL_COLOR_MATERIAL, GL_COLOR_SUM, GL_FOG, GL_INDEX_LOGIC_OP, GL_LIGHT0,
               GL_LIGHT1, GL_LIGHTING, GL_LINE_STIPPLE, GL_MAP1_VERTEX_3, GL_MAP2_VERTEX_3, GL_NORMALIZE,
               GL_POINT_SMOOTH, GL_POINT_SPRITE, GL_POLYGON_STIPPLE, GL_RESCALE_NORMAL, GL_VERTEX_PROGRAM_TWO_SIDE}) {
        random_.flag() ? gl_.Enable(capability) : gl_.Disable(capability);
    }
    const auto real = [this] { return random_.real(-3, 3); };
    gl_.AlphaFunc(static_cast<GLenum>(GL_NEVER + random_.number(0, 7)), random_.real(0, 1));
    gl_.ShadeModel(random_.one_of<GLenum>({GL_FLAT, GL_SMOOTH}));
    gl_.Fogi(GL_FOG_MODE, random_.one_of({GL_LINEAR, GL_EXP, GL_EXP2}));
    gl_.Fogf(GL_FOG_DENSITY, random_.real(0, 9));
    gl_.LineStipple(random_.number(1, 200), static_cast<GLushort>(random_.bits()));
    std::array<GLubyte, 128> stipple{};
    for (auto& byte : stipple) byte = static_cast<GLubyte>(random_.bits());
    gl_.PushClientAttrib(GL_CLIENT_PIXEL_STORE_BIT);
    gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    for (const GLenum name : Enums{GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS, GL_UNPACK_ROW_LENGTH})
        gl_.PixelStorei(name, 0);
    gl_.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl_.PolygonStipple(stipple.data());
    gl_.PopClientAttrib();
    for (const GLenum face : Enums{GL_FRONT, GL_BACK})
        gl_.PolygonMode(face, random_.one_of<GLenum>({GL_POINT, GL_LINE, GL_FILL}));
    const std::array<GLfloat, 3> attenuation{random_.real(0, 2), random_.real(0, 2), random_.real(0, 2)};
    gl_.PointParameterfv(GL_POINT_DISTANCE_ATTENUATION, attenuation.data());
    gl_.PointParameterf(GL_POINT_SIZE_MIN, random_.real(0, 9));
    gl_.PointParameterf(GL_POINT_SIZE_MAX, random_.real(0, 9));
    for (const GLenum which : Enums{GL_CLAMP_VERTEX_COLOR, GL_CLAMP_FRAGMENT_COLOR})
        gl_.ClampColor(which, random_.one_of<GLenum>({GL_TRUE, GL_FALSE, GL_FIXED_ONLY}));
    gl_.Color4f(real(), real(), real(), real());
    gl_.SecondaryColor3f(real(), real(), real());
    gl_.Normal3f(real(), real(), real());
    gl_.FogCoordf(real());
    gl_.EdgeFlag(random_.boolean());
    gl_.ClearAccum(random_.real(-1, 1), random_.real(-1, 1), random_.real(-1, 1), random_.real(-1, 1));
    raster_position();
    if (gl_.NV_primitive_restart)
        (random_.flag() ? gl_.EnableClientState : gl_.DisableClientState)(GL_PRIMITIVE_RESTART_NV);
    gl_.ListBase(random_.index(99));
    for (const GLenum hint :
         Enums{GL_FOG_HINT, GL_PERSPECTIVE_CORRECTION_HINT, GL_POINT_SMOOTH_HINT, GL_GENERATE_MIPMAP_HINT})
        gl_.Hint(hint, random_.one_of<GLenum>({GL_FASTEST, GL_NICEST, GL_DONT_CARE}));
    gl_.ClientActiveTexture(GL_TEXTURE0 + random_.index(4));
    old_matrices();
    old_transfers();
}

// NVIDIA's driver treats it as drawing: it needs a target. If an advanced blend equation is enabled, it reports no
// error but loses later draws, including the application's own.
void Poison::raster_position() {
    if (gl_.CheckFramebufferStatus(GL_DRAW_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) return;
    std::vector<GLboolean> blends(limit(gl_, GL_MAX_DRAW_BUFFERS));
    for (GLuint i = 0; i < blends.size(); ++i) {
        blends[i] = gl_.IsEnabledi(GL_BLEND, i);
        gl_.Disablei(GL_BLEND, i);
    }
    gl_.RasterPos2f(random_.real(0, 1), random_.real(0, 1));
    for (GLuint i = 0; i < blends.size(); ++i) {
        if (blends[i]) gl_.Enablei(GL_BLEND, i);
    }
}

void Poison::old_matrices() {
    const auto active = static_cast<GLenum>(get(gl_, GL_ACTIVE_TEXTURE));
    const auto matrix = [this](GLenum mode) {
        std::array<GLfloat, 16> values{};
        for (auto& value : values) value = random_.real(-3, 3);
        gl_.MatrixMode(mode);
        gl_.PushMatrix();
        gl_.LoadMatrixf(values.data());
        undo_.emplace_back([this, mode] {
            gl_.MatrixMode(mode);
            gl_.PopMatrix();
        });
    };
    matrix(GL_MODELVIEW);
    matrix(GL_PROJECTION);
    for (GLuint unit = 0; unit < 2; ++unit) {
        gl_.ActiveTexture(GL_TEXTURE0 + unit);
        for (const GLenum capability : Enums{GL_TEXTURE_1D, GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_CUBE_MAP,
                                             GL_TEXTURE_GEN_S, GL_TEXTURE_GEN_T})
            random_.flag() ? gl_.Enable(capability) : gl_.Disable(capability);
        gl_.TexEnvi(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, random_.one_of({GL_MODULATE, GL_REPLACE, GL_ADD}));
        gl_.TexEnvf(GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS, random_.real(-4, 4));
        gl_.MultiTexCoord4f(GL_TEXTURE0 + unit, random_.real(-3, 3), random_.real(-3, 3), 0, 1);
    }
    gl_.ActiveTexture(active);
    if (gl_.ARB_imaging) matrix(GL_COLOR);
    gl_.MatrixMode(random_.one_of<GLenum>({GL_MODELVIEW, GL_PROJECTION}));
}

void Poison::old_transfers() {
    for (const GLenum name : Enums{GL_RED_SCALE, GL_GREEN_SCALE, GL_BLUE_SCALE, GL_ALPHA_SCALE, GL_DEPTH_SCALE,
                                   GL_RED_BIAS, GL_GREEN_BIAS, GL_BLUE_BIAS, GL_ALPHA_BIAS, GL_DEPTH_BIAS})
        gl_.PixelTransferf(name, random_.real(-2, 2));
    for (const GLenum name : Enums{GL_MAP_COLOR, GL_MAP_STENCIL, GL_INDEX_SHIFT, GL_INDEX_OFFSET})
        gl_.PixelTransferi(name, random_.number(0, 1));
    for (const GLenum map : Enums{GL_PIXEL_MAP_R_TO_R, GL_PIXEL_MAP_G_TO_G, GL_PIXEL_MAP_B_TO_B, GL_PIXEL_MAP_A_TO_A,
                                  GL_PIXEL_MAP_S_TO_S}) {
        std::array<GLfloat, 4> values{};
        for (auto& value : values) value = map == GL_PIXEL_MAP_S_TO_S ? 1.0F : random_.real(0, 1);
        const auto unpack = get(gl_, GL_PIXEL_UNPACK_BUFFER_BINDING);
        gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
        gl_.PixelMapfv(map, static_cast<GLsizei>(random_.one_of({1, 2, 4})), values.data());
        gl_.BindBuffer(GL_PIXEL_UNPACK_BUFFER, static_cast<GLuint>(unpack));
    }
    gl_.PixelZoom(random_.real(-2, 2), random_.real(-2, 2));
    if (gl_.ARB_imaging) {
        for (const GLenum name : Enums{GL_POST_COLOR_MATRIX_RED_SCALE, GL_POST_COLOR_MATRIX_GREEN_BIAS,
                                       GL_POST_CONVOLUTION_RED_SCALE, GL_POST_CONVOLUTION_ALPHA_BIAS})
            gl_.PixelTransferf(name, random_.real(-2, 2));
        for (const GLenum capability : Enums{GL_COLOR_TABLE, GL_HISTOGRAM, GL_MINMAX})
            random_.flag() ? gl_.Enable(capability) : gl_.Disable(capability);
    }
}

void Poison::debug() {
    gl_.DebugMessageCallback(random_.flag() ? ignore_message : nullptr, random_.flag() ? this : nullptr);
    const int depth = random_.number(0, 3);
    for (int i = 0; i < depth; ++i) gl_.PushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 7, 4, "host");
    random_.flag() ? gl_.Enable(GL_DEBUG_OUTPUT) : gl_.Disable(GL_DEBUG_OUTPUT);
    random_.flag() ? gl_.Enable(GL_DEBUG_OUTPUT_SYNCHRONOUS) : gl_.Disable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
    undo_.emplace_back([this, depth] {
        for (int i = 0; i < depth; ++i) gl_.PopDebugGroup();
        gl_.Disable(GL_DEBUG_OUTPUT);
        gl_.DebugMessageCallback(nullptr, nullptr);
    });
}

// Those that a call permits: time, captured primitives, and primitives of vertex streams that only a geometry shader
// fills.
void Poison::begin_queries() {
    const auto begin = [this](GLenum target, GLuint stream) {
        if (!random_.flag()) return;
        gl_.BeginQueryIndexed(target, stream, query(target));
        undo_.emplace_back([this, target, stream] { gl_.EndQueryIndexed(target, stream); });
    };
    if (version_.has(33, never)) begin(GL_TIME_ELAPSED, 0);
    begin(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, 0);
    for (GLuint stream = 1; version_.has(40, never) && stream < limit(gl_, GL_MAX_VERTEX_STREAMS); ++stream) {
        begin(GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, stream);
        begin(GL_PRIMITIVES_GENERATED, stream);
    }
}

void Poison::begin_feedback() {
    if (!feedback_program_ || !version_.has(40, 30) || random_.flag()) return;
    gl_.BeginTransformFeedback(GL_POINTS);
    if (random_.number(0, 2) == 0) gl_.PauseTransformFeedback();
    undo_.emplace_back([this] { gl_.EndTransformFeedback(); });
}

}  // namespace quadmill::test
