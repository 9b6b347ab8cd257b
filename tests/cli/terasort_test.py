"""`quadmill terasort` as its users see it: its output, how much memory it takes, and what is left when it is
killed, refused or stopped.

usage: terasort_test.py QUADMILL [unittest arguments]
"""
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

from command import QUADMILL, Command, run


def lines(n, seed=1):
    chooser = random.Random(seed)
    return b"".join(b"%099x\n" % chooser.getrandbits(396) for _ in range(n))


def by_key(data, size=100, key=lambda record: record[:10]):
    return b"".join(sorted((data[i:i + size] for i in range(0, len(data), size)), key=key))


class Terasort(Command):
    def setUp(self):
        super().setUp()
        self.temp = self.path("temp")
        os.mkdir(self.temp)

    def sort(self, *args, **more):
        result = run("terasort", *args, "--temp", self.temp, **more)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result

    def left(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*names, "temp"]))
        self.assertEqual(os.listdir(self.temp), [])


class Output(Terasort):
    def test_records_in_memory_and_in_runs(self):
        data = lines(150000)
        source, out = self.path("in", data), self.path("out")
        for memory, engine in (("256M", "auto"), ("24M", "cpu")):
            facts = json.loads(self.sort(source, out, "--memory", memory, "--engine", engine, "--json").stdout)
            self.assertEqual(self.read(out), by_key(data))
            self.assertEqual((facts["records"], facts["bytes"]), (150000, 15000000))
            self.assertEqual(facts["runs"] > 1, memory == "24M")
            self.assertEqual(facts["merge_passes"], 1 if memory == "24M" else 0)
            self.assertGreater(facts["seconds"], 0)
            for stage in ("read", "keys", "sort", "reorder", "write"):
                self.assertGreaterEqual(facts["stages"][stage]["seconds"], 0)
                self.assertLessEqual(facts["stages"][stage]["hidden"], 1)
            self.assertEqual("merge" in facts["stages"], memory == "24M")
            self.assertGreater(facts["runs_mb_per_s"], 0)
        self.left("in", "out")

    def test_runs_of_a_size_and_passes(self):
        data = lines(30000)
        source, out = self.path("in", data), self.path("out")
        for engine in ("cpu", "merge", "bitonic"):
            facts = json.loads(self.sort(source, out, "--run-size", "1M", "--engine", engine, "--memory", "256M",
                                         "--json").stdout)
            self.assertEqual(self.read(out), by_key(data))
            self.assertEqual((facts["runs"], facts["run_bytes"]), (3, 1048500))
            self.assertEqual(facts["passes"] > 0, engine != "cpu")
        self.assertEqual(json.loads(self.sort(source, out, "--json").stdout)["runs"], 0)

    def test_key_fields(self):
        chooser = random.Random(3)
        rows = [(chooser.randrange(4), chooser.choice([-1.5, 2.25, 0.0]), chooser.randrange(-3, 3)) for _ in range(999)]
        data = b"".join(struct.pack("<IdqI", *row, i) for i, row in enumerate(rows))
        out = self.path("out")
        self.sort("--record-bytes", "24", "--key", "4:f64:desc", "--key", "0:u32", "--key", "12:i64:asc",
                  "--temp", "/tmp", self.path("in", data), out)
        read = [struct.unpack_from("<IdqI", self.read(out), i) for i in range(0, len(data), 24)]
        expected = sorted(((*row, i) for i, row in enumerate(rows)), key=lambda r: (-r[1], r[0], r[2]))
        self.assertEqual(read, expected)

    def test_lines_as_sort_does(self):
        chooser = random.Random(4)
        data = b"\n".join(bytes(chooser.choice(b"\0\1\t\x0b aB\xff") for _ in range(chooser.randrange(9)))
                          for _ in range(5000))
        expected = subprocess.run(["sort"], input=data, env={"LC_ALL": "C", "PATH": os.environ["PATH"]},
                                  capture_output=True).stdout
        self.sort("--lines", self.path("in", data), self.path("out"))
        self.assertEqual(self.read(self.path("out")), expected)
        self.assertEqual(self.sort("--lines", "-", "-", stdin=data).stdout, expected)
        self.assertEqual(self.sort("--lines", "-", "-", stdin=b"").stdout, b"")
        self.assertEqual(self.sort("--lines", "-", "-", stdin=b"b\na").stdout, b"a\nb\n")

    def test_the_cap_on_memory_is_kept(self):
        data = lines(10000)
        source = self.path("in")
        with open(source, "wb") as file:
            for _ in range(80):
                file.write(data)
        for cap, args in ((28, []), (64, []), (40, ["--lines"])):
            process = subprocess.Popen([QUADMILL, "terasort", source, self.path("out"), "--temp", self.temp, "--memory",
                                        f"{cap}M", "--engine", "cpu", "--json", *args], stdout=subprocess.PIPE)
            peak = 0
            while process.poll() is None:  # as the system says it from outside
                with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                    found = re.search(r"^VmHWM:\s+(\d+) kB$", file.read(), re.MULTILINE)
                if found and process.poll() is None:
                    peak = max(peak, int(found[1]) << 10)
                time.sleep(0.01)
            facts = json.loads(process.stdout.read())
            process.stdout.close()
            self.assertEqual(process.returncode, 0)
            self.assertGreater(peak, cap << 19)
            self.assertLess(peak, cap << 20)
            self.assertLess(facts["peak_bytes"], cap << 20)
            self.assertGreater(facts["runs"], 1)

    def test_engines_of_the_gpu_and_their_memory(self):
        data = lines(100000)
        source, out = self.path("in", data), self.path("out")
        for engine in ("merge", "bitonic"):
            result = self.sort(source, out, "--engine", engine, "--memory", "176M", "--json", "--profile")
            facts = json.loads(result.stdout)
            self.assertEqual(facts["engine"], engine)
            self.assertIn(b"merge" if engine == "merge" else b"compare", result.stderr)
            self.assertEqual(self.read(out), by_key(data))
            if json.loads(run("info", "--json").stdout)["software"]:
                self.assertLess(facts["peak_bytes"], 176 << 20)

    def test_several_devices(self):
        data = lines(600000)
        source, out = self.path("in", data), self.path("out")
        for memory, has_runs in (("1G", False), ("208M", True)):
            facts = json.loads(self.sort(source, out, "--engine", "merge", "--device", "0,0", "--memory", memory,
                                         "--json").stdout)
            self.assertEqual(facts["runs"] > 0, has_runs)
            self.assertEqual(sum(device["keys"] for device in facts["devices"]), 600000)
            self.assertEqual([device["failure"] for device in facts["devices"]], [None, None])
            self.assertTrue(self.read(out) == by_key(data))
        self.fails(2, "not by cpu", "terasort", source, out, "--device", "0,0", "--engine", "cpu")
        self.fails(2, "one device", "terasort", source, out, "--device", "0,0", "--profile")

    def test_output_on_another_file_system(self):
        shared = "/dev/shm/quadmill-terasort-test"
        os.makedirs(shared, exist_ok=True)
        self.addCleanup(shutil.rmtree, shared)
        data = lines(100000)
        source = self.path("in", data)
        self.sort(source, shared + "/out", "--memory", "24M", "--engine", "cpu")
        self.assertEqual(self.read(shared + "/out"), by_key(data))
        result = run("terasort", shared + "/out", self.path("out"), "--temp", shared, "--memory", "24M", "--engine",
                     "cpu")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(os.listdir(shared), ["out"])


class Refused(Terasort):
    def test_wrong_calls(self):
        source, out = self.path("in", lines(3)), self.path("out")
        for words, args in (
                ("at least", ["--memory", "10M"]), ("'x' is not OFFSET:BYTES", ["--key", "x"]),
                ("'1:2:3:4' is not", ["--key", "1:2:3:4"]), ("'0:u24' is not", ["--key", "0:u24"]),
                ("'0:4:down' is not", ["--key", "0:4:down"]), ("not within a record of 100", ["--key", "98:u32"]),
                ("not within a record", ["--key-offset", "91"]), ("at most 255", ["--key", "0:90"] * 3),
                ("excludes", ["--key", "0:1", "--key-bytes", "3"]), ("excludes", ["--lines", "--key", "0:1"]),
                ("--record-bytes", ["--record-bytes", "0"]), ("--record-bytes", ["--record-bytes", "65536"]),
                ("--memory", ["--memory", "much"]), ("--engine", ["--engine", "hybrid"])):
            self.fails(2, words, "terasort", source, out, *args)
        self.fails(2, "OUT is required", "terasort", source)
        self.fails(2, "standard output", "terasort", source, "-", "--json")
        self.left("in")

    def test_files(self):
        source, out = self.path("in", lines(3)), self.path("out")
        self.fails(1, "No such file", "terasort", self.path("none"), out)
        self.assertIn("quadmill: the output ", self.fails(1, "is the input", "terasort", source, source))
        self.fails(1, "at byte 200 there are 99 bytes left", "terasort", self.path("cut", lines(3)[:-1]), out)
        self.fails(1, "at byte 200 there are 99 bytes left", "terasort", "-", out, stdin=lines(3)[:-1])
        long_line = self.path("long", b"b\n" + b"a" * (20 << 20) + b"\nc\n")
        words = self.fails(1, "long': line 2, from byte 2 on, has 20971521 bytes", "terasort", "--lines", long_line,
                           out)
        needed = re.search(r"--memory (\d+M) is enough", words).group(1)
        self.sort("--lines", long_line, out, "--memory", needed)
        self.assertEqual(self.read(out)[:1] + self.read(out)[-5:], b"a\nb\nc\n")
        os.remove(out)
        os.remove(long_line)
        big = self.path("big", lines(100000))
        self.fails(1, "gone'", "terasort", big, out, "--memory", "24M", "--engine", "cpu", "--temp", self.path("gone"))
        self.fails(1, "No space left", "terasort", big, "/dev/full", "--engine", "cpu")
        self.left("in", "cut", "big")

    def test_a_full_disk(self):
        source, out = self.path("in", lines(100000)), self.path("out")
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        for memory in ("24M", "256M"):  # the temporary file, the output
            words = self.fails(1, "File too large", "terasort", source, out, "--memory", memory, "--engine", "cpu",
                               "--temp", self.temp, preexec_fn=small_files)
            self.assertIn("temporary" if memory == "24M" else "out'", words)
            self.assertGreaterEqual(int(re.search(r"at byte (\d+)", words)[1]), 1 << 20)
            self.left("in")


    def test_memory_that_the_system_refuses(self):
        source, out = self.path("in", lines(600000)), self.path("out")
        def little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (100000 << 10, 100000 << 10))
        self.fails(1, "the system does not give this program the 256M of memory that --memory allows it; give less "
                   "--memory, or raise `ulimit -v`", "terasort", source, out, "--engine", "cpu", "--temp", self.temp,
                   preexec_fn=little_memory)
        self.left("in")


class Stopped(Terasort):
    def start(self, *args):
        return subprocess.Popen([QUADMILL, "terasort", *args, "--temp", self.temp, "--engine", "cpu", "--memory",
                                 "28M"], stderr=subprocess.PIPE)

    def end(self, process):
        process.stderr.read()
        process.stderr.close()
        return process.wait()

    def test_killed_at_any_moment(self):
        data = lines(150000)
        source, out = self.path("in", data), self.path("out")
        began = time.monotonic()
        self.assertEqual(self.end(self.start(source, out)), 0)
        whole = time.monotonic() - began
        expected = self.read(out)
        os.remove(out)
        chooser, killed = random.Random(5), 0
        for _ in range(25):
            process = self.start(source, out)
            time.sleep(chooser.uniform(0, whole))
            process.kill()
            ended = self.end(process)
            killed += ended == -signal.SIGKILL
            self.assertEqual(os.listdir(self.temp), [])
            if os.path.exists(out):  # it was done
                self.assertEqual(self.read(out), expected)
                os.remove(out)
        self.assertGreater(killed, 5)
        self.sort(source, out)
        self.assertEqual(self.read(out), expected)
        self.assertEqual(self.read(source), data)
        self.left("in", "out")

    def test_leftovers_of_the_killed_are_removed_but_not_those_of_the_living(self):
        source = self.path("in", lines(10))
        out = self.path("out")
        self.path("out.part-quadmill-abcdef", b"left by a killed run")
        os.mkfifo(self.path("pipe"))
        living = subprocess.Popen([QUADMILL, "terasort", self.path("pipe"), out, "--temp", self.temp])
        with open(self.path("pipe"), "wb") as pipe:
            self.wait_for_output(living)
            self.left("in", "pipe")
            self.sort(source, out)
            self.assertEqual(self.read(out), by_key(lines(10)))
            pipe.write(lines(20))
        self.assertEqual(living.wait(), 0)
        self.assertEqual(self.read(out), by_key(lines(20)))
        self.left("in", "out", "pipe")

    def test_a_temporary_folder_that_vanishes(self):
        data = lines(400000)
        process = subprocess.Popen([QUADMILL, "terasort", "-", self.path("out"), "--temp", self.temp, "--engine", "cpu",
                                    "--memory", "28M"], stdin=subprocess.PIPE)
        process.stdin.write(data[:30000000])  # more than memory holds, so there are runs
        os.rmdir(self.temp)
        process.stdin.write(data[30000000:])
        process.stdin.close()
        self.assertEqual(process.wait(), 0)
        os.mkdir(self.temp)
        self.assertEqual(self.read(self.path("out")), by_key(data))
        self.left("out")

    def test_signals(self):
        for sent, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            # Nothing comes through the pipe, so it is at work until it is stopped.
            process = subprocess.Popen([QUADMILL, "terasort", "-", self.path("out"), "--temp", self.temp],
                                       stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdin.write(lines(10))
            process.stdin.flush()
            self.wait_for_output(process)
            process.send_signal(sent)
            self.assertEqual(process.wait(timeout=20), status)
            self.assertEqual(process.stderr.read(), b"")
            process.stdin.close()
            process.stderr.close()
            self.left()


if __name__ == "__main__":
    unittest.main()
