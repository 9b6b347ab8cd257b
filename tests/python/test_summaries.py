"""Summaries of streams against exact answers; saved, pickled, merged, and refused."""
import copy
import os
import pathlib
import pickle
import signal
import threading

import numpy as np
import pytest

import quadmill

DTYPES = ["float16", "float32", "float64", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_quantiles_are_within_eps(rng, dtype):
    a = rng.integers(0, 2000, 100_000).astype(dtype)
    summary = quadmill.Quantiles(dtype, eps=0.01)
    for part in np.array_split(a, 7):
        summary.add(part)
    assert summary.n == len(a) and summary.eps == 0.01 and summary.dtype == dtype
    ordered = np.sort(a)
    phis = [0, 0.1, 0.5, 0.999, 1]
    found = summary.quantile(phis)
    assert found.value.dtype == dtype and found.phi.tolist() == phis
    for answer in found:
        first, last = np.searchsorted(ordered, answer.value, "left") + 1, np.searchsorted(ordered, answer.value,
                                                                                          "right")
        assert first <= answer["rank"] + 0.01 * len(a) and last >= answer["rank"] - 0.01 * len(a)
        assert answer.rank_lower <= last and answer.rank_upper >= first
    assert summary.quantile(0.5) == found[2]
    rank = summary.rank(1000)
    assert rank.lower <= (a <= 1000).sum() <= rank.upper
    bars = summary.histogram(4)
    assert bars.estimate.sum() == len(a) and bars.low[0] == a.min() and bars.high[-1] == a.max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_frequencies_are_within_eps(rng, dtype):
    a = np.minimum(rng.geometric(0.3, 50_000), 100).astype(dtype)
    summary = quadmill.Frequencies(dtype, eps=0.01)
    summary.add(a)
    for row in summary.frequent(0.05):
        exact = (a == row.value).sum()
        assert row.lower <= exact <= row.upper and row.estimate <= exact <= row.estimate + 0.01 * len(a)
    wanted = {v for v in np.unique(a) if (a == v).sum() >= 0.05 * len(a)}
    assert wanted <= set(summary.frequent(0.05).value)
    count = summary.count(1)
    assert count.lower <= (a == 1).sum() <= count.upper


def test_sliding_windows(rng):
    a = rng.integers(0, 100, 5000).astype(np.int32)
    last = quadmill.SlidingQuantiles(1000, "int32", eps=0.1, any_width=True)
    last.add(a)
    for width in (None, 1000, 500):
        tail = np.sort(a[-(width or 1000):])
        answer = last.quantile(0.5, width)
        assert abs(np.searchsorted(tail, answer.value) - len(tail) / 2) <= 0.1 * len(tail) + (tail
                                                                                              == answer.value).sum()
    frequent = quadmill.SlidingFrequencies(1000, "int32", eps=0.01)
    frequent.add(np.concatenate([a, np.full(600, 7, np.int32)]))
    assert frequent.frequent(0.5).value.tolist() == [7]
    assert "window=1000" in repr(frequent)
    with pytest.raises(ValueError):
        frequent.frequent(0.5, 10)


def test_prefixes_and_correlated_sums(rng):
    prefixes = quadmill.HeavyPrefixes([0, 8, 32], "uint32", eps=0.01, support=0.1)
    prefixes.add(np.repeat(np.array([0x0A000000, 0xC0000000], np.uint32), 500) + np.arange(1000, dtype=np.uint32))
    heavy = prefixes.heavy(0.4)
    assert heavy.value.tolist() == [0x0A000000, 0xC0000000] and heavy.length.tolist() == [8, 8]
    assert heavy.lower.tolist() == [500, 500] and heavy.discounted_upper.tolist() == [500, 500]
    x, y = rng.random(1000), rng.random(1000)
    sums = quadmill.CorrelatedSums("float64", eps=0.01)
    sums.add(x, y)
    for name, phi in (("avg", 0), ("quantile", 0.5), ("min", 0), ("max", 0)):
        answer = sums.sum(name, phi=phi, scale=0.5, offset=0.1)
        exact = {"avg": x.mean(), "min": x.min(), "max": x.max(), "quantile": np.sort(x)[499]}[name] * 0.5 + 0.1
        assert answer.threshold == pytest.approx(exact)
        assert answer.lower <= y[x <= exact].sum() * (1 + 1e-12) and answer.upper >= y[x <= exact].sum() * (1 - 1e-12)
    with pytest.raises(ValueError, match="x and y must have the same length"):
        sums.add(x, y[:1])
    with pytest.raises(TypeError, match="float64"):
        sums.add(x, y.astype(np.float32))


def each(a):
    yield quadmill.Quantiles("uint32", eps=0.01), lambda s: s.quantile([0, 0.3, 1]).tolist()
    yield quadmill.Frequencies("uint32", eps=0.01), lambda s: s.frequent(0.05).tolist()
    yield quadmill.SlidingQuantiles(100, "uint32"), lambda s: s.quantile(0.5).tolist()
    yield quadmill.SlidingFrequencies(100, "uint32"), lambda s: s.frequent(0.05).tolist()
    yield quadmill.HeavyPrefixes([8, 32], support=0.05), lambda s: s.heavy(0.05).tolist()


@pytest.mark.parametrize("tail", ["low", "high", "both"])
def test_a_tail_and_moments(rng, tail, tmp_path):
    a = rng.exponential(size=30_000)
    summary = quadmill.Quantiles("float64", eps=0.02, tail=tail, moments=True)
    summary.add(a)
    summary.save(tmp_path / "saved")
    n, s = len(a), np.sort(a)
    for again in (summary, summary.copy(), quadmill.Quantiles.load(tmp_path / "saved"),
                  quadmill.Quantiles.load(str(tmp_path / "saved"))):
        for q in again.quantile([0, 0.0001, 0.01, 0.5, 0.99, 0.9999, 1]):
            far = {"low": q.rank, "high": n + 1 - q.rank, "both": min(q.rank, n + 1 - q.rank)}[tail]
            assert abs(np.searchsorted(s, q.value) + 1 - int(q.rank)) <= 0.02 * far
        stats = again.stats()
        assert (stats["n"], stats["min"], stats["max"]) == (n, s[0], s[-1])
        assert np.isclose(stats["mean"], a.mean(), rtol=1e-12) and np.isclose(stats["variance"], a.var(ddof=1),
                                                                              rtol=1e-12)
    with pytest.raises(ValueError, match="moments"):
        quadmill.Quantiles().stats()
    with pytest.raises(ValueError, match="tail"):
        summary.merge(quadmill.Quantiles("float64"))


def test_saved_is_pickled_is_copied(rng):
    a = np.minimum(rng.geometric(0.1, 20_000), 1000).astype(np.uint32)
    for summary, ask in each(a):
        summary.add(a)
        kind = type(summary)
        assert kind.__module__ == "quadmill"
        loaded = kind.load(summary.save())  # whose values of the last window are a sample
        for again in (loaded, pickle.loads(pickle.dumps(summary)), copy.deepcopy(summary)):
            assert type(again) is kind and again.n == summary.n and again.dtype == np.uint32
            assert ask(again) == ask(loaded)
        assert repr(summary).startswith(f"{kind.__name__}(uint32, ") and f"n={len(a)}, eps=" in repr(summary)
        assert f"bytes={summary.nbytes}" in repr(summary)
        if hasattr(kind, "merge"):
            again.merge(summary)
            assert again.n == 2 * len(a)
            again.merge(again)
            assert again.n == 4 * len(a)
            with pytest.raises(TypeError):
                again.merge(1)
        damaged = bytearray(summary.save())
        damaged[len(damaged) // 2] ^= 1
        with pytest.raises(quadmill.InvalidArgument):
            kind.load(bytes(damaged))
        with pytest.raises(quadmill.InvalidArgument):
            kind.load(b"")
    with pytest.raises(quadmill.InvalidArgument):
        quadmill.Quantiles.load(quadmill.Frequencies().save())


@pytest.mark.parametrize("call, error, says", [
    (lambda: quadmill.Quantiles("int8"), TypeError, "no keys of type int8"),
    (lambda: quadmill.Quantiles(eps=2), ValueError, "eps"),
    (lambda: quadmill.Quantiles(eps="small"), TypeError, ""),
    (lambda: quadmill.Quantiles().quantile(0.5), ValueError, ""),
    (lambda: quadmill.Quantiles().add([1.0]), TypeError, "takes an array"),
    (lambda: quadmill.Quantiles("float32").add(np.zeros(3)), TypeError, "values must be float32.*not float64"),
    (lambda: quadmill.Quantiles("int32").rank(1.5), ValueError, "1.5 is not a value of type int32"),
    (lambda: quadmill.Quantiles("uint32").rank(-1), ValueError, "-1 is not a value of type uint32"),
    (lambda: quadmill.Quantiles("uint32").rank("a"), ValueError, "'a' is not a value of type uint32"),
    (lambda: quadmill.Quantiles("int32").merge(quadmill.Quantiles("int64")), TypeError, "one type"),
    (lambda: quadmill.Quantiles(engine="quick"), ValueError, "one of auto, cpu, pbsn, merge, bitonic, hybrid"),
    (lambda: quadmill.HeavyPrefixes([8], "float32"), TypeError, "takes no values of float32"),
    (lambda: quadmill.SlidingQuantiles(0), ValueError, "window"),
    (lambda: quadmill.CorrelatedSums().sum("median"), ValueError, "quantile, min, max, avg"),
])
def test_wrong_calls_are_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_nans_are_counted_apart():
    summary = quadmill.Quantiles("float16")
    summary.add(np.array([1, np.nan, 2], np.float16))
    assert (summary.n, summary.nans, summary.quantile(1).value) == (2, 1, 2)


def test_windows_are_sorted_on_the_gpu_by_one_thread(rng, context):
    a = rng.random(20_000, np.float32)
    plain = quadmill.Quantiles(eps=0.01, window=4096)
    on_gpu = quadmill.Quantiles(eps=0.01, window=4096, engine="merge", context=context)
    for summary in (plain, on_gpu):
        summary.add(a)
    assert on_gpu.quantile([0.1, 0.5]).tolist() == plain.quantile([0.1, 0.5]).tolist()
    plain.merge(on_gpu)
    assert plain.n == 2 * len(a)
    raised = []

    def work():
        try:
            on_gpu.add(a)
        except quadmill.InvalidArgument as error:
            raised.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(raised) == 1 and "only the thread that made it" in raised[0]


def test_threads_take_turns(rng):
    a = rng.random(20_000, np.float32)
    summary = quadmill.Quantiles(eps=0.01)
    others = [quadmill.Quantiles(eps=0.01) for _ in range(2)]

    def work(own, other):
        for _ in range(20):
            summary.add(a)
            own.add(a)
            own.merge(other)  # while the other one merges this
            summary.quantile(0.5)

    threads = [threading.Thread(target=work, args=pair) for pair in (others, others[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert summary.n == 2 * 20 * len(a)


def test_ctrl_c_comes_through_and_nothing_is_lost():
    a = np.zeros(1 << 26, np.uint32)
    summary = quadmill.Quantiles("uint32")
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        summary.add(a)
    timer.join()
    assert 0 < summary.n < len(a) and summary.n % (1 << 22) == 0 and summary.rank(0).estimate == summary.n


def test_names(rng):
    names = [f"/page/{k}" for k in rng.zipf(1.5, 20_000)] + ["\u00e9", "\udcff"] * 100
    pages, other = quadmill.NameFrequencies(eps=0.01), quadmill.NameFrequencies(eps=0.01)
    pages.add(names[:9000])
    other.add(iter(names[9000:]), weights=[3] * len(names[9000:]))
    pages.merge(pickle.loads(pickle.dumps(other)))
    exact = {name: names[:9000].count(name) + 3 * names[9000:].count(name) for name in set(names)}
    assert pages.n == sum(exact.values()) and pages.eps == 0.01 and pages.nbytes < 1e5
    for row in pages.frequent(0.02):
        assert row["lower"] == row["estimate"] <= exact[row["value"]] <= row["upper"] <= row["lower"] + 0.01 * pages.n
    assert {name for name in exact if exact[name] >= 0.02 * pages.n} <= {row["value"] for row in pages.frequent(0.02)}
    assert pages.top(3) == pages.frequent(0.01)[:3] == pages.copy().top(3)
    count = other.count("\udcff")
    assert count.lower <= 300 <= count.upper
    for wrong in ("name", [1], [b"x"]):
        with pytest.raises(TypeError):
            pages.add(wrong)
    for weights in ([1], [1, 2, 3], [1, -1]):
        with pytest.raises(quadmill.InvalidArgument):
            pages.add(["a", "b"], weights=weights)


def test_distinct(rng, tmp_path):
    a = rng.integers(0, 2**40, 50_000)
    one, two = quadmill.Distinct(error=0.02), quadmill.Distinct(error=0.02)
    one.add(a[:30_000])
    two.add(a[20_000:])
    two.save(tmp_path / "two")
    one.merge(quadmill.Distinct.load(tmp_path / "two"))
    exact, found = len(set(a.tolist())), one.count()
    assert found.lower <= exact <= found.upper and abs(found.estimate - exact) <= 0.06 * exact and not one.is_exact
    names = quadmill.Distinct()
    names.add(("ann", "bob", "ann"))
    assert names.is_exact and names.count().estimate == 2 and pickle.loads(pickle.dumps(names)).count() == names.count()
    few = quadmill.Distinct(error=0.13)
    few.add(["ann", "", "Bartholomew"])
    golden = pathlib.Path(__file__).parent.parent / "stream/golden/distinct_few"
    assert few.save() == golden.read_bytes()
    with pytest.raises(quadmill.InvalidArgument):
        quadmill.Distinct(error=0.5)
    with pytest.raises(quadmill.InvalidArgument):
        names.merge(one)


def test_the_last_seconds():
    last = quadmill.RecentQuantiles(60)
    for second in range(1000):
        last.add(second, np.full(5, second))
    last.add(3, [1e9])
    assert last.late == 1 and last.latest == 999
    summary = last.summary()
    assert 5 * 60 <= summary.n <= 5 * 63
    assert summary.quantile(1).value == 999 and 936 <= summary.quantile(0).value <= 939
    assert 5 * 20 <= last.summary(959).n <= 5 * 24
    with pytest.raises(quadmill.InvalidArgument):
        last.add(float("nan"), [1])
    with pytest.raises(quadmill.InvalidArgument):
        quadmill.RecentQuantiles(0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights(rng, dtype):
    a = rng.integers(0, 50, 1000).astype(dtype)
    weights = rng.integers(0, 9, len(a)).astype(np.uint64)
    every = np.repeat(a, weights.astype(np.int64))
    quantiles, frequencies = quadmill.Quantiles(dtype, eps=0.01), quadmill.Frequencies(dtype, eps=0.001)
    quantiles.add(a, weights=weights)
    frequencies.add(a, weights=weights)
    assert quantiles.n == frequencies.n == len(every)
    for answer in quantiles.quantile([0, 0.3, 0.9, 1]):
        assert abs((every < answer.value).sum() - answer["rank"]) <= 0.01 * len(every) + (every == answer.value).sum()
    for row in frequencies.frequent(0.01):
        assert row.lower == row.upper == (every == row.value).sum()
    for wrong in (weights[1:], ):
        with pytest.raises(quadmill.InvalidArgument):
            quantiles.add(a, weights=wrong)
    with pytest.raises(TypeError):
        frequencies.add(a, weights=weights.astype(np.int64))
