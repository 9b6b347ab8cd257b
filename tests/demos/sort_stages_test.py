"""The frames and the window of demos/sort_stages, as people meet them: the window on an X server of its own.

usage: sort_stages_test.py SORT_STAGES WINDOW [unittest arguments]     WINDOW: ON when it was built with one
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import png

PROGRAM, WINDOW = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1) == "ON"
WITHOUT_DISPLAY = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
BAR = 64  # pixels of controls above the picture


def run(*args, env=None):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, env=env or WITHOUT_DISPLAY)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, name, *args):
        folder = os.path.join(self.folder, name)
        result = run("--record", folder, "--size", "640x480", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [os.path.join(folder, file) for file in sorted(os.listdir(folder)) if file.endswith(".png")]

    def bytes_of(self, path):
        with open(path, "rb") as file:
            return file.read()


class Record(Folder):
    def test_a_frame_a_step_and_always_the_same(self):
        first, second = self.record("a", "--n", "64"), self.record("b", "--n", "64")
        self.assertEqual(len(first), 1 + 4 * 4)  # four channels of 2^4 keys: 4 stages of 4 steps
        self.assertEqual([self.bytes_of(file) for file in first], [self.bytes_of(file) for file in second])
        few = self.record("c", "--n", "64", "--frames", "3")
        self.assertEqual([self.bytes_of(file) for file in few], [self.bytes_of(first[i]) for i in (0, 8, 16)])
        other = self.record("d", "--n", "64", "--frames", "1", "--seed", "2")
        self.assertNotEqual(self.bytes_of(other[0]), self.bytes_of(first[-1]))

    def test_wrong_calls(self):
        for words, *args in (("--n", "--n", "x"), ("1000", "--n", "1000", "--record", self.folder),
                             ("640x479", "--size", "640x479"), ("--engine", "--engine", "quick")):
            result = run(*args)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(words, result.stderr)
        file = os.path.join(self.folder, "file")
        open(file, "w").close()
        self.assertEqual(run("--record", file).returncode, 1)

    def test_without_a_display(self):
        result = run("--n", "64")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("--record", result.stderr)


@unittest.skipUnless(WINDOW, "built without a window, as its configuration says")
class Window(Folder):
    """The title says where the player is."""

    def setUp(self):
        super().setUp()
        for program in ("Xvfb", "xdotool"):
            self.assertIsNotNone(shutil.which(program), f"{program} is missing: tests/setup.sh")
        read, write = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1400x1000x24", "-nolisten", "tcp"],
                                  pass_fds=[write], stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (server.terminate(), server.wait()))
        os.close(write)
        with os.fdopen(read) as display:
            self.environment = {**WITHOUT_DISPLAY, "DISPLAY": ":" + display.readline().strip()}

    def open(self, *args):
        self.program = subprocess.Popen([PROGRAM, "--hide-times", "--size", f"640x{480 + BAR}", *args],
                                        cwd=self.folder, env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (self.program.kill(), self.program.wait()))
        self.wait_for("input", "sort_stages")

    def xdotool(self, *args):
        result = subprocess.run(["xdotool", *args], capture_output=True, text=True, env=self.environment)
        return result.stdout.strip()

    def wait_for(self, words, what=""):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            self.window = self.xdotool("search", "--name", "^sort_stages: ").split("\n")[0]
            title = self.xdotool("getwindowname", self.window) if self.window else ""
            if title.endswith(words):
                return
            time.sleep(0.05)
        self.fail(f"'{title}' never ended with '{words}' {what}")

    def key(self, key, words):
        self.xdotool("key", key)
        self.wait_for(words, f"after {key}")

    def picture(self):
        """The window below its controls, row after row."""
        file = os.path.join(self.folder, "sort_stages.png")
        self.xdotool("key", "s")
        end = time.monotonic() + 30
        while not os.path.exists(file) and time.monotonic() < end:
            time.sleep(0.05)
        width, height, rows = png.read(file)
        os.remove(file)
        self.assertEqual((width, height), (640, 480 + BAR))
        return rows[BAR:]

    def test_keys_mouse_and_pictures(self):
        frames = self.record("frames", "--n", "64")
        self.open("--n", "64")
        self.key("Right", "stage 1 of 4, step 1 of 4")
        self.key("Right", "stage 1 of 4, step 2 of 4")
        second = self.picture()
        self.assertEqual(second, png.read(frames[2])[2])
        self.key("End", "stage 4 of 4, step 4 of 4")
        self.assertEqual(self.picture(), png.read(frames[16])[2])
        self.key("Left", "stage 4 of 4, step 3 of 4")
        self.key("Home", "input")
        self.xdotool("key", "space")  # plays to the end
        self.wait_for("stage 4 of 4, step 4 of 4", "after play")
        # Drags the time line, whose 17 places are 36.8 pixels wide, and off it: that goes on.
        self.xdotool("mousemove", "--window", self.window, "30", str(BAR + 430), "mousedown", "1")
        self.wait_for("input", "after a click on the time line")
        self.xdotool("mousemove", "--window", self.window, "98", str(BAR + 380))
        self.wait_for("stage 1 of 4, step 2 of 4", "after a drag")
        self.xdotool("mouseup", "1", "mousemove", "--window", self.window, "300", str(BAR + 200))
        self.assertEqual(self.picture(), second)
        self.xdotool("key", "Escape")
        self.assertEqual(self.program.wait(30), 0)

    def test_buttons_and_resizing(self):
        self.open("--n", "64", "--race", "merge")
        self.xdotool("mousemove", "--window", self.window, "46", "20", "click", "1")  # a step back from the input
        self.key("End", "stage 4 of 4, step 4 of 4")
        self.xdotool("mousemove", "--window", self.window, "20", "20", "mousedown", "1")
        time.sleep(0.3)  # a press that lasts for some frames, as a hand's
        self.xdotool("mouseup", "1")
        self.wait_for("input", "after the button to the start")
        self.xdotool("windowsize", self.window, "1300", "900")
        self.key("Right", "stage 1 of 4, step 1 of 4")
        self.xdotool("key", "Escape")
        self.assertEqual(self.program.wait(30), 0)


if __name__ == "__main__":
    unittest.main()
