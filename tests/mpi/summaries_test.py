"""Verbs on streams under mpirun: the answer of rank 0, compared with exact counts of the values of all ranks.

usage: summaries_test.py QUADMILL MPIEXEC [unittest arguments]
"""
import array
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
MPIEXEC = sys.argv.pop(2)
from command import QUADMILL, Command, floats, run  # noqa: E402

os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"})


def on_ranks(ranks, *args, stdin=b""):
    return subprocess.run([MPIEXEC, "-n", str(ranks), QUADMILL, *args], input=stdin, capture_output=True, timeout=120)


def all_on_ranks(jobs):
    """Their results in turn. Jobs that fail sleep for seconds, until the last rank has ended, so four run at a time."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda job: on_ranks(*job), jobs))


class Libraries(Command):
    def test_mpi_is_loaded_in_ranks_only(self):
        """The loader takes the time of a fifth of the command's start for it."""
        listing = {**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}
        self.assertNotIn(b"libmpi", subprocess.run([QUADMILL], capture_output=True, env=listing).stdout)


class Summaries(Command):
    def answers(self, ranks, *args, **more):
        result = on_ranks(ranks, *args, "--json", **more)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return [json.loads(line) for line in result.stdout.splitlines()]

    def check_quantiles(self, answer, values, eps):
        values = sorted(values)
        self.assertEqual(answer["n"], len(values))
        for row in answer["quantiles"]:
            low, high = (sum(v < row["value"] for v in values), sum(v <= row["value"] for v in values))
            self.assertLessEqual(low, row["phi"] * len(values) + eps * len(values) + 1)
            self.assertGreaterEqual(high, row["phi"] * len(values) - eps * len(values) - 1)

    def test_parts_of_one_raw_file(self):
        chooser = random.Random(1)
        values = array.array("f", [chooser.expovariate(1) for _ in range(20011)])
        source = self.path("in", values.tobytes())
        for ranks in (2, 3, 4):
            answer, = self.answers(ranks, "quantiles", source, "--eps", "0.01")
            self.check_quantiles(answer, values, 0.01)

    def test_parts_of_lines_with_a_header(self):
        for n in (0, 1, 2, 3, 1000):
            values = [i * 7 % 1000 for i in range(n)]
            source = self.path("in", b"latency\n" + b"".join(b"%d\n" % v for v in values))
            answer, = self.answers(4, "quantiles", source, "--text", "--header", "1", "--type", "i32")
            self.assertEqual(answer["n"], n)

    def test_files_in_turn_and_patterns(self):
        for i in range(5):
            self.path(f"part{i}.u32", array.array("I", [i] * 100 + [99]).tobytes())
        answer, = self.answers(3, "frequent", self.path("part*.u32"), "--type", "u32", "--support", "0.1")
        self.assertEqual(answer["n"], 505)
        self.assertEqual(sorted(row["value"] for row in answer["items"]), [0, 1, 2, 3, 4])
        alone = json.loads(run("frequent", *(self.path(f"part{i}.u32") for i in range(5)), "--type", "u32", "--support",
                               "0.1", "--json").stdout)
        self.assertEqual(alone["items"], answer["items"])

    def test_prefixes_and_sums(self):
        source = self.path("in", array.array("I", [0x0a000001] * 300 + list(range(0, 2 ** 32, 2 ** 23))).tobytes())
        args = ("hhh", source, "--support", "0.2", "--hierarchy", "ipv4-bytes")
        answer, = self.answers(3, *args)
        self.assertEqual([row["prefix"] for row in answer["items"]],
                         [row["prefix"] for row in json.loads(run(*args, "--json").stdout)["items"]])
        pairs = self.path("pairs", array.array("f", [v for i in range(1000) for v in (i, 2)]).tobytes())
        answer, = self.answers(4, "corrsum", pairs, "--agg", "max", "--g", "y*y")
        self.assertIn('"sum":4000', json.dumps(answer).replace(" ", ""))

    def test_answers_on_the_way_are_about_all_ranks(self):
        values = list(range(4000))
        source = self.path("in", floats(values))
        answers = self.answers(4, "quantiles", source, "--every", "1000")
        self.assertEqual([answer["n"] for answer in answers], [1000, 2000, 3000, 4000])

    def test_answers_while_a_stream_is_open(self):
        os.mkfifo(self.path("pipe"))
        source = self.path("in", floats(range(500)))
        job = subprocess.Popen([MPIEXEC, "-n", "2", QUADMILL, "quantiles", source, self.path("pipe"), "--every", "400",
                                "--json"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        with open(self.path("pipe"), "wb", buffering=0) as pipe:
            pipe.write(floats(range(1000, 1200)))
            self.assertEqual(json.loads(job.stdout.readline())["n"], 400)  # the pipe is open
            pipe.write(floats(range(300)))
        rest = [json.loads(line)["n"] for line in job.stdout]
        self.assertEqual(job.wait(timeout=60), 0)
        job.stdout.close()
        self.assertEqual(rest, [800, 1000])

    def test_standard_input_is_the_first_ranks(self):
        answer, = self.answers(2, "quantiles", "--text", stdin=b"1\n2\n3\n")
        self.assertEqual(answer["n"], 3)

    def test_what_is_saved_is_of_all(self):
        source, saved = self.path("in", floats(range(1000))), self.path("saved")
        self.answers(3, "quantiles", source, "--save", saved)
        self.assertEqual(json.loads(run("merge", saved, "--json").stdout)["n"], 1000)

    def test_sketches_are_those_of_one_rank(self):
        source = self.path("in", array.array("I", [i % 37 for i in range(5000)]).tobytes())
        args = ("sketch", "build", source, "--width", "2^10", "-o")
        self.answers(3, *args, self.path("ranks"))
        self.assertEqual(run(*args, self.path("alone")).returncode, 0)
        self.assertEqual(self.read(self.path("ranks")), self.read(self.path("alone")))

    def test_refusals(self):
        source, saved = self.path("in", floats(range(100))), self.path("saved")
        self.assertEqual(run("quantiles", source, "--save", saved).returncode, 0)
        sliding, missing, *alone = all_on_ranks([(2, "quantiles", source, "--sliding", "10"),
                                                 (3, "quantiles", self.path("none")), (2, "sort", source),
                                                 (2, "merge", saved)])
        self.assertNotEqual(sliding.returncode, 0)
        self.assertIn(b"of one stream", sliding.stderr)
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn(b"cannot open", missing.stderr)
        for result in alone:
            self.assertEqual(result.returncode, 2)
            self.assertIn(b"does not share work among ranks", result.stderr)
            self.assertEqual(result.stdout, b"")

    def test_what_all_ranks_find_is_said_once(self):
        source = self.path("in", floats(range(100)))
        cases = [(b"unknown verb", ["hepl"]), (b"unknown option", ["quantiles", source, "--epsilon", "1"]),
                 (b"--eps", ["quantiles", source, "--eps", "2"]), (b"OUT is required", ["terasort", source]),
                 (b"cannot open", ["quantiles", self.path("none")]),
                 (b"cannot open", ["terasort", self.path("none"), self.path("out")]),
                 (b"--memory", ["terasort", source, self.path("out"), "--memory", "1M"]),
                 (b"is not OFFSET", ["terasort", source, self.path("out"), "--key", "x"]),
                 (b"does not share work among ranks", ["sort", source])]
        for (words, args), result in zip(cases, all_on_ranks([(3, *args) for _, args in cases])):
            with self.subTest(args=args):
                self.assertIn(result.returncode, (1, 2))
                said = [line for line in result.stderr.splitlines() if line.startswith(b"quadmill")]
                self.assertEqual(len(said), 1, result.stderr.decode())
                self.assertIn(words, said[0])

    def test_what_one_rank_finds_is_said(self):
        """A limit on the size of files for rank 2 only."""
        source = self.path("in", bytes(100) * 50000)
        script = 'if [ "$OMPI_COMM_WORLD_RANK" = 2 ]; then ulimit -f 100; fi; exec "$0" "$@"'
        result = subprocess.run([MPIEXEC, "-n", "3", "bash", "-c", script, QUADMILL, "terasort", source,
                                 self.path("out"),
                                 "--parts"], capture_output=True, timeout=120,
                                env={**os.environ, "OMPI_MCA_btl": "tcp,self"})
        self.assertNotEqual(result.returncode, 0)
        said = [line for line in result.stderr.splitlines() if line.startswith(b"quadmill")]
        self.assertEqual(len(said), 1, result.stderr.decode())
        self.assertIn(b"cannot write", said[0])

    def test_a_line_that_is_none_is_said_and_the_rest_answered(self):
        source = self.path("in", b"".join(b"%d\n" % i for i in range(1000)) + b"x\n")
        result = on_ranks(2, "quantiles", source, "--text", "--json")
        self.assertEqual(result.returncode, 3, result.stderr.decode())
        self.assertEqual(json.loads(result.stdout)["n"], 1000)

    def test_a_bad_line_has_its_number_in_the_file(self):
        lines = [b"%d\n" % i for i in range(30000)]
        lines[12344] = b"pear\n"
        source = self.path("in", b"".join(lines))
        result = on_ranks(4, "quantiles", source, "--text", "--json")
        self.assertEqual(result.returncode, 3, result.stderr.decode())
        said = result.stderr.decode()
        self.assertEqual(said.count("line 12345: 'pear' is not a number"), 1, said)
        n = json.loads(result.stdout)["n"]
        self.assertLess(12344, n)
        self.assertIn(f"in all about {n}\n", said)
        pairs = array.array("d", [1, 2] * 3000)
        pairs[2 * 2000 + 1] = float("inf")
        for more, words in (((), "pair 2001: y is infinite"), (("--g", "y*1"), "pair 2001: y is infinite")):
            result = on_ranks(4, "corrsum", self.path("p", pairs.tobytes()), "--type", "f64", "--agg", "min", *more)
            self.assertIn(words, result.stderr.decode())

    def test_not_one_good_line(self):
        result = on_ranks(2, "quantiles", self.path("in", b"pear\n" * 100), "--text", "--skip-bad", "--json")
        self.assertEqual(result.returncode, 1, result.stderr.decode())
        self.assertEqual(result.stdout, b"")
        self.assertIn(b"no line is a value", result.stderr)


if __name__ == "__main__":
    unittest.main()
