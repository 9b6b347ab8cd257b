// A Qt 6 program with a QOpenGLWidget: by default, with the compatibility profile and a framebuffer of its own; and
// with the core profile.
#define GL_GLEXT_PROTOTYPES  // Qt includes what it takes of OpenGL
#include <QApplication>
#include <QOpenGLContext>
#include <QOpenGLWidget>
#include <QSurfaceFormat>
#include <QTimer>

#include "scene.hpp"

namespace {

class Widget : public QOpenGLWidget {
  public:
    int painted = 0, failed = 0;

  protected:
    void paintGL() override {
        const bool core = format().profile() == QSurfaceFormat::CoreProfile;
        const auto draw = core ? hosts::draw_new_scene : hosts::draw_old_scene;
        failed += hosts::check(core ? "Qt 6, core" : "Qt 6", quadmill::Context::adopt(), draw);
        failed += hosts::check("Qt 6, its loader", quadmill::Context::adopt([](const char* name) {
                                   return QOpenGLContext::currentContext()->getProcAddress(name);
                               }),
                               draw);
        ++painted;
        QTimer::singleShot(0, qApp, &QApplication::quit);
    }
};

}  // namespace

int main(int argc, char** argv) {
    int failed = 0;
    for (const bool core : {false, true}) {
        if (core) {
            QSurfaceFormat format;
            format.setVersion(4, 5);
            format.setProfile(QSurfaceFormat::CoreProfile);
            QSurfaceFormat::setDefaultFormat(format);
        }
        const QApplication application(argc, argv);
        Widget widget;
        widget.resize(hosts::side, hosts::side);
        widget.show();
        QApplication::exec();
        failed += widget.failed + (widget.painted > 0 ? 0 : 1);
    }
    return failed;
}
