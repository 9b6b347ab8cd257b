// What a device can do, and which faults of its driver are worked around. Both are found once, when the device is
// opened. Other code asks for a feature, never for the name of an extension or a driver.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <string_view>

#include "gl/api_fwd.hpp"
#include "quadmill/context.hpp"

namespace quadmill::detail::gl {

enum class Workaround {
    TimesByWaiting,
    CountsByBarrier,
    ConditionEndsFirst,
    WideStencilMasks,
    LinesWithoutOffset,
    TargetByBinding
};

struct WorkaroundNote {
    Workaround id;
    std::string_view name;      // the word in QUADMILL_DISABLE_WORKAROUNDS
    std::string_view sentence;  // the fault, and what the library does about it
};
inline constexpr std::array workarounds{
    WorkaroundNote{Workaround::TimesByWaiting, "times-by-waiting",
                   "llvmpipe notes a timestamp before it shades what was drawn; passes are timed by the wall clock, "
                   "waiting for each"},
    WorkaroundNote{Workaround::CountsByBarrier, "counts-by-barrier",
                   "a shader on NVIDIA may find in its cache what a query buffer held before; a memory barrier follows "
                   "each count"},
    WorkaroundNote{Workaround::ConditionEndsFirst, "condition-ends-first",
                   "NVIDIA refuses to tell the result of the query that conditional rendering depends on; it is ended "
                   "before"},
    WorkaroundNote{Workaround::WideStencilMasks, "wide-stencil-masks",
                   "Mesa's glGetInteger clamps stencil masks of 2^31 and more; they are asked for as 64 bits"},
    WorkaroundNote{Workaround::LinesWithoutOffset, "lines-without-offset",
                   "llvmpipe offsets the depth of quads also when only the offset of lines or points is on; all are "
                   "off"},
    WorkaroundNote{Workaround::TargetByBinding, "target-by-binding",
                   "Mesa tells the target of a texture in the core profile alone; in the other one, it is the target "
                   "that the texture can be bound to"}};

struct Features {
    // Version of the context: 10 * major + minor.
    int version = 45;
    bool is_es = false;
    static constexpr int never = 1000;
    // Whether the context has at least this version of OpenGL, or, if it is an OpenGL ES context, of OpenGL ES.
    [[nodiscard]] bool has(int desktop, int es) const { return version >= (is_es ? es : desktop); }
    // Objects are changed without being bound. Without this feature bindings change, and some calls change all
    // viewports.
    bool direct_state_access = false;
    bool exact_counts = false;  // an occlusion query counts samples; otherwise it only tells whether there were any
    bool doubles = false;       // shaders have doubles
    bool exact_depths = false;  // depths stay as the vertex shader computes them, shaders can read the stencil
    bool conditional_draws = false;  // the GPU skips a pass if a query counted nothing
    bool depth_bounds = false;       // a test of the depth that is stored
    bool float_blending = false;     // MIN, MAX and ADD on targets of 32-bit floats
    bool fill_rectangle = false;     // one triangle fills its bounding rectangle
    bool subgroups = false;          // fragments exchange values
    bool shader_clock = false;       // shaders read the clock of the multiprocessor that runs them
    bool old_state = false;          // state of the compatibility profile: see compatibility.hpp
    // Calls, passes and programs get names for tools. On in a context made for debugging, and if the environment
    // variable QUADMILL_DEBUG_GROUPS is set and not 0.
    bool debug_groups = false;
    int color_targets = 0;  // max render targets of a pass, up to 8

    std::bitset<workarounds.size()> worked_around;
    [[nodiscard]] bool works_around(Workaround id) const { return worked_around.test(static_cast<std::size_t>(id)); }

    // Leaves out workarounds that the environment variable QUADMILL_DISABLE_WORKAROUNDS names, separated by spaces;
    // "all" leaves all out.
    static Features of(const Api& gl, const ContextInfo& info, OpenGl dialect);
};

}  // namespace quadmill::detail::gl
