"""`mpirun -n N quadmill terasort`: its output, its memory, and what is left when a rank fails or is killed.

usage: terasort_test.py QUADMILL MPIEXEC [unittest arguments]
"""
import concurrent.futures
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "cli"))
MPIEXEC = sys.argv.pop(2)
from command import QUADMILL, Command  # noqa: E402

# Two cores are enough for any number of ranks, and any user may run the tests.
os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"})


def start(ranks, *args, program=(QUADMILL,), **more):
    return subprocess.Popen([MPIEXEC, "-n", str(ranks), *program, *args], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


def run(ranks, *args, **more):
    job = start(ranks, *args, **more)
    out, err = job.communicate(timeout=120)
    return job.returncode, out, err.decode()


def records(n, key, seed=1):
    """Records of 100 bytes: a key of 10 bytes, followed by bytes that distinguish them."""
    chooser = random.Random(seed)
    return b"".join(key(chooser, i) + b"%089d\n" % i for i in range(n))


def by_key(data, size=100, key=lambda record: record[:10]):
    return b"".join(sorted((data[i:i + size] for i in range(0, len(data), size)), key=key))


KEYS = {"random": lambda chooser, i: chooser.randbytes(10),
        "equal": lambda chooser, i: b"0123456789",
        "sorted": lambda chooser, i: b"%010d" % i,
        "turned round": lambda chooser, i: b"%010d" % (10 ** 9 - i),
        "skewed": lambda chooser, i: b"%010d" % min(int(chooser.expovariate(2)), 3),
        "equal prefixes": lambda chooser, i: b"12345678%02d" % chooser.randrange(4)}


class Terasort(Command):
    def sort(self, ranks, *args, **more):
        status, out, err = run(ranks, "terasort", *args, **more)
        self.assertEqual(status, 0, err)
        return json.loads(out) if "--json" in args else out

    def left(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))

    def refused(self, words, ranks, *args, **more):
        status, out, err = run(ranks, "terasort", *args, **more)
        self.assertNotEqual(status, 0)
        self.assertIn(words, err)
        self.assertEqual(out, b"")
        return err


class Output(Terasort):
    def test_all_keys_and_numbers_of_ranks(self):
        for name, key in KEYS.items():
            data = records(5003, key)
            wanted = by_key(data)
            source, out = self.path("in", data), self.path("out")
            for ranks in (2, 3, 4):
                with self.subTest(keys=name, ranks=ranks):
                    facts = self.sort(ranks, source, out, "--json")
                    self.assertEqual(self.read(out), wanted)
                    self.assertEqual((facts["records"], facts["ranks"]), (5003, ranks))
                    self.assertLessEqual(facts["most_records"] - facts["least_records"], 1)
                    self.left("in", "out")

    def test_one_rank_is_the_command_alone(self):
        data = records(100, KEYS["random"])
        self.sort(1, self.path("in", data), self.path("out"))
        self.assertEqual(self.read(self.path("out")), by_key(data))

    def test_no_records_and_fewer_than_ranks(self):
        for n in (0, 1, 2, 3, 4, 5):
            data = records(n, KEYS["random"])
            self.sort(4, self.path("in", data), self.path("out"))
            self.assertEqual(self.read(self.path("out")), by_key(data))
            self.left("in", "out")

    def test_keys_of_numbers_and_several_fields(self):
        chooser = random.Random(2)
        rows = [(chooser.randrange(5), chooser.uniform(-9, 9), i) for i in range(3000)]
        data = b"".join(struct.pack("<IdI", *row) for row in rows)
        rows.sort(key=lambda row: (-row[0], row[1]))
        self.sort(3, self.path("in", data), self.path("out"), "--record-bytes", "16", "--key", "0:u32:desc", "--key",
                  "4:f64")
        self.assertEqual(self.read(self.path("out")), b"".join(struct.pack("<IdI", *row) for row in rows))

    def test_a_file_a_rank(self):
        data = records(1000, KEYS["random"])
        source = self.path("in", data)
        self.sort(3, source, self.path("out"), "--parts")
        names = [f"out-0000{rank}-of-00003" for rank in range(3)]
        self.left("in", *names)
        parts = [self.read(self.path(name)) for name in names]
        self.assertEqual(b"".join(parts), by_key(data))
        self.assertEqual([len(part) for part in parts], [33300, 33300, 33400])

    def test_over_tcp(self):
        data = records(20000, KEYS["random"])
        self.sort(2, self.path("in", data), self.path("out"), env={**os.environ, "OMPI_MCA_btl": "tcp,self"})
        self.assertEqual(self.read(self.path("out")), by_key(data))

    def test_memory_of_a_rank_is_kept_and_runs_go_where_told(self):
        data = records(600000, KEYS["random"])
        temp = self.path("temp")
        os.mkdir(temp)
        facts = self.sort(2, self.path("in", data), self.path("out"), "--memory", "48M", "--temp", temp, "--json")
        self.assertLessEqual(facts["peak_bytes"], 48 << 20)
        self.assertTrue(self.read(self.path("out")) == by_key(data))
        self.assertEqual(os.listdir(temp), [])

    def test_what_stood_there_is_replaced_and_keeps_its_mode(self):
        data = records(10, KEYS["random"])
        out = self.path("out", b"old")
        os.chmod(out, 0o640)
        self.sort(2, self.path("in", data), out)
        self.assertEqual(self.read(out), by_key(data))
        self.assertEqual(os.stat(out).st_mode & 0o777, 0o640)


class Refused(Terasort):
    def test_calls_that_cannot_be(self):
        source = self.path("in", records(10, KEYS["random"]))
        out = self.path("out")
        cases = [("give names of files", 2, "-", out), ("give names of files", 2, source, "-"),
                 ("the output '" + source + "' is the input", 2, source, source),
                 ("records of one length", 2, source, out, "--lines"),
                 ("ends within a record", 2, source, out, "--record-bytes", "99"),
                 ("must be at least", 2, source, out, "--memory", "10M"),
                 ("cannot open", 3, self.path("none"), out), ("cannot create", 3, source, self.path("none/out"))]
        # A job that fails sleeps for seconds, until its last rank has ended, so four run at a time.
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda case: self.refused(*case), cases))
        self.left("in")
        alone = subprocess.run([QUADMILL, "terasort", source, out, "--parts"], capture_output=True)
        self.assertEqual(alone.returncode, 2)
        self.assertIn(b"goes with several ranks", alone.stderr)

    def test_a_disk_that_is_full_leaves_what_was_there(self):
        data = records(40000, KEYS["random"])
        source, out = self.path("in", data), self.path("out", b"old")
        for most in (100, 3000):  # KiB of a file: a rank's run is longer, or the output
            # Only for the ranks, and over TCP: MPI itself uses files for shared memory.
            limited = ["bash", "-c", f'ulimit -f {most}; exec "$0" "$@"', QUADMILL]
            job = start(2, "terasort", source, out, program=limited, env={**os.environ, "OMPI_MCA_btl": "tcp,self"})
            _, err = job.communicate(timeout=120)
            self.assertNotEqual(job.returncode, 0)
            self.assertIn(b"cannot write", err)
            self.assertEqual(self.read(out), b"old")
            self.assertEqual(self.read(source), data)
            self.left("in", "out")


class Killed(Terasort):
    def pid_of(self, job, rank):
        """The process of a rank, once it has started."""
        wanted = f"OMPI_COMM_WORLD_RANK={rank}".encode()
        for _ in range(1000):
            with open(f"/proc/{job.pid}/task/{job.pid}/children") as file:
                children = file.read().split()
            for child in children:
                try:
                    with open(f"/proc/{child}/environ", "rb") as file:
                        environment = file.read().split(b"\0")
                    if wanted in environment and os.path.samefile(f"/proc/{child}/exe", QUADMILL):
                        return int(child)
                except OSError:
                    pass
            time.sleep(0.005)
        self.fail("the rank did not start")

    def whole_runs(self):
        return [name for name in os.listdir(self.folder) if ".quadmill-run-" in name and not name.endswith(".part")]

    def killed_job(self, source, out, *args):
        """Kills rank 1, which lags behind, when rank 0 has its run."""
        job = start(2, "terasort", source, out, *args)
        slow = self.pid_of(job, 1)
        for _ in range(4000):
            if self.whole_runs():
                break
            # It proceeds in small steps, behind rank 0.
            os.kill(slow, signal.SIGSTOP)
            time.sleep(0.005)
            if self.whole_runs():
                break
            os.kill(slow, signal.SIGCONT)
            time.sleep(0.001)
        os.kill(slow, signal.SIGKILL)
        _, err = job.communicate(timeout=60)
        self.assertNotEqual(job.returncode, 0, err)
        self.assertFalse(os.path.exists(out))
        return self.whole_runs()

    def test_the_next_start_removes_what_is_left(self):
        data = records(200000, KEYS["random"])
        source, out = self.path("in", data), self.path("out")
        self.assertTrue(self.killed_job(source, out))
        self.assertEqual(self.read(source), data)
        facts = self.sort(2, source, out, "--json")
        self.assertEqual(facts["resumed"], 0)
        self.assertTrue(self.read(out) == by_key(data))
        self.left("in", "out")

    def test_the_next_start_resumes_from_whole_runs(self):
        data = records(200000, KEYS["random"])
        source, out = self.path("in", data), self.path("out")
        whole = len(self.killed_job(source, out, "--resume"))
        self.assertGreater(whole, 0)
        facts = self.sort(2, source, out, "--resume", "--json")
        self.assertEqual(facts["resumed"], whole)
        self.assertTrue(self.read(out) == by_key(data))
        self.left("in", "out")

    def test_runs_of_another_input_are_not_taken_up(self):
        data = records(200000, KEYS["random"])
        source, out = self.path("in", data), self.path("out")
        self.assertTrue(self.killed_job(source, out))
        other = records(200000, KEYS["random"], seed=2)
        self.path("in", other)
        facts = self.sort(2, source, out, "--resume", "--json")
        self.assertEqual(facts["resumed"], 0)
        self.assertTrue(self.read(out) == by_key(other))
        self.left("in", "out")


if __name__ == "__main__":
    unittest.main()
