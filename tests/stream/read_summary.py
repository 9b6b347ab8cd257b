#!/usr/bin/env python3
"""A second reader of saved summaries, written from docs/stream-format.md alone.

usage: read_summary.py FILE      prints what the file has
"""
import math
import struct
import sys
import zlib
from fractions import Fraction

TYPES = ((2, "e", 10), (4, "f", 23), (8, "d", 52), (4, "i", 0), (4, "I", 0), (8, "q", 0), (8, "Q", 0))


class Reader:
    def __init__(self, data):
        assert data[:4] == b"QMSM" and data[4] == 2 and data[7] == 0
        assert zlib.crc32(data[:-4]) == struct.unpack("<I", data[-4:])[0]
        self.data, self.at, self.kind = data[:-4], 8, data[5]
        self.bytes, self.letter, self.fraction_bits = TYPES[data[6]]

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at, value, shift = self.at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    def raw(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def real(self):
        return struct.unpack("<d", self.number().to_bytes(8, "big"))[0]

    def value(self, key):
        bits = 8 * self.bytes
        sign, ones = 1 << bits - 1, (1 << bits) - 1
        if self.fraction_bits:
            v = (key + (1 << self.fraction_bits) - 1) & ones
            key = v ^ (sign if v & sign else ones)
        elif self.letter in "iq":
            key ^= sign
        return struct.unpack("<" + self.letter, key.to_bytes(self.bytes, "little"))[0]

    def keys(self, count):
        key, all_keys = 0, []
        for _ in range(count):
            key += self.number()
            all_keys.append(key)
        return all_keys

    def sorted_values(self):
        return [self.value(key) for key in self.keys(self.number())]

    def raw_values(self):
        count, at = self.number(), self.at
        self.at += count * self.bytes
        return list(struct.unpack(f"<{count}{self.letter}", self.data[at:self.at]))

    def quantile_summary(self):
        """n, and (value, min rank, max rank) of each entry."""
        n = self.number()
        if n == 0:
            return 0, []
        step = self.number()
        gap, count = (0, 1 if n == 1 else (n - 2 + step) // step + 1) if step else (self.number(), self.number())
        keys = self.keys(count)
        ranks = [(min(1 + i * step, n),) * 2 for i in range(count)] if step else [(1, 1)]
        while len(ranks) < count:
            before = ranks[-1][0]
            ranks.append((before + self.number(), before + gap - self.number()))
        return n, [(self.value(key), *rank) for key, rank in zip(keys, ranks)]

    def tail_summary(self):
        """As quantile_summary()."""
        n = self.number()
        if n == 0:
            return 0, []
        whole = self.number()
        count = n if whole else self.number()
        keys, ranks = self.keys(count), [(1, 1)]
        while len(ranks) < count:
            low = len(ranks) + 1 if whole else ranks[-1][0] + self.number()
            ranks.append((low, low if whole else low + self.number()))
        return n, [(self.value(key), *rank) for key, rank in zip(keys, ranks)]

    def frequency_summary(self):
        """n, the bound of a value that is not listed, and (key, lower, upper) of each entry."""
        n, absent, entries, key = self.number(), self.number(), [], 0
        for _ in range(self.number()):
            key += self.number()
            count, fewer = self.number(), self.number()
            entries.append((key, count, count + absent - fewer))
        return n, absent, entries

    def sums(self):
        return (Fraction(self.real()) + Fraction(self.real())) * 2**64, (Fraction(self.real())
                                                                         + Fraction(self.real())) * 2**64

    def correlated_summary(self):
        """n, the sums of all, and (value, le_min, le_max, lt_max, sums of these) of each entry."""
        n, total, _lost, entries = self.number(), self.sums(), (self.real(), self.real()), []
        key, le_min, before = 0, 0, (0, 0)
        for _ in range(self.number()):
            key, last = key + self.number(), le_min
            le_min += self.number()
            le_max, lt_max, flags, least = le_min + self.number(), last + self.number(), self.number(), self.sums()
            most = least if flags & 1 else self.sums()
            below = before if flags & 2 else self.sums()
            entries.append((self.value(key), le_min, le_max, lt_max, least, most, below))
            before = most
        return n, total, entries

    def exact_sum(self):
        count = self.number()
        sign, first = (self.number(), self.number()) if count else (0, 0)
        total = sum(Fraction(self.number()) * Fraction(2) ** (32 * (first + i) - 2176) for i in range(count))
        return -total if sign else total

    def buckets(self, summary):
        return [(self.number(), summary()) for _ in range(self.number())]

    def sliding(self):
        summary = self.quantile_summary if self.kind == 3 else self.frequency_summary
        s = dict(eps=self.real(), window=self.number(), flags=self.number(), n=self.number(), nans=self.number(),
                 last=self.raw_values())
        eps, window, fixed, own, few = s["eps"], s["window"], not s["flags"] & 1, s["flags"] & 4, s["flags"] & 8
        levels, kept = math.ceil(math.log2(4 / eps)), math.ceil(128 / eps)
        grain, lowest = max(int(eps * window / 4), 1), 0
        while fixed and not own and not few and grain >> lowest > max(32 * (levels + 1) / eps, 2**14):
            lowest += 1
        block = grain >> lowest if fixed else 32
        top, stride = max(window // block, 1).bit_length() - 1, 1
        if few:
            lower = 2 if eps < 1e-4 else 1
            stride = math.floor(math.log2(2 / eps) / (lower + 1) + 0.5)
            while grain << lower * stride > max(2**18, 32 / eps):
                stride -= 1
            top = lower * stride
        never = s["flags"] & 2
        exact = 0 if fixed else min(kept, window)
        if not never and window <= max(4 * (levels + 1)**2 / eps, kept):
            exact = window
        if exact < window:
            b = s["base_blocks"] = self.number()
            s["block"], s["blocks"] = block, []
            for level in range(lowest, top + 1, stride):
                reach = window / block * (1 + eps / 4) + 2
                reach = reach if fixed else min(reach, 10 * 2**level / eps + 2)
                first = min(max(0, math.ceil((b - reach) / 2**level)), b >> level)
                s["blocks"] += [(level, i, summary()) for i in range(first, b >> level)]
            s["chain"] = self.buckets(summary)
            if own:
                s["waiting"] = self.raw_values()
                part = (lambda: self.buckets(summary)) if self.kind == 3 else summary
                s["levels"] = [(self.number(), part()) for _ in range(top + 1)]
            else:
                s["whole"] = [self.sorted_values() for _ in range((s["n"] - b * block) // block)]
                s["rest"] = self.sorted_values()
        return s

    def file(self):
        return Reader(self.raw(self.number())).body()

    def body(self):
        if self.kind == 1:
            s = dict(eps=self.real(), levels=self.number(), window=self.number(), nans=self.number(),
                     buckets=self.buckets(self.quantile_summary), rest=self.sorted_values())
        elif self.kind == 7:
            s = dict(eps=self.real(), tail=self.number(), window=self.number(), nans=self.number(),
                     buckets=self.buckets(self.tail_summary), rest=self.sorted_values())
        elif self.kind == 8:
            s = dict(eps=self.real(), n=self.number(), missed=self.number(),
                     counts=dict((self.raw(self.number()), self.number()) for _ in range(self.number())))
        elif self.kind == 10:
            s = dict(eps=self.real(), support=self.real(), lengths=dict(
                (self.number(), self.file()) for _ in range(self.number())))
        elif self.kind == 9:
            s = dict(p=self.number(), whole=self.number())
            s.update(hashes=self.keys(self.number())) if s["whole"] else s.update(
                registers=[self.number() for _ in range(2**s["p"])])
        elif self.kind == 2:
            s = dict(eps=self.real(), window=self.number(), nans=self.number(), summary=self.frequency_summary(),
                     rest=self.sorted_values())
        elif self.kind in (3, 4):
            s = self.sliding()
        elif self.kind == 5:
            s = dict(eps=self.real(), support=self.real(), window=self.number(),
                     lengths=[self.number() for _ in range(self.number())])
            s.update(summaries=[self.frequency_summary() for _ in s["lengths"]], rest=self.sorted_values())
        elif self.kind == 11:
            s = dict(empty=self.file(), groups=dict(
                (self.raw(self.number()), self.file()) for _ in range(self.number())))
        elif self.kind == 12:
            s = dict(empty=self.file(), seconds=self.real(), panes=self.number(), late=self.number(),
                     latest=self.real() if self.number() else None, parts={})
            for i in range(self.number()):
                index = index + self.number() if i else self.real()
                s["parts"][index] = self.file()
        else:
            s = dict(eps=self.real(), levels=self.number(), window=self.number(), n=self.number(), nans=self.number(),
                     sum_of_x=self.exact_sum(), infinite=self.number(), buckets=self.buckets(self.correlated_summary),
                     rest=[(self.value(self.number()), self.real()) for _ in range(self.number())])
        if self.kind in (1, 7) and self.at < len(self.data):
            s.update(mean=self.real(), squares=self.real())
        if self.kind == 6 and self.at < len(self.data):
            s.update(formula=self.raw(self.number()).decode())
        assert self.at == len(self.data), "bytes that are left over"
        return s


def read(path):
    with open(path, "rb") as file:
        return Reader(file.read()).body()


if __name__ == "__main__":
    print(read(sys.argv[1]))
