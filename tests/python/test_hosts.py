"""Programs of pyglet and PyOpenGL: their textures are sorted in the contexts that they have made."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What both do with OpenGL's own calls when a context is current. `gl` is the module of either.
SORTED = """
import ctypes
import numpy
import quadmill

context = quadmill.Context.adopt()
keys = numpy.random.default_rng(1).integers(0, 40, 1000).astype("f4")
names = (ctypes.c_uint * 2)()
gl.glGenTextures(2, names)
for name, internal, form, kind, data in ((names[0], gl.GL_R32F, gl.GL_RED, gl.GL_FLOAT, keys),
                                         (names[1], gl.GL_R32UI, gl.GL_RED_INTEGER, gl.GL_UNSIGNED_INT, None)):
    gl.glBindTexture(gl.GL_TEXTURE_2D, name)
    gl.glTexImage2D(gl.GL_TEXTURE_2D, 0, internal, 40, 25, 0, form, kind, data.ctypes.data_as(ctypes.c_void_p)
                    if data is not None else None)
context.argsort_texture(names[0], names[1])
bound = (ctypes.c_int * 1)()
gl.glGetIntegerv(gl.GL_TEXTURE_BINDING_2D, bound)
assert bound[0] == names[1]  # as the host left it
order = (ctypes.c_uint * 1000)()
gl.glGetTexImage(gl.GL_TEXTURE_2D, 0, gl.GL_RED_INTEGER, gl.GL_UNSIGNED_INT, order)
assert numpy.array_equal(numpy.frombuffer(order, numpy.uint32), numpy.argsort(keys, kind="stable"))
assert gl.glGetError() == 0
print(context.info["platform"], "sorted")
"""

PYGLET = """
import pyglet
from pyglet import gl

window = pyglet.window.Window(64, 64, config=gl.Config(major_version=4, minor_version=5, forward_compatible=True))
""" + SORTED

PYOPENGL = """
import os
os.environ["PYOPENGL_PLATFORM"] = "egl"
import ctypes
from OpenGL import EGL as egl
from OpenGL import GL as gl

display = egl.eglGetDisplay(egl.EGL_DEFAULT_DISPLAY)
assert egl.eglInitialize(display, None, None)
configs, count = (egl.EGLConfig * 1)(), ctypes.c_int()
egl.eglChooseConfig(display, (ctypes.c_int * 3)(egl.EGL_RENDERABLE_TYPE, egl.EGL_OPENGL_BIT, egl.EGL_NONE), configs, 1,
                    count)
egl.eglBindAPI(egl.EGL_OPENGL_API)
wanted = (ctypes.c_int * 5)(egl.EGL_CONTEXT_MAJOR_VERSION, 4, egl.EGL_CONTEXT_MINOR_VERSION, 5, egl.EGL_NONE)
own = egl.eglCreateContext(display, configs[0] if count.value else None, egl.EGL_NO_CONTEXT, wanted)
assert egl.eglMakeCurrent(display, egl.EGL_NO_SURFACE, egl.EGL_NO_SURFACE, own)
""" + SORTED


def check(*command, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and done.stdout == "adopted sorted\n", done.stdout + done.stderr


def test_in_a_window_of_pyglet():
    check(sys.executable, str(ROOT / "tests/hosts/run.py"), sys.executable, "-c", PYGLET)


def test_in_a_context_of_pyopengl():
    check(sys.executable, "-c", PYOPENGL, EGL_PLATFORM="surfaceless")
