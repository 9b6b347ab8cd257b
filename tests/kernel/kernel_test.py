#!/usr/bin/env python3
"""The kernel through Python's ctypes: its calls, its errors, its symbols and its size.

    kernel_test.py LIBRARY
"""
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

import moderngl
import numpy

LIBRARY = pathlib.Path(sys.argv.pop(1))
ALL = ctypes.c_size_t(-1).value
OK, INVALID, NO_CONTEXT = 0, 1, 2
Load = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)


class Texture(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("texture", ctypes.c_uint32)] + [
        (name, ctypes.c_int32) for name in ("layer", "x", "y", "width", "height", "channel")] + [
        ("count", ctypes.c_size_t), ("count_buffer", ctypes.c_uint32), ("count_offset", ctypes.c_size_t)]

    def __init__(self, texture, count=ALL, **more):
        super().__init__(ctypes.sizeof(Texture), texture, count=count, **more)


class Buffer(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("buffer", ctypes.c_uint32), ("type", ctypes.c_int)] + [
        (name, ctypes.c_size_t) for name in ("offset", "stride", "count")] + [
        ("count_buffer", ctypes.c_uint32), ("count_offset", ctypes.c_size_t)]

    def __init__(self, buffer, kind, count, **more):
        super().__init__(ctypes.sizeof(Buffer), buffer, kind, count=count, **more)


kernel = ctypes.CDLL(str(LIBRARY))
kernel.qm_message.restype = ctypes.c_char_p
for function, arguments in {
    "qm_adopt": (Load, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)),
    "qm_free": (ctypes.c_void_p,),
    "qm_argsort_texture": (ctypes.c_void_p, ctypes.POINTER(Texture), ctypes.c_uint32, ctypes.c_int),
    "qm_sort_texture": (ctypes.c_void_p, ctypes.POINTER(Texture), ctypes.POINTER(Texture), ctypes.c_int),
    "qm_percentiles_texture": (ctypes.c_void_p, ctypes.POINTER(Texture), ctypes.POINTER(ctypes.c_double),
                               ctypes.c_size_t, ctypes.c_uint32),
    "qm_argsort_buffer": (ctypes.c_void_p, ctypes.POINTER(Buffer), ctypes.c_uint32, ctypes.c_size_t, ctypes.c_int),
    "qm_argsort_texture_by_plane": (ctypes.c_void_p, ctypes.POINTER(Texture), ctypes.POINTER(ctypes.c_float),
                                    ctypes.c_uint32, ctypes.c_int),
    "qm_argsort_buffer_by_plane": (ctypes.c_void_p, ctypes.POINTER(Buffer), ctypes.POINTER(ctypes.c_float),
                                   ctypes.c_uint32, ctypes.c_size_t, ctypes.c_int),
    "qm_sort_buffer": (ctypes.c_void_p, ctypes.POINTER(Buffer), ctypes.c_int),
    "qm_prepare": (ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t,
                   ctypes.POINTER(ctypes.c_int)),
    "qm_save_programs": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)),
    "qm_load_programs": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_size_t)),
}.items():
    getattr(kernel, function).argtypes = arguments

window = moderngl.create_context(standalone=True, backend="egl", require=330)
egl = ctypes.CDLL("libEGL.so.1")
egl.eglGetProcAddress.restype = ctypes.c_void_p
load = Load(lambda user, name: egl.eglGetProcAddress(name))


class Calls(unittest.TestCase):
    def setUp(self):
        self.context = ctypes.c_void_p()
        self.done(kernel.qm_adopt(load, None, ctypes.byref(self.context)))

    def tearDown(self):
        kernel.qm_free(self.context)

    def done(self, status):
        self.assertEqual(status, OK, kernel.qm_message())

    def refused(self, words, status):
        self.assertEqual(status, INVALID)
        self.assertIn(words, kernel.qm_message().decode())

    def texture(self, values, width=64):
        height = -(-len(values) // width)
        texels = numpy.zeros(width * height, values.dtype)
        texels[:len(values)] = values
        return window.texture((width, height), 1, texels.tobytes(),
                              dtype={"f": "f4", "u": "u4", "i": "i4"}[values.dtype.kind])

    def test_textures(self):
        numbers = numpy.random.default_rng(1)
        for n in (1, 2, 777, 5000):
            for values in (numbers.integers(-50, 50, n).astype("f4"), numbers.integers(-2**31, 2**31, n).astype("i4"),
                           numbers.integers(0, 2**32, n).astype("u4")):
                keys, index = self.texture(values), self.texture(numpy.zeros(n, "u4"))
                given = Texture(keys.glo, n)
                phi = (ctypes.c_double * 3)(0, 0.5, 0.9)
                output = self.texture(numpy.zeros(3, values.dtype), 3)
                self.done(kernel.qm_percentiles_texture(self.context, given, phi, 3, output.glo))
                order = numpy.argsort(values, kind="stable")
                expected = [values[order[int(share * (n - 1) + 0.5)]] for share in phi]
                self.assertEqual(numpy.frombuffer(output.read(), values.dtype).tolist(), expected)
                self.done(kernel.qm_argsort_texture(self.context, given, index.glo, 0))
                self.assertEqual(numpy.frombuffer(index.read(), "u4")[:n].tolist(), order.tolist())
                self.done(kernel.qm_sort_texture(self.context, given, given, 1))
                self.assertEqual(numpy.frombuffer(keys.read(), values.dtype)[:n].tolist(), values[order][::-1].tolist())
                for each in keys, index, output:
                    each.release()

    def test_buffers(self):
        numbers = numpy.random.default_rng(2)
        for number, kind in enumerate(("f4", "f8", "i4", "u4", "i8", "u8", "f2"), 1):
            values = numbers.integers(0, 200, 3000).astype(kind)
            keys, index = window.buffer(values.tobytes()), window.buffer(reserve=4 * 3001)
            given = Buffer(keys.glo, number, 3000)
            self.done(kernel.qm_argsort_buffer(self.context, given, index.glo, 4, 0))
            order = numpy.argsort(values, kind="stable")
            self.assertEqual(numpy.frombuffer(index.read(), "u4")[1:].tolist(), order.tolist(), kind)
            self.done(kernel.qm_sort_buffer(self.context, given, 0))
            self.assertEqual(keys.read(), numpy.sort(values).tobytes(), kind)

    def test_a_number_that_only_the_gpu_knows(self):
        numbers = numpy.random.default_rng(3)
        index = window.buffer(reserve=4 * 3000)
        for count in (0, 1, 1234, 3000, 2**32 - 1):
            n = min(count, 3000)
            number = window.buffer(struct.pack("<3I", 7, count, 7))
            for code, kind in (1, "f4"), (4, "u4"), (6, "u8"), (7, "f2"):
                values = numbers.integers(0, 200, 3000).astype(kind)
                values[::5] = numpy.iinfo(kind).max if kind[0] == "u" else numpy.inf  # as large as what is beyond
                keys = window.buffer(values.tobytes())
                given = Buffer(keys.glo, code, 3000, count_buffer=number.glo, count_offset=4)
                self.done(kernel.qm_argsort_buffer(self.context, given, index.glo, 0, 0))
                order = numpy.concatenate([numpy.argsort(values[:n], kind="stable"), numpy.arange(n, 3000)])
                self.assertEqual(numpy.frombuffer(index.read(), "u4").tolist(), order.tolist(), (count, kind))
                self.done(kernel.qm_sort_buffer(self.context, given, 1))
                self.assertEqual(keys.read(), values[:n][order[:n]][::-1].tobytes() + values[n:].tobytes(),
                                 (count, kind))
            values = numbers.integers(0, 2**32, 3000).astype("u4")
            keys, order = self.texture(values), self.texture(numpy.zeros(3000, "u4"))
            given = Texture(keys.glo, 3000, count_buffer=number.glo, count_offset=4)
            self.done(kernel.qm_argsort_texture(self.context, given, order.glo, 0))
            self.assertEqual(numpy.frombuffer(order.read(), "u4")[:n].tolist(),
                             numpy.argsort(values[:n], kind="stable").tolist())
            self.refused("only argsorts", kernel.qm_sort_texture(self.context, given, given, 0))
        given.count_offset = 12
        self.refused("the count is at byte 12 of a buffer of 12 bytes",
                     kernel.qm_argsort_texture(self.context, given, order.glo, 0))

    def test_depths_of_positions(self):
        numbers = numpy.random.default_rng(4)
        plane = (ctypes.c_float * 4)(1, -2, 0.5, 3)
        for across in 3, 4:
            positions = numbers.integers(-100, 100, (3000, across)).astype("f4")
            order = numpy.argsort(positions[:, :3] @ numpy.array([1, -2, 0.5], "f4"), kind="stable").tolist()
            buffer, index = window.buffer(positions.tobytes()), window.buffer(reserve=4 * 3000)
            given = Buffer(buffer.glo, 1, 3000, stride=0 if across == 3 else 16)
            self.done(kernel.qm_argsort_buffer_by_plane(self.context, given, plane, index.glo, 0, 0))
            self.assertEqual(numpy.frombuffer(index.read(), "u4").tolist(), order, across)
            texture, texels = window.texture((50, 60), across, positions.tobytes(),
                                             dtype="f4"), self.texture(numpy.zeros(3000, "u4"), 50)
            self.done(kernel.qm_argsort_texture_by_plane(self.context, Texture(texture.glo), plane, texels.glo, 0))
            self.assertEqual(numpy.frombuffer(texels.read(), "u4").tolist(), order, across)
        self.refused("plane is NULL", kernel.qm_argsort_buffer_by_plane(self.context, given, None, index.glo, 0, 0))
        given.type = 4
        self.refused("positions are floats of 32 bits",
                     kernel.qm_argsort_buffer_by_plane(self.context, given, plane, index.glo, 0, 0))

    def test_small_formats(self):
        numbers = numpy.random.default_rng(5)
        for kind in "u1", "i1", "u2", "i2":
            values = numbers.integers(0, 100, (40, 50, 2)).astype(kind)
            texture = window.texture((50, 40), 2, values.tobytes(), dtype=kind, alignment=1)
            index = self.texture(numpy.zeros(2000, "u4"), 50)
            self.done(kernel.qm_argsort_texture(self.context, Texture(texture.glo, channel=1), index.glo, 0))
            expected = numpy.argsort(values[:, :, 1].reshape(-1), kind="stable")
            self.assertEqual(numpy.frombuffer(index.read(), "u4").tolist(), expected.tolist(), kind)

    def test_no_keys(self):
        keys, index = self.texture(numpy.ones(4, "f4")), self.texture(numpy.full(4, 7, "u4"))
        self.done(kernel.qm_argsort_texture(self.context, Texture(keys.glo, 0), index.glo, 0))
        self.assertEqual(numpy.frombuffer(index.read(), "u4")[0], 7)

    def test_programs_are_prepared_and_saved(self):
        ready = ctypes.c_int()
        for call in range(1, 6):
            for _ in range(50):
                self.done(kernel.qm_prepare(self.context, call, 1, 5000, 1, ctypes.byref(ready)))
                if ready.value:
                    break
            self.assertEqual(ready.value, 1)
        size, again, loaded = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
        self.done(kernel.qm_save_programs(self.context, None, 0, ctypes.byref(size)))
        saved = ctypes.create_string_buffer(size.value + 1)
        self.done(kernel.qm_save_programs(self.context, saved, size, ctypes.byref(again)))
        self.assertEqual(size.value, again.value)
        if size.value:
            self.refused("there is room for 3", kernel.qm_save_programs(self.context, saved, 3, ctypes.byref(size)))
            self.done(kernel.qm_load_programs(self.context, saved, again, ctypes.byref(loaded)))
            self.assertGreater(loaded.value, 5)
            self.assertNotEqual(kernel.qm_load_programs(self.context, saved, again.value // 2, ctypes.byref(loaded)),
                                OK)

    def test_planes_of_numbers_that_are_not_finite(self):
        positions, index = self.texture(numpy.zeros(4, "f4")), window.buffer(reserve=16)
        elements, texels = Buffer(window.buffer(bytes(48)).glo, 1, 4), Texture(positions.glo)
        for wrong in numpy.nan, numpy.inf:
            plane = (ctypes.c_float * 4)(0, wrong, 1, 0)
            words = f"a plane has four finite numbers, not {wrong}"
            self.refused("qm_argsort_buffer_by_plane: " + words,
                         kernel.qm_argsort_buffer_by_plane(self.context, elements, plane, index.glo, 0, 0))
            self.refused("qm_argsort_texture_by_plane: " + words,
                         kernel.qm_argsort_texture_by_plane(self.context, texels, plane, positions.glo, 0))

    def test_a_reason_is_the_one_that_holds(self):
        keys, index = self.texture(numpy.ones(1000, "f4"), 50), self.texture(numpy.zeros(1000, "u4"), 50)
        self.refused("keys has 1000 texels there, fewer than 1001",
                     kernel.qm_argsort_texture(self.context, Texture(keys.glo, 1001), index.glo, 0))
        self.assertNotIn(b"2^28", kernel.qm_message())
        self.refused("keys and output must be different textures",
                     kernel.qm_percentiles_texture(self.context, Texture(keys.glo), ctypes.c_double(0.5), 1, keys.glo))
        self.assertEqual(keys.read(), numpy.ones(1000, "f4").tobytes())
        buffer = window.buffer(reserve=4000)
        self.refused("keys and index share bytes of buffer",
                     kernel.qm_argsort_buffer(self.context, Buffer(buffer.glo, 4, 500), buffer.glo, 1996, 0))

    def test_more_keys_than_an_index_counts(self):
        many = 2**28 + 1
        keys, index = window.buffer(reserve=2 * many), window.buffer(reserve=4 * many)
        self.refused("an index is for at most 2^28 keys, not 268435457",
                     kernel.qm_argsort_buffer(self.context, Buffer(keys.glo, 7, many), index.glo, 0, 0))
        for each in keys, index:
            each.release()

    def test_messages_are_whole(self):
        keys = window.texture((4, 4), 3, internal_format=0x8D62)  # RGB565
        index = self.texture(numpy.zeros(16, "u4"), 4)
        status = kernel.qm_argsort_texture(self.context, Texture(keys.glo), index.glo, 0)
        self.assertEqual(status, INVALID)
        self.assertTrue(kernel.qm_message().endswith(b"R16UI, R16I, R8UI, R8I"), kernel.qm_message())

    def test_each_message_names_its_call(self):
        keys, index = self.texture(numpy.ones(4, "f4")), self.texture(numpy.zeros(4, "u4"))
        buffer, order = window.buffer(bytes(16)), window.buffer(reserve=16)
        number, ready = ctypes.c_size_t(), ctypes.c_int()
        plane = (ctypes.c_float * 4)(0, 0, 1, 0)
        texture, elements = Texture(keys.glo), Buffer(buffer.glo, 4, 4)
        calls = {
            "qm_argsort_texture": (texture, index.glo, 0),
            "qm_sort_texture": (texture, texture, 0),
            "qm_percentiles_texture": (texture, ctypes.c_double(0.5), 1, index.glo),
            "qm_argsort_buffer": (elements, order.glo, 0, 0),
            "qm_argsort_texture_by_plane": (texture, plane, index.glo, 0),
            "qm_argsort_buffer_by_plane": (elements, plane, order.glo, 0, 0),
            "qm_sort_buffer": (elements, 0),
            "qm_prepare": (1, 1, 5, 1, ctypes.byref(ready)),
            "qm_save_programs": (None, 0, ctypes.byref(number)),
            "qm_load_programs": (b"12345678" * 4, 32, ctypes.byref(number)),
        }
        query = window.query(samples=True)
        with query:
            for name, arguments in calls.items():
                self.assertEqual(getattr(kernel, name)(self.context, *arguments), INVALID, name)
                self.assertRegex(kernel.qm_message().decode(), f"^{name}: a query of .* is active")
        other = moderngl.create_context(standalone=True, backend="egl", require=330)
        try:
            for name, arguments in calls.items():
                self.assertEqual(getattr(kernel, name)(self.context, *arguments), NO_CONTEXT, name)
                self.assertRegex(kernel.qm_message().decode(), f"^{name}: another OpenGL context is current")
        finally:
            other.release()
        window.__enter__()
        self.refused("qm_load_programs: these are not saved programs", kernel.qm_load_programs(
            self.context, *calls["qm_load_programs"]))

    def test_wrong_calls(self):
        keys, index = self.texture(numpy.ones(100, "f4")), self.texture(numpy.zeros(100, "u4"))
        few = self.texture(numpy.zeros(9, "u4"), 3)
        given = Texture(keys.glo)
        argsort = kernel.qm_argsort_texture
        self.refused("the context is NULL", argsort(None, given, index.glo, 0))
        self.refused("keys is NULL", argsort(self.context, None, index.glo, 0))
        self.refused("an order is QM_ASCENDING or QM_DESCENDING, not 7", argsort(self.context, given, index.glo, 7))
        self.refused("is not a texture", argsort(self.context, Texture(12345), index.glo, 0))
        self.refused("R32UI", argsort(self.context, given, keys.glo, 0))
        self.refused("the index has 9 texels", argsort(self.context, given, few.glo, 0))
        short = Texture(keys.glo)
        short.size = 8
        self.refused("->size is 8; begin with QM_KEYS_IN_TEXTURE", argsort(self.context, short, index.glo, 0))
        self.refused("from 0 to 1, not 2", kernel.qm_percentiles_texture(self.context, given, ctypes.c_double(2), 1,
                                                                         few.glo))
        self.refused("there is no type 9", kernel.qm_sort_buffer(self.context, Buffer(1, 9, 5), 0))
        self.refused("there is no call 0", kernel.qm_prepare(self.context, 0, 1, 5, 1, ctypes.c_int()))
        self.refused("load and context", kernel.qm_adopt(Load(), None, None))
        other = ctypes.c_void_p()
        self.assertEqual(kernel.qm_adopt(Load(lambda user, name: None), None, ctypes.byref(other)), NO_CONTEXT)
        self.assertIn("qm_adopt: the loader does not know glGetString", kernel.qm_message().decode())
        self.assertIsNone(other.value)
        kernel.qm_free(None)


class File(unittest.TestCase):
    def test_messages_do_not_name_cpp(self):
        named = set(re.findall(rb"\b[A-Z]\w*::[A-Za-z]\w*", LIBRARY.read_bytes()))
        self.assertEqual(named, {b"QSurfaceFormat::setVersion"})  # of Qt

    def test_size_and_symbols(self):
        with tempfile.TemporaryDirectory() as folder:
            stripped = pathlib.Path(folder, "kernel.so")
            subprocess.run(["strip", "-o", stripped, LIBRARY], check=True)
            # Of it, 16 KB are comments of shaders, which are left out if the kernel alone is built.
            self.assertLess(os.path.getsize(stripped), 310_000)
        shown = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True,
                               text=True).stdout
        self.assertEqual({line.split()[-1] for line in shown.splitlines()},
                         {name for name in dir(kernel) if name.startswith("qm_")} | {"qm_message"})
        asked = subprocess.run(["nm", "-D", "--undefined-only", LIBRARY], check=True, capture_output=True,
                               text=True).stdout
        for name in "pthread_create", "fopen", "socket":
            self.assertNotIn(name, asked)


if __name__ == "__main__":
    unittest.main()
