#!/usr/bin/env python3
"""Compares the module with numpy and scipy on the same arrays: `beside_numpy.py [--json FILE] [--most 24]`.

Times are milliseconds, the median of several runs and their spread, contestants in turn; each result is compared with
numpy's outside the times. Quotients are numpy's (or scipy's) best time over quadmill's: below 1 the module loses.
"""
import argparse
import json
import platform
import statistics
import time

import numpy as np
import scipy
import scipy.linalg
import scipy.stats

import quadmill


def timed(make, work, check):
    given = make()
    begin = time.perf_counter()
    result = work(given)
    ms = 1000 * (time.perf_counter() - begin)
    assert check(given if result is None else result), "a wrong result"
    return ms


class Bench:
    def __init__(self, repeat):
        self.repeat, self.rows = repeat, []

    def run(self, case, n, make, contestants, check=lambda result: True):
        """contestants: name -> function of the result of make(); the module's names begin with quadmill."""
        times = {name: [] for name in contestants}
        for name, work in contestants.items():
            timed(make, work, check)  # a warm-up: programs, memory
        for _ in range(self.repeat):
            for name, work in contestants.items():
                times[name].append(timed(make, work, check))
        medians = {name: statistics.median(each) for name, each in times.items()}
        rival = min(ms for name, ms in medians.items() if not name.startswith("quadmill"))
        for name, ms in medians.items():
            spread = (max(times[name]) - min(times[name])) / ms
            ratio = rival / ms if name.startswith("quadmill") else None
            self.rows.append(dict(case=case, n=n, name=name, ms=ms, spread=spread, times_as_fast=ratio))
            print(f"{case:<12} {n:>10} {name:<24} {ms:>10.2f} ms {100 * spread:>4.0f} %"
                  + (f" {ratio:>8.2f}" if ratio else ""), flush=True)


def sorts(bench, rng, sizes, engines):
    for n in sizes:
        for dtype in ("float32", "int64"):
            values = rng.random(n, np.float32) if dtype == "float32" else rng.integers(-2**62, 2**62, n)
            ordered = np.sort(values)
            bench.run(f"sort {dtype}", n, values.copy,
                      {"numpy.sort": lambda a: a.sort()}
                      | {f"quadmill {e}": lambda a, e=e: quadmill.sort(a, engine=e) for e in engines},
                      lambda a: np.array_equal(a, ordered))
        values = rng.random(n, np.float32)
        ordered = np.sort(values)
        bench.run("argsort", n, lambda: values,
                  {"numpy.argsort": np.argsort, "numpy.argsort stable": lambda a: np.argsort(a, kind="stable")}
                  | {f"quadmill {e}": lambda a, e=e: quadmill.argsort(a, engine=e) for e in engines if e != "hybrid"},
                  lambda index: np.array_equal(values[index], ordered))
        bench.run("top 100", n, lambda: values,
                  {"numpy.partition": lambda a: np.sort(np.partition(a, 100)[:100])}
                  | {f"quadmill {e}": lambda a,
                     e=e: quadmill.top(a, 100, engine=e)[0] for e in engines if e != "hybrid"},
                  lambda best: np.array_equal(best, ordered[:100]))


def quantiles(bench, rng, n, engines):
    values, phis = rng.random(n, np.float32), [0.01, 0.5, 0.99]
    exact = np.quantile(values, phis)

    def summed(engine):
        def work(a):
            summary = quadmill.Quantiles(eps=0.001, engine=engine, threads=0)
            summary.add(a)
            return summary.quantile(phis).value
        return work

    bench.run("quantiles", n, lambda: values,
              {"numpy.quantile": lambda a: np.quantile(a, phis),
               "scipy.stats.mquantiles": lambda a: scipy.stats.mstats.mquantiles(a, phis)}
              | {f"quadmill {e}": summed(e) for e in engines if e in ("cpu", "merge")},
              lambda found: np.abs(found - exact).max() < 0.002)


def queries(bench, rng, n):
    a, b = rng.random(n, np.float32), rng.integers(0, 100, n).astype(np.int32)
    table = quadmill.Table({"a": a, "b": b})
    sql = "SELECT b, COUNT(*) AS n FROM t WHERE a > 0.5 GROUP BY b"
    exact = np.bincount(b[a > 0.5])
    context = quadmill.default_context()
    bench.run("group by", n, lambda: None,
              {"numpy.bincount": lambda _: np.bincount(b[a > 0.5]),
               "numpy.unique": lambda _: np.unique(b[a > 0.5], return_counts=True)[1],
               "quadmill cpu": lambda _: quadmill.query(sql, table)["n"],
               "quadmill bitmap": lambda _: quadmill.query(sql, table, engine="bitmap", context=context)["n"]},
              lambda found: np.array_equal(found, exact))


def systems(bench, rng, sizes):
    for n in sizes:
        a, b = rng.standard_normal((n, n)).astype(np.float32), rng.standard_normal(n).astype(np.float32)

        def close(x):
            return np.abs(a @ x - b).max() <= 0.05 * max(1, np.abs(x).max())

        bench.run("solve", n, lambda: None,
                  {"numpy.linalg.solve": lambda _: np.linalg.solve(a, b),
                   "scipy.linalg.lu_solve": lambda _: scipy.linalg.lu_solve(scipy.linalg.lu_factor(a), b),
                   "quadmill": lambda _: quadmill.solve(a, b)}, close)
    many, sides = rng.standard_normal((10000, 8, 8)).astype(np.float32), rng.standard_normal((10000,
                                                                                              8)).astype(np.float32)
    exact = np.linalg.solve(many.astype(np.float64), sides[..., None])[..., 0]
    bench.run("solve 8 x 8", len(many), lambda: None,
              {"numpy.linalg.solve": lambda _: np.linalg.solve(many, sides[..., None])[..., 0],
               "quadmill": lambda _: quadmill.solve(many, sides)},
              lambda x: np.median(np.abs(x - exact)) < 1e-4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", metavar="FILE", help="write the rows and the machine there")
    parser.add_argument("--most", type=int, default=24, help="log2 of the longest arrays")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    info = quadmill.default_context().info
    machine = dict(renderer=info["renderer"], cpu=platform.processor() or platform.machine(), numpy=np.__version__,
                   scipy=scipy.__version__, quadmill=quadmill.__version__)
    print(" ".join(f"{key} {value};" for key, value in machine.items()))
    bench, rng = Bench(options.repeat), np.random.default_rng(1)
    engines = ["auto", "cpu", "merge", "hybrid"]
    sorts(bench, rng, [1 << k for k in (16, 20, 22, 24) if k <= options.most], engines)
    quantiles(bench, rng, 1 << options.most, engines)
    queries(bench, rng, 1 << options.most)
    systems(bench, rng, [64, 256, 1024] if options.most > 22 else [64, 256])
    if options.json:
        with open(options.json, "w") as file:
            json.dump(dict(machine=machine, rows=bench.rows), file, indent=1)


if __name__ == "__main__":
    main()
