"""Tests of the verbs on streams: quantiles, frequent, hhh and corrsum, compared with exact answers.

usage: stream_test.py QUADMILL [unittest arguments]
"""
import collections
import ipaddress
import json
import math
import os
import random
import unittest

from command import floats, halves, run

from stream_command import CODES, Stream, lines, raw


class Quantiles(Stream):
    def test_bench_names_the_rivals_that_were_not_built(self):
        result = run("bench", "stream", "--n", "5000", "--eps", "0.1", "--engines", "cpu", "--rivals", "--repeat", "1",
                     "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        names = [one["name"] for one in report["cases"][0]["contenders"]]
        missing = [one["name"] for one in report["rivals_missing"]]
        self.assertEqual(sorted(names + missing),
                         sorted(["cpu", "std::sort", "std::sort par", "vqsort", "spreadsort", "qsort"]))
        for name in missing:
            self.assertIn(f"bench stream: without {name}".encode(), result.stderr)
        self.assertIn("DataSketches", report["quoted"]["from"])
        self.assertIn({"sketch": "KLL, k 3200", "what": "f32 in bulk, eps 1e-3", "figure": 27e6, "unit": "values/s"},
                      report["quoted"]["figures"])
        self.fails(2, "--window", "bench", "stream", "--window", "0")

    def test_shape(self):
        answer = self.answer("quantiles", "--eps", "0.01", stdin=floats([3, 1, 2]))
        self.assertEqual(list(answer)[:6], ["n", "eps", "quantiles", "bytes", "engine", "values_per_s"])
        self.assertEqual(answer["nans"], 0)
        self.assertEqual((answer["n"], answer["eps"], answer["engine"]), (3, 0.01, "cpu"))
        self.assertEqual([q["phi"] for q in answer["quantiles"]], [0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1])
        self.assertEqual(answer["quantiles"][4], {"phi": 0.5, "value": 2, "rank_lower": 2, "rank_upper": 2})

    def test_bounds_for_every_type_raw_and_text(self):
        chance = random.Random(1)
        values = [chance.randrange(2000) for _ in range(30000)]
        data = self.path("data")
        for name in CODES:
            for content, form in ((raw(values, name), []), (lines(values), ["--text"])):
                with open(data, "wb") as file:
                    file.write(content)
                for source, stdin in ((data, b""), ("-", content)):
                    answer = self.answer("quantiles", source, "--type", name, "--eps", "0.01", "--window", "1000",
                                         *form,
                                         stdin=stdin)
                    self.assertEqual(answer["n"], len(values))
                    self.check_quantiles(answer, values, 0.01)

    def test_engines_agree(self):
        values = [random.Random(2).random() for _ in range(20000)]
        expected = self.answer("quantiles", "--window", "2^12", stdin=floats(values))
        for engine in ("auto", "merge", "hybrid", "pbsn", "bitonic"):
            answer = self.answer("quantiles", "--window", "2^12", stdin=floats(values), engine=engine)
            self.assertEqual(answer["quantiles"], expected["quantiles"])
            self.assertIn(answer["engine"], ("cpu", "merge") if engine == "auto" else (engine,))

    def test_the_papers_form(self):
        chance = random.Random(3)
        values = [chance.choice((chance.gauss(0, 100), math.nan, -0.0, 1e-40, 2.0)) for _ in range(6000)]
        pairs = [chance.randrange(500) for _ in range(12000)]
        for verb, stdin in ((["quantiles"], floats(values)), (["quantiles", "--type", "f16"], halves(values)),
                            (["frequent", "--support", "0.1", "--eps", "0.01"], floats(values)),
                            (["quantiles", "--type", "i64"], raw(pairs, "i64")),
                            (["quantiles", "--sliding", "2000", "--eps", "0.1", "--no-exact-window"], floats(values)),
                            (["hhh", "--support", "0.1", "--hierarchy", "8,23,32"], raw(pairs, "u32")),
                            (["corrsum", "--agg", "quantile:0.3"], floats(pairs)),
                            (["corrsum", "--agg", "avg", "--type", "f64"], raw(pairs, "f64"))):
            window = [] if "--sliding" in verb else ["--window", "500"]
            expected = self.answer(*verb, *window, stdin=stdin)
            for form in ([], ["--channels", "split"], ["--channels", "windows", "--no-early-stop"],
                         ["--channels", "split", "--channel-merge", "two"]):
                answer = self.answer(*verb, *window, *form, stdin=stdin, engine="pbsn")
                self.assertEqual(answer.pop("engine"), "pbsn")
                for key in answer:
                    if key not in ("bytes", "values_per_s"):
                        self.assertEqual(answer[key], expected[key], (verb, form))

    def test_auto_without_a_driver_is_quiet(self):
        result = run("quantiles", "--json", stdin=floats([1]),
                     env=self.without_driver())
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(json.loads(result.stdout)["engine"], "cpu")

    def test_known_n_and_phi(self):
        values = list(range(1, 50001))
        for n in ("50000", "10", "2^30"):
            answer = self.answer("quantiles", "--n", n, "--eps", "0.001", "--type", "i64", "--phi", "0.5,0.1", "-",
                                 stdin=raw(values, "i64"))
            self.assertEqual([q["phi"] for q in answer["quantiles"]], [0.5, 0.1])
            self.check_quantiles(answer, values, 0.001)

    def test_sliding(self):
        values = list(range(30000))
        random.Random(3).shuffle(values)
        for extra, width in (([], 5000), (["--width", "5000"], 5000), (["--width", "300"], 300)):
            answer = self.answer("quantiles", "--sliding", "5000", *extra, "--eps", "0.02", "--type", "u32",
                                 stdin=raw(values, "u32"))
            self.assertEqual((answer["n"], answer["window"], answer["width"]), (30000, 5000, width))
            self.check_quantiles(answer, values[-width:], 0.02)

    def test_special_values(self):
        values = [math.inf, -math.inf, 0.1, math.nan, math.nan]
        for stdin, form in ((floats(values), []), (b"inf\n-inf\n0.1\nnan\n-nan\n", ["--text"])):
            answer = self.answer("quantiles", "--phi", "0,0.5,1", *form, stdin=stdin)
            self.assertEqual([q["value"] for q in answer["quantiles"]], ["-inf", 0.1, "inf"])
            self.assertEqual((answer["n"], answer["nans"]), (3, 2))
            table = run("quantiles", "--engine", "cpu", *form, stdin=stdin).stdout.decode()
            self.assertIn("NaNs, not counted: 2", table)
        self.assertNotIn("NaN", run("quantiles", stdin=floats([1])).stdout.decode())
        big = 2**63 + 1
        answer = self.answer("quantiles", "--type", "u64", "--phi", "0", stdin=raw([big], "u64"))
        self.assertEqual(answer["quantiles"][0]["value"], big)

    def test_empty_input(self):
        for form in ([], ["--text"], ["--sliding", "5"]):
            answer = self.answer("quantiles", *form)
            self.assertEqual((answer["n"], answer["quantiles"]), (0, []))
            self.assertIn(b"no values", run("quantiles", *form).stdout)
        self.assertEqual(self.answer("quantiles", "--text", stdin=b"\n \n")["n"], 0)
        self.assertEqual(self.answer("quantiles", stdin=floats([math.nan]))["nans"], 1)

    def test_table(self):
        table = run("quantiles", "--phi", "0.5,1", "--text", "--engine", "cpu",
                    stdin=b"0.1\n0.2\n0.3\n").stdout.decode()
        self.assertRegex(table, r"\An 3, eps 0.001, .*engine cpu")
        self.assertRegex(table, r"(?m)^phi +value +rank_lower +rank_upper\n0.5 +0.2 +2 +2\n  1 +0.3 +3 +3$")

    def test_profile(self):
        table = run("quantiles", "--profile", stdin=floats(range(1000))).stderr.decode()
        for part in ("upload", "sort", "read back", "sample", "merge", "compress", "all"):
            self.assertRegex(table, rf"(?m)^{part} +[0-9.]+ +[0-9.]+$")
        self.assertNotIn("blend", table)

    def test_profile_of_blending(self):
        # Four windows of 2^8 values in a texture: 8 stages of 8 steps, each of which blends every texel.
        table = run("quantiles", "--profile", "--engine", "pbsn", "--no-early-stop", "--window", "256", "--channels",
                    "windows", stdin=floats(range(1024))).stderr.decode()
        self.assertRegex(table, r"(?m)^comparisons by blending +6.554e\+04, 64 a key$")
        self.assertRegex(table, r"(?m)^blend operations of four channels +1.638e\+04, 16 a key$")
        self.assertRegex(table, r"(?m)^time of one +[0-9.]+ ns$")
        self.assertRegex(table,
                         r"(?m)^clock cycles of one +([0-9.]+ of the whole chip, at [0-9.]+ GHz|the clock cannot)")

    def test_sliding_sketches(self):
        chance = random.Random(4)
        values = [chance.random() for _ in range(20000)]
        for form in ([], ["--sorted-levels"], ["--sorted-levels", "--sorter-min", "64"], ["--sorter-min", "2^20"]):
            answer = self.answer("quantiles", "--sliding", "8000", "--eps", "0.02", "--no-exact-window", *form,
                                 "--type", "f64",
                                 stdin=raw(values, "f64"))
            self.check_quantiles(answer, values[-8000:], 0.02)
            self.assertLess(min(q["rank_lower"] - q["rank_upper"] for q in answer["quantiles"]), 0,
                            form)  # no raw values
            codes = [int(v * 30) for v in values]
            answer = self.answer("frequent", "--support", "0.03", "--eps", "0.01", "--sliding", "8000",
                                 "--no-exact-window", *form,
                                 "--type", "u32", stdin=raw(codes, "u32"))
            self.check_frequent(answer, collections.Counter(codes[-8000:]), 0.03, 0.01)
        for option in (["--no-exact-window"], ["--sorted-levels"], ["--sorter-min", "5"]):
            self.fails(2, "--sliding", "quantiles", *option)
        self.fails(2, "--sorted-levels", "quantiles", "--sliding", "10", "--width", "5", "--sorted-levels")


class Frequent(Stream):
    def zipf(self, n, seed=4):
        chance = random.Random(seed)
        return [int(chance.paretovariate(0.8)) for _ in range(n)]

    def test_bounds(self):
        values = [min(v, 60000) for v in self.zipf(40000)]
        for name, eps in (("u32", 0.01), ("f64", 0.001), ("i64", 0.05)):
            answer = self.answer("frequent", "--type", name, "--support", "0.05", "--eps", str(eps), "--window", "1000",
                                 stdin=raw(values, name))
            self.assertEqual(list(answer)[:4], ["n", "eps", "support", "items"])
            self.check_frequent(answer, collections.Counter(values), 0.05, eps)
            counts = [item["estimate"] for item in answer["items"]]
            self.assertEqual(counts, sorted(counts, reverse=True))

    def test_eps_by_default(self):
        answer = self.answer("frequent", "--support", "0.2", "--text", stdin=b"1\n1\n2\nnan\n")
        self.assertAlmostEqual(answer["eps"], 0.02)
        self.assertEqual((answer["n"], answer["nans"]), (3, 1))
        self.assertEqual(answer["items"][0], {"value": 1, "lower": 2, "estimate": 2, "upper": 2})

    def test_sliding(self):
        values = self.zipf(20000) + [7] * 300 + self.zipf(700, 5)
        for width in (4000, 1000):
            answer = self.answer("frequent", "--type", "i64", "--sliding", "4000", "--width", str(width), "--support",
                                 "0.05", "--eps", "0.01", stdin=raw(values, "i64"))
            self.assertEqual((answer["window"], answer["width"]), (4000, width))
            self.check_frequent(answer, collections.Counter(values[-width:]), 0.05, 0.01)

    def test_nothing_is_frequent(self):
        answer = self.answer("frequent", "--support", "0.5", stdin=floats(range(100)))
        self.assertEqual(answer["items"], [])
        self.assertIn(b"none\n", run("frequent", "--support", "0.5", stdin=floats(range(100))).stdout)
        self.assertIn(b"no values\n", run("frequent", "--support", "0.5").stdout)


class Hhh(Stream):
    LENGTHS = {"ipv4-bytes": [0, 8, 16, 24, 32], "ipv4-bits": list(range(33)), "0,12,32": [0, 12, 32]}

    def addresses(self):
        chance = random.Random(6)
        planted = [(0x0a010203, 32, 3000), (0x0a020000, 16, 4000), (0xc0000000, 8, 5000), (0x0a010200, 24, 2500)]
        values = [chance.getrandbits(32) for _ in range(6000)]
        for prefix, length, count in planted:
            values += [prefix | chance.getrandbits(32 - length) if length < 32 else prefix for _ in range(count)]
        chance.shuffle(values)
        return values

    @staticmethod
    def parse(prefix, hierarchy):
        if hierarchy.startswith("ipv4"):
            network = ipaddress.ip_network(prefix)
            return int(network.network_address), network.prefixlen
        value, length = prefix.split("/")
        assert len(value) == 10
        return int(value, 16), int(length)

    def check(self, answer, values, hierarchy, support, eps):
        n = len(values)
        found = {self.parse(item["prefix"], hierarchy): item for item in answer["items"]}
        self.assertEqual(len(found), len(answer["items"]))
        mask = lambda v, length: v >> (32 - length) << (32 - length)
        left = collections.Counter(values)
        whole = collections.Counter(values)
        for length in reversed(self.LENGTHS[hierarchy]):
            counts, discounted = collections.Counter(), collections.Counter()
            for v, count in whole.items():
                counts[mask(v, length)] += count
            for v, count in left.items():
                discounted[mask(v, length)] += count
            for value, count in discounted.items():
                if count >= support * n:
                    self.assertIn((value, length), found)
            for (value, of_length), item in found.items():
                if of_length != length:
                    continue
                self.assertGreaterEqual(discounted[value], (support - eps) * n)
                for bounds, exact in ((item, discounted[value]), (item["count"], counts[value])):
                    self.assertLessEqual(bounds["lower"], exact)
                    self.assertGreaterEqual(bounds["upper"], exact)
                    self.assertLessEqual(bounds["upper"] - bounds["lower"], eps * n)
                    self.assertTrue(bounds["lower"] <= bounds["estimate"] <= bounds["upper"])
                del discounted[value]
            left = discounted

    def test_planted_prefixes(self):
        values = self.addresses()
        for hierarchy in self.LENGTHS:
            answer = self.answer("hhh", "--hierarchy", hierarchy, "--support", "0.1", "--eps", "0.02",
                                 stdin=raw(values, "u32"))
            self.assertEqual(list(answer)[:4], ["n", "eps", "support", "items"])
            self.check(answer, values, hierarchy, 0.1, 0.02)
        names = [item["prefix"] for item in
                 self.answer("hhh", "--hierarchy", "ipv4-bytes", "--support", "0.1", stdin=raw(values, "u32"))["items"]]
        for name in ("10.1.2.3/32", "10.2.0.0/16", "192.0.0.0/8", "10.1.2.0/24"):
            self.assertIn(name, names)

    def test_text_takes_addresses_and_integers(self):
        text = b"10.0.0.1\n167772161\r\n 10.0.0.1 \n"
        answer = self.answer("hhh", "--text", "--hierarchy", "ipv4-bytes", "--support", "0.9", stdin=text)
        self.assertEqual([(i["prefix"], i["lower"]) for i in answer["items"]], [("10.0.0.1/32", 3)])
        for bad in (b"10.0.0\n", b"10.0.0.256\n", b"1.2.3.4.5\n", b"::1\n", b"10.0.0.1.10.0.0.1.10\n"):
            self.fails(1, "line 1", "hhh", "--text", "--hierarchy", "ipv4-bits", "--support", "0.9", stdin=bad)
        self.fails(1, "not an integer", "hhh", "--text", "--hierarchy", "8,32", "--support", "0.9", stdin=text)

    def test_all_prefixes(self):
        values = self.addresses()
        n, support, eps = len(values), 0.1, 0.02
        saved = self.path("saved")
        answer = self.answer("hhh", "--hierarchy", "ipv4-bytes", "--support", str(support), "--eps", str(eps),
                             "--all-prefixes", "--save", saved, stdin=raw(values, "u32"))
        self.assertEqual(answer["prefixes"], "all")
        found = {self.parse(item["prefix"], "ipv4-bytes"): item["count"] for item in answer["items"]}
        for length in self.LENGTHS["ipv4-bytes"]:
            for value, count in collections.Counter(v >> (32 - length) << (32 - length) for v in values).items():
                if count >= support * n:
                    self.assertIn((value, length), found)
                if (value, length) in found:
                    self.assertGreaterEqual(count, (support - eps) * n)
                    self.assertTrue(found[value, length]["lower"] <= count <= found[value, length]["upper"])
        merged = json.loads(run("merge", saved, "--ipv4", "--all-prefixes", "--json").stdout)
        self.assertEqual(merged["items"], answer["items"])
        self.assertGreater(len(merged["items"]),
                           len(json.loads(run("merge", saved, "--ipv4", "--json").stdout)["items"]))

    def test_64_bits(self):
        values = [0x0123456789abcdef] * 10 + [0x0123000000000000 + i for i in range(20)]
        answer = self.answer("hhh", "--type", "u64", "--hierarchy", "16,64", "--support", "0.3", "--eps", "0.01",
                             stdin=raw(values, "u64"))
        self.assertEqual([(i["prefix"], i["lower"], i["count"]["upper"]) for i in answer["items"]],
                         [("0x0123456789abcdef/64", 10, 10), ("0x0123000000000000/16", 20, 30)])


class Corrsum(Stream):
    def pairs(self, n=20000):
        chance = random.Random(8)
        return [(chance.randrange(1000), chance.randrange(-50, 100)) for _ in range(n)]

    def check(self, answer, pairs, threshold_of, eps):
        threshold = threshold_of(sorted(x for x, _ in pairs))
        exact = sum(y for x, y in pairs if x <= threshold)
        slack = 1e-6 * sum(abs(y) for _, y in pairs)
        self.assertLessEqual(answer["lower"] - slack, exact)
        self.assertGreaterEqual(answer["upper"] + slack, exact)
        self.assertTrue(answer["lower"] <= answer["sum"] <= answer["upper"])

    def test_aggregates(self):
        pairs = self.pairs()
        flat = [v for pair in pairs for v in pair]
        eps = 0.005
        for words, threshold in ((["quantile:0.5"], lambda x: x[math.ceil(len(x) / 2) - 1]), (["min"], lambda x: x[0]),
                                 (["max"], lambda x: x[-1]), (["avg"], lambda x: sum(x) / len(x)),
                                 (["avg", "--scale", "0.5"], lambda x: sum(x) / len(x) / 2),
                                 (["min", "--offset", "100"], lambda x: x[0] + 100),
                                 (["count", "--scale", "0.02"], lambda x: len(x) * 0.02),
                                 (["sum", "--scale", "0.00005"], lambda x: sum(x) * 0.00005),
                                 (["quantile:0.5", "--f", "2*x - 300"],
                                  lambda x: 2 * x[math.ceil(len(x) / 2) - 1] - 300),
                                 (["avg", "--f", "x < 5 ? 1 : sqrt(x)^2 / 2"], lambda x: sum(x) / len(x) / 2),
                                 (["max", "--scale", "-1", "--offset", "1200"], lambda x: 1200 - x[-1])):
            for stdin, options in ((raw(flat), []), (raw(flat, "f64"), ["--type", "f64"]),
                                   (lines(f"{x},{y}" for x, y in pairs), ["--text", "--type", "i32"])):
                answer = self.answer("corrsum", "--agg", *words, "--eps", str(eps), "--window", "2^12", *options,
                                     stdin=stdin)
                self.assertEqual(list(answer)[:5], ["n", "threshold", "sum", "lower", "upper"])
                self.assertEqual(answer["n"], len(pairs))
                self.check(answer, pairs, threshold, eps)

    def test_formulas(self):
        text = b"1,2\n2,-3\n3,4\n"
        answer = self.answer("corrsum", "--agg", "max", "--g", "y*y + 1", "--text", stdin=text)
        self.assertEqual((answer["sum"], answer["lower"], answer["upper"]), (32, 32, 32))
        self.assertEqual(self.answer("corrsum", "--agg", "max", "--g", "abs(y)", "--f", "x - 1", "--text",
                                     stdin=text)["sum"], 5)
        for option, formula, words in (("--g", "y*", "is not a formula of y"), ("--g", "x", "is not a formula of y"),
                                       ("--f", "x = 3", "must not assign"), ("--f", "x, 2*x", "more than one number"),
                                       ("--f", "", "is not a formula of x")):
            self.fails(2, words, "corrsum", "--agg", "max", option, formula)
        self.fails(2, "--scale", "corrsum", "--agg", "max", "--f", "x", "--scale", "2")
        self.fails(1, "must rise or fall", "corrsum", "--agg", "quantile:0.5", "--f", "(x - 2)^2", "--text", stdin=text)
        self.fails(1, "is not a number", "corrsum", "--agg", "min", "--f", "sqrt(-x)", "--text", stdin=text)
        # A formula that is not finite for a value ends the stream there, like a bad line.
        saved = self.path("saved")
        result = run("corrsum", "--text", "--agg", "max", "--g", "1/(y-2)", "--json", "--save", saved,
                     stdin=b"1,3\n3,4\n3,2\n5,5\n")
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"pair 3: 1/(y-2) is not finite for y = 2", result.stderr)
        self.assertEqual(json.loads(result.stdout)["n"], 2)
        self.assertTrue(os.path.exists(saved))
        self.fails(1, "1 / y is not finite", "corrsum", "--agg", "min", "--g", "1 / y", "--text", stdin=b"1,0\n")

    def test_thresholds_of_64_bits_are_exact(self):
        large = 1700000000000000001
        for kind in ("min", "quantile:0"):
            answer = self.answer("corrsum", "--agg", kind, "--type", "i64", stdin=raw([large, 1, large + 1, 2], "i64"))
            self.assertEqual((answer["threshold"], answer["sum"]), (large, 1))
        answer = self.answer("corrsum", "--agg", "avg", "--type", "i64", stdin=raw([1, 1, 2, 1], "i64"))
        self.assertEqual((answer["threshold"], answer["sum"]), (1.5, 1))

    def test_columns_of_text(self):
        answer = self.answer("corrsum", "--agg", "max", "--text", stdin=b"1,2.5\n2 , 3\n3\t4\n 4   5 \n+5,nan\nnan 1")
        self.assertEqual((answer["n"], answer["nans"], answer["sum"]), (4, 2, 14.5))
        for bad, words in ((b"1\n", "two numbers"), (b"1,2,3\n", "two numbers"), (b"1;2\n", "line 2"),
                           (b"1,1e999\n", "range"), (b"1,inf\n", "infinite"), (b"1,9007199254740993\n", "round"),
                           (b"9007199254740993,1\n", "round")):
            result = run("corrsum", "--agg", "max", "--text", "--json", stdin=b"1,1\n" + bad)
            self.assertEqual((result.returncode, json.loads(result.stdout)["sum"]), (3, 1))
            self.assertIn(words, result.stderr.decode())
            self.assertIn("line 2", result.stderr.decode())

    def test_bad_pairs(self):
        for words, values in (("4 of the 8 bytes of a pair of f32 values", [1, 2, 3]), ("pair 2", [1, 2, 3, math.inf])):
            result = run("corrsum", "--agg", "min", "--json", stdin=floats(values))
            self.assertEqual(result.returncode, 3)
            self.assertIn(words, result.stderr.decode())
            self.assertEqual(json.loads(result.stdout)["sum"], 2)
        self.fails(1, "pair 1", "corrsum", "--agg", "min", stdin=floats([1, math.inf]))
        self.assertEqual(self.answer("corrsum", "--agg", "min")["n"], 0)


if __name__ == "__main__":
    unittest.main()
