#!/usr/bin/env python3
"""A reader of saved summaries of all kinds, written from docs/stream-format.md alone. read_summary.py has the parts
that quantiles and frequencies need.

usage: read_all_summaries.py FILE      prints what the file has
"""
import itertools
import math
import struct
import sys
from fractions import Fraction

import read_summary


class Reader(read_summary.Reader):
    BODIES = read_summary.Reader.BODIES | {
        5: "eps:real support:real window:number lengths:numbers summaries:summaries_of_prefixes rest:sorted_values",
        6: "eps:real levels:number window:number n:number nans:number sum_of_x:exact_sum infinite:number "
           "buckets:correlated_buckets rest:pairs formula:text",
        7: "eps:real tail:number window:number nans:number buckets:tail_buckets rest:sorted_values "
           "mean:real squares:real",
        8: "eps:real n:number missed:number counts:counts_of_names",
        9: "counted:distinct",
        10: "eps:real support:real lengths:files_of_lengths",
        11: "empty:file groups:files_of_names",
        12: "empty:file seconds:real panes:number late:number latest:latest_time parts:files_of_panes"}

    def body(self):
        if self.kind not in (3, 4):
            return super().body()
        found = self.sliding()
        assert self.at == len(self.data), "bytes that are left over"
        return found

    def text(self):
        count = self.number()
        self.at += count
        return self.data[self.at - count:self.at]

    def file(self):
        return Reader(self.text()).body()

    def listed(self, *kinds):
        """A list of items, each of these kinds."""
        return [tuple(kind() for kind in kinds) for _ in range(self.number())]

    def numbers(self):
        return [self.number() for _ in range(self.number())]

    def raw_values(self):
        raw = f"<{self.number()}{self.letter}"
        self.at += struct.calcsize(raw)
        return list(struct.unpack_from(raw, self.data, self.at - struct.calcsize(raw)))

    def summaries_of_prefixes(self):
        return [self.frequency_summary() for _ in self.found["lengths"]]

    def counts_of_names(self):
        return dict(self.listed(self.text, self.number))

    def files_of_lengths(self):
        return dict(self.listed(self.number, self.file))

    def files_of_names(self):
        return dict(self.listed(self.text, self.file))

    def latest_time(self):
        return self.real() if self.number() else None

    def files_of_panes(self):
        files, index = {}, None
        for _ in range(self.number()):
            index = self.real() if index is None else index + self.number()
            files[index] = self.file()
        return files

    def distinct(self):
        """p, and the hashes or the registers."""
        p = self.number()
        if self.number():
            return p, list(itertools.accumulate(self.numbers()))
        return p, [self.number() for _ in range(2**p)]

    def tail_buckets(self):
        return self.listed(self.number, self.tail_summary)

    def correlated_buckets(self):
        return self.listed(self.number, self.correlated_summary)

    def pairs(self):
        return self.listed(lambda: self.value(self.number()), self.real)

    def tail_summary(self):
        """As quantile_summary()."""
        n = self.number()
        if n == 0 or self.number():  # all values are kept
            return n, list(zip(self.values(n), range(1, n + 1), range(1, n + 1)))
        values, ranks = self.sorted_values(), [(1, 1)]
        while len(ranks) < len(values):
            low = ranks[-1][0] + self.number()
            ranks.append((low, low + self.number()))
        return n, [(value, *rank) for value, rank in zip(values, ranks)]

    def sums(self):
        positive, negative = ((Fraction(self.real()) + Fraction(self.real())) * 2**64 for _ in range(2))
        return positive, negative

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

    def sliding(self):
        summary = self.quantile_summary if self.kind == 3 else self.frequency_summary
        buckets = self.quantile_buckets if self.kind == 3 else lambda: self.listed(self.number, summary)
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
            s["chain"] = buckets()
            if own:
                s["waiting"] = self.raw_values()
                part = buckets if self.kind == 3 else summary
                s["levels"] = [(self.number(), part()) for _ in range(top + 1)]
            else:
                s["whole"] = [self.sorted_values() for _ in range((s["n"] - b * block) // block)]
                s["rest"] = self.sorted_values()
        return s


def read(path):
    with open(path, "rb") as file:
        return Reader(file.read()).body()


if __name__ == "__main__":
    print(read(sys.argv[1]))
