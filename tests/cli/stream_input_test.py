"""Tests of the input of the verbs on streams: pipes, text, compressed files, and errors in them.

usage: stream_input_test.py QUADMILL [unittest arguments]
"""
import bisect
import bz2
import collections
import contextlib
import csv
import gzip
import io
import json
import lzma
import math
import os
import pty
import random
import select
import shutil
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree

from command import QUADMILL, floats, run

from stream_command import CODES, Stream, lines, raw


class Reading(Stream):
    def test_answers_come_before_the_pipe_is_closed(self):
        process = self.start("quantiles", "--text", "--every", "2", "--phi", "1", "--json")
        for i in range(3):
            process.stdin.write(b"%d\n%d" % (10 * i, 10 * i + 5))
            process.stdin.flush()
            time.sleep(0.05)
            self.assertEqual(select.select([process.stdout], [], [], 0)[0], [], "half a line counted")
            process.stdin.write(b"1\n")
            process.stdin.flush()
            answer = json.loads(self.next_line(process))
            self.assertEqual((answer["n"], answer["quantiles"][0]["value"]), (2 * i + 2, 100 * i + 51))
        process.stdin.write(b"1000")  # the last line needs no end
        process.stdin.close()
        self.assertEqual(json.loads(self.next_line(process))["n"], 7)
        self.assertEqual(process.wait(), 0)

    def test_raw_values_in_pieces(self):
        process = self.start("quantiles", "--every", "3", "--phi", "1", "--json")
        data = floats(range(7))
        for i in range(0, len(data), 5):
            process.stdin.write(data[i:i + 5])
            process.stdin.flush()
            time.sleep(0.01)
        self.assertEqual([json.loads(self.next_line(process))["n"] for _ in range(2)], [3, 6])
        process.stdin.close()
        self.assertEqual([json.loads(line)["n"] for line in process.stdout], [7])

    def test_every(self):
        values = list(range(1, 101))
        for every, expected in ((30, [30, 60, 90, 100]), (50, [50, 100]), (1000, [100]), (1, values)):
            for stdin, form in ((floats(values), []), (lines(values), ["--text"])):
                found = self.answers("quantiles", "--every", str(every), "--phi", "0.5,1", *form, stdin=stdin)
                self.assertEqual([answer["n"] for answer in found], expected)
                for answer in found:
                    self.check_quantiles(answer, values[:answer["n"]], 0.001)
        table = run("quantiles", "--every", "1", "--engine", "cpu", stdin=floats([1, 2])).stdout.decode()
        self.assertEqual(len([line for line in table.splitlines() if line.startswith("n ")]), 2)
        self.assertEqual([a["n"] for a in self.answers("quantiles", "--every", "2", stdin=floats([1, math.nan, 2]))],
                         [1, 2])
        answers = self.answers("frequent", "--support", "0.5", "--sliding", "10", "--every", "10", "--type", "u32",
                               stdin=raw([i // 10 for i in range(35)], "u32"))
        self.assertEqual([a["items"][0]["value"] for a in answers[:3]], [0, 1, 2])

    def test_bad_lines(self):
        for bad in (b"x\n2\n", b"\n1\n", b"1 2\n", b"1,5\n"):
            self.fails(1, f"standard input, line 1:", "quantiles", "--text", stdin=bad)
        self.fails(1, "out of the type's range", "frequent", "--support", "0.1", "--text", "--type", "f32",
                   stdin=b"1e99\n")
        self.fails(1, "out of the type's range", "frequent", "--support", "0.1", "--text", stdin=b"1e999\n")
        self.fails(1, "not an integer", "quantiles", "--text", "--type", "i64", stdin=b"1.5\n")
        self.fails(1, "too long", "quantiles", "--text", stdin=b"0" * (1 << 21))
        result = run("quantiles", "--text", "--every", "1", "--json", "--engine", "cpu", stdin=b"1\n2\nx\n")
        self.assertEqual((result.returncode, len(result.stdout.splitlines())), (3, 2))

    def broken(self, words, n, *args, stdin=b""):
        """The answer is about what could be read, and is saved; the exit status is a special one."""
        saved = self.path("saved.broken")
        result = run(*args, "--json", "--engine", "cpu", "--save", saved, stdin=stdin)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn(words, result.stderr.decode())
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertEqual([json.loads(line)["n"] for line in result.stdout.splitlines()], [n])
        options = ["--agg", "max"] if args[0] == "corrsum" else []
        self.assertEqual(json.loads(run("merge", saved, "--json", *options).stdout)["n"], n)
        os.unlink(saved)
        self.assertEqual([name for name in os.listdir(self.folder) if "saved" in name], [])

    def test_what_came_before_a_bad_line_is_answered_and_saved(self):
        for bad, line, n in ((b"1\n2\nthree\n4\n", 3, 2), (b"1\n\n2\n", 2, 1), (b"1\n2\n 3 4\n", 3, 2)):
            self.broken(f"standard input, line {line}:", n, "quantiles", "--text", stdin=bad)
        self.broken("line 300001", 300000, "quantiles", "--text", stdin=b"12345\n" * 300000 + b"x\n")
        self.broken("line 2", 1, "quantiles", "--text", "--sliding", "10", stdin=b"1\nx\n")
        self.broken("line 2", 1, "frequent", "--text", "--support", "0.5", stdin=b"1\nx\n")
        self.broken("line 2", 1, "hhh", "--text", "--support", "0.5", "--hierarchy", "8", stdin=b"1\nx\n")
        self.broken("line 2", 1, "corrsum", "--text", "--agg", "max", stdin=b"1,2\n1,x\n")
        self.broken("too long", 1, "quantiles", "--text", stdin=b"1\n" + b"0" * (1 << 22))
        path = self.path("numbers", b"1\nx\n")
        self.broken(f"{path}, line 2", 1, "quantiles", path, "--text")

    def test_bytes_that_are_left(self):
        self.broken("3 of the 4 bytes of a f32 value", 2, "quantiles", stdin=b"12345678901")
        self.broken("--text", 2, "quantiles", stdin=b"12345678901")
        self.broken("1 of the 8 bytes", 1, "quantiles", "--type", "i64", stdin=b"123456789")
        self.fails(1, "1 of the 8 bytes", "quantiles", "--type", "i64", stdin=b"1")

    def test_bad_files(self):
        self.fails(1, "No such file", "quantiles", self.path("none"))
        self.fails(1, "directory", "quantiles", self.folder)
        with open("/dev/full", "wb") as full:
            result = subprocess.run([QUADMILL, "quantiles"], input=floats([1]), stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"No space left", result.stderr)

    SIGNALS = ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129))

    def test_signals_answer_and_save(self):
        for number, status in self.SIGNALS:
            saved = self.path(f"saved.{number}")
            process = self.start("quantiles", "--text", "--json", "--phi", "1", "--save", saved, "--every", "2")
            process.stdin.write(b"1\n2\n3\n99")
            process.stdin.flush()
            self.next_line(process)
            process.send_signal(number)
            self.assertEqual(json.loads(self.next_line(process))["n"], 3)
            self.assertEqual(process.wait(), status)
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(json.loads(run("merge", saved, "--json").stdout)["n"], 3)

    def stopped(self, save, *args):
        process = self.start("quantiles", "--text", "--every", "1", "--json", "--save", save, *args)
        process.stdin.write(b"7\n")
        process.stdin.flush()
        self.next_line(process)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(), 143)
        return process.stderr.read().decode()

    def test_a_picture_of_a_part_does_not_replace_the_whole(self):
        picture = self.path("picture.png", b"of before")
        process = subprocess.Popen([QUADMILL, "show", "quantiles", "--text", "-o", picture], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(b"7\n" * 2**21)  # more than any pipe holds: so it is being read
        process.stdin.flush()
        process.send_signal(signal.SIGTERM)
        self.assertIn(f"'{picture}.partial'".encode(), process.communicate(timeout=20)[1])
        self.assertEqual(process.returncode, 143)
        self.assertEqual(self.read(picture), b"of before")
        self.assertTrue(self.read(picture + ".partial").startswith(b"\x89PNG"))

    def test_a_part_does_not_replace_the_whole(self):
        n_of = lambda path: json.loads(run("merge", path, "--json").stdout)["n"]
        saved = self.path("saved")
        whole = lambda: self.assertEqual(run("quantiles", "--text", "--save", saved, stdin=b"1\n2\n3\n").returncode, 0)
        whole()
        old = self.read(saved)
        for _ in range(2):  # and again, when there is a partial one
            self.assertIn(f"'{saved}.partial'", self.stopped(saved))
            self.assertEqual((self.read(saved), n_of(saved + ".partial")), (old, 1))
        os.unlink(saved + ".partial")
        result = run("quantiles", "--text", "--save", saved, stdin=b"1\nx\n")
        self.assertEqual((result.returncode, self.read(saved), n_of(saved + ".partial")), (3, old, 1))
        os.unlink(saved + ".partial")
        self.assertEqual(self.stopped(saved, "--save-partial"), "")
        self.assertEqual((n_of(saved), os.listdir(self.folder)), (1, ["saved"]))
        whole()
        self.assertEqual(self.read(saved), old)
        self.stopped(self.path("empty", b""))
        self.assertEqual(n_of(self.path("empty")), 1)
        self.fails(2, "--save", "quantiles", "--save-partial")

    def test_a_signal_ends_the_wait_for_who_writes_a_named_pipe(self):
        os.mkfifo(self.path("pipe"))
        for number, _ in self.SIGNALS:
            process = self.start("quantiles", self.path("pipe"))
            time.sleep(0.2)
            process.send_signal(number)
            self.assertEqual(process.wait(10), -number)

    def test_signals_while_nobody_takes_the_answers(self):
        numbers = self.path("numbers", b"1\n" * 100000)
        process = self.start("quantiles", numbers, "--text", "--every", "1", "--json")
        time.sleep(0.5)  # the pipe is full
        process.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), -signal.SIGTERM)

    def test_interrupt_of_a_busy_stream(self):
        for every in ("10000000", "1"):
            with open("/dev/zero", "rb") as zeros:
                process = subprocess.Popen([QUADMILL, "quantiles", "--engine", "cpu", "--json", "--every", every],
                                           stdin=zeros, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                first = json.loads(process.stdout.readline())
                process.send_signal(signal.SIGINT)
                with process, process.stdout, process.stderr:
                    rest = process.stdout.readlines()
                    self.assertEqual(process.stderr.read(), b"")
            self.assertEqual((process.returncode, first["n"]), (130, int(every)))
            for line in rest[-1:]:
                self.assertGreater(json.loads(line)["n"], int(every))

    def test_signals_that_are_ignored(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process = self.start("quantiles", "--text", "--every", "1", "--json",
                                 preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
            process.stdin.write(b"1\n")
            process.stdin.flush()
            self.next_line(process)
            process.send_signal(number)
            process.stdin.write(b"2\n")
            process.stdin.close()
            self.assertEqual(json.loads(self.next_line(process))["n"], 2)
            self.assertEqual(process.wait(), 0)

    def test_a_reader_that_goes_away(self):
        process = self.start("quantiles", "--text", "--every", "1", "--json", "--save", self.path("saved"))
        process.stdin.write(b"1\n")
        process.stdin.flush()
        self.next_line(process)
        process.stdout.close()
        process.stdin.write(b"2\n")
        process.stdin.flush()
        self.assertEqual(process.wait(), -signal.SIGPIPE)
        self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(os.listdir(self.folder), [])

    def test_progress_on_a_terminal_only(self):
        master, slave = pty.openpty()
        process = subprocess.Popen([QUADMILL, "quantiles", "--text", "--json", "--engine", "cpu"],
                                   stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        for value in (b"1\n", b"2\n"):
            time.sleep(0.3)
            process.stdin.write(value)
            process.stdin.flush()
        time.sleep(0.1)
        out = process.communicate()[0]
        shown = ""
        with contextlib.suppress(OSError):  # the terminal's end
            while part := os.read(master, 10000):
                shown += part.decode()
        os.close(master)
        self.assertIn("1 values", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), shown)
        self.assertEqual(json.loads(out)["n"], 2)


class Text(Stream):
    def value(self, word, *args):
        return self.answer("quantiles", "--text", "--phi", "0", *args, stdin=word + b"\n")["quantiles"][0]["value"]

    def test_small_streams_are_answered_exactly(self):
        answer = self.answer("quantiles", "--text", "--phi", "0.5", "--eps", "0.1", stdin=lines(range(1, 1001)))
        self.assertEqual(answer["quantiles"], [{"phi": 0.5, "value": 500, "rank_lower": 500, "rank_upper": 500}])

    def test_correlated_sums_do_not_round(self):
        cases = ((["--agg", "min", "--type", "i64"], ((1700000000000000001, 1), (1700000000000000002, 10)), 1),
                 (["--agg", "avg"], ((1e308, 1), (1e308, 2), (-1e308, 4), (-1e308, 8)), 12),
                 (["--agg", "max"], tuple(enumerate((1e308, 1e308, -1e308, -1e308))), 0),
                 (["--agg", "max"], tuple(enumerate((1e16, 1, 1, 1, 1, -1e16))), 4))
        for options, pairs, total in cases:
            text = "".join(f"{x},{y}\n" for x, y in pairs).encode()
            answer = self.answer("corrsum", "--text", *options, stdin=text)
            self.assertEqual((answer["lower"], answer["sum"], answer["upper"]), (total, total, total))

    def test_saved_summaries_are_small(self):
        chance = random.Random(5)
        values = raw([chance.getrandbits(32) for _ in range(300_000)], "u32")
        for eps, most in (("1e-2", 10_000), ("1e-3", 40_000)):
            saved = self.path("saved")
            self.answer("quantiles", "--type", "u32", "--eps", eps, "--save", saved, stdin=values)
            self.assertLess(os.path.getsize(saved), most)

    def test_text_is_not_rounded_silently(self):
        for verb in (["frequent", "--support", "0.1"], ["frequent", "--support", "0.1", "--sliding", "9"]):
            for values in ([16777216, 16777217], [1700000000, 1700000001], [2**53, 2**53 - 1], [0.1, 0.10000000001]):
                answer = self.answer(*verb, "--text", stdin=lines(values))
                self.assertEqual(sorted(item["value"] for item in answer["items"]), sorted(values))
        self.assertEqual(self.value(b"16777217"), 16777217)
        self.assertEqual(self.value(b"16777217", "--type", "f32"), 16777216)
        self.assertEqual(run("sort", "--text", stdin=b"16777217\n16777216\n0.1\n").stdout, b"0.1\n16777216\n16777217\n")
        self.assertEqual(run("sort", "--text", "--type", "f32", stdin=b"16777217\n").stdout, b"16777216\n")
        picture = ("show", "quantiles", "--text", "-o", "-")
        self.assertNotEqual(run(*picture, stdin=b"16777217\n16777219\n").stdout,
                            run(*picture, "--type", "f32", stdin=b"16777217\n16777219\n").stdout)

    def test_integers_that_do_not_fit_are_refused(self):
        for word in (b"9007199254740993", b"-9007199254740993", b"+18446744073709551615", b"1" * 25,
                     b"0009007199254740993"):
            for verb in (["quantiles"], ["frequent", "--support", "1"], ["sort"], ["show", "quantiles", "-o", "-"]):
                text = self.fails(1, "integer that f64 would round", *verb, "--text", stdin=word + b"\n")
                self.assertIn("--type i64", text)
            self.assertEqual(self.value(word, "--type", "f64"), float(word))
        for word in (b"9007199254740992", b"9007199254740994", b"-18446744073709551616", b"1" + b"0" * 22, b"007"):
            self.assertEqual(self.value(word), float(word))
        for word in (b"9007199254740993.0", b"9007199254740993e0", b"1e23"):
            self.assertEqual(self.value(word), float(word))
        self.assertEqual(self.value(b"9007199254740993", "--type", "i64"), 9007199254740993)

    def test_what_is_too_near_to_zero_is_zero(self):
        for word in (b"1e-400", b"-1e-400", b"0.1e-99999999999999999999", b"+1e-400", b"0." + b"0" * 400 + b"1"):
            for kind in ("f16", "f32", "f64"):
                self.assertEqual(self.value(word, "--type", kind), 0)
                result = run("sort", "--text", "--type", kind, stdin=word + b"\n")
                self.assertEqual(result.stdout, b"-0\n" if word.startswith(b"-") else b"0\n")
            answer = self.answer("corrsum", "--agg", "max", "--text", stdin=word + b"," + word)
            self.assertEqual((answer["threshold"], answer["sum"]), (0, 0))
        self.assertEqual(self.value(b"1e-50", "--type", "f32"), 0)
        self.assertEqual(self.value(b"5e-324"), 5e-324)
        for word in (b"1e400", b"-1e400", b"1e99999999999999999999"):
            self.fails(1, "range", "quantiles", "--text", stdin=word)
        answer = self.answer("corrsum", "--agg", "max", "--scale", "1e-400", "--text", stdin=b"1,1\n0,2\n")
        self.assertEqual((answer["threshold"], answer["sum"]), (0, 2))

    def test_skip_bad(self):
        text = b"x\n1\n\n\n2 2\n2\n1e999\n" + b"9" * (3 << 20) + b"\n3\n" + b"9" * (2 << 20) + b"\n\n"
        for extra, stdin in (([], text), (["--every", "1"], text)):
            result = run("quantiles", "--text", "--skip-bad", "--json", "--phi", "0,1", *extra, "--engine", "cpu",
                         stdin=stdin)
            self.assertEqual(result.returncode, 0, result.stderr)
            answer = json.loads(result.stdout.splitlines()[-1])
            self.assertEqual((answer["n"], answer["skipped"], answer["quantiles"][1]["value"]), (3, 7, 3))
            self.assertEqual(result.stderr,
                             b"quadmill: 7 lines were skipped, the first: standard input, line 1: 'x' is not a "
                                            b"number\n")
        self.assertIn(b"skipped lines: 1\n", run("quantiles", "--text", "--skip-bad", stdin=b"1\nx\n").stdout)
        self.assertEqual(self.answer("quantiles", "--text", "--skip-bad", stdin=b"1\n\n")["skipped"], 0)
        result = run("sort", "--text", "--skip-bad", stdin=b"3\n\nx\n1\n")
        self.assertEqual((result.returncode, result.stdout), (0, b"1\n3\n"))
        self.assertIn(b"2 lines were skipped", result.stderr)
        for verb in (["frequent", "--support", "0.1"], ["hhh", "--support", "0.1", "--hierarchy", "8"]):
            result = run(*verb, "--text", "--skip-bad", "--json", stdin=b"3\nx\n1\n")
            self.assertEqual((result.returncode, json.loads(result.stdout)["n"]), (0, 2))
        result = run("corrsum", "--agg", "max", "--text", "--skip-bad", "--json", stdin=b"3,1\nx,1\n1,inf\n")
        self.assertEqual((json.loads(result.stdout)["n"], json.loads(result.stdout)["skipped"]), (1, 2))
        self.fails(2, "--text", "quantiles", "--skip-bad")

    def test_header(self):
        text = b"value\n[ms]\n\n1\n2\n"
        self.assertEqual(self.answer("quantiles", "--text", "--header", "3", stdin=text)["n"], 2)
        self.fails(1, "line 2", "quantiles", "--text", "--header", "1", stdin=text)
        self.fails(1, "line 1", "quantiles", "--text", "--header", "0", stdin=text)
        self.assertEqual(self.answer("quantiles", "--text", "--header", "9", stdin=text)["n"], 0)
        self.assertEqual(self.answer("quantiles", "--text", "--header", "1", stdin=b"9" * (3 << 20) + b"\n4\n")["n"], 1)
        self.assertEqual(run("sort", "--text", "--header", "1", stdin=b"7\n2\n1\n").stdout, b"1\n2\n")
        self.assertEqual(self.answer("corrsum", "--agg", "max", "--text", "--header", "1", stdin=b"x,y\n1,2\n")["sum"],
                         2)
        self.assertEqual(self.answer("quantiles", "--text", stdin=b"\xef\xbb\xbf1\n2\n")["n"], 2)
        self.fails(2, "--text", "quantiles", "--header", "1")
        self.fails(2, "--header", "quantiles", "--text", "--header", "-1")

    def test_errors_show_no_control_characters(self):
        for word, shown in ((b"1\x002", r"'1\x002'"), (b"\x1b[31m1", r"'\x1b[31m1'"), (b"\xc2\x9b1", r"'\xc2\x9b1'"),
                            (b"\xff1", r"'\xff1'"), ("zwölf".encode(), "'zwölf'"), (b"\xe2\x82", r"'\xe2\x82'"),
                            ("€".encode() * 14, "'" + "€" * 14 + "'"), ("€".encode() * 15, "'" + "€" * 14 + "...'")):
            for verb in ("quantiles", "sort"):
                self.fails(1, f"line 1: {shown} is not a number", verb, "--text", stdin=word + b"\n")


class Columns(Stream):
    """--column reads one column of CSV, packed or not, from several files."""
    ROWS = 'time,"the path",seconds\r\n1,/a,0.5\n2,"/b,""c""\nd",1.5\n3,,2.5\n4,/e,\n'.encode()

    def found(self, *args, **more):
        return [q["value"] for q in self.answer("quantiles", "--phi", "0,0.5,1", *args, **more)["quantiles"]]

    def test_names_and_numbers(self):
        for which in ("seconds", "3"):
            answer = self.answer("quantiles", "--column", which, "--phi", "0,0.5,1", stdin=self.ROWS)
            self.assertEqual([q["value"] for q in answer["quantiles"]], [0.5, 1.5, 2.5])
            self.assertEqual((answer["n"], answer["empty"]), (3, 1))
        self.assertEqual(self.found("--column", "time", stdin=self.ROWS), [1, 2, 4])
        self.assertEqual(self.found("--column", "time", stdin=b"\xef\xbb\xbf" + self.ROWS), [1, 2, 4])
        self.assertEqual(self.found("--column", "time", "--type", "u64", stdin=self.ROWS), [1, 2, 4])
        self.assertEqual(self.found("--column", "2", "--header", "0", stdin=b"1,5\n2,6\n3,7"), [5, 6, 7])
        self.assertEqual(self.found("--column", "b", "--header", "3", stdin=b"#\n#,\na,b\n1,2\n"), [2, 2, 2])
        self.assertEqual(self.found("--column", "b", "--delimiter", "\\t", stdin=b"a\tb\n1\t2\n"), [2, 2, 2])
        self.assertEqual(self.found("--column", "b", "--delimiter", ";", stdin=b"a;b\n1,5;2\n"), [2, 2, 2])
        items = self.answer("frequent", "--column", "k", "--type", "u32", "--support", "50%",
                            stdin=b"k\n7\n7\n8\n")["items"]
        self.assertEqual([item["value"] for item in items], [7])
        hhh = self.answer("hhh", "--column", "ip", "--support", "0.5", "--hierarchy", "ipv4-bytes",
                          stdin=b"x,ip\n1,10.0.0.1\n2,10.0.0.1\n")
        self.assertEqual(hhh["items"][0]["prefix"], "10.0.0.1/32")

    def test_long_files_packed_and_several(self):
        chance = random.Random(3)
        values = [[chance.randrange(10 ** 6) for _ in range(n)] for n in (70_000, 1, 30_000)]
        text = [b"a,b\n" + b"".join(b'"x, %d",%d\n' % (v % 7, v) for v in part) for part in values]
        files = [self.path("one.csv", text[0]), self.path("two.gz", gzip.compress(text[1])),
                 self.path("three.gz", gzip.compress(text[2][:90_000]) + gzip.compress(text[2][90_000:]))]
        answer = self.answer("quantiles", "--eps", "0.001", "--column", "b", *files)
        everything = sum(values, [])
        self.assertEqual(answer["n"], len(everything))
        self.check_quantiles(answer, everything, 0.001)
        packed = gzip.compress(lines(everything))
        self.assertEqual(self.answer("quantiles", "--text", stdin=packed)["quantiles"],
                         self.answer("quantiles", "--text", stdin=lines(everything))["quantiles"])
        cut = run("quantiles", "--text", "--json", stdin=packed[:-20])
        self.assertEqual(cut.returncode, 3)
        self.assertIn(b"is truncated", cut.stderr)
        self.assertGreater(json.loads(cut.stdout)["n"], 90_000)
        if shutil.which("zstd"):
            packed = subprocess.run(["zstd", "-c"], input=text[0], capture_output=True, check=True).stdout
            self.assertEqual(self.answer("quantiles", "--column", "b", stdin=packed)["n"], len(values[0]))

    def test_faults(self):
        for rows, words in ((b"a,b\n1,2\n3,pear\n", "line 3: 'pear' is not a number"),
                            (b"a,b\n1,2\n3\n", "line 3: has 1 field, and the first line 2"),
                            (b"a,b\n1,2\n\n3,4\n", "line 3: is blank"),
                            (b'a,b\n1,2\n3,4"5\n', "line 3: has a quote inside a field"),
                            (b'a,b\n1,2\n3,"4\n', "a quote that is not closed")):
            result = run("quantiles", "--column", "b", "--json", stdin=rows)
            self.assertEqual((result.returncode, json.loads(result.stdout)["n"]), (3, 1), result.stderr)
            self.assertIn(words, result.stderr.decode())
        self.assertEqual(self.answer("quantiles", "--column", "b", stdin=b"a,b\n1,2\n\n\n")["n"], 1)
        answer = self.report("quantiles", "--column", "b", "--skip-bad", stdin=b"a,b\n1,x\n3\n4,5\n")
        self.assertEqual((answer["n"], answer["skipped"]), (1, 2))
        self.fails(1, "no line is a value", "quantiles", "--column", "b", "--skip-bad", stdin=b"a,b\n1,x\n")
        self.fails(1, "there is no column 'c'; line 1 has 'a', 'b'", "quantiles", "--column", "c", stdin=b"a,b\n1,2\n")
        self.fails(1, "there is no column '3'", "quantiles", "--column", "3", stdin=b"a,b\n1,2\n")
        self.fails(1, "there is no column 'b': without a header", "quantiles", "--column", "b", "--header", "0",
                   stdin=b"1\n")
        self.fails(1, "several columns are called 'a'", "quantiles", "--column", "a", stdin=b"a,a\n1,2\n")
        self.fails(2, "--raw", "quantiles", "--column", "b", "--raw", stdin=b"")
        self.fails(2, "--column", "quantiles", "--delimiter", ";", stdin=b"")
        self.fails(2, "must be one character", "quantiles", "--column", "b", "--delimiter", "ab", stdin=b"")
        self.fails(2, "goes with --text or --column", "quantiles", "--header", "1", stdin=b"")

    def test_answers_come_before_the_pipe_is_closed(self):
        process = self.start("quantiles", "--column", "b", "--every", "2", "--phi", "1", "--json")
        process.stdin.write(b"a,b\n1,2\n3,4\n5,")
        process.stdin.flush()
        self.assertEqual(json.loads(self.next_line(process))["n"], 2)
        process.stdin.write(b"6")
        process.stdin.close()
        self.assertEqual(json.loads(self.next_line(process))["n"], 3)
        self.assertEqual(process.wait(), 0)


class Groups(Stream):
    """--by: the quantiles of each group."""
    def test_each_group_is_as_if_alone(self):
        chance = random.Random(12)
        groups = {"/a": 30_000, "b, c": 20_000, "": 500, 'd"e': 1}
        rows = [(name, chance.randrange(10 ** 6)) for name, count in groups.items() for _ in range(count)]
        chance.shuffle(rows)
        text = io.StringIO()
        csv.writer(text).writerows([("path", "ms"), *rows])
        answer = self.answer("quantiles", "--column", "ms", "--by", "path", "--phi", "0,p50,p99,1", "--eps", "0.005",
                             stdin=text.getvalue().encode())
        self.assertEqual((answer["n"], len(answer["quantiles"])), (len(rows), 16))
        for name, count in groups.items():
            found = [row for row in answer["quantiles"] if row["group"] == name]
            self.assertEqual({row["n"] for row in found}, {count})
            self.check_quantiles({"quantiles": found}, [value for group, value in rows if group == name], 0.005)

    def test_faults(self):
        rows = b"k,v\n1,1\n2,2\n3,3\n"
        result = run("quantiles", "--column", "v", "--by", "k", "--groups", "2", "--json", stdin=rows)
        self.assertEqual((result.returncode, json.loads(result.stdout)["n"]), (3, 2))
        self.assertIn(b"'3' would be group 3; --groups allows 2", result.stderr)
        self.fails(1, "there is no column 'x'", "quantiles", "--column", "v", "--by", "x", stdin=rows)
        self.fails(2, "--by", "quantiles", "--by", "k", stdin=rows)


    def test_frequent_values_of_each_group(self):
        chance = random.Random(13)
        rows = [(group, min(int(chance.paretovariate(1)), 99)) for group in "ab" for _ in range(4000)] + [("c", 7)]
        chance.shuffle(rows)
        text = "group,value\n" + "".join(f"{group},{value}\n" for group, value in rows)
        for asked, top in ((("--support", "5%"), None), (("-k", "3"), 3)):
            answer = self.answer("frequent", "--column", "value", "--by", "group", "--type", "u32", *asked,
                                 stdin=text.encode())
            self.assertEqual((answer["n"], answer["groups"]), (len(rows), 3))
            for group in "abc":
                exact = collections.Counter(value for name, value in rows if name == group)
                found = [row for row in answer["items"] if row["group"] == group]
                if top:
                    self.assertEqual([row["estimate"] for row in found], [count for _, count in exact.most_common(3)])
                for row in found:
                    self.assertTrue(row["lower"] <= exact[row["value"]] <= row["upper"], row)
                if not top:
                    must = {value for value, count in exact.items() if count >= 0.05 * sum(exact.values())}
                    self.assertLessEqual(must, {row["value"] for row in found})

    def test_saved(self):
        chance = random.Random(14)
        rows = [("abcdef"[min(int(chance.paretovariate(1)), 6) - 1], chance.randrange(50)) for _ in range(6000)]
        days = [rows[:1], rows[1:2500], rows[2500:]]
        text = lambda some: ("k,v\n" + "".join(f"{k},{v}\n" for k, v in some)).encode()
        for verb in (["quantiles", "--eps", "0.001"], ["quantiles", "--tail", "high", "--eps", "0.001"],
                     ["frequent", "--type", "u32", "--support", "5%", "--eps", "0.001"]):
            call = [*verb, "--column", "v", "--by", "k"]
            now = self.path("now-" + "".join(verb))
            saved = [self.path(f"day-{i}-" + "".join(verb)) for i in range(3)]
            for day, path in zip(days, saved):
                self.answer(*call, "--save", path, stdin=text(day))
                last = self.answer(*call, "--resume", now, "--save", now, stdin=text(day))
            merged = self.report("merge", *saved, *(["--support", "5%"] if verb[0] == "frequent" else []), "--save",
                                 self.path("all"))
            kind = "items" if verb[0] == "frequent" else "quantiles"
            whole = self.answer(*call, stdin=text(rows))
            for answer in (last, merged, self.report("merge", now, *(["--support", "5%"] if kind == "items" else []))):
                self.assertEqual((answer["n"], answer["groups"], answer["eps"]), (6000, 6, 0.001))
                self.assertEqual(answer[kind], whole[kind])  # exact: few values in each group
            self.assertEqual(self.report("merge", self.path("all"),
                                         *(["--support", "5%"] if kind == "items" else []))[kind], whole[kind])
            self.fails(2, "does not go with groups of", "merge", saved[0],
                       *(["--agg", "avg"] if kind == "items" else ["-k", "3"]))
            with open(now, "ab") as file:
                file.write(b"x")
            self.fails(1, "checksum", *call, "--resume", now, stdin=text(rows))
        plain = self.path("plain")
        self.answer("quantiles", "--text", "--save", plain, stdin=b"1\n")
        self.fails(2, "holds groups of quantiles of f64 values", "merge", plain, self.path("day-0-quantiles--eps0.001"))
        self.fails(1, "another kind", "quantiles", "--column", "v", "--by", "k", "--resume", plain, stdin=b"k,v\n1,1\n")
        self.fails(1, "max_groups allows 2", "quantiles", "--column", "v", "--by", "k", "--groups", "2", "--resume",
                   self.path("day-1-quantiles--eps0.001"), stdin=b"k,v\n1,1\n")
        full = run("quantiles", "--column", "v", "--by", "k", "--groups", "2", "--save", self.path("part"), "--json",
                   stdin=b"k,v\n1,1\n2,2\n3,3\n")
        self.assertEqual(full.returncode, 3)
        self.assertEqual(self.report("merge", self.path("part"))["n"], 2)


class Tails(Stream):
    """--tail: errors are relative to the distance from an end."""
    def test_high_low_and_both(self):
        chance = random.Random(14)
        values = [float(chance.randrange(10 ** 7)) for _ in range(200_000)]
        ordered, n = sorted(values), len(values)
        saved = self.path("saved")
        for tail in ("high", "low", "both"):
            for part in (values[:70_000], values[70_000:]):
                answer = self.answer("quantiles", "--type", "f64", "--tail", tail, "--phi",
                                     "0,0.0001,0.01,0.5,0.99,0.9999,1",
                                     "--stats", "--save", f"{saved}-{len(part)}", stdin=raw(part, "f64"))
            merged = self.report("merge", f"{saved}-70000", f"{saved}-130000", "--phi",
                                 "0,0.0001,0.01,0.5,0.99,0.9999,1")
            self.assertEqual((merged["n"], merged["eps"]), (n, 0.01))
            for row in merged["quantiles"]:
                rank = max(1, math.ceil(row["phi"] * n - 1e-9))
                far = {"low": rank, "high": n + 1 - rank, "both": min(rank, n + 1 - rank)}[tail]
                low, high = bisect.bisect_left(ordered, row["value"]) + 1, bisect.bisect_right(ordered, row["value"])
                self.assertLessEqual(max(low - rank, rank - high, 0), 0.01 * far, row)
                self.assertTrue(row["rank_lower"] <= high and row["rank_upper"] >= low, row)
            part = values[70_000:]
            self.assertAlmostEqual(answer["mean"], sum(part) / len(part), places=3)
            resumed = self.answer("quantiles", "--type", "f64", "--tail", tail, "--stats", "--resume", f"{saved}-70000",
                                  stdin=raw(part, "f64"))
            self.assertAlmostEqual(resumed["mean"], sum(values) / n, places=3)
            self.assertEqual((resumed["n"], resumed["min"], resumed["max"]), (n, ordered[0], ordered[-1]))
        self.fails(2, "does not go with --sliding", "quantiles", "--tail", "high", "--sliding", "5", stdin=b"")
        self.answer("quantiles", "--type", "f64", "--save", saved, stdin=raw(values[:10], "f64"))
        self.fails(2, "only one kind and type", "merge", saved, f"{saved}-70000", stdin=b"")
        self.answer("quantiles", "--type", "f64", "--sliding", "5", "--save", f"{saved}-5",
                    stdin=raw(values[:10], "f64"))
        self.fails(2, "has forgotten those before its window", "merge", saved, f"{saved}-5", stdin=b"")


class Names(Stream):
    """frequent --names: the values are text."""
    def test_lines_and_fields(self):
        chance = random.Random(15)
        names = [f"/page/{int(chance.paretovariate(0.8))}, \u00e9" for _ in range(30_000)]
        exact = collections.Counter(names)
        top = exact.most_common(5)
        saved = self.path("saved")
        answer = self.answer("frequent", "--text", "--names", "-k", "5", "--save", saved,
                             stdin="\n".join(names).encode())
        self.assertEqual([row["value"] for row in answer["items"]], [name for name, _ in top])
        for row in answer["items"]:
            self.assertTrue(row["lower"] <= exact[row["value"]] <= row["upper"], row)
        text = io.StringIO()
        csv.writer(text).writerows([("id", "page"), *enumerate(names)])
        fields = self.answer("frequent", "--column", "page", "--names", "-k", "5", stdin=text.getvalue().encode())
        self.assertEqual(fields["items"], answer["items"])
        merged = self.report("merge", saved, saved, "-k", "1")
        self.assertEqual((merged["n"], len(merged["items"])), (2 * len(names), 1))
        self.assertTrue(merged["items"][0]["lower"] <= 2 * top[0][1] <= merged["items"][0]["upper"])
        more = self.answer("frequent", "--text", "--names", "-k", "1", "--resume", saved, stdin=b"x\n")
        self.assertEqual(more["n"], len(names) + 1)
        for option in (["--sliding", "5"], ["--type", "u32"], ["--by", "id", "--column", "page"]):
            self.fails(2, "does not go with", "frequent", "--names", "-k", "5", *option, stdin=b"")


class Monitors(Stream):
    """--every and --save-every by time, and --resume."""
    def test_every_second(self):
        process = self.start("quantiles", "--text", "--every", "300ms", "--phi", "1", "--json")
        sent = answered = 0
        for _ in range(2):
            while True:  # an answer comes with a value, and the command may start late
                sent += 1
                process.stdin.write(b"%d\n" % sent)
                process.stdin.flush()
                if select.select([process.stdout], [], [], 0.4)[0]:
                    break
                self.assertLess(sent, 100)
            n = json.loads(self.next_line(process))["n"]
            self.assertTrue(answered < n <= sent)
            answered = n
        process.stdin.close()
        self.assertEqual(process.wait(), 0)
        last = process.stdout.read()
        self.assertEqual(last != b"", answered < sent)  # none if the last answer was about all values
        self.assertEqual(len(self.answers("quantiles", "--text", "--every", "1d", stdin=b"5\n6\n")), 1)
        for time_of in ("0s", "-1s", "s", "5 years"):
            self.fails(2, "--every", "quantiles", "--text", "--every", time_of, stdin=b"")
        self.fails(2, "not a time", "quantiles", "--text", "--save", "x", "--save-every", "100", stdin=b"")

    def test_a_silent_stream_is_answered_each_period(self):
        for verb in (["quantiles"], ["frequent", "--support", "0.1"], ["quantiles", "--sliding", "1000"],
                     ["hhh", "--support", "0.1", "--type", "u32", "--hierarchy", "16,32"],
                     ["quantiles", "--column", "1", "--header", "0"]):
            with self.subTest(verb=verb):
                form = [] if "--column" in verb else ["--text"]
                process = self.start(*verb, *form, "--every", "100ms", "--json")
                self.assertEqual([json.loads(self.next_line(process))["n"] for _ in range(2)], [0, 0])
                process.stdin.write(b"5\n6\n")
                process.stdin.flush()
                deadline = time.time() + 30
                while json.loads(self.next_line(process))["n"] < 2:
                    self.assertLess(time.time(), deadline)
                before = time.time()
                self.assertEqual([json.loads(self.next_line(process))["n"] for _ in range(3)], [2, 2, 2])
                self.assertGreater(time.time() - before, 0.15)
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(), 130)

    def test_values_leave_the_last_seconds_in_silence(self):
        process = self.start("quantiles", "--text", "--sliding", "1s", "--every", "100ms", "--json")
        process.stdin.write(b"5\n6\n")
        process.stdin.flush()
        deadline = time.time() + 30
        seen = set()
        while seen != {0, 2} or n != 0:
            n = json.loads(self.next_line(process))["n"]
            seen.add(n)
            self.assertLess(time.time(), deadline)
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_a_silent_stream_is_saved(self):
        saved = self.path("silent")
        process = self.start("quantiles", "--text", "--save", saved, "--save-every", "300ms")
        for sent in (2, 4):  # the second values come sooner than 300 ms after the first save
            process.stdin.write(b"5\n6\n")
            process.stdin.flush()
            deadline = time.time() + 30
            while run("merge", saved, "--json").returncode != 0 or self.report("merge", saved)["n"] < sent:
                self.assertLess(time.time(), deadline)
                time.sleep(0.02)
        changed = os.stat(saved).st_mtime_ns
        time.sleep(0.8)
        self.assertEqual(os.stat(saved).st_mtime_ns, changed)  # nothing new
        process.kill()
        process.wait()
        self.assertEqual(self.report("merge", saved)["n"], 4)

    def test_the_reader_of_a_silent_stream_leaves(self):
        process = self.start("quantiles", "--text", "--every", "50ms", "--json")
        self.next_line(process)
        process.stdout.close()
        self.assertNotEqual(process.wait(timeout=20), 0)
        self.assertNotIn(b"the answer is about", process.stderr.read())  # it is no fault of the input

    def test_a_killed_monitor_goes_on(self):
        chance = random.Random(5)
        first, second = ([chance.randrange(1000) for _ in range(20_000)] for _ in range(2))
        for verb in (["quantiles", "--eps", "0.01"], ["frequent", "--support", "0.01"],
                     ["quantiles", "--sliding", "30000", "--eps", "0.01"],
                     ["frequent", "--sliding", "30000", "--support", "0.01"],
                     ["hhh", "--support", "0.1", "--hierarchy", "ipv4-bits"],
                     ["corrsum", "--agg", "max", "--g", "y+1", "--eps", "0.01"]):
            rows = (lambda ys: b"".join(b"7,%d\n" % y for y in ys)) if verb[0] == "corrsum" else lines
            merge = ["merge", *(["--agg", "max"] if verb[0] == "corrsum" else [])]
            saved = self.path("saved-" + "-".join(verb).replace("/", "-"))
            process = self.start(*verb, "--text", "--save", saved, "--save-every", "1ms", "--resume", saved)
            process.stdin.write(rows(first))
            process.stdin.flush()
            deadline = time.time() + 30
            while run(*merge, saved, "--json").stdout[:10] == b"" or self.report(*merge, saved)["n"] < len(first):
                self.assertLess(time.time(), deadline)
                process.stdin.write(rows([5]))  # saves are due when values come
                first.append(5)
                process.stdin.flush()
                time.sleep(0.02)
            process.kill()
            before = self.report(*merge, saved)
            kept = before["n"]
            answer = self.answer(*verb, "--text", "--resume", saved, stdin=rows(second))
            if verb[0] == "corrsum":  # exact, since all x are equal
                self.assertEqual(answer["sum"], before["sum"] + sum(y + 1 for y in second))
            self.assertEqual(answer["n"] if "--sliding" not in verb else kept,
                             kept + (0 if "--sliding" in verb else len(second)))
        self.fails(2, "--save", "quantiles", "--text", "--save-every", "1s", stdin=b"")


class Recently(Stream):
    """--sliding with a time, by arrival or by a column of times."""
    def test_by_arrival(self):
        process = self.start("quantiles", "--text", "--sliding", "1500ms", "--every", "1", "--phi", "0", "--json")
        for wait, value, n, least in ((0, 5, 1, 5), (0, 3, 2, 3), (2, 4, 1, 4)):
            time.sleep(wait)
            process.stdin.write(b"%d\n" % value)
            process.stdin.flush()
            answer = json.loads(self.next_line(process))
            self.assertEqual((answer["n"], answer["quantiles"][0]["value"], answer["seconds"]), (n, least, 1.5))
        process.stdin.close()
        self.assertEqual(process.wait(), 0)

    def test_arrivals_are_saved(self):
        saved = self.path("arrivals")
        call = ["quantiles", "--text", "--sliding", "3s", "--phi", "0", "--save", saved, "--save-every", "1ms",
                "--resume", saved]
        process = self.start(*call, "--every", "1", "--json")
        process.stdin.write(b"7\n8\n")
        process.stdin.flush()
        self.next_line(process), self.next_line(process)
        deadline = time.time() + 30
        while run("merge", saved).returncode != 0 or self.report("merge", saved)["n"] < 3:
            self.assertLess(time.time(), deadline)
            process.stdin.write(b"9\n")  # a save is due when a value comes, not sooner than 1 ms after the last one
            process.stdin.flush()
            self.next_line(process)
        process.kill()
        process.wait()
        first = self.answer(*call, stdin=b"5\n")
        self.assertTrue(first["n"] >= 4 or first["n"] == 1)  # 1: after more than 3 s
        self.assertEqual(first["quantiles"][0]["value"], 5)
        time.sleep(3.3)
        self.assertEqual(self.answer(*call, stdin=b"6\n")["n"], 1)
        self.assertEqual(self.report("merge", saved, "--phi", "1")["quantiles"][0]["value"], 6)
        late = self.path("late")
        self.answer("quantiles", "--text", "--sliding", "3s", "--save", late, stdin=b"5\n")
        other = self.path("other")
        self.answer("quantiles", "--text", "--save", other, stdin=b"5\n")
        self.fails(2, "has forgotten those before its window", "merge", other, late)
        self.fails(1, "another kind", *call[:4], "--resume", other, stdin=b"1\n")

    def test_a_file_of_another_kind_is_named(self):
        numbers, names = self.path("numbers"), self.path("names")
        self.answer("quantiles", "--text", "--save", numbers, stdin=b"5\n")
        self.answer("frequent", "--text", "--names", "-k", "1", "--save", names, stdin=b"x\n")
        for saved, *call in [(names, "quantiles"), (names, "quantiles", "--tail", "both"),
                             (numbers, "quantiles", "--sliding", "9"),
                             (numbers, "quantiles", "--sliding", "1h"), (names, "frequent", "-k", "1"),
                             (numbers, "frequent", "--names", "-k", "1"),
                             (names, "frequent", "--support", "0.5", "--sliding", "9"),
                             (names, "frequent", "-k", "1", "--sliding", "1h"), (names, "quantiles", "--type", "u32")]:
            with self.subTest(call):
                text = self.fails(1, "another kind", *call, "--text", "--resume", saved, stdin=b"1\n")
                self.assertIn(f"'{saved}': ", text)
        for verb in (["quantiles"], ["frequent", "-k", "1"]):
            text = self.fails(1, "another kind", *verb, "--column", "v", "--by", "k", "--resume", numbers,
                              stdin=b"k,v\n1,1\n")
            self.assertIn(f"'{numbers}': ", text)

    def test_by_a_column(self):
        chance = random.Random(16)
        rows = [(1e9 + 50 + i / 10 + chance.uniform(-2, 2), chance.randrange(1000)) for i in range(20_000)]
        text = "at,ms\n" + "".join(f"{at!r},{ms}\n" for at, ms in rows)
        for more in ([], ["--stats"], ["--rank", "500"]):
            found = self.answers("quantiles", "--column", "ms", "--time", "at", "--sliding", "5min", "--every", "100s",
                                 *more,
                                 stdin=text.encode())
            self.assertEqual(len(found), 21)
            for answer in found:
                now = answer["time"]
                seen = rows[:1 + [at for at, _ in rows].index(now)]
                exact = [ms for at, ms in seen if at >= now - 300]
                wider = [ms for at, ms in rows if now - 300 * 33 / 32 <= at <= now + 300 / 32]
                self.assertTrue(len(exact) <= answer["n"] <= len(wider), answer)
            self.assertEqual((now, found[-1]["late"]), (max(at for at, _ in rows), 0))
        for row in found[-1]["ranks"]:
            self.assertLessEqual(abs(row["estimate"] / found[-1]["n"] - 0.5), 0.05)
        late = self.answer("quantiles", "--column", "ms", "--time", "at", "--sliding", "10s",
                           stdin=b"at,ms\n100,1\n50,2\n101,3\n")
        self.assertEqual((late["n"], late["late"]), (2, 1))
        saved = self.path("saved")
        names = self.answer("frequent", "--names", "--column", "page", "--time", "at", "--sliding", "10s", "-k", "3",
                            "--save", saved,
                            stdin=b"at,page\n0,/a\n0,/a\n90,/b\n91,/c\n92,/b\n")
        self.assertEqual([(i["value"], i["estimate"]) for i in names["items"]], [("/b", 2), ("/c", 1)])
        self.assertEqual(self.report("merge", saved, "-k", "3")["items"], names["items"])
        more = self.answer("frequent", "--names", "--column", "page", "--time", "at", "--sliding", "10s", "-k", "3",
                           "--resume", saved,
                           stdin=b"at,page\n98,/c\n101,/c\n60,/a\n")
        self.assertEqual([(i["value"], i["estimate"]) for i in more["items"]], [("/c", 3), ("/b", 1)])
        self.assertEqual((more["seconds"], more["late"], more["time"]), (10, 1, 101))
        codes = self.answer("frequent", "--column", "code", "--time", "1", "--type", "u32", "--sliding", "1h",
                            "--support", "0.5",
                            stdin=b"at,code\n0,7\n3700,8\n3700,8\n")
        self.assertEqual([(i["value"], i["estimate"]) for i in codes["items"]], [(8, 2)])

    def test_times(self):
        for text, seconds in (("1970-01-01T00:00:00Z", 0), ("2026-11-27 09:30:00", 1795771800),
                              ("2026-11-27T09:30:00 ", 1795771800),
                              ("2026-11-27T09:30:00.25+02:00", 1795771800.25 - 7200),
                              ("2024-02-29T23:59:60-00:30", 1709253000),
                              ("-5.5", -5.5), ("1e9", 1e9)):
            answer = self.answer("quantiles", "--column", "v", "--time", "t", "--sliding", "1s",
                                 stdin=f"t,v\n{text},1\n".encode())
            self.assertEqual(answer["time"], seconds, text)
        for text in ("", "soon", "nan", "inf", "2025-02-29T00:00:00", "2026-13-01T00:00:00", "2026-11-27",
                     "2026-11-27T24:00:00",
                     "2026-11-27T09:30:00.", "2026-11-27T09:30:00X", "2026-11-27T09:30:00+25:00"):
            answer = self.report("quantiles", "--column", "v", "--time", "t", "--sliding", "1s", "--skip-bad",
                                 stdin=f't,v\n"{text}",1\n5,2\n'.encode())
            self.assertEqual((answer["n"], answer["skipped"]), (1, 1), text)
        self.fails(1, "line 2: 'x' is neither a time in seconds", "quantiles", "--column", "v", "--time", "t",
                   "--sliding", "1s",
                   stdin=b"t,v\nx,1\n")
        for option in (["--width", "5"], ["--sorted-levels"], ["--n", "5"] , ["--by", "k", "--column", "v"]):
            self.fails(2, option[0], "quantiles", "--text", "--sliding", "5s", *option, stdin=b"")
        self.fails(2, "--sliding 5min", "quantiles", "--column", "v", "--time", "t", "--sliding", "5", stdin=b"")
        self.fails(2, "--sliding", "quantiles", "--column", "v", "--time", "t", stdin=b"")
        self.fails(2, "--by", "quantiles", "--column", "v", "--time", "t", "--by", "k", "--sliding", "5s", stdin=b"")


class Weights(Stream):
    """--weight: a value counts as often as another column says."""
    def test_as_that_many_values(self):
        chance = random.Random(17)
        rows = [(chance.randrange(200), chance.choice((0, 1, 2, 500))) for _ in range(3000)]
        text = ("v,w\n" + "".join(f"{v},{w}\n" for v, w in rows)).encode()
        everything = [v for v, w in rows for _ in range(w)]
        for tail in ([], ["--tail", "high"]):
            answer = self.report("quantiles", "--column", "v", "--weight", "w", "--eps", "0.01", "--stats", *tail,
                                 stdin=text)
            self.assertEqual(answer["n"], len(everything))
            self.assertAlmostEqual(answer["mean"], sum(everything) / len(everything))
            self.check_quantiles(answer, everything, 0.01)
        exact = collections.Counter(everything)
        for names in (["--type", "u32"], ["--names"]):
            answer = self.report("frequent", "--column", "v", "--weight", "w", "-k", "200", "--eps", "1e-6", *names,
                                 stdin=text)
            self.assertEqual(answer["n"], len(everything))
            self.assertEqual({int(row["value"]): row["estimate"] for row in answer["items"]}, dict(exact))
        self.fails(1, "is not a weight, which is a whole number up to 2^60", "quantiles", "--column", "v", "--weight",
                   "w",
                   stdin=b"v,w\n1,-2\n")
        for option in (["--sliding", "5"], ["--sliding", "5s"], ["--by", "k"]):
            self.fails(2, option[0], "frequent", "-k", "5", "--column", "v", "--weight", "w", *option, stdin=b"")
        self.fails(2, "--column", "quantiles", "--text", "--weight", "w", stdin=b"")


class Addresses(Stream):
    """hhh --hierarchy ipv6."""
    def test_prefixes(self):
        chance = random.Random(18)
        rows = [f"2001:db8:{chance.randrange(3)}::{chance.randrange(2 ** 16):x}"
                for _ in range(8000)] + ["fe80::1"] * 2000
        chance.shuffle(rows)
        saved = self.path("saved")
        text = "\n".join(rows).encode()
        result = run("hhh", "--hierarchy", "ipv6", "--support", "0.15", "--save", saved, "--json", stdin=text)
        answer = json.loads(result.stdout)
        found = {item["prefix"]: item for item in answer["items"]}
        self.assertEqual((answer["n"], set(found)),
                         (10_000, {"fe80::1/128", "2001:db8::/64", "2001:db8:1::/64", "2001:db8:2::/64"}))
        for i in range(3):
            exact = sum(row.startswith(f"2001:db8:{i}:") for row in rows)
            item = found["2001:db8::/64" if i == 0 else f"2001:db8:{i}::/64"]
            self.assertTrue(item["count"]["lower"] <= exact <= item["count"]["upper"], item)
        csv_rows = run("hhh", "--hierarchy", "ipv6", "--support", "0.15", "--json", "--column", "address",
                       stdin=b"n,address\n" + b"".join(b"%d,%s\n" % row for row in enumerate(text.split(b"\n"))))
        self.assertEqual(json.loads(csv_rows.stdout)["items"], answer["items"])
        merged = self.report("merge", saved, saved)["items"][0]
        self.assertTrue(merged["prefix"] == "fe80::1/128" and merged["lower"] <= 4000 <= merged["upper"], merged)
        self.assertEqual(len(self.report("merge", saved, "--all-prefixes", "--support", "0.9")["items"]), 1)
        for word in (b"10.0.0.1", b"2001:db8::1/64", b"1::2::3", b"5"):
            self.assertIn(b"is not an IPv6 address",
                          run("hhh", "--hierarchy", "ipv6", "--support", "0.1", stdin=word).stderr)
        for option in (["--type", "u32"], ["--raw"], ["--engine", "cpu"]):
            result = run("hhh", "--hierarchy", "ipv6", "--support", "0.1", *option, stdin=b"")
            self.assertEqual((result.returncode, b"does not go with" in result.stderr), (2, True))


class Words(Stream):
    """How numbers are written in options, and answers other than quantiles."""
    def test_fractions_and_counts(self):
        values = lines(range(1, 2001))
        asked = [q["phi"]
                 for q in self.answer("quantiles", "--text", "--phi", "99%,p99.9,0.5,p50", stdin=values)["quantiles"]]
        self.assertEqual(asked, [0.99, 0.999, 0.5, 0.5])
        for text in ("1000", "1k", "1e3", "1,000", "1.0k"):
            self.assertEqual(self.answer("quantiles", "--text", "--sliding", text, stdin=values)["window"], 1000)
        for text in ("1,00", "1,0000", ",100", "1.5", "1.0005k", "1e", "k", "1e30", "0k", "1 k"):
            self.fails(2, "not a whole number", "quantiles", "--text", "--sliding", text, stdin=values)
        for text in ("101%", "p101", "%", "p", "pp5", "5%%"):
            self.fails(2, "--phi", "quantiles", "--text", "--phi", text, stdin=values)
        self.assertEqual(self.answer("quantiles", "--text", "--eps", "1%", stdin=values)["eps"], 0.01)

    def test_eps_coarser_than_phi(self):
        result = run("quantiles", "--text", "--eps", "0.01", "--phi", "99.9%", stdin=lines(range(100)))
        self.assertIn(b"--eps 0.01 is coarser than the tail at --phi 0.999; take --eps 0.0001", result.stderr)
        for phi in ("0,1", "0.99", "0.5"):
            self.assertEqual(run("quantiles", "--text", "--eps", "0.01", "--phi", phi, stdin=lines(range(100))).stderr,
                             b"")

    def test_ranks(self):
        rows = self.answer("quantiles", "--text", "--rank", "0,10,10.5,1000", stdin=lines(range(1, 101)))["ranks"]
        self.assertEqual([(r["value"], r["lower"], r["estimate"], r["upper"]) for r in rows],
                         [(0, 0, 0, 0), (10, 10, 10, 10), (10.5, 10, 10, 10), (1000, 100, 100, 100)])
        rows = self.answer("quantiles", "--text", "--sliding", "10", "--rank", "95",
                           stdin=lines(range(1, 101)))["ranks"]
        self.assertEqual((rows[0]["lower"], rows[0]["upper"]), (5, 5))
        chance = random.Random(8)
        values = [chance.gauss(0, 1) for _ in range(300_000)]
        for row in self.answer("quantiles", "--text", "--eps", "0.01", "--rank", "-1,0,2",
                               stdin=lines(values))["ranks"]:
            exact = sum(v <= row["value"] for v in values)
            self.assertTrue(row["lower"] <= exact <= row["upper"] and abs(row["estimate"] - exact) <= 3000, row)
        self.fails(2, "'x' is not a number", "quantiles", "--text", "--rank", "x", stdin=b"")
        self.fails(2, "has no rank", "quantiles", "--text", "--rank", "nan", stdin=b"")

    def test_stats(self):
        chance = random.Random(9)
        values = [1e9 + chance.gauss(0, 1) for _ in range(200_000)] + [math.nan]
        answer = self.answer("quantiles", "--stats", stdin=raw(values, "f64"), *["--type", "f64"])
        numbers = values[:-1]
        self.assertEqual((answer["min"], answer["max"], answer["nans"]), (min(numbers), max(numbers), 1))
        self.assertAlmostEqual(answer["mean"], math.fsum(numbers) / len(numbers), places=5)
        mean = math.fsum(numbers) / len(numbers)
        self.assertAlmostEqual(answer["sd"],
                               math.sqrt(math.fsum((v - mean) ** 2 for v in numbers) / (len(numbers) - 1)), places=6)
        self.assertEqual(self.answer("quantiles", "--text", "--stats", stdin=b"5\n")["sd"], 0)
        self.assertNotIn("mean", self.answer("quantiles", "--text", "--stats", stdin=b""))
        self.fails(2, "--stats", "quantiles", "--stats", "--sliding", "5", stdin=b"")

    def test_histogram(self):
        bars = self.answer("quantiles", "--text", "--histogram", "4", stdin=lines([0, 1, 2, 3, 4, 5, 6, 7, 8]))["bars"]
        self.assertEqual([(b["from"], b["to"], b["estimate"]) for b in bars],
                         [(0, 2, 3), (2, 4, 2), (4, 6, 2), (6, 8, 2)])
        self.assertEqual([b["estimate"]
                          for b in self.answer("quantiles", "--text", "--histogram", "2", stdin=b"5\n5\n")["bars"]],
                         [2, 0])
        for more in (["--histogram"], ["--histogram", "--eps", "0.01"]):
            self.assertEqual(len(self.answer("quantiles", "--text", *more, stdin=lines(range(100)))["bars"]), 10)
        table = run("quantiles", "--text", "--histogram", "2", stdin=lines([0, 0, 0, 4])).stdout.decode()
        self.assertIn("#" * 50 + "\n", table)
        self.assertIn("#" * 17 + "\n", table)
        picture = self.path("picture.svg")
        for values, ticks in (([-300, -300, 100, 500], ["-300", "0", "500"]), ([7], ["7"]),
                              ([1e6 + 0.25, 1e6 + 0.5], ["1000000.3"])):
            self.answer("quantiles", "--text", "--histogram", "40", "--plot", picture, stdin=lines(values))
            drawn = xml.etree.ElementTree.parse(picture)
            texts = {element.text for element in drawn.iter() if element.tag.endswith("text")}
            self.assertLessEqual({*ticks, f"{len(values)} values"}, texts)
            (outline,) = [element for element in drawn.iter() if element.tag.endswith("polyline")]
            self.assertEqual(len(outline.get("points").split()), 82)
        self.fails(2, ".svg", "quantiles", "--text", "--histogram", "2", "--plot", "x.png", stdin=b"")
        self.fails(2, "--histogram", "quantiles", "--text", "--plot", picture, stdin=b"")
        self.fails(2, "--histogram", "quantiles", "--text", "--histogram", "2", "--phi", "0.5", stdin=b"")

    def test_most_frequent(self):
        chance = random.Random(10)
        values = [min(int(chance.paretovariate(1)), 5000) for _ in range(50_000)]
        counts = {value: values.count(value) for value in set(values)}
        best = sorted(counts, key=lambda value: -counts[value])[:5]
        answer = self.answer("frequent", "--text", "--type", "u32", "-k", "5", stdin=lines(values))
        self.assertEqual([item["value"] for item in answer["items"]], best)
        self.assertEqual((answer["k"], answer["eps"]), (5, 0.001))
        for item in answer["items"]:
            self.assertTrue(item["lower"] <= counts[item["value"]] <= item["upper"])
        sliding = self.answer("frequent", "--text", "--type", "u32", "-k", "2", "--sliding", "100",
                              stdin=lines([1] * 500 + [2] * 90 + [3] * 10))
        self.assertEqual([(i["value"], i["lower"]) for i in sliding["items"]], [(2, 90), (3, 10)])
        self.fails(2, "--support", "frequent", "--text", stdin=b"")
        self.fails(2, "-k", "frequent", "--text", "-k", "5", "--support", "0.1", stdin=b"")


class Looks(Stream):
    """Raw values are not read from input that clearly has another format."""
    VERBS = (["quantiles"], ["quantiles", "--sliding", "10"], ["frequent", "--support", "0.1"], ["sort"],
             ["hhh", "--support", "0.1", "--hierarchy", "8"], ["corrsum", "--agg", "min"],
             ["show", "quantiles", "-o", "-"])
    TEXTS = (b"1\n2\n", b"1,2\n3,4\r\n", lines(range(100000)), "ä\n".encode() * 10, b"12345678\n" * 3)
    FORMATS = {"gzip": gzip.compress(lines(range(1000))), "zstd": b"\x28\xb5\x2f\xfd" + bytes(100),
               "bzip2": bz2.compress(b"1\n"), "xz": lzma.compress(b"1\n"), "zip": b"PK\x03\x04" + bytes(100),
               "NumPy": b"\x93NUMPY\x01\x00" + bytes(120), "Parquet": b"PAR1\x15" + bytes(100)}

    def test_text_without_text(self):
        for verb in self.VERBS:
            for text in self.TEXTS:
                self.assertIn("--text", self.fails(1, "standard input looks like text", *verb, stdin=text))
            self.fails(1, "'" + self.path("text"), *verb, self.path("text", b"1\n2\n"))

    def test_packed_files(self):
        for verb in self.VERBS:
            for name, content in self.FORMATS.items():
                self.fails(1, f" {name} ", *verb, stdin=content)
                if name not in ("gzip", "zstd") or verb == ["sort"]:  # packed text is unpacked
                    self.fails(1, f" {name} ", *verb, "--text", stdin=content)
        self.assertEqual(run("quantiles", "--save", self.path("saved"), stdin=floats([1])).returncode, 0)
        for form in ([], ["--text"]):
            self.fails(1, "quadmill merge", "quantiles", *form, self.path("saved"))

    def test_not_one_good_line(self):
        bad, good = self.path("bad", b"pear\n\napple\n"), self.path("good", b"1\n2\n")
        out = self.path("out")
        for verb in (*self.VERBS, ("sketch", "build", "--width", "64", "-o", out)):
            words = self.fails(1, "no line is a value", *verb, "--text", "--skip-bad", bad)
            self.assertIn("line 1: 'pear'", words)
        self.fails(1, "no line is a value", "quantiles", "--save", out, "--text", "--skip-bad", bad)
        self.assertFalse(os.path.exists(out))
        answer = self.report("quantiles", "--text", "--skip-bad", bad, good)
        self.assertEqual((answer["n"], answer["skipped"]), (2, 3))
        self.assertEqual(self.answer("quantiles", "--text", "--skip-bad", stdin=b"")["n"], 0)

    def test_raw_takes_all(self):
        for content in [text[:len(text) // 4 * 4] for text in self.TEXTS] + [self.FORMATS["gzip"][:400]]:
            self.assertEqual(self.answer("quantiles", "--raw", "--type", "u32", stdin=content)["n"], len(content) // 4)
            self.assertEqual(len(run("sort", "--raw", "--type", "u32", stdin=content).stdout), len(content))
        self.fails(2, "--raw", "quantiles", "--raw", "--text")

    def test_values_are_no_text(self):
        chance = random.Random(11)
        for name in CODES:
            for n in (1, 2, 5, 100):
                values = [chance.randrange(2048) for _ in range(n)]
                self.assertEqual(self.answer("quantiles", "--type", name, stdin=raw(values, name))["n"], n)
        for _ in range(20):
            self.assertEqual(self.answer("quantiles", stdin=floats([chance.gauss(0, 1e3) for _ in range(50)]))["n"], 50)

    def test_pieces_of_text_are_refused_when_they_are_enough(self):
        process = self.start("quantiles", "--every", "1")
        for i in range(20):
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(b"%d\n" % (1000 + i))
                process.stdin.flush()
            time.sleep(0.01)
        self.assertEqual(process.wait(10), 1)
        self.assertIn(b"looks like text", process.stderr.read())


class ClosedFiles(Stream):
    def closed(self, redirection, *args, stdin=b""):
        return subprocess.run(["bash", "-c", f'"$@" {redirection}', "bash", QUADMILL, *args], input=stdin,
                              capture_output=True, timeout=60)

    def test_closed_input(self):
        for verb in Looks.VERBS + (["merge", "-"], ["query", "SELECT COUNT(*) FROM -"],
                                   ["query", "SELECT COUNT(*) FROM -", "--batch", "3"]):
            for form in ([], ["--text"]) if verb[0] not in ("merge", "query") else ([],):
                result = self.closed("<&-", *verb, *form)
                self.assertEqual((result.returncode, result.stdout), (1, b""), (verb, result.stderr))
                self.assertIn(b"standard input: it is closed", result.stderr)

    def test_closed_output(self):
        saved = self.path("saved")
        for verb in (*Looks.VERBS, ["info"], ["--help"], ["--version"], ["quantiles", "--save", saved],
                     ["quantiles", "--save", "-"], ["limits", "--side", "64", "--repeat", "1"]):
            for redirection in (">&-", "<&- >&-", ">&- 2>&1"):
                result = self.closed(redirection, *verb, stdin=floats([1, 2]))
                self.assertEqual(result.returncode, 1, verb)
                self.assertEqual(result.stdout, b"")
                if redirection == ">&-":
                    self.assertIn(b"standard output", result.stderr, verb)
        self.assertEqual(os.listdir(self.folder), [])
        data, out = self.path("data", floats([2, 1])), self.path("out")
        for redirection in (">&-", "<&- >&- 2>&-"):  # which are not needed
            self.assertEqual(self.closed(redirection, "sort", data, "-o", out).returncode, 0)
            self.assertEqual(self.read(out), floats([1, 2]))
            os.unlink(out)
        self.assertEqual(run("quantiles", data, "--save", saved).returncode, 0)
        self.assertEqual(self.closed(">&-", "merge", saved, "--save", out).returncode, 1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["data", "saved"])

    def test_closed_error(self):
        result = self.closed("2>&-", "quantiles", "--json", "--save", self.path("saved"), stdin=floats([1]))
        self.assertEqual((result.returncode, json.loads(result.stdout)["n"]), (0, 1))
        self.assertEqual(json.loads(run("merge", self.path("saved"), "--json").stdout)["n"], 1)
        self.assertEqual(self.closed("2>&-", "quantiles", "--frobnicate").returncode, 2)

    def test_a_full_device(self):
        for verb in (["info"], ["--help"], ["quantiles", "--text"], ["man"], ["completion", "bash"]):
            result = self.closed("> /dev/full", *verb, stdin=b"1\n")
            self.assertEqual(result.returncode, 1, verb)
            self.assertRegex(result.stderr, b"^quadmill: cannot write (all of )?standard output", verb)

    def test_the_summary_is_saved_when_the_answer_cannot_be_written(self):
        result = self.closed("> /dev/full", "quantiles", "--save", self.path("saved"), stdin=floats([1]))
        self.assertEqual(result.returncode, 1)
        self.assertEqual(json.loads(run("merge", self.path("saved"), "--json").stdout)["n"], 1)


class WrongCalls(Stream):
    def test_options(self):
        # A pipe that nobody writes to: the error is found before anything is read.
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, write_end)
        self.addCleanup(os.close, read_end)
        frequent, corrsum = ["frequent", "--support", "0.1"], ["corrsum", "--agg", "min"]
        hhh = ["hhh", "--support", "0.1", "--hierarchy", "ipv4-bytes"]
        for words, call in (
                ("'1.5' does not fit: give a number from 0 to 1", ["quantiles", "--phi", "0.5,1.5"]),
                ("'nan' does not fit: give a number from 0 to 1", ["quantiles", "--phi", "nan"]),
                ("'0.5,,1' has an empty part", ["quantiles", "--phi", "0.5,,1"]),
                ("'0.5,' has an empty part", ["quantiles", "--phi", "0.5,"]),
                ("has an empty part", ["quantiles", "--phi", ""]),
                ("--eps", ["quantiles", "--eps", "0"]), ("--eps", ["quantiles", "--eps", "0.6"]),
                ("not a whole number from 1", ["quantiles", "--n", "0"]),
                ("not a whole number from 1", ["quantiles", "--every", "0"]),
                ("not a whole number from 1", ["quantiles", "--sliding", "-5"]),
                ("goes with --sliding", ["quantiles", "--width", "5"]),
                ("at most the 10", ["quantiles", "--sliding", "10", "--width", "11"]),
                ("--n", ["quantiles", "--sliding", "10", "--n", "5"]),
                ("--window", ["quantiles", "--sliding", "10", "--window", "5"]),
                ("at least 1e-6", ["quantiles", "--sliding", "10", "--eps", "1e-8"]),
                ("not one of f16, f32", ["quantiles", "--type", "f31"]),
                ("not one of auto, cpu, pbsn, merge, bitonic, hybrid", ["quantiles", "--engine", "sort"]),
                ("not one of auto, windows, split", ["quantiles", "--channels", "three"]),
                ("not one of four, two", ["quantiles", "--channel-merge", "three"]),
                ("--threads", ["quantiles", "--threads", "-1"]),
                ("is empty", ["quantiles", "--save", ""]),
                ("--json writes", ["quantiles", "--save", "-", "--json"]),
                ("--every", ["quantiles", "--save", "-", "--every", "5"]),
                ("--support or -k is required", ["frequent"]),
                ("--support", ["frequent", "--support", "2"]),
                ("at least --eps", ["frequent", "--support", "0.01", "--eps", "0.02"]),
                ("not one of u32, u64", hhh + ["--type", "f32"]),
                ("--hierarchy is required", ["hhh", "--support", "0.1"]),
                ("goes with --type u32", hhh + ["--type", "u64"]),
                ("twice --eps", hhh + ["--eps", "0.1"]), ("at least 1e-6", hhh + ["--eps", "1e-7"]),
                ("quantile:P", ["corrsum", "--agg", "median"]), ("quantile:P", ["corrsum", "--agg", "quantile:2"]),
                ("--agg is required", ["corrsum"]), ("--scale", corrsum + ["--scale", "inf"]),
                ("--phi", frequent + ["--phi", "0.5"])):
            result = subprocess.run([QUADMILL, *call], stdin=read_end, capture_output=True, timeout=20)
            self.assertEqual((result.returncode, result.stdout), (2, b""), call)
            self.assertIn(words, result.stderr.decode(), call)
            self.assertIn(f"Try `quadmill {call[0]} --help`", result.stderr.decode())
        # This, too, is found before input is read.
        result = subprocess.run([QUADMILL, "quantiles", "--save", self.path("no/such")], stdin=read_end,
                                capture_output=True, timeout=20)
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertIn(b"No such file", result.stderr)
        for hierarchy in ("ipv4", "8,8", "16,8", "33", "-1", "", "8,", "a"):
            self.fails(2, "--hierarchy", "hhh", "--support", "0.1", "--hierarchy", hierarchy)

    def test_a_summary_is_not_written_to_a_terminal(self):
        master, slave = pty.openpty()
        result = subprocess.run([QUADMILL, "quantiles", "--save", "-"], input=b"", stdout=slave, stderr=subprocess.PIPE)
        os.close(slave)
        os.close(master)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"terminal", result.stderr)


if __name__ == "__main__":
    unittest.main()
