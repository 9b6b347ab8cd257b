#include "gl/features.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "gl/api.hpp"
#include "gl/extensions.hpp"
#include "gl/state_guard.hpp"

namespace quadmill::detail::gl {

bool has_extension(const Api& gl, std::string_view name) {
    GLint count = 0;
    gl.GetIntegerv(GL_NUM_EXTENSIONS, &count);
    for (GLint i = 0; i < count; ++i) {
        const auto* const word = gl.GetStringi(GL_EXTENSIONS, static_cast<GLuint>(i));
        if (word && reinterpret_cast<const char*>(word) == name) return true;
    }
    return false;
}

namespace {

bool fragments_have_subgroups(const Api& gl) {
    if (!gl.KHR_shader_subgroup) return false;
    GLint stages = 0;
    gl.GetIntegerv(GL_SUBGROUP_SUPPORTED_STAGES_KHR, &stages);
    return (static_cast<GLuint>(stages) & static_cast<GLuint>(GL_FRAGMENT_SHADER_BIT)) != 0;
}

// Whether the user has disabled this workaround, to see whether a driver still needs it.
bool is_disabled(std::string_view name) {
    const char* const text = std::getenv("QUADMILL_DISABLE_WORKAROUNDS");
    std::string_view left(text ? text : "");
    while (!left.empty()) {
        const auto word = left.substr(0, left.find(' '));
        if (word == name || word == "all") return true;
        left.remove_prefix(std::min(word.size() + 1, left.size()));
    }
    return false;
}

bool wants_debug_groups(const Api& gl) {
    const char* const text = std::getenv("QUADMILL_DEBUG_GROUPS");
    if (text && *text != '\0') return std::string_view(text) != "0";
    GLint flags = 0;
    gl.GetIntegerv(GL_CONTEXT_FLAGS, &flags);
    return (static_cast<GLuint>(flags) & GLuint{GL_CONTEXT_FLAG_DEBUG_BIT}) != 0;
}

// A workaround named after a driver is used with that driver only. The others cost nothing and are always on, since
// other drivers may need them.
bool concerns(Workaround id, const ContextInfo& info, const Features& features) {
    if (id == Workaround::TargetByBinding) return features.old_state || !features.direct_state_access;
    return id != Workaround::TimesByWaiting || info.software;
}

}  // namespace

Features Features::of(const Api& gl, const ContextInfo& info, OpenGl dialect) {
    Features found;
    found.is_es = info.version.starts_with("OpenGL ES");
    GLint major = 0, minor = 0;
    gl.GetIntegerv(GL_MAJOR_VERSION, &major);
    gl.GetIntegerv(GL_MINOR_VERSION, &minor);
    found.version = 10 * major + minor;
    // A feature that the dialect does not use is off, even if the driver has it.
    found.direct_state_access = dialect == OpenGl::Desktop45;
    found.doubles = dialect == OpenGl::Desktop45 || dialect == OpenGl::Desktop41;
    found.exact_depths = dialect == OpenGl::Desktop45;
    found.exact_counts = found.conditional_draws = dialect != OpenGl::Es3;
    found.float_blending =
        !found.is_es || (has_extension(gl, "GL_EXT_color_buffer_float") && has_extension(gl, "GL_EXT_float_blend"));
    if (!found.is_es) {
        GLint profile = 0;
        gl.GetIntegerv(GL_CONTEXT_PROFILE_MASK, &profile);
        found.old_state = (static_cast<GLuint>(profile) & GLuint{GL_CONTEXT_COMPATIBILITY_PROFILE_BIT}) != 0;
    }
    if (found.direct_state_access) {
        found.depth_bounds = gl.EXT_depth_bounds_test != 0;
        found.fill_rectangle = gl.NV_fill_rectangle != 0;
        found.subgroups = fragments_have_subgroups(gl);
        found.shader_clock = gl.ARB_shader_clock != 0 && !info.software;  // a software renderer has the CPU's clock
    }
    found.debug_groups = found.has(43, 32) && wants_debug_groups(gl);
    found.color_targets = std::min(info.max_draw_buffers, draw_buffers);
    for (const auto& workaround : workarounds) {
        found.worked_around.set(static_cast<std::size_t>(workaround.id),
                                concerns(workaround.id, info, found) && !is_disabled(workaround.name));
    }
    return found;
}

}  // namespace quadmill::detail::gl
