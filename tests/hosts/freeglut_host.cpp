// A FreeGLUT program: a lit teapot in the compatibility profile, which FreeGLUT's context has by default, and with a
// requested version; and a window with the core profile.
#include "scene.hpp"
// after the functions of OpenGL
#include <GL/freeglut.h>

namespace {

int failed = 0;
bool displayed = false;

void draw_teapot() {
    hosts::draw_old_scene();
    glDisable(GL_ALPHA_TEST);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_LIGHTING);
    glEnable(GL_LIGHT0);
    glClear(GL_DEPTH_BUFFER_BIT);
    glutSolidTeapot(0.5);
    glDisable(GL_LIGHTING);
    glDisable(GL_DEPTH_TEST);
}

template <auto Draw>
void open_window() {
    displayed = false;
    const int window = glutCreateWindow("host");
    glutDisplayFunc([] {
        failed += hosts::check("FreeGLUT", quadmill::Context::adopt(), Draw);
        failed += hosts::check("FreeGLUT, its loader", quadmill::Context::adopt(glutGetProcAddress), Draw);
        displayed = true;
    });
    while (!displayed) glutMainLoopEvent();
    glutDestroyWindow(window);
}

}  // namespace

int main(int argc, char** argv) {
    glutInit(&argc, argv);
    glutInitWindowSize(hosts::side, hosts::side);
    glutInitDisplayMode(GLUT_RGBA | GLUT_DOUBLE | GLUT_DEPTH);
    open_window<draw_teapot>();
    glutInitContextVersion(4, 5);
    glutInitContextProfile(GLUT_COMPATIBILITY_PROFILE);
    open_window<draw_teapot>();
    glutInitContextProfile(GLUT_CORE_PROFILE);
    open_window<hosts::draw_new_scene>();
    return failed;
}
