"""Common parts of the command's tests. The program is their first argument."""
import array
import json
import os
import select
import struct
import subprocess
import sys
import tempfile
import time
import unittest

QUADMILL = os.path.abspath(sys.argv.pop(1))
# The engines of queries in the version of OpenGL that the tests ask for. Depth needs 4.5.
QUERY_ENGINES = ("bitmap", "depth") if os.environ.get("QUADMILL_API", "gl45") == "gl45" else ("bitmap",)
os.environ["XDG_CONFIG_HOME"] = os.devnull  # what somebody's `quadmill tune` found does not count in tests


def run(*args, stdin=b"", env=None, **more):
    return subprocess.run([QUADMILL, *args], input=stdin, capture_output=True, env={**os.environ, **(env or {})},
                          **more)


def floats(values):
    return array.array("f", values).tobytes()


def halves(values):
    return struct.pack(f"<{len(values)}e", *values)


def npy(descr, shape, values, order="False"):
    """A file as numpy.save() writes it."""
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode() + values


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name, content=None):
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "wb") as file:
                file.write(content)
        return path

    def read(self, path):
        with open(path, "rb") as file:
            return file.read()

    def start(self, *args, **more):
        """Starts the command with pipes for input, output and errors; it runs in parallel with the test."""
        process = subprocess.Popen([QUADMILL, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, bufsize=0, **more)
        self.addCleanup(process.wait)
        for pipe in (process.stdin, process.stdout, process.stderr):
            self.addCleanup(pipe.close)
        self.addCleanup(process.kill)
        return process

    def wait_for_output(self, process):
        """Waits until the process has an unfinished output, which may have no name."""
        descriptors = f"/proc/{process.pid}/fd"
        for _ in range(4000):
            try:
                links = [os.readlink(os.path.join(descriptors, name)) for name in os.listdir(descriptors)]
            except OSError:  # one was closed meanwhile
                links = []
            if any(link.startswith(self.folder) and (".part-" in link or link.endswith("(deleted)")) for link in links):
                return
            if process.poll() is not None:
                return
            time.sleep(0.005)
        self.fail("no output in 20 s")

    def next_line(self, process):
        self.assertTrue(select.select([process.stdout], [], [], 20)[0], "no answer in 20 s")
        return process.stdout.readline()

    def report(self, *args, **more):
        """Its output with --json."""
        result = run(*args, "--json", **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def without_driver(self):
        return {"__EGL_VENDOR_LIBRARY_FILENAMES": self.path("none.json")}

    def fails(self, status, words, *args, **more):
        result = run(*args, **more)
        text = result.stderr.decode()
        self.assertEqual(result.returncode, status, text)
        self.assertIn(words, text)
        self.assertEqual(result.stdout, b"")
        return text
