// An SDL2 program, with the windows that it opens by default, which have the compatibility profile, with the core
// profile, and with OpenGL ES 3.0.
#define SDL_MAIN_HANDLED
#include <SDL.h>

#include "scene.hpp"

int main() {
    SDL_SetMainReady();
    if (SDL_Init(SDL_INIT_VIDEO) != 0) return 2;
    int failed = 0;
    enum class Profile { Default, Core, Es };
    for (const auto profile : {Profile::Default, Profile::Core, Profile::Es}) {
        const auto draw = profile == Profile::Default ? hosts::draw_old_scene : hosts::draw_new_scene;
        if (profile == Profile::Core) {
            SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 4);
            SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 5);
            SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
        } else if (profile == Profile::Es) {
            SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
            SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 0);
            SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_ES);
        }
        SDL_Window* window =
            SDL_CreateWindow("host", 0, 0, hosts::side, hosts::side, SDL_WINDOW_OPENGL | SDL_WINDOW_HIDDEN);
        if (!window) return 2;
        SDL_GLContext context = SDL_GL_CreateContext(window);
        if (!context) return 2;
        failed += hosts::check("SDL2", quadmill::Context::adopt(), draw);
        failed += hosts::check("SDL2, its loader", quadmill::Context::adopt(SDL_GL_GetProcAddress), draw);
        SDL_GL_DeleteContext(context);
        SDL_DestroyWindow(window);
    }
    SDL_Quit();
    return failed;
}
