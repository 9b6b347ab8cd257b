#!/usr/bin/env python3
"""Files that the command saves, read by read_summary.py and read_all_summaries.py, which know docs/stream-format.md
alone: every bound in them holds for the values that were put in.

usage: format_test.py QUADMILL [unittest arguments]
"""
import array
import bisect
import collections
import ipaddress
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
import zlib
from fractions import Fraction

import read_all_summaries
import read_summary

QUADMILL = sys.argv.pop(1)
GOLDEN = os.path.join(os.path.dirname(__file__), "golden")


def number(value):
    """A number, encoded as the page says."""
    out = bytearray()
    while value > 127:
        out.append(128 | value & 127)
        value >>= 7
    return bytes([*out, value])


def hash_of(key):
    """The hash of a value or a name, as the page says."""
    ones, g = 2**64 - 1, 0x9e3779b97f4a7c15

    def m(x):
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & ones
        x = (x ^ x >> 27) * 0x94d049bb133111eb & ones
        return x ^ x >> 31
    if isinstance(key, int):
        return m(key + g & ones)
    h = m(len(key) + g & ones)
    for i in range(0, len(key), 8):
        h = m(h ^ int.from_bytes(key[i:i + 8], "little")) + g & ones
    return m(h)


def distinct(p, keys):
    """The saved number of different keys, written from the page alone."""
    hashes = {hash_of(key) for key in keys}
    body = number(p)
    if len(hashes) <= 2**p // 8:
        body += number(1) + number(len(hashes))
        body += b"".join(number(b - a) for a, b in zip([0, *sorted(hashes)], sorted(hashes)))
    else:
        registers = [0] * 2**p
        for h in hashes:
            rest = h & (1 << 64 - p) - 1
            registers[h >> 64 - p] = max(registers[h >> 64 - p], 64 - p - rest.bit_length() + 1 if rest else 64 - p + 1)
        body += number(0) + b"".join(map(number, registers))
    data = b"QMSM\x02\x09\0\0" + body
    return data + zlib.crc32(data).to_bytes(4, "little")


def mixed(n):
    """Numbers up to 10^6 in no order, without a generator that another version of Python may change."""
    return [i * 2654435761 % 2**32 % 1000003 for i in range(n)]


# Name of a file, the call that saves it, and its input.
FLOATS = array.array("f", (v / 8 for v in mixed(3000))).tobytes()
WORDS = array.array("I", (v % 97 for v in mixed(3000))).tobytes()
PAIRS = array.array("d", (v / 8 for v in mixed(600))).tobytes()
NAMES = b"\n".join(b"/page/%d" % (v % 61) for v in mixed(2000))
GROUPS = b"path,ms\n" + b"".join(b"/%d,%d\n" % (v % 7 * (v % 3), v) for v in mixed(700))
TIMES = b"at,ms\n" + b"".join(b"%d,%d\n" % (-500 + i // 2 - v % 20, v) for i, v in enumerate(mixed(700)))
ADDRESSES = b"\n".join(b"2001:db8:%x:%x::%x" % (v % 3, v % 5, v % 7) for v in mixed(500))
GOLDEN_CALLS = (
    ("quantiles", "quantiles --eps 0.05 --window 64 --stats", FLOATS),
    ("frequencies", "frequent --type u32 --eps 0.01 --support 0.05 --window 100", WORDS),
    ("sliding_quantiles", "quantiles --eps 0.2 --sliding 2000 --no-exact-window", FLOATS),
    ("sliding_few_levels", "quantiles --eps 0.1 --sliding 2600", FLOATS),
    ("sliding_frequencies", "frequent --type u32 --eps 0.2 --support 0.3 --sliding 2000 --width 1000", WORDS),
    ("heavy_prefixes", "hhh --hierarchy 0,8,31,32 --eps 0.02 --support 0.1 --window 6100", WORDS),
    ("correlated_sums", "corrsum --type f64 --agg avg --eps 0.05 --window 64", PAIRS),
    ("tail", "quantiles --eps 0.1 --tail high --window 64", FLOATS),
    ("ipv6_prefixes", "hhh --hierarchy ipv6 --support 0.1", ADDRESSES),
    ("names", "frequent --names --text --eps 0.05 --support 0.06", NAMES),
    ("groups", "quantiles --column ms --by path --eps 0.1 --window 64", GROUPS),
    ("last_seconds", "frequent --type u32 --column ms --time at --sliding 40s --eps 0.1 --support 0.2", TIMES))
# Files of earlier versions, which today's command only reads.
GOLDEN_EARLIER = ("sliding_all_levels",)
GOLDEN_DISTINCT = (("distinct", 6, [v * 8 for v in mixed(500)]), ("distinct_few", 6, [b"ann", b"", b"Bartholomew"]))


class Golden(unittest.TestCase):
    """Files of each kind that stay as they are: today's command writes the same bytes, and reads them."""
    def test_each_kind(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "saved")
            for name, call, content in GOLDEN_CALLS:
                with self.subTest(name):
                    subprocess.run([QUADMILL, *call.split(), *([] if "ipv6" in call else ["--engine", "cpu"]), "--save",
                                    path], input=content, check=True,
                                   stdout=subprocess.DEVNULL)
                    with open(path, "rb") as saved, open(os.path.join(GOLDEN, name), "rb") as golden:
                        self.assertEqual(saved.read(), golden.read())
            for name, p, keys in GOLDEN_DISTINCT:
                with open(os.path.join(GOLDEN, name), "rb") as golden:
                    self.assertEqual(distinct(p, keys), golden.read(), name)

    def test_read_and_written_again(self):
        names = os.listdir(GOLDEN)
        self.assertEqual(sorted(names), sorted([name for name, *_ in (*GOLDEN_CALLS, *GOLDEN_DISTINCT)]
                                                 + [*GOLDEN_EARLIER]))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "saved")
            for name in names:
                golden = os.path.join(GOLDEN, name)
                read_all_summaries.read(golden)
                options = ["--agg", "avg"] if name == "correlated_sums" else []
                answer = subprocess.run([QUADMILL, "merge", golden, *options, "--json", "--save", path], check=True,
                                        capture_output=True).stdout
                if name.startswith(("sliding", "last")):
                    continue  # a merge makes a summary of the whole window of these
                with open(path, "rb") as saved, open(golden, "rb") as file:
                    self.assertEqual(saved.read(), file.read(), name)
                exact = {"distinct": 500, "distinct_few": 3}.get(name)
                if exact:
                    found = json.loads(answer)
                    self.assertTrue(found["lower"] <= exact <= found["upper"], found)
                if name == "distinct_few":
                    self.assertEqual(found["estimate"], 3)


class Format(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        random.seed(39)

    def saved(self, verb, code, values, *options):
        path = os.path.join(self.folder.name, "summary")
        subprocess.run([QUADMILL, verb, *options, "--engine", "cpu", "--save", path], check=True,
                       stdout=subprocess.DEVNULL,
                       input=array.array(code, values).tobytes())
        return read_all_summaries.read(path)

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

    def test_answers(self):
        """read_summary.py gives the bounds that the command gives."""
        reader = os.path.join(os.path.dirname(__file__), "read_summary.py")
        path = os.path.join(self.folder.name, "summary")
        for name, code in (("f32", "f"), ("f64", "d"), ("i32", "i"), ("u32", "I"), ("i64", "q"), ("u64", "Q")):
            for count in (0, 1, 300, 70000):
                values = array.array(code, (int(random.gauss(5000, 900)) // 60 * 60 for _ in range(count)))
                asked = sorted({0, 1, 5000, 4980, 4981, 9999, *values[:5]})
                words = [f"{float(value)}" if code in "fd" else str(value) for value in map(int, asked)]
                for verb, options in (("quantiles", ["--eps", "0.01", "--stats"]),
                                      ("frequent", ["--support", "0.01", "--eps", "0.01"])):
                    self.saved(verb, code, values, "--type", name, *options)
                    printed = subprocess.run([sys.executable, reader, path, *words], check=True, capture_output=True,
                                             text=True).stdout
                    bounds = dict(zip(asked, (tuple(map(int, line.split())) for line in printed.splitlines())))
                    self.assertEqual(list(bounds), asked)
                    for value, (low, high) in bounds.items():
                        exact = sum(one <= value if verb == "quantiles" else one == value for one in values)
                        self.assertTrue(low <= exact <= high, (verb, name, value))
                        self.assertLessEqual(high - low, 0.02 * count)
                    self.check_command(verb, path, bounds, count)

    def check_command(self, verb, path, bounds, count):
        if count == 0:
            return
        options = ["--rank", ",".join(map(str, bounds))] if verb == "quantiles" else ["--support", "0.01"]
        found = json.loads(subprocess.run([QUADMILL, "merge", path, *options, "--json"], check=True,
                                          capture_output=True).stdout)
        items = found["ranks" if verb == "quantiles" else "items"]
        self.assertTrue(items)
        for item in items:
            if item["value"] in bounds:
                self.assertEqual((item["lower"], item["upper"]), bounds[item["value"]])

    def test_golden_answers(self):
        """The bounds of golden files hold for the values in them, and are as narrow as eps says."""
        for name, code, content, eps in (("quantiles", "f", FLOATS, 0.05), ("frequencies", "I", WORDS, 0.01)):
            values = array.array(code, content)
            with open(os.path.join(GOLDEN, name), "rb") as file:
                reader = read_summary.Reader(file.read())
            self.assertEqual(reader.body(), read_all_summaries.read(os.path.join(GOLDEN, name)))
            for value in {*values[:60], -1, 10**6}:
                low, high = reader.bounds(value)
                exact = sum(one <= value for one in values) if code == "f" else values.count(value)
                self.assertTrue(low <= exact <= high, (name, value))
                self.assertLessEqual(high - low, 2 * eps * len(values))

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
        s, exact = read_all_summaries.read(path), collections.Counter(names)
        self.assertEqual((s["eps"], s["n"]), (0.002, len(names)))
        self.assertLessEqual(len(s["counts"]), 1000)
        self.assertEqual(list(s["counts"]), sorted(s["counts"]))
        for name, count in exact.items():
            self.assertTrue(s["counts"].get(name, 0) <= count <= s["counts"].get(name, 0) + s["missed"], name)
        self.assertLessEqual(s["missed"], 0.002 * (len(names) - sum(s["counts"].values())))

    def test_ipv6_prefixes(self):
        addresses = [ipaddress.IPv6Address(0x20010db8 << 96 | int(random.paretovariate(0.3)) % 2**64 << 32
                                           | random.randrange(4))
                     for _ in range(20000)]
        path = os.path.join(self.folder.name, "addresses")
        subprocess.run([QUADMILL, "hhh", "--hierarchy", "ipv6", "--support", "0.2", "--save", path], check=True,
                       stdout=subprocess.DEVNULL, input="\n".join(map(str, addresses)).encode())
        s = read_all_summaries.read(path)
        self.assertEqual((s["support"], list(s["lengths"])), (0.2, [0, 16, 32, 48, 56, 64, 128]))
        for length, level in s["lengths"].items():
            exact = collections.Counter(address.packed[:length // 8] for address in addresses)
            self.assertEqual(level["n"], len(addresses))
            for prefix, count in exact.items():
                found = level["counts"].get(prefix, 0)
                self.assertTrue(found <= count <= found + level["missed"], (length, prefix))

    def test_groups(self):
        rows = [(f"/{int(random.paretovariate(0.5)) % 90}", random.randrange(1000)) for _ in range(20000)]
        path = os.path.join(self.folder.name, "groups")
        subprocess.run([QUADMILL, "quantiles", "--column", "ms", "--by", "path", "--eps", "0.01", "--save", path],
                       check=True,
                       stdout=subprocess.DEVNULL, input=("path,ms\n" + "".join(f"{a},{b}\n" for a, b in rows)).encode())
        s, exact = read_all_summaries.read(path), collections.defaultdict(list)
        for group, value in rows:
            exact[group.encode()].append(value)
        self.assertEqual(s["empty"], dict(s["empty"], eps=0.01, buckets=[], rest=[]))
        self.assertEqual(list(s["groups"]), sorted(exact))
        for group, summary in s["groups"].items():
            self.assertEqual(summary["eps"], 0.01)
            self.assertEqual(sum(n for _, (n, _) in summary["buckets"]) + len(summary["rest"]), len(exact[group]))
            if not summary["buckets"]:
                self.assertEqual(summary["rest"], sorted(exact[group]))
            elif len(summary["buckets"]) == 1 and not summary["rest"]:
                self.check_ranks(summary["buckets"][0][1], exact[group])

    def test_last_seconds(self):
        for start in (-1000, 1795771800):
            rows = [(start + i / 8 - random.choice((0, 0, 0, 5, 40)), i % 91) for i in range(700)]
            path = os.path.join(self.folder.name, "seconds")
            subprocess.run([QUADMILL, "quantiles", "--column", "v", "--time", "t", "--sliding", "32s", "--save", path],
                           check=True,
                           stdout=subprocess.DEVNULL,
                           input=("t,v\n" + "".join(f"{t!r},{v}\n" for t, v in rows)).encode())
            s, latest, late, exact = read_all_summaries.read(path), -1e300, 0, collections.defaultdict(list)
            for t, v in rows:
                latest = max(latest, t)
                pane = math.floor(t / (s["seconds"] / s["panes"]))
                if pane < math.floor(latest) - 32:
                    late += 1
                else:
                    exact[pane].append(v)
            self.assertEqual((s["seconds"], s["panes"], s["latest"], s["late"]), (32, 32, latest, late))
            self.assertGreater(late, 0)
            kept = {pane: sorted(values) for pane, values in exact.items() if pane >= math.floor(latest) - 32}
            self.assertEqual({pane: summary["rest"] for pane, summary in s["parts"].items()}, kept)

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
            self.assertEqual(bool(s["flags"] & 8), not forms)
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
            ends = range(s["base_blocks"] * s["block"], len(values) + 1, s["block"])
            self.assertEqual(s["whole"], [sorted(values[end:end + s["block"]]) for end in ends[:-1]])
            self.assertEqual(s["rest"], sorted(values[ends[-1]:]))

    def test_heavy_prefixes(self):
        values = [random.choice((0x0a000000, 0x0a010000, 0xc0a80000)) + random.randrange(4096) for _ in range(50000)]
        s = self.saved("hhh", "I", values, "--support", "0.1", "--hierarchy", "ipv4-bytes")
        self.assertEqual(s["lengths"], [0, 8, 16, 24, 32])
        counted = list((collections.Counter(values) - collections.Counter(s["rest"])).elements())
        for length, summary in zip(s["lengths"], s["summaries"]):
            self.check_counts(summary, (value >> (32 - length) for value in counted))

    def test_correlated_sums(self):
        numbers = [random.uniform(-100, 100) for _ in range(2 * 20000)]
        named = self.saved("corrsum", "d", numbers[:8], "--type", "f64", "--agg", "max", "--g", "y*y")
        self.assertEqual(named["formula"], b"y*y")
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
