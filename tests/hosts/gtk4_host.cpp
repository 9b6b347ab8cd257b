// A GTK 4 program with a GtkGLArea, which draws to a framebuffer of its own in the core profile; with the default
// version, with 4.5 requested, and with OpenGL ES.
#include <gtk/gtk.h>

#include "scene.hpp"

namespace {

struct Run {
    const char* name;
    int major, minor;  // 0: the default version
    gboolean is_es;
    int painted = 0, failed = 0;
};

gboolean render(GtkGLArea* area, GdkGLContext* /*context*/, gpointer data) {
    auto& run = *static_cast<Run*>(data);
    if (run.painted++ > 0) return TRUE;
    if (const GError* error = gtk_gl_area_get_error(area)) {
        std::printf("GTK 4: %s\n", error->message);
        ++run.failed;
    } else {
        run.failed += hosts::check(run.name, quadmill::Context::adopt(), hosts::draw_new_scene);
    }
    return TRUE;
}

}  // namespace

int main() {
    if (!gtk_init_check()) return 2;
    int failed = 0;
    for (Run run : {Run{"GTK 4", 0, 0, FALSE}, {"GTK 4, 4.5", 4, 5, FALSE}, {"GTK 4, ES", 3, 0, TRUE}}) {
        GtkWidget* window = gtk_window_new();
        GtkGLArea* area = GTK_GL_AREA(gtk_gl_area_new());
        gtk_widget_set_size_request(GTK_WIDGET(area), hosts::side, hosts::side);
        if (run.major > 0) {
            gtk_gl_area_set_required_version(area, run.major, run.minor);
            gtk_gl_area_set_use_es(area, run.is_es);
        }
        g_signal_connect(area, "render", G_CALLBACK(render), &run);
        gtk_window_set_child(GTK_WINDOW(window), GTK_WIDGET(area));
        gtk_window_present(GTK_WINDOW(window));
        const auto end = g_get_monotonic_time() + 20 * G_TIME_SPAN_SECOND;
        while (run.painted == 0 && g_get_monotonic_time() < end) g_main_context_iteration(nullptr, FALSE);
        gtk_window_destroy(GTK_WINDOW(window));
        failed += run.failed + (run.painted > 0 ? 0 : 1);
    }
    return failed;
}
