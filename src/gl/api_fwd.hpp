// The table of OpenGL functions by name only, so that no header outside src/gl brings OpenGL's own along.
#pragma once

struct QuadmillGLContext;

namespace quadmill::detail::gl {
using Api = ::QuadmillGLContext;
}
