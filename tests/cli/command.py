"""What the tests of the command share: the program is their first argument."""
import array
import os
import struct
import subprocess
import sys
import tempfile
import unittest

QUADMILL = os.path.abspath(sys.argv.pop(1))
os.environ["XDG_CONFIG_HOME"] = os.devnull  # what somebody's `quadmill tune` found does not count in tests


def run(*args, stdin=b"", env=None, **more):
    return subprocess.run([QUADMILL, *args], input=stdin, capture_output=True, env={**os.environ, **(env or {})}, **more)


def floats(values):
    return array.array("f", values).tobytes()


def halves(values):
    return struct.pack(f"<{len(values)}e", *values)


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

    def fails(self, status, words, *args, **more):
        result = run(*args, **more)
        text = result.stderr.decode()
        self.assertEqual(result.returncode, status, text)
        self.assertIn(words, text)
        self.assertEqual(result.stdout, b"")
        return text
