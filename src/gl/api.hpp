// The OpenGL declarations of the library's own loader. Only sources of src/gl include this header, and the tests that
// check them.
#pragma once

#include <quadmill_glad/gl.h>

#include "gl/api_fwd.hpp"
