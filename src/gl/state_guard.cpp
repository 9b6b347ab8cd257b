#include "gl/state_guard.hpp"

#include <span>
#include <string>

#include "gl/api.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::gl {

namespace {

constexpr int never = Features::never;
// A piece of state, and the versions of OpenGL and OpenGL ES that introduced it.
struct Since {
    GLenum name;
    int desktop, es;
};
// The baseline has each of these off.
constexpr std::array<Since, 30> saved_capabilities{{{GL_CULL_FACE, 11, 20},
                                                    {GL_RASTERIZER_DISCARD, 30, 30},
                                                    {GL_POLYGON_OFFSET_FILL, 11, 20},
                                                    {GL_POLYGON_OFFSET_LINE, 11, never},
                                                    {GL_POLYGON_OFFSET_POINT, 11, never},
                                                    {GL_POLYGON_SMOOTH, 11, never},
                                                    {GL_DEPTH_TEST, 11, 20},
                                                    {GL_STENCIL_TEST, 11, 20},
                                                    {GL_COLOR_LOGIC_OP, 11, never},
                                                    {GL_FRAMEBUFFER_SRGB, 30, never},
                                                    {GL_DITHER, 11, 20},
                                                    {GL_DEPTH_CLAMP, 32, never},
                                                    {GL_MULTISAMPLE, 13, never},
                                                    {GL_SAMPLE_MASK, 32, 31},
                                                    {GL_SAMPLE_ALPHA_TO_COVERAGE, 13, 20},
                                                    {GL_SAMPLE_ALPHA_TO_ONE, 13, never},
                                                    {GL_SAMPLE_COVERAGE, 13, 20},
                                                    {GL_SAMPLE_SHADING, 40, 32},
                                                    {GL_PRIMITIVE_RESTART, 31, never},
                                                    {GL_CLIP_DISTANCE0, 30, never},
                                                    {GL_CLIP_DISTANCE1, 30, never},
                                                    {GL_CLIP_DISTANCE2, 30, never},
                                                    {GL_CLIP_DISTANCE3, 30, never},
                                                    {GL_CLIP_DISTANCE4, 30, never},
                                                    {GL_CLIP_DISTANCE5, 30, never},
                                                    {GL_CLIP_DISTANCE6, 30, never},
                                                    {GL_CLIP_DISTANCE7, 30, never},
                                                    {GL_LINE_SMOOTH, 11, never},
                                                    {GL_PRIMITIVE_RESTART_FIXED_INDEX, 43, 30},
                                                    {GL_PROGRAM_POINT_SIZE, 32, never}}};

constexpr std::array<GLenum, 4> blend_factor_names{GL_BLEND_SRC_RGB, GL_BLEND_DST_RGB, GL_BLEND_SRC_ALPHA,
                                                   GL_BLEND_DST_ALPHA};

struct PixelStore {
    GLenum name;
    GLint tight;  // value for rows without gaps
    int es;       // version of OpenGL ES that introduced it
};
constexpr std::array<PixelStore, 17> pixel_stores{{{GL_PACK_SWAP_BYTES, 0, never},
                                                   {GL_PACK_LSB_FIRST, 0, never},
                                                   {GL_PACK_ROW_LENGTH, 0, 30},
                                                   {GL_PACK_SKIP_ROWS, 0, 30},
                                                   {GL_PACK_SKIP_PIXELS, 0, 30},
                                                   {GL_PACK_ALIGNMENT, 1, 20},
                                                   {GL_PACK_SKIP_IMAGES, 0, never},
                                                   {GL_PACK_IMAGE_HEIGHT, 0, never},
                                                   {GL_UNPACK_SWAP_BYTES, 0, never},
                                                   {GL_UNPACK_LSB_FIRST, 0, never},
                                                   {GL_UNPACK_ROW_LENGTH, 0, 30},
                                                   {GL_UNPACK_SKIP_ROWS, 0, 30},
                                                   {GL_UNPACK_SKIP_PIXELS, 0, 30},
                                                   {GL_UNPACK_ALIGNMENT, 1, 20},
                                                   {GL_UNPACK_SKIP_IMAGES, 0, 30},
                                                   {GL_UNPACK_IMAGE_HEIGHT, 0, 30},
                                                   {GL_PACK_INVERT_MESA, 0, never}}};

bool has(const Api& gl, const Features& features, const PixelStore& store) {
    if (store.name == GL_PACK_INVERT_MESA) return gl.MESA_pack_invert != 0;
    return features.has(0, store.es);
}

void set_capability(const Api& gl, GLenum capability, bool on) {
    if (on) {
        gl.Enable(capability);
    } else {
        gl.Disable(capability);
    }
}

void set_capability(const Api& gl, GLenum capability, GLuint index, bool on) {
    if (on) {
        gl.Enablei(capability, index);
    } else {
        gl.Disablei(capability, index);
    }
}

// Advanced blend equations apply to colour and alpha together, and only this call accepts them.
void restore_blend_equation(const Api& gl, GLuint target, GLenum color, GLenum alpha) {
    if (color == alpha) {
        gl.BlendEquationi(target, color);
    } else {
        gl.BlendEquationSeparatei(target, color, alpha);
    }
}

void refuse_active_queries(const Api& gl, const Features& features) {
    // Queries of pipeline statistics come last. Queries of stages that no pass has are left alone.
    constexpr std::array<Since, 10> targets{{{GL_SAMPLES_PASSED, 15, never},
                                             {GL_ANY_SAMPLES_PASSED, 33, 30},
                                             {GL_ANY_SAMPLES_PASSED_CONSERVATIVE, 43, 30},
                                             {GL_PRIMITIVES_GENERATED, 30, 32},
                                             {GL_VERTICES_SUBMITTED, 0, never},
                                             {GL_PRIMITIVES_SUBMITTED, 0, never},
                                             {GL_VERTEX_SHADER_INVOCATIONS, 0, never},
                                             {GL_FRAGMENT_SHADER_INVOCATIONS, 0, never},
                                             {GL_CLIPPING_INPUT_PRIMITIVES, 0, never},
                                             {GL_CLIPPING_OUTPUT_PRIMITIVES, 0, never}}};
    constexpr std::size_t always_there = 4;
    for (const auto& [target, desktop, es] :
         std::span(targets).first(gl.ARB_pipeline_statistics_query ? targets.size() : always_there)) {
        if (!features.has(desktop, es)) continue;
        GLint active = 0;
        gl.GetQueryiv(target, GL_CURRENT_QUERY, &active);
        if (active == 0) continue;
        throw InvalidArgument(
            "a query of samples, primitives or shader invocations (object " + std::to_string(active) +
            ") is active in the OpenGL context, and the passes of quadmill would be counted in it; end it before the "
            "call");
    }
}

// A program flagged for deletion is deleted when another one becomes current, and could not be restored.
void refuse_dying_program(const Api& gl) {
    GLint program = 0, dying = GL_FALSE;
    gl.GetIntegerv(GL_CURRENT_PROGRAM, &program);
    if (program != 0) gl.GetProgramiv(static_cast<GLuint>(program), GL_DELETE_STATUS, &dying);
    if (dying) {
        throw InvalidArgument("the OpenGL context uses program " + std::to_string(program) +
                              ", which is flagged for deletion and would not survive the call; use another one first");
    }
}

// A texture, sampler or buffer that was deleted in a sharing context lives on while it is bound here, but could not be
// bound again.
void refuse_dead_object(const char* kind, int name, unsigned char (*is_alive)(GLuint)) {
    if (name == 0 || is_alive(static_cast<GLuint>(name))) return;
    throw InvalidArgument("the OpenGL context has " + std::string(kind) + " " + std::to_string(name) +
                          " bound, which was deleted in another context and would not survive the call; bind another "
                          "one, or 0, first");
}

// Fills the stack of debug groups until the driver raises an error, then pops what was pushed.
void overflow_debug_groups(const Api& gl) {
    GLint before = 0, max = 0, after = 0;
    gl.GetIntegerv(GL_DEBUG_GROUP_STACK_DEPTH, &before);
    gl.GetIntegerv(GL_MAX_DEBUG_GROUP_STACK_DEPTH, &max);
    for (GLint i = before; i <= max; ++i) gl.PushDebugGroup(GL_DEBUG_SOURCE_APPLICATION, 0, 1, "q");
    gl.GetIntegerv(GL_DEBUG_GROUP_STACK_DEPTH, &after);
    for (GLint i = before; i < after; ++i) gl.PopDebugGroup();
}

// Makes the driver record `error` again, without other effects. The application does not see the messages this causes.
void raise_again(const Api& gl, const Features& features, GLenum error) {
    const bool messages = features.has(43, 32) && gl.IsEnabled(GL_DEBUG_OUTPUT);
    if (messages) gl.Disable(GL_DEBUG_OUTPUT);
    switch (error) {
        case GL_INVALID_ENUM:
            gl.Enable(GL_NONE);
            break;
        case GL_INVALID_VALUE:
            gl.Viewport(0, 0, -1, -1);
            break;
        case GL_INVALID_OPERATION:
            gl.BeginQuery(features.is_es ? GL_ANY_SAMPLES_PASSED : GL_SAMPLES_PASSED, 0);
            break;
        case GL_INVALID_FRAMEBUFFER_OPERATION: {
            GLuint incomplete = 0;
            GLint bound = 0;
            gl.GetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &bound);
            gl.GenFramebuffers(1, &incomplete);
            gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, incomplete);
            gl.Clear(GL_COLOR_BUFFER_BIT);
            gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(bound));
            gl.DeleteFramebuffers(1, &incomplete);
            break;
        }
        case GL_OUT_OF_MEMORY: {
            GLuint impossible = 0;
            GLint bound = 0;
            gl.GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &bound);
            gl.GenBuffers(1, &impossible);
            gl.BindBuffer(GL_PIXEL_PACK_BUFFER, impossible);
            gl.BufferData(GL_PIXEL_PACK_BUFFER, PTRDIFF_MAX / 2, nullptr, GL_STREAM_READ);
            gl.BindBuffer(GL_PIXEL_PACK_BUFFER, static_cast<GLuint>(bound));
            gl.DeleteBuffers(1, &impossible);
            break;
        }
        case GL_STACK_OVERFLOW:
            overflow_debug_groups(gl);
            break;
        case GL_STACK_UNDERFLOW: {
            GLint depth = 0;
            gl.GetIntegerv(GL_DEBUG_GROUP_STACK_DEPTH, &depth);
            if (depth == 1) {
                gl.PopDebugGroup();
            } else {
                gl.BeginQuery(GL_SAMPLES_PASSED,
                              0);  // the application has pushed groups since; a different error is better than none
            }
            break;
        }
        default:
            break;
    }
    if (messages) gl.Enable(GL_DEBUG_OUTPUT);
}

}  // namespace

// OpenGL has no getter for conditional rendering, but it does not nest: beginning it again is an error. If a driver
// rejects the probe even outside conditional rendering, an error means nothing. So errors count only after the probe
// succeeded once.
void HostState::refuse_conditional_rendering(const Api& gl, const Features& features) {
    if (features.is_es) return;  // OpenGL ES has no conditional rendering
    if (probe_ == 0) {           // some calls reject a query that was never active
        gl.GenQueries(1, &probe_);
        gl.BeginQuery(GL_SAMPLES_PASSED, probe_);
        gl.EndQuery(GL_SAMPLES_PASSED);
    }
    gl.BeginConditionalRender(probe_, GL_QUERY_NO_WAIT);
    const auto answer = gl.GetError();
    if (answer == GL_NO_ERROR) {
        gl.EndConditionalRender();
        probe_works_ = true;
    } else if (answer == GL_INVALID_OPERATION && probe_works_) {
        for (const auto error : errors_) raise_again(gl, features, error);
        throw InvalidArgument(
            "conditional rendering is active in the OpenGL context, and the passes of quadmill may be skipped by it; "
            "end it (glEndConditionalRender) before the call");
    }
}

void HostState::save_bindings(const Api& gl, const Features& features) {
    gl.GetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &pack_buffer_);
    gl.GetIntegerv(GL_PIXEL_UNPACK_BUFFER_BINDING, &unpack_buffer_);
    if (features.has(44, never)) gl.GetIntegerv(GL_QUERY_BUFFER_BINDING, &query_buffer_);
    gl.GetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &draw_framebuffer_);
    if (!features.direct_state_access) {
        gl.GetIntegerv(GL_ARRAY_BUFFER_BINDING, &array_buffer_);
        gl.GetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &read_framebuffer_);
    }
    gl.GetIntegerv(GL_ACTIVE_TEXTURE, &active_texture_);
    for (GLuint i = 0; i < texture_units; ++i) {
        gl.ActiveTexture(GL_TEXTURE0 + i);
        gl.GetIntegerv(GL_TEXTURE_BINDING_2D, &texture_[i]);
        gl.GetIntegerv(GL_TEXTURE_BINDING_2D_ARRAY, &texture_array_[i]);
        if (features.has(31, 32)) gl.GetIntegerv(GL_TEXTURE_BINDING_BUFFER, &texture_buffer_[i]);
        gl.GetIntegerv(GL_SAMPLER_BINDING, &sampler_[i]);
    }
    gl.ActiveTexture(static_cast<GLenum>(active_texture_));
    for (const auto name : {pack_buffer_, unpack_buffer_, query_buffer_, array_buffer_})
        refuse_dead_object("buffer", name, gl.IsBuffer);
    for (std::size_t i = 0; i < texture_units; ++i) {
        for (const auto name : {texture_[i], texture_array_[i], texture_buffer_[i]})
            refuse_dead_object("texture", name, gl.IsTexture);
        refuse_dead_object("sampler", sampler_[i], gl.IsSampler);
    }
}

void HostState::restore_bindings(const Api& gl, const Features& features) const noexcept {
    gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(draw_framebuffer_));
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, static_cast<GLuint>(pack_buffer_));
    gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, static_cast<GLuint>(unpack_buffer_));
    if (features.has(44, never)) gl.BindBuffer(GL_QUERY_BUFFER, static_cast<GLuint>(query_buffer_));
    if (!features.direct_state_access) {
        gl.BindBuffer(GL_ARRAY_BUFFER, static_cast<GLuint>(array_buffer_));
        gl.BindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(read_framebuffer_));
    }
    for (GLuint i = 0; i < texture_units; ++i) {
        gl.ActiveTexture(GL_TEXTURE0 + i);
        gl.BindTexture(GL_TEXTURE_2D, static_cast<GLuint>(texture_[i]));
        gl.BindTexture(GL_TEXTURE_2D_ARRAY, static_cast<GLuint>(texture_array_[i]));
        if (features.has(31, 32)) gl.BindTexture(GL_TEXTURE_BUFFER, static_cast<GLuint>(texture_buffer_[i]));
        gl.BindSampler(i, static_cast<GLuint>(sampler_[i]));
    }
    gl.ActiveTexture(static_cast<GLenum>(active_texture_));
}

// Versions without state per render target have one blend and one mask for all.
void HostState::save_targets(const Api& gl, const Features& features) {
    if (!features.has(30, 32)) {
        blend_[0] = gl.IsEnabled(GL_BLEND);
        gl.GetBooleanv(GL_COLOR_WRITEMASK, color_mask_[0].data());
    }
    if (!features.has(40, 32)) {
        gl.GetIntegerv(GL_BLEND_EQUATION_RGB, &blend_equation_[0][0]);
        gl.GetIntegerv(GL_BLEND_EQUATION_ALPHA, &blend_equation_[0][1]);
    }
    for (GLuint i = 0; i < draw_buffers; ++i) {
        if (features.has(30, 32)) {
            blend_[i] = gl.IsEnabledi(GL_BLEND, i);
            gl.GetBooleani_v(GL_COLOR_WRITEMASK, i, color_mask_[i].data());
        }
        if (features.has(40, 32)) {
            gl.GetIntegeri_v(GL_BLEND_EQUATION_RGB, i, &blend_equation_[i][0]);
            gl.GetIntegeri_v(GL_BLEND_EQUATION_ALPHA, i, &blend_equation_[i][1]);
        }
    }
}

void HostState::restore_targets(const Api& gl, const Features& features) const noexcept {
    if (!features.has(30, 32)) {
        set_capability(gl, GL_BLEND, blend_[0]);
        gl.ColorMask(color_mask_[0][0], color_mask_[0][1], color_mask_[0][2], color_mask_[0][3]);
    }
    if (!features.has(40, 32)) {
        const auto color = static_cast<GLenum>(blend_equation_[0][0]),
                   alpha = static_cast<GLenum>(blend_equation_[0][1]);
        if (color == alpha) {
            gl.BlendEquation(color);  // see restore_blend_equation
        } else {
            gl.BlendEquationSeparate(color, alpha);
        }
        if (blend_factors_) {
            const auto& saved = (*blend_factors_)[0];
            gl.BlendFuncSeparate(static_cast<GLenum>(saved[0]), static_cast<GLenum>(saved[1]),
                                 static_cast<GLenum>(saved[2]), static_cast<GLenum>(saved[3]));
        }
    }
    for (GLuint i = 0; i < draw_buffers; ++i) {
        if (features.has(30, 32)) {
            set_capability(gl, GL_BLEND, i, blend_[i]);
            gl.ColorMaski(i, color_mask_[i][0], color_mask_[i][1], color_mask_[i][2], color_mask_[i][3]);
        }
        if (!features.has(40, 32)) continue;
        restore_blend_equation(gl, i, static_cast<GLenum>(blend_equation_[i][0]),
                               static_cast<GLenum>(blend_equation_[i][1]));
        if (!blend_factors_) continue;
        const auto& saved = (*blend_factors_)[i];
        gl.BlendFuncSeparatei(i, static_cast<GLenum>(saved[0]), static_cast<GLenum>(saved[1]),
                              static_cast<GLenum>(saved[2]), static_cast<GLenum>(saved[3]));
    }
}

// With several viewports, and no call that changes a single one, passes change all of them.
void HostState::save_viewports(const Api& gl, const Features& features) {
    if (!features.has(41, never)) {
        viewports_.resize(1);
        scissor_boxes_.resize(1);
        gl.GetFloatv(GL_VIEWPORT, viewports_[0].data());
        gl.GetIntegerv(GL_SCISSOR_BOX, scissor_boxes_[0].data());
        scissors_ = {gl.IsEnabled(GL_SCISSOR_TEST) != GL_FALSE};
        std::array<float, 2> range{};
        gl.GetFloatv(GL_DEPTH_RANGE, range.data());
        depth_range_ = {range[0], range[1]};
        return;
    }
    GLint count = 1;
    if (!features.direct_state_access) gl.GetIntegerv(GL_MAX_VIEWPORTS, &count);
    const auto size = static_cast<std::size_t>(count);
    viewports_.resize(size);
    scissor_boxes_.resize(size);
    scissors_.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
        const auto index = static_cast<GLuint>(i);
        gl.GetFloati_v(GL_VIEWPORT, index, viewports_[i].data());
        scissors_[i] = gl.IsEnabledi(GL_SCISSOR_TEST, index) != GL_FALSE;
        if (!features.direct_state_access) gl.GetIntegeri_v(GL_SCISSOR_BOX, index, scissor_boxes_[i].data());
    }
    gl.GetDoublei_v(GL_DEPTH_RANGE, 0, depth_range_.data());
}

void HostState::restore_viewports(const Api& gl, const Features& features) const noexcept {
    if (!features.has(41, never)) {
        const auto& viewport = viewports_[0];
        gl.Viewport(static_cast<GLint>(viewport[0]), static_cast<GLint>(viewport[1]), static_cast<GLsizei>(viewport[2]),
                    static_cast<GLsizei>(viewport[3]));
        const auto& box = scissor_boxes_[0];
        gl.Scissor(box[0], box[1], box[2], box[3]);
        set_capability(gl, GL_SCISSOR_TEST, scissors_[0]);
        if (features.is_es) {
            gl.DepthRangef(static_cast<float>(depth_range_[0]), static_cast<float>(depth_range_[1]));
        } else {
            gl.DepthRange(depth_range_[0], depth_range_[1]);
        }
        return;
    }
    for (std::size_t i = 0; i < viewports_.size(); ++i) {
        const auto index = static_cast<GLuint>(i);
        gl.ViewportIndexedfv(index, viewports_[i].data());
        set_capability(gl, GL_SCISSOR_TEST, index, scissors_[i]);
        if (!features.direct_state_access) gl.ScissorIndexedv(index, scissor_boxes_[i].data());
    }
    gl.DepthRangeIndexed(0, depth_range_[0], depth_range_[1]);
}

void HostState::pause_feedback(const Api& gl, const Features& features) {
    paused_feedback_ = false;
    if (!features.has(40, 30)) return;  // 3.3 has no getter for it and cannot pause it
    GLint active = 0, paused = 0;
    gl.GetIntegerv(GL_TRANSFORM_FEEDBACK_ACTIVE, &active);
    gl.GetIntegerv(GL_TRANSFORM_FEEDBACK_PAUSED, &paused);
    paused_feedback_ = active && !paused;
    if (paused_feedback_) gl.PauseTransformFeedback();
}

void HostState::save(const Api& gl, const Features& features) {
    if (features.old_state) CompatibilityState::refuse_what_hides_passes(gl);
    refuse_active_queries(gl, features);
    refuse_dying_program(gl);
    save_bindings(gl, features);
    errors_.clear();
    for (GLenum error = gl.GetError(); error != GL_NO_ERROR && errors_.size() < 8; error = gl.GetError())
        errors_.push_back(error);
    refuse_conditional_rendering(gl, features);
    pause_feedback(gl, features);

    for (std::size_t i = 0; i < saved_capabilities.size(); ++i) {
        const auto& [name, desktop, es] = saved_capabilities[i];
        capabilities_[i] = features.has(desktop, es) && gl.IsEnabled(name);
    }
    save_targets(gl, features);
    save_viewports(gl, features);
    gl.GetIntegerv(GL_DEPTH_FUNC, &depth_func_);
    gl.GetBooleanv(GL_DEPTH_WRITEMASK, &depth_mask_);
    if (gl.EXT_depth_bounds_test) {
        depth_bounds_ = gl.IsEnabled(GL_DEPTH_BOUNDS_TEST_EXT);
        gl.GetDoublev(GL_DEPTH_BOUNDS_EXT, depth_bounds_range_.data());
    }
    stencil_.reset();
    blend_factors_.reset();
    if (!features.is_es) gl.GetFloatv(GL_POINT_SIZE, &point_size_);
    if (gl.PolygonMode) gl.GetIntegerv(GL_POLYGON_MODE, polygon_mode_.data());
    if (gl.ClipControl) {
        gl.GetIntegerv(GL_CLIP_ORIGIN, &clip_origin_);
        gl.GetIntegerv(GL_CLIP_DEPTH_MODE, &clip_depth_);
    }
    gl.GetIntegerv(GL_CURRENT_PROGRAM, &program_);
    gl.GetIntegerv(GL_VERTEX_ARRAY_BINDING, &vertex_array_);
    pixel_store_.clear();
    for (const auto& store : pixel_stores) {
        if (has(gl, features, store)) gl.GetIntegerv(store.name, &pixel_store_.emplace_back());
    }
    if (features.old_state) old_state_.emplace().save(gl);
    extensions_.save(gl, features.is_es);
    if (features.has(43, never)) subroutines_.save(gl);
}

void HostState::release(const Api& gl) const noexcept {
    gl.DeleteQueries(1, &probe_);
}

void HostState::save_blend_factors(const Api& gl, const Features& features) {
    if (blend_factors_) return;
    blend_factors_.emplace();
    if (!features.has(40, 32)) {
        for (std::size_t name = 0; name < blend_factor_names.size(); ++name)
            gl.GetIntegerv(blend_factor_names[name], &(*blend_factors_)[0][name]);
        return;
    }
    for (GLuint i = 0; i < draw_buffers; ++i) {
        for (std::size_t name = 0; name < blend_factor_names.size(); ++name)
            gl.GetIntegeri_v(blend_factor_names[name], i, &(*blend_factors_)[i][name]);
    }
}

void HostState::save_stencil(const Api& gl, const Features& features) {
    if (stencil_) return;
    const auto get = [&](GLenum name) -> std::int64_t {
        GLint narrow = 0;
        GLint64 value = 0;
        if (!features.works_around(Workaround::WideStencilMasks)) return gl.GetIntegerv(name, &narrow), narrow;
        gl.GetInteger64v(name, &value);
        return value;
    };
    stencil_ = {{{get(GL_STENCIL_FUNC), get(GL_STENCIL_REF), get(GL_STENCIL_VALUE_MASK), get(GL_STENCIL_WRITEMASK),
                  get(GL_STENCIL_FAIL), get(GL_STENCIL_PASS_DEPTH_FAIL), get(GL_STENCIL_PASS_DEPTH_PASS)},
                 {get(GL_STENCIL_BACK_FUNC), get(GL_STENCIL_BACK_REF), get(GL_STENCIL_BACK_VALUE_MASK),
                  get(GL_STENCIL_BACK_WRITEMASK), get(GL_STENCIL_BACK_FAIL), get(GL_STENCIL_BACK_PASS_DEPTH_FAIL),
                  get(GL_STENCIL_BACK_PASS_DEPTH_PASS)}}};
}

void HostState::restore_stencil(const Api& gl) const noexcept {
    if (!stencil_) return;
    for (std::size_t i = 0; i < stencil_->size(); ++i) {
        const auto& saved = (*stencil_)[i];
        const GLenum face = i == 0 ? GL_FRONT : GL_BACK;
        gl.StencilFuncSeparate(face, static_cast<GLenum>(saved.func), static_cast<GLint>(saved.reference),
                               static_cast<GLuint>(saved.value_mask));
        gl.StencilOpSeparate(face, static_cast<GLenum>(saved.fail), static_cast<GLenum>(saved.depth_fail),
                             static_cast<GLenum>(saved.depth_pass));
        gl.StencilMaskSeparate(face, static_cast<GLuint>(saved.write_mask));
    }
}

namespace {
// Rows of pixels without gaps, in both directions.
void store_tightly(const Api& gl, const Features& features) {
    for (const auto& store : pixel_stores) {
        if (has(gl, features, store)) gl.PixelStorei(store.name, store.tight);
    }
}
}  // namespace

void set_baseline(const Api& gl, const Features& features) {
    for (const auto& [name, desktop, es] : saved_capabilities) {
        const bool lines = name == GL_POLYGON_OFFSET_LINE || name == GL_POLYGON_OFFSET_POINT;
        if (!features.has(desktop, es)) continue;
        if (!lines || features.works_around(Workaround::LinesWithoutOffset)) gl.Disable(name);
    }
    if (features.direct_state_access) {
        for (GLuint i = 0; i < draw_buffers; ++i) {
            gl.Disablei(GL_BLEND, i);
            gl.ColorMaski(i, GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
        }
        gl.Disablei(GL_SCISSOR_TEST, 0);
        gl.DepthRangeIndexed(0, 0, 1);
        gl.ClipControl(GL_LOWER_LEFT, GL_ZERO_TO_ONE);  // keeps depths as the vertex shader computes them, unrounded
    } else {
        gl.Disable(GL_BLEND);
        gl.ColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
        gl.Disable(GL_SCISSOR_TEST);
        if (features.has(41, never)) {
            gl.DepthRangeIndexed(0, 0, 1);
        } else if (features.is_es) {
            gl.DepthRangef(0, 1);
        } else {
            gl.DepthRange(0, 1);
        }
        if (gl.ClipControl) gl.ClipControl(GL_LOWER_LEFT, GL_NEGATIVE_ONE_TO_ONE);
    }
    if (gl.EXT_depth_bounds_test) gl.Disable(GL_DEPTH_BOUNDS_TEST_EXT);
    if (!features.is_es) gl.PointSize(1);
    if (gl.PolygonMode) {
        // A quad of two triangles shades the pixels along their diagonal twice. For a quad that is two texels wide this
        // doubles the cost. If the driver can, one triangle fills its bounding rectangle instead.
        gl.PolygonMode(GL_FRONT_AND_BACK, features.fill_rectangle ? GL_FILL_RECTANGLE_NV : GL_FILL);
    }
    gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
    if (features.has(44, never)) gl.BindBuffer(GL_QUERY_BUFFER, 0);
    store_tightly(gl, features);
    if (features.old_state) CompatibilityState::set_baseline(gl);
}

void HostState::restore(const Api& gl, const Features& features) const noexcept {
    for (std::size_t i = 0; i < saved_capabilities.size(); ++i) {
        const auto& [name, desktop, es] = saved_capabilities[i];
        if (features.has(desktop, es)) set_capability(gl, name, capabilities_[i]);
    }
    restore_targets(gl, features);
    restore_viewports(gl, features);
    gl.DepthFunc(static_cast<GLenum>(depth_func_));
    gl.DepthMask(depth_mask_);
    if (gl.EXT_depth_bounds_test) {
        set_capability(gl, GL_DEPTH_BOUNDS_TEST_EXT, depth_bounds_);
        gl.DepthBoundsEXT(depth_bounds_range_[0], depth_bounds_range_[1]);
    }
    restore_stencil(gl);
    if (!features.is_es) gl.PointSize(point_size_);
    if (gl.PolygonMode) gl.PolygonMode(GL_FRONT_AND_BACK, static_cast<GLenum>(polygon_mode_[0]));
    if (old_state_) old_state_->restore(gl);
    if (gl.ClipControl) gl.ClipControl(static_cast<GLenum>(clip_origin_), static_cast<GLenum>(clip_depth_));
    gl.UseProgram(static_cast<GLuint>(program_));
    if (features.has(43, never)) subroutines_.restore(gl);
    gl.BindVertexArray(static_cast<GLuint>(vertex_array_));
    extensions_.restore(gl);
    restore_bindings(gl, features);
    std::size_t saved = 0;
    for (const auto& store : pixel_stores) {
        if (has(gl, features, store)) gl.PixelStorei(store.name, pixel_store_[saved++]);
    }
    if (paused_feedback_) gl.ResumeTransformFeedback();
    for (int i = 0; i < 8 && gl.GetError() != GL_NO_ERROR; ++i) {
        // Discards an error of the library's own: Device::check has reported it, or an exception does.
    }
    for (const auto error : errors_) raise_again(gl, features, error);
}

}  // namespace quadmill::detail::gl
