// Contexts below OpenGL 4.5, for the tests of tests/gl. They run with another version if these variables are set:
//     QUADMILL_API=gl33 MESA_GL_VERSION_OVERRIDE=3.3
//     QUADMILL_API=gl41 MESA_GL_VERSION_OVERRIDE=4.1
//     QUADMILL_API=es3 MESA_GLES_VERSION_OVERRIDE=3.0
// Mesa reads these variables once per process.
#pragma once

#include "gl/api.hpp"
#include "gl/features.hpp"

namespace quadmill::test {

// Only the version is known.
detail::gl::Features version_of(const detail::gl::Api& gl);

// Loads the functions that came to OpenGL ES with a lower number than to OpenGL, and replaces direct state access if
// the version lacks it: the replacements bind an object, change it, and restore the binding. Only one context at a time
// has replacements.
void complete_older(detail::gl::Api& gl, void (*(*load)(const char* name))());

}  // namespace quadmill::test
