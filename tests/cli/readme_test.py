"""The examples for users: sessions with their output in README.md and docs/, and the calls in help texts.

usage: readme_test.py QUADMILL [unittest arguments]
       readme_test.py QUADMILL --write       puts what the command says now into the documents
"""
import array
import glob
import gzip
import os
import re
import struct
import subprocess
import sys
import unittest

from command import QUADMILL, Command, floats, npy, run

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
DOCUMENTS = [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs/*.md")))]
# Without a GPU, so that the output is the same everywhere.
ENVIRONMENT = {**os.environ, "PATH": os.path.dirname(QUADMILL) + ":" + os.environ["PATH"],
               "__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent"}


def shell(command, folder):
    return subprocess.run(["bash", "-c", command], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)


def blocks_of(document):
    """The fenced blocks that begin with a call."""
    with open(document) as file:
        return re.findall(r"(?ms)^```[a-z]*\n(\$ .*?)^```$", file.read())


def replayed(block, folder):
    """The block with the current output of its calls. A call continues after a backslash."""
    out = ""
    for call in re.findall(r"(?m)^\$ (?:.*\\\n)*.*\n", block):
        out += call + shell(call[2:], folder).stdout
    return out


def normal(text):
    """Without the parts that differ from run to run."""
    return re.sub(r"\b(bytes|values_per_s)\b(\"?:? ?)[0-9]+", r"\1\2N", re.sub(r"[0-9.]+ ms\b", "T ms", text))


class Sessions(Command):
    def test_every_output_is_what_the_command_says(self):
        blocks = [(document, block) for document in DOCUMENTS for block in blocks_of(document)]
        self.assertTrue(blocks)
        for document, block in blocks:
            self.assertEqual(normal(replayed(block, self.folder)), normal(block), document)


class HelpTexts(Command):
    """The calls under "Examples:" run unchanged; a log that is followed forever is read once."""
    VERBS = ([], ["sort"], ["quantiles"], ["frequent"], ["hhh"], ["corrsum"], ["merge"], ["query"], ["show"],
             ["terasort"])

    def make_files(self):
        many = range(1, 2001)
        for name in ("data.f32", "latencies.f32", "pairs.f32"):
            self.path(name, floats(many))
        self.path("data.npy", npy("'<f4'", "(2000,)", floats(many)))
        self.path("monday.f64", array.array("d", many).tobytes())
        self.path("pairs.f64", array.array("d", many).tobytes())
        for name in ("ports.u32", "sources.u32"):
            self.path(name, struct.pack("<2000I", *many))
        for name in ("data.i64", "ids.u64"):
            self.path(name, struct.pack("<2000q", *many))
        self.path("latencies.log", b"1.5\n2\n" * 100)
        self.path("codes.txt", b"200\n404\n" * 100)
        self.path("log.tsv", b"a\tb\t3\n" * 9)
        self.path("access.log", b'10.0.0.1 - - [day zone] "GET / HTTP" 200 5\n' * 9)
        self.path("sales.csv", b"1,2,3,4,5\n" * 9)
        self.path("my sales.csv", b"city,price\nRome,1\nParis,2\n")
        self.path("requests.csv", b"path,status,seconds,at,count,bytes\n" + b"/a,200,0.5,1e9,3,700\n" * 9)
        self.path("clients.csv", b"address\n" + b"2001:db8::1\n" * 9)
        self.path("requests.csv.gz", gzip.compress(self.read(self.path("requests.csv"))))
        for name in ("data.csv", "x.csv"):
            self.path(name, b"a,b,c,d,id,k,ms,status,price,name\n" + b"1,2,3,4,5,6,7,8,9,x\n" * 9)
        self.path("records.dat", b"%099d\n" % 7 * 9)
        self.path("trades.bin", struct.pack("<QdQ", 1, 2.5, 3) * 9)
        self.path("y.csv", b"k,name\n6,six\n")
        self.path("log.csv", b"ms,status\n1,200\n2,500\n")
        for name in ("monday", "tuesday"):
            call = ("quantiles", "--type", "f64", self.path("monday.f64"), "--save", self.path(name + ".summary"))
            self.assertEqual(run(*call).returncode, 0)
        os.mkdir(self.path("hosts"))
        for name in ("hosts/a", "hosts/b"):
            call = ("frequent", "--support", "0.01", "--save", self.path(name + ".summary"))
            self.assertEqual(run(*call, stdin=floats(many)).returncode, 0)

    def test_examples_run(self):
        self.make_files()
        count = 0
        for verb in self.VERBS:
            examples = run(*verb, "--help").stdout.decode().split("Examples:\n")[1]
            examples = re.sub(r" \\\n +", " ", examples)  # a command may go on in the next line
            for line in re.findall(r"(?m)^  (.*quadmill .*)$", examples):
                call = re.sub(r"tail (-n \+1 )?-f", "cat", re.split(r"   +", line)[0])
                if call == "quadmill info" or call.startswith("quadmill show") or "pbsn" in call or "--device" in call:
                    continue  # need OpenGL, and are tested elsewhere
                result = shell(call, self.folder)
                self.assertEqual(result.returncode, 0, f"{call}\n{result.stdout}")
                count += 1
        self.assertGreater(count, 20)


def write():
    for document in DOCUMENTS:
        with open(document) as file:
            text = file.read()
        for block in blocks_of(document):
            text = text.replace(block, replayed(block, ROOT))
        with open(document, "w") as file:
            file.write(text)


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        unittest.main()
