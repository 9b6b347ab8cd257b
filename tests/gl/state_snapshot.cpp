#include "gl/state_snapshot.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <sstream>

#include "gl/older_version.hpp"

namespace quadmill::test {

namespace {

struct Named {
    GLenum value;
    const char* name;
};
#define NAMED(name)      \
    Named {              \
        GL_##name, #name \
    }

constexpr int never = detail::gl::Features::never;

class Recorder {
  public:
    explicit Recorder(const Api& api) : gl(api), version(version_of(api)), has_all(version.has(45, never)) {}

    template <class Value>
    void add(std::string name, std::span<const Value> values) {
        Snapshot::Entry entry{std::move(name), {}};
        for (const auto value : values) entry.values.push_back(static_cast<double>(value));
        if (gl.GetError() != GL_NO_ERROR) {
            if (!has_all) return;  // an older version lacks some state
            unknown += " " + entry.name;
        }
        snapshot.entries.push_back(std::move(entry));
    }
    template <class Value>
    void add(std::string name, Value value) {
        add(std::move(name), std::span<const Value>(&value, 1));
    }

    [[nodiscard]] GLint get(GLenum name) const {
        GLint value = 0;
        gl.GetIntegerv(name, &value);
        if (!has_all && gl.GetError() != GL_NO_ERROR) return 0;
        return value;
    }
    // One to four values of state without an index.
    void integers(std::initializer_list<Named> names) {
        for (const auto& what : names) {
            // 64 bits, as a driver may clamp a mask of 2^31 or more to the range of GLint.
            std::array<GLint64, 4> values{};
            gl.GetInteger64v(what.value, values.data());
            add<GLint64>(what.name, values);
        }
    }
    void floats(std::initializer_list<Named> names) {
        for (const auto& what : names) {
            std::array<GLfloat, 4> values{};
            gl.GetFloatv(what.value, values.data());
            add<GLfloat>(what.name, values);
        }
    }
    void flags(std::initializer_list<Named> names) {
        for (const auto& what : names) add(what.name, int{gl.IsEnabled(what.value)});
    }
    void indexed_integers(const Named& what, GLuint count) {
        for (GLuint i = 0; i < count; ++i) {
            std::array<GLint, 4> values{};
            gl.GetIntegeri_v(what.value, i, values.data());
            add<GLint>(indexed(what.name, i), values);
        }
    }
    void indexed_integers64(const Named& what, GLuint count) {
        for (GLuint i = 0; i < count; ++i) {
            GLint64 value = 0;
            gl.GetInteger64i_v(what.value, i, &value);
            add(indexed(what.name, i), value);
        }
    }
    void indexed_flags(const Named& what, GLuint count) {
        for (GLuint i = 0; i < count; ++i) add(indexed(what.name, i), int{gl.IsEnabledi(what.value, i)});
    }
    [[nodiscard]] GLuint limit(GLenum name) const { return static_cast<GLuint>(get(name)); }
    static std::string indexed(const char* name, GLuint i) { return std::string(name) + "[" + std::to_string(i) + "]"; }
    static std::string indexed(const char* name, GLuint i, const char* part) { return indexed(name, i) + "." + part; }

    const Api& gl;
    const detail::gl::Features version;
    const bool has_all;
    Snapshot snapshot;
    std::string unknown;  // state that the driver did not return
};

// Tables 23.2 to 23.5: current attributes, patches, the bound vertex array, vertex buffers.
void vertex_state(Recorder& to) {
    const auto& gl = to.gl;
    const GLuint attributes = to.limit(GL_MAX_VERTEX_ATTRIBS);
    // In the compatibility profile, attribute 0 is the vertex itself.
    const bool compatible = to.get(GL_CONTEXT_PROFILE_MASK) == GL_CONTEXT_COMPATIBILITY_PROFILE_BIT;
    for (GLuint i = compatible ? 1 : 0; i < attributes; ++i) {
        std::array<GLfloat, 4> value{};
        gl.GetVertexAttribfv(i, GL_CURRENT_VERTEX_ATTRIB, value.data());
        to.add<GLfloat>(Recorder::indexed("CURRENT_VERTEX_ATTRIB", i), value);
    }
    to.integers({NAMED(PATCH_VERTICES)});
    to.floats({NAMED(PATCH_DEFAULT_OUTER_LEVEL), NAMED(PATCH_DEFAULT_INNER_LEVEL)});
    to.integers({NAMED(VERTEX_ARRAY_BINDING), NAMED(ARRAY_BUFFER_BINDING), NAMED(DRAW_INDIRECT_BUFFER_BINDING),
                 NAMED(PRIMITIVE_RESTART_INDEX)});
    to.flags({NAMED(PRIMITIVE_RESTART), NAMED(PRIMITIVE_RESTART_FIXED_INDEX)});

    if (to.get(GL_VERTEX_ARRAY_BINDING) == 0) return;  // the core profile has no vertex array 0 to query
    to.integers({NAMED(ELEMENT_ARRAY_BUFFER_BINDING)});
    for (GLuint i = 0; i < attributes; ++i) {
        for (const auto& what :
             {NAMED(VERTEX_ATTRIB_ARRAY_ENABLED), NAMED(VERTEX_ATTRIB_ARRAY_SIZE), NAMED(VERTEX_ATTRIB_ARRAY_STRIDE),
              NAMED(VERTEX_ATTRIB_ARRAY_TYPE), NAMED(VERTEX_ATTRIB_ARRAY_NORMALIZED),
              NAMED(VERTEX_ATTRIB_ARRAY_INTEGER), NAMED(VERTEX_ATTRIB_ARRAY_LONG), NAMED(VERTEX_ATTRIB_ARRAY_DIVISOR),
              NAMED(VERTEX_ATTRIB_ARRAY_BUFFER_BINDING), NAMED(VERTEX_ATTRIB_BINDING),
              NAMED(VERTEX_ATTRIB_RELATIVE_OFFSET)}) {
            GLint value = 0;
            gl.GetVertexAttribiv(i, what.value, &value);
            to.add(Recorder::indexed(what.name, i), value);
        }
        void* pointer = nullptr;
        gl.GetVertexAttribPointerv(i, GL_VERTEX_ATTRIB_ARRAY_POINTER, &pointer);
        to.add(Recorder::indexed("VERTEX_ATTRIB_ARRAY_POINTER", i), reinterpret_cast<std::uintptr_t>(pointer));
    }
    if (!to.version.has(43, 31)) return;
    const GLuint bindings = to.limit(GL_MAX_VERTEX_ATTRIB_BINDINGS);
    to.indexed_integers64(NAMED(VERTEX_BINDING_OFFSET), bindings);
    for (const auto& what :
         {NAMED(VERTEX_BINDING_STRIDE), NAMED(VERTEX_BINDING_DIVISOR), NAMED(VERTEX_BINDING_BUFFER)}) {
        to.indexed_integers(what, bindings);
    }
}

// Tables 23.7 to 23.10: transformation, colouring, rasterization, multisampling.
void raster_state(Recorder& to) {
    const auto& gl = to.gl;
    to.floats({NAMED(VIEWPORT), NAMED(DEPTH_RANGE)});
    for (GLuint i = 0; to.version.has(41, never) && i < to.limit(GL_MAX_VIEWPORTS); ++i) {
        std::array<GLfloat, 4> viewport{};
        std::array<GLdouble, 2> range{};
        gl.GetFloati_v(GL_VIEWPORT, i, viewport.data());
        gl.GetDoublei_v(GL_DEPTH_RANGE, i, range.data());
        to.add<GLfloat>(Recorder::indexed("VIEWPORT", i), viewport);
        to.add<GLdouble>(Recorder::indexed("DEPTH_RANGE", i), range);
    }
    if (gl.EXT_depth_bounds_test && !to.version.is_es) {
        std::array<GLdouble, 2> bounds{};
        gl.GetDoublev(GL_DEPTH_BOUNDS_EXT, bounds.data());
        to.add<GLdouble>("DEPTH_BOUNDS", bounds);
        to.add("DEPTH_BOUNDS_TEST", int{gl.IsEnabled(GL_DEPTH_BOUNDS_TEST_EXT)});
    }
    for (GLuint i = 0; i < to.limit(GL_MAX_CLIP_DISTANCES); ++i) {
        to.add(Recorder::indexed("CLIP_DISTANCE", i), int{gl.IsEnabled(GL_CLIP_DISTANCE0 + i)});
    }
    to.flags({NAMED(DEPTH_CLAMP), NAMED(RASTERIZER_DISCARD), NAMED(PROGRAM_POINT_SIZE), NAMED(LINE_SMOOTH),
              NAMED(CULL_FACE), NAMED(POLYGON_SMOOTH), NAMED(POLYGON_OFFSET_POINT), NAMED(POLYGON_OFFSET_LINE),
              NAMED(POLYGON_OFFSET_FILL), NAMED(MULTISAMPLE), NAMED(SAMPLE_ALPHA_TO_COVERAGE),
              NAMED(SAMPLE_ALPHA_TO_ONE), NAMED(SAMPLE_COVERAGE), NAMED(SAMPLE_SHADING), NAMED(SAMPLE_MASK)});
    to.integers({NAMED(CLIP_ORIGIN), NAMED(CLIP_DEPTH_MODE), NAMED(CLAMP_READ_COLOR), NAMED(PROVOKING_VERTEX),
                 NAMED(POINT_SPRITE_COORD_ORIGIN), NAMED(FRONT_FACE), NAMED(CULL_FACE_MODE), NAMED(POLYGON_MODE)});
    to.floats({NAMED(POINT_SIZE), NAMED(POINT_FADE_THRESHOLD_SIZE), NAMED(LINE_WIDTH), NAMED(POLYGON_OFFSET_FACTOR),
               NAMED(POLYGON_OFFSET_UNITS), NAMED(SAMPLE_COVERAGE_VALUE), NAMED(MIN_SAMPLE_SHADING_VALUE)});
    to.integers({NAMED(SAMPLE_COVERAGE_INVERT)});
    if (to.version.has(32, 31)) to.indexed_integers64(NAMED(SAMPLE_MASK_VALUE), to.limit(GL_MAX_SAMPLE_MASK_WORDS));
}

// Tables 23.11 to 23.17: texture units, the parameters of the textures and samplers there, image units.
void texture_state(Recorder& to) {
    const auto& gl = to.gl;
    constexpr std::array targets{NAMED(TEXTURE_BINDING_1D),
                                 NAMED(TEXTURE_BINDING_2D),
                                 NAMED(TEXTURE_BINDING_3D),
                                 NAMED(TEXTURE_BINDING_1D_ARRAY),
                                 NAMED(TEXTURE_BINDING_2D_ARRAY),
                                 NAMED(TEXTURE_BINDING_RECTANGLE),
                                 NAMED(TEXTURE_BINDING_BUFFER),
                                 NAMED(TEXTURE_BINDING_CUBE_MAP),
                                 NAMED(TEXTURE_BINDING_CUBE_MAP_ARRAY),
                                 NAMED(TEXTURE_BINDING_2D_MULTISAMPLE),
                                 NAMED(TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY)};
    const GLint active = to.get(GL_ACTIVE_TEXTURE);
    to.add("ACTIVE_TEXTURE", active);
    for (GLuint unit = 0; unit < to.limit(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS); ++unit) {
        gl.ActiveTexture(GL_TEXTURE0 + unit);
        for (const auto& target : targets) to.add(Recorder::indexed(target.name, unit), to.get(target.value));
        to.add(Recorder::indexed("SAMPLER_BINDING", unit), to.get(GL_SAMPLER_BINDING));
    }
    // The textures and samplers of the first units belong to the application, too.
    for (GLuint unit = 0; unit < 8; ++unit) {
        gl.ActiveTexture(GL_TEXTURE0 + unit);
        const auto texture = static_cast<GLuint>(to.get(GL_TEXTURE_BINDING_2D));
        const auto sampler = static_cast<GLuint>(to.get(GL_SAMPLER_BINDING));
        const auto record = [&](const Named& what, auto get, GLuint object) {
            std::array<GLint, 4> values{};
            if (object != 0) get(object, what.value, values.data());
            to.add<GLint>(Recorder::indexed(what.name, unit), values);
        };
        for (const auto& what :
             {NAMED(TEXTURE_SWIZZLE_RGBA), NAMED(TEXTURE_BORDER_COLOR), NAMED(TEXTURE_MIN_FILTER),
              NAMED(TEXTURE_MAG_FILTER), NAMED(TEXTURE_WRAP_S), NAMED(TEXTURE_WRAP_T), NAMED(TEXTURE_WRAP_R),
              NAMED(TEXTURE_MIN_LOD), NAMED(TEXTURE_MAX_LOD), NAMED(TEXTURE_BASE_LEVEL), NAMED(TEXTURE_MAX_LEVEL),
              NAMED(TEXTURE_LOD_BIAS), NAMED(DEPTH_STENCIL_TEXTURE_MODE), NAMED(TEXTURE_COMPARE_MODE),
              NAMED(TEXTURE_COMPARE_FUNC)}) {
            record(what, gl.GetTextureParameteriv, texture);
        }
        for (const auto& what :
             {Named{GL_TEXTURE_MIN_FILTER, "SAMPLER.MIN_FILTER"}, Named{GL_TEXTURE_MAG_FILTER, "SAMPLER.MAG_FILTER"},
              Named{GL_TEXTURE_WRAP_S, "SAMPLER.WRAP_S"}, Named{GL_TEXTURE_COMPARE_MODE, "SAMPLER.COMPARE_MODE"}}) {
            record(what, gl.GetSamplerParameteriv, sampler);
        }
    }
    gl.ActiveTexture(static_cast<GLenum>(active));
    to.flags({NAMED(TEXTURE_CUBE_MAP_SEAMLESS)});
    for (const auto& what : {NAMED(IMAGE_BINDING_NAME), NAMED(IMAGE_BINDING_LEVEL), NAMED(IMAGE_BINDING_LAYERED),
                             NAMED(IMAGE_BINDING_LAYER), NAMED(IMAGE_BINDING_ACCESS), NAMED(IMAGE_BINDING_FORMAT)}) {
        to.indexed_integers(what, to.limit(GL_MAX_IMAGE_UNITS));
    }
}

// The compatibility profile clamps these if it clamps fragments. GL_FIXED_ONLY depends on the framebuffer that NVIDIA's
// driver drew into last, which is not state.
void colors(Recorder& to) {
    const bool old = to.get(GL_CONTEXT_PROFILE_MASK) == GL_CONTEXT_COMPATIBILITY_PROFILE_BIT;
    const GLint clamped = old ? to.get(GL_CLAMP_FRAGMENT_COLOR) : GL_FALSE;
    if (old) to.gl.ClampColor(GL_CLAMP_FRAGMENT_COLOR, GL_FALSE);
    to.floats({NAMED(BLEND_COLOR), NAMED(COLOR_CLEAR_VALUE), NAMED(DEPTH_CLEAR_VALUE)});
    if (old) to.gl.ClampColor(GL_CLAMP_FRAGMENT_COLOR, static_cast<GLenum>(clamped));
}

// Tables 23.18 and 23.19: fragment tests, blending, write masks, clear values.
void pixel_state(Recorder& to) {
    const auto& gl = to.gl;
    const GLuint viewports = to.limit(GL_MAX_VIEWPORTS), buffers = to.limit(GL_MAX_DRAW_BUFFERS);
    if (to.version.has(41, never)) {
        to.indexed_flags(NAMED(SCISSOR_TEST), viewports);
        to.indexed_integers(NAMED(SCISSOR_BOX), viewports);
    }
    to.integers({NAMED(SCISSOR_BOX), NAMED(COLOR_WRITEMASK), NAMED(BLEND_SRC_RGB), NAMED(BLEND_SRC_ALPHA),
                 NAMED(BLEND_DST_RGB), NAMED(BLEND_DST_ALPHA), NAMED(BLEND_EQUATION_RGB), NAMED(BLEND_EQUATION_ALPHA)});
    to.flags({NAMED(SCISSOR_TEST), NAMED(BLEND), NAMED(STENCIL_TEST), NAMED(DEPTH_TEST), NAMED(FRAMEBUFFER_SRGB),
              NAMED(DITHER), NAMED(COLOR_LOGIC_OP)});
    to.integers({NAMED(STENCIL_FUNC), NAMED(STENCIL_VALUE_MASK), NAMED(STENCIL_REF), NAMED(STENCIL_FAIL),
                 NAMED(STENCIL_PASS_DEPTH_FAIL), NAMED(STENCIL_PASS_DEPTH_PASS), NAMED(STENCIL_BACK_FUNC),
                 NAMED(STENCIL_BACK_VALUE_MASK), NAMED(STENCIL_BACK_REF), NAMED(STENCIL_BACK_FAIL),
                 NAMED(STENCIL_BACK_PASS_DEPTH_FAIL), NAMED(STENCIL_BACK_PASS_DEPTH_PASS), NAMED(DEPTH_FUNC),
                 NAMED(LOGIC_OP_MODE), NAMED(DEPTH_WRITEMASK), NAMED(STENCIL_WRITEMASK), NAMED(STENCIL_BACK_WRITEMASK),
                 NAMED(STENCIL_CLEAR_VALUE)});
    colors(to);
    if (!to.version.has(30, 32)) return;
    to.indexed_flags(NAMED(BLEND), buffers);
    for (const auto& what : {NAMED(BLEND_SRC_RGB), NAMED(BLEND_SRC_ALPHA), NAMED(BLEND_DST_RGB), NAMED(BLEND_DST_ALPHA),
                             NAMED(BLEND_EQUATION_RGB), NAMED(BLEND_EQUATION_ALPHA)}) {
        if (to.version.has(40, 32)) to.indexed_integers(what, buffers);
    }
    for (GLuint i = 0; i < buffers; ++i) {
        std::array<GLboolean, 4> mask{};
        gl.GetBooleani_v(GL_COLOR_WRITEMASK, i, mask.data());
        to.add<GLboolean>(Recorder::indexed("COLOR_WRITEMASK", i), mask);
    }
}

// One framebuffer object that is bound to `target`. Framebuffers of the window system have other attachments; their
// names are enough.
void framebuffer_object(Recorder& to, GLenum target, const char* name, GLenum binding) {
    const auto& gl = to.gl;
    const auto id = static_cast<GLuint>(to.get(binding));
    if (id == 0) return;
    for (const auto& what :
         {NAMED(FRAMEBUFFER_DEFAULT_WIDTH), NAMED(FRAMEBUFFER_DEFAULT_HEIGHT), NAMED(FRAMEBUFFER_DEFAULT_LAYERS),
          NAMED(FRAMEBUFFER_DEFAULT_SAMPLES), NAMED(FRAMEBUFFER_DEFAULT_FIXED_SAMPLE_LOCATIONS)}) {
        if (!to.version.has(43, 31)) break;
        GLint value = 0;
        gl.GetFramebufferParameteriv(target, what.value, &value);
        to.add(std::string(name) + what.name, value);
    }
    const auto attachment = [&](GLenum point, const std::string& where) {
        GLint type = 0, object = 0;
        gl.GetFramebufferAttachmentParameteriv(target, point, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, &type);
        if (type != GL_NONE) {
            gl.GetFramebufferAttachmentParameteriv(target, point, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME, &object);
        }
        to.add<GLint>(where, std::array{type, object});
    };
    for (GLuint i = 0; i < to.limit(GL_MAX_COLOR_ATTACHMENTS); ++i) {
        attachment(GL_COLOR_ATTACHMENT0 + i, name + Recorder::indexed("COLOR_ATTACHMENT", i));
    }
    attachment(GL_DEPTH_ATTACHMENT, std::string(name) + "DEPTH_ATTACHMENT");
    attachment(GL_STENCIL_ATTACHMENT, std::string(name) + "STENCIL_ATTACHMENT");
}

// Tables 23.20 to 23.25: framebuffers and renderbuffers.
void framebuffer_state(Recorder& to) {
    to.integers({NAMED(DRAW_FRAMEBUFFER_BINDING), NAMED(READ_FRAMEBUFFER_BINDING), NAMED(RENDERBUFFER_BINDING),
                 NAMED(READ_BUFFER)});
    for (GLuint i = 0; i < to.limit(GL_MAX_DRAW_BUFFERS); ++i) {
        to.add(Recorder::indexed("DRAW_BUFFER", i), to.get(GL_DRAW_BUFFER0 + i));
    }
    framebuffer_object(to, GL_DRAW_FRAMEBUFFER, "draw ", GL_DRAW_FRAMEBUFFER_BINDING);
    framebuffer_object(to, GL_READ_FRAMEBUFFER, "read ", GL_READ_FRAMEBUFFER_BINDING);
}

// Tables 23.26 to 23.28: pixel transfers.
void transfer_state(Recorder& to) {
    to.integers({NAMED(UNPACK_SWAP_BYTES), NAMED(UNPACK_LSB_FIRST), NAMED(UNPACK_IMAGE_HEIGHT),
                 NAMED(UNPACK_SKIP_IMAGES), NAMED(UNPACK_ROW_LENGTH), NAMED(UNPACK_SKIP_ROWS),
                 NAMED(UNPACK_SKIP_PIXELS), NAMED(UNPACK_ALIGNMENT), NAMED(UNPACK_COMPRESSED_BLOCK_WIDTH),
                 NAMED(UNPACK_COMPRESSED_BLOCK_HEIGHT), NAMED(UNPACK_COMPRESSED_BLOCK_DEPTH),
                 NAMED(UNPACK_COMPRESSED_BLOCK_SIZE), NAMED(PIXEL_UNPACK_BUFFER_BINDING)});
    to.integers({NAMED(PACK_SWAP_BYTES), NAMED(PACK_LSB_FIRST), NAMED(PACK_IMAGE_HEIGHT), NAMED(PACK_SKIP_IMAGES),
                 NAMED(PACK_ROW_LENGTH), NAMED(PACK_SKIP_ROWS), NAMED(PACK_SKIP_PIXELS), NAMED(PACK_ALIGNMENT),
                 NAMED(PACK_COMPRESSED_BLOCK_WIDTH), NAMED(PACK_COMPRESSED_BLOCK_HEIGHT),
                 NAMED(PACK_COMPRESSED_BLOCK_DEPTH), NAMED(PACK_COMPRESSED_BLOCK_SIZE),
                 NAMED(PIXEL_PACK_BUFFER_BINDING)});
}

// Tables 23.30 to 23.44: programs, pipelines, and the buffers that programs read and write.
void program_state(Recorder& to) {
    const auto& gl = to.gl;
    to.integers({NAMED(CURRENT_PROGRAM), NAMED(PROGRAM_PIPELINE_BINDING)});
    if (const auto pipeline = static_cast<GLuint>(to.get(GL_PROGRAM_PIPELINE_BINDING)); pipeline != 0) {
        for (const auto& what : {NAMED(ACTIVE_PROGRAM), NAMED(VERTEX_SHADER), NAMED(FRAGMENT_SHADER)}) {
            GLint value = 0;
            gl.GetProgramPipelineiv(pipeline, what.value, &value);
            to.add(std::string("pipeline ") + what.name, value);
        }
    }
    const auto buffers = [&](const Named& binding, const Named& start, const Named& size, GLenum max) {
        to.integers({binding});
        if (!to.has_all && to.get(max) == 0) return;
        to.indexed_integers(binding, to.limit(max));
        to.indexed_integers64(start, to.limit(max));
        to.indexed_integers64(size, to.limit(max));
    };
    buffers(NAMED(UNIFORM_BUFFER_BINDING), NAMED(UNIFORM_BUFFER_START), NAMED(UNIFORM_BUFFER_SIZE),
            GL_MAX_UNIFORM_BUFFER_BINDINGS);
    buffers(NAMED(ATOMIC_COUNTER_BUFFER_BINDING), NAMED(ATOMIC_COUNTER_BUFFER_START), NAMED(ATOMIC_COUNTER_BUFFER_SIZE),
            GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS);
    buffers(NAMED(SHADER_STORAGE_BUFFER_BINDING), NAMED(SHADER_STORAGE_BUFFER_START), NAMED(SHADER_STORAGE_BUFFER_SIZE),
            GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS);
    buffers(NAMED(TRANSFORM_FEEDBACK_BUFFER_BINDING), NAMED(TRANSFORM_FEEDBACK_BUFFER_START),
            NAMED(TRANSFORM_FEEDBACK_BUFFER_SIZE), GL_MAX_TRANSFORM_FEEDBACK_BUFFERS);
    to.integers({NAMED(TRANSFORM_FEEDBACK_BINDING), NAMED(TRANSFORM_FEEDBACK_ACTIVE), NAMED(TRANSFORM_FEEDBACK_PAUSED),
                 NAMED(DISPATCH_INDIRECT_BUFFER_BINDING), NAMED(COPY_READ_BUFFER_BINDING),
                 NAMED(COPY_WRITE_BUFFER_BINDING), NAMED(TEXTURE_BUFFER_BINDING), NAMED(QUERY_BUFFER_BINDING)});
}

// Tables 23.45 and 23.5x: queries, hints, debug output. The number of logged messages is left out: drivers log remarks
// on any call, and nobody can undo that.
void other_state(Recorder& to) {
    const auto& gl = to.gl;
    for (const auto& what : {NAMED(SAMPLES_PASSED), NAMED(ANY_SAMPLES_PASSED), NAMED(ANY_SAMPLES_PASSED_CONSERVATIVE),
                             NAMED(TIME_ELAPSED)}) {
        GLint query = 0;
        gl.GetQueryiv(what.value, GL_CURRENT_QUERY, &query);
        to.add(std::string("CURRENT_QUERY ") + what.name, query);
    }
    for (const auto& what : {NAMED(PRIMITIVES_GENERATED), NAMED(TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN)}) {
        for (GLuint stream = 0; stream < std::max(to.limit(GL_MAX_VERTEX_STREAMS), 1U); ++stream) {
            GLint query = 0;
            gl.GetQueryIndexediv(what.value, stream, GL_CURRENT_QUERY, &query);
            to.add(std::string("CURRENT_QUERY ") + Recorder::indexed(what.name, stream), query);
        }
    }
    to.integers({NAMED(LINE_SMOOTH_HINT), NAMED(POLYGON_SMOOTH_HINT), NAMED(TEXTURE_COMPRESSION_HINT),
                 NAMED(FRAGMENT_SHADER_DERIVATIVE_HINT)});
    to.flags({NAMED(DEBUG_OUTPUT), NAMED(DEBUG_OUTPUT_SYNCHRONOUS)});
    to.integers({NAMED(DEBUG_GROUP_STACK_DEPTH)});
    for (const auto& what : {NAMED(DEBUG_CALLBACK_FUNCTION), NAMED(DEBUG_CALLBACK_USER_PARAM)}) {
        if (!to.version.has(43, 32)) break;
        void* pointer = nullptr;
        gl.GetPointerv(what.value, &pointer);
        to.add(what.name, reinterpret_cast<std::uintptr_t>(pointer));
    }
}

// State that only the compatibility profile has.
void old_state(Recorder& to) {
    const auto& gl = to.gl;
    if (to.get(GL_CONTEXT_PROFILE_MASK) != GL_CONTEXT_COMPATIBILITY_PROFILE_BIT) return;
    to.flags({NAMED(ALPHA_TEST), NAMED(AUTO_NORMAL), NAMED(COLOR_MATERIAL), NAMED(COLOR_SUM), NAMED(FOG),
              NAMED(INDEX_LOGIC_OP), NAMED(LIGHT0), NAMED(LIGHT1), NAMED(LIGHTING), NAMED(LINE_STIPPLE),
              NAMED(MAP1_VERTEX_3), NAMED(MAP2_VERTEX_3), NAMED(NORMALIZE), NAMED(POINT_SMOOTH), NAMED(POINT_SPRITE),
              NAMED(POLYGON_STIPPLE), NAMED(RESCALE_NORMAL), NAMED(VERTEX_PROGRAM_TWO_SIDE)});
    to.integers({NAMED(ALPHA_TEST_FUNC),
                 NAMED(SHADE_MODEL),
                 NAMED(FOG_MODE),
                 NAMED(LINE_STIPPLE_PATTERN),
                 NAMED(LINE_STIPPLE_REPEAT),
                 NAMED(CLAMP_VERTEX_COLOR),
                 NAMED(CLAMP_FRAGMENT_COLOR),
                 NAMED(EDGE_FLAG),
                 NAMED(LIST_BASE),
                 NAMED(FOG_HINT),
                 NAMED(PERSPECTIVE_CORRECTION_HINT),
                 NAMED(POINT_SMOOTH_HINT),
                 NAMED(GENERATE_MIPMAP_HINT),
                 NAMED(CLIENT_ACTIVE_TEXTURE),
                 NAMED(MATRIX_MODE),
                 NAMED(MAP_COLOR),
                 NAMED(MAP_STENCIL),
                 NAMED(INDEX_SHIFT),
                 NAMED(INDEX_OFFSET),
                 NAMED(PIXEL_MAP_R_TO_R_SIZE),
                 NAMED(RENDER_MODE),
                 NAMED(ATTRIB_STACK_DEPTH),
                 NAMED(CLIENT_ATTRIB_STACK_DEPTH),
                 NAMED(MODELVIEW_STACK_DEPTH),
                 NAMED(PROJECTION_STACK_DEPTH)});
    to.floats({NAMED(ALPHA_TEST_REF),
               NAMED(FOG_DENSITY),
               NAMED(POINT_DISTANCE_ATTENUATION),
               NAMED(POINT_SIZE_MIN),
               NAMED(POINT_SIZE_MAX),
               NAMED(CURRENT_COLOR),
               NAMED(CURRENT_SECONDARY_COLOR),
               NAMED(CURRENT_NORMAL),
               NAMED(CURRENT_FOG_COORD),
               NAMED(ACCUM_CLEAR_VALUE),
               NAMED(CURRENT_RASTER_POSITION),
               NAMED(ZOOM_X),
               NAMED(ZOOM_Y),
               NAMED(RED_SCALE),
               NAMED(GREEN_SCALE),
               NAMED(BLUE_SCALE),
               NAMED(ALPHA_SCALE),
               NAMED(DEPTH_SCALE),
               NAMED(RED_BIAS),
               NAMED(GREEN_BIAS),
               NAMED(BLUE_BIAS),
               NAMED(ALPHA_BIAS),
               NAMED(DEPTH_BIAS)});
    for (const auto& what : {NAMED(MODELVIEW_MATRIX), NAMED(PROJECTION_MATRIX)}) {
        std::array<GLfloat, 16> matrix{};
        gl.GetFloatv(what.value, matrix.data());
        to.add<GLfloat>(what.name, matrix);
    }
    std::array<GLubyte, 128> stipple{};
    gl.PushClientAttrib(GL_CLIENT_PIXEL_STORE_BIT);
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    for (const GLenum name : Enums{GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS, GL_PACK_ROW_LENGTH, GL_PACK_LSB_FIRST})
        gl.PixelStorei(name, 0);
    gl.PixelStorei(GL_PACK_ALIGNMENT, 1);
    gl.GetPolygonStipple(stipple.data());
    std::array<GLfloat, 256> map{};
    gl.GetPixelMapfv(GL_PIXEL_MAP_R_TO_R, map.data());
    gl.PopClientAttrib();
    to.add<GLubyte>("POLYGON_STIPPLE pattern", stipple);
    to.add<GLfloat>("PIXEL_MAP_R_TO_R", map);
    const GLint active = to.get(GL_ACTIVE_TEXTURE);
    for (GLuint unit = 0; unit < 2; ++unit) {
        gl.ActiveTexture(GL_TEXTURE0 + unit);
        to.flags({NAMED(TEXTURE_1D), NAMED(TEXTURE_2D), NAMED(TEXTURE_3D), NAMED(TEXTURE_CUBE_MAP),
                  NAMED(TEXTURE_GEN_S), NAMED(TEXTURE_GEN_T)});
        to.floats({NAMED(CURRENT_TEXTURE_COORDS)});
        GLint mode = 0;
        GLfloat bias = 0;
        gl.GetTexEnviv(GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, &mode);
        gl.GetTexEnvfv(GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS, &bias);
        to.add("TEXTURE_ENV_MODE", mode);
        to.add("TEXTURE_FILTER_CONTROL LOD_BIAS", bias);
    }
    gl.ActiveTexture(static_cast<GLenum>(active));
    if (!gl.ARB_imaging) return;
    to.flags({NAMED(COLOR_TABLE), NAMED(HISTOGRAM), NAMED(MINMAX)});
    std::array<GLfloat, 16> matrix{};
    gl.GetFloatv(GL_COLOR_MATRIX, matrix.data());
    to.add<GLfloat>("COLOR_MATRIX", matrix);
    to.floats({NAMED(POST_COLOR_MATRIX_RED_SCALE), NAMED(POST_COLOR_MATRIX_GREEN_BIAS),
               NAMED(POST_CONVOLUTION_RED_SCALE), NAMED(POST_CONVOLUTION_ALPHA_BIAS)});
}

// The subroutines that the stages of the current program or pipeline call.
void subroutine_state(Recorder& to) {
    const auto& gl = to.gl;
    if (!to.version.has(43, never)) return;
    const auto program = static_cast<GLuint>(to.get(GL_CURRENT_PROGRAM));
    const auto pipeline = static_cast<GLuint>(to.get(GL_PROGRAM_PIPELINE_BINDING));
    struct Stage {
        Named shader;
        GLenum uniforms;
    };
    for (const auto& [stage, uniforms] : {Stage{NAMED(VERTEX_SHADER), GL_VERTEX_SUBROUTINE_UNIFORM},
                                          Stage{NAMED(TESS_CONTROL_SHADER), GL_TESS_CONTROL_SUBROUTINE_UNIFORM},
                                          Stage{NAMED(TESS_EVALUATION_SHADER), GL_TESS_EVALUATION_SUBROUTINE_UNIFORM},
                                          Stage{NAMED(GEOMETRY_SHADER), GL_GEOMETRY_SUBROUTINE_UNIFORM},
                                          Stage{NAMED(FRAGMENT_SHADER), GL_FRAGMENT_SUBROUTINE_UNIFORM},
                                          Stage{NAMED(COMPUTE_SHADER), GL_COMPUTE_SUBROUTINE_UNIFORM}}) {
        GLint of_stage = static_cast<GLint>(program), active = 0, count = 0;
        if (program == 0 && pipeline != 0) gl.GetProgramPipelineiv(pipeline, stage.value, &of_stage);
        if (of_stage == 0) continue;
        const auto id = static_cast<GLuint>(of_stage);
        gl.GetProgramInterfaceiv(id, uniforms, GL_ACTIVE_RESOURCES, &active);
        if (active > 0) gl.GetProgramStageiv(id, stage.value, GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS, &count);
        for (GLint i = 0; i < count; ++i) {
            GLuint chosen = 0;
            gl.GetUniformSubroutineuiv(stage.value, i, &chosen);
            to.add(Recorder::indexed("SUBROUTINE", static_cast<GLuint>(i), stage.name), chosen);
        }
    }
}

// State of extensions, if this context has it.
void extension_state(Recorder& to) {
    const auto& gl = to.gl;
    const auto flag = [&](int extension, const Named& what) {
        if (extension && has_capability(gl, what.value)) to.flags({what});
    };
    const auto integer = [&](int extension, const Named& what) {
        if (extension && has_integer(gl, what.value)) to.integers({what});
    };
    const auto flag_of_viewports = [&](int extension, const Named& what) {
        if (extension && has_capability_of_viewport(gl, what.value)) to.indexed_flags(what, to.limit(GL_MAX_VIEWPORTS));
    };
    integer(gl.MESA_pack_invert, NAMED(PACK_INVERT_MESA));
    integer(gl.ARB_indirect_parameters, NAMED(PARAMETER_BUFFER_BINDING_ARB));
    flag(gl.KHR_blend_equation_advanced_coherent, NAMED(BLEND_ADVANCED_COHERENT_KHR));
    flag(gl.INTEL_conservative_rasterization, NAMED(CONSERVATIVE_RASTERIZATION_INTEL));
    flag(gl.INTEL_blackhole_render, NAMED(BLACKHOLE_RENDER_INTEL));
    flag(gl.NV_representative_fragment_test, NAMED(REPRESENTATIVE_FRAGMENT_TEST_NV));
    flag(gl.NV_fragment_coverage_to_color, NAMED(FRAGMENT_COVERAGE_TO_COLOR_NV));
    flag(gl.EXT_raster_multisample, NAMED(RASTER_MULTISAMPLE_EXT));
    flag(gl.NV_clip_space_w_scaling, NAMED(VIEWPORT_POSITION_W_SCALE_NV));
    flag(gl.AMD_depth_clamp_separate, NAMED(DEPTH_CLAMP_NEAR_AMD));
    flag(gl.AMD_depth_clamp_separate, NAMED(DEPTH_CLAMP_FAR_AMD));
    flag_of_viewports(gl.NV_scissor_exclusive, NAMED(SCISSOR_TEST_EXCLUSIVE_NV));
    flag_of_viewports(gl.NV_shading_rate_image, NAMED(SHADING_RATE_IMAGE_NV));
    flag(gl.NV_primitive_restart, NAMED(PRIMITIVE_RESTART_NV));
    integer(gl.NV_framebuffer_mixed_samples, NAMED(COVERAGE_MODULATION_NV));
    flag(gl.NV_conservative_raster, NAMED(CONSERVATIVE_RASTERIZATION_NV));
    integer(gl.NV_conservative_raster, NAMED(SUBPIXEL_PRECISION_BIAS_X_BITS_NV));
    integer(gl.NV_conservative_raster, NAMED(SUBPIXEL_PRECISION_BIAS_Y_BITS_NV));
    if (gl.EXT_window_rectangles && has_integer(gl, GL_WINDOW_RECTANGLE_MODE_EXT)) {
        to.integers({NAMED(WINDOW_RECTANGLE_MODE_EXT), NAMED(NUM_WINDOW_RECTANGLES_EXT)});
        to.indexed_integers(NAMED(WINDOW_RECTANGLE_EXT), to.limit(GL_NUM_WINDOW_RECTANGLES_EXT));
    }
    for (const auto& what : {NAMED(VIEWPORT_SWIZZLE_X_NV), NAMED(VIEWPORT_SWIZZLE_Y_NV), NAMED(VIEWPORT_SWIZZLE_Z_NV),
                             NAMED(VIEWPORT_SWIZZLE_W_NV)}) {
        if (gl.NV_viewport_swizzle) to.indexed_integers(what, to.limit(GL_MAX_VIEWPORTS));
    }
    if (gl.EXT_stencil_two_side && has_capability(gl, GL_STENCIL_TEST_TWO_SIDE_EXT)) {
        to.flags({NAMED(STENCIL_TEST_TWO_SIDE_EXT)});
        to.integers({NAMED(ACTIVE_STENCIL_FACE_EXT)});
        const GLint active = to.get(GL_ACTIVE_STENCIL_FACE_EXT);
        for (const GLenum face : Enums{GL_FRONT, GL_BACK}) {
            gl.ActiveStencilFaceEXT(face);
            for (const auto& what : {NAMED(STENCIL_FUNC), NAMED(STENCIL_REF), NAMED(STENCIL_VALUE_MASK),
                                     NAMED(STENCIL_WRITEMASK), NAMED(STENCIL_FAIL)})
                to.add(std::string(face == GL_FRONT ? "two-sided front " : "two-sided back ") + what.name,
                       to.get(what.value));
        }
        gl.ActiveStencilFaceEXT(static_cast<GLenum>(active));
    }
}

std::string text(const std::vector<double>& values) {
    std::ostringstream out;
    out.precision(10);
    for (const auto value : values) out << ' ' << value;
    return out.str();
}

}  // namespace

Snapshot Snapshot::take(const Api& gl) {
    Recorder to(gl);
    const auto pending = take_errors(gl);
    to.add<GLenum>("pending errors", pending);
    vertex_state(to);
    raster_state(to);
    texture_state(to);
    pixel_state(to);
    framebuffer_state(to);
    transfer_state(to);
    program_state(to);
    other_state(to);
    old_state(to);
    subroutine_state(to);
    extension_state(to);
    REQUIRE_MESSAGE(to.unknown.empty(), "state of OpenGL 4.5 that the driver does not know:", to.unknown);
    return std::move(to.snapshot);
}

std::string difference(const Snapshot& before, const Snapshot& after) {
    std::ostringstream out;
    constexpr int max = 12;
    int found = 0;
    const auto count = std::max(before.entries.size(), after.entries.size());
    const Snapshot::Entry none{"(no entry)", {}};
    for (std::size_t i = 0; i < count; ++i) {
        const auto& a = i < before.entries.size() ? before.entries[i] : none;
        const auto& b = i < after.entries.size() ? after.entries[i] : none;
        if (a == b) continue;
        if (++found > max) continue;
        out << a.name << (a.name == b.name ? "" : " / " + b.name) << ":" << text(a.values) << " ->" << text(b.values)
            << "\n";
    }
    if (found > max) out << "and " << found - max << " more\n";
    return out.str();
}

}  // namespace quadmill::test
