"""Sorting arrays: every type, every shape that is refused, and that nothing happens to what is refused."""
import array

import numpy as np
import pytest

import quadmill

DTYPES = ["float16", "float32", "float64", "int32", "uint32", "int64", "uint64"]


def values(rng, dtype, n):
    """Random bits, so NaNs, infinities, zeros of both signs and denormals are among floats, and equal values."""
    dtype = np.dtype(dtype)
    bits = rng.integers(0, 256, n * dtype.itemsize, dtype=np.uint8).view(dtype).copy()
    if n >= 8:
        bits[1:8] = [0, 1, 1, 0, 3, 2, 1]
        if dtype.kind == "f":
            bits[5:8] = [-0.0, np.inf, np.nan]
    return bits


def bits(a):
    return a.view(f"u{a.itemsize}")


def in_order(a, descending=False):
    """numpy's order, zeros by their sign, NaNs last; those by their bits, for comparing."""
    if a.dtype.kind != "f":
        return np.sort(a)[::-1] if descending else np.sort(a)
    numbers, nans = a[~np.isnan(a)], a[np.isnan(a)]
    order = np.lexsort((~np.signbit(numbers), numbers))
    return np.concatenate([numbers[order[::-1] if descending else order], np.sort(bits(nans)).view(a.dtype)])


def check_sorted(found, before, descending=False):
    wanted = in_order(before, descending)
    if found.dtype.kind == "f":
        count = np.isnan(found).sum()
        assert np.isnan(found[len(found) - count:]).all()
        found = np.concatenate([found[:len(found) - count], np.sort(bits(found[len(found) - count:])).view(found.dtype)])
    assert np.array_equal(bits(found), bits(wanted))


@pytest.mark.parametrize("engine", ["auto", "merge"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts_every_type_in_place(rng, context, dtype, engine):
    for n in (0, 1, 2, 8, 63, 1000, 1024, 1025):
        for order in ("asc", "desc"):
            a = values(rng, dtype, n)
            before = a.copy()
            assert quadmill.sort(a, order=order, engine=engine) is None
            check_sorted(a, before, order == "desc")


@pytest.mark.parametrize("engine", ["bitonic", "hybrid", "pbsn"])
def test_other_engines(rng, context, engine):
    a = values(rng, "float32", 5000)
    before = a.copy()
    quadmill.sort(a, engine=engine, context=context)
    check_sorted(a, before)


@pytest.mark.parametrize("engine", ["cpu", "merge"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_index_top_and_argsort_are_stable(rng, context, dtype, engine):
    a = rng.integers(0, 50, 1000).astype(dtype)
    stable = np.argsort(a, kind="stable").astype(np.uint32)
    index = quadmill.argsort(a, engine=engine)
    assert index.dtype == np.uint32 and np.array_equal(index, stable)
    b = a.copy()
    assert np.array_equal(quadmill.sort_with_index(b, engine=engine), stable)
    assert np.array_equal(b, a[stable])
    best, where = quadmill.top(a, 10, engine=engine)
    assert best.dtype == a.dtype and np.array_equal(best, b[:10]) and np.array_equal(a[where], best)
    falling = quadmill.argsort(a, order="desc", engine=engine)
    assert np.array_equal(falling, np.argsort(-a.astype(np.float64), kind="stable"))


@pytest.mark.parametrize("engine", ["cpu", "merge"])
def test_windows_and_segments(rng, context, engine):
    a = rng.random(1000, np.float32)
    b, ends = a.copy(), [0, 7, 7, 500, 1000]
    quadmill.sort_segments(b, np.array(ends), engine=engine)
    assert np.array_equal(b, np.concatenate([np.sort(a[i:j]) for i, j in zip([0] + ends, ends)]))
    b = a.copy()
    quadmill.sort_windows(b, 64, engine=engine)
    assert np.array_equal(b, np.concatenate([np.sort(a[i:i + 64]) for i in range(0, 1000, 64)]))


IN_PLACE = [quadmill.sort, quadmill.sort_with_index, lambda a: quadmill.sort_windows(a, 2),
            lambda a: quadmill.sort_segments(a, [np.size(a)])]


def read_only(a):
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("call, says", [
    (lambda a: quadmill.sort_segments(a, [2]), "^sort_segments: the ends of segments"),
    (lambda a: quadmill.sort_windows(a, 0), "^sort_windows"),
    (lambda a: quadmill.top(a, 9), "^top: k must be at most"),
    (lambda a: quadmill.sort(a.astype(np.int32), engine="pbsn"), "engine='pbsn' .* engine='merge' or engine='auto'"),
    (lambda a: quadmill.argsort(a, engine="pbsn"), "engine='pbsn'"),
    (lambda a: quadmill.argsort(a, engine="hybrid"), "engine='hybrid'"),
    (lambda a: quadmill.sort_segments(a, [3], engine="bitonic"), "engine='bitonic'"),
    (lambda a: quadmill.Quantiles(eps=2.0), "eps"),
    (lambda a: quadmill.query("SELECT a FROM t", {"t": {"a": a, "b": a[:1]}}), "'b'"),
])
def test_messages_name_no_functions_of_cpp(call, says):
    with pytest.raises(quadmill.Error, match=says) as caught:
        call(np.array([3, 1, 2], np.float32))
    assert "::" not in str(caught.value)


@pytest.mark.parametrize("function", IN_PLACE)
@pytest.mark.parametrize("make, error, says", [
    (lambda a: a[::2], ValueError, "strided"),
    (lambda a: a[::-1], ValueError, "strided"),
    (lambda a: read_only(a), ValueError, "read-only"),
    (lambda a: a.reshape(2, -1), ValueError, "one dimension, not 2"),
    (lambda a: a[:1].reshape(()), ValueError, "one dimension, not 0"),
    (lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].copy()[4:].view(np.int16), TypeError, "int16"),
    (lambda a: a.astype(">f4"), TypeError, "other order"),
    (lambda a: a.astype(bool), TypeError, "bool"),
    (lambda a: a.astype(complex), TypeError, "complex"),
    (lambda a: a.astype("M8[s]"), TypeError, "datetime"),
    (lambda a: a.astype(object), TypeError, "object"),
    (lambda a: np.ma.masked_array(a), TypeError, "masked"),
    (lambda a: a.tolist(), TypeError, "list"),
    (lambda a: None, TypeError, "NoneType"),
    (lambda a: bytes(a), TypeError, "uint8"),
])
def test_what_cannot_be_done_in_place_is_refused(function, make, error, says):
    a = np.array([3, 1, 2, 9, 7, 8], np.float32)
    given = make(a)
    with pytest.raises(error, match=says):
        function(given)
    assert a.tolist() == [3, 1, 2, 9, 7, 8]


def test_unaligned_memory_is_refused():
    a = np.frombuffer(bytearray(b"x" + np.arange(4, dtype=np.float32).tobytes()), np.uint8)[1:].view(np.float32)
    assert not a.flags.aligned
    with pytest.raises(ValueError, match="not aligned"):
        quadmill.sort(a)


@pytest.mark.parametrize("arguments, says", [
    (dict(order="up"), "order must be one of asc, desc, not 'up'"),
    (dict(engine="gpu"), "engine must be one of auto, cpu"),
])
def test_wrong_words_are_refused(arguments, says):
    with pytest.raises(quadmill.InvalidArgument, match=says):
        quadmill.sort(np.zeros(3, np.float32), **arguments)


def test_wrong_numbers_are_refused(context):
    a = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="at most the number of values, 3, not 4"):
        quadmill.top(a, 4)
    with pytest.raises(ValueError):
        quadmill.sort_segments(a, [1, 2])
    with pytest.raises(TypeError):
        quadmill.sort_segments(a, [-1, 3])
    with pytest.raises(ValueError):
        quadmill.sort_windows(a, 0)
    with pytest.raises(ValueError):
        quadmill.sort_with_index(a, engine="pbsn")


class Foreign:
    """An array of another library."""

    def __init__(self, a):
        self.a = a

    def __dlpack__(self, stream=None):
        return self.a.__dlpack__()

    def __dlpack_device__(self):
        return self.a.__dlpack_device__()


def test_arrays_of_others_are_read():
    a = np.array([3, 1, 2], np.float32)
    assert quadmill.argsort(Foreign(a)).tolist() == [1, 2, 0]
    assert quadmill.top(Foreign(a), 1)[0].tolist() == [1]
    assert quadmill.argsort(array.array("d", [3, 1, 2])).tolist() == [1, 2, 0]
    with pytest.raises(ValueError, match="read-only"):
        quadmill.sort(Foreign(a))  # so numpy makes of it
    assert quadmill.argsort(read_only(a)).tolist() == [1, 2, 0]
    assert quadmill.argsort(np.array([3, 0, 1, 0, 2])[::2]).tolist() == [1, 2, 0]


def test_buffers_are_sorted_in_place():
    a = array.array("d", [3, 1, 2])
    quadmill.sort(a)
    assert a.tolist() == [1, 2, 3]
    memory = bytearray(np.array([3, 1, 2], np.int64).tobytes())
    quadmill.sort(memoryview(memory).cast("q"))
    assert np.frombuffer(memory, np.int64).tolist() == [1, 2, 3]
