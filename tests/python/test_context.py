"""Contexts: the module's own, and those of moderngl, whose textures are sorted in place."""
import concurrent.futures
import ctypes

import moderngl
import numpy as np
import pytest

import quadmill


@pytest.fixture
def host():
    made = moderngl.create_context(standalone=True, require=450, backend="egl")
    yield made
    made.release()


def test_a_context_says_what_it_is(context):
    assert context is quadmill.default_context()
    assert context.info["version"].startswith("4.") and context.info["max_texture_size"] >= 4096
    assert repr(context) == f"Context({context.info['renderer']}, {context.info['platform']})"
    assert len(quadmill.devices()) >= 1
    with pytest.raises(quadmill.InvalidArgument, match="device"):
        quadmill.Context(device=-2)
    with pytest.raises(quadmill.Error, match="99"):
        quadmill.Context(device=99)


def test_what_calls_leave_is_freed(context, rng):
    own = quadmill.Context()
    table = quadmill.Table({"a": np.arange(100)})
    for _ in range(2):
        a = rng.random(100, np.float32)
        quadmill.sort(a, engine="merge", context=own)
        assert (np.diff(a) >= 0).all()
        assert quadmill.query("SELECT SUM(a) AS s FROM t", table, engine="bitmap", context=own)["s"] == [4950]
        own.free()


@pytest.mark.parametrize("dtype, order", [("f4", "asc"), ("f4", "desc"), ("u4", "asc"), ("i4", "asc")])
def test_textures_of_moderngl_are_sorted(host, rng, dtype, order):
    context = quadmill.Context.adopt()
    assert context.info["platform"] == "adopted"
    values = rng.integers(0, 40, 1000).astype(dtype)
    keys = host.texture((40, 25), 1, values.tobytes(), dtype=dtype)
    out = host.texture((40, 25), 1, np.full(1000, 7777, np.uint32).tobytes(), dtype="u4")
    context.argsort_texture(keys.glo, out.glo, 900, order=order)
    index = np.frombuffer(out.read(), np.uint32)
    wanted = np.argsort(-values[:900].astype(int) if order == "desc" else values[:900], kind="stable")
    assert np.array_equal(index[:900], wanted) and (index[900:] == 7777).all()
    with pytest.raises(quadmill.InvalidArgument, match="argsort_texture"):
        context.argsort_texture(12345, out.glo)


def test_channels_are_sorted_and_the_host_keeps_its_state(host, rng):
    context = quadmill.Context.adopt()
    values = rng.random((12, 4)).astype("f4")
    texture = host.texture((4, 3), 4, values.tobytes(), dtype="f4")
    target = host.framebuffer([host.texture((8, 8), 4)])
    target.use()
    target.clear(1, 0, 0, 1)
    host.enable(moderngl.BLEND)
    context.sort_texture(texture.glo, texture.glo)
    assert np.array_equal(np.frombuffer(texture.read(), "f4").reshape(12, 4), np.sort(values, axis=0))
    program = host.program(
        vertex_shader
        ="#version 450\nvoid main() { gl_Position = vec4(gl_VertexID % 2 * 4 - 1, gl_VertexID / 2 * 4 - 1, 0, 1); }",
        fragment_shader="#version 450\nout vec4 c; void main() { c = vec4(0, 1, 0, 0.5); }")
    host.vertex_array(program, []).render(vertices=3)  # into the same target, by the same blending
    assert set(target.read()) <= {0, 127, 128}
    assert host.error == "GL_NO_ERROR"


def test_arrays_are_sorted_inside_of_the_host(host, rng):
    context = quadmill.Context.adopt()
    a = rng.random(1000, np.float32)
    b = np.sort(a)
    quadmill.sort(a, engine="merge", context=context)
    assert np.array_equal(a, b)
    quadmill.sort(a, order="desc", engine="merge")  # in the module's own, while the host's is current
    assert np.array_equal(a, b[::-1])
    keys = host.texture((40, 25), 1, np.arange(1000, dtype=np.uint32).tobytes(), dtype="u4")
    estimates = host.texture((40, 25), 1, dtype="u4")
    sketch = quadmill.Sketch("uint32", width=4096, engine="blend-buckets", context=context)
    sketch.insert_texture(keys.glo)
    sketch.query_texture(keys.glo, estimates.glo)
    assert sketch.n == 1000 and (np.frombuffer(estimates.read(), np.uint32) >= 1).all()


def test_an_adopted_context_must_be_current(host):
    context = quadmill.Context.adopt()
    a = np.array([2, 1], np.float32)
    other = moderngl.create_context(standalone=True, require=450, backend="egl")
    try:
        with pytest.raises(quadmill.Error, match="current"):
            quadmill.sort(a, engine="merge", context=context)
        assert a.tolist() == [2, 1]
    finally:
        other.release()


def test_there_must_be_a_context_to_adopt():
    with concurrent.futures.ThreadPoolExecutor(1) as threads:  # where none is current
        with pytest.raises(quadmill.ContextError, match="no OpenGL context is current on this thread as far as EGL"):
            threads.submit(quadmill.Context.adopt).result()


def test_profiles_are_taken_one_at_a_time_by_with(context):
    profile = context.profile()
    with pytest.raises(quadmill.InvalidArgument, match="by `with`"):
        profile.__exit__(None, None, None)
    with profile:
        with pytest.raises(quadmill.InvalidArgument, match="leave that `with` first"):
            profile.__enter__()
        with pytest.raises(quadmill.InvalidArgument, match="leave that `with` first"):
            context.profile().__enter__()
        quadmill.sort(np.arange(1000, dtype=np.float32), engine="merge", context=context)
    assert sum(row["passes"] for row in profile.rows) > 0
    left = context.profile()
    left.__enter__()
    del left
    with context.profile():
        pass


def test_a_call_from_within_a_call_is_refused_not_waited_for(context, tmp_path):
    (tmp_path / "in").write_bytes(bytes(range(250)) * 400)
    refused = []
    other = quadmill.Sketch(width=100, context=context)

    def within(_):
        nonlocal other
        other = None  # ends in the same context
        try:
            quadmill.sort(np.arange(3, dtype=np.float32), engine="merge", context=context)
        except quadmill.InvalidArgument as error:
            refused.append(str(error))

    quadmill.terasort(tmp_path / "in", tmp_path / "out", engine="merge", context=context, progress=within)
    assert refused and "from within it" in refused[0]
    quadmill.sort(np.arange(3, dtype=np.float32), engine="merge", context=context)


def loader():
    egl = ctypes.CDLL("libEGL.so.1")
    egl.eglGetProcAddress.restype = ctypes.c_void_p
    return lambda name: egl.eglGetProcAddress(name.encode())


def test_a_loader_of_the_program(host, rng):
    find = loader()
    pointers = lambda name: ctypes.c_void_p(find(name))  # noqa: E731
    for context in (quadmill.Context.adopt(find), quadmill.Context(find), quadmill.Context.adopt(loader=pointers)):
        assert context.info["platform"] == "adopted"
        keys, out = host.texture((4, 1), 1, np.array([3, 1, 2, 0], "f4").tobytes(),
                                 dtype="f4"), host.texture((4, 1), 1, dtype="u4")
        context.argsort_texture(keys.glo, out.glo)
        assert np.frombuffer(out.read(), np.uint32).tolist() == [3, 1, 2, 0]
    with pytest.raises(TypeError, match="callable"):
        quadmill.Context.adopt(7)
    with pytest.raises(ZeroDivisionError):
        quadmill.Context.adopt(lambda name: 1 // 0)
    with pytest.raises(quadmill.Error):
        quadmill.Context.adopt(lambda name: None)


@pytest.mark.parametrize("answer, error", [("abc", TypeError), (b"abc", TypeError), (1.5, TypeError), ([1], TypeError),
                                           (ctypes.c_char_p(b"abc"), TypeError), (ctypes.c_int(5), TypeError),
                                           (1234, ValueError), (4095, ValueError), (-1, ValueError), (True, ValueError),
                                           (2**64, ValueError), (np.int64(-5), ValueError),
                                           (ctypes.c_void_p(16), ValueError)])
def test_what_is_not_an_address_is_refused(host, answer, error):
    find = loader()
    for make in (quadmill.Context, quadmill.Context.adopt):
        for wrong in ("glGetString", "glBindTexture"):
            with pytest.raises(error, match=rf"must return the address of {wrong}, as a number, a pointer of ctypes"):
                make(lambda name: answer if name == wrong else find(name))


def test_null_pointers_are_as_none(host):
    for null in (None, 0, ctypes.c_void_p(), ctypes.POINTER(ctypes.c_int)()):
        with pytest.raises(quadmill.ContextError, match="adopt: the loader does not know glGetString"):
            quadmill.Context(lambda name: null)


def test_wrong_numbers_are_refused_by_the_name_of_the_argument(host):
    context = quadmill.Context.adopt()
    keys = host.texture((4, 1), 1, bytes(16), dtype="f4").glo
    for says, error, call in (
            ("keys must be a whole number from 0 to 4294967295, not -1", ValueError,
             lambda: context.argsort_texture(-1, 5)),
            ("keys must be a whole number, not 'a'", TypeError, lambda: context.argsort_texture("a", 5)),
            ("index must be a whole number from 0", ValueError, lambda: context.argsort_texture(keys, 2**32)),
            ("count must be a whole number from 0 on", ValueError, lambda: context.argsort_texture(keys, 5, -1)),
            (r"plane must have 4 numbers, not 3: \(1, 2, 3\)", ValueError,
             lambda: context.argsort_texture(keys, 5, plane=(1, 2, 3))),
            ("plane must have numbers, not 'x'", TypeError,
             lambda: context.argsort_texture(keys, 5, plane=(1, 2, 3, "x"))),
            ("plane must be a sequence of numbers, not 5", TypeError,
             lambda: context.argsort_texture(keys, 5, plane=5)),
            ("counted must be .buffer, offset., the name of a buffer and bytes, not 5", ValueError,
             lambda: quadmill.TextureRegion(keys, counted=5)),
            ("counted must be a whole number from 0 on, not -1", ValueError,
             lambda: quadmill.BufferKeys(keys, counted=(1, -1))),
            ("offset must be a whole number from 0 on", ValueError, lambda: quadmill.BufferKeys(keys, offset=-4)),
            ("texture must be a whole number", TypeError, lambda: quadmill.TextureRegion(None)),
            ("ends must be a whole number from 0 on", ValueError, lambda: context.argsort_segments(keys, [-1], 5)),
            ("phi must have numbers, not None", TypeError, lambda: context.percentiles_texture(keys, [None], 5)),
            ("weights must have 4 numbers, not 2", ValueError, lambda: context.measure(keys, weights=[1, 2])),
            ("programs must be a whole number", ValueError, lambda: context.prepare("sort", "f4", 5, -1))):
        with pytest.raises(error, match=f"^{says}"):
            call()


def test_planes_and_outputs_that_cannot_be_are_refused(host):
    context = quadmill.Context.adopt()
    positions, index = host.texture((4, 1), 4, bytes(64), dtype="f4"), host.texture((4, 1), 1, bytes(16), dtype="u4")
    buffer, order = host.buffer(bytes(48)), host.buffer(reserve=16)
    for wrong in (np.nan, np.inf):
        with pytest.raises(quadmill.InvalidArgument, match="^argsort_texture: a plane has four finite numbers, not"):
            context.argsort_texture(positions.glo, index.glo, plane=(1, 2, wrong, 0))
        with pytest.raises(quadmill.InvalidArgument, match="^argsort_buffer: a plane has four finite numbers, not"):
            context.argsort_buffer(quadmill.BufferKeys(buffer.glo), 4, order.glo, plane=(0, 0, 1, wrong))
    keys = host.texture((4, 1), 1, np.array([3, 1, 2, 0], "f4").tobytes(), dtype="f4")
    with pytest.raises(quadmill.InvalidArgument, match="^percentiles_texture: keys and output must be different"):
        context.percentiles_texture(keys.glo, [0.5], keys.glo)
    assert np.frombuffer(keys.read(), "f4").tolist() == [3, 1, 2, 0]
    values, out = (host.texture((4, 1), 1, np.arange(4, dtype="u4").tobytes(), dtype="u4") for _ in range(2))
    numbers = host.texture((4, 1), 1, np.array([3, 1, 2, 0], "u4").tobytes(), dtype="u4")
    with pytest.raises(quadmill.InvalidArgument, match="^sort_pairs: keys must go to another texture or layer than"):
        context.sort_pairs(numbers.glo, values.glo, values.glo, out.glo)
    assert np.frombuffer(values.read(), "u4").tolist() == [0, 1, 2, 3]


def test_texels_of_a_picture_count_by_alpha_or_by_a_mask(host):
    context = quadmill.Context.adopt()
    texels = np.zeros((1, 4, 4), "f4")
    texels[0, :, 0], texels[0, :, 3] = [0, 0.25, 0.5, 0.75], [1, 0, 0.5, 1]
    picture, bars = host.texture((4, 1), 4, texels.tobytes(), dtype="f4"), host.texture((4, 1), 1, dtype="u4")
    red = dict(histogram=bars.glo, bins=4, weights=(1, 0, 0, 0))
    context.measure(picture.glo, weight="alpha", levels=2, **red)
    assert np.frombuffer(bars.read(), "u4").tolist() == [2, 0, 1, 2]
    mask = host.texture((4, 1), 1, np.array([0, 1, 0.6, 1], "f4").tobytes(), dtype="f4")
    context.measure(picture.glo, weight="mask", mask=mask.glo, levels=10, **red)
    assert np.frombuffer(bars.read(), "u4").tolist() == [0, 10, 6, 10]
    with pytest.raises(quadmill.InvalidArgument, match="weight must be one of once, alpha, mask, not 'red'"):
        context.measure(picture.glo, weight="red", **red)
    with pytest.raises(quadmill.InvalidArgument, match="a weight by mask needs a mask"):
        context.measure(picture.glo, weight="mask", **red)


def test_rectangles_channels_and_positions(host, rng):
    context = quadmill.Context.adopt()
    values = rng.integers(0, 200, (10, 20, 4)).astype("u1")
    texture, out = host.texture((20, 10), 4, values.tobytes()), host.texture((20, 10), 1, bytes(800), dtype="u4")
    region = quadmill.TextureRegion(texture.glo, x=3, y=2, width=10, height=5)
    context.argsort_texture(region, out.glo, channel=2)
    wanted = np.argsort(values[2:7, 3:13, 2].reshape(-1), kind="stable")
    assert np.array_equal(np.frombuffer(out.read(), np.uint32)[:50], wanted)
    marks = host.texture((3, 1), 1, dtype="f4")
    context.percentiles_texture(region, [0, 0.5, 1], marks.glo, channel=2)
    in_order = np.sort(values[2:7, 3:13, 2].reshape(-1)) / np.float32(255)
    assert np.allclose(np.frombuffer(marks.read(), np.float32), in_order[[0, 25, 49]])
    positions = rng.integers(-50, 50, (200, 3)).astype("f4")
    wanted = np.argsort(-(positions @ np.array([1, 2, -1], "f4")), kind="stable")
    texture, order = host.texture((20, 10), 3, positions.tobytes(), dtype="f4"), host.buffer(reserve=808)
    context.argsort_texture(texture.glo, out.glo, plane=(1, 2, -1, 5), order="desc")
    assert np.array_equal(np.frombuffer(out.read(), np.uint32), wanted)
    buffer = host.buffer(positions.tobytes())
    context.argsort_buffer(quadmill.BufferKeys(buffer.glo), 200, order.glo, index_offset=8, plane=[1, 2, -1, 5],
                           order="desc")
    assert np.array_equal(np.frombuffer(order.read(), np.uint32)[2:], wanted)
    with pytest.raises(quadmill.InvalidArgument, match="not within"):
        context.argsort_texture(quadmill.TextureRegion(texture.glo, x=20), out.glo)


def test_buffers_segments_and_pairs(host, rng):
    context = quadmill.Context.adopt()
    keys = rng.integers(0, 40, 300).astype("i8")
    buffer, index = host.buffer(keys.tobytes()), host.buffer(reserve=1200)
    number = host.buffer(np.array([9, 200], "u4").tobytes())
    context.argsort_buffer(quadmill.BufferKeys(buffer.glo, "int64"), 300, index.glo)
    assert np.array_equal(np.frombuffer(index.read(), np.uint32), np.argsort(keys, kind="stable"))
    context.sort_buffer(quadmill.BufferKeys(buffer.glo, "int64", counted=(number.glo, 4)), 300)
    assert np.array_equal(np.frombuffer(buffer.read(), "i8"), np.concatenate([np.sort(keys[:200]), keys[200:]]))

    values = rng.integers(0, 40, 300).astype("f4")
    ends = [100, 100, 300]
    stable = np.concatenate([np.argsort(values[:100], kind="stable"), 100 + np.argsort(values[100:], kind="stable")])
    texture, out = host.texture((30, 10), 1, values.tobytes(), dtype="f4"), host.texture((30, 10), 1, dtype="u4")
    context.argsort_segments(texture.glo, ends, out.glo)
    assert np.array_equal(np.frombuffer(out.read(), np.uint32), stable)
    numbers = host.texture((30, 10), 1, np.arange(300, dtype="u4").tobytes(), dtype="u4")
    context.sort_pairs(texture.glo, texture.glo, numbers.glo, out.glo, ends=ends)
    assert np.array_equal(np.frombuffer(out.read(), np.uint32), stable)
    assert np.array_equal(np.frombuffer(texture.read(), np.float32), values[stable])
    context.sort_pairs(texture.glo, texture.glo, numbers.glo, out.glo)
    context.sort_texture(texture.glo, texture.glo, order="desc")
    assert np.array_equal(np.frombuffer(texture.read(), np.float32), np.sort(values)[::-1])


def test_statistics_of_a_picture(host, rng):
    context = quadmill.Context.adopt()
    picture = host.texture((20, 10), 1, np.repeat(np.arange(4, dtype="f4") / 4, 50).tobytes(), dtype="f4")
    bars, extent = host.texture((4, 1), 1, dtype="u4"), host.texture((1, 1), 4, dtype="f4")
    marks = host.texture((2, 1), 1, dtype="f4")
    context.measure(picture.glo, histogram=bars.glo, range=extent.glo, percentiles=marks.glo, phi=[0, 1], bins=4)
    assert np.frombuffer(bars.read(), np.uint32).tolist() == [50] * 4
    assert np.frombuffer(extent.read(), np.float32).tolist() == [0, 0.75, 0.375, 200]
    assert np.frombuffer(marks.read(), np.float32).tolist() == [0, 0.75]
    with pytest.raises(quadmill.InvalidArgument, match="no output"):
        context.measure(picture.glo)


def test_programs_are_prepared_and_saved(host):
    context = quadmill.Context.adopt()
    turns = 1
    while not context.prepare("argsort_texture", "float32", 1000, 1):
        turns += 1
    assert turns > 2 and context.prepare("argsort_texture", "float32", 1000)
    saved = context.save_programs()
    if saved:
        assert quadmill.Context.adopt().load_programs(saved) >= turns - 1
    with pytest.raises(quadmill.InvalidArgument):
        context.load_programs(b"nothing")
    with pytest.raises(quadmill.InvalidArgument, match="call must be one of"):
        context.prepare("top", "float32", 10)
