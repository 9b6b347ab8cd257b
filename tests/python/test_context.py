"""Contexts: the module's own, and those of moderngl, whose textures are sorted in place."""
import concurrent.futures

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
        vertex_shader="#version 450\nvoid main() { gl_Position = vec4(gl_VertexID % 2 * 4 - 1, gl_VertexID / 2 * 4 - 1, 0, 1); }",
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
