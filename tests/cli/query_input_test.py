"""Tests of the input of `quadmill query`: CSV of all shapes, and batches.

usage: query_input_test.py QUADMILL [unittest arguments]
"""
import filecmp
import gzip
import json
import math
import os
import pty
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib
import unittest

from command import QUADMILL, floats, npy, run

from query_command import Query, csv_of


class Csv(Query):
    def rows_of(self, content):
        self.path("t.csv", content)
        return self.rows("SELECT * FROM t.csv")

    def test_forms(self):
        wanted = [[1, "x"], [None, 'y "z"'], [3, "u\nv"]]
        for end in ("\n", "\r\n", "\r"):
            text = end.join(['a,b', '1,x', ',"y ""z"""', '"3","u\nv"'])
            for mark in (b"", b"\xef\xbb\xbf"):
                for tail in ("", end, end * 3):
                    self.path("f.csv", mark + (text + tail).encode())
                    self.assertEqual(self.rows("SELECT * FROM f.csv"), wanted)
                    self.assertEqual(self.rows("SELECT * FROM -", stdin=mark + (text + tail).encode()), wanted)
        self.path("f.csv", b'\xef\xbb\xbf"a" , "b"\n1,2\n'.replace(b'" , "', b'","'))
        self.assertEqual(self.answer("SELECT * FROM f.csv")["columns"], ["a", "b"])
        self.path("f.tsv", b"a\tb\n1\tx,y\n")
        self.assertEqual(self.rows("SELECT * FROM f.tsv", "--delimiter", "tab"), [[1, "x,y"]])
        self.assertEqual(self.output("SELECT * FROM f.tsv", "--delimiter", "\\t"), b"a\tb\n1\tx,y\n")
        self.path("my file.csv", b"a b,\"c,d\"\n1,2\n")
        self.assertEqual(self.rows("SELECT \"a b\", f.\"c,d\" FROM 'my file.csv' AS f"), [[1, 2]])

    def test_types(self):
        self.assertEqual(self.rows_of(b"a,b,c,d,e\n1,1.5,x,,007\n-2,2e3,1,,+8\n"),
                         [[1, 1.5, "x", None, "007"], [-2, 2000, "1", None, "+8"]])
        self.assertEqual(self.rows_of(b"a\n1\nx\n02\n"), [["1"], ["x"], ["02"]])
        self.assertEqual(self.rows_of(b"a,b\n 1 , x\n\" 2\",y \n"), [[1, " x"], [2, "y "]])
        self.assertEqual(self.rows_of(b"a,b,c\n1,\"\",\"\"\n\"\",x,\"\"\n"), [[1, "", ""], [None, "x", ""]])
        self.assertEqual(self.rows_of(b"a,b\ninf,nan\n-Infinity,1\n"), [["inf", "nan"], ["-inf", 1]])
        self.assertEqual(self.rows_of(b"a\n0x10\n"), [["0x10"]])
        for numbers in ([2147483647, -2147483648], [2147483648, 0], [4294967295], [4294967296], [-1, 4294967295],
                        [9223372036854775807, -9223372036854775808], [0.1, 16777217.0], [0.5, 1e300, 5e-324]):
            self.assertEqual(self.rows_of(csv_of(["a"], [[n] for n in numbers])), [[n] for n in numbers])
            self.assertEqual(self.value("SELECT MAX(a) FROM t.csv"), max(numbers))
        self.assertEqual(self.rows_of(b"a,b,c,d\n-9223372036854775809,01234,-0.5,-01\n1,1234,0,2\n"),
                         [["-9223372036854775809", "01234", -0.5, "-01"], ["1", "1234", 0, "2"]])
        self.assertEqual(self.rows_of(b"a\n1e-999\n-1e999\n"), [["1e-999"], ["-1e999"]])

    def test_codes_are_text(self):
        """Numbers that could not be printed as they were written: article codes with an E in them."""
        codes = ["12E12", "101E010031", "102E010031", "1E05", "10e3", "9E999", "0E1"]
        self.assertEqual(self.rows_of(csv_of(["a"], [[code] for code in codes])), [[code] for code in codes])
        counts = [[code, 1] for code in codes]
        self.assertEqual(sorted(self.rows("SELECT a, COUNT(*) FROM t.csv GROUP BY a")), sorted(counts))
        self.path("c.csv", b"a,b\n1,12E12\n2,5\n")
        self.refuses(2, "b is text (line 2 has '12E12')", "SELECT SUM(b) FROM c.csv")
        for number in ("1e5", "1.25E12", "12e+12", "12E-3", "1E5"):
            self.assertEqual(self.rows_of(csv_of(["a"], [[number], ["0.5"]])), [[float(number)], [0.5]])

    def test_exponents_without_a_point_are_text(self):
        """1e5 and 100000 may be two ids. A number with a point in any part of the file makes the column floats."""
        ids = ["1e5", "7", "100000", "2e3"]
        self.path("i.csv", csv_of(["id"], [[one] for one in ids]))
        self.assertEqual(sorted(self.rows("SELECT id, COUNT(*) FROM i.csv GROUP BY id")),
                         [[one, 1] for one in sorted(ids)])
        self.assertEqual(self.rows("SELECT id FROM i.csv LIMIT 9"), [[one] for one in ids])
        self.refuses(2, "id is text (line 2 has '1e5', and no number has a point)", "SELECT SUM(id) FROM i.csv")
        said = run("query", "SELECT MAX(id) FROM i.csv", "--csv", cwd=self.folder)
        self.assertIn(b"most values are numbers: line 2 has '1e5', and no number has a point", said.stderr)
        self.assertEqual(self.rows("SELECT SUM(id) FROM i.csv", "--types", "id:f64"), [[202007]])
        self.assertEqual(self.rows("SELECT id FROM - WHERE id = '1e5'", "--batch", "9", stdin=b"id\n1e5\n100000\n"),
                         [["1e5"]])
        self.assertEqual(self.rows("SELECT SUM(a) FROM -", "--batch", "9", stdin=b"a\n1e5\ninf\n"), [["inf"]])
        said = run("query", "SELECT a FROM -", "--batch", "1", stdin=b"a\n7\n1e5\n")
        self.assertEqual((said.returncode, said.stdout), (1, b"a\n7\n"))
        self.assertIn(b"'1e5' is not an integer, as all earlier values of column 'a' are", said.stderr)
        many = [["1e5", i] for i in range(250000)]  # several blocks
        for last, found in (("0.5", 0.5), ("7", "1e5")):
            self.path("m.csv", csv_of(["a", "i"], [*many, [last, -1]]))
            for limit in ("", " LIMIT 1"):  # in memory, and from parts
                self.assertEqual(self.rows(f"SELECT a FROM m.csv ORDER BY a, i{limit or ' LIMIT 100000'}")[0], [found])
            self.assertEqual(self.rows("SELECT a FROM m.csv ORDER BY i LIMIT 2"),
                             [[0.5 if last == "0.5" else "7"], [1e5 if last == "0.5" else "1e5"]])

    def test_digits_that_a_double_has_not_are_text(self):
        for odd, reason in (("123456789012345678.99", "which a double would round"),
                            ("9007199254740993", "which a double would round"),
                            (str(2**64 + 1), "which a double would round"),
                            (str(2**128 - 1), "which is beyond 128 bits")):
            for texts in ([odd, "1.25"], ["1.25", odd]):
                self.assertEqual(self.rows_of(csv_of(["a"], [[text] for text in texts])), [[text] for text in texts])
                self.refuses(2, f"has '{odd}', {reason}", "SELECT SUM(a) FROM t.csv")
                self.assertEqual(self.value("SELECT SUM(a) FROM t.csv", "--types", "a:f64"), float(odd) + 1.25)
        chance = random.Random(7)
        numbers = [chance.uniform(-1, 1) * 10 ** chance.randrange(-30, 30) for _ in range(3000)] + [0.5]
        for form in ("%r", "%.17g", "%.18e", "%.25f", "%.16g", "%.3f"):  # what programs print of doubles
            words = [form % number for number in numbers]
            self.assertEqual(self.rows_of(csv_of(["a"], [[word] for word in words])), [[float(word)] for word in words])
        self.assertEqual(self.rows_of(b"a\n1.5000000000000000000000\n1000000000000000000\n"), [[1.5], [1e18]])
        self.path("b.csv", b"a\n0.5\n9007199254740993\n")
        self.assertIn(b"column a is text (line 3 has '9007199254740993', which a double would round)\n",
                      self.output("SELECT a FROM b.csv", "--explain"))
        self.path("w.csv", f"b\n{2**128 - 1}\n9\n".encode())
        said = run("query", "SELECT MAX(b) FROM w.csv", "--csv", cwd=self.folder)
        self.assertIn(b"MAX(b) compares texts, although most values are numbers", said.stderr)
        self.refuses(2, "an integer is from -2^127 to 2^127-1", f"SELECT b FROM w.csv WHERE b > {2**128 - 1}")

    def test_integers_that_meet_fractions(self):
        """They are never rounded silently, in the select list as in WHERE."""
        self.path("k.csv", b"k,n\n9007199254740993,1\n5,2\n,3\n")
        for sum_ in ("k + 0.5", "k / 1", "k * 0.5", "0.5 - k", "1.5 % k", "SUM(k) / 2"):
            self.refuses(1, "meets a fraction, and a double would round it", f"SELECT {sum_} FROM k.csv WHERE n = 1")
            self.refuses(1, "meets a fraction, and a double would round it",
                         f"SELECT n FROM k.csv GROUP BY n HAVING SUM(k) / 1 > 0")
        self.assertEqual(self.rows("SELECT k + 0.5, k / 2 FROM k.csv WHERE n > 1"), [[5.5, 2.5], [None, None]])
        self.assertEqual(self.rows("SELECT k + n, MEDIAN(k), AVG(k) FROM k.csv WHERE n = 1 GROUP BY k, n"),
                         [[9007199254740994, 9007199254740992.0, 9007199254740992.0]])
        self.assertEqual(self.rows("SELECT k / 1 FROM k.csv WHERE n = 1", "--types", "k:f64"), [[9007199254740992.0]])

    def test_messages_name_no_functions(self):
        big = 2**63 - 1
        self.path("big.csv", f"a\n{big}\n{big}\n{big}\n".encode())
        result = run("query", "SELECT SUM(a) FROM big.csv WHERE a + 0.5 > 3", cwd=self.folder)
        self.assertNotEqual(result.returncode, 0)
        self.assertNotIn("::", result.stderr.decode())
        self.assertIn("cannot be computed", result.stderr.decode())

    def test_exact_comparisons(self):
        self.path("t.csv", b"f,i\n0.1,9007199254740993\n0.5,9007199254740992\n")
        self.assertEqual(self.value("SELECT COUNT(*) FROM t.csv WHERE f = 0.1"), 1)
        self.assertEqual(self.value("SELECT COUNT(*) FROM t.csv WHERE i = 9007199254740993"), 1)
        self.assertEqual(self.value("SELECT COUNT(*) FROM t.csv WHERE i > 9007199254740992.0"), 1)

    def test_arithmetic_as_it_is_written(self):
        """For floats as in IEEE 754, for integers exact, with every engine."""
        self.path("f.csv", b"x,y\n0.1,0.2\n0.7,0.1\n")
        self.path("i.csv", b"a,b\n9007199254740992,1\n9223372036854775807,9223372036854775807\n")
        floats = ("x + 0.4 = 0.5", "x + y = 0.3", "x + y > 0.3", "x + 0.1 < 0.8", "3 * x = 0.3", "3 * x > 0.3",
                  "x - 0.1 = 0", "x + 0.4 - 0.4 = x", "1e400 - x > x", "0.5 - x = 0.4", "-x < -0.1", "x * -2 > -1.5",
                  "(x + y) * 10 = 3", "x - 0.2 - y < 0", "0.1 * 3 = x + 0.2")
        integers = ("a + b > 9007199254740992", "a + b = 9007199254740993", "a + b = 18446744073709551614",
                    "a + b < 18446744073709551615", "a + 1 = 9007199254740993", "a + 1 > 9223372036854775807",
                    "-a < -9223372036854775806", "4 * a - 3 * b > a", "a - b = 0",
                    "9007199254740993 * a > 9007199254740993 * 9007199254740992", "a < 9223372036854775808",
                    "a > 9223372036854775809", "a >= 9223372036854775806.0", "a * 1152921504606846976 - b > 0")
        tables = {"f": (floats, [(0.1, 0.2), (0.7, 0.1)], "xy"),
                  "i": (integers, [(2**53, 1), (2**63 - 1, 2**63 - 1)], "ab")}
        for table, (conditions, rows, names) in tables.items():
            for condition in conditions:
                # Python computes integers exactly, floats in doubles, and compares the two exactly.
                code = re.sub(" = ", " == ", condition).replace("1e400", "math.inf")
                count = sum(eval(code, {"math": math}, dict(zip(names, row))) for row in rows)
                for engine in ("cpu", "bitmap", "depth"):
                    with self.subTest(condition, engine=engine):
                        self.assertEqual(self.value(f"SELECT COUNT(*) FROM {table}.csv WHERE {condition}",
                                                    "--engine", engine), count)
        self.refuses(1, "integers in it meet fractions", "SELECT a FROM i.csv WHERE a + b > 0.5")
        self.path("o.csv", b"f\n9223372036854775808.0\n0.5\n")
        self.assertEqual(self.value("SELECT COUNT(*) FROM o.csv WHERE f = 9223372036854775809"), 0)
        self.assertEqual(self.value("SELECT COUNT(*) FROM o.csv WHERE f < 9223372036854775809"), 2)

    def test_a_quoted_number_is_a_number_beside_numbers(self):
        self.path("q.csv", b"a,b\n9,0.5\n10,1e2\n,\n")
        for condition, found in (("a > '5'", [[9], [10]]), ("'9.5' > a", [[9]]), ("a IN ('10', ' 7')", [[10]]),
                                 ("a BETWEEN '9' AND '09'", [[9]]), ("b = '100'", [[10]]), ("NOT a = '9'", [[10]])):
            self.assertEqual(self.rows(f"SELECT a FROM q.csv WHERE {condition}"), found, condition)
        self.assertEqual(self.rows("SELECT x.a FROM q.csv AS x JOIN q.csv AS y ON x.a = y.a WHERE y.b < '1'"), [[9]])

    PACKED = b"a,b\n" + b"".join(b"%d,text %d\n" % (i, i % 7) for i in range(30000))

    def packed(self):
        yield "gz", gzip.compress(self.PACKED)
        middle = len(self.PACKED) // 2
        two = gzip.compress(self.PACKED[:middle]) + gzip.compress(self.PACKED[middle:])
        yield "gz of two members", two + bytes(512)
        if shutil.which("zstd"):
            zstd = lambda data: subprocess.run(["zstd", "-c"], input=data, capture_output=True, check=True).stdout
            yield "zst", zstd(self.PACKED)
            yield "zst of two frames", zstd(self.PACKED[:middle]) + zstd(self.PACKED[middle:])

    def test_packed(self):
        query = "SELECT COUNT(*), SUM(a), MAX(b) FROM "
        expected = [[30000, sum(range(30000)), "text 6"]]
        kinds = set()
        for kind, data in self.packed():
            with self.subTest(kind):
                kinds.add(kind)
                self.path("p.csv", data)
                self.assertEqual(self.rows(query + "p.csv"), expected)
                self.assertEqual(self.rows(query + "-", stdin=data), expected)
                self.assertEqual(self.rows(query + "-", "--batch", "100000", stdin=data), expected)
                for cut in (len(data) // 2, len(data) // 3, 20):
                    self.path("cut.csv", data[:cut])
                    if kind != "zst of two frames":
                        self.refuses(1, "'cut.csv' is truncated: it ends within the compressed data", query + "cut.csv")
                    result = run("query", query + "-", "--batch", "100000", stdin=data[:len(data) // 3])
                    self.assertEqual(result.returncode, 1)
                    self.assertIn(b"standard input is truncated", result.stderr)
                damaged = bytearray(data)
                damaged[len(data) // 3] ^= 0x55
                self.path("damaged.csv", bytes(damaged))
                self.refuses(1, "'damaged.csv' ", query + "damaged.csv")
        self.assertIn("gz", kinds)
        self.path("g.csv", gzip.compress(self.PACKED) + b"garbage")
        self.refuses(1, "is damaged", query + "g.csv")
        self.path("g.csv", gzip.compress(gzip.compress(self.PACKED)))
        self.refuses(1, "it looks like a gzip file; it is packed more than once", query + "g.csv")

    def test_what_is_no_text(self):
        local = struct.pack("<4s22xHH", b"PK\x03\x04", 19, 0)
        for content, words in (
                (local + b"[Content_Types].xml" + bytes(40), "an Excel workbook"), (local + b"x.csv", "a zip archive"),
                (b"PAR1\x15\x04\x15", "a Parquet file"), (b"SQLite format 3\0\x10", "an SQLite database"),
                (b"\xfd7zXZ\0\0", "an xz file"), (b"BZh91AY&SY", "a bzip2 file"),
                (npy("'<i8'", (1,), bytes(8)), "a NumPy file"),
                ("a,b\n1,2\n".encode("utf-16-le"), "UTF-16 without a mark"),
                (b"a\0\1\2\n" * 9, "binary data: it has zero bytes; raw values are read if the name ends in .f16, "
                                        ".f32"),
                ("a,b\n1,2\n".encode("utf-32"), "binary data")):
            with self.subTest(words):
                self.path("x.csv", content)
                self.refuses(1, f"'x.csv' is not text; it looks like {words}", "SELECT * FROM x.csv")
                self.refuses(1, f"standard input is not text; it looks like {words}", "SELECT * FROM -", "--batch", "5",
                             stdin=content)
                self.path("x.csv", gzip.compress(content))
                self.refuses(1, f"it looks like {words}", "SELECT * FROM x.csv")
        self.path("l.csv", "a,b\nPAR1,größer\n".encode("latin-1"))
        self.assertEqual(self.value("SELECT COUNT(*) FROM l.csv"), 1)

    def test_control_characters_do_not_reach_a_terminal(self):
        content = b"a\x1b[31m,b\n1,x\x1b]0;title\x07\xc2\x9b1m\n"
        self.path("e.csv", content)
        main, side = pty.openpty()
        with subprocess.Popen([QUADMILL, "query", "SELECT * FROM e.csv"], cwd=self.folder, stdout=side) as process:
            self.assertEqual(process.wait(20), 0)
        os.close(side)
        shown = os.read(main, 4096)
        os.close(main)
        self.assertEqual(shown, b"a\\x1b[31m  b\r\n        1  x\\x1b]0;title\\x07\\x9b1m\r\n")
        self.assertEqual(self.output("SELECT * FROM e.csv"), content)
        for query in ("SELECT c FROM e.csv", "SELECT SUM(b) FROM e.csv", "SELECT a\x1b FROM 'e\x1b.csv'",
                      "SELECT \"a\x1b[31m\", COUNT(*) FROM e.csv"):
            result = run("query", query, cwd=self.folder)
            self.assertNotEqual(result.returncode, 0)
            self.assertNotIn(b"\x1b", result.stderr)
        result = run("query", "SELECT \"a\x1b[31m\" FROM e.csv", "--profile", cwd=self.folder)
        self.assertNotIn(b"\x1b", result.stderr)

    def test_many_columns(self):
        """No work per pair of columns: four times the columns take at most about eight times the CPU time."""
        def seconds(n):
            self.path("w.csv", csv_of([f"column {i}" for i in range(n)], [list(range(n)), [0.5] * n]))
            begin = os.times()
            out = self.output("SELECT * FROM w.csv")
            end = os.times()
            taken = end.children_user + end.children_system - begin.children_user - begin.children_system
            self.assertEqual(out, self.read(self.path("w.csv")))
            return taken
        few = min(seconds(5000) for _ in range(3))
        self.assertLess(min(seconds(20000) for _ in range(3)), 10 * few + 0.5)

    def test_empty_and_blank(self):
        self.path("e.csv", b"a,b\n")
        self.assertEqual(self.rows("SELECT COUNT(*), SUM(a) FROM e.csv"), [[0, None]])
        self.assertEqual(self.output("SELECT * FROM e.csv"), b"a,b\n")
        self.path("one.csv", b"a\n1\n\n3\n\n")
        self.assertEqual(self.rows("SELECT a FROM one.csv"), [[1], [None], [3], [None]])
        self.assertEqual(self.value("SELECT COUNT(*) FROM one.csv"), 4)

    def test_bad_lines(self):
        self.refuses_file(1, "must have the names", b"")
        self.refuses_file(1, "must have the names", b"\n1,2\n")
        said = run("query", "SELECT a FROM -", "--batch", "1", stdin=b"a\n0.5\n9007199254740993\n")
        self.assertEqual((said.returncode, said.stdout), (1, b"a\n0.5\n"))
        self.assertIn(b"line 3: '9007199254740993' is not a number that a double has", said.stderr)
        self.refuses_file(3, "has 1 field, and the first line 2", b"a,b\n1,2\n3\n4,5\n")
        self.refuses_file(5, "has 3 fields, and the first line 2", b"a,b\n1,\"x\ny\nz\"\n4,5,6\n")
        self.refuses_file(3, "is blank", b"a,b\n1,2\n\n\n4,5\n")
        self.refuses_file(3, "has a quote inside", b"a,b\n1,2\n3,x\"y\"\n4,5\n")
        self.refuses_file(3, "has a quote inside", b"a,b\n1,2\n3,\"x\"y\n4,5\n")
        self.refuses_file(4, "has a quote that is not closed", b"a,b\r\n1,2\r\n5,6\r\n3,\"x\r\ny\r\nz")
        self.refuses_file(1, "looks like UTF-16", "a,b\n1,2\n".encode("utf-16"))
        self.refuses(1, "standard input, line 3: has 1 field", "SELECT * FROM -", stdin=b"a,b\n1,2\n3\n")

    def test_texts_that_look_like_numbers(self):
        self.path("z.csv", b"zip,n,none\n01234,1,\n1234,2,\n")
        self.assertEqual(self.output("SELECT zip FROM z.csv WHERE zip = '01234'"), b"zip\n01234\n")
        self.path("y.csv", b"k,zip,none\n1.0,1234,\n1,5678,\n")
        self.assertEqual(self.rows("SELECT k FROM y.csv WHERE k IN ('1.0') OR zip BETWEEN '1' AND '3'"), [[1], [1]])
        for condition in ("none = 'x' OR none = zip", "none = n", "none < 1"):
            self.assertEqual(self.value(f"SELECT COUNT(*) FROM z.csv WHERE {condition}"), 0)
        for on in ("z.none = y.zip", "y.zip = z.none", "z.none = y.none AND", "z.zip = y.none"):
            query = f"SELECT n FROM z.csv JOIN y.csv ON {on}".replace(" AND", " WHERE z.none = z.zip")
            self.assertEqual(self.rows(query), [], on)

    def test_names_of_columns(self):
        self.path("n.csv", b"a,,a,Size\n1,2,3,4\n")
        self.assertEqual(self.output("SELECT * FROM n.csv"), b"a,column2,a,Size\n1,2,3,4\n")
        self.assertEqual(self.output("SELECT column2, N.SIZE FROM n.csv WHERE size = 4"), b"column2,n.Size\n2,4\n")
        self.refuses(2, "A may be n.a (column 1) or n.a (column 3); give one another name in the first line",
                     "SELECT SUM(A) FROM n.csv")

    def test_delimiter_is_found(self):
        for delimiter in ",;\t|":
            text = 'a,b,c\n1,"x;y|z",0.5\n'.replace(",", delimiter).encode()
            self.path("f.txt", text)
            self.assertEqual(self.rows("SELECT * FROM f.txt"), [[1, "x;y|z", 0.5]])
            self.assertEqual(self.rows("SELECT * FROM -", "--batch", "2", stdin=text), [[1, "x;y|z", 0.5]])
            self.assertEqual(self.output("SELECT c, a FROM f.txt"), b"c,a\n0.5,1\n")
        self.path("f.txt", b"a;b\n1;2\n")
        self.assertEqual(self.answer("SELECT * FROM f.txt", "--delimiter", ",")["columns"], ["a;b"])
        self.refuses(2, "a;b; --delimiter says what separates fields", "SELECT a FROM f.txt", "--delimiter", ",")
        self.path("g.txt", b"a,b;c,d\n1;2\n")
        self.refuses(1, "has 1 field, and the first line 3; --delimiter says", "SELECT COUNT(*) FROM g.txt")
        self.path("h.csv", b"# made by x, y\na,b,c\n1,2,3\n")
        self.refuses(1, "has 3 fields, and the first line 2; with --comment '#'", "SELECT COUNT(*) FROM h.csv")
        self.refuses(2, "; with --comment '#' lines that begin with # are skipped", "SELECT a FROM h.csv LIMIT 1")

    def said_on_a_terminal(self, query, *args):
        main, side = pty.openpty()
        with subprocess.Popen([QUADMILL, "query", query, *args], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=side) as process:
            self.assertEqual(process.wait(20), 0)
        os.write(side, b"\0")
        said = b""
        while not said.endswith(b"\0"):
            said += os.read(main, 4096)
        os.close(side)
        os.close(main)
        return said[:-1].decode().replace("\r\n", "\n")

    def test_a_terminal_hears_what_was_found(self):
        self.path("s.csv", b"a;b\n1;2\n")
        said = "quadmill query: 's.csv': the delimiter is ';'\n"
        self.assertEqual(self.said_on_a_terminal("SELECT a FROM s.csv; SELECT b FROM s.csv"), said)
        self.assertEqual(self.said_on_a_terminal("SELECT a FROM s.csv LIMIT 1"), said)
        self.assertEqual(self.said_on_a_terminal("SELECT a FROM s.csv", "--delimiter", ";"), "")
        self.path("n.csv", b"1,2.5\n3,4\n")
        said = "quadmill query: 'n.csv': line 1 is taken as names; use --no-header if it is data\n"
        self.assertEqual(self.said_on_a_terminal('SELECT "1" FROM n.csv'), said)
        self.assertEqual(self.said_on_a_terminal("SELECT column1 FROM n.csv", "--no-header"), "")
        self.path("y.csv", b"2019,2020\nx,y\n")
        self.assertEqual(self.said_on_a_terminal('SELECT "2019" FROM y.csv WHERE "2020" = \'y\''), "")
        self.output("SELECT a FROM s.csv")  # nothing is said elsewhere

    def test_no_header(self):
        for content, rows in ((b"1,x\n2,y\n", [[1, "x"], [2, "y"]]), (b'1,"x\ny"', [[1, "x\ny"]])):
            self.path("n.csv", content)
            answer = self.answer("SELECT * FROM n.csv", "--no-header")
            self.assertEqual((answer["columns"], answer["rows"]), (["column1", "column2"], rows))
            self.assertEqual(self.rows("SELECT * FROM - LIMIT 9", "--no-header", stdin=content), rows)
        self.assertEqual(self.value("SELECT SUM(column1) FROM n.csv", "--no-header"), 1)
        self.path("n.csv", b"1,2\n3\n")
        self.refuses(1, "n.csv, line 2: has 1 field", "SELECT COUNT(*) FROM n.csv", "--no-header")

    def test_null_word(self):
        content = b'a,t\n1,NA\nNA,"NA"\n3,x\n'
        self.path("n.csv", content)
        self.assertEqual(self.rows("SELECT * FROM n.csv", "--null", "NA"), [[1, None], [None, None], [3, "x"]])
        self.assertEqual(self.rows("SELECT SUM(a) FROM -", "--null", "NA", "--batch", "9", stdin=content), [[4]])

    def test_limit_stops_reading(self):
        self.path("l.csv", b"a,b\n1,x\n2,y\n3\n")
        self.assertEqual(self.rows("SELECT a FROM l.csv LIMIT 1 OFFSET 1"), [[2]])
        self.assertEqual(self.rows("SELECT a FROM l.csv LIMIT 0"), [])
        self.refuses(1, "line 4: has 1 field", "SELECT a FROM l.csv LIMIT 3")
        self.refuses(1, "line 4: has 1 field", "SELECT a FROM l.csv ORDER BY a LIMIT 1")

    def test_forms_of_output(self):
        self.path("o.csv", b'a,t\n1,"x ""y"""\n,\n0.5,z\n')
        lines = self.output("SELECT a, t FROM o.csv", "--ndjson").decode().splitlines()
        self.assertEqual([json.loads(line) for line in lines],
                         [{"a": 1, "t": 'x "y"'}, {"a": None, "t": None}, {"a": 0.5, "t": "z"}])
        self.assertEqual(self.output("SELECT a FROM o.csv", "-o", "out.csv"), b"")
        self.assertEqual(self.read(self.path("out.csv")), b"a\n1\n\n0.5\n")
        self.refuses(1, "nothing.csv", "SELECT a FROM nothing.csv", "-o", "none.csv")
        self.assertFalse(os.path.exists(self.path("none.csv")))
        self.refuses(2, "o.csv", "SELECT a FROM o.csv", "-o", "o.csv")
        self.refuses(2, "--ndjson", "SELECT a FROM o.csv", "--ndjson", "--json")
        self.assertEqual(self.output("SELECT a, t AS a FROM o.csv LIMIT 1", "--ndjson"),
                         b'{"a":1,"a (column 2)":"x \\"y\\""}\n')

    def test_several_files(self):
        self.path("p1.csv", b"a,t\n1,x\n2,y\n")
        self.path("p2.csv", b"a,t\n7,z\n")
        self.assertEqual(self.rows("SELECT * FROM 'p?.csv'"),
                         [[1, "x", "p1.csv"], [2, "y", "p1.csv"], [7, "z", "p2.csv"]])
        self.assertEqual(self.rows("SELECT file, SUM(a) FROM 'p?.csv' GROUP BY file"), [["p1.csv", 3], ["p2.csv", 7]])
        self.assertEqual(self.rows("SELECT t FROM 'p*.csv' LIMIT 9"), [["x"], ["y"], ["z"]])
        self.path("p3.csv", b"a,t\n8,z\n9\n")
        self.refuses(1, "p3.csv, line 3: has 1 field", "SELECT COUNT(*) FROM 'p*.csv'")
        self.path("p3.csv", b"a,u\n8,z\n")
        self.refuses(1, "'p3.csv' has other columns than 'p1.csv'", "SELECT COUNT(*) FROM 'p*.csv'")
        self.refuses(1, "no file has a name like 'q*.csv'", "SELECT COUNT(*) FROM 'q*.csv'")
        self.path("[q].csv", b"a\n5\n")
        self.assertEqual(self.value("SELECT a FROM '[q].csv'"), 5)

    def test_given_types(self):
        self.path("a.csv", b"id,price,n\n12E1,1,3\n7,2,4\n")
        self.assertEqual(self.rows("SELECT * FROM a.csv", "--types", "id:text,price:f64"),
                         [["12E1", 1.0, 3], ["7", 2.0, 4]])
        self.assertEqual(self.rows("SELECT MIN(n), MAX(n) FROM a.csv", "--types", "n:text"), [["3", "4"]])
        self.assertEqual(self.rows("SELECT n FROM a.csv LIMIT 1", "--types", "n:text"), [["3"]])
        self.refuses(1, "a.csv, line 2: '12E1' is not an integer, as --types says of column 'id'",
                     "SELECT id FROM a.csv",
                     "--types", "id:i64")
        self.path("b.csv", b"a\n1\n2.5\n")
        for rest in ("", " LIMIT 5"):  # the whole file, and its first rows
            self.refuses(1, "b.csv, line 3: '2.5' is not an integer", f"SELECT a FROM b.csv{rest}", "--types", "a:i64")
        # Which rows are bad does not depend on the columns that a statement names.
        self.path("c.csv", b"code,b,t\n1,1,1\nx,2,2\n3,3,y\n4.5,4,4\n")
        skips = ("--types", "code:i64", "--skip-bad", "--csv")
        for query, answer in (("SELECT COUNT(*) FROM c.csv", b"COUNT(*)\n2\n"),
                              ("SELECT SUM(code) FROM c.csv", b"SUM(code)\n4\n"),
                              ("SELECT b FROM c.csv ORDER BY b LIMIT 5", b"b\n1\n3\n"),
                              ("SELECT t FROM c.csv", b"t\n1\ny\n"),
                              ("SELECT t, code FROM c.csv WHERE t <> '2'", b"t,code\n1,1\ny,3\n")):
            result = run("query", query, *skips, cwd=self.folder)
            self.assertEqual((result.returncode, result.stdout), (0, answer), query)
            self.assertIn(b"skipped 2 bad rows; the first: c.csv, line 3: 'x' is not an integer", result.stderr)
        self.refuses(1, "no table has a column x", "SELECT a FROM b.csv", "--types", "x:i64")
        self.refuses(2, "must be NAME:TYPE", "SELECT a FROM b.csv", "--types", "a:date")

    def test_comments_and_bad_rows(self):
        content = b'# made by "x\nid,t\n1,a\n# 2,b\n3,c,more\nrubbish\n4,x"y\n5,"e\n6,f\n7,"g\nh"\n8,"i"\n'
        self.path("a.csv", content)
        for query in ("SELECT * FROM a.csv", "SELECT * FROM a.csv LIMIT 9"):
            result = run("query", query, "--comment", "#", "--skip-bad", "--csv", cwd=self.folder)
            self.assertEqual(result.stdout, b'id,t\n1,a\n6,f\n7,"g\nh"\n8,i\n')
            self.assertIn(b"skipped 4 bad rows; the first: a.csv, line 5: has 3 fields", result.stderr)
        self.assertEqual(self.value("SELECT SUM(id) FROM a.csv", "--comment", "#", "--skip-bad"), 22)
        self.refuses(1, "a.csv, line 5: has 3 fields", "SELECT id FROM a.csv", "--comment", "#")
        self.path("b.csv", b"a,b\n1,2\n3\n\n")
        self.assertEqual(self.rows("SELECT * FROM b.csv", "--ragged"), [[1, 2], [3, None]])
        self.assertEqual(self.rows("SELECT * FROM b.csv LIMIT 5", "--ragged"), [[1, 2], [3, None]])
        self.refuses(1, "b.csv, line 3: has 1 field", "SELECT * FROM b.csv")
        self.path("c.csv", b"a,b\n1,2,3\n")
        self.refuses(1, "c.csv, line 2: has 3 fields, and the first line 2; --skip-bad skips such rows",
                     "SELECT * FROM c.csv", "--ragged")

    def test_binary_tables(self):
        self.path("a.f32", floats([1.5, -2, 4]))
        self.assertEqual(self.rows("SELECT COUNT(*), SUM(value) FROM a.f32 WHERE value > 0"), [[2, 5.5]])
        self.assertEqual(self.rows("SELECT * FROM a.f32 LIMIT 1"), [[1.5]])
        self.path("m.npy", npy("'<i8'", (2, 3), struct.pack("<6q", 1, 2, 3, 4, 5, -6)))
        self.assertEqual(self.rows("SELECT * FROM m.npy ORDER BY column3"), [[4, 5, -6], [1, 2, 3]])
        self.path("x.csv", b"k,name\n4,four\n")
        self.assertEqual(self.rows("SELECT name FROM m.npy JOIN x.csv ON m.column1 = x.k"), [["four"]])
        self.path("b.i64", b"123456789")
        self.refuses(1, "b.i64' has 9 bytes, which is not a multiple of 8", "SELECT value FROM b.i64")
        self.path("c.npy", npy("'<u8'", (3,), struct.pack("<3Q", 1, 2**64 - 1, 2**63)))
        self.assertEqual(self.rows("SELECT value FROM c.npy WHERE value > 1 ORDER BY value"),
                         [[str(2**63)], [str(2**64 - 1)]])
        self.path("d.u64", struct.pack("<2Q", 7, 2**40))
        self.assertEqual(self.rows("SELECT SUM(value), MAX(value) FROM d.u64"), [[7 + 2**40, 2**40]])
        self.path("d.f16", struct.pack("<3e", 0.5, -2, 65504))
        self.assertEqual(self.rows("SELECT value FROM d.f16"), [[0.5], [-2], [65504]])
        whole = npy("'<i8'", (4,), struct.pack("<4q", 1, 2, 3, 4))
        for content in (whole[:-16], whole[:-1], whole + b"x", whole + bytes(8)):
            self.path("short.npy", content)
            self.refuses(1, "bytes after its header, which says 4 values", "SELECT * FROM short.npy")
        self.refuses(1, "'*.f32' is a pattern, which FROM takes for CSV only", "SELECT * FROM '*.f32'")
        self.path("d.i16", bytes(8))
        self.refuses(1, "raw values are read if the name ends in .f16, .f32, .f64", "SELECT * FROM d.i16")
        self.refuses(1, "--batch reads CSV", "SELECT COUNT(*) FROM a.f32", "--batch", "2")

    def test_note_on_numbers_that_are_text(self):
        self.path("a.csv", b"a,b\n10,x\n9,y\nn/a,1\n")
        result = run("query", "SELECT MAX(a), MAX(b) FROM a.csv", "--csv", cwd=self.folder)
        self.assertEqual(result.stdout, b"MAX(a),MAX(b)\nn/a,y\n")
        self.assertEqual(result.stderr, b"quadmill query: MAX(a) compares texts, although most values are numbers: "
                                        b"line 4 has 'n/a'\n")
        self.assertEqual(self.output("SELECT MAX(a) FROM a.csv", "--null", "n/a", "--csv"), b"MAX(a)\n10\n")
        self.path("b.csv", b"a,b\nn/a,1\n10,x\n9,y\n")  # the numbers come after the text
        result = run("query", "SELECT MAX(a), MAX(b) FROM b.csv", "--csv", cwd=self.folder)
        self.assertEqual(result.stderr, b"quadmill query: MAX(a) compares texts, although most values are numbers: "
                                        b"line 2 has 'n/a'\n")

    def test_ids_are_not_numbers(self):
        """They come back as they were written from every kind of statement."""
        ids = ["12E12", "00123", "1E05", "0x1F", "18446744073709551616", "123", "7"]
        self.path("a.csv", csv_of(["id", "n"], [[one, i] for i, one in enumerate(ids + ids[:3])]))
        self.path("b.csv", csv_of(["id", "m"], [[one, 1] for one in ids[2:]]))
        self.assertEqual(self.rows("SELECT id FROM a.csv"), [[one] for one in ids + ids[:3]])
        self.assertEqual(self.rows("SELECT DISTINCT id FROM a.csv ORDER BY id"), [[one] for one in sorted(ids)])
        self.assertEqual(self.rows("SELECT id, COUNT(*) FROM a.csv GROUP BY id"),
                         [[one, 2 if one in ids[:3] else 1] for one in sorted(ids)])
        self.assertEqual(self.rows("SELECT id FROM a.csv ORDER BY id DESC LIMIT 2"),
                         [[one] for one in sorted(ids)[:-3:-1]])
        self.assertEqual(self.rows("SELECT a.id FROM a.csv JOIN b.csv ON a.id = b.id WHERE n < 7 ORDER BY n"),
                         [[one] for one in ids[2:]])
        self.assertEqual(self.rows("SELECT n FROM a.csv WHERE id = '00123'"), [[1], [8]])
        self.assertEqual(self.rows("SELECT MIN(id), MAX(id), COUNT(DISTINCT id) FROM a.csv"), [["00123", "7", 7]])

    def test_wide_integers(self):
        """Integers of 65 to 128 bits keep their value in every kind of statement; Python knows the answers."""
        chance = random.Random(43)
        edges = [0, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -2**63, -2**63 - 1, 2**127 - 1, -2**127]
        draw = lambda: chance.choice([None, chance.choice(edges), chance.randrange(-9, 9), chance.getrandbits(64),
                                      -chance.getrandbits(64), chance.randrange(-2**127, 2**127)])
        rows = [[i, draw(), draw()] for i in range(400)] + [[400 + i, n, -n] for i, n in enumerate(edges[:-1])]
        self.path("t.csv", csv_of(["k", "a", "b"], rows))
        word = lambda value: None if value is None else str(value)
        known = [row for row in rows if row[1] is not None]
        ask = lambda rest: self.rows(f"SELECT k FROM t.csv {rest}")
        ks = lambda test: [[k] for k, a, b in rows if test(a, b)]
        self.assertEqual(self.rows("SELECT a, b FROM t.csv"), [[word(a), word(b)] for _, a, b in rows])
        order = sorted(known, key=lambda row: row[1])
        self.assertEqual(self.rows("SELECT k, a FROM t.csv WHERE a IS NOT NULL ORDER BY a"),
                         [[k, word(a)] for k, a, _ in order])
        self.assertEqual(ask("WHERE a IS NOT NULL ORDER BY a DESC, k LIMIT 30"),
                         [[row[0]] for row in sorted(known, key=lambda row: (-row[1], row[0]))[:30]])
        counts = {}
        for _, a, _ in rows:
            counts[a] = counts.get(a, 0) + 1
        groups = sorted(counts, key=lambda a: (a is not None, a or 0))
        self.assertEqual(self.rows("SELECT a, COUNT(*), MAX(b) FROM t.csv GROUP BY a"),
                         [[word(a), counts[a],
                           word(max((y for _, x, y in rows if x == a and y is not None), default=None))]
                          for a in groups])
        self.assertEqual(self.rows("SELECT DISTINCT a FROM t.csv ORDER BY a"), [[word(a)] for a in groups])
        values = [row[1] for row in order]
        self.assertEqual(self.rows("SELECT MIN(a), MAX(a), COUNT(a), COUNT(DISTINCT a), QUANTILE(a, 0.5) FROM t.csv"),
                         [[str(values[0]), str(values[-1]), len(values), len(set(values)),
                           str(values[(len(values) + 1) // 2 - 1])]])
        for n in edges + [draw() or 7 for _ in range(20)]:
            literal = n if n > -2**127 else f"'{n}'"  # its digits alone are beyond 128 bits
            self.assertEqual(ask(f"WHERE a > {literal}"), ks(lambda a, b: a is not None and a > n))
            self.assertEqual(ask(f"WHERE '{n}' >= a"), ks(lambda a, b: a is not None and a <= n))
            self.assertEqual(ask(f"WHERE a IN ('{n}', '5')"), ks(lambda a, b: a in (n, 5)))
        self.assertEqual(ask(f"WHERE a BETWEEN -5 AND {2**64}"), ks(lambda a, b: a is not None and -5 <= a <= 2**64))
        self.assertEqual(ask("WHERE a NOT BETWEEN -5 AND 1e15"),
                         ks(lambda a, b: a is not None and not -5 <= a <= 10**15))
        self.assertEqual(ask("WHERE a < b"), ks(lambda a, b: None not in (a, b) and a < b))
        self.assertEqual(self.rows("SELECT b, MIN(a) AS m FROM t.csv GROUP BY b HAVING MIN(a) > 18446744073709551616"),
                         [[word(b), str(m)] for b, m in
                          ((b, min((x for _, x, y in known if y == b), default=None))
                           for b in sorted({row[2] for row in rows}, key=lambda b: (b is not None, b or 0)))
                          if m is not None and m > 2**64])
        pairs = [[k, j] for k, a, _ in rows for j, _, b in rows if a is not None and a == b]
        self.assertEqual(self.rows("SELECT x.k, y.k FROM t.csv AS x JOIN t.csv AS y ON x.a = y.b"), pairs)
        self.assertEqual(self.rows("SELECT x.a FROM t.csv AS x JOIN t.csv AS y ON x.a = y.b"),
                         [[word(rows[k][1])] for k, _ in pairs])
        for query in ("SUM(a)", "a + 1", "AVG(a)", "a % 2"):
            self.refuses(2, "sums need numbers, but a is an integer beyond 64 bits", f"SELECT {query} FROM t.csv")
        self.refuses(2, "LIKE needs text, and a is an integer", "SELECT k FROM t.csv WHERE a LIKE '1%'")
        self.refuses(2, "'x' is not an integer from -2^127 to 2^127-1", "SELECT k FROM t.csv WHERE a = 'x'")
        self.refuses(1, "a is an integer beyond 64 bits, which is compared with integers only",
                     "SELECT k FROM t.csv WHERE a > 1.5")
        self.refuses(1, "a is an integer beyond 64 bits, which expressions do not take",
                     "SELECT k FROM t.csv WHERE a + 1 > 2")
        self.refuses(2, "--types k:i128 reads it as such an integer, too", "SELECT k FROM t.csv WHERE a = k")
        self.assertEqual(self.rows("SELECT k FROM t.csv WHERE a = k", "--types", "k:i128"),
                         [[str(k)] for k, a, _ in rows if a == k])

    def test_what_is_no_wide_integer(self):
        for odd in (str(2**127), "0.5", "007", "x"):
            texts = ["18446744073709551616", "7", odd]
            self.assertEqual(self.rows_of(csv_of(["a"], [[text] for text in texts])), [[text] for text in texts])
            self.assertEqual(self.rows("SELECT a FROM t.csv ORDER BY a"), [[text] for text in sorted(texts)])
        self.assertEqual(self.rows_of(b"a\n+18446744073709551616\n\" 8\"\n-0\n"),
                         [["18446744073709551616"], ["8"], ["0"]])
        many = [[i] for i in range(300000)] + [[2**64]]  # several blocks, of which only the last one is wide
        self.path("t.csv", csv_of(["a"], many))
        self.assertEqual(self.rows("SELECT a FROM t.csv ORDER BY a DESC LIMIT 2"), [[str(2**64)], ["299999"]])
        self.path("t.csv", csv_of(["a"], [*many, ["x"]]))
        self.assertEqual(self.rows("SELECT a FROM t.csv ORDER BY a DESC LIMIT 2"), [["x"], ["99999"]])

    def test_texts_that_differ(self):
        """At first all texts differ, so that equal ones are only looked for when a block is complete."""
        texts = [f"t{i % 40000}" if i % 7 else f"a longer text {i % 30000}" for i in range(90000)] + ["", "t1"]
        self.path("t.csv", csv_of(["a"], [[text or None] for text in texts]))
        counts = {text: texts.count(text) for text in ("t1", "t39999", "a longer text 7", "a longer text 29995")}
        self.assertEqual(self.rows("SELECT COUNT(DISTINCT a), COUNT(*) FROM t.csv"),
                         [[len({*texts} - {""}), len(texts)]])
        wanted = ", ".join(f"'{text}'" for text in counts)
        self.assertEqual(self.rows(f"SELECT COUNT(*), a FROM t.csv WHERE a IN ({wanted}) GROUP BY a"),
                         [[counts[text], text] for text in sorted(counts)])
        groups = sorted({*texts})
        self.assertEqual(self.rows("SELECT a, COUNT(*) AS n FROM t.csv GROUP BY a LIMIT 3 OFFSET 2"),
                         [[text, texts.count(text)] for text in groups[2:5]])

    def test_several_statements(self):
        self.path("s.csv", b"a\n1\n2\n")
        self.path("q.sql", b"SELECT SUM(a) AS s FROM s.csv; -- one\nSELECT MAX(a) FROM s.csv WHERE a < 2;\n")
        result = run("query", "-f", "q.sql", cwd=self.folder)
        self.assertEqual((result.stdout, result.stderr), (b"s\n3\nMAX(a)\n1\n", b""))
        # Tables stay loaded: columns of any statement, texts that only some compare, standard input.
        self.path("t.csv", b"k,t,u\n1,x,p\n2,,q\n3,x,\n")
        statements = ("SELECT t FROM t.csv WHERE k > 1; SELECT t, COUNT(*) FROM t.csv GROUP BY t; SELECT COUNT(*) "
                      "FROM -;"
                      "SELECT u FROM t.csv ORDER BY k DESC LIMIT 2; SELECT u FROM t.csv JOIN - AS s ON t.k = s.a "
                      "LIMIT 1;"
                      "SELECT * FROM t.csv LIMIT 1")
        self.assertEqual(self.output(statements, "--ndjson", stdin=b"a\n2\n7\n"),
                         b'{"t":null}\n{"t":"x"}\n{"t":null,"COUNT(*)":1}\n{"t":"x","COUNT(*)":2}\n{"COUNT(*)":2}\n'
                         b'{"u":null}\n{"u":"q"}\n{"u":"q"}\n{"k":1,"t":"x","u":"p"}\n')
        self.fails(2, "QUERY", "query", "SELECT 1", "-f", "q.sql", cwd=self.folder)
        self.path("q.sql", b"\xef\xbb\xbf;;SELECT SUM(a) AS s FROM s.csv;;")
        self.assertEqual(run("query", "-f", "q.sql", cwd=self.folder).stdout, b"s\n3\n")
        self.path("q.sql", b"-- nothing\n")
        self.fails(2, "there is no statement", "query", "-f", "q.sql", cwd=self.folder)
        self.refuses(2, "one statement", "SELECT a FROM -; SELECT a FROM s.csv", "--batch", "2")

    def test_delimiters_in_numbers(self):
        self.path("d.csv", b"a;b\n-1;0.5\n")
        for delimiter in "-.":
            out = self.output("SELECT a, b FROM -", "--delimiter", delimiter,
                              stdin=f'a{delimiter}b\n"-1"{delimiter}"0.5"\n'.encode())
            self.assertEqual(self.rows("SELECT * FROM -", "--delimiter", delimiter, stdin=out), [[-1, 0.5]])

    def test_parts(self):
        """Files large enough to be read in parts: types, texts found late, line numbers, quotes across the cuts."""
        chance = random.Random(3)
        rows = [[i, f"line {i}\n\"quoted\", with more to say of it" if chance.random() < 0.3 else "plain text", i / 4]
                for i in range(600000)]
        content = csv_of(["i", "t", "f"], rows)
        self.assertGreater(len(content), 2 << 23)
        self.path("big.csv", content)
        self.assertEqual(self.rows("SELECT COUNT(*), SUM(i), SUM(f), MAX(t) FROM big.csv"),
                         [[len(rows), sum(r[0] for r in rows), sum(r[2] for r in rows), max(r[1] for r in rows)]])
        self.assertEqual(self.value("SELECT COUNT(*) FROM big.csv WHERE t = 'plain text'"),
                         sum(r[1] == "plain text" for r in rows))
        lines = content.count(b"\n")
        self.path("big.csv", content + b"late,x,1\n")
        self.assertEqual(self.rows("SELECT MIN(i), MAX(i) FROM big.csv"), [["0", "late"]])
        for line, words in ((b"1,2\n", "has 2 fields"), (b"1,x\"y,2\n", "has a quote inside"),
                            (b"1,\"y,2\n", "has a quote that is not closed"), (b"\n1,2,3\n", "is blank")):
            self.path("big.csv", content + line)
            self.refuses(1, f"big.csv, line {lines + 1}: {words}", "SELECT COUNT(*) FROM big.csv")

    def test_texts_that_are_only_printed(self):
        """They are not compared, so they are kept as they are: NULLs, empty, long and quoted ones, across blocks."""
        long = "long \"text\",\n" * 7000
        texts = ["pear", None, "", long, 'a "b"', "x,y", "é"]
        rows = [[i, texts[i % len(texts)] if i % 1000 < 7 else f"text {i}"] for i in range(120000)]
        self.path("x.csv", csv_of(["i", "t"], rows))
        self.path("y.csv", csv_of(["k", "u"], [[3, "three"], [5, None], [5, long], [-1, "none"]]))
        self.assertEqual(self.rows("SELECT t, i FROM x.csv WHERE i < 2000 OR i >= 119000"),
                         [[t, i] for i, t in rows if i < 2000 or i >= 119000])
        self.assertEqual(self.rows("SELECT * FROM x.csv ORDER BY i DESC LIMIT 5 OFFSET 119994"),
                         [list(row) for row in reversed(rows[1:6])])
        self.assertEqual(self.rows("SELECT t, u FROM x.csv LEFT JOIN y.csv ON x.i = y.k WHERE i < 6 ORDER BY i"),
                         [["pear", None], [None, None], ["", None], [long, "three"], ['a "b"', None], ["x,y", None],
                          ["x,y", long]])
        self.assertEqual(self.rows("SELECT u, x.t FROM x.csv JOIN y.csv ON x.i = y.k"),
                         [["three", long], [None, "x,y"], [long, "x,y"]])
        self.assertEqual(self.rows("SELECT t, t AS again FROM x.csv WHERE t LIKE 'p%'")[0], ["pear", "pear"])
        self.refuses(2, "sums need numbers, but t is text", "SELECT t, t + 1 FROM x.csv")

    def test_a_table_beyond_memory_is_refused(self):
        with open(self.path("t.csv"), "w") as file:
            file.write("k,a\n")
            file.writelines(f"{i},{i * 7919 % 1000003}\n" for i in range(600000))
        for query, words, memory in (
                ("SELECT COUNT(*) FROM t.csv AS x JOIN t.csv AS y ON x.k = y.k", "a JOIN needs all of them there",
                 "10M"),
                # The tables fit, and their pairs do not.
                ("SELECT COUNT(x.a + y.k) FROM t.csv AS x JOIN t.csv AS y ON x.k = y.k",
                 "the tables of the JOIN and its pairs take more than 47185920 bytes of memory", "45M"),
                ("SELECT COUNT(DISTINCT a) FROM t.csv",
                 "take more than 10485760 bytes of memory: name fewer columns or give more --memory; "
                 "`quadmill sort --lines --column NAME`", "10M")):
            self.refuses(1, words, query, "--memory", memory)
            self.assertEqual(self.rows(query, "--memory", "1G"), [[600000]])

    def write_large_table(self):
        with open(self.path("t.csv"), "w") as file:
            file.write("k,a,price,name,empty,wide,note\n")
            for i in range(350000):
                a, price = i * 7919 % 1009, "" if i % 50 == 0 else f"{i * 31 % 4999}.{i % 100:02}"
                name = ("", '""', '"two\nlines"', "Zoe", "zo\u00eb", "ann", f"user {i % 3000}")[i % 7]
                wide = (i * 2**60 - 10**20) if i % 3 else ""
                file.write(f"{i},{a},{price},{name},,{wide},a note for row {i}\n")

    def same_beyond_memory(self, query, args=(), memory=60):
        """In MiB. What is allocated next is estimated, therefore 5 % more."""
        answers, whole = self.path("answers"), self.path("whole")
        said = run("query", query, *args, "-o", whole, cwd=self.folder)
        self.assertEqual(said.returncode, 0, said.stderr)
        peak = self.peak_of(query, *args, "--threads", "2", "--memory", f"{memory}M", "-o", answers)
        self.assertLess(peak, (memory << 20) * 1.05, query)
        self.assertTrue(filecmp.cmp(answers, whole, shallow=False), query)
        with open(self.path("said"), "rb") as file:
            self.assertEqual(file.read(), said.stderr)

    def test_groups_beyond_memory(self):
        """Rows that do not fit into memory are grouped as in memory, with the memory that --memory says."""
        self.write_large_table()
        for query in ("SELECT a, COUNT(*), SUM(price), MEDIAN(k), MIN(note), COUNT(DISTINCT name) FROM t.csv "
                      "GROUP BY a",
                      "SELECT note, name, MAX(k) AS most FROM t.csv WHERE a > 9 GROUP BY note, name ORDER BY most "
                      "DESC LIMIT 7 OFFSET 3",
                      "SELECT DISTINCT name, a, price FROM t.csv ORDER BY price DESC NULLS LAST, a, name LIMIT 300000",
                      "SELECT DISTINCT wide, empty, note FROM t.csv WHERE name <> 'ann'",
                      "SELECT wide, SUM(k + a), STDDEV(price) FROM t.csv GROUP BY wide ORDER BY wide DESC LIMIT 3000",
                      "SELECT k % 7000, a, COUNT(*), AVG(price) FROM t.csv GROUP BY 1, a HAVING AVG(price) > 9",
                      "SELECT -price, MIN(note) FROM t.csv GROUP BY -price ORDER BY 2 LIMIT 50"):
            self.same_beyond_memory(query)
        self.same_beyond_memory("SELECT DISTINCT name, a, price FROM t.csv", memory=59)  # the table alone would fit
        one = "SELECT empty, MIN(note), MIN(name), MAX(wide), SUM(price), MAX(k), SUM(a) FROM t.csv GROUP BY empty"
        self.refuses(1, "take more than 62000000 bytes of memory", one, "--memory",
                     "62000000")  # all rows are one group

    def test_order_beyond_memory(self):
        """Rows that do not fit into memory are ordered as in memory, with the memory that --memory says."""
        self.write_large_table()
        for query in ("SELECT k, note FROM t.csv ORDER BY a, price DESC",
                      "SELECT * FROM t.csv ORDER BY name DESC NULLS FIRST, k DESC LIMIT 5000 OFFSET 300000",
                      "SELECT note, k + a AS sum FROM t.csv WHERE a < 900 ORDER BY wide, empty, -price NULLS LAST",
                      "SELECT wide, name FROM t.csv WHERE name <> 'ann' ORDER BY wide DESC, 1, a % 7 LIMIT 70000",
                      "SELECT * FROM t.csv WHERE name <> 'ann'"):
            self.same_beyond_memory(query, memory=50)
        two = "SELECT COUNT(*) FROM t.csv; SELECT k FROM t.csv ORDER BY price DESC, k LIMIT 3"
        self.assertEqual(self.output(two, "--memory", "50M"), self.output(two))
        with open(self.path("t.csv"), "a") as file:
            file.write("a row,that is too short\n")
        self.refuses(1, "t.csv, line 400002: ", "SELECT k FROM t.csv ORDER BY note", "--memory", "50M")

    def test_comments_and_bad_rows_beyond_memory(self):
        """They are read in parts, too: rows in quotes and bad ones across the cuts."""
        chance = random.Random(8)
        odd = ["# it's a \"comment\n", "#\n", "1,2\n", "a \"bad, row\n", '1,"open,2\n', "\n", "x,1,1,y\n"]
        with open(self.path("t.csv"), "w") as file:
            file.write("k,a,t\n")
            for i in range(450000):
                if chance.random() < 0.001:
                    file.write(chance.choice(odd))
                file.write(f'{i},{i * 7919 % 1009},"a text with ""quotes"",\nof row {i % 1000}"\n')
        args = ("--comment", "#", "--skip-bad")
        for query in ("SELECT a, t, k FROM t.csv ORDER BY t, a DESC, k", "SELECT a, t, MAX(k) FROM t.csv GROUP BY a, t",
                      "SELECT * FROM t.csv ORDER BY a, k LIMIT 3000"):
            self.same_beyond_memory(query, args)
        self.assertEqual(run("query", "SELECT * FROM t.csv WHERE a > 5 LIMIT 10", *args, cwd=self.folder).stderr,
                         run("query", "SELECT COUNT(*) FROM t.csv", *args, cwd=self.folder).stderr)
        self.refuses(1, "t.csv, line 818: is blank", "SELECT * FROM t.csv ORDER BY a LIMIT 5", "--comment", "#")

    def test_bad_rows_with_other_line_ends(self):
        """Files of several blocks in which a line feed is rare are read in one pass, too: in less than a second."""
        rows = b"".join(b"%d,x%d\r" % (i, i) for i in range(300000))
        for more in (b"1,2,3\r", b"1,2,3\r\n# one\r4,y\n"):
            self.path("cr.csv", b"a,b\r" + rows + more + rows)
            result = run("query", "SELECT COUNT(*), SUM(a) FROM cr.csv", "--skip-bad", "--comment", "#", "--csv",
                         cwd=self.folder)
            self.assertEqual(result.stdout, b"COUNT(*),SUM(a)\n%d,%d\n" % (600000, 299999 * 300000))
            self.assertIn(b"skipped 1 bad row; the first: cr.csv, line 300002: has 3 fields", result.stderr)

    def test_few_rows_of_late_types(self):
        """The first rows of an order are taken from parts; a later part may change the type of a column."""
        n = 150000
        late = {"i": lambda i: i * 7919 % n, "f": lambda i: i if i < n - 9 else i + 0.5,
                "x": lambda i: i if i < n // 2 else f"x{i}",
                "b": lambda i: '""' if i < n // 2 else i % 7, "none": lambda i: ""}
        with open(self.path("t.csv"), "w") as file:
            file.write(",".join(late) + ",note\n")
            file.writelines(",".join(str(of(i)) for of in late.values()) + f",note {i % 100} with some more text\n"
                            for i in range(n))
        for columns in ("*", "b, i * 2 AS two, x"):
            for order in ("i", "f DESC", "x, i", "b DESC NULLS LAST, x DESC", "none, note, f", "i % 10, b"):
                for where in ("", " WHERE x > 'x2'", " WHERE note LIKE '%7%' AND b < 5"):
                    query = f"SELECT {columns} FROM t.csv{where} ORDER BY {order}"
                    all_rows = self.output(query).split(b"\n")
                    self.assertEqual(self.output(query + " LIMIT 20 OFFSET 3", "--threads", "1").split(b"\n"),
                                     all_rows[:1] + all_rows[4:24] + all_rows[-1:], query)
        self.refuses(2, "sums need numbers, but x is text (line 75002 has 'x75000')",
                     "SELECT x + 1 FROM t.csv ORDER BY i LIMIT 5")
        with open(self.path("t.csv"), "a") as file:
            file.write("too,few\n")
        self.refuses(1, f"t.csv, line {n + 2}: has 2 fields", "SELECT i FROM t.csv ORDER BY i LIMIT 5")

    def peak_of(self, *args):
        """A small process starts the command: the memory of who starts a process counts as that of the process."""
        measure = ("import os, subprocess, sys; child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL); "
                   "_, status, used = os.wait4(child.pid, 0); print(os.waitstatus_to_exitcode(status), used.ru_maxrss)")
        with open(self.path("said"), "wb") as said:
            measured = subprocess.run([sys.executable, "-c", measure, QUADMILL, "query", *args], cwd=self.folder,
                                      stdout=subprocess.PIPE, stderr=said, check=True)
        code, peak = map(int, measured.stdout.split())
        self.assertEqual(code, 0)
        return peak << 10

    def test_memory(self):
        """Only the columns that a query needs stay in memory."""
        rows = b"".join(b"%d,%d.5,a text that is long enough\n" % (i, i % 90) for i in range(20000))
        with open(self.path("big.csv"), "wb") as file:
            file.write(b"i,price,t\n")
            for _ in range(140):
                file.write(rows)
            self.assertGreater(file.tell(), 96 << 20)
        # In MiB; columns of 0, 11, 22, 107 and, for a few rows, 0.
        for query, most in (("SELECT COUNT(*) FROM big.csv", 64), ("SELECT SUM(price) FROM big.csv", 64),
                            ("SELECT SUM(i), SUM(price) FROM big.csv", 70), ("SELECT * FROM big.csv", 155),
                            ("SELECT * FROM big.csv ORDER BY price DESC, i LIMIT 1000", 64),
                            ("SELECT * FROM big.csv WHERE t LIKE '%long%' AND i > 19000 LIMIT 1000", 64)):
            self.assertLess(self.peak_of(query, "--threads", "2"), most << 20, query)

    def test_random_texts_come_back(self):
        chance = random.Random(11)
        for _ in range(30):
            texts = [None, "", "x", "\n", "\r\n", '"', ",", " ", "a b", " c", "d ", "é", "'"]
            rows = [[chance.choice(texts) for _ in range(3)] for _ in range(50)]
            rows[0] = ["q"] * 3
            content = csv_of(["a", "b", "c"], rows)
            self.path("r.csv", content)
            self.assertEqual(self.rows("SELECT * FROM r.csv"), rows)
            self.assertEqual(self.output("SELECT * FROM r.csv"), content)


class Batches(Query):
    def start(self, *args):
        return super().start("query", *args, cwd=self.folder)

    def batches(self, query, n, stdin):
        result = run("query", query, "--batch", str(n), "--json", stdin=stdin, cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return [json.loads(line)["rows"] for line in result.stdout.splitlines()]

    def test_answers_per_batch(self):
        rows = [[i, i * i / 2] for i in range(10)]
        content = csv_of(["a", "b"], rows)
        query = "SELECT COUNT(*), SUM(a), MAX(b) FROM -"
        of = lambda part: [[len(part), sum(r[0] for r in part), max(r[1] for r in part)]]
        for n in (1, 3, 5, 10, 11):
            self.assertEqual(self.batches(query, n, content), [of(rows[i:i + n]) for i in range(0, 10, n)])
        self.assertEqual(self.batches(query, 4, b"a,b\n"), [[[0, None, None]]])
        many = csv_of(["a"], [[i] for i in range(50000)])
        self.assertEqual(self.batches("SELECT MAX(a) FROM -", 7000, many),
                         [[[min(i + 7000, 50000) - 1]] for i in range(0, 50000, 7000)])

    def test_as_they_come(self):
        process = self.start("SELECT COUNT(*), SUM(a) FROM -", "--batch", "2", "--json")
        process.stdin.write(b"a,b\n1,x\n2,")
        self.assertFalse(select.select([process.stdout], [], [], 0.3)[0])
        process.stdin.write(b"y\n")
        self.assertEqual(json.loads(self.next_line(process))["rows"], [[2, 3]])
        process.stdin.write(b"5,z\n6,z\n7,z\n")
        self.assertEqual(json.loads(self.next_line(process))["rows"], [[2, 11]])
        process.send_signal(signal.SIGINT)
        self.assertEqual(json.loads(self.next_line(process))["rows"], [[1, 7]])
        self.assertEqual(process.wait(20), 130)

    def test_interrupted_within_a_row(self):
        for query, text, answer in (("SELECT a FROM -", b"a,b\n1,", b"a\n"),
                                    ("SELECT a FROM -", b"a,b\n5,6\n1,", b"a\n5\n"),
                                    ("SELECT COUNT(*), SUM(a) FROM -", b"a,b\n5,6\n1,", b"COUNT(*),SUM(a)\n1,5\n"),
                                    ("SELECT * FROM -", b"a,b,c\nx,1.5,y\nz,2,", b"a,b,c\nx,1.5,y\n"),
                                    ("SELECT * FROM -", b"a,b\n5,6\n\"1\n2\",\"3", b"a,b\n5,6\n"),
                                    ("SELECT * FROM -", b"a,b\n,\n,", b"a,b\n,\n"),
                                    ("SELECT a FROM -", b"a,b", b"")):
            with self.subTest(query, text=text):
                process = self.start(query, "--batch", "100")
                process.stdin.write(text)
                time.sleep(0.3)  # for it to read that
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(20), 130)
                self.assertEqual((process.stdout.read(), process.stderr.read()), (answer, b""))

    def test_interrupted_with_an_output_file(self):
        process = self.start("SELECT SUM(a) FROM -", "--batch", "2", "-o", "out.csv")
        process.stdin.write(b"a,b\n1,1\n2,2\n3,3\n4,")
        time.sleep(0.3)  # for it to read that
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(20), 130)
        self.assertEqual(self.read(self.path("out.csv")), b"SUM(a)\n3\n3\n")

    def test_packed_streams(self):
        pack = zlib.compressobj(wbits=31)
        process = self.start("SELECT SUM(a) FROM -", "--batch", "2", "--json")
        for part, total in ((b"a\n1\n2\n", 3), (b"3\n4\n", 7)):
            process.stdin.write(pack.compress(part) + pack.flush(zlib.Z_SYNC_FLUSH))
            self.assertEqual(json.loads(self.next_line(process))["rows"], [[total]])
        process.stdin.write(pack.compress(b"5\n") + pack.flush())
        process.stdin.close()
        self.assertEqual(json.loads(self.next_line(process))["rows"], [[5]])
        self.assertEqual(process.wait(20), 0)

    def test_types_of_the_first_batch(self):
        query = "SELECT COUNT(a), SUM(a) FROM -"
        self.assertEqual(self.batches(query, 2, b"a\n1\n2\n3000000000\n4\n"), [[[2, 3]], [[2, 3000000004]]])
        self.assertEqual(self.batches(query, 2, b"a,b\n,1\n,2\n1.5,3\n2,4\n"), [[[0, None]], [[2, 3.5]]])
        self.assertEqual(self.batches("SELECT MAX(t) FROM -", 1, b"t\nx\n7\n"), [[["x"]], [["7"]]])
        result = run("query", query, "--batch", "1", stdin=b"a\n1\n2\n")
        self.assertEqual(result.stdout, b"COUNT(a),SUM(a)\n1,1\n1,2\n")
        self.assertEqual(self.batches(query, 2, b"a,b\n1,1\n2,1\n3,1\n2.5,1\n7,1\n"),
                         [[[2, 3]], [[2, 5.5]], [[1, 7]]])
        result = run("query", query, "--batch", "2", stdin=b"a,b\n1,1\n2,1\n9007199254740993,1\n2.5,1\n")
        self.assertEqual((result.returncode, result.stdout), (1, b"COUNT(a),SUM(a)\n2,3\n"))
        self.assertIn(b"standard input, line 4: '9007199254740993' in a column of integers, to which fractions came, "
                      b"would be "
                      b"rounded; --types a:f64 allows that", result.stderr)
        result = run("query", query, "--batch", "2", stdin=b"a,b\n1,1\n2,1\n3,1\nx,1\n")
        self.assertEqual((result.returncode, result.stdout), (1, b"COUNT(a),SUM(a)\n2,3\n"))
        self.assertIn(b"standard input, line 5: 'x' is not an integer, as all earlier values of column 'a' are",
                      result.stderr)
        result = run("query", query, "--batch", "2", stdin=b"a,b\n1,1\n2,1\n3\n")
        self.assertEqual(result.stdout, b"COUNT(a),SUM(a)\n2,3\n")
        self.assertIn(b"standard input, line 4: has 1 field", result.stderr)

    def test_join_with_a_file(self):
        self.path("names.csv", b"k,name\n1,one\n2,two\n")
        for source in ("- AS s JOIN names.csv ON s.k = names.k", "names.csv JOIN - AS s ON s.k = names.k"):
            self.assertEqual(self.batches(f"SELECT name, v FROM {source}", 2, b"k,v\n1,10\n2,20\n2,30\n3,40\n"),
                             [[["one", 10], ["two", 20]], [["two", 30]]])

    def test_a_column_without_a_value_yet(self):
        self.assertEqual(self.batches("SELECT COUNT(*) FROM - WHERE t = 'x' OR t = u", 1, b"t,u\n,y\nx,y\nz,z\n"),
                         [[[0]], [[1]], [[1]]])
        self.path("names.csv", b"k,none\none,\n")
        self.assertEqual(self.batches("SELECT v FROM - AS s JOIN names.csv AS n ON s.k = n.k WHERE v = none OR v = 'x'",
                                      1, b"k,v\n,\none,x\n"), [[], [["x"]]])

    def test_closed_pipe(self):
        self.path("x.csv", csv_of(["a"], [[i] for i in range(200000)]))
        process = self.start("SELECT a FROM x.csv")
        process.stdin.close()
        self.assertEqual(self.next_line(process), b"a\n")
        process.stdout.close()
        self.assertEqual(process.wait(20), -signal.SIGPIPE)


if __name__ == "__main__":
    unittest.main()
