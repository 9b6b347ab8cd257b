#!/usr/bin/env python3
"""Files that the command saves, read by read_summary.py, which knows docs/stream-format.md alone: every bound in them
holds for the values that were put in.

usage: format_test.py QUADMILL [unittest arguments]
"""
import array
import bisect
import collections
import os
import random
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction

import read_summary

QUADMILL = sys.argv.pop(1)


class Format(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        random.seed(39)

    def saved(self, verb, code, values, *options):
        path = os.path.join(self.folder.name, "summary")
        subprocess.run([QUADMILL, verb, *options, "--engine", "cpu", "--save", path], check=True, stdout=subprocess.DEVNULL,
                       input=array.array(code, values).tobytes())
        return read_summary.read(path)

    def check_ranks(self, summary, values):
        """Some index of the value, counted from 1 in sorted order, is possible by the bounds of each entry."""
        n, entries = summary
        ordered = sorted(values)
        self.assertEqual(n, len(ordered))
        for value, low, high in entries:
            self.assertLessEqual(low, bisect.bisect_right(ordered, value))
            self.assertGreater(high, bisect.bisect_left(ordered, value))

    def check_counts(self, summary, keys):
        n, absent, entries = summary
        counts = collections.Counter(keys)
        self.assertEqual(n, sum(counts.values()))
        for key, low, high in entries:
            self.assertTrue(low <= counts.pop(key, 0) <= high, (key, low, high))
        self.assertLessEqual(max(counts.values(), default=0), absent)

    def test_quantiles_of_every_type(self):
        for name, code in (("f32", "f"), ("f64", "d"), ("i32", "i"), ("u32", "I"), ("i64", "q"), ("u64", "Q")):
            signed = code in "fdiq"
            values = array.array(code, (random.randrange(-10**6 * signed, 10**6) for _ in range(60000)))
            s = self.saved("quantiles", code, values, "--eps", "0.01", "--type", name)
            self.assertEqual(s["eps"], 0.01)
            n = sum(summary[0] for _, summary in s["buckets"]) + len(s["rest"])
            self.assertEqual((n, s["nans"]), (len(values), 0))
            if len(s["buckets"]) == 1 and not s["rest"]:
                self.check_ranks(s["buckets"][0][1], values)
            known = set(values)
            for _, (_, entries) in s["buckets"]:
                self.assertTrue(entries and all(entry[0] in known for entry in entries))
                self.assertEqual(entries, sorted(entries))
            self.assertTrue(known.issuperset(s["rest"]))

    def test_quantiles_of_one_summary(self):
        values = array.array("f", (random.gauss(0, 1) for _ in range(5000)))
        s = self.saved("quantiles", "f", values, "--eps", "0.01", "--window", "5000")
        self.assertEqual(len(s["buckets"]), 1)
        self.check_ranks(s["buckets"][0][1], values)

    def test_a_tail(self):
        values = array.array("f", (random.expovariate(1) for _ in range(150000)))
        ordered, n = sorted(values), len(values)
        for number, name in ((1, "low"), (2, "high"), (3, "both")):
            for count in (100, n):
                s = self.saved("quantiles", "f", values[:count], "--eps", "0.02", "--tail", name, "--stats")
                self.assertEqual((s["tail"], s["nans"]), (number, 0))
                self.assertAlmostEqual(s["mean"], sum(values[:count]) / count, places=9)
                if count == 100:
                    self.assertEqual(s["rest"], sorted(values[:100]))
                    continue
                ((id_, summary),) = s["buckets"]
                self.check_ranks(summary, ordered)
                self.assertGreater(id_, 32)
                before = None
                for value, low, high in summary[1]:
                    if before is not None:
                        k = (high - before) // 2
                        far = min(before + k if number != 2 else n, n + 1 - high + k if number != 1 else n)
                        self.assertLessEqual(k, 0.02 * far)
                    before = low

    def test_names(self):
        names = [b"page " + str(int(random.paretovariate(1))).encode() for _ in range(20000)] + [b"\xff"] * 900
        random.shuffle(names)
        path = os.path.join(self.folder.name, "names")
        subprocess.run([QUADMILL, "frequent", "--names", "--text", "--support", "0.02", "--save", path], check=True,
                       stdout=subprocess.DEVNULL, input=b"\n".join(names))
        s, exact = read_summary.read(path), collections.Counter(names)
        self.assertEqual((s["eps"], s["n"]), (0.002, len(names)))
        self.assertLessEqual(len(s["counts"]), 1000)
        self.assertEqual(list(s["counts"]), sorted(s["counts"]))
        for name, count in exact.items():
            self.assertTrue(s["counts"].get(name, 0) <= count <= s["counts"].get(name, 0) + s["missed"], name)
        self.assertLessEqual(s["missed"], 0.002 * (len(names) - sum(s["counts"].values())))

    def test_frequencies(self):
        values = [int(random.paretovariate(1)) for _ in range(100000)]
        s = self.saved("frequent", "I", values, "--type", "u32", "--support", "0.01", "--eps", "0.001")
        self.assertEqual(s["rest"], sorted(s["rest"]))
        rest = collections.Counter(s["rest"])
        self.check_counts(s["summary"], (collections.Counter(values) - rest).elements())

    def test_sliding(self):
        values = [int(random.paretovariate(1)) for _ in range(70000)]
        for forms in ((), ("--no-exact-window",), ("--no-exact-window", "--sorted-levels"), ("--width", "30000")):
            options = ("--type", "u32", "--eps", "0.05", "--sliding", "50000", *forms)
            s = self.saved("quantiles", "I", values, *options)
            self.check_sliding(s, values, self.check_ranks)
            s = self.saved("frequent", "I", values, "--support", "0.1", *options)
            self.check_sliding(s, values, self.check_counts)

    def check_sliding(self, s, values, check):
        self.assertEqual((s["n"], s["window"], s["nans"]), (len(values), 50000, 0))
        self.assertEqual(s["last"], values[len(values) - len(s["last"]):])
        for level, i, summary in s.get("blocks", ()):
            length = s["block"] << level
            check(summary, values[i * length:(i + 1) * length])
        if "rest" in s:
            self.assertEqual(s["rest"], sorted(values[s["base_blocks"] * s["block"]:]))

    def test_heavy_prefixes(self):
        values = [random.choice((0x0a000000, 0x0a010000, 0xc0a80000)) + random.randrange(4096) for _ in range(50000)]
        s = self.saved("hhh", "I", values, "--support", "0.1", "--hierarchy", "ipv4-bytes")
        self.assertEqual(s["lengths"], [0, 8, 16, 24, 32])
        counted = list((collections.Counter(values) - collections.Counter(s["rest"])).elements())
        for length, summary in zip(s["lengths"], s["summaries"]):
            self.check_counts(summary, (value >> (32 - length) for value in counted))

    def test_correlated_sums(self):
        numbers = [random.uniform(-100, 100) for _ in range(2 * 20000)]
        s = self.saved("corrsum", "d", numbers, "--type", "f64", "--agg", "quantile:0.5", "--eps", "0.01")
        xs, ys = numbers[::2], numbers[1::2]
        self.assertEqual((s["n"], s["infinite"]), (len(xs), 0))
        self.assertEqual(s["sum_of_x"], sum(map(Fraction, xs)))
        kept = sum(summary[0] for _, summary in s["buckets"]) + len(s["rest"])
        self.assertEqual(kept, len(xs))
        total = sum(Fraction(y) for _, y in s["rest"]) + sum(
            positive - negative for _, (_, (positive, negative), _) in s["buckets"])
        self.assertAlmostEqual(float(total), float(sum(map(Fraction, ys))), places=6)
        for _, (n, _, entries) in s["buckets"]:
            self.assertEqual(entries[-1][1], n)
            for _, le_min, le_max, lt_max, least, most, below in entries:
                self.assertTrue(le_min <= le_max and lt_max < le_max)
                self.assertTrue(all(a <= b for a, b in zip(least, most)))


if __name__ == "__main__":
    unittest.main()
