"""Common parts of the tests of streams: values as bytes and lines, and a command that reads them."""
import bisect
import json
import math
import struct

from command import Command, run


CODES = {"f16": "e", "f32": "f", "f64": "d", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}


def raw(values, name="f32"):
    return struct.pack(f"<{len(values)}{CODES[name]}", *values)


def lines(values):
    return "".join(f"{value}\n" for value in values).encode()


class Stream(Command):
    def answers(self, *args, stdin=b"", status=0, engine="cpu"):
        result = run(*args, "--json", *([] if "ipv6" in args else ["--engine", engine]), stdin=stdin)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stderr, b"")
        return [json.loads(line) for line in result.stdout.splitlines()]

    def answer(self, *args, **more):
        found = self.answers(*args, **more)
        self.assertEqual(len(found), 1)
        return found[0]

    def start(self, *args, **more):
        return super().start(*args, "--engine", "cpu", **more)

    def check_quantiles(self, answer, values, eps):
        ordered = sorted(values)
        n = len(ordered)
        for q in answer["quantiles"]:
            asked = max(1, math.ceil(q["phi"] * n - 1e-9))
            first, last = bisect.bisect_left(ordered, q["value"]) + 1, bisect.bisect_right(ordered, q["value"])
            self.assertLessEqual(first, last, "no value of the stream")
            self.assertLessEqual(q["rank_lower"], last)
            self.assertGreaterEqual(q["rank_upper"], first)
            self.assertLessEqual(first - eps * n, asked)
            self.assertGreaterEqual(last + eps * n, asked)

    def check_frequent(self, answer, counts, support, eps):
        n = sum(counts.values())
        found = {item["value"]: item for item in answer["items"]}
        self.assertEqual(len(found), len(answer["items"]))
        for value, count in counts.items():
            if count >= support * n:
                self.assertIn(value, found)
        for value, item in found.items():
            self.assertGreaterEqual(counts[value], (support - eps) * n)
            self.assertLessEqual(item["lower"], counts[value])
            self.assertGreaterEqual(item["upper"], counts[value])
            self.assertLessEqual(item["estimate"], counts[value])
            self.assertGreaterEqual(item["estimate"], counts[value] - eps * n)
