"""`quadmill sort --lines` as its users see it, compared with GNU sort and with Python's csv and sorted().

usage: sort_lines_test.py QUADMILL [--cases N] [--seed N] [unittest arguments]

--cases N compares N random files instead of the usual number, for use by hand.
"""
import array
import csv
import fcntl
import io
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import termios
import time
import unittest
from decimal import Decimal


def taken(option, usual):
    if option not in sys.argv:
        return usual
    index = sys.argv.index(option)
    value = int(sys.argv[index + 1])
    del sys.argv[index:index + 2]
    return value


CASES, SEED = taken("--cases", 250), taken("--seed", 1)

from command import QUADMILL, Command, run  # noqa: E402, which takes the first argument


def gnu_sort(*args, stdin=b"", status=0):
    """Its output, stable as `sort --lines` is."""
    done = subprocess.run(["sort", "-s", *args], input=stdin, capture_output=True,
                          env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
    assert done.returncode == status, done.stderr
    return done.stdout


class Lines(Command):
    def setUp(self):
        super().setUp()
        self.temp = self.path("temp")
        os.mkdir(self.temp)

    def sort(self, *args, **more):
        result = run("sort", "--temp", self.temp, *args, **more)
        self.assertEqual(result.returncode, 0, (args, result.stderr.decode()))
        self.assertEqual(os.listdir(self.temp), [])
        return result.stdout

    def sorts(self, expected, *args, **more):
        self.assertEqual(self.sort(*args, **more), expected, args)


class Random(Lines):
    """Random files, keys and options."""

    def number(self, chooser):
        digits = "".join(chooser.choice("0000123456789") for _ in range(chooser.choice([0, 1, 1, 2, 3, 5, 30])))
        fraction = "".join(chooser.choice("00019") for _ in range(chooser.choice([0, 0, 1, 2, 30])))
        return (chooser.choice(["", "", "-", " ", "+", " -"]) + digits + chooser.choice(["", ".", "."]) + fraction +
                chooser.choice(["", "", "", "", "K", "M", "G", "g", "e3", "e-2", "x"]))

    def field(self, chooser):
        return chooser.choice([
            lambda: self.number(chooser), lambda: str(chooser.randrange(20)), lambda: str(chooser.randrange(10**9)),
            lambda: "".join(chooser.choice("aAbB\x01\x7f\t_- .") for _ in range(chooser.randrange(6))),
            lambda: chooser.choice(["inf", "-inf", "0x1p3", "1e400", "1e-5000", "jan", "FEB", " Mar", ""]),
            lambda: chooser.choice("ab") * chooser.randrange(40)])()

    def text(self, chooser):
        separator = chooser.choice([" ", "  ", "\t", ",", ",", ";"])
        lines = [separator.join(self.field(chooser) for _ in range(chooser.randrange(5)))
                 for _ in range(chooser.choice([0, 1, 2, 5, 30, 200]))]
        if lines and chooser.random() < 0.3:
            lines += chooser.choices(lines, k=20)
        end = chooser.choice(["\n", "\n", "\n", "\0"])
        text = end.join(lines) + (end if chooser.random() < 0.8 else "")
        return text.encode("latin1").replace(b"\x7f", b"\xff"), separator.strip(" "), end

    def position(self, chooser, is_end):
        character = chooser.choice(["", "", "", "." + str(chooser.randrange(0 if is_end else 1, 4))])
        return str(chooser.randrange(1, 5)) + character

    def key(self, chooser):
        letters = chooser.choice(["", "n", "g", "h", "M", "f", "d", "i", "fd", "nr", "r", "gr", "b", "bn", "fr", "hr",
                                  "nf", "di",
                                 "fh"])
        if chooser.random() < 0.4:
            return self.position(chooser, False) + letters
        return (self.position(chooser, False) + chooser.choice(["", letters]) + "," + self.position(chooser, True) +
                letters)

    def options(self, chooser):
        options = []
        for _ in range(chooser.choice([0, 1, 1, 1, 2, 3])):
            options += chooser.choice([["-k", self.key(chooser)], ["-k" + self.key(chooser)]])
        options += chooser.choice([[], [], [], ["-n"], ["-r"], ["-nr"], ["-g"], ["-f"], ["-b"], ["-d"], ["-M"], ["-i"],
                                   ["-d", "-i"], ["-f", "--human-numeric-sort"]])
        options += chooser.choice([[], [], [], ["-u"]])
        return options

    def test_as_gnu_sort(self):
        folder = self.path("files")
        os.mkdir(folder)
        for case in range(CASES):
            chooser = random.Random(SEED * 1000003 + case)
            files, options = [], self.options(chooser)
            for i in range(chooser.choice([1, 1, 1, 2, 3])):
                text, separator, end = self.text(chooser)
                files.append(os.path.join(folder, str(i)))
                with open(files[-1], "wb") as file:
                    file.write(text)
            if separator and chooser.random() < 0.8:
                options += ["-t", separator]
            if end == "\0":
                options.append("-z")
            what = f"seed {SEED}, case {case}: {options}"
            done = subprocess.run(["sort", "-s", *options, *files], capture_output=True,
                                  env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
            result = run("sort", "--lines", *options, *files)
            if done.returncode == 2 and b"incompatible" in done.stderr:
                self.assertEqual(result.returncode, 2, what)
                continue
            self.assertEqual(done.returncode, 0, (what, done.stderr))
            self.assertEqual((result.returncode, result.stderr), (0, b""), what)
            self.assertEqual(result.stdout, done.stdout, what)
            if case % 4 != 0:
                continue
            checked = subprocess.run(["sort", "-s", "-c", *options, files[0]], capture_output=True,
                                     env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
            result = run("sort", "-c", *options, files[0])
            self.assertEqual(result.returncode, checked.returncode, what)
            if checked.returncode:
                place = re.search(rb":(\d+): disorder", checked.stderr)[1]
                self.assertIn(b":" + place + b": ", result.stderr, what)
            for file in files:
                subprocess.run(["sort", "-s", *options, file, "-o", file], check=True,
                               env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
            self.assertEqual(run("sort", "-m", *options, *files).stdout, done.stdout, what)

    def test_csv_as_python(self):
        for case in range(CASES // 5):
            chooser = random.Random(SEED * 1000003 + case)
            separator, end = chooser.choice(",;\t"), chooser.choice(["\n", "\r\n"])
            names = ["a", "b c", "d:n", "e\"f"]
            rows = [[chooser.choice([str(chooser.randrange(9)), "%.3f" % chooser.uniform(-9, 9), "x,y", "q\"r", "l\nm",
                                     ""])
                     for _ in names] for _ in range(chooser.choice([0, 1, 3, 40]))]

            def written(rows):
                out = io.StringIO()
                csv.writer(out, delimiter=separator, lineterminator=end).writerows(rows)
                return out.getvalue().encode()

            columns = chooser.sample(range(4), chooser.choice([1, 2]))
            letters = [chooser.choice(["", "n", "nr", "r"]) for _ in columns]
            options = [word for column, some in zip(columns, letters)
                       for word in ("--column", names[column] + (":" + some if some else ""))]

            def value(text, some):
                if "n" not in some:
                    return text.encode()
                return Decimal(re.match(r"-?\d*\.?\d*", text)[0].strip("-.") and re.match(r"-?\d*\.?\d*", text)[0] or 0)

            expected = list(rows)
            for column, some in reversed(list(zip(columns, letters))):
                # Equal rows stay in order, also with reverse.
                expected.sort(key=lambda row: value(row[column], some), reverse="r" in some)
            what = f"seed {SEED}, case {case}: {options}"
            file = self.path("rows.csv", written([names, *rows]))
            self.assertEqual(self.sort("-t", separator, *options, file), written([names, *expected]), what)


class Tasks(Lines):
    def test_more_than_memory(self):
        chooser = random.Random(7)
        text = b"".join(b"%d,%d,%s\n" % (i, chooser.randrange(10**chooser.randrange(1, 9)),
                                         b"x" * chooser.randrange(60))
                        for i in range(500000))
        source, out = self.path("in", text), self.path("out")
        sorted_by_gnu = {}
        for options in (["-t,", "-k2,2n"], ["-t,", "-k3,3", "-k2,2nr"], ["-t,", "-k3,3"], ["-r"],
                        ["-t,", "-k3,3", "-u"]):
            expected = sorted_by_gnu[tuple(options)] = gnu_sort(*options, source)
            for memory in ("384M", "40M"):
                result = run("sort", *options, source, "-o", out, "--memory", memory, "--temp", self.temp, "--stats")
                facts = json.loads(result.stderr)
                self.assertTrue(self.read(out) == expected, (options, memory))
                self.assertEqual(facts["lines"], 500000)
                self.assertEqual(facts["runs"] > 1, memory == "40M")
                self.assertLess(facts["peak_bytes"], int(memory[:-1]) << 20)
                self.assertEqual(os.listdir(self.temp), [])
        self.assertTrue(self.sort("-t,", "-k2,2n", "-", stdin=text) == sorted_by_gnu["-t,", "-k2,2n"])
        for options in (["-t,", "-k2,2n"], ["-t,", "-k3,3"]):
            for threads in ("4", "10"):
                for memory in ("40M", "256M"):
                    self.assertTrue(self.sort(*options, "--threads", threads, "--memory", memory, source) ==
                                    sorted_by_gnu[tuple(options)], (options, threads, memory))

    def test_quotes_with_several_threads(self):
        """Lines with quotes among lines without, which threads find."""
        chooser = random.Random(8)
        rows = [["a", "b"]] + [[str(chooser.randrange(10**6)),
                                chooser.choice(["x", "x", "x\n,y", "\"z"]) if 20000 < i < 30000 else "x"]
                               for i in range(60000)]
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(rows)
        expected = io.StringIO()
        csv.writer(expected, lineterminator="\n").writerows([rows[0]] + sorted(rows[1:], key=lambda row: int(row[0])))
        for threads in ("1", "8"):
            self.assertTrue(self.sort("--column", "a:n", "--threads", threads, stdin=out.getvalue().encode()) ==
                            expected.getvalue().encode(), threads)

    def test_headers_stay_on_top(self):
        text = b"name,price\nb,10\na,9\n"
        one, other = self.path("one.csv", text), self.path("other.csv", b"name,price\nc,1\n")
        self.sorts(b"name,price\na,9\nb,10\n", "--column", "price:n", one)
        self.sorts(b"name,price\nb,10\na,9\n", "--column", "price:nr", one)
        self.sorts(b"name,price\nc,1\na,9\nb,10\n", "--column", "price:n", one, other)
        self.sorts(b"name,price\nc,1\na,9\nb,10\n", "-m", "--column", "price:n", other,
                   self.path("3", b"name,price\na,9\nb,10\n"))
        self.sorts(b"name,price\na,9\nb,10\n", "--lines", "--header", "1", one)
        self.sorts(b"name,price\nb,10\na,9\n", "--column", "2", "--header", "1", one)
        self.sorts(b"a,9\nb,10\nname,price\n", "--lines", one)
        self.sorts(b"\xef\xbb\xbfk\n1\n2\n", "--column", "k", "-", stdin=b"\xef\xbb\xbfk\n2\n1\n")
        self.sorts(b"name,price\n", "--column", "price", "-", stdin=b"name,price")
        self.fails(1, "another header", "sort", "--column", "price", one, self.path("x", b"a,price\n1,2\n"))
        self.fails(1, "there is no column 'cost'; the columns are name, price", "sort", "--column", "cost", one)
        self.fails(1, "line 2 has a quote that is not closed", "sort", "--column", "price",
                   self.path("q", b"price\n\"1\n2\n"))

    def test_numbers_are_exact(self):
        long = [b"-1" + b"0" * 400, b"-10.5", b"-10.49", b"-0.0001", b"0", b"0." + b"0" * 80 + b"1", b"0.00001",
                b"9007199254740992",
                b"9007199254740993", b"9" * 70, b"9" * 70 + b".1", b"1" + b"0" * 70]
        shuffled = long[:]
        random.Random(3).shuffle(shuffled)
        self.sorts(b"\n".join(long) + b"\n", "-n", "-", stdin=b"\n".join(shuffled))
        self.sorts(b"\n".join(long[::-1]) + b"\n", "-nr", "-", stdin=b"\n".join(shuffled))
        self.sorts(b"0.1\n0.10\n.1\n3.50\n", "-n", "-", stdin=b"3.50\n0.1\n0.10\n.1")
        self.sorts(b"x\nnan\n-nan\n-inf\n-1e9\n2\n1e1\ninf\n", "-g", "-",
                   stdin=b"inf\n1e1\nnan\n2\n-1e9\n-nan\n-inf\nx\n")

    def test_letters_together_are_those_of_gnu_sort(self):
        tabs = b"b\ta\na\x01b\nab\na\tb\nb\x01\n"
        for letters in ("di", "id"):  # they are d: tabs count
            self.sorts(gnu_sort("-k1,2" + letters, "-t,", stdin=tabs), "-k1,2" + letters, "-t,", "-", stdin=tabs)
        self.sorts(gnu_sort("-d", "-i", stdin=tabs), "-d", "-i", "-", stdin=tabs)
        units = b"1e\n3k\n2g\n1M\n5\n"
        self.sorts(b"5\n3k\n1M\n2g\n1e\n", "-k1fh", "-", stdin=units)  # f: g is G, e is E
        self.sorts(gnu_sort("-k1fh", stdin=units), "-f", "--human-numeric-sort", "-", stdin=units)

    def test_min_memory_is_enough(self):
        data = b"".join(b"%d\n" % (i * 7919 % 300000) for i in range(300000))
        numbers = random.Random(6).randbytes(26 << 20)
        for what, options in ((data, ["-n"]), (data, ["--text"]), (numbers, [])):
            for memory in ("1M", "16M", "20M"):
                source, out = self.path("in", what), self.path("out")
                result = run("sort", *options, source, "-o", out, "--memory", memory, "--temp", self.temp)
                if result.returncode == 0:
                    continue
                self.assertEqual(result.returncode, 2, result.stderr)
                least = re.search(rb"--memory: must be at least (\d+)M", result.stderr)[1].decode()
                self.assertGreater(int(least), int(memory[:-1]))
                result = run("sort", *options, source, "-o", out, "--memory", least + "M", "--temp", self.temp)
                self.assertEqual((result.returncode, result.stderr), (0, b""))
                self.assertEqual(os.path.getsize(out), len(what))

    def test_check(self):
        good, bad = self.path("good", b"a\nb\nb\n"), self.path("bad", b"a\nc\nb\n")
        self.sorts(b"", "-c", good)
        self.sorts(b"", "-C", good)
        self.fails(1, "bad':3: out of order: 'b'", "sort", "-c", bad)
        self.fails(1, "good':3: the same key as in the line before: 'b'", "sort", "-cu", good)
        for option in ("-C", "--check=quiet", "--check=silent"):
            self.assertEqual(run("sort", option, bad).stderr, b"")
            self.assertEqual(run("sort", option, bad).returncode, 1)
        self.fails(1, "bad':3: out of order: 'b'", "sort", "--check=diagnose-first", bad)
        self.fails(2, "--check: writes nothing; it does not go with -o", "sort", "-c", good, "-o", self.path("out"))

    def test_in_place(self):
        file = self.path("f", b"b\na\n")
        self.sorts(b"", "--lines", file, "-o", file)
        self.assertEqual(self.read(file), b"a\nb\n")
        self.fails(1, "line 2 is out of order, so this file cannot be merged", "sort", "-m", self.path("x", b"b\na\n"),
                   "-o", file)
        self.assertEqual(self.read(file), b"a\nb\n")

    def test_what_a_user_of_gnu_sort_types(self):
        file = self.path("file.txt", b"b 10\na 9\nc 9\n" * 30)
        for options in (["-r"], ["-n"], ["-k2"], ["-k", "2n"], ["-k2,2nr"], ["-u"], ["-nrk2"], ["-t", " ", "-k2"],
                        ["-s", "-k2"],
                        ["-S", "64M", "-k2"], ["-T", "/tmp", "-k1"], ["-f"], ["--key=2"], ["--reverse"],
                        ["--buffer-size=64M", "-k1"], ["--field-separator= ", "--key=2", "--numeric-sort"],
                        ["-S", "50%", "-k1"],
                        ["--sort=numeric", "-k2"], ["--sort=general-numeric", "-k2"], ["--sort=human", "-k2"],
                        ["--sort", "month"],
                        ["--parallel=2", "-k1"], ["--temporary-directory=/tmp", "-k1"], ["--ignore-case"],
                        ["--zero-terminated"],
                        ["--unique", "--ignore-leading-blanks"], ["-z"]):
            result = run("sort", *options, file)
            self.assertEqual((result.stdout, result.stderr), (gnu_sort(*options, file), b""), options)
        out = self.path("out")
        self.sorts(b"", "-k2n", file, "--output=" + out)
        self.assertEqual(self.read(out), gnu_sort("-k2n", file))
        self.fails(1, "`quadmill sort --lines` sorts lines of text", "sort", file)
        self.fails(1, "`quadmill sort --lines` sorts lines of text", "sort", "--text", file)
        self.assertEqual(run("sort", "--text", "-rn", "-", stdin=b"1\n10\n9\n").stdout, b"10\n9\n1\n")
        for words, options in (("`shuf`", ["-R"]), ("`shuf`", ["--sort=random"]), ("`shuf`", ["-k1R"]),
                               ("`shuf`", ["--random-source=x"]),
                               ("-k1,1n -k2,2n", ["-V"]), ("-k1,1n -k2,2n", ["--version-sort"]),
                               ("-k1,1n -k2,2n", ["-k1V"]),
                               ("-k1,1n -k2,2n", ["--sort=version"]), ("the words are numeric", ["--sort=size"]),
                               ("`cut`", ["--debug"]), ("--memory SIZE", ["--batch-size=16"]),
                               ("--temp DIR", ["--compress-program=gzip"]),
                               ("`quadmill --version`", ["--version"]), ("is not a share", ["-S", "101%"]),
                               ("is not a share", ["-S", "%"]),
                               ("is not quiet", ["--check=loud"]),
                               ("goes with --text or lines", ["--header", "1"]),
                               ("sorts numbers, not lines", ["-k1", "--top", "3"]),
                               ("sorts lines, without", ["--text", "-u"]), ("only --lines sorts several", [file]),
                               ("the letters gn", ["-k1gn"]), ("is not a letter", ["-k1x"]), ("less than 1", ["-k0"]),
                               ("less than 1", ["-k1.0"]), ("a begin and an end", ["-k1,2,3"]),
                               ("do not go with n", ["-k1nd"]),
                               ("must be one character", ["-t", "ab", "-k1"]), ("takes one file", ["-c", file]),
                               ("at least", ["-k1", "-S", "1M"]), ("excludes", ["-k1", "--column", "1"])):
            self.fails(2, words, "sort", *options, file)

    def test_names_of_inputs_in_a_file(self):
        """More files than a program may have open."""
        files = [self.path(str(i), b"k\n%d\n" % (i * 7919 % 1000)) for i in range(300)]
        names = self.path("names", "\0".join(files).encode())
        expected = b"k\n" + b"".join(b"%d\n" % i for i in sorted(i * 7919 % 1000 for i in range(300)))
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        few = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, limits[1]))}
        self.sorts(expected, "--column", "k:n", "--files0-from", names, **few)
        self.sorts(expected, "--column", "k:n", "--files0-from=-", stdin=self.read(names) + b"\0", **few)
        self.sorts(expected, "-m", "--column", "k:n", "--files0-from", names)
        self.fails(2, "excludes", "sort", "--files0-from", names, files[0])
        self.fails(1, "No such file", "sort", "--files0-from", self.path("none"))
        self.fails(1, "No such file", "sort", "--files0-from", self.path("bad", b"none\0"))
        self.fails(1, "name 2 is empty", "sort", "--files0-from", self.path("bad", b"none\0\0"))
        self.fails(1, "has no names", "sort", "--files0-from", self.path("bad", b""))
        self.fails(2, "can be read once", "sort", "--files0-from=-", stdin=b"-\0")

    def test_long_lines(self):
        text = b"b\n" + b"a" * (1 << 20) + b"\nc\n"
        words = self.fails(1, "line 2 ", "sort", "-r", self.path("f", text), "--memory", "40M")
        self.sorts(b"c\nb\n" + b"a" * (1 << 20) + b"\n", "-r", self.path("f"), "--memory", "256M")
        among = self.path("among", b"b\n" * 20000 + b"a" * (600 << 10) + b"\n" + b"c\n" * 20000)
        for threads in ("1", "6"):
            self.fails(1, "line 20001 ", "sort", "-r", among, "--memory", "24M", "--threads", threads)
        self.assertIn("memory", words)

    def test_long_keys_that_begin_alike(self):
        chooser = random.Random(11)
        lines = [b"a" * (400000 + chooser.randrange(6)) + chooser.choice([b"", b"a", b"b", b"\xff\0"]) + b"\n"
                 for _ in range(80)]
        file = self.path("alike", b"".join(lines))
        for threads in ("1", "6"):
            for options in (["-k1"], ["-r"]):
                result = run("sort", *options, file, "--memory", "40M", "--threads", threads, "--temp", self.temp,
                             "--stats")
                self.assertTrue(result.stdout == gnu_sort(*options, file), (options, threads))
                self.assertGreater(json.loads(result.stderr)["runs"], 1)

    def test_short_lines_in_little_memory(self):
        for options in (["-r"], ["-n"], ["-u"]):
            for line in (b"\n", b"1\n"):
                file = self.path("short", line * 500000 + b"2\n")
                for threads in ("1", "6"):
                    self.assertTrue(self.sort("--lines", *options, file, "--memory", "24M", "--threads", threads) ==
                                    gnu_sort(*options, file), (options, line, threads))

    def test_errors_name_the_line(self):
        """In each block of the input, which threads take apart, and in each of several inputs."""
        def end_of_line(text, end):
            return text.replace(b"\n", end)

        first = self.path("first", b"b\n" * 300000)
        for threads in ("1", "6"):
            for before in (0, 1, 70000, 700000, 1400001):
                for end, options in ((b"\n", ["-r"]), (b"\0", ["-rz"])):
                    bad = self.path("bad", end_of_line(b"b\n" * before + b"a" * (600 << 10) + b"\nc\n", end))
                    for others in ([], [first if end == b"\n" else self.path("zero", b"b\0" * 300000)]):
                        self.fails(1, f"bad': line {before + 1} ", "sort", *options, *others, bad, "--memory", "32M",
                                   "--threads", threads)
            # A quoted field with an end of a line; lines with quotes among others; a quote that stays open.
            for before in (0, 1, 50000, 200000, 400000):
                rows = b"1,x\n" * before + b"2,\"x\ny\"\n" + b"1,x\n" * (before // 2) + b"3,\"z\n"
                bad = self.path("bad.csv", b"a,b\n" + rows)
                self.fails(1, f"bad.csv': line {rows.count(10) + 1} has a quote that is not closed", "sort", "--column",
                           "a:n",
                           bad, "--memory", "40M", "--threads", threads)


class Faults(Lines):
    def lines(self, n):
        chooser = random.Random(9)
        return b"".join(b"%d %090x\n" % (chooser.randrange(10**9), chooser.getrandbits(360)) for _ in range(n))

    def numbers(self, n):
        return "\n".join(map(str, array.array("I", random.Random(10).randbytes(4 * n)))).encode() + b"\n"

    def kill_at_any_moment(self, times, data, expected, *options):
        """The input stays, the output is whole or what it was, and nothing else stays."""
        source, out = self.path("in", data), self.path("out")
        command = [QUADMILL, "sort", *options, source, "-o", out, "--temp", self.temp, "--memory", "40M"]
        began = time.monotonic()
        self.assertEqual(subprocess.run(command).returncode, 0)
        whole = time.monotonic() - began
        self.assertTrue(self.read(out) == expected)
        chooser, killed = random.Random(5), 0
        for _ in range(times):
            self.path("out", b"old")
            process = subprocess.Popen(command)
            time.sleep(chooser.uniform(0, whole))
            process.kill()
            killed += process.wait() == -signal.SIGKILL
            self.assertEqual(os.listdir(self.temp), [])
            self.assertIn(self.read(out), (b"old", expected))
        self.assertGreaterEqual(killed, times // 4)
        self.assertTrue(self.read(source) == data)
        self.assertEqual(sorted(os.listdir(self.folder)), ["in", "out", "temp"])

    def test_killed_at_any_moment(self):
        data = self.lines(200000)
        self.kill_at_any_moment(15, data, gnu_sort("-k1,1n", stdin=data), "-k1,1n")

    def test_numbers_killed_at_any_moment(self):
        for data, options in ((self.numbers(900000), ["--text"]), (random.Random(3).randbytes(26 << 20), [])):
            in_memory = run("sort", *options, "--memory", "1G", stdin=data)
            self.kill_at_any_moment(4, data, in_memory.stdout, *options)

    def test_a_full_disk(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        raw = random.Random(4).randbytes(26 << 20)
        for data, options in ((self.lines(200000), ("-k1,1n",)), (self.numbers(900000), ("--text",)), (raw, ())):
            source, out = self.path("in", data), self.path("out", b"old")
            for memory in ("40M", "256M"):
                result = run("sort", *options, source, "-o", out, "--memory", memory, "--temp", self.temp,
                             preexec_fn=small_files)
                self.assertEqual(result.returncode, 1)
                self.assertIn(b"File too large", result.stderr)
                self.assertEqual(self.read(out), b"old")
                self.assertTrue(self.read(source) == data)
                self.assertEqual(sorted(os.listdir(self.folder)), ["in", "out", "temp"])
                self.assertEqual(os.listdir(self.temp), [])
            for memory in ("40M", "256M"):
                self.fails(1, "No space left", "sort", *options, source, "-o", "/dev/full", "--memory", memory)
            self.fails(1, "gone'", "sort", *options, source, "-o", out, "--memory", "40M", "--temp", self.path("gone"))
        self.fails(1, "No such file", "sort", "-n", self.path("none"))

    def test_signals(self):
        for options in (["-n"], ["-m"], ["-c"]):
            process = subprocess.Popen([QUADMILL, "sort", *options, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            process.stdin.write(b"1\n")
            process.stdin.flush()
            unread = array.array("i", [1])
            while unread[0] > 0:
                fcntl.ioctl(process.stdin, termios.FIONREAD, unread)
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=20), 130)
            self.assertEqual((process.stdout.read(), process.stderr.read()), (b"", b""))
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()


if __name__ == "__main__":
    unittest.main()
