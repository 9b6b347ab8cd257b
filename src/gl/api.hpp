// The OpenGL declarations of the library's own loader. Only src/gl includes this, and tests that check src/gl.
#pragma once

#include <quadmill_glad/gl.h>

namespace quadmill::detail::gl {
using Api = QuadmillGLContext;
}
