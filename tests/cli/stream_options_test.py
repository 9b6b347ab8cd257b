"""Tests of options of the verbs on streams: which of them a resumed or merged summary can follow.

usage: stream_options_test.py QUADMILL [unittest arguments]
"""
import json
import math
import os
import re
import signal
import subprocess
import time
import unittest
import unittest.mock

from command import QUADMILL, run

from stream_command import Stream, lines


class Resumed(Stream):
    """A resumed summary goes on as it was made. What it cannot follow is refused before input is read."""

    def setUp(self):
        super().setUp()
        # A pipe that nobody writes to.
        self.silent, end = os.pipe()
        self.addCleanup(os.close, self.silent)
        self.addCleanup(os.close, end)

    def refused(self, words, *call):
        save = self.path("not-made")
        engine = [] if "ipv6" in call else ["--engine", "cpu"]
        result = subprocess.run([QUADMILL, *call, "--save", save, "--every", "10", *engine], stdin=self.silent,
                                capture_output=True, timeout=20)
        self.assertEqual((result.returncode, result.stdout), (2, b""), (call, result.stderr))
        text = result.stderr.decode()
        self.assertIn(words, text, call)
        self.assertNotIn("Moments", text)
        self.assertFalse(os.path.exists(save))
        return text

    def saved(self, name, *call, stdin):
        path = self.path(name)
        self.answer(*call, "--save", path, stdin=stdin)
        return path

    def test_a_support_below_eps(self):
        names = b"".join(b"common\n" * 6 + b"%d\n" % i * 10 for i in range(50))
        rows = b"v,k,t\n" + b"".join(b"%d,g,5\n" % (i % 10) for i in range(500))
        numbers = rows.replace(b",g,5", b"")
        for name, form, window, text in (("plain", ["--text"], [], numbers[6:]),
                                         ("names", ["--text", "--names"], [], names),
                                         ("sliding", ["--text"], ["--sliding", "100"], numbers[6:]),
                                         ("recent", ["--text"], ["--sliding", "1d"], numbers[6:]),
                                         ("last names", ["--text", "--names"], ["--sliding", "1d"], names),
                                         ("at", ["--column", "v"], ["--sliding", "1d", "--time", "t"], rows),
                                         ("groups", ["--column", "v", "--by", "k"], [], rows)):
            with self.subTest(name):
                call = ["frequent", *form, *window]
                saved = self.saved(name, *call, "--support", "0.5", "--eps", "0.1", stdin=text)
                for support in ("0.05", "0.0999"):
                    self.refused(f"--support: must be at least 0.1, the eps of the summary in '{saved}', not {support}",
                                 *call,
                                 "--support", support, "--resume", saved)
                self.refused("has eps 0.1", *call, "--support", "0.5", "--eps", "0.01", "--resume", saved)
                self.assertEqual(self.answer(*call, "--support", "0.1", "--resume", saved, stdin=text)["eps"], 0.1)
                self.assertIn("items", self.answer(*call, "-k", "20", "--resume", saved, stdin=text))
                # merge and the command agree
                self.fails(2, "must be at least 0.1", "merge", saved, "--support", "0.05")

    def test_groups_with_different_errors_are_merged_with_the_larger_one(self):
        call = ["frequent", "--column", "v", "--by", "k", "--support", "0.5"]
        fine = self.saved("fine", *call, "--eps", "0.001", stdin=b"v,k\n1,a\n")
        coarse = self.saved("coarse", *call, "--eps", "0.1",
                            stdin=b"v,k\n" + b"".join(b"%d,b\n" % i for i in range(500)))
        for files in ([fine, coarse], [coarse, fine]):
            self.fails(2, "must be at least 0.1", "merge", *files, "--support", "0.05")
            self.assertEqual(self.report("merge", *files, "--support", "0.2")["eps"], 0.1)

    def test_quantiles(self):
        text = lines(range(100))
        plain = self.saved("plain", "quantiles", "--text", "--eps", "0.01", stdin=text)
        high = self.saved("high", "quantiles", "--text", "--tail", "high", stdin=text)
        rows = b"v,k,t\n1,g,5\n2,g,5\n"
        groups = self.saved("groups", "quantiles", "--column", "v", "--by", "k", stdin=rows)
        recent = self.saved("recent", "quantiles", "--text", "--sliding", "1h", stdin=text)
        quantiles = ["quantiles", "--text", "--resume"]
        self.refused(f"--tail: the summary in '{plain}' has no tail", *quantiles, plain, "--tail", "high")
        self.refused("--tail high", *quantiles, high, "--tail", "both")
        self.refused("has eps 0.01", *quantiles, plain, "--eps", "0.001")
        self.refused("has eps 0.01", *quantiles, high, "--eps", "0.001")
        self.refused("--stats: the summary in", *quantiles, plain, "--stats")
        self.refused("--stats: the summary in", *quantiles, recent, "--stats", "--sliding", "1h")
        self.refused("has no tail", *quantiles, recent, "--tail", "low", "--sliding", "1h")
        self.refused("has a window of 3600 seconds", *quantiles, recent, "--sliding", "5min")
        self.refused("has no tail", "quantiles", "--column", "v", "--by", "k", "--resume", groups, "--tail", "high")
        self.refused("has eps 0.001", "quantiles", "--column", "v", "--by", "k", "--resume", groups, "--eps", "0.01")
        self.assertEqual(self.answer(*quantiles, high, stdin=b"5\n")["n"], 101)  # its tail is kept
        self.assertEqual(self.answer(*quantiles, plain, "--eps", "1%", stdin=b"5\n")["n"], 101)

    def test_sliding(self):
        text = lines(range(2000))
        for verb in (["quantiles", "--text"], ["frequent", "--text", "--support", "0.1"]):
            fixed = self.saved("fixed" + verb[0], *verb, "--sliding", "1000", stdin=text)
            any_width = self.saved("any" + verb[0], *verb, "--sliding", "1000", "--width", "600", stdin=text)
            self.refused("has a window of 1000 values", *verb, "--sliding", "500", "--resume", fixed)
            self.refused("--width: the summary in", *verb, "--sliding", "1000", "--width", "500", "--resume", fixed)
            self.refused("has eps", *verb, "--sliding", "1000", "--eps", "0.05", "--resume", fixed)
            for width in ("300", "1000"):
                answer = self.answer(*verb, "--sliding", "1000", "--width", width, "--resume", any_width, stdin=b"")
                self.assertEqual((answer["n"], answer["width"]), (2000, int(width)))

    def test_windows_numbers_and_forms(self):
        text = lines(range(2000))
        sliding = ["--sliding", "1000"]
        for verb, options, others in (
                ("quantiles", ["--window", "500", "--n", "9000"], [["--window", "501"], ["--n", "90"]]),
                ("quantiles", ["--window", "500", "--column", "v", "--by", "k"], [["--window", "501"]]),
                ("quantiles", ["--window", "500", "--sliding", "1h"], [["--window", "501"]]),
                ("quantiles", ["--tail", "high"], [["--n", "9000"]]),
                ("frequent", ["--window", "500", "--support", "0.1"], [["--window", "501"]]),
                ("frequent", ["--window", "500", "--support", "0.1", "--sliding", "1h"], [["--window", "501"]]),
                ("quantiles", sliding, [["--no-exact-window"], ["--sorted-levels"], ["--sorter-min", "9"]]),
                ("quantiles", [*sliding, "--no-exact-window", "--sorted-levels"], [["--sorter-min", "9"]]),
                ("frequent", ["--support", "0.1", *sliding], [["--no-exact-window"], ["--sorted-levels"]])):
            with self.subTest(options):
                call = [verb, *options] if "--by" in options else [verb, "--text", *options]
                content = b"v,k\n" + b"".join(b"%d,g\n" % i for i in range(2000)) if "--by" in options else text
                saved = self.saved("saved", *call, stdin=content)
                self.assertEqual(self.answer(*call, "--resume", saved, stdin=content)["n"], 4000)
                for other in others:
                    self.refused(f"{other[0]}: ", *call, "--resume", saved, *other)

    def test_heavy_prefixes(self):
        numbers = lines(i % 7 << 29 for i in range(900))
        addresses = b"".join(b"2001:db8:%x::\n" % (i % 7) for i in range(900))
        call = ["hhh", "--text", "--support", "0.1", "--eps", "0.01", "--hierarchy"]
        bytes_of = self.saved("bytes", *call, "ipv4-bytes", "--window", "3000", stdin=numbers)
        ipv6 = self.saved("ipv6", *call, "ipv6", stdin=addresses)
        for saved, form, content in ((bytes_of, "ipv4-bytes", numbers), (ipv6, "ipv6", addresses)):
            whole = self.answer(*call, form, stdin=content + content)
            resume = ["hhh", "--text", "--hierarchy", form, "--resume", saved, "--support"]
            window = [] if form == "ipv6" else ["--window", "3000"]
            for same in (["0.1"], ["0.1", "--eps", "1%"], ["0.1", *window]):
                self.assertEqual(self.answer(*resume, *same, stdin=content),
                                 dict(whole, values_per_s=unittest.mock.ANY, bytes=unittest.mock.ANY))
            self.assertEqual(self.answer(*resume, "0.2", stdin=content)["n"], 1800)
            self.refused("has eps 0.01", *resume, "0.1", "--eps", "0.02")
            self.refused(f"--support: must be at least 0.1, that of the summary in '{saved}', not 0.05", *resume,
                         "0.05")
        self.refused("has prefixes of other lengths: 0,8,16,24,32", *call, "0,8,16", "--resume", bytes_of)
        self.refused("--window: the summary in", *call, "ipv4-bytes", "--resume", bytes_of, "--window", "4000")
        self.assertEqual(self.answer(*call, "0,8,16,24,32", "--resume", bytes_of, stdin=b"1\n")["n"], 901)
        for saved, other, types in ((bytes_of, "ipv6", []), (ipv6, "ipv4-bytes", []),
                                    (bytes_of, "0,8", ["--type", "u64"])):
            self.fails(1, "another", *call, other, *types, "--resume", saved, stdin=b"")
        small = ["hhh", "--text", "--support", "4e-6", "--hierarchy", "8,16"]
        fine = self.saved("fine", *small, "--eps", "1e-6", stdin=b"1\n")
        self.assertEqual(self.answer(*small, "--resume", fine, stdin=b"1\n")["n"], 2)

    def test_correlated_sums(self):
        rows = [(i * 37 % 101, i % 9) for i in range(900)]
        pairs = b"".join(b"%d,%d\n" % row for row in rows)
        call = ["corrsum", "--text", "--agg", "quantile:0.5", "--eps", "0.01", "--g"]
        squares = self.saved("squares", *call, "y*y", "--window", "200", "--n", "9000", stdin=pairs)
        plain = self.saved("plain", *call[:-1], stdin=pairs)
        for saved, formula in ((squares, ["--g", "y*y"]), (plain, [])):
            whole = self.answer(*call[:-1], *formula, "--window", "200", "--n", "9000", stdin=pairs + pairs)
            for same in ([], *([["--window", "200", "--n", "9000"]] if formula else [])):
                answer = self.answer(*call[:4], *formula, *same, "--resume", saved, stdin=pairs)
                self.assertEqual((answer["n"], answer["eps"]), (1800, 0.01))
                for key in ("sum", "lower", "upper", "threshold"):
                    self.assertEqual(answer[key], whole[key], key)
            self.assertEqual(self.answer(*call[:2], "--agg", "max", *formula, "--resume", saved, stdin=b"")["sum"],
                             sum(y * y if formula else y for _, y in rows))
            self.refused("has eps 0.01", *call[:4], *formula, "--resume", saved, "--eps", "0.02")
        self.refused(f"--g: the summary in '{squares}' has sums of y*y, not of y", *call[:-1], "--resume", squares)
        self.refused("has sums of y*y, not of 2*y", *call, "2*y", "--resume", squares)
        self.refused("has sums of y, not of y*y", *call, "y*y", "--resume", plain)
        self.refused("--window: the summary in", *call, "y*y", "--resume", squares, "--window", "300")
        self.refused("--n: the summary in", *call, "y*y", "--resume", squares, "--n", "90")
        self.fails(1, "another type", *call[:-1], "--type", "f32", "--resume", plain, stdin=b"")
        self.fails(1, f"'{plain}': both must have the same formula, not 'y*y' and ''", "merge", "--agg", "max", squares,
                   plain)
        self.assertEqual(self.report("merge", "--agg", "max", squares, squares)["n"], 1800)

    def test_the_hint_is_about_the_summary(self):
        coarse = self.saved("coarse", "quantiles", "--text", "--eps", "0.05", stdin=b"1\n2\n")
        fine = self.saved("fine", "quantiles", "--text", "--eps", "0.0001", stdin=b"1\n2\n")
        hint = lambda *call: run("quantiles", "--text", *call, stdin=b"3\n").stderr.decode()
        self.assertIn("eps 0.05 is coarser than the tail at --phi 0.99", hint("--phi", "p99", "--resume", coarse))
        self.assertEqual(hint("--phi", "p99.95", "--resume", fine), "")
        self.assertIn("--eps 0.001 is coarser", hint("--phi", "p99.95", "--resume", self.path("none")))

    def test_another_kind(self):
        names = self.saved("names", "frequent", "--text", "--names", "-k", "1", stdin=b"x\n")
        wide = self.saved("wide", "quantiles", "--text", stdin=b"1\n")
        for words, call in ((f"'{names}': the bytes hold another kind of summary: frequencies of names\n", [names]),
                            (f"'{wide}': the summary is of values of another type: quantiles of f64 values\n",
                             [wide, "--type", "u32"])):
            self.assertIn(words, self.fails(1, "another", "quantiles", "--text", "--resume", *call, stdin=b"1\n"))
        self.assertIn("holds frequencies of names;",
                      self.fails(2, "holds quantiles of f64 values, and", "merge", wide, names))


class Merged(Stream):
    def test_what_was_saved_with_stats(self):
        parts = [[float(i * i % 97) for i in range(n)] for n in (300, 500)]
        files = [self.path(f"s{i}") for i in range(2)]
        for file, part in zip(files, parts):
            self.answer("quantiles", "--text", "--stats", "--save", file, stdin=lines(part))
        whole = self.answer("quantiles", "--text", "--stats", "--rank", "10,50", stdin=lines(parts[0] + parts[1]))
        merged = self.report("merge", *files, "--stats", "--rank", "10,50")
        for key in ("n", "min", "max", "ranks"):
            self.assertEqual(merged[key], whole[key])
        for key in ("mean", "sd"):
            self.assertAlmostEqual(merged[key], whole[key], places=9)
        bars = self.report("merge", *files, "--histogram", "4", "--plot", self.path("bars.svg"))["bars"]
        self.assertEqual(bars, self.answer("quantiles", "--text", "--histogram", "4",
                                           stdin=lines(parts[0] + parts[1]))["bars"])
        self.assertTrue(self.read(self.path("bars.svg")).startswith(b"<"))
        plain = self.path("plain")
        self.answer("quantiles", "--text", "--save", plain, stdin=b"1\n")
        for order in ([plain, files[0]], [files[0], plain]):
            self.fails(2, f"--stats: '{plain}' was saved without --stats", "merge", *order, "--stats")

    def test_options_go_with_kinds(self):
        text = lines(range(100))
        files = {}
        for name, call in (("sliding", ["quantiles", "--sliding", "50"]),
                           ("recent", ["quantiles", "--sliding", "1h", "--stats"]),
                           ("frequent", ["frequent", "--support", "0.1"]),
                           ("slidingf", ["frequent", "--support", "0.1", "--sliding", "50"])):
            files[name] = self.path(name)
            self.answer(*call, "--text", "--save", files[name], stdin=text)
        files["groups"] = self.path("groups")
        self.answer("quantiles", "--column", "v", "--by", "k", "--save", files["groups"], stdin=b"v,k\n1,a\n")
        self.assertEqual(self.report("merge", files["sliding"], "--rank", "1k")["ranks"][0]["value"], 1000)
        self.assertEqual(self.report("merge", files["recent"], "--stats")["mean"], 49.5)
        self.assertEqual(len(self.report("merge", files["slidingf"], "-k", "3")["items"]), 3)
        for name, option in (("sliding", ["--stats"]), ("frequent", ["--stats"]), ("frequent", ["--rank", "1"]),
                             ("groups", ["--histogram"]), ("groups", ["--rank", "1"])):
            self.fails(2, f"{option[0]}: does not go with", "merge", files[name], *option)


class Monitors(Stream):
    def test_blank_lines_of_names(self):
        answer = self.answer("frequent", "--text", "--names", "-k", "3", stdin=b"a\n\nb\n \na\n\n")
        self.assertEqual([(i["value"], i["estimate"]) for i in answer["items"]], [("a", 2), ("b", 1)])
        self.assertEqual((answer["n"], answer["empty"]), (3, 3))
        answer = self.answer("frequent", "--names", "-k", "3", "--skip-bad", "--sliding", "1h", stdin=b"a\n\nb\n")
        self.assertEqual((answer["n"], answer["empty"], answer["skipped"]), (2, 1, 0))
        for verb in (["quantiles"], ["frequent", "-k", "1"], ["corrsum", "--agg", "max"],
                     ["hhh", "--support", "0.5", "--hierarchy", "ipv6"], ["sort"]):
            line = b"1,2\n" if verb[0] == "corrsum" else b"::1\n" if verb[0] == "hhh" else b"1\n"
            result = run(*verb, "--text", stdin=line + b"\n" + line)
            self.assertIn(b"line 2: is blank; --skip-bad skips blank lines", result.stderr)
            self.assertEqual(run(*verb, "--text", "--skip-bad", stdin=line + b"\n" + line).returncode, 0)

    def test_infinite_values_do_not_end_a_histogram(self):
        process = self.start("quantiles", "--text", "--histogram", "2", "--every", "1", "--json")
        for value in (b"1\n", b"inf\n", b"3\n", b"-inf\n", b"inf\n"):
            process.stdin.write(value)
            process.stdin.flush()
            answer = json.loads(self.next_line(process))
            self.assertEqual(sum(bar["estimate"] for bar in answer["bars"]), answer["n"])
        process.stdin.close()
        self.assertEqual((process.wait(), process.stderr.read()), (0, b""))
        self.assertEqual([(b["from"], b["to"], b["estimate"]) for b in answer["bars"]],
                         [("-inf", "-inf", 1), (1, 2, 1), (2, 3, 1), ("inf", "inf", 2)])
        for kind in ("f16", "f32", "f64"):
            bars = self.answer("quantiles", "--text", "--type", kind, "--histogram", "2",
                               stdin=b"inf\n1\n2\n5\n")["bars"]
            self.assertEqual([(b["to"], b["estimate"]) for b in bars], [(3, 2), (5, 1), ("inf", 1)])
        bars = self.answer("quantiles", "--text", "--histogram", "2", "--plot", self.path("x.svg"),
                           stdin=b"inf\ninf\n")["bars"]
        self.assertEqual([(b["from"], b["to"], b["estimate"]) for b in bars], [("inf", "inf", 2)])

    def test_an_answer_that_is_not_possible_does_not_end_a_stream(self):
        process = self.start("corrsum", "--text", "--agg", "avg", "--every", "1", "--json")
        process.stdin.write(b"1,1\ninf,1\n-inf,1\n")
        process.stdin.flush()
        self.assertEqual([json.loads(self.next_line(process))["n"] for _ in range(2)], [1, 2])
        self.assertIn(b"no answer after 3 values: f(AGG(x)) is not a number", process.stderr.readline())
        process.stdin.close()
        self.assertEqual(process.wait(), 1)

    def test_values_that_cannot_be_added_are_errors_of_the_input(self):
        result = run("quantiles", "--column", "v", "--weight", "w", "--json", stdin=b"v,w\n1,2\n2,%d\n" % 2**61)
        self.assertEqual((result.returncode, json.loads(result.stdout)["n"]), (3, 2))
        self.assertIn(f"line 3: '{2**61}' is not a weight".encode(), result.stderr)
        saved = self.path("saved")
        rows = b"v,w\n" + b"1,%d\n" % 2**59 * 3
        result = run("quantiles", "--column", "v", "--weight", "w", "--every", "1", "--json", "--save", saved,
                     stdin=rows)
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"counts more than", result.stderr)
        self.assertEqual(self.report("merge", saved)["n"], 2**60)

    def test_times_in_milliseconds(self):
        call = ["quantiles", "--column", "v", "--time", "t", "--sliding", "5min", "--json"]
        result = run(*call, stdin=b"v,t\n" + b"1,1764235800500\n" * 3)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, b"quadmill: the time 1764235800500 looks like milliseconds, but --time reads "
                                        b"seconds\n")
        self.assertEqual(run(*call, stdin=b"v,t\n1,1764235800\n").stderr, b"")
        self.fails(1, "line 2: '1764235800500000000' is neither a time in seconds nor a date", *call,
                   stdin=b"v,t\n1,1764235800500000000\n")

    def test_rates(self):
        process = self.start("quantiles", "--text", "--every", "400ms", "--json")
        self.assertNotIn("values_per_s", json.loads(self.next_line(process)))
        time.sleep(1.5)
        process.stdin.write(b"1\n")
        process.stdin.flush()
        answer = {"n": 0}
        while answer["n"] == 0:
            answer = json.loads(self.next_line(process))
        self.assertTrue(0 < answer["values_per_s"] < 1, answer)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), 130)


class Words(Stream):
    def test_names_stay_on_one_line(self):
        rows = b'k,v\n"a\nb",1\n"a\nb",1\n"\x1b[31m\xff\xc3\xa9",2\n'
        for call in (["frequent", "--column", "k", "--names", "-k", "2"],
                     ["quantiles", "--column", "v", "--by", "k", "--phi", "1"]):
            table = run(*call, "--engine", "cpu", stdin=rows).stdout.decode()
            self.assertEqual(len(table.splitlines()), 4, table)
            self.assertIn(r"a\x0ab", table)
            self.assertIn(r"\x1b[31m\xffé", table)
        saved = self.path("saved")
        answer = self.answer("frequent", "--column", "k", "--names", "-k", "1", "--save", saved, stdin=rows)
        self.assertEqual(answer["items"][0]["value"], "a\nb")
        self.assertIn(r"a\x0ab", run("merge", saved, "-k", "1").stdout.decode())

    def test_counts(self):
        for word in ("10K", "10k", "10,000", "1e4"):
            self.assertEqual(self.answer("quantiles", "--text", "--sliding", word, stdin=b"1\n")["window"], 10_000)
        ranks = self.answer("quantiles", "--text", "--rank", "1k,10,000", stdin=b"1\n5000\n")["ranks"]
        self.assertEqual([(r["value"], r["estimate"]) for r in ranks], [(1000, 1), (10, 1), (0, 0)])
        self.fails(2, "'x' is not a number", "quantiles", "--text", "--rank", "x", stdin=b"")
        help_text = " ".join(run("quantiles", "-h").stdout.decode().split())
        self.assertIn("10,000 is two values", help_text)

    def test_stats_is_an_everyday_option_of_quantiles(self):
        for verb, short in (("quantiles", True), ("merge", True), ("sort", False)):
            self.assertEqual("--stats" in run(verb, "-h").stdout.decode(), short, verb)
            everything = run(verb, "--help").stdout.decode()
            self.assertIn("--stats", everything)
            before = everything[:everything.index("\n  --stats")]
            self.assertEqual(re.findall(r"(?m)^(\w+):$", before)[-1], "Options" if short else "Performance", verb)

    def test_csv_without_column(self):
        rows = b"time,path,seconds\n" * 10
        for verb in (["quantiles"], ["frequent", "-k", "1"], ["hhh", "--support", "0.1", "--hierarchy", "8"]):
            self.fails(1, "should it be --column for CSV, or --text?", *verb, stdin=rows)
            self.fails(1, "should it be --text?", *verb, stdin=lines(range(1000, 1100)))
        self.fails(1, "should it be --text?", "corrsum", "--agg", "min", stdin=rows)


class LikeQuery(Stream):
    """--column reads CSV as `query` does."""

    def test_the_same_fields(self):
        for number, (content, column, *options) in enumerate((
                (b"a;b\n1;x\n2;y\n", "b"), (b"a\tb\n1\tx\n", "b"), (b"a|b\n1|x\n", "B"),
                (b"Path,n\n x ,1\n'y',2\n", "path"),
                (b"a,A\nx,y\n", "A"), (b"a,\nx,y\n", "column2"), (b"a,b\r\nx,y\r\nz,w\r\n", "b"),
                (b"a,b\rx,y\rz,w\r", "b"),
                (b"x,y\nz,w\n", "column2", "--no-header"), (b"a;b\nx,1;y\n", "a", "--delimiter", ";"),
                (b"a b\tc\n1\tz\n", "c", "--delimiter", "tab"), (b"\xef\xbb\xbfa,b\nx,y\n", "a"),
                (b'a,b\n"x\ny",1\n" z ",2\n', "a"))):
            with self.subTest(content):
                path = self.path(f"{number}.csv", content)
                mine = self.answer("frequent", "--column", column, "--names", "-k", "1000", *options, path)
                rows = self.report("query", f'SELECT "{column}" FROM {number}.csv', *options, cwd=self.folder)["rows"]
                self.assertEqual(sorted(item["value"] for item in mine["items"]), sorted(str(row[0]) for row in rows))

    def test_the_same_errors(self):
        for number, (content, column, words, *options) in enumerate((
                (b"a,b\n1,2\n3,4,5\n", "b", "line 3: has 3 fields, and the first line 2"),
                (b"a,b\n1,2\n3\n", "b", "line 3: has 1 field, and the first line 2"),
                (b"a,b\n1,2\n\n3,4\n", "b", "line 3: is blank"),
                (b"", "b", "line 1: must have the names of the columns"),
                (b"1,2\n3\n", "1", "line 2: has 1 field, and the first line 2", "--no-header"),
                (b"\xff\xfea\0,\0b\0\n\0", "b", "looks like UTF-16"))):
            with self.subTest(content):
                path = self.path(f"{number}.csv", content)
                name = "column" + column if options else column
                query = run("query", f'SELECT "{name}" FROM {number}.csv', *options, cwd=self.folder)
                self.assertIn(words, query.stderr.decode())
                result = run("quantiles", "--column", column, *options, path)
                self.assertIn(words, result.stderr.decode())
                self.assertIn(path, result.stderr.decode())
                self.assertNotEqual(result.returncode, 0)

    def test_numbers_may_have_blanks(self):
        for rows in (b"a,w,t\n 5 , 2 , 9 \n", b'a,w,t\n" 5 "," 2 "," 9 "\n'):
            self.assertEqual(self.report("quantiles", "--column", "a", "--weight", "w", stdin=rows)["n"], 2)
            self.assertEqual(self.answer("quantiles", "--column", "a", "--time", "t", "--sliding", "1h",
                                         stdin=rows)["time"], 9)

    def test_other_forms(self):
        value = lambda *args, stdin: self.answer("quantiles", "--phi", "1", *args, stdin=stdin)["quantiles"][0]["value"]
        self.assertEqual(value("--column", "b", "--header", "3", stdin=b'say "x"\n;;\na;b\n1;2\n'), 2)
        self.assertEqual(value("--column", "2", "--no-header", stdin=b"1;5\n2;6\n"), 6)
        self.assertEqual(value("--column", "2", "--header", "0", stdin=b"1|5"), 5)
        self.assertEqual(self.answer("quantiles", "--column", "1", "--no-header", stdin=b"")["n"], 0)
        one = self.answer("quantiles", "--column", "v", stdin=b"v\n1\n\n3\n")
        self.assertEqual((one["n"], one["empty"]), (2, 1))
        self.fails(2, "--header", "quantiles", "--column", "1", "--header", "1", "--no-header", stdin=b"")
        self.fails(2, "--column", "quantiles", "--text", "--no-header", stdin=b"")
        skipped = self.report("quantiles", "--column", "b", "--skip-bad", stdin=b"a,b\n1,2,3\n4\n5,6\n")
        self.assertEqual((skipped["n"], skipped["skipped"]), (1, 2))

    def test_names_that_differ_in_case(self):
        value = lambda column: self.answer("quantiles", "--column", column,
                                           stdin=b"A,a,Bc\n1,2,3\n")["quantiles"][0]["value"]
        self.assertEqual([value("A"), value("a"), value("bC"), value("3")], [1, 2, 3, 3])
        self.fails(1, "several columns are called 'x'", "quantiles", "--column", "x", stdin=b"X,X\n1,2\n")
        self.fails(1, "standard input: there is no column 'c'; line 1 has 'a', 'b'", "quantiles", "--column", "c",
                   stdin=b"a,b\n1,2\n")

    def test_the_word_of_a_message_is_the_wrong_one(self):
        for option, words in (("--weight", "line 2: '/a' is not a weight"),
                              ("--time", "line 2: '/a' is neither a time")):
            more = ["--sliding", "5min"] if option == "--time" else []
            self.fails(1, words, "quantiles", "--column", "v", option, "k", *more, stdin=b"v,k\n1.348,/a\n")
        self.fails(1, "line 2: 'pear' is not a number", "quantiles", "--column", "v", "--weight", "k",
                   stdin=b"v,k\npear,1\n")


if __name__ == "__main__":
    unittest.main()
