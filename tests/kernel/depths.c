/* The order of 1,000 depths in a texture, from the front to the back: quadmill.h in a program of GLFW, in C99. */
#define GLFW_INCLUDE_GLEXT
#include <GLFW/glfw3.h>
#include <quadmill/quadmill.h>
#include <stdio.h>

static qm_function load(void* user, const char* name) {
    (void)user;
    return glfwGetProcAddress(name);
}

static GLuint texture(GLint internal, GLenum format, GLenum type, const void* texels) {
    GLuint name = 0;
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexImage2D(GL_TEXTURE_2D, 0, internal, 100, 10, 0, format, type, texels);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    return name;
}

int main(void) {
    static float depths[1000];
    static GLuint order[1000];
    qm_context* context = NULL;
    int i;
    glfwInit();
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    glfwMakeContextCurrent(glfwCreateWindow(64, 64, "depths", NULL, NULL));
    for (i = 0; i < 1000; ++i) depths[i] = (float)(i * 619 % 1000);
    if (qm_adopt(load, NULL, &context) == QM_OK) {
        qm_texture keys = QM_KEYS_IN_TEXTURE(texture(GL_R32F, GL_RED, GL_FLOAT, depths));
        GLuint index = texture(GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, NULL);
        if (qm_argsort_texture(context, &keys, index, QM_ASCENDING) == QM_OK) {
            glBindTexture(GL_TEXTURE_2D, index); /* to see it; a program would draw with it */
            glGetTexImage(GL_TEXTURE_2D, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, order);
            for (i = 0; i < 1000 && depths[order[i]] == (float)i; ++i) continue;
        }
        qm_free(context);
    }
    printf("%s\n", i == 1000 && !*qm_message() ? "in order" : qm_message());
    return i != 1000;
}
