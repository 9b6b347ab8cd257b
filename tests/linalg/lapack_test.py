"""LAPACK's own tester, unchanged, with sgetrf by passes: every ratio below its threshold, and its error exits. What
passes cannot do is LAPACK's own to answer.

usage: lapack_test.py LIBQUADMILL_LAPACK.SO XLINTSTS [unittest arguments]
"""
import json
import os
import signal
import subprocess
import sys
import unittest

LIBRARY, TESTER = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))

# The sizes, kinds of matrices and threshold of LAPACK's own stest.in, general matrices alone.
INPUT = """Data file for testing REAL LAPACK linear eqn. routines
7                      Number of values of M
0 1 2 3 5 10 50        Values of M (row dimension)
7                      Number of values of N
0 1 2 3 5 10 50        Values of N (column dimension)
3                      Number of values of NRHS
1 2 15                 Values of NRHS (number of right hand sides)
5                      Number of values of NB
1 3 3 3 20             Values of NB (the blocksize)
1 0 5 9 1              Values of NX (crossover point)
3                      Number of values of RANK
30 50 90               Values of rank (as a % of N)
30.0                   Threshold value of test ratio
T                      Put T to test the LAPACK routines
T                      Put T to test the driver routines
T                      Put T to test the error exits
SGE   11               List types on next line if 0 < NTYPES < 11
"""


OWN = "liblapack.so.3"
# The first line of standard error, where a call was not answered by passes; there is none where all were.
NOTE = "libquadmill_lapack: sgetrf: "
ANSWERS = "; LAPACK's own sgetrf answers"

# A matrix on standard input, column after column: what sgetrf makes of it, by the name that a program would find.
CALLER = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1] or None)
m, n, values = json.load(sys.stdin)
lda = m + 1
a = (ctypes.c_float * (lda * n))(*[-7.0] * (lda * n))
for j in range(n):
    for i in range(m):
        a[j * lda + i] = values[j * m + i]
ipiv, info = (ctypes.c_int * min(m, n))(), ctypes.c_int(-99)
m, n, lda = map(ctypes.c_int, (m, n, lda))
library.sgetrf_(*map(ctypes.byref, (m, n)), a, ctypes.byref(lda), ipiv, ctypes.byref(info))
json.dump([bytes(a).hex(), list(ipiv), info.value], sys.stdout)
"""


def run(**env):
    return subprocess.run([TESTER], input=INPUT.encode(), capture_output=True, timeout=250,
                          env={**os.environ, "LD_PRELOAD": LIBRARY, **env})


def call(matrix, preload, library="", **env):
    return subprocess.run([sys.executable, "-c", CALLER, library], input=json.dumps(matrix), capture_output=True,
                          text=True, timeout=60, env={**os.environ, "LD_PRELOAD": preload, **env})


class Lapack(unittest.TestCase):
    def check_all_passed(self, result):
        said = result.stdout.decode()
        self.assertEqual(result.returncode, 0, said + result.stderr.decode())
        for line in ("SGE routines passed the tests of the error exits",
                     "All tests for SGE routines passed the threshold",
                     "All tests for SGE drivers  passed the threshold"):
            self.assertIn(line, said)
        self.assertNotIn("fail", said.lower())

    def test_all_ratios_are_below_the_threshold_and_passes_answer_each_call(self):
        result = run()
        self.check_all_passed(result)
        self.assertNotIn("libquadmill_lapack", result.stderr.decode())

    def test_it_is_this_library_that_the_tester_calls_and_without_a_device_lapack_answers(self):
        result = run(QUADMILL_DEVICE="99")
        self.check_all_passed(result)
        notes = [line for line in result.stderr.decode().splitlines() if "libquadmill_lapack" in line]
        self.assertEqual(len(notes), 1, notes)
        self.assertTrue(notes[0].startswith(NOTE), notes)
        self.assertIn(ANSWERS, notes[0])

    def test_what_passes_refuse_comes_out_as_lapack_has_it(self):
        for name, matrix in {"a NaN": [3, 2, [1, 2, float("nan"), 4, 5, 6]],
                             "infinite": [2, 2, [1, float("inf"), 3, 4]],
                             "columns do not fit": [1, 70000, [i % 7 + 1 for i in range(70000)]]}.items():
            with self.subTest(name):
                wanted, found = call(matrix, "", OWN), call(matrix, f"{LIBRARY}:{OWN}")
                self.assertEqual((wanted.returncode, found.returncode), (0, 0), wanted.stderr + found.stderr)
                self.assertEqual(json.loads(found.stdout), json.loads(wanted.stdout))
                self.assertIn(NOTE, found.stderr)
                self.assertIn(name, found.stderr)
                self.assertIn(ANSWERS, found.stderr)

    def test_passes_answer_what_they_can_and_say_nothing(self):
        found = call([2, 2, [1, 4, 2, 16]], f"{LIBRARY}:{OWN}")
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        self.assertEqual(json.loads(found.stdout)[1:], [[2, 2], 0])

    def test_where_no_other_is_loaded_the_program_ends_with_a_message(self):
        found = call([2, 2, [1, float("nan"), 2, 3]], LIBRARY)
        self.assertEqual(found.returncode, -signal.SIGABRT)
        self.assertIn(NOTE + "Lu::factor: row 1, column 0 (from 0) is a NaN; there is no other sgetrf", found.stderr)


if __name__ == "__main__":
    unittest.main()
