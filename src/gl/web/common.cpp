// In a page: the functions that code for all versions calls, without glad's loader.
#include <type_traits>

#include "gl/api.hpp"
#include "gl/web/functions.hpp"

#define QUADMILL_DECLARE(name) QUADMILL_WEB_IMPORT(QuadmillGLContext, name)
QUADMILL_WEB_COMMON(QUADMILL_DECLARE)

extern "C" int quadmill_gladLoadGLContextUserPtr(QuadmillGLContext* gl, GLADuserptrloadfunc /*load*/, void* /*user*/) {
    gl->VERSION_3_0 = 1;  // of OpenGL ES
#define QUADMILL_TAKE(name) gl->name = web_##name;
    QUADMILL_WEB_COMMON(QUADMILL_TAKE)
    return 1;
}
