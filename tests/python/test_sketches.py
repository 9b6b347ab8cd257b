"""Sketches: never too low, equal on every engine, saved and pickled."""
import pickle

import numpy as np
import pytest

import quadmill


@pytest.mark.parametrize("dtype", ["uint32", "uint64", "float32"])
@pytest.mark.parametrize("engine", ["cpu", "blend-buckets"])
def test_counts(rng, context, dtype, engine):
    keys = np.minimum(rng.geometric(0.05, 5000), 500).astype(dtype)
    sketch = quadmill.Sketch(dtype, width=4096, engine=engine)
    sketch.insert(keys)
    values, counts = np.unique(keys, return_counts=True)
    found = sketch.query(values)
    assert (found.estimate >= counts).all() and (found.estimate == counts).mean() > 0.9
    assert (found.lower <= found.estimate).all() and (found.upper == found.estimate).all()
    sketch.remove(keys[:1000])
    assert sketch.n == 4000
    again = pickle.loads(pickle.dumps(sketch))
    assert again.query(values).tolist() == sketch.query(values).tolist()
    again.merge(sketch)
    assert again.n == 8000
    assert repr(sketch).startswith(f"Sketch({dtype}, quarter, width=4096, depth=3, n=4000, bytes=")


def test_weights_and_texts():
    sketch = quadmill.Sketch(str, width=1000)
    sketch.insert(["a", "b", "ä"], np.array([5, 1, 2], np.uint32))
    sketch.insert(np.array(["a", "b"]))
    sketch.insert([b"a"])
    assert sketch.query(["a", "b", "ä", "c"]).estimate.tolist() == [7, 2, 2, 0]


@pytest.mark.parametrize("kind", ["thread", "warp", "half", "quarter", "msws", "sf"])
def test_removing_what_was_not_inserted(kind):
    sketch = quadmill.Sketch(width=4000, kind=kind)
    sketch.insert(np.full(100, 1, np.uint32))
    assert sketch.removed_too_often == 0
    sketch.remove(np.full(20, 7, np.uint32))
    assert sketch.removed_too_often == 20
    assert sketch.query(np.array([1, 7], np.uint32)).estimate.tolist() == [100, 0]


@pytest.mark.parametrize("call, error, says", [
    (lambda: quadmill.Sketch("int32", width=9), TypeError, "uint32, uint64, float32 or str"),
    (lambda: quadmill.Sketch(width=0), ValueError, "width"),
    (lambda: quadmill.Sketch(width=9, kind="row"), ValueError, "kind must be one of thread"),
    (lambda: quadmill.Sketch(width=9).insert(np.zeros(2)), TypeError, "uint32"),
    (lambda: quadmill.Sketch(str, width=9).insert("text"), TypeError, "a list of texts"),
    (lambda: quadmill.Sketch(str, width=9).insert([1]), TypeError, "str or bytes, not 1"),
    (lambda: quadmill.Sketch(str, width=9).insert_texture(1), TypeError, "no texture"),
    (lambda: quadmill.Sketch(width=9).remove(np.zeros(2, np.uint32)), ValueError, ""),
    (lambda: quadmill.Sketch(width=9).insert(np.zeros(2, np.uint32), np.zeros(1, np.uint32)), ValueError, ""),
    (lambda: quadmill.Sketch(width=9).merge(quadmill.Sketch("uint64", width=9)), TypeError, "one type"),
    (lambda: quadmill.Sketch(width=9).merge(quadmill.Sketch(width=10)), ValueError, ""),
    (lambda: quadmill.Sketch.load(b"nothing"), ValueError, ""),
])
def test_wrong_calls_are_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize("dtype", ["uint32", "uint64", "float32"])
def test_heavy_hitters_bound_exact_counts(rng, dtype):
    values = rng.zipf(1.3, 50_000).clip(0, 10_000).astype(dtype)
    hitters = quadmill.HeavyHitters(dtype, eps=0.001, width=1 << 12)
    hitters.add(values[:20_000])
    hitters.add(values[20_000:])
    exact = dict(zip(*np.unique(values, return_counts=True)))
    items, others = hitters.top(10)
    assert hitters.n == 50_000 and repr(hitters) == "HeavyHitters(n=50000)"
    assert items.value.dtype == dtype and len(items) == 10
    for item in items:
        assert item.lower <= exact[item.value] <= item.upper and item.lower <= item.estimate <= item.upper
    rest = set(exact) - set(items.value.tolist())
    assert max(exact[value] for value in rest) <= others
    with pytest.raises(TypeError):
        hitters.add(np.zeros(3, np.int64))
    with pytest.raises(TypeError, match="not str"):
        quadmill.HeavyHitters(str, width=10)
