// An Allegro 5 program that draws bitmaps: with fixed functions in the compatibility profile, as it does by default, and
// with its shaders in the core profile of a requested version, where without shaders it makes GL errors of its own.
#include "scene.hpp"
// after the functions of OpenGL
#include <allegro5/allegro.h>
#include <allegro5/allegro_opengl.h>

int main() {
    if (!al_init()) return 2;
    int failed = 0;
    for (const bool shaders : {false, true}) {
        al_set_new_display_flags(ALLEGRO_OPENGL);
        if (shaders) {
            al_set_new_display_flags(ALLEGRO_OPENGL | ALLEGRO_PROGRAMMABLE_PIPELINE);
            al_set_new_display_option(ALLEGRO_OPENGL_MAJOR_VERSION, 4, ALLEGRO_REQUIRE);
            al_set_new_display_option(ALLEGRO_OPENGL_MINOR_VERSION, 5, ALLEGRO_REQUIRE);
        }
        ALLEGRO_DISPLAY* display = al_create_display(hosts::side, hosts::side);
        if (!display) return 2;
        ALLEGRO_BITMAP* bitmap = al_create_bitmap(16, 16);
        al_set_target_bitmap(bitmap);
        al_clear_to_color(al_map_rgba(200, 100, 50, 128));
        al_set_target_backbuffer(display);
        const auto draw = [&] {
            al_clear_to_color(al_map_rgb(20, 40, 60));
            al_draw_scaled_rotated_bitmap(bitmap, 8, 8, 32, 32, 2, 2, 0.5F, 0);
            al_draw_tinted_bitmap(bitmap, al_map_rgba(0, 255, 0, 100), 20, 30, 0);
        };
        failed += hosts::check("Allegro 5", quadmill::Context::adopt(), draw);
        failed += hosts::check("Allegro 5, its loader", quadmill::Context::adopt(al_get_opengl_proc_address), draw);
        al_destroy_bitmap(bitmap);
        al_destroy_display(display);
    }
    return failed;
}
