// In a page: the functions that the dialect of OpenGL ES calls, without glad's loader.
#include <quadmill_glad/gles30.h>

#include <string_view>
#include <type_traits>

#include "gl/web/functions.hpp"
#include "gl/web/page.hpp"

#define QUADMILL_DECLARE(name) QUADMILL_WEB_IMPORT(QuadmillGLES30Context, name)
QUADMILL_WEB_ES(QUADMILL_DECLARE)

extern "C" __attribute__((import_module("gl"), import_name("GetTexLevelParameteriv"))) void web_GetTexLevelParameteriv(
    GLenum target, GLint level, GLenum name, GLint* value);

extern "C" int quadmill_gladLoadGLES30ContextUserPtr(QuadmillGLES30Context* gl, GLADuserptrloadfunc /*load*/,
                                                     void* /*user*/) {
#define QUADMILL_TAKE(name) gl->name = web_##name;
    QUADMILL_WEB_ES(QUADMILL_TAKE)
    return 1;
}

namespace quadmill::detail::gl {

void (*page_function(const char* name))() {
    const bool is_it = std::string_view(name) == "glGetTexLevelParameterivANGLE";
    return is_it ? reinterpret_cast<void (*)()>(web_GetTexLevelParameteriv) : nullptr;
}

}  // namespace quadmill::detail::gl
