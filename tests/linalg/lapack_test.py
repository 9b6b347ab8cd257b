"""LAPACK's own tester, unchanged, with sgetrf in passes: every ratio below its threshold, and its error exits. What
passes cannot do is LAPACK's own to answer.

usage: lapack_test.py LIBQUADMILL_LAPACK.SO XLINTSTS [unittest arguments]
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
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
# Passes for matrices of any size: by default, LAPACK itself answers for small ones.
PASSES = {"QUADMILL_SGETRF_MIN": "0"}
# The first line of standard error if a call was not answered by passes; none if all were.
NOTE = "libquadmill_lapack: sgetrf: "
ANSWERS = "; LAPACK's own sgetrf answers"

# Reads a matrix, column after column, and prints the result of the sgetrf that a program would find by name.
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

# For all names of a LAPACK.
BLIND = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
void* dlopen(const char* name, int mode) {
    if (name && (strstr(name, "lapack.so") || strstr(name, "blas") || strstr(name, "mkl"))) return 0;
    return ((void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen"))(name, mode);
}
"""

# Before and after a fork.
FORKER = """
import ctypes, os
library = ctypes.CDLL(None)
def factor():
    a, ipiv = (ctypes.c_float * 4)(1, 4, 2, 16), (ctypes.c_int * 2)()
    two, info = ctypes.c_int(2), ctypes.c_int(-99)
    library.sgetrf_(ctypes.byref(two), ctypes.byref(two), a, ctypes.byref(two), ipiv, ctypes.byref(info))
    return info.value
before = factor()
child = os.fork()
if child == 0:
    os._exit(factor())
print(before, os.waitpid(child, 0)[1])
"""

MODULE = """
void sgetrf_(const int*, const int*, float*, const int*, int*, int*);
int factor(float first) {
    float a[4] = {first, 4, 2, 16};
    int two = 2, order[2], info = -99;
    sgetrf_(&two, &two, a, &two, order, &info);
    return info;
}
"""
LOADER = """
import ctypes, sys
module = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
module.factor.argtypes = [ctypes.c_float]
module.factor(float("nan"))
print(module.factor(1.0))
"""


def run(**env):
    return subprocess.run([TESTER], input=INPUT.encode(), capture_output=True, timeout=250,
                          env={**os.environ, **PASSES, "LD_PRELOAD": LIBRARY, **env})


def call(matrix, preload, library="", **env):
    return subprocess.run([sys.executable, "-c", CALLER, library], input=json.dumps(matrix), capture_output=True,
                          text=True, timeout=60, env={**os.environ, **PASSES, "LD_PRELOAD": preload, **env})


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

    def check_factors(self, matrix, found):
        """P A = L U, with the exchanges of ipiv."""
        self.assertEqual(found.returncode, 0, found.stderr)
        m, n, values = matrix
        content, ipiv, info = json.loads(found.stdout)
        lda = m + 1
        lu = struct.unpack(f"{lda * n}f", bytes.fromhex(content))
        self.assertEqual(info, 0)
        a = [[values[j * m + i] for j in range(n)] for i in range(m)]
        for k, other in enumerate(ipiv):
            a[k], a[other - 1] = a[other - 1], a[k]
        for i in range(m):
            for j in range(n):
                product = sum((1 if k == i else lu[k * lda + i]) * lu[j * lda + k] for k in range(min(i, j, n - 1) + 1))
                self.assertAlmostEqual(product, a[i][j], delta=1e-4 * max(map(abs, values)))

    def test_another_is_found_by_its_name_where_none_is_loaded(self):
        nan = [3, 2, [1, 2, float("nan"), 4, 5, 6]]
        wanted, found = call(nan, "", OWN), call(nan, LIBRARY)
        self.assertEqual((wanted.returncode, found.returncode), (0, 0), found.stderr)
        self.assertEqual(json.loads(found.stdout), json.loads(wanted.stdout))
        self.assertIn(ANSWERS, found.stderr)

    def test_without_another_and_without_a_device_the_cpu_answers(self):
        """A dlopen() of its own, preloaded as well, finds no LAPACK."""
        matrix = [4, 3, [1, 4, 2, 16, 3, 5, -7, 2, 1, 1, 8, -3]]
        with tempfile.TemporaryDirectory() as folder:
            blind = os.path.join(folder, "blind.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", blind, "-"], input=BLIND, check=True, text=True)
            for env in ({"QUADMILL_DEVICE": "99"}, {"QUADMILL_SGETRF_MIN": "9"}):
                found = call(matrix, f"{LIBRARY}:{blind}", **env)
                self.check_factors(matrix, found)
                self.assertEqual("; the CPU answers" in found.stderr, "QUADMILL_DEVICE" in env, found.stderr)
            nan = call([2, 2, [1, float("nan"), 2, 3]], f"{LIBRARY}:{blind}")
            self.assertEqual(nan.returncode, 0, nan.stderr)
            self.assertIn("is a NaN; the CPU answers", nan.stderr)

    def test_small_matrices_never_open_a_context(self):
        matrix = [8, 8, [(i * 37 % 64) / 8 - 3 + (20 if i % 9 == 0 else 0) for i in range(64)]]
        del_min = {"QUADMILL_SGETRF_MIN": "", "QUADMILL_DEVICE": "99"}  # would say so
        found = call(matrix, LIBRARY, **del_min)
        self.assertEqual(found.stderr, "")
        self.check_factors(matrix, found)

    def test_numbers_at_the_end_of_the_range(self):
        matrix = [2, 2, [1e38, -1e38, 1e38, 1e38]]
        found = call(matrix, LIBRARY)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        self.check_factors(matrix, found)

    def test_a_child_of_a_process_that_used_passes_is_answered(self):
        found = subprocess.run([sys.executable, "-c", FORKER], capture_output=True, text=True, timeout=60,
                               env={**os.environ, **PASSES, "LD_PRELOAD": LIBRARY})
        self.assertEqual((found.returncode, found.stdout), (0, "0 0\n"), found.stderr)
        self.assertIn("a fork of one that may use OpenGL; LAPACK's own sgetrf answers", found.stderr)

    def test_a_lapack_that_a_program_loads_for_itself_alone(self):
        """As SciPy's modules do: dlsym(RTLD_NEXT) sees none."""
        with tempfile.TemporaryDirectory() as folder:
            module = os.path.join(folder, "module.so")
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", module, "-", "-Wl,--no-as-needed", "-l:" + OWN],
                           input=MODULE, check=True, text=True)
            found = subprocess.run([sys.executable, "-c", LOADER, module], capture_output=True, text=True, timeout=60,
                                   env={**os.environ, **PASSES, "LD_PRELOAD": LIBRARY})
        self.assertEqual((found.returncode, found.stdout), (0, "0\n"), found.stderr)
        self.assertIn(NOTE, found.stderr)


if __name__ == "__main__":
    unittest.main()
