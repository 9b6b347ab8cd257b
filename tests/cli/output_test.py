"""Outputs of the command: what they replace, what they keep, and what is left after a failure.

usage: output_test.py QUADMILL [unittest arguments]
"""
import array
import fcntl
import json
import os
import random
import resource
import signal
import stat
import struct
import subprocess
import time
import unittest

from command import QUADMILL, Command, floats, run


class Inputs(Command):
    """No output replaces an input that would be lost."""

    def with_input(self, path, *args, output=None):
        """Runs the command with the file as standard input, optionally another as standard output, not truncated."""
        with open(path, "rb") as source, open(output, "r+b") if output else open(os.devnull, "wb") as target:
            result = subprocess.run([QUADMILL, *args], stdin=source, stdout=target, stderr=subprocess.PIPE)
        return result.returncode, result.stderr.decode()

    def test_an_output_is_no_input(self):
        data = self.path("data.f32", floats([3, 1, 2]))
        link = self.path("link.f32")
        os.symlink(data, link)
        matrix = self.path("m.mtx", b"%%MatrixMarket matrix array real general\n1 1\n2\n")
        table = self.path("t.csv", b"a\n1\n2\n")
        out = self.path("out")
        for args in (["quantiles", data, "--save", data], ["quantiles", data, "--save", link],
                     ["frequent", data, "--support", "0.1", "--save", data],
                     ["sort", data, "--with-index", data, "-o", out],
                     ["sort", data, "--top", "1", "-o", link], ["sketch", "build", data, "--width", "16", "-o", data],
                     ["show", "quantiles", data, "-o", data], ["lu", matrix, "-o", matrix],
                     ["lu", matrix, "--solve", matrix, "-o", matrix],
                     ["lu", matrix, "--batch", "1", "-o", matrix],
                     ["show", "query", f"SELECT COUNT(*) FROM '{table}' WHERE a > 1", "-o", table]):
            self.fails(2, "is an input", *args)
        self.assertEqual(self.read(data), floats([3, 1, 2]))
        self.assertEqual(run("sort", data, "-o", data).returncode, 0)
        self.assertEqual(self.read(data), floats([1, 2, 3]))
        self.fails(2, "standard input", "lu", "-", "--solve", "-", stdin=b"")
        self.fails(2, "can be read once", "merge", "-", "-", stdin=b"")

    def test_an_output_next_to_another_is_no_input(self):
        partial = self.path("saved.partial", floats([3, 1, 2]))
        saved = partial[:-len(".partial")]
        self.fails(2, "is an input", "quantiles", partial, "--save", saved)
        self.fails(2, "is an input", "show", "quantiles", partial, "-o", saved)
        matrix = self.path("f.rows", floats([2]))
        factors = matrix[:-len(".rows")]
        self.fails(2, "is an input", "lu", matrix, "-o", factors)
        self.fails(2, "is an input", "lu", matrix, "--batch", "1", "-o", factors)
        self.assertEqual(self.read(matrix), floats([2]))
        os.symlink(matrix, factors)
        other = self.path("other", floats([2]))
        self.fails(2, "is also where", "lu", other, "-o", factors)
        self.fails(2, "is also where", "lu", other, "--batch", "1", "-o", factors)

    def test_merged_summaries_and_sketches_stay(self):
        numbers = self.path("n.u32", array.array("I", [1, 2, 3]).tobytes())
        for build, merge in ((["quantiles", numbers, "--type", "u32", "--save"], ["merge", "--save"]),
                             (["sketch", "build", numbers, "--width", "16", "-o"], ["sketch", "merge", "-o"])):
            saved, link = self.path("saved"), self.path("hard")
            self.assertEqual(run(*build, saved).returncode, 0)
            os.link(saved, link)
            before = self.read(saved)
            for output in (saved, link):
                self.fails(2, "is an input", *merge, output, saved, saved)
            self.assertEqual(self.read(saved), before)
            os.unlink(saved)
            os.unlink(link)

    def test_standard_input_and_output_count_too(self):
        data = self.path("data", b"3\n1\n2\n")
        hard = self.path("hard")
        os.link(data, hard)
        for args in (["sort", "--text", "-", "--top", "2", "-o", data],
                     ["sort", "--text", "--with-index", hard, "-o", self.path("y")],
                     ["sort", "--text", "--type", "f32", "--precision", "f16", "--round", "-o", data],
                     ["quantiles", "--text", "--save", data],
                     ["frequent", "--text", "--support", "0.1", "--save", hard],
                     ["sketch", "build", "--text", "--width", "16", "-o", data],
                     ["show", "quantiles", "--text", "-o", hard],
                     ["lu", "-", "-o", data]):
            with self.subTest(args=args):
                status, said = self.with_input(data, *args)
                self.assertEqual((status, "is an input" in said), (2, True), said)
        for args in (["sort", "--text"], ["quantiles", "--text"], ["query", "SELECT * FROM -"], ["terasort", "-", "-"],
                     ["sketch", "top", "--text"], ["merge", "-"], ["sketch", "merge", "-", "-o", "-"]):
            with self.subTest(args=args):
                status, said = self.with_input(data, *args, output=hard)
                self.assertEqual((status, "input" in said), (1 if args[0] == "terasort" else 2, True), said)
        self.assertEqual(self.read(data), b"3\n1\n2\n")
        with open(data, "rb") as source, open(hard, "ab") as target:  # loses nothing
            self.assertEqual(subprocess.run([QUADMILL, "sort", "--text"], stdin=source, stdout=target).returncode, 0)
        self.assertEqual(self.read(data), b"3\n1\n2\n1\n2\n3\n")

    def test_a_text_is_sorted_in_place_only_if_each_line_comes_back(self):
        for content, args, line in ((b"latency\n3\n1\n", ["--header", "1"], "1, 'latency'"),
                                    (b"3\nbad\n1\n", ["--skip-bad"], "2, 'bad'"),
                                    (b"2\n\n1\n", ["--skip-bad"], "2, ''"),
                                    (b"2\n16777217\n", ["--type", "f32"],
                                     "2, '16777217', would be written as 16777216"),
                                    (b"0.1000000000000000000001\n", [], "1, '0.1000000000000000000001'"),
                                    (b"1e-999\n2\n", [], "1, '1e-999'"), (b"0.5\n1.50\n", [], "2, '1.50'"),
                                    (b"2\n007\n", ["--type", "i64"], "2, '007'"), (b"2\r\n1\r\n", [], r"1, '2\x0d'")):
            for how in (["-o"], ["-", "-o"]):
                with self.subTest(content=content, how=how):
                    data = self.path("data", content)
                    status, said = self.with_input(data, "sort", "--text", *args, *([] if how[0] == "-" else [data]),
                                                   "-o", data)
                    self.assertEqual((status, f"its line {line}" in said), (2, True), said)
                    self.assertEqual(self.read(data), content)
        data = self.path("data", b"3\n-inf\n0.1\n1e-07\nnan\n-0\n1")
        self.assertEqual(run("sort", "--text", data, "-o", data).returncode, 0)
        self.assertEqual(self.read(data), b"-inf\n-0\n1e-07\n0.1\n1\n3\nnan\n")
        self.assertEqual(run("sort", "--text", data, "-o", data, "--order", "desc", "--window", "4").returncode, 0)


class Files(Command):
    def only(self, *names):
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))

    def test_files_in_place_and_links(self):
        data = self.path("data", floats([3, 1, 2]))
        os.chmod(data, 0o640)
        link = self.path("link")
        os.symlink(data, link)
        self.assertEqual(run("sort", data, "-o", link).returncode, 0)
        self.assertEqual(self.read(data), floats([1, 2, 3]))
        self.assertTrue(os.path.islink(link))
        self.assertEqual(stat.S_IMODE(os.stat(data).st_mode), 0o640)
        self.only("data", "link")

    def test_a_replaced_file_keeps_its_attributes(self):
        data = self.path("data", floats([3, 1, 2]))
        os.setxattr(data, "user.origin", b"sensor 7")
        os.setxattr(data, "user.empty", b"")
        # user::rw-, user:12345:r--, group::---, mask::r--, other::---
        entries = ((1, 6, 0xffffffff), (2, 4, 12345), (4, 0, 0xffffffff), (16, 4, 0xffffffff), (32, 0, 0xffffffff))
        access = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
        os.setxattr(data, "system.posix_acl_access", access)
        self.assertEqual(run("sort", data, "-o", data).stderr, b"")
        self.assertEqual(self.read(data), floats([1, 2, 3]))
        self.assertEqual(os.getxattr(data, "user.origin"), b"sensor 7")
        self.assertEqual(os.getxattr(data, "user.empty"), b"")
        self.assertEqual(os.getxattr(data, "system.posix_acl_access"), access)
        self.assertEqual(stat.S_IMODE(os.stat(data).st_mode), 0o640)

    def test_lists_of_folders_are_for_new_files_alone(self):
        old = self.path("old", floats([2, 1]))
        os.chmod(old, 0o640)
        entries = ((1, 6, 0xffffffff), (2, 6, 12345), (4, 4, 0xffffffff), (16, 6, 0xffffffff), (32, 0, 0xffffffff))
        default = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
        os.setxattr(self.folder, "system.posix_acl_default", default)
        self.assertEqual(run("sort", old, "-o", old).returncode, 0)
        self.assertNotIn("system.posix_acl_access", os.listxattr(old))
        self.assertEqual(stat.S_IMODE(os.stat(old).st_mode), 0o640)
        new, plain = self.path("new"), self.path("plain", b"")
        self.assertEqual(run("sort", old, "-o", new).returncode, 0)
        self.assertEqual(os.getxattr(new, "system.posix_acl_access"), os.getxattr(plain, "system.posix_acl_access"))

    @unittest.skipIf(os.geteuid() != 0, "only root gives files away")
    def test_owners(self):
        os.chmod(self.folder, 0o777)
        nobody, data, mine = 65534, self.path("data", floats([2, 1])), self.path("mine", floats([4, 3]))
        os.chmod(data, 0o640)
        os.chown(data, nobody, nobody)
        self.assertEqual(run("sort", data, "-o", data).returncode, 0)
        facts = os.stat(data)
        self.assertEqual((facts.st_uid, facts.st_gid, stat.S_IMODE(facts.st_mode)), (nobody, nobody, 0o640))
        self.assertEqual(self.read(data), floats([1, 2]))
        # Only root can make a file that belongs to root.
        os.chmod(mine, 0o666)
        text = self.fails(1, "owner 0", "sort", mine, "-o", mine, "--engine", "cpu", user=nobody, group=0,
                          extra_groups=[])
        self.assertIn("remove this one first", text)
        os.chown(mine, nobody, 0)
        self.fails(1, "group 0", "sort", mine, "-o", mine, "--engine", "cpu", user=nobody, group=nobody,
                   extra_groups=[])
        self.assertEqual(self.read(mine), floats([4, 3]))
        self.only("data", "mine")

    def test_hard_links_keep_the_old_content(self):
        data, link, folder = self.path("data", floats([2, 1])), self.path("link"), self.folder
        os.link(data, link)
        result = run("sort", data, "-o", data)
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"'{data}' had 2 names (hard links)", result.stderr.decode())
        self.assertEqual((self.read(data), self.read(link)), (floats([1, 2]), floats([2, 1])))
        self.assertEqual(run("sort", link, "-o", data).stderr, b"")
        records = self.path("records", b"b" * 100 + b"a" * 100)
        os.unlink(link)
        os.link(data, link)
        self.assertIn(b"hard links", run("terasort", records, data, "--temp", folder).stderr)

    def test_bad_files(self):
        self.fails(1, "No such file", "sort", self.path("none"), "-o", self.path("out"))
        self.fails(1, "directory", "sort", self.folder, "-o", self.path("out"))
        data = self.path("data", b"12345")
        text = self.fails(1, "5 bytes", "sort", data, "-o", self.path("out"))
        self.assertIn("--text", text)
        good = self.path("good", floats([2, 1]))
        self.fails(1, "No such file", "sort", good, "-o", self.path("no/such/out"))
        self.fails(1, "directory", "sort", good, "-o", self.folder)
        self.only("data", "good")

    def test_a_link_to_nothing_is_not_replaced(self):
        link = self.path("link")
        os.symlink(self.path("nothing"), link)
        self.fails(1, "link", "sort", "-o", link, stdin=floats([1]))
        self.assertTrue(os.path.islink(link))

    def test_nohup_holds(self):
        process = subprocess.Popen([QUADMILL, "sort", "-", "-o", self.path("out"), "--engine", "cpu"],
                                   stdin=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_output(process)
        process.send_signal(signal.SIGHUP)
        process.communicate(floats([2, 1]))
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.read(self.path("out")), floats([1, 2]))

    def test_a_failed_sort_keeps_the_old_output(self):
        old = self.path("out", b"old")
        self.fails(1, "multiple", "sort", "-o", old, stdin=b"123")
        self.assertEqual(self.read(old), b"old")
        self.only("out")

    def test_a_full_disk(self):
        self.fails(1, "No space left", "sort", "-o", "/dev/full", stdin=floats([1, 2]))
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_a_file_that_may_not_grow(self):
        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

        data, out = self.path("data", floats(range(100000))), self.path("out", b"old")
        text = self.path("text", "\n".join(map(str, range(100000))).encode())
        for options in ([data], [text, "--text"], [data, "--window", "1000"], [data, "--top", "50000"],
                        [data, "--with-index", self.path("index")], [text, "--lines"], [text, "-m", "-n"]):
            self.fails(1, "'%s' at byte 65536: File too large" % out, "sort", *options, "-o", out, "--engine", "cpu",
                       preexec_fn=small_files)
            self.assertEqual(self.read(out), b"old")
            self.only("data", "out", "text")
        with open(self.path("given"), "wb") as given:
            result = subprocess.run([QUADMILL, "sort", data], stdout=given, stderr=subprocess.PIPE,
                                    preexec_fn=small_files)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"cannot write standard output at byte 65536: File too large", result.stderr)

    def test_out_of_memory(self):
        data = self.path("data")
        with open(data, "wb") as file:
            file.truncate(1 << 43)  # takes no room on the disk
        self.fails(1, "must fit into memory", "sort", data, "-o", self.path("out"), "--engine", "cpu")
        self.only("data")

    def test_interrupts_leave_nothing(self):
        data = self.path("data", floats([random.Random(6).random() for _ in range(1 << 20)]))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            process = subprocess.Popen([QUADMILL, "sort", data, "-o", self.path("out"), "--engine", "pbsn",
                                        "--no-early-stop", "--max-texels", "4096"])
            self.wait_for_output(process)
            process.send_signal(number)
            self.assertEqual(process.wait(), -number)
            self.only("data")

    def test_a_killed_run_leaves_nothing(self):
        out = self.path("out", b"old")
        processes = [self.start("sort", "-", "-o", out, "--engine", "cpu") for _ in range(2)]
        killed, alive = processes
        for process in processes:
            self.wait_for_output(process)
        killed.kill()
        killed.wait()
        self.only("out")
        self.assertEqual(run("sort", "-o", out, stdin=floats([2, 1])).returncode, 0)
        self.assertEqual(self.read(out), floats([1, 2]))
        alive.communicate(floats([4, 3]))
        self.assertEqual((alive.returncode, self.read(out)), (0, floats([3, 4])))
        self.only("out")

    def test_a_leftover_with_a_name_is_removed_by_the_next(self):
        # As on file systems without nameless files.
        out, mine = self.path("out"), self.path("out.part-mine01", b"mine")
        self.path("out.part-quadmill-abc123", b"left")
        locked = self.path("out.part-quadmill-abc124", b"of one that is at work")
        with open(locked) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.assertEqual(run("sort", "-o", out, stdin=floats([2, 1])).returncode, 0)
        self.only("out", os.path.basename(mine), os.path.basename(locked))

    def test_a_reader_that_goes_away(self):
        data = self.path("data", floats(range(1 << 20)))
        with subprocess.Popen([QUADMILL, "sort", data, "--engine", "cpu"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.read(4)
            process.stdout.close()
            self.assertIn(process.wait(), (-signal.SIGPIPE, 1))
        before = os.listdir(self.folder)
        with subprocess.Popen([QUADMILL, "sort", data, "--engine", "cpu", "--with-index", self.path("index")],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL)) as process:
            process.stdout.close()
            process.wait()
        self.assertEqual([name for name in os.listdir(self.folder) if ".part" in name], [], before)

    def test_a_slow_pipe(self):
        with subprocess.Popen([QUADMILL, "sort", "--text"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            for word in (b"2", b"\n", b"1", b"0\n", b"1\n"):
                process.stdin.write(word)
                process.stdin.flush()
                time.sleep(0.02)
            self.assertEqual(process.communicate()[0], b"1\n2\n10\n")

    def test_a_folder_that_does_not_exist_fails_alike_in_all_verbs(self):
        values, out = self.path("values", floats([1] * 25)), os.path.join(self.folder, "none", "out")
        for args in (["sort", values, "-o", out], ["terasort", values, out], ["lu", values, "-o", out],
                     ["quantiles", values, "--save", out], ["frequent", values, "--support", "0.1", "--save", out],
                     ["sketch", "build", values, "--width", "8", "-o", out], ["show", "sort", "-o", out],
                     ["gensort", "1", out]):
            with self.subTest(args=args):
                self.assertIn(f"cannot create '{out}", self.fails(1, "No such file or directory", *args))

    def test_binary_is_not_written_to_a_terminal(self):
        import pty
        values = self.path("values", floats([1] * 25))
        sketch = self.path("sketch")
        self.assertEqual(run("sketch", "build", values, "--width", "8", "-o", sketch).returncode, 0)
        for args in (["sort", values], ["terasort", values, "-"], ["gensort", "1", "-"], ["lu", values, "-o", "-"],
                     ["sketch", "build", values, "--width", "8", "-o", "-"], ["sketch", "merge", sketch, "-o", "-"],
                     ["show", "sort", "-o", "-"]):
            master, slave = pty.openpty()
            result = subprocess.run([QUADMILL, *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE)
            os.close(slave)
            os.close(master)
            with self.subTest(args=args):
                self.assertEqual(result.returncode, 2)
                self.assertIn(b"terminal", result.stderr)


if __name__ == "__main__":
    unittest.main()
