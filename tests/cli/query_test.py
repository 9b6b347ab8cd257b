"""quadmill query from end to end: answers compared with sqlite3, and wrong calls.

usage: query_test.py QUADMILL [unittest arguments]
"""
import csv
import io
import math
import random
import re
import sqlite3
import unittest

from command import QUERY_ENGINES, run

from query_command import Query, csv_of


class Answers(Query):
    NAMES = ["a", "b", "c", "d", "t"]

    def setUp(self):
        super().setUp()
        chance = random.Random(20240607)
        texts = ["", "x", "it's", "a,b", 'say "hi"', "two\nlines", "é", "zz"]
        maybe = lambda value: None if chance.random() < 0.1 else value
        self.table = [[maybe(chance.randrange(-20, 20)), maybe(chance.randrange(-80, 80) / 8),
                       maybe(chance.uniform(-5, 5)), maybe(chance.randrange(5)), maybe(chance.choice(texts))]
                      for _ in range(2000)]
        self.path("data.csv", csv_of(self.NAMES, self.table))
        self.database = sqlite3.connect(":memory:")
        self.addCleanup(self.database.close)
        self.database.execute("CREATE TABLE data (a INTEGER, b REAL, c REAL, d INTEGER, t TEXT)")
        self.database.executemany("INSERT INTO data VALUES (?, ?, ?, ?, ?)", self.table)

    def same(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for row, wanted in zip(found, expected):
            self.assertEqual(len(row), len(wanted))
            for value, right in zip(row, wanted):
                if isinstance(right, float):
                    self.assertAlmostEqual(value, right, delta=1e-9 * max(1, abs(right)))
                else:
                    self.assertEqual(value, right)

    CONDITIONS = [
        "(a > 3 OR b <= 2.5) AND c BETWEEN -1 AND 7 AND NOT d IN (1,2,3)", "a = 3", "3 < a", "NOT a < 3", "a != 3.5",
        "a > 2.5", "a >= -2.5 AND a <> 0", "b = 0.125", "a < b", "a = d", "t = 'it''s'", "t = ''", "t IS NULL",
        "t IS NOT NULL AND t >= 'x'", "NOT (t = 'x' OR a IS NULL)", "a NOT BETWEEN -5 AND 5", "d NOT IN (0, 4)",
        "t IN ('x', 'zz', 'nothing')", "2*a + 3*d - b > 4", "TRUE", "FALSE", "a = 1e3", "a > -1e300",
        "a < 99999999999999999999", "NOT (a = 1 AND b > 0) OR t = 'zz'", "((a)) > ((2)) -- and nothing else",
        "t BETWEEN 'a' AND 'x'", "\"a\" <= 0", "data.a >= 0 AND data.d == 2", "1 = 1", "1 > 2 OR a = 7"]

    def test_conditions(self):
        for condition in self.CONDITIONS:
            with self.subTest(condition):
                query = ("SELECT COUNT(*), COUNT(b), SUM(a), SUM(b), AVG(b), MIN(c), MAX(a), MAX(d) FROM data "
                         f"WHERE {condition}")
                expected = self.database.execute(query).fetchall()
                answer = self.answer(query.replace("FROM data", "FROM data.csv"))
                self.same(answer["rows"], expected)
                self.assertEqual(answer["matched"], expected[0][0])

    def test_rows_out(self):
        for condition in self.CONDITIONS[:12]:
            query = f"SELECT t, a, c FROM data WHERE {condition}"
            self.same(self.rows(query.replace("FROM data", "FROM data.csv")), self.database.execute(query).fetchall())
        self.same(self.rows("SELECT * FROM data.csv LIMIT 7"), self.table[:7])
        self.assertEqual(self.rows("SELECT * FROM data.csv LIMIT 0"), [])

    def test_groups(self):
        query = "SELECT d, COUNT(*) AS n, SUM(b), MAX(a) FROM data WHERE a > 0 GROUP BY d"
        self.same(self.rows(query.replace("FROM data", "FROM data.csv")),
                  self.database.execute(query + " ORDER BY d").fetchall())
        query = "SELECT t, d, COUNT(c) FROM data GROUP BY t, d"
        self.same(self.rows(query.replace("FROM data", "FROM data.csv")),
                  self.database.execute(query + " ORDER BY t, d").fetchall())

    def test_ranks(self):
        values = sorted(row[2] for row in self.table if row[2] is not None and row[0] is not None and row[0] > 3)
        n = len(values)
        found = self.rows("SELECT QUANTILE(c, 0.5), QUANTILE(c, 0), QUANTILE(c, 0.9), QUANTILE(c, 1), KTH_LARGEST(c, "
                          "3), "
                          "KTH_SMALLEST(c, 3), KTH_LARGEST(c, 100000) FROM data.csv WHERE a > 3")[0]
        self.assertEqual(found, [values[math.ceil(n / 2) - 1], values[0], values[math.ceil(0.9 * n) - 1], values[-1],
                                 values[-3], values[2], None])

    def test_groups_by_names(self):
        self.same(self.rows("SELECT d AS kind, COUNT(1) FROM data.csv GROUP BY KIND"),
                  self.database.execute("SELECT d, COUNT(*) FROM data GROUP BY d ORDER BY d").fetchall())

    def test_joins(self):
        chance = random.Random(7)
        other = [[chance.randrange(-25, 25), chance.choice("pqr")] for _ in range(60)]
        self.path("y.csv", csv_of(["k", "t"], other))
        self.database.execute("CREATE TABLE y (k INTEGER, t TEXT)")
        self.database.executemany("INSERT INTO y VALUES (?, ?)", other)
        for on in ("data.a = y.k", "y.k = data.a", "ABS(data.a - y.k) <= 1.5"):
            for rest in ("WHERE data.d > 2 AND y.t = 'p'", "WHERE data.d > y.k", ""):
                query = f"SELECT COUNT(*), SUM(b), MAX(k) FROM data JOIN y ON {on} {rest}"
                files = query.replace("FROM data JOIN y", "FROM data.csv JOIN y.csv")
                self.same(self.rows(files), self.database.execute(query).fetchall())
        self.path("z.csv", b"k,w\n1,7\n2,8\n3,9\n")
        self.path("w.csv", b"k\n2\n4\n")
        both = self.output("SELECT * FROM w.csv JOIN z.csv ON w.k = z.k")  # columns w.k, z.k, z.w
        again = 'SELECT stdin."z.k", z.k, z.w FROM - JOIN z.csv ON stdin."w.k" = z.k'
        self.assertEqual(self.rows(again, stdin=both), [[2, 2, 8]])
        query = "SELECT data.t, y.t, k FROM data JOIN y ON data.a = y.k WHERE d = 1"
        expected = self.database.execute(query + " ORDER BY data.rowid, y.rowid").fetchall()
        self.same(self.rows(query.replace("FROM data JOIN y", "FROM data.csv JOIN 'y.csv' AS y")), expected)
        for method in ("loops", "merge", "auto"):
            for engine in ("cpu", *QUERY_ENGINES):
                for execution in ((), ("--execution", "pipelined"), ("--execution", "one-op")):
                    if engine == "cpu" and execution:
                        continue
                    self.same(self.rows(query.replace("FROM data JOIN y", "FROM data.csv JOIN 'y.csv' AS y"),
                                        "--join", method, "--engine", engine, *execution), expected)
        passes = [run("query", "SELECT COUNT(*) FROM data.csv JOIN y.csv ON data.a = y.k", "--join", method, "--engine",
                      "bitmap", "--profile", cwd=self.folder).stderr for method in ("loops", "merge")]
        self.assertIn(b"match", passes[0])
        self.assertNotIn(b"match", passes[1])
        self.assertEqual(self.answer("SELECT * FROM data.csv JOIN y.csv ON data.a = y.k LIMIT 1")["columns"],
                         ["a", "b", "c", "d", "data.t", "k", "y.t"])

    def test_csv_out_reads_back(self):
        short = lambda value: int(value) if isinstance(value, float) and value == int(value) else value
        out = self.output("SELECT * FROM data.csv")
        table = [[short(value) for value in row] for row in self.table]
        self.assertEqual(out, csv_of(self.NAMES, table))
        self.assertEqual(self.output("SELECT * FROM -", stdin=out), out)
        read = list(csv.reader(io.StringIO(out.decode(), newline="")))
        self.assertEqual(read, [self.NAMES] + [["" if value is None else str(value) for value in row] for row in table])

    def test_numbers_out(self):
        self.path("x.csv", b"a,t\n1e5,x\n-nan,x\n0.00001,x\n1e15,x\n9.5e-6,x\n1.5e15,x\n-0,x\n,x\n0.1,x\n")
        self.assertEqual(self.output("SELECT a FROM x.csv").split(),
                         b"a 100000 nan 0.00001 1000000000000000 9.5e-06 1.5e+15 -0 0.1".split())
        self.assertEqual(self.rows("SELECT a FROM x.csv WHERE t = 'x'")[1::6], [["nan"], [None]])

    def test_null_of_no_rows(self):
        found = self.rows("SELECT COUNT(*), COUNT(a), SUM(a), AVG(b), MIN(c), MEDIAN(a) FROM data.csv WHERE a > 100")
        self.assertEqual(found, [[0, 0, None, None, None, None]])
        self.assertEqual(self.output("SELECT COUNT(*), SUM(a) FROM data.csv WHERE a > 100"), b"COUNT(*),SUM(a)\n0,\n")

    def test_json_and_names(self):
        answer = self.answer("SELECT COUNT(*), sum( a ) , MAX(b) AS \"the most\" FROM data.csv")
        self.assertEqual(list(answer), ["columns", "rows", "matched", "ms"])
        self.assertEqual(answer["columns"], ["COUNT(*)", "sum( a )", "the most"])
        self.assertEqual(answer["matched"], 2000)
        self.assertGreater(answer["ms"], 0)

    def test_explain_and_profile(self):
        query = "SELECT SUM(a) FROM data.csv WHERE a > 3 AND b < 2"
        text = self.output(query, "--explain").decode()
        self.assertIn("a > 3", text)
        self.assertIn("sum(a)", text)
        self.assertEqual(len(re.findall(r"(?m)^column [ab] is (?:integer|real)$", text)), 2)
        result = run("query", query, "--profile", cwd=self.folder)
        self.assertIn(b"a > 3", result.stderr)
        self.assertIn(b"no passes", result.stderr)
        self.assertEqual(result.stdout.splitlines()[0], b"SUM(a)")
        result = run("query", f"{query}; SELECT COUNT(*) FROM data.csv WHERE b > 7", "--profile", cwd=self.folder)
        self.assertNotIn(b"a > 3", result.stderr.split(b"no passes")[1])
        self.assertIn(b"b > 7", result.stderr.split(b"no passes")[1])
        self.refuses(2, "--explain", query, "--explain", "--json")
        self.refuses(2, "--explain", query, "--explain=svg")

    def test_bench_csv_says_that_each_statement_runs_once(self):
        result = run("bench", "csv", self.folder, "--rows", "100", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"; each run once, ", result.stdout.splitlines()[0])

    def test_indexes(self):
        chance = random.Random(46)
        self.path("points.csv", csv_of(["x", "y", "z"], [[chance.randrange(10000), chance.random(), chance.randrange(9)]
                                                         for _ in range(20000)]))
        where = " FROM points.csv WHERE x BETWEEN 5000 AND 5400 AND y < 0.05"
        queries = "; ".join([f"SELECT COUNT(*){where}", f"SELECT SUM(z), MAX(y){where} AND z > 2",
                             f"SELECT x, z{where} AND z = 3 ORDER BY z, x",
                             "SELECT COUNT(*) FROM points.csv WHERE z > 4"])
        expected = self.output(queries, "--engine", "cpu")
        for engine in QUERY_ENGINES:
            self.assertEqual(self.output(queries, "--engine", engine, "--index", "x,y", "--index", "z"), expected)
        text = self.output(queries, "--engine", "bitmap", "--index", "x,y", "--explain").decode()
        self.assertRegex(text, r"index of x and y counts, \d+ of 20000 rows are read\n")
        self.assertIn("no index\n", text)
        self.assertNotIn("finds rows", text)  # all rows of a small table are tested as fast
        unused = run("query", "SELECT COUNT(*) FROM points.csv WHERE x > 3", "--engine", "bitmap", "--index", "x,y",
                     cwd=self.folder)
        self.assertEqual(unused.returncode, 0)
        self.assertIn(b"--index x,y", unused.stderr)
        for wrong in (("--index", "x"), ("--index", "x", "--engine", "cpu"), ("--index", "x,y,z", "--engine", "bitmap"),
                      ("--index", "x,x", "--engine", "bitmap"),
                      ("--index", "x", "--engine", "bitmap", "--batch", "10")):
            self.refuses(2, "--index", f"SELECT COUNT(*){where}", *wrong)

    def test_auto_without_a_driver_is_quiet(self):
        result = run("query", "SELECT COUNT(*) FROM data.csv", cwd=self.folder,
                     env=self.without_driver())
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, b"COUNT(*)\n2000\n", b""))

    def test_threads(self):
        for threads in ("1", "2", "5"):
            self.assertEqual(self.value("SELECT COUNT(a) FROM data.csv", "--threads", threads),
                             sum(row[0] is not None for row in self.table))

    def test_engines_agree(self):
        for condition in self.CONDITIONS[:8]:
            query = f"SELECT COUNT(*), SUM(a), MIN(b), MEDIAN(c), KTH_LARGEST(d, 2) FROM data.csv WHERE {condition}"
            expected = self.rows(query, "--engine", "cpu")
            for engine in ("auto", *QUERY_ENGINES):
                self.assertEqual(self.rows(query, "--engine", engine), expected, engine)
        for engine in QUERY_ENGINES:
            result = run("query", "SELECT COUNT(*) FROM data.csv WHERE a > 3", "--engine", engine, "--profile",
                         cwd=self.folder)
            self.assertEqual((result.returncode, result.stdout[:9]), (0, b"COUNT(*)\n"), result.stderr)
            self.assertIn(b"GPU ms", result.stderr)
            self.assertEqual(b"limit: write DEPTH32F_STENCIL8" in result.stderr, engine == "depth")

    def test_any_number_of_groups(self):
        rows = [[i * 7919 % 100003, i % 3] for i in range(150000)]
        self.path("g.csv", csv_of(["k", "v"], rows))
        self.assertEqual(self.value("SELECT COUNT(*) FROM -", stdin=self.output("SELECT k FROM g.csv GROUP BY k")),
                         len({k for k, _ in rows}))
        self.assertEqual(self.rows("SELECT k, SUM(v) FROM g.csv GROUP BY k LIMIT 2"),
                         [[k, sum(v for j, v in rows if j == k)] for k in (0, 1)])


class Refusals(Query):
    def test_syntax(self):
        text = self.refuses(2, "FROM is expected here, not WHERE", "SELECT a WHERE b > 1")
        self.assertIn("\n  SELECT a WHERE b > 1\n           ^\n", text)
        self.assertIn("Try `quadmill query --help`", text)
        self.refuses(2, "a cast is not supported", "SELECT a::int FROM x")
        self.refuses(2, "for the rest\n", "SELECT CASE WHEN a > 1 THEN 2 END FROM x")
        self.refuses(2, "WITH is not supported", "WITH x AS (SELECT 1) SELECT a FROM x")
        self.fails(2, "QUERY", "query")

    def test_names_and_types(self):
        self.path("x.csv", b"a,b\n1,one\n")
        self.path("y.csv", b"a,c\n1,2\n")
        text = self.refuses(2, "there is no column z: x has a, b", "SELECT a FROM x.csv WHERE z > 1")
        self.assertIn("\n  SELECT a FROM x.csv WHERE z > 1\n                            ^\n", text)
        self.refuses(2, "there is no column c: x has a, b", "SELECT x.c FROM x.csv JOIN y.csv ON x.a = y.a")
        self.refuses(2, "a", "SELECT a FROM x.csv JOIN y.csv ON x.a = y.a")
        self.refuses(2, "a may be x.a (column 1) or y.a (column 1); say which",
                     "SELECT a FROM x.csv JOIN y.csv ON x.a = y.a")
        self.refuses(2, "A text is written in single quotes: 'one'", 'SELECT a FROM x.csv WHERE b = "one"')
        text = self.refuses(2, "text cannot be compared with a number, and b is text (line 2 has 'one')",
                            "SELECT a FROM x.csv WHERE b > 1.5e-9")
        self.assertIn("\n  SELECT a FROM x.csv WHERE b > 1.5e-9\n                            ^\n", text)
        self.assertEqual(self.value("SELECT SUM(a) FROM x.csv WHERE a = '1'"), 1)
        self.refuses(2, "a is integer, and 'x' is not a number", "SELECT a FROM x.csv WHERE a = 'x'")
        self.refuses(2, "a is integer, and '99999999999999999999' is beyond 64 bits",
                     "SELECT a FROM x.csv WHERE a > '99999999999999999999'")
        text = self.refuses(2, "sums need numbers, but b is text (line 2 has 'one')",
                            "SELECT a FROM x.csv WHERE b BETWEEN a + 1 AND 'x'")
        self.assertIn("^", text)
        self.refuses(2, "a is integer, and '' is not a number",
                     "SELECT a FROM x.csv WHERE a IN ('1', '')")
        self.refuses(2, "a is integer; b is text (line 2 has 'one')", "SELECT a FROM x.csv WHERE a = b")
        self.refuses(2, "x.b is text (line 2 has 'one')", "SELECT b FROM x.csv JOIN y.csv ON x.b = y.a")
        self.refuses(2, "sums need numbers, but b is text (line 2 has 'one')", "SELECT SUM(b) FROM x.csv")
        self.path("na.csv", b"a,b\n1,x\n2,y\nNA,z\n3,x\n")
        self.refuses(2, "sums need numbers, but a is text (line 4 has 'NA')", "SELECT SUM(a) FROM na.csv")
        self.refuses(2, "sums need numbers, but a is text (line 4 has 'NA')", "SELECT AVG(a) FROM -",
                     stdin=self.read(self.path("na.csv")))
        self.refuses(2, "b is text (line 3 has 'y')", "SELECT SUM(b) FROM -", "--batch", "2", stdin=b"b\n1\ny\n")
        self.refuses(2, "GROUP BY a", "SELECT a, COUNT(*) FROM x.csv")
        self.path("beyond.csv", b"a,b\n9007199254740993,1.5\n")
        text = self.refuses(1, "only where doubles are exact", "SELECT a FROM beyond.csv WHERE a > b")
        self.assertTrue(text.startswith("quadmill: column 'a' "), text)

    def test_files_and_options(self):
        self.refuses(1, "nothing.csv", "SELECT a FROM nothing.csv")
        self.refuses(1, "irectory", "SELECT a FROM .")
        self.path("x.csv", b"a\n1\n")
        self.refuses(2, "--delimiter", "SELECT a FROM x.csv", "--delimiter", "::")
        self.refuses(2, "--delimiter", "SELECT a FROM x.csv", "--delimiter", '"')
        self.refuses(2, "--engine", "SELECT a FROM x.csv", "--engine", "gpu")
        self.refuses(2, "--join", "SELECT a FROM x.csv", "--join", "hash")
        self.refuses(2, "--execution", "SELECT a FROM x.csv", "--execution", "two-op")
        self.refuses(2, "--sums", "SELECT a FROM x.csv", "--sums", "float16")
        self.refuses(2, "--engine depth only", "SELECT a FROM x.csv", "--sums", "float32")
        self.path("large.csv", b"a,b\n16777216,0\n16777217,0\n")
        for sums, count in (("exact", 1), ("float32", 0)):  # which rounds 2^24 + 1
            if "depth" not in QUERY_ENGINES:
                self.refuses(1, "needs OpenGL 4.5", "SELECT a FROM large.csv", "--engine", "depth", "--sums", sums)
                continue
            self.assertEqual(self.rows("SELECT COUNT(*) FROM large.csv WHERE a + b > 16777216", "--engine", "depth",
                                       "--sums", sums), [[count]])
        self.refuses(2, "--batch", "SELECT a FROM -", "--batch", "0")

    def test_sum_beyond_64_bits(self):
        self.path("x.csv", b"a\n9223372036854775807\n1\n")
        self.refuses(1, "64", "SELECT SUM(a) FROM x.csv")


if __name__ == "__main__":
    unittest.main()
