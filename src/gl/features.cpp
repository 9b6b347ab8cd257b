#include "gl/features.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "gl/api.hpp"
#include "gl/state_guard.hpp"

namespace quadmill::detail::gl {

namespace {

bool fragments_have_subgroups(const Api& gl) {
    if (!gl.KHR_shader_subgroup) return false;
    GLint stages = 0;
    gl.GetIntegerv(GL_SUBGROUP_SUPPORTED_STAGES_KHR, &stages);
    return (static_cast<GLuint>(stages) & static_cast<GLuint>(GL_FRAGMENT_SHADER_BIT)) != 0;
}

// Names of workarounds that the user does without, to see whether a driver still needs them.
bool is_disabled(std::string_view name) {
    const char* const text = std::getenv("QUADMILL_DISABLE_WORKAROUNDS");
    std::istringstream words(text ? text : "");
    for (std::string word; words >> word;) {
        if (word == name || word == "all") return true;
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

// Those of a driver are for it alone; the rest cost nothing, and other drivers may need them, too.
bool concerns(Workaround id, const ContextInfo& info, const Features& features) {
    if (id == Workaround::TargetByBinding) return features.old_state;
    return id != Workaround::TimesByWaiting || info.software;
}

}  // namespace

Features Features::of(const Api& gl, const ContextInfo& info) {
    Features found;
    // OpenGL 4.5 has both; a dialect that lacks one says so here.
    found.exact_counts = found.float_blending = true;
    GLint profile = 0;
    gl.GetIntegerv(GL_CONTEXT_PROFILE_MASK, &profile);
    found.old_state = (static_cast<GLuint>(profile) & GLuint{GL_CONTEXT_COMPATIBILITY_PROFILE_BIT}) != 0;
    found.depth_bounds = gl.EXT_depth_bounds_test != 0;
    found.fill_rectangle = gl.NV_fill_rectangle != 0;
    found.subgroups = fragments_have_subgroups(gl);
    found.shader_clock = gl.ARB_shader_clock != 0 && !info.software;  // of which the clock is no CPU's
    found.debug_groups = wants_debug_groups(gl);
    found.color_targets = std::min(info.max_draw_buffers, draw_buffers);
    for (const auto& workaround : workarounds) {
        found.worked_around.set(static_cast<std::size_t>(workaround.id),
                                concerns(workaround.id, info, found) && !is_disabled(workaround.name));
    }
    return found;
}

}  // namespace quadmill::detail::gl
