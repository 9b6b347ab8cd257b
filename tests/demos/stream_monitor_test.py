"""The frames and the window of demos/stream_monitor: for an invented stream, a file, a pipe. Called as demo.py says."""
import os
import random
import signal
import struct
import subprocess
import threading
import time
import unittest

import demo
import png

SMALL = ("--window", "20000", "--eps", "0.05")  # a moment each 500 values


def values(count):
    random.seed(5)
    return [struct.unpack("<f", struct.pack("<f", random.lognormvariate(3, 1) if i % 5 else 7))[0]
            for i in range(count)]


def raw(numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


class Stream(demo.Demo):
    def file(self, content, name="stream"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def frames(self, *args, **more):
        return demo.digests_of(self.record(*args, *SMALL, **more))


class Record(demo.AnyDemo, Stream):
    def test_a_made_up_stream_is_always_the_same(self):
        first = self.frames("a", "--frames", "4")
        self.assertEqual(len(first), 4)
        self.assertEqual(first, self.frames("b", "--frames", "4"))
        self.assertEqual(len(set(first)), 4)
        self.assertNotEqual(first, self.frames("c", "--frames", "4", "--seed", "2"))

    def test_a_file_a_pipe_and_text_are_the_same(self):
        numbers = values(2700)
        path = self.file(raw(numbers))
        frames = self.frames("file", path)
        self.assertEqual(len(frames), 6)  # and the last one says that it is over
        self.assertEqual(frames[:2], self.frames("two", path, "--frames", "2"))
        with open(path, "rb") as file:
            self.assertEqual(frames, self.frames("input", "-", stdin=file))
        cat = subprocess.Popen(["sh", "-c", f"head -c 4001 '{path}'; sleep 0.1; tail -c +4002 '{path}'"],
                               stdout=subprocess.PIPE)
        with cat:
            self.assertEqual(frames, self.frames("pipe", "-", stdin=cat.stdout))
        text = self.file("".join(f"{number!r}\n" for number in numbers).encode(), "lines")
        self.assertEqual(frames, self.frames("text", "--text", text))
        self.assertEqual(len(self.frames("empty", os.devnull)), 1)

    def test_bad_streams(self):
        for content, args, status, words in ((b"1\n2\nthree\n", ["--text"], 3, "line 3"),
                                             (b"12345", [], 3, "1 of the 4 bytes"),
                                             (b"three\n", ["--text"], 3, "line 1"), (b"1\n2\n", [], 2, "--text"),
                                             (b"16777217\n", ["--text"], 3, "32-bit float would round")):
            result = demo.run("--record", self.folder, *args, self.file(content))
            self.assertEqual(result.returncode, status)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(words, result.stderr)
        self.assertEqual(demo.run("--record", self.folder, "nowhere").returncode, 1)

    def test_wrong_calls(self):
        self.refused("--eps", "--eps", "0.6")
        self.refused("--window", "--window", "0")
        self.refused("--engine", "--engine", "quicksort")
        self.refused("--text", "--text")

    def test_signals_end_a_recording(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            folder = os.path.join(self.folder, str(number))
            read, write = os.pipe()
            program = subprocess.Popen([demo.PROGRAM, "--record", folder, *SMALL, "-"], stdin=read,
                                       env={**demo.WITHOUT_DISPLAY, "PATH": "/nowhere"}, stdout=subprocess.PIPE,
                                       text=True)
            os.close(read)
            os.write(write, raw(values(1200)))
            demo.until(lambda: os.path.exists(os.path.join(folder, "0001.png")), "two frames")
            program.send_signal(number)
            self.assertIn("2 frames", program.communicate(timeout=demo.PATIENCE)[0])
            self.assertEqual(program.returncode, 128 + number)
            os.close(write)

    def test_lines_that_are_no_values(self):
        result = demo.run("--record", self.folder, "--text", "--header", "1", "--skip-bad", self.file(b"ms\n1\nx\n2\n"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 line was skipped", result.stderr)

    def test_closed_files(self):
        path = self.file(raw(values(1200)))
        for closed, status in ((">&-", 1), ("<&- 2>&-", 0)):
            result = subprocess.run(["bash", "-c", f'"$@" {closed}', "bash", demo.PROGRAM, "--record", self.folder,
                                     path],
                                    env={**demo.WITHOUT_DISPLAY}, capture_output=True)
            self.assertEqual(result.returncode, status, result.stderr)
        result = subprocess.run(["bash", "-c", '"$@" >&-', "bash", demo.PROGRAM, "--help"], capture_output=True)
        self.assertEqual(result.returncode, 1)
        result = subprocess.run(["bash", "-c", '"$@" <&-', "bash", demo.PROGRAM, "--record", self.folder, "-"],
                                capture_output=True, timeout=demo.PATIENCE)
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"it is closed", result.stderr)


class Window(Stream, demo.Window):
    def test_a_pipe(self):
        content = raw(values(30000))
        last = self.record("frames", *SMALL, "--engine", "merge", self.file(content))[-1]
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)
        all_of_it = threading.Event()

        def write():
            with open(pipe, "wb") as file:
                file.write(content[:100000])
                file.flush()
                all_of_it.wait()
                file.write(content[100000:])

        writer = threading.Thread(target=write)
        writer.start()
        self.addCleanup(lambda: (all_of_it.set(), writer.join()))
        self.open("25,000 values", pipe, *SMALL, "--hide-times")  # and waits for more, without standing still
        self.key("space", "25,000 values, paused")
        for y in (45, 116):  # who sorts, and in the list, merge
            self.press_for_long(310, y - demo.BAR)
            time.sleep(0.2)  # the list opens over some frames
        all_of_it.set()
        time.sleep(0.2)
        self.key("Right", "25,500 values, paused")
        self.key("space", "30,000 values, end of stream")
        self.same(self.picture(), png.read(last)[2])
        self.close()

    def test_bad_values_and_ctrl_c_end_it(self):
        self.open("values", *SMALL)
        self.program.send_signal(signal.SIGINT)
        self.assertEqual(self.program.wait(demo.PATIENCE), 128 + signal.SIGINT)
        result = subprocess.run([demo.PROGRAM, self.file(b"12345")], capture_output=True, text=True,
                                env=self.environment)
        self.assertEqual(result.returncode, 3)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)


if __name__ == "__main__":
    unittest.main()
