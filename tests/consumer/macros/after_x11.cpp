// Every public header after those of X11, as in a program that includes GL/glx.h, epoxy/glx.h or SDL_syswm.h first.
// The order of includes is what is tested:
// clang-format off
#include <GL/glx.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/cursorfont.h>
#include "public_headers.hpp"
#include "enumerators.hpp"
// clang-format on

#if !defined(None) || !defined(Always) || !defined(Success) || !defined(Bool) || !defined(Status) || !defined(True)
#error "the headers of X11 no longer define what they did, or a public header of quadmill undefines it"
#endif

int main() {
    std::vector<float> keys{3, 1, 2};
    quadmill::sort_on_cpu(keys);
    return keys == std::vector<float>{1, 2, 3} ? 0 : 1;
}
