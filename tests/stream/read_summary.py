#!/usr/bin/env python3
"""A second reader of saved quantiles and frequencies, written from docs/stream-format.md alone.

`read_summary.py FILE VALUE...` prints, for each value, the bounds of the number of values at or below it (quantiles) or
equal to it (frequencies).
"""
import itertools
import struct
import sys
import zlib

TYPES = "efdiIqQ"  # letters of struct
NANS = {"e": 2**10 - 1, "f": 2**23 - 1, "d": 2**52 - 1}


class Reader:
    # Each field has a name and a function that reads it. The last ones may be missing.
    BODIES = {1: "eps:real levels:number window:number nans:number buckets:quantile_buckets rest:sorted_values "
                 "mean:real squares:real",
              2: "eps:real window:number nans:number summary:frequency_summary rest:sorted_values"}

    def __init__(self, data):
        assert data[:5] == b"QMSM\2" and data[7] == 0 and zlib.crc32(data[:-4]).to_bytes(4, "little") == data[-4:]
        self.data, self.at, self.kind, self.letter = data[:-4], 8, data[5], TYPES[data[6]]
        self.bytes = struct.calcsize("<" + self.letter)

    def number(self):
        end = next(i for i in range(self.at, len(self.data)) if self.data[i] < 128) + 1
        digits, self.at = self.data[self.at:end], end
        return sum((digit & 127) << 7 * i for i, digit in enumerate(digits))

    def real(self):
        return struct.unpack("<d", self.number().to_bytes(8, "big"))[0]

    def value(self, key):
        sign = 1 << 8 * self.bytes - 1
        if self.letter in NANS:
            v = (key + NANS[self.letter]) % (2 * sign)
            key = v ^ (sign if v & sign else 2 * sign - 1)
        elif self.letter in "iq":
            key ^= sign
        return struct.unpack("<" + self.letter, key.to_bytes(self.bytes, "little"))[0]

    def values(self, count):
        return [self.value(key) for key in itertools.accumulate(self.number() for _ in range(count))]

    def sorted_values(self):
        return self.values(self.number())

    def quantile_summary(self):
        """n, and (value, min rank, max rank) of each entry."""
        n = self.number()
        if step := self.number() if n else 1:
            ranks = [*range(1, n, step), n][:n]
            return n, list(zip(self.values(len(ranks)), ranks, ranks))
        gap, values, low, high = self.number(), self.sorted_values(), [1], [1]
        for _ in values[1:]:
            low.append(low[-1] + self.number())
            high.append(low[-2] + gap - self.number())
        return n, list(zip(values, low, high))

    def quantile_buckets(self):
        return [(self.number(), self.quantile_summary()) for _ in range(self.number())]

    def frequency_summary(self):
        """n, the bound of a value that is not listed, and (key, lower, upper) of each entry."""
        n, absent, entries, key = self.number(), self.number(), [], 0
        for _ in range(self.number()):
            key, count = key + self.number(), self.number()
            entries.append((key, count, count + absent - self.number()))
        return n, absent, entries

    def body(self):
        self.found = {}
        for field in self.BODIES[self.kind].split():
            name, kind = field.split(":")
            if self.at < len(self.data):
                self.found[name] = getattr(self, kind)()
        assert self.at == len(self.data), "bytes that are left over"
        return self.found

    def bounds(self, value):
        """The bounds that this program prints."""
        if self.kind == 2:
            _, absent, entries = self.found["summary"]
            bounds = {self.value(key): bounds for key, *bounds in entries}.get(value, (0, absent))
            return [self.found["rest"].count(value) + bound for bound in bounds]
        low = high = sum(one <= value for one in self.found["rest"])
        for _, (n, entries) in self.found["buckets"]:
            low += max((entry[1] for entry in entries if entry[0] <= value), default=0)
            high += min((entry[2] - 1 for entry in entries if entry[0] > value), default=n)
        return low, high


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        reader = Reader(file.read())
    reader.body()
    for word in sys.argv[2:]:
        print(*reader.bounds(float(word) if reader.letter in NANS else int(word)))
