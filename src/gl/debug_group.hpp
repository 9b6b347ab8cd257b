// Names calls and passes for tools that record OpenGL calls, such as apitrace, RenderDoc and Nsight (KHR_debug).
#pragma once

#include <string_view>

#include "gl/api_fwd.hpp"
#include "gl/features.hpp"

namespace quadmill::detail::gl {

// A debug group for the length of a scope, if Features::debug_groups is on and the stack of groups has room. The
// application's debug callback gets no message about it.
class DebugGroup {
  public:
    DebugGroup(const Api& gl, const Features& features, std::string_view name);
    DebugGroup(const DebugGroup&) = delete;
    DebugGroup& operator=(const DebugGroup&) = delete;
    ~DebugGroup();

  private:
    const Api* gl_ = nullptr;  // null if no group was pushed
};

}  // namespace quadmill::detail::gl
