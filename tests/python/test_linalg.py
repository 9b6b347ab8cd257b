"""LU and solutions against numpy."""
import numpy as np
import pytest

import quadmill


@pytest.fixture
def matrix(rng):
    return rng.standard_normal((50, 50)).astype(np.float32)


@pytest.mark.parametrize("pivot", ["partial", "full"])
def test_factors(matrix, pivot):
    lu = quadmill.lu(matrix, pivot=pivot)
    found, rows, columns = lu.factors()
    product = (np.tril(found, -1) + np.eye(50)).astype(np.float64) @ np.triu(found)
    assert np.abs(product - matrix[rows][:, columns]).max() < 1e-4
    sign, magnitude = lu.slogdet()
    wanted = np.linalg.slogdet(matrix.astype(np.float64))
    assert sign == wanted[0] and magnitude == pytest.approx(wanted[1], abs=1e-3)
    assert np.abs(lu.inverse() @ matrix - np.eye(50)).max() < 1e-2
    assert repr(lu) == "Lu(50 x 50, info=0)"


def test_solutions(matrix, rng):
    x = rng.standard_normal((50, 3))
    b = matrix.astype(np.float64) @ x
    assert np.abs(quadmill.solve(matrix, b) - x).max() < 1e-11
    near = quadmill.solve(matrix, b.astype(np.float32))
    assert near.dtype == np.float32 and near.shape == (50, 3) and np.abs(near - x).max() < 1e-2
    assert quadmill.solve(matrix, b[:, 0]).shape == (50,)
    lu = quadmill.lu(a := matrix.copy())
    a[:] = 0  # the factorization has its own
    assert np.abs(lu.solve(b) - x).max() < 1e-11
    assert np.abs(quadmill.solve(np.asfortranarray(matrix), b) - x).max() < 1e-11
    many, sides = rng.standard_normal((100, 4, 4)).astype(np.float32), rng.standard_normal((100, 4)).astype(np.float32)
    found = quadmill.solve(many, sides)
    assert np.abs((many @ found[..., None])[..., 0] - sides).max() < 1e-2


@pytest.mark.parametrize("condition", [1e1, 1e6, 1e12])
def test_matrices_of_float64_are_refined_as_they_are(rng, condition):
    for n in (1, 2, 7, 40):
        left, right = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
        a = left * np.geomspace(1, 1 / condition, n) @ right
        x = rng.standard_normal(n)
        for found in (quadmill.solve(a, a @ x), quadmill.lu(a).solve(a @ x)):
            assert found.dtype == np.float64
            assert np.abs(found - np.linalg.solve(a, a @ x)).max() < 100 * condition * 2**-53 * np.abs(x).max()
        if n > 1 and condition < 1e7:
            assert quadmill.lu(a).condition() == pytest.approx(np.linalg.cond(a, 1), rel=0.9)
    assert quadmill.solve(np.array([[16777217.0]]), np.array([16777216], np.float32))[0] == 16777216 / 16777217


def test_matrices_beyond_the_range_of_float32():
    a = 1e300 * np.array([[1, 1], [-1, 1]])
    lu = quadmill.lu(a)
    assert np.allclose(lu.factors()[0] / np.array([[1e300, 1e300], [-1, 2e300]]), 1, rtol=1e-7)
    assert lu.solve(np.array([1e300, 1e300])).tolist() == [0, 1]
    hilbert = 1 / (np.arange(14)[:, None] + np.arange(14) + 1)
    with pytest.warns(RuntimeWarning, match="do not trust"):
        quadmill.solve(hilbert, np.ones(14))


@pytest.mark.parametrize("call, error, says", [
    (lambda: quadmill.lu(np.eye(2, dtype=np.int32)), TypeError, "must be float32, not int32"),
    (lambda: quadmill.lu(np.zeros(4, np.float32)), ValueError, "two dimensions"),
    (lambda: quadmill.lu([[1]]), TypeError, "list"),
    (lambda: quadmill.lu(np.full((2, 2), np.nan, np.float32)), ValueError, ""),
    (lambda: quadmill.lu(np.eye(2, dtype=np.float32), pivot="row"), ValueError, "none, partial, full"),
    (lambda: quadmill.solve(np.eye(2, dtype=np.float32), np.zeros(3)), ValueError, "2 rows"),
    (lambda: quadmill.solve(np.eye(2, dtype=np.float32), np.zeros(2, np.int32)), TypeError, "float32"),
    (lambda: quadmill.solve(np.ones((2, 2), np.float32), np.zeros(2)), quadmill.Error, "singular|zero"),
    (lambda: quadmill.solve(np.ones((1, 2, 2), np.float32), np.zeros((1, 2), np.float32)), quadmill.Error, "matrix 0"),
    (lambda: quadmill.solve(np.ones((2, 3), np.float32), np.zeros(2)), ValueError, ""),
    (lambda: quadmill.solve(np.ones((1, 2, 2), np.float32), np.zeros((2, 2), np.float32)), ValueError, "systems"),
])
def test_wrong_calls_are_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize("along, axis", [("all", None), ("rows", 1), ("columns", 0)])
def test_reductions_are_those_of_numpy(context, rng, along, axis):
    reducer = quadmill.Reducer(context)
    a, b = rng.standard_normal((2, 37, 53)).astype(np.float32)
    wide = a.astype(float)
    assert np.allclose(reducer.sums(a, along), np.atleast_1d(wide.sum(axis)), atol=1e-4)
    assert np.allclose(reducer.norms(a, along), np.atleast_1d(np.sqrt((wide ** 2).sum(axis))), rtol=1e-5)
    assert np.allclose(reducer.dots(a, b, along), np.atleast_1d((wide * b).sum(axis)), atol=1e-4)
    for found, best in ((reducer.min(a, along), np.min), (reducer.max(a, along), np.max)):
        assert [value for value, _, _ in found] == np.atleast_1d(best(a, axis)).tolist()
        assert all(a[row, column] == np.float32(value) for value, row, column in found)
    for dtype in (np.int32, np.uint32):
        whole = rng.integers(0, 1 << 30, (40, 50)).astype(dtype)
        for given in (whole, memoryview(whole)):
            assert np.array_equal(reducer.sums(given, along), np.atleast_1d(whole.astype(np.int64).sum(axis)))
    assert reducer.min(np.full((2, 2), np.nan, np.float32)) == [None]


def test_reductions_refuse_masked_integers(context):
    masked = np.ma.masked_array(np.ones((2, 2), np.int32), [[0, 1], [0, 0]])
    with pytest.raises(TypeError, match="masked"):
        quadmill.Reducer(context).sums(masked)


def test_reductions_refuse_what_is_no_matrix(context):
    reducer = quadmill.Reducer(context)
    for a in (np.zeros(3, np.float32), np.zeros(3, np.int32)):
        with pytest.raises(quadmill.InvalidArgument, match="two dimensions"):
            reducer.sums(a)
    with pytest.raises(quadmill.InvalidArgument, match="along"):
        reducer.sums(np.zeros((1, 1), np.float32), "diagonals")
    with pytest.raises(TypeError):
        reducer.norms(np.zeros((1, 1)))


def matrices(n, rng):
    """Random ones, and those that textbooks and testers name as bad."""
    i, j = np.indices((n, n)).astype(float)
    random = rng.uniform(-1, 1, (n, n))
    left, right = (np.linalg.qr(rng.normal(size=(n, n)))[0] for _ in range(2))
    graded = 10.0 ** -np.linspace(0, 12, n)
    yield "uniform", random
    yield "normal", rng.normal(size=(n, n))
    yield "integers", rng.integers(-9, 10, (n, n)) + 0.0
    yield "beyond the digits of floats", rng.integers(2 ** 24, 2 ** 25, (n, n)) + 0.0
    yield "orthogonal", left
    for condition in (1e3, 1e6, 1e9, 1e12):
        yield f"singular values down to 1 / {condition:g}", left * np.geomspace(1, 1 / condition, n) @ right
        yield f"one singular value of 1 / {condition:g}", left * np.append(np.ones(n - 1), 1 / condition) @ right
    yield "large", random * 1e300
    yield "small", random * 1e-300
    yield "rows of many sizes", random * graded[:, None]
    yield "columns of many sizes", random * graded
    yield "sparse", random * (rng.uniform(size=(n, n)) < 0.2) + np.eye(n)
    yield "tridiagonal", np.eye(n) * 2 - (abs(i - j) == 1)
    yield "Hilbert", 1 / (i + j + 1)
    yield "Lehmer", (np.minimum(i, j) + 1) / (np.maximum(i, j) + 1)
    yield "Moler", np.where(i == j, i + 1, np.minimum(i, j) - 1)
    yield "Frank", np.where(j < i - 1, 0, n - np.maximum(i, j))
    yield "Kahan", np.triu(np.where(i == j, 1, -np.cos(1.2))) * (np.sin(1.2) ** i)
    yield "Vandermonde", np.vander(np.linspace(0.1, 1, n))
    yield "Wilkinson, whose pivots grow", np.where(j == n - 1, 1, np.where(i > j, -1.0, i == j))
    yield "companion", np.where(i == 0, rng.uniform(-1, 1, n), i == j + 1) + np.eye(n)[::-1] * 1e-3


def backward_error(a, x, b):
    a, x, b = (one.astype(np.longdouble) for one in (a, x, b))
    size = abs(a).sum(1).max() * abs(x).max() + abs(b).max()
    return float(abs(b - a @ x).max() / size) if size else 0.0


def growth(a):
    """Of the values while Gaussian elimination with partial pivoting goes on: its backward error grows as they do."""
    a = a.astype(float)
    first = most = abs(a).max()
    for k in range(len(a) - 1):
        pivot = k + abs(a[k:, k]).argmax()
        a[[k, pivot]] = a[[pivot, k]]
        if a[k, k]:
            a[k + 1:, k:] -= np.outer(a[k + 1:, k] / a[k, k], a[k, k:])
        most = max(most, abs(a[k + 1:]).max())
    return most / first


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 16, 31, 32, 50, 97])
def test_solutions_are_as_good_as_those_of_lapack(rng, n):
    """dgesv, which numpy calls for floats, too. Refined solutions have its bounds; those of floats, one alone and many
    together, have the bound of elimination with partial pivoting (Higham, Accuracy and Stability, theorem 9.5)."""
    compared = 0
    for name, a in matrices(n, rng):
        x = rng.uniform(-1, 1, n)
        b = a @ x
        try:
            wanted = np.linalg.solve(a, b)
        except np.linalg.LinAlgError:
            continue
        lapack, condition = backward_error(a, wanted, b), np.linalg.cond(a / abs(a).max(), np.inf)
        try:
            found = quadmill.solve(a, b)
            assert backward_error(a, found, b) <= max(4 * lapack, 4 * np.sqrt(n) * 2 ** -52), name
            if lapack < 1e-13:
                assert abs(found - wanted).max() <= 8 * n * condition * 2 ** -53 * abs(wanted).max(), name
            compared += 1
        except quadmill.Error:
            assert condition > 1e13 or lapack > 1e-13, name
        floats, sides = a.astype(np.float32), b.astype(np.float32)
        if not np.isfinite(floats).all() or not floats.any():
            continue
        wanted = np.linalg.solve(floats, sides) if np.linalg.matrix_rank(floats) == n else None
        if wanted is None or not np.isfinite(wanted).all():
            continue
        limit = max(16 * backward_error(floats, wanted, sides), 8 * n * growth(floats) * 2 ** -24)
        assert backward_error(floats, quadmill.solve(floats, sides), sides) <= limit, name
        if n <= 32:
            assert backward_error(floats, quadmill.solve(floats[None], sides[None])[0], sides) <= limit, name
    assert compared >= 20
