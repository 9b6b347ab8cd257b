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
        found = np.concatenate([found[:len(found) - count],
                                np.sort(bits(found[len(found) - count:])).view(found.dtype)])
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
    (lambda a: a.astype(np.longdouble), TypeError, "float128"),
    (lambda a: a.astype(">f4"), TypeError, "other order"),
    (lambda a: a.astype(complex), TypeError, "complex"),
    (lambda a: a.astype(">M8[s]"), TypeError, "other order"),
    (lambda a: a.astype(object), TypeError, "object"),
    (lambda a: np.ma.masked_array(a), TypeError, "masked"),
    (lambda a: a.tolist(), TypeError, "list"),
    (lambda a: None, TypeError, "NoneType"),
    (lambda a: bytes(a), (TypeError, ValueError), "uint8|read-only"),
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
    with pytest.raises(ValueError):
        quadmill.sort_windows(a, 0)
    with pytest.raises(ValueError):
        quadmill.sort_with_index(a, engine="pbsn")


@pytest.mark.parametrize("call, error, says", [
    (lambda a: quadmill.sort_segments(a, [-1, 3]), ValueError, "ends must be a whole number from 0 on, not -1"),
    (lambda a: quadmill.argsort_segments(a, [3.0]), TypeError, "ends must be a whole number, not 3.0"),
    (lambda a: quadmill.sort_by_key(a, a + 1, ends=3), TypeError, "ends must be a sequence of whole numbers, not 3"),
    (lambda a: quadmill.sort_segments(a, "3"), TypeError, "ends must be a sequence of whole numbers, not '3'"),
    (lambda a: quadmill.top(a, -1), ValueError, "k must be a whole number from 0 on, not -1"),
    (lambda a: quadmill.sort_windows(a, 2.5), TypeError, "window must be a whole number, not 2.5"),
    (lambda a: quadmill.sort(a, threads=-1), ValueError, "threads must be a whole number from 0 to 4294967295, not -1"),
    (lambda a: quadmill.query("SELECT a FROM t", {"a": a}, threads=2**32), ValueError, "threads must be a whole"),
    (lambda a: quadmill.Quantiles(threads=-1), ValueError, "threads must be a whole number"),
    (lambda a: quadmill.solve(np.eye(3, dtype="f"), a, threads=None), TypeError, "threads must be a whole number"),
    (lambda a: quadmill.NameFrequencies().top(-1), ValueError, "k must be a whole number"),
])
def test_wrong_numbers_are_refused_by_the_name_of_the_argument(call, error, says):
    a = np.array([3, 1, 2], np.float32)
    with pytest.raises(error, match=f"^{says}"):
        call(a)
    assert a.tolist() == [3, 1, 2]


@pytest.mark.parametrize("engine", ["cpu", "merge"])
def test_keys_and_values_that_share_memory_are_refused(context, engine):
    z = np.array([5, 3, 9, 1, 7])
    both = np.arange(12).reshape(3, 4)
    for keys, values in ((z[:3], z[1:4]), (z, z), (z[::-1], z), (both[:, 1], both), (z[:3], z[2:].view(np.float64))):
        for ends in (None, [1, len(keys)]):
            before = keys.copy(), values.copy()
            with pytest.raises(quadmill.InvalidArgument, match="^sort_by_key: keys and values must not share memory"):
                quadmill.sort_by_key(keys, values, ends=ends, engine=engine)
            assert np.array_equal(keys, before[0]) and np.array_equal(values, before[1])
    quadmill.sort_by_key(z[:4:2], z[1:4:2], order="desc", engine=engine)  # between each other
    assert z.tolist() == [9, 1, 5, 3, 7]


@pytest.mark.parametrize("call, says", [
    (lambda a: quadmill.sort_by_key(a, a + 1, ends=[1]), "sort_by_key: the ends of segments"),
    (lambda a: quadmill.sort_by_key(a, a + 1, ends=[1], engine="merge"), "sort_by_key: the ends of segments"),
    (lambda a: quadmill.sort_by_key(a, a + 1, engine="pbsn"), "sort_by_key: engine='pbsn' cannot carry an index"),
    (lambda a: quadmill.argsort(a.reshape(1, 3), axis=1, engine="hybrid"), "argsort: engine='hybrid'"),
    (lambda a: quadmill.sorted(a.reshape(1, 3)), "sorted: the array must have one dimension"),
    (lambda a: quadmill.sorted(a, axis=1), "sorted: an array of 1 dimensions has no axis 1"),
    (lambda a: quadmill.sorted(a, engine="pbsn"), "sorted: engine='pbsn'"),
    (lambda a: quadmill.sort(a.reshape(1, 3), axis=1, engine="pbsn"), "sort: engine='pbsn'"),
    (lambda a: quadmill.sort_windows(a, 2, engine="pbsn"), "sort_windows: engine='pbsn'"),
    (lambda a: quadmill.sort_with_index(a, engine="hybrid"), "sort_with_index: engine='hybrid'"),
    (lambda a: quadmill.top(a, 2, engine="bitonic"), "top: engine='bitonic'"),
])
def test_messages_name_the_function_that_was_called(call, says):
    a = np.array([3, 1, 2], np.int32)
    with pytest.raises(quadmill.InvalidArgument, match=f"^{says}"):
        call(a)


def test_messages_list_the_types_that_a_call_takes():
    for call in (quadmill.sort, quadmill.sorted, quadmill.argsort, quadmill.sort_with_index,
                 lambda a: quadmill.top(a, 1), lambda a: quadmill.sort_by_key(a, np.arange(3)),
                 lambda a: quadmill.sort(a.reshape(1, 3), axis=1)):
        with pytest.raises(TypeError, match=r"^\w+: there are no keys of type complex64; bool, integers of 8 to 64 "
                                            "bits, float16, float32, float64, datetime64 and timedelta64 are taken"):
            call(np.zeros(3, np.complex64))


def test_a_matrix_is_sorted_along_an_axis():
    rows = np.matrix([[3, 1, 2], [4, 6, 5]])
    assert quadmill.sorted(rows, axis=1).tolist() == [[1, 2, 3], [4, 5, 6]]
    assert quadmill.argsort(rows, axis=1).tolist() == [[1, 2, 0], [0, 2, 1]]
    quadmill.sort(rows, axis=0, order="desc")
    assert rows.tolist() == [[4, 6, 5], [3, 1, 2]]


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


CONVERTED = ["int8", "uint8", "int16", "uint16", "bool", "M8[s]", "m8[ns]"]


def small(rng, dtype, n):
    """Values with ties; times with some NaT."""
    made = rng.integers(-100, 100, n).astype("int64")
    if dtype[0] in "Mm":
        made[::7] = np.iinfo("int64").min
        return made.view(dtype)
    return (made & 1).astype(bool) if dtype == "bool" else made.astype(dtype)


@pytest.mark.parametrize("engine", ["cpu", "merge"])
@pytest.mark.parametrize("dtype", CONVERTED)
def test_small_types_and_times(rng, context, dtype, engine):
    for n in (0, 1, 300):
        a = small(rng, dtype, n)
        rising = np.sort(a)
        missing = np.count_nonzero(np.isnat(a)) if dtype[0] in "Mm" else 0
        falling = np.concatenate([rising[:n - missing][::-1], rising[n - missing:]])  # NaT is last, too
        for order, wanted in ("asc", rising), ("desc", falling):
            b, c, wide = a.copy(), a.copy(), np.repeat(a, 2)
            quadmill.sort(b, order=order, engine=engine)
            quadmill.sort(wide[::2], order=order, engine=engine)  # a copy is made anyway
            index = quadmill.sort_with_index(c, order=order, engine=engine)
            best, where = quadmill.top(a, n // 2, order=order, engine=engine)
            for found in (b, c, wide[::2], quadmill.sorted(a, order=order, engine=engine), a[index],
                          a[quadmill.argsort(a, order=order, engine=engine)]):
                assert found.dtype == a.dtype and np.array_equal(bits(found), bits(wanted))
            assert np.array_equal(bits(best), bits(wanted[:n // 2])) and np.array_equal(bits(a[where]), bits(best))
        assert np.array_equal(index, quadmill.argsort(a, order="desc", engine=engine))
    quadmill.sort_windows(a, 100, engine=engine)
    quadmill.sort_segments(a, [150, 300], engine=engine)
    assert np.array_equal(bits(a), bits(np.concatenate([np.sort(a[:150]), np.sort(a[150:])])))


@pytest.mark.parametrize("engine", ["cpu", "merge"])
def test_along_an_axis(rng, context, engine):
    for shape in ((4, 50), (50, 4), (3, 1, 20), (0, 5), (5, 0), (7,)):
        for dtype in "float32", "int64", "int8":
            a = rng.integers(-90, 90, shape).astype(dtype)
            for axis in range(-a.ndim, a.ndim):
                b = a.copy()
                assert quadmill.sort(b, axis=axis, engine=engine) is None
                assert np.array_equal(b, np.sort(a, axis=axis))
                assert np.array_equal(quadmill.sorted(a, axis, engine=engine), b)
                index = quadmill.argsort(a, axis=axis, engine=engine)
                assert index.dtype == np.uint32
                assert np.array_equal(index, np.argsort(a, axis=axis, kind="stable"))
    fortran = np.asfortranarray(rng.random((20, 30)))
    wanted = np.sort(fortran, axis=0)
    quadmill.sort(fortran, axis=0, engine=engine)
    assert np.array_equal(fortran, wanted)
    for axis in 2, -3:
        with pytest.raises(quadmill.InvalidArgument, match=f"2 dimensions has no axis {axis}"):
            quadmill.sort(fortran, axis=axis)
    with pytest.raises(quadmill.InvalidArgument, match="read-only"):
        quadmill.sort(read_only(fortran), axis=0)
    with pytest.raises(quadmill.InvalidArgument, match="one dimension"):
        quadmill.argsort(fortran)


@pytest.mark.parametrize("engine", ["cpu", "merge"])
def test_values_travel_with_keys(rng, context, engine):
    n = 1000
    ends = [0, 10, 10, 600, n]
    for dtype in "float32", "int64", "uint8", "M8[s]":
        keys = rng.integers(0, 40, n).astype("int64").astype(dtype)
        for values in (np.arange(n), rng.random((n, 3)), np.array([f"w{i}" for i in range(n)])):
            for order in "asc", "desc":
                sign = -1 if order == "desc" else 1
                stable = np.argsort(sign * keys.astype("int64"), kind="stable")
                k, v = keys.copy(), values.copy()
                assert quadmill.sort_by_key(k, v, order=order, engine=engine) is None
                assert np.array_equal(k, keys[stable]) and np.array_equal(v, values[stable])
                parts = np.concatenate([b + np.argsort(sign * keys[b:e].astype("int64"), kind="stable")
                                        for b, e in zip([0, *ends], ends)])
                assert np.array_equal(quadmill.argsort_segments(keys, ends, order=order, engine=engine), parts)
                k, v = keys.copy(), values.copy()
                quadmill.sort_by_key(k, v, ends=ends, order=order, engine=engine)
                assert np.array_equal(k, keys[parts]) and np.array_equal(v, values[parts])
    for bad, says in ((np.arange(3), "as many values as keys, 1000"), (read_only(np.arange(n)), "read-only")):
        before = keys.copy()
        with pytest.raises(quadmill.InvalidArgument, match=says):
            quadmill.sort_by_key(keys, bad)
        assert np.array_equal(keys, before)
    with pytest.raises(quadmill.InvalidArgument, match="the last is 3"):
        quadmill.argsort_segments(keys, [3], engine=engine)
