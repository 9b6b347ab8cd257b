#include "gl/extension_state.hpp"

#include "gl/api.hpp"

namespace quadmill::detail::gl {

namespace {

// How a capability is turned on and off. Some exist once per viewport; passes use the first viewport.
enum class Kind { Plain, OfViewport, OfClient };

struct Switch {
    int Api::*extension;  // none: core in OpenGL, and some extension of OpenGL ES may bring it
    GLenum name;
    Kind kind = Kind::Plain;
};

// The baseline has each of these off.
constexpr std::array<Switch, 28> switches{
    {{&Api::NV_conservative_raster, GL_CONSERVATIVE_RASTERIZATION_NV},
     {&Api::INTEL_conservative_rasterization, GL_CONSERVATIVE_RASTERIZATION_INTEL},
     {&Api::INTEL_blackhole_render, GL_BLACKHOLE_RENDER_INTEL},
     {&Api::NV_representative_fragment_test, GL_REPRESENTATIVE_FRAGMENT_TEST_NV},
     {&Api::NV_fragment_coverage_to_color, GL_FRAGMENT_COVERAGE_TO_COLOR_NV},
     {&Api::EXT_raster_multisample, GL_RASTER_MULTISAMPLE_EXT},
     {&Api::NV_clip_space_w_scaling, GL_VIEWPORT_POSITION_W_SCALE_NV},
     {&Api::AMD_depth_clamp_separate, GL_DEPTH_CLAMP_NEAR_AMD},
     {&Api::AMD_depth_clamp_separate, GL_DEPTH_CLAMP_FAR_AMD},
     {&Api::EXT_stencil_two_side, GL_STENCIL_TEST_TWO_SIDE_EXT},
     {&Api::NV_scissor_exclusive, GL_SCISSOR_TEST_EXCLUSIVE_NV, Kind::OfViewport},
     {&Api::NV_shading_rate_image, GL_SHADING_RATE_IMAGE_NV, Kind::OfViewport},
     {&Api::NV_primitive_restart, GL_PRIMITIVE_RESTART_NV, Kind::OfClient},
     {&Api::NV_vertex_buffer_unified_memory, GL_VERTEX_ATTRIB_ARRAY_UNIFIED_NV, Kind::OfClient},
     {nullptr, GL_CLIP_DISTANCE0},
     {nullptr, GL_CLIP_DISTANCE1},
     {nullptr, GL_CLIP_DISTANCE2},
     {nullptr, GL_CLIP_DISTANCE3},
     {nullptr, GL_CLIP_DISTANCE4},
     {nullptr, GL_CLIP_DISTANCE5},
     {nullptr, GL_CLIP_DISTANCE6},
     {nullptr, GL_CLIP_DISTANCE7},
     {nullptr, GL_COLOR_LOGIC_OP},
     {nullptr, GL_DEPTH_CLAMP},
     {nullptr, GL_FRAMEBUFFER_SRGB},
     {nullptr, GL_MULTISAMPLE},
     {nullptr, GL_PRIMITIVE_RESTART},
     {nullptr, GL_SAMPLE_ALPHA_TO_ONE}}};

bool is_on(const Api& gl, const Switch& one) {
    return (one.kind == Kind::OfViewport ? gl.IsEnabledi(one.name, 0) : gl.IsEnabled(one.name)) != GL_FALSE;
}

void set(const Api& gl, const Switch& one, bool on) {
    switch (one.kind) {
        case Kind::OfViewport:
            return (on ? gl.Enablei : gl.Disablei)(one.name, 0);
        case Kind::OfClient:
            return (on ? gl.EnableClientState : gl.DisableClientState)(one.name);
        default:
            return (on ? gl.Enable : gl.Disable)(one.name);
    }
}

GLint get(const Api& gl, GLenum name) {
    GLint value = 0;
    gl.GetIntegerv(name, &value);
    return value;
}

constexpr std::array<GLenum, 4> swizzles{GL_VIEWPORT_SWIZZLE_POSITIVE_X_NV, GL_VIEWPORT_SWIZZLE_POSITIVE_Y_NV,
                                         GL_VIEWPORT_SWIZZLE_POSITIVE_Z_NV, GL_VIEWPORT_SWIZZLE_POSITIVE_W_NV};
constexpr std::array<GLenum, 4> swizzle_names{GL_VIEWPORT_SWIZZLE_X_NV, GL_VIEWPORT_SWIZZLE_Y_NV,
                                              GL_VIEWPORT_SWIZZLE_Z_NV, GL_VIEWPORT_SWIZZLE_W_NV};

// The stages of an application's program. The library draws only, but making its own program current resets the
// subroutines of all stages, also those of a compute shader that the application has.
struct Stage {
    GLenum name, subroutine_uniforms;
};
constexpr std::array<Stage, 6> shader_stages{{{GL_VERTEX_SHADER, GL_VERTEX_SUBROUTINE_UNIFORM},
                                              {GL_TESS_CONTROL_SHADER, GL_TESS_CONTROL_SUBROUTINE_UNIFORM},
                                              {GL_TESS_EVALUATION_SHADER, GL_TESS_EVALUATION_SUBROUTINE_UNIFORM},
                                              {GL_GEOMETRY_SHADER, GL_GEOMETRY_SUBROUTINE_UNIFORM},
                                              {GL_FRAGMENT_SHADER, GL_FRAGMENT_SUBROUTINE_UNIFORM},
                                              {GL_COMPUTE_SHADER, GL_COMPUTE_SUBROUTINE_UNIFORM}}};

// The program that provides the shader of this stage; 0 if there is none.
GLuint program_of(const Api& gl, GLuint program, GLuint pipeline, GLenum stage) {
    if (program != 0 || pipeline == 0) return program;
    GLint of_stage = 0;
    gl.GetProgramPipelineiv(pipeline, stage, &of_stage);
    return static_cast<GLuint>(of_stage);
}

}  // namespace

// A driver may list an extension in a profile that does not have its state: NVIDIA's core profile lists some extensions
// of the compatibility profile. So each piece of state is read and set to the same value; it is offered if that causes
// no error. Pre: no error is pending.
void ExtensionState::find_offered(const Api& gl, bool is_es) {
    const bool messages = gl.IsEnabled(GL_DEBUG_OUTPUT);
    static_cast<void>(gl.GetError());           // a version below 4.3 or OpenGL ES 3.2 may not know debug output
    if (messages) gl.Disable(GL_DEBUG_OUTPUT);  // the application must not see messages about the probes
    const auto works = [&](int extension, const auto& probe) {
        if (!extension) return false;
        probe();
        bool good = true;
        while (gl.GetError() != GL_NO_ERROR) good = false;
        return good;
    };
    for (const auto& one : switches) {
        if (works(one.extension ? gl.*one.extension : is_es, [&] { set(gl, one, is_on(gl, one)); }))
            offered_switches_.push_back(static_cast<std::size_t>(&one - switches.data()));
    }
    const auto group = [&](Group which, int extension) {
        const auto probe = [&] {
            save(gl, which);
            restore(gl, which);
        };
        if (works(extension, probe)) offered_groups_.push_back(which);
    };
    group(Group::WindowRectangles, gl.EXT_window_rectangles);
    group(Group::SubpixelBits, gl.NV_conservative_raster);
    group(Group::ViewportSwizzle, gl.NV_viewport_swizzle);
    group(Group::CoverageModulation, gl.NV_framebuffer_mixed_samples);
    group(Group::StencilFace, gl.EXT_stencil_two_side);
    if (messages) gl.Enable(GL_DEBUG_OUTPUT);
    found_ = true;
}

void ExtensionState::save(const Api& gl, Group group) {
    switch (group) {
        case Group::WindowRectangles:
            window_mode_ = get(gl, GL_WINDOW_RECTANGLE_MODE_EXT);
            window_rectangles_.resize(static_cast<std::size_t>(get(gl, GL_NUM_WINDOW_RECTANGLES_EXT)));
            for (std::size_t i = 0; i < window_rectangles_.size(); ++i)
                gl.GetIntegeri_v(GL_WINDOW_RECTANGLE_EXT, static_cast<GLuint>(i), window_rectangles_[i].data());
            break;
        case Group::SubpixelBits:
            subpixel_bits_ = {get(gl, GL_SUBPIXEL_PRECISION_BIAS_X_BITS_NV),
                              get(gl, GL_SUBPIXEL_PRECISION_BIAS_Y_BITS_NV)};
            break;
        case Group::ViewportSwizzle:
            for (std::size_t i = 0; i < swizzle_names.size(); ++i) gl.GetIntegeri_v(swizzle_names[i], 0, &swizzle_[i]);
            break;
        case Group::CoverageModulation:
            coverage_modulation_ = get(gl, GL_COVERAGE_MODULATION_NV);
            break;
        case Group::StencilFace:
            stencil_face_ = get(gl, GL_ACTIVE_STENCIL_FACE_EXT);
            break;
    }
}

void ExtensionState::restore(const Api& gl, Group group) const noexcept {
    switch (group) {
        case Group::WindowRectangles:
            gl.WindowRectanglesEXT(static_cast<GLenum>(window_mode_), static_cast<GLsizei>(window_rectangles_.size()),
                                   window_rectangles_.empty() ? nullptr : window_rectangles_.front().data());
            break;
        case Group::SubpixelBits:
            gl.SubpixelPrecisionBiasNV(static_cast<GLuint>(subpixel_bits_[0]), static_cast<GLuint>(subpixel_bits_[1]));
            break;
        case Group::ViewportSwizzle:
            gl.ViewportSwizzleNV(0, static_cast<GLenum>(swizzle_[0]), static_cast<GLenum>(swizzle_[1]),
                                 static_cast<GLenum>(swizzle_[2]), static_cast<GLenum>(swizzle_[3]));
            break;
        case Group::CoverageModulation:
            gl.CoverageModulationNV(static_cast<GLenum>(coverage_modulation_));
            break;
        case Group::StencilFace:
            gl.ActiveStencilFaceEXT(static_cast<GLenum>(stencil_face_));
            break;
    }
}

void ExtensionState::save(const Api& gl, bool is_es) {
    if (!found_) find_offered(gl, is_es);
    on_.clear();
    for (const auto index : offered_switches_) on_.push_back(is_on(gl, switches.at(index)));
    for (const auto group : offered_groups_) save(gl, group);
}

void ExtensionState::set_baseline(const Api& gl) const {
    for (const auto index : offered_switches_) set(gl, switches.at(index), false);
    for (const auto group : offered_groups_) {
        switch (group) {
            case Group::WindowRectangles:
                gl.WindowRectanglesEXT(GL_EXCLUSIVE_EXT, 0, nullptr);
                break;
            case Group::SubpixelBits:
                gl.SubpixelPrecisionBiasNV(0, 0);
                break;
            case Group::ViewportSwizzle:
                gl.ViewportSwizzleNV(0, swizzles[0], swizzles[1], swizzles[2], swizzles[3]);
                break;
            case Group::CoverageModulation:
                gl.CoverageModulationNV(GL_NONE);
                break;
            case Group::StencilFace:  // otherwise glGet returns the state of the back face for the front
                gl.ActiveStencilFaceEXT(GL_FRONT);
                break;
        }
    }
}

void ExtensionState::restore(const Api& gl) const noexcept {
    for (std::size_t i = 0; i < offered_switches_.size(); ++i) set(gl, switches[offered_switches_[i]], on_[i]);
    for (const auto group : offered_groups_) restore(gl, group);
}

void SubroutineState::save(const Api& gl) {
    const auto program = static_cast<GLuint>(get(gl, GL_CURRENT_PROGRAM));
    const auto pipeline = static_cast<GLuint>(get(gl, GL_PROGRAM_PIPELINE_BINDING));
    for (std::size_t i = 0; i < shader_stages.size(); ++i) {
        const auto [stage, uniforms] = shader_stages[i];
        chosen_[i].clear();
        const auto of_stage = program_of(gl, program, pipeline, stage);
        if (of_stage == 0) continue;
        // Mesa raises an error if one asks for the subroutine locations of a stage that the program lacks.
        GLint active = 0, locations = 0;
        gl.GetProgramInterfaceiv(of_stage, uniforms, GL_ACTIVE_RESOURCES, &active);
        if (active > 0) gl.GetProgramStageiv(of_stage, stage, GL_ACTIVE_SUBROUTINE_UNIFORM_LOCATIONS, &locations);
        for (GLint location = 0; location < locations; ++location)
            gl.GetUniformSubroutineuiv(stage, location, &chosen_[i].emplace_back());
    }
}

void SubroutineState::restore(const Api& gl) const noexcept {
    for (std::size_t i = 0; i < shader_stages.size(); ++i) {
        if (!chosen_[i].empty())
            gl.UniformSubroutinesuiv(shader_stages[i].name, static_cast<GLsizei>(chosen_[i].size()), chosen_[i].data());
    }
}

}  // namespace quadmill::detail::gl
