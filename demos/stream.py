#!/usr/bin/env python3
"""Answers of `quadmill quantiles --json` for people.

stream.py show           a table of every tenth answer that comes on standard input, as it comes
stream.py check SORTED   the last answer there next to the exact quantiles: SORTED has its window's values, one a line
"""
import json
import math
import signal
import sys

SHOWN = [0.5, 0.9, 0.99, 0.999]


def rows_of(answer):
    return {row["phi"]: row for row in answer["quantiles"]}


def show():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ends with what it reads from
    print(f"{'requests':>10}" + "".join(f"{f'{100 * phi:g} %':>10}" for phi in SHOWN) + "   ms at most")
    for number, line in enumerate(sys.stdin, 1):
        if number % 10 == 0:
            answer = json.loads(line)
            values = (float(rows_of(answer)[phi]["value"]) for phi in SHOWN)
            print(f"{answer['n']:>10}" + "".join(f"{value:>10.2f}" for value in values), flush=True)


def check(path):
    answer = json.loads(sys.stdin.readlines()[-1])
    with open(path) as file:
        exact = [float(line) for line in file]
    n, eps = len(exact), answer["eps"]
    if n != min(answer["n"], answer["window"]):
        sys.exit(f"stream: the window has {n} values, and the answer is of others")
    print(f"{'phi':>6}{'quadmill':>12}{'exact':>12}{'rank asked':>12}{'rank_lower':>12}{'rank_upper':>12}")
    for phi in SHOWN:
        row = rows_of(answer)[phi]
        value, rank, lower, upper = float(row["value"]), math.ceil(phi * n), row["rank_lower"], row["rank_upper"]
        print(f"{phi:>6}{value:>12.3f}{exact[rank - 1]:>12.3f}{rank:>12}{lower:>12}{upper:>12}")
        if not exact[lower - 1] <= value <= exact[upper - 1] or max(rank - lower, upper - rank) > eps * n:
            sys.exit(f"stream: the bounds do not hold for {phi}")


if __name__ == "__main__":
    if sys.argv[1:] == ["show"]:
        show()
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        sys.exit(__doc__)
