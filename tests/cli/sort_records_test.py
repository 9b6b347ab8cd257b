"""`quadmill gensort` and `quadmill valsort`: known answers, parts, and wrong calls.

usage: sort_records_test.py QUADMILL [unittest arguments]
"""
import json
import os
import unittest
import zlib

from command import Command, run

RECORD = 100


class SortRecords(Command):
    def gensort(self, *args):
        result = run("gensort", *args, "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def valsort(self, path, status=0, stdin=b""):
        result = run("valsort", "--json", path, stdin=stdin)
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def in_order(self, records):
        return b"".join(sorted((records[at:at + RECORD] for at in range(0, len(records), RECORD)),
                               key=lambda record: record[:10]))

    def test_known_answers(self):
        for args, records, checksum in ((["1000"], 1000, "1ea6370b955"), (["100000"], 100_000, "c3068574c6ff"),
                                        (["-a", "1000"], 1000, "1f5dfb3631a")):
            path = self.path("in")
            self.assertEqual(run("gensort", *args, path).returncode, 0)
            found = self.valsort(path, status=1)
            self.assertEqual((found["records"], found["checksum"], found["in_order"]), (records, checksum, False))
            content = self.read(path)
            self.assertEqual(f"{sum(zlib.crc32(content[at:at + RECORD]) for at in range(0, len(content), RECORD)):x}",
                             checksum)
            self.assertEqual(self.valsort(self.path("sorted", self.in_order(content))),
                             {"records": records, "checksum": checksum, "in_order": True, "duplicate_keys": 0,
                              "unordered": 0, "first_unordered": None})

    def test_parts_are_the_whole(self):
        for flags in ([], ["-a"], ["-s"], ["-as"]):
            whole = self.gensort(*flags, "20000")
            self.assertEqual(len(whole), 20000 * RECORD)
            self.assertEqual(self.gensort(*flags, "8192") + self.gensort(*flags, "-b8192", "11808"), whole)
        self.assertNotEqual(self.gensort("1000"), self.gensort("-s", "1000"))

    def test_more_than_is_in_memory_at_once(self):
        records = 16 * 8192 * 2 + 17
        path = self.path("in")
        self.assertEqual(run("gensort", str(records), path).returncode, 0)
        self.assertEqual(os.path.getsize(path), records * RECORD)
        found = self.valsort(path, status=1)
        self.assertEqual(found["records"], records)
        self.assertEqual(self.gensort("-b", str(records - 1), "1"), self.read(path)[-RECORD:])

    def test_words_and_status(self):
        content = self.in_order(self.gensort("-a", "100"))
        result = run("valsort", stdin=content)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertIn(b"Records: 100\n", result.stdout)
        self.assertIn(b"SUCCESS - all records are in order", result.stdout)
        wrong = content[:500] + content[600:700] + content[500:600] + content[700:]
        result = run("valsort", stdin=wrong)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"the first is record 6", result.stderr)
        self.assertNotIn(b"SUCCESS", result.stdout)
        self.assertEqual(self.valsort("-", 1, wrong)["first_unordered"], 6)
        twice = content[:500] + content[:500]
        self.assertEqual(self.valsort("-", 1, twice)["unordered"], 1)
        same = content[:100] * 3 + content[100:]
        self.assertEqual(self.valsort("-", 0, same)["duplicate_keys"], 2)
        self.assertEqual(self.valsort("-", 0, b"")["records"], 0)

    def test_refused(self):
        self.fails(1, "ends within a record: record 2 has 50 bytes", "valsort", stdin=b"a" * 250)
        self.fails(1, "nowhere", "valsort", self.path("nowhere"))
        self.fails(2, "N", "gensort", "ten", self.path("x"))
        self.fails(2, "FILE", "gensort", "10")
        self.fails(2, "-b", "gensort", "-b", "-1", "10", self.path("x"))
        self.fails(1, "missing", "gensort", "10", self.path("missing/x"))
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    unittest.main()
