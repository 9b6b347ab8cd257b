// Forward declaration of the table of OpenGL functions, so that no header outside src/gl includes OpenGL's own headers.
#pragma once

struct QuadmillGLContext;

namespace quadmill::detail::gl {
using Api = ::QuadmillGLContext;
}
