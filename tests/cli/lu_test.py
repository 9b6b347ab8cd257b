"""`quadmill lu` and `quadmill bench linalg`: their input, output and messages, and wrong calls.

usage: lu_test.py QUADMILL [unittest arguments]
"""
import array
import gzip
import json
import math
import random
import struct
import unittest
from fractions import Fraction

from command import Command, floats, npy, run

# L and U of [2 1; 4 1] with partial pivoting: rows 2 and 1.
MATRIX = b"%%MatrixMarket matrix array real general\n% by columns\n2 2\n2\n4\n1\n1\n"
MARKET = b"%%MatrixMarket matrix array real general\n"


class LuVerb(Command):
    def lu(self, *args, **more):
        return self.report("lu", *args, **more)

    def floats_of(self, path):
        values = array.array("f")
        values.frombytes(self.read(path))
        return list(values)

    def test_every_form_factorizes_and_reports(self):
        n = 40
        rng = random.Random(1)
        path = self.path("a.f32", floats([rng.uniform(-1, 1) + (n if i % (n + 1) == 0 else 0) for i in range(n * n)]))
        for args in (["--pivot", "none"], ["--pivot", "none", "--block", "1"], ["--block", "1", "--swap", "copy"],
                     ["--block", "8", "--layout", "scalars"], [], ["--pivot", "full"],
                     ["--pivot", "full", "--swap", "copy"]):
            report = self.lu(path, *args)
            self.assertEqual((report["rows"], report["n"], report["info"]), (n, n, 0))
            self.assertLess(report["residual"], 30)
            self.assertGreater(report["growth"], 0.9)
            self.assertEqual(report["pivot"], args[1] if args[:1] == ["--pivot"] else "partial")
            self.assertGreater(report["gflops"], 0)
            self.assertAlmostEqual(report["gflops"] * report["seconds"] * 1e9, 2 / 3 * n**3, delta=1)

    def test_factors_and_their_order_are_written(self):
        path = self.path("a.mtx", MATRIX)
        out = self.path("lu.f32")
        self.lu(path, "-o", out)
        self.assertEqual(self.floats_of(out), [4, 1, 0.5, 0.5])
        self.assertEqual(self.read(out + ".rows"), b"2\n1\n")
        out = self.path("lu.mtx")
        self.lu(path, "--pivot", "full", "-o", out)
        self.assertEqual(self.read(out), b"%%MatrixMarket matrix array real general\n2 2\n4\n0.5\n1\n0.5\n")
        self.assertEqual((self.read(out + ".rows"), self.read(out + ".columns")), (b"2\n1\n", b"1\n2\n"))

    def test_solves(self):
        path = self.path("a.mtx", MATRIX)
        raw = self.path("b.f32", floats([3, 5]))
        out = self.path("x.f32")
        for more in ([], ["--refine"]):
            report = self.lu(path, "--solve", raw, "-o", out, *more)
            self.assertEqual(self.floats_of(out), [1, 1])
            self.assertEqual("refinement" in report, bool(more))
        self.assertEqual(report["determinant_sign"], -1)
        market = self.path("b.mtx", b"%%MatrixMarket matrix array real general\n2 2\n3\n5\n2\n4\n")
        result = run("lu", path, "--solve", market)
        self.assertEqual((result.returncode, result.stdout.splitlines()[-2:]), (0, [b"1 1", b"1 0"]))

    def test_numpy_files(self):
        sides, out = self.path("b.npy", npy("'<f8'", "(2,)", struct.pack("<2d", 3, 5))), self.path("x.npy")
        for matrix in (npy("'<f4'", "(2, 2)", floats([2, 1, 4, 1])),
                       npy("'<f8'", "(2, 2)", struct.pack("<4d", 2, 1, 4, 1))):
            path = self.path("a.npy", matrix)
            self.lu(path, "--solve", sides, "-o", out, "--refine")
            header, _, values = self.read(out).partition(b"\n")
            self.assertIn(b"'shape': (2, 1)", header)
            kind = "f" if b"'<f4'" in header else "d"
            self.assertEqual(struct.unpack(f"<2{kind}", values), (1, 1))
            self.lu(path, "-o", out)
            self.assertIn(b"'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)", self.read(out))
        self.fails(1, "its header says 6 values", "lu", self.path("c.npy", npy("'<f4'", "(2, 3)", bytes(16))))
        self.fails(1, "a matrix has 32- or 64-bit floats", "lu", self.path("i.npy", npy("'<i4'", "(2, 2)", bytes(16))))

    def test_refined_solutions_are_doubles(self):
        n = 20
        rng = random.Random(2)
        rows = [[struct.unpack("<f", struct.pack("<f", rng.uniform(-1, 1)))[0] for _ in range(n)] for _ in range(n)]
        wanted = [rng.uniform(-1, 1) for _ in range(n)]
        path = self.path("a.f32", floats([x for row in rows for x in row]))
        sides = [sum(Fraction(a) * Fraction(x) for a, x in zip(row, wanted)) for row in rows]
        raw = self.path("b.f64", struct.pack(f"<{n}d", *sides))
        text = self.path("b.mtx", ("%%%%MatrixMarket matrix array real general\n%d 1\n" % n +
                                   "".join(f"{float(b)!r}\n" for b in sides)).encode())

        def close(found, tolerance):
            self.assertEqual(len(found), n)
            return all(abs(x - y) < tolerance for x, y in zip(found, wanted))

        for b in (raw, text):
            self.assertTrue(close(self.lu(path, "--solve", b, "--refine")["x"][0], 1e-13))
        self.assertFalse(close(self.lu(path, "--solve", raw)["x"][0], 1e-13))
        out = self.path("x.f64")
        self.assertNotIn("x", self.lu(path, "--solve", raw, "--refine", "-o", out))
        exact = struct.unpack(f"<{n}d", self.read(out))
        self.assertTrue(close(exact, 1e-13))
        out = self.path("x.mtx")
        self.lu(path, "--solve", raw, "--refine", "-o", out)
        self.assertEqual([float(line) for line in self.read(out).split(b"\n")[2:-1]], list(exact))
        out = self.path("x.f32")
        self.lu(path, "--solve", raw, "--refine", "-o", out)
        self.assertEqual(self.floats_of(out), [struct.unpack("<f", struct.pack("<f", x))[0] for x in exact])
        said = run("lu", path, "--solve", raw, "--refine").stdout.splitlines()[-n:]
        self.assertEqual([float(line) for line in said], list(exact))

    def test_many_small_matrices(self):
        path = self.path("many.f32", floats([2, 1, 4, 1, 1, 2, 2, 4, 1, 0, 0, 5]))
        report = self.lu(path, "--batch", "2")
        self.assertEqual([report[key] for key in ("systems", "n", "singular", "first_singular")], [3, 2, 1, 2])
        self.assertLess(report["residual"], 30)
        out = self.path("lu.f32")
        self.lu(path, "--batch", "2", "-o", out)
        self.assertEqual(self.floats_of(out), [4, 1, 0.5, 0.5, 2, 4, 0.5, 0, 1, 0, 0, 5])
        self.assertEqual(self.read(out + ".rows"), b"2\n1\n2\n1\n1\n2\n")
        out = self.path("x.f32")
        result = run("lu", path, "--batch", "2", "--solve", self.path("b", floats([3, 5, 1, 1, 7, 10])), "-o", out,
                     "--profile")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"3 matrices of 2 x 2, 1 of them singular\nthe first singular one is number 2\n", result.stdout)
        self.assertIn(b"find pivots", result.stderr)
        x = self.floats_of(out)
        self.assertEqual(x[:2] + x[4:], [1, 1, 7, 2])
        self.assertTrue(x[2] != x[2] and x[3] != x[3])
        self.assertEqual(self.lu(self.path("empty.f32", b""), "--batch", "7")["systems"], 0)
        self.fails(2, "--batch", "lu", path, "--batch", "33")
        self.fails(2, "--batch", "lu", path, "--batch", "2", "--pivot", "none")
        self.fails(2, "name a file for the solutions", "lu", path, "--batch", "2", "--solve", path)
        self.fails(1, "do not make 5 x 5 matrices", "lu", self.path("a", floats([1] * 30)), "--batch", "5")
        self.fails(1, "not a multiple of that", "lu", path, "--batch", "2", "--solve", self.path("c", floats([1])),
                   "-o",
                   out)

    def test_small_matrices_of_any_range_and_condition(self):
        out, b = self.path("x.f32"), self.path("b.f32", floats([3e38, 3e38, 1, 1, 3e-39, 6e-39]))
        path = self.path("many.f32", floats([3e38, 3e38, -3e38, 3e38, 1, 1, 1, 1.0000002, 3e-39, 0, 0, 3e-39]))
        result = run("lu", path, "--batch", "2", "--solve", b, "-o", out, "--json")
        report = json.loads(result.stdout)
        self.assertEqual((report["systems"], report["singular"]), (3, 0))
        self.assertLess(report["residual"], 30)
        self.assertTrue(1e7 < report["worst_condition"] < 1e8, report)
        x = self.floats_of(out)
        for found, wanted in zip(x[:2] + x[4:], (0, 1, 1, 2)):
            self.assertAlmostEqual(found, wanted, delta=1e-5)
        self.assertIn(b"do not trust the solutions of 1 systems, first number 2: its condition number is about",
                      result.stderr)
        self.lu(path, "--batch", "2", "-o", self.path("lu.f64"))
        self.assertAlmostEqual(struct.unpack("<12d", self.read(self.path("lu.f64")))[3] / 6e38, 1, delta=1e-6)
        self.fails(1, "end the name in .f64 or .mtx", "lu", path, "--batch", "2", "-o", self.path("lu.f32"))

    def test_reads_all_of_matrix_market(self):
        for text, wanted in (
                             (b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 2\n",
                              [4, 2, 0.5, -1]),
                             (b"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2\n", [1, 0, 0, 1]),
                             (b"%%MatrixMarket MATRIX Array Integer skew-symmetric\n\n2 2\n3\n", [3, 0, 0, -3])):
            out = self.path("lu.f32")
            self.lu(self.path("a.mtx", text), "-o", out)
            self.assertEqual(self.floats_of(out), wanted)

    def test_singular_matrices_are_reported(self):
        path = self.path("a.f32", floats([1, 2, 2, 4]))
        report = self.lu(path)
        self.assertEqual((report["info"], report["determinant_sign"], report["determinant_log"]), (2, 0, None))
        self.assertIsNone(report["condition"])
        self.fails(1, "the matrix is singular: pivot 2 is zero", "lu", path, "--solve", self.path("b", floats([1, 1])))
        self.assertEqual(self.lu(self.path("empty.f32", b""))["info"], 0)

    def test_refuses_bad_files_with_the_line(self):
        for text, words in ((b"%%MatrixMarket matrix array real general\n2 2\n1\nx\n", "line 4"),
                            (b"%%MatrixMarket matrix array real general\n2 2\n1\nnan\n1\n1\n", "is not finite"),
                            (b"%%MatrixMarket matrix array real general\n2 2\n1\n1\n", "ends before"),
                            (b"%%MatrixMarket matrix array real general\n1 1\n1\n1\n", "line 4"),
                            (b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n",
                             "not a row of the matrix"),
                            (b"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 5\n",
                             "on the diagonal"),
                            (b"%%MatrixMarket matrix array real general\n0 18446744073709551615\n", "2^30 elements"),
                            (b"%%MatrixMarket matrix array complex general\n", "'complex'"),
                            (b"1 2\n", "does not begin with %%MatrixMarket")):
            self.fails(1, words, "lu", self.path("a.mtx", text))
        self.fails(1, "not a multiple of 4", "lu", self.path("a", b"12345"))
        self.fails(1, "not a multiple of 8", "lu", self.path("a.f64", b"1234"))
        self.fails(1, "is infinite", "lu", self.path("a.f64", struct.pack("<d", float("inf"))))
        self.fails(1, "say --columns N", "lu", self.path("a", floats([1, 2, 3])))
        self.fails(1, "row 2, column 1, from 1) is a NaN", "lu",
                   self.path("a", floats([1, 2]) + struct.pack("<ff", float("nan"), 1)))
        self.fails(1, "needs a square matrix", "lu", self.path("a", floats([1, 2])), "--columns", "2", "--solve",
                   self.path("b", floats([1])))
        self.fails(1, "right-hand sides", "lu", self.path("a", floats([1, 2, 3, 4])), "--solve",
                   self.path("b", floats([1])))
        self.fails(2, "goes with --solve", "lu", self.path("a", floats([1])), "--refine")
        self.fails(2, "--block", "lu", self.path("a", floats([1])), "--block", "3")
        self.fails(2, "leave block unset", "lu", self.path("a", floats([1])), "--block", "8", "--pivot", "full")

    def doubles(self, name, values):
        return self.path(name, struct.pack(f"<{len(values)}d", *values))

    def test_refinement_has_the_matrix_in_double(self):
        a, b = self.path("a.mtx", MARKET + b"1 1\n16777217\n"), self.path("b.mtx", MARKET + b"1 1\n16777217\n")
        self.assertEqual(self.lu(a, "--solve", b, "--refine")["x"], [[1]])
        # Singular in floats, with a condition that only factors in double can handle.
        a = self.doubles("a.f64", [1 + 2**-30, 1, 1, 1])
        report = self.lu(a, "--solve", self.doubles("b.f64", [2 + 2**-30, 2]), "--refine")
        self.assertEqual((report["x"], report["info"], report["refinement"]["factors"]), ([[1, 1]], 2, "double"))
        self.assertTrue(4e9 < report["condition"] < 5e9, report)

    def test_entries_of_one_position_add_up(self):
        for text, wanted in ((b"general\n2 2 3\n1 1 1.5\n2 2 1\n1 1 2.5\n", [4, 0, 0, 1]),
                             (b"symmetric\n2 2 4\n1 1 4\n2 1 1\n2 1 1\n2 2 5\n", [4, 2, 0.5, 4])):
            out = self.path("lu.f32")
            self.lu(self.path("a.mtx", b"%%MatrixMarket matrix coordinate real " + text), "-o", out)
            self.assertEqual(self.floats_of(out), wanted)
        twice = b"%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1e308\n1 1 1e308\n"
        self.fails(1, "infinite", "lu", self.path("a.mtx", twice))

    def test_text_and_packed_files_are_not_raw_floats(self):
        text = "".join(f"{i} 1.0\n" for i in range(64)).encode()
        for content, words in ((text[:256], "looks like text, not like raw 32-bit floats"),
                               (gzip.compress(bytes(range(256)))[:64], "looks like a gzip file")):
            self.fails(1, words, "lu", self.path("a.f32", content))
            self.fails(1, words, "lu", self.path("one.f32", floats([1])), "--solve", self.path("b", content))
            self.fails(1, words, "lu", self.path("a.f32", content), "--batch", "2")

    def test_only_square_files_are_square(self):
        for n in (2, 3, 30):
            self.fails(1, "do not make a square matrix; say --columns N", "lu",
                       self.path("a", floats([1] * n * (n + 1))))
            self.fails(1, "do not make a square matrix", "lu", self.path("a", floats([1] * n * (n - 1))))

    def test_matrices_at_the_ends_of_the_range(self):
        for size in (3e38, 1e-38, 1e300, 1e-300):
            a, b = self.doubles("a.f64", [size, size, -size, size]), self.doubles("b.f64", [size, size])
            report = self.lu(a, "--solve", b, "--refine")
            self.assertEqual((report["x"], report["info"], report["determinant_sign"]), ([[0, 1]], 0, 1))
            self.assertAlmostEqual(report["condition"], 2, delta=1e-6)
            self.assertAlmostEqual(report["determinant_log"], math.log(2) + 2 * math.log(size), delta=1e-3)
            out = self.path("lu.f64")
            self.lu(a, "-o", out)
            found = struct.unpack("<4d", self.read(out))
            for one, wanted in zip(found, (size, size, -1, 2 * size)):
                self.assertAlmostEqual(one / wanted, 1, delta=1e-6)
        a = self.path("a.f32", floats([3e38, 3e38, -3e38, 3e38]))
        self.assertEqual(self.lu(a, "--solve", self.path("b", floats([3e38, 3e38])))["x"], [[0, 1]])
        self.fails(1, "end the name in .f64 or .mtx", "lu", a, "-o", self.path("lu.f32"))

    def test_what_floats_cannot_hold_is_not_lost(self):
        tiny = self.doubles("a.f64", [1, 0, 0, 1e-200])
        report = self.lu(tiny, "--solve", self.doubles("b.f64", [1, 3e-200]), "--refine")
        self.assertEqual((report["info"], report["x"]), (0, [[1, 3]]))
        self.fails(1, "value 2, 3e-200, is beyond the range of 32-bit floats", "lu", tiny, "--solve",
                   self.path("b.f64"))
        self.fails(1, "is below the range of 32-bit floats", "lu", tiny, "--batch", "2")
        self.fails(1, "is below the range of 32-bit floats", "lu", self.path("a.mtx", MARKET + b"1 1\n1e-60\n"),
                   "--batch", "1")
        huge = self.doubles("b.f64", [1, 1])
        self.fails(1, "32-bit floats", "lu", tiny, "--solve", huge)
        self.fails(1, "beyond the range", "lu", tiny, "--solve", huge, "--refine", "-o", self.path("x.f32"))
        self.assertEqual(self.lu(tiny, "--solve", huge, "--refine")["x"], [[1, 1e200]])

    def test_no_pivoting_says_what_it_needs(self):
        a, b = self.path("a.f32", floats([0, 1, 1, 0])), self.path("b.f32", floats([1, 2]))
        report = self.lu(a, "--pivot", "none")
        self.assertEqual((report["info"], report["determinant_sign"], report["determinant_log"]), (1, None, None))
        self.assertIn(b"needs pivoting or is singular; --pivot partial tells which",
                      run("lu", a, "--pivot", "none").stdout)
        self.fails(1, "pivot 1 is zero, so the matrix needs pivoting", "lu", a, "--pivot", "none", "--solve", b)
        self.assertEqual(self.lu(a)["determinant_sign"], -1)

    def test_solutions_that_cannot_be_trusted_are_warned_of(self):
        n = 8
        a = self.doubles("a.f64", [1 / (i + j + 1) for i in range(n) for j in range(n)])  # Hilbert's
        b = self.doubles("b.f64", [1] * n)
        result = run("lu", a, "--solve", b, "--json")
        self.assertIn(b"do not trust the solutions: the condition number is about", result.stderr)
        self.assertIn(b"--refine solves in double", result.stderr)
        result = run("lu", a, "--solve", b, "--refine", "--json")
        self.assertNotIn(b"trust", result.stderr)
        condition = json.loads(result.stdout)["condition"]
        self.assertTrue(1e10 < condition < 4e10, condition)
        n = 14
        a = self.doubles("a.f64", [1 / (i + j + 1) for i in range(n) for j in range(n)])
        result = run("lu", a, "--solve", self.doubles("b.f64", [1] * n), "--refine")
        self.assertIn(b"too much for doubles", result.stderr)
        fine = self.path("a.f32", floats([2, 1, 4, 1]))
        self.assertNotIn(b"trust", run("lu", fine, "--solve", self.path("b.f32", floats([1, 2]))).stderr)
        unstable = self.path("a.f32", floats([1e-10, 1, 1, 1]))
        result = run("lu", unstable, "--pivot", "none", "--solve", self.path("b.f32", floats([1, 2])))
        self.assertIn(b"do not trust the solutions", result.stderr)

    def test_profile_is_a_table_of_passes(self):
        result = run("lu", self.path("a.f32", floats([1, 2, 3, 4])), "--profile", "--block", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in (b"search", b"swap pointers", b"eliminate", b"% of limit"):
            self.assertIn(name, result.stderr)

    def test_bench_reports_and_draws(self):
        plot = self.path("lu.svg")
        report = self.report("bench", "linalg", "--n", "40,64", "--repeat", "1", "--rivals", "--plot", plot,
                             "--batch", "4,9", "--systems", "50")
        self.assertEqual([(case["n"], case["pivot"]) for case in report["cases"]],
                         [(n, pivot) for n in (40, 64) for pivot in ("none", "partial", "full")]
                         + [(4, "partial"), (9, "partial")])
        small = report["cases"][6:]
        for case in small:
            self.assertEqual(case["systems"], 50)
            itself, *rivals = case["results"]
            self.assertEqual(itself["name"], "all together")
            self.assertTrue(rivals)
        for case in report["cases"]:
            for one in case["results"]:
                self.assertIs(one["verified"], True, one["name"])
                self.assertGreater(one["gflops"], 0)
                self.assertTrue(0 < one["residual"] < 30, one)
        for case in report["cases"][:6]:
            self.assertEqual("blocks_over_rows" in case, case["pivot"] != "full")
            engines = [one for one in case["results"] if one["kind"] == "engine"]
            self.assertEqual(len(engines), {"none": 4, "partial": 5, "full": 2}[case["pivot"]])
            for one in engines:
                self.assertEqual(sum(part["passes"] for part in one["parts"]), one["passes"] + 1)  # and the diagonal
                bound = one["bound"]
                self.assertAlmostEqual(bound["percent_of_limit"], 100 * bound["least_ms"] / bound["ms"], delta=1e-6)
        self.assertIn(b"GFLOP/s", self.read(plot))
        self.assertEqual(self.read(plot).count(b"class=\"panel\""), 4)

    def test_bench_takes_some_forms_and_prints_parts(self):
        call = ("bench", "linalg", "--n", "40", "--repeat", "1", "--pivot", "partial", "--batch", "0")
        result = run(*call, "--forms", "32 rows,copies", "--parts")
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in (b"by blocks ", b"32 rows, tiles: ", b"  eliminate in panel", b"a row a pass, copies: "):
            self.assertIn(words, result.stdout)
        self.assertNotIn(b"pointers: ", result.stdout)
        self.fails(2, "no form's name has 'x64' in it", *call, "--forms", "x64")


if __name__ == "__main__":
    unittest.main()
