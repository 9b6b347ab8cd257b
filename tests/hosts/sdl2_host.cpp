// An SDL2 program, with the windows that it opens by default, which have the compatibility profile, and with the core
// profile.
#define SDL_MAIN_HANDLED
#include <SDL.h>

#include "scene.hpp"

int main() {
    SDL_SetMainReady();
    if (SDL_Init(SDL_INIT_VIDEO) != 0) return 2;
    int failed = 0;
    for (const bool core : {false, true}) {
        if (core) {
            SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 4);
            SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 5);
            SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
        }
        SDL_Window* window =
            SDL_CreateWindow("host", 0, 0, hosts::side, hosts::side, SDL_WINDOW_OPENGL | SDL_WINDOW_HIDDEN);
        if (!window) return 2;
        SDL_GLContext context = SDL_GL_CreateContext(window);
        if (!context) return 2;
        failed += core ? hosts::check("SDL2, core", quadmill::Context::adopt(), hosts::draw_new_scene)
                       : hosts::check("SDL2", quadmill::Context::adopt(), hosts::draw_old_scene);
        failed += hosts::check("SDL2, its loader", quadmill::Context::adopt(SDL_GL_GetProcAddress),
                               core ? hosts::draw_new_scene : hosts::draw_old_scene);
        SDL_GL_DeleteContext(context);
        SDL_DestroyWindow(window);
    }
    SDL_Quit();
    return failed;
}
