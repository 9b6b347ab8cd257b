"""Common parts of the tests of demos: calls, recorded frames, and the window on an X server of its own.

usage of each: DEMO_test.py PROGRAM WINDOW [unittest arguments]     WINDOW: ON when it was built with one
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import png

PROGRAM, WINDOW = os.path.abspath(sys.argv.pop(1)), sys.argv.pop(1) == "ON"
NAME = os.path.basename(PROGRAM)
WITHOUT_DISPLAY = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
BAR = 64  # pixels of controls above the picture
PATIENCE = 30  # seconds


def run(*args, **more):
    """Without ffmpeg, which takes long."""
    environment = {**WITHOUT_DISPLAY, "PATH": "/nowhere"}
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, env=environment, **more)


def digests_of(paths):
    """A hash of files: short, so that a failing test can print how they differ."""
    def digest(path):
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    return [digest(path) for path in paths]


def until(test, what):
    """Waits until the test is true, and returns its result."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if result := test():
            return result
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what}")


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def record(self, name, *args, size="640x480", **more):
        """The paths of the frames, in order."""
        folder = os.path.join(self.folder, name)
        result = run("--record", folder, "--size", size, *args, **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.said = result.stdout
        return [os.path.join(folder, file) for file in sorted(os.listdir(folder))]

    def same(self, rows, others):
        """Compares pictures; printing how they differ would take unittest minutes."""
        wrong = [y for y, (row, other) in enumerate(zip(rows, others)) if row != other]
        self.assertTrue(not wrong and len(rows) == len(others), f"{len(wrong)} rows differ, the first is {wrong[:1]}")

    def refused(self, words, *args):
        """A wrong call, whose error line has the words."""
        result = run(*args)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn(words, result.stderr)


class AnyDemo:
    """Tests for every demo, as a mixin for one of its classes."""

    def test_wrong_calls_of_any_demo(self):
        self.refused("640x479", "--size", "640x479")
        self.refused("--nonsense", "--nonsense")
        self.refused("--frames", "--frames", "0")
        file = os.path.join(self.folder, "file")
        open(file, "w").close()
        self.assertEqual(run("--record", file).returncode, 1)

    def test_without_a_display(self):
        result = run()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn("no window", result.stderr)
        self.assertIn("--record", result.stderr)


@unittest.skipUnless(WINDOW, "built without a window, as its configuration says")
class Window(Demo):
    """The title says what is shown."""

    @classmethod
    def setUpClass(cls):
        for program in ("Xvfb", "xdotool"):
            assert shutil.which(program), f"{program} is missing: tests/setup.sh"
        read, write = os.pipe()
        # Without -noreset the server restarts when its last client leaves, and refuses others in the meantime.
        server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1400x1000x24", "-nolisten", "tcp",
                                   "-noreset"], pass_fds=[write], stderr=subprocess.DEVNULL)
        cls.addClassCleanup(lambda: (server.terminate(), server.wait()))
        os.close(write)
        with os.fdopen(read) as display:
            cls.environment = {**WITHOUT_DISPLAY, "DISPLAY": ":" + display.readline().strip()}

    def open(self, words, *args):
        """Waits until the title ends with the words."""
        self.program = subprocess.Popen([PROGRAM, "--size", f"640x{480 + BAR}", *args],
                                        cwd=self.folder, env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (self.program.kill(), self.program.wait()))
        def window():
            self.assertIsNone(self.program.poll(), "the program has ended")
            return self.xdotool("search", "--name", f"^{NAME}: ").split("\n")[0]
        self.window = until(window, "the window")
        self.wait_for(words, "when it opened")

    def close(self):
        self.xdotool("key", "Escape")
        self.assertEqual(self.program.wait(PATIENCE), 0)

    def xdotool(self, *args):
        result = subprocess.run(["xdotool", *args], capture_output=True, text=True, env=self.environment,
                                timeout=PATIENCE)
        return result.stdout.strip()

    def title(self):
        return self.xdotool("getwindowname", self.window)

    def wait_for(self, words, what):
        try:
            until(lambda: self.title().endswith(words), f"'{words}' {what}")
        except AssertionError as error:
            self.fail(f"{error}; the title is '{self.title()}'")

    def key(self, key, words):
        self.xdotool("key", key)
        self.wait_for(words, f"after {key}")

    def mouse(self, x, y, *then):
        """Moves to a position of the picture. The bar is above it, where y is negative."""
        self.xdotool("mousemove", "--window", self.window, str(x), str(BAR + y), *then)

    def press_for_long(self, x, y):
        """Like a hand: for some frames."""
        self.mouse(x, y, "mousedown", "1")
        time.sleep(0.3)
        self.xdotool("mouseup", "1")

    def picture(self):
        """The window below its controls, row after row."""
        file = os.path.join(self.folder, NAME + ".png")
        self.xdotool("key", "s")
        until(lambda: os.path.exists(file), file)
        width, height, rows = png.read(file)
        os.remove(file)
        self.assertEqual((width, height), (640, 480 + BAR))
        return rows[BAR:]
