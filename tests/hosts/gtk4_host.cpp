// A GTK 4 program with a GtkGLArea, which draws to a framebuffer of its own in the core profile; with the default
// version, with 4.5 requested, and with OpenGL ES.
#include <gtk/gtk.h>

#include "scene.hpp"

namespace {

struct Run {
    enum class Version { Default, Core, Es } version;
    int painted = 0, failed = 0;
};

gboolean render(GtkGLArea* area, GdkGLContext* /*context*/, gpointer data) {
    auto& run = *static_cast<Run*>(data);
    if (run.painted++ > 0) return TRUE;
    if (const GError* error = gtk_gl_area_get_error(area)) {
        std::printf("GTK 4: %s\n", error->message);
        ++run.failed;
    } else {
        run.failed += hosts::check("GTK 4", quadmill::Context::adopt(), hosts::draw_new_scene);
    }
    return TRUE;
}

}  // namespace

int main() {
    if (!gtk_init_check()) return 2;
    int failed = 0;
    for (const auto version : {Run::Version::Default, Run::Version::Core, Run::Version::Es}) {
        Run run{version};
        GtkWidget* window = gtk_window_new();
        GtkGLArea* area = GTK_GL_AREA(gtk_gl_area_new());
        gtk_widget_set_size_request(GTK_WIDGET(area), hosts::side, hosts::side);
        if (version == Run::Version::Core) {
            gtk_gl_area_set_required_version(area, 4, 5);
            gtk_gl_area_set_use_es(area, FALSE);
        } else if (version == Run::Version::Es) {
            gtk_gl_area_set_required_version(area, 3, 0);
            gtk_gl_area_set_use_es(area, TRUE);
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
