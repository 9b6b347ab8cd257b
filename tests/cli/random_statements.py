#!/usr/bin/env python3
"""Random statements of all forms that quadmill query has, on random tables, compared with SQLite, and with DuckDB.

usage: random_statements.py QUADMILL [--count N] [--seed S] [--rows N] [--duckdb LIBRARY] [OPTION...]

Other options go to the command, such as --engine bitmap, or --memory 60M with --rows 200000, which is the number of
rows of the largest table.
The test query_sql_test.py runs some of these statements. Prints each wrong answer and each refusal.

Where the rules differ from those of quadmill (docs/command.md):
- SQLite: a / b of integers is an integer, and a % b rounds to integers, so here x is 1.0 * x / y and REMAINDER(x, y).
  It has no integers beyond 64 bits: they are texts of 39 digits here. Its mean of large integers is rounded. Its order
  of groups without ORDER BY is any order. It lacks MEDIAN, QUANTILE, KTH_..., STDDEV and VARIANCE: Python's are added.
  Its LIKE ignores case unless a pragma is set, and then serves as ILIKE with LOWER, which both change ASCII letters
  only.
- DuckDB: ILIKE knows all letters, so translate() lowers those of ASCII. A quoted number is converted to the column's
  type, so it is not quoted. QUANTILE is QUANTILE_DISC. It casts to double where an integer is compared with a double.
  x % y of doubles and division by zero are as here, after a setting.
"""
import argparse
import json
import math
import random
import re
import shlex
import sqlite3
import statistics
import sys
import tempfile

from command import run

from duckdb import DuckDb
from query_command import csv_of

UPPER, LOWER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
WIDE_DIGITS = 39
DIVIDES = re.compile("STDDEV|VAR|AVG|/")


class Written(float):
    """A number as the CSV writes it."""
    def __new__(cls, text):
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __str__(self):
        return self.text


def aggregate(answer):
    """A class for sqlite3: the answer to the list of values that are not NULL."""
    class Aggregate:
        def __init__(self):
            self.values, self.more = [], ()

        def step(self, value, *more):
            self.more = more
            if value is not None:
                self.values.append(value)

        def finalize(self):
            try:
                return answer(self.values, *self.more)
            except (statistics.StatisticsError, IndexError):
                return None
    return Aggregate


def remainder(x, y):
    if x is None or y is None or y == 0:
        return None
    if isinstance(x, float) or isinstance(y, float):
        return math.fmod(x, y)
    return abs(x) % abs(y) * (1 if x > 0 else -1)


def database():
    base = sqlite3.connect(":memory:")
    base.execute("PRAGMA case_sensitive_like = ON")
    base.create_function("REMAINDER", 2, remainder)
    quantile = lambda values, phi: sorted(values)[max(math.ceil(phi * len(values)), 1) - 1]
    kth_smallest = lambda values, k: sorted(values)[k - 1]
    kth_largest = lambda values, k: sorted(values, reverse=True)[k - 1]
    for name, arguments, answer in (
            ("MEDIAN", 1, statistics.median), ("VARIANCE", 1, statistics.variance), ("STDDEV", 1, statistics.stdev),
            ("VAR_POP", 1, statistics.pvariance), ("STDDEV_POP", 1, statistics.pstdev), ("QUANTILE", 2, quantile),
            ("KTH_SMALLEST", 2, kth_smallest), ("KTH_LARGEST", 2, kth_largest),
            ("LARGE_AVG", 1, lambda values: sum(values) / len(values) if values else None)):
        base.create_aggregate(name, arguments, aggregate(answer))
    return base


class Form(tuple):
    """A part of a statement for quadmill, SQLite and DuckDB."""
    def __new__(cls, text, *parts, sqlite=None, duckdb=None):
        forms = (text, sqlite or text, duckdb or text)
        return super().__new__(cls, (form.format(*(part[i] for part in parts)) for i, form in enumerate(forms)))

    @classmethod
    def plain(cls, text):
        return tuple.__new__(cls, (text,) * 3)


def joined(separator, parts):
    return tuple.__new__(Form, (separator.join(part[i] for part in parts) for i in range(3)))


class Source:
    """FROM, the columns that make a row unique, and what stands before the name of a column of each table."""
    def __init__(self, text, keys, prefixes=("",), tables=("x",)):
        self.text, self.keys, self.prefixes, self.tables = text, keys, prefixes, tables


SOURCES = [Source("x", ["id"])] * 6 + [
    Source("x JOIN y ON x.a = y.k", ["id", "v"], tables="xy"),
    Source("x LEFT JOIN y ON x.a = y.k", ["id", "v"], tables="xy"),
    Source("x LEFT JOIN z USING (d)", ["id", "h"], tables="xz"),
    Source("x JOIN z USING (d)", ["id", "h"], tables="xz"),
    Source("x JOIN y ON x.t = y.l", ["id", "v"], tables="xy"),
    Source("x LEFT JOIN y ON x.u = y.q", ["id", "v"], tables="xy"),
    Source("x LEFT JOIN y ON y.p = x.b", ["id", "v"], tables="xy"),
    Source("x JOIN y ON x.d = y.p", ["id", "v"], tables="xy"),
    Source("x JOIN y ON ABS(x.a - y.k) <= 1", ["id", "v"], tables="xy"),
    Source("x AS e JOIN x AS f ON e.a = f.d", ["e.id", "f.id"], ("e.", "f."), "ef"),
    Source("y LEFT JOIN x AS e ON y.k = e.d", ["v", "e.id"], ("e.",), "ye")]


class Draw:
    """Draws statements."""
    INTEGERS, REALS, TEXTS = ["a", "d", "id"], ["b", "c", "r"], ["t", "s", "i", "m"]
    # An integer column of 64 bits and one of more.
    LARGE, WIDE = "w", "u"

    def __init__(self, chance, tables):
        self.chance, self.tables, self.source = chance, tables, SOURCES[0]

    def one_in(self, n):
        return self.chance.randrange(n) == 0

    def pick(self, *choices):
        return self.chance.choice(choices)

    def name(self, *names):
        prefix = self.chance.choice(self.source.prefixes)
        name = self.chance.choice(names)
        if name == "d" and "USING" in self.source.text and prefix == "" and self.one_in(2):
            prefix = "x."
        return Form.plain(prefix + name)

    def number(self, depth=0):
        kind = self.chance.randrange(7 if depth < 2 else 3)
        if kind == 0:
            return Form.plain(self.pick("1", "2", "-3", "0.5", "7", "1e1"))
        if kind < 3:
            return self.name(*self.INTEGERS, *self.REALS)
        if kind == 3:
            x = self.name(*self.INTEGERS, *self.REALS)
            y = self.name("d", "c") if self.one_in(3) else Form.plain(self.pick("2", "3", "-7", "1.5"))
            return Form("({} % {})", x, y, sqlite="REMAINDER({}, {})")
        x, y = self.number(depth + 1), self.number(depth + 1)
        if kind == 4:
            y = y if re.search("[a-dr]", y[0]) else self.name("a")  # constants do not divide by zero
            return Form("(({}) / ({}))", x, y, sqlite="(1.0 * ({}) / ({}))")
        return Form(f"({{}} {self.pick(*'+-*')} {{}})", x, y)

    def value(self):
        """Names a column."""
        while True:
            found = self.number()
            if re.search("[a-dr]", found[0]):
                return found

    def text(self):
        return self.name(*self.TEXTS)

    def column(self):
        """A column as it is."""
        return self.name(*self.INTEGERS, *self.REALS, *self.TEXTS, self.LARGE, self.WIDE)

    def constant_text(self):
        return "'" + self.chance.choice(self.tables.TEXTS + ["pear", "7"]).replace("'", "''") + "'"

    def large(self):
        return str(self.chance.choice(self.tables.LARGE))

    def wide(self):
        digits = str(self.chance.choice(self.tables.WIDE))
        return tuple.__new__(Form, (digits, f"'{digits.zfill(WIDE_DIGITS)}'", digits))

    def pattern(self):
        letters = "".join(self.pick(*"%%%_apeéfigÉA1") for _ in range(self.chance.randrange(5)))
        return self.pick(letters, letters, "%''%", "%,%", "%\"%", "00%", "_%_")

    def comparison(self):
        return self.pick("<", "<=", "=", "!=", "<>", ">", ">=")

    def condition(self, depth=0):
        kind = self.chance.randrange(20 if depth < 2 else 16)
        no = self.pick("", "NOT ")
        op = self.comparison()
        if kind < 3:
            return Form(f"{{}} {op} {{}}", self.value(), self.number())
        if kind == 3:
            return Form(f"{{}} {op} '7'", self.name(*self.INTEGERS), duckdb=f"{{}} {op} 7")
        if kind == 4:
            return Form(f"{{}} {no}LIKE {{}}", self.text(), Form.plain(f"'{self.pattern()}'"))
        if kind == 5:
            escaped = self.pick("'%!%'", "'!_%'", "'50!%'", "'%!%%'") + " ESCAPE '!'"
            return Form(f"{{}} {no}LIKE {{}}", self.text(), Form.plain(escaped))
        if kind == 6:
            pattern = self.pattern()
            low = pattern.translate(str.maketrans(UPPER, LOWER))
            return Form(f"{{}} {no}ILIKE '{{}}'", self.text(), (pattern, low, low),
                        sqlite=f"LOWER({{}}) {no}LIKE '{{}}'",
                        duckdb=f"translate({{}}, '{UPPER}', '{LOWER}') {no}LIKE '{{}}'")
        if kind == 7:
            return Form(f"{{}} IS {no}NULL", self.value() if self.one_in(2) else self.column())
        if kind == 8:
            low, high = self.pick(("-2", "5.5"), ("0", "3"), ("4", "1"), ("a", "b"), ("-1", "d"))
            return Form(f"{{}} {no}BETWEEN {{}} AND {{}}", self.value(), *(
                Form.plain(end) if end[-1].isdigit() else self.name(end) for end in (low, high)))
        if kind == 9:
            return Form(f"{{}} {no}IN ({self.pick('0, 1, 2.5, -4', '3', '-0.0, 7, 7, 1e1')})", self.value())
        if kind == 10:
            return Form(f"{{}} {op} {{}}", self.text(), self.text())
        if kind == 11:
            return Form(f"{{}} {op} {{}}", self.text(), Form.plain(self.constant_text()))
        if kind == 12:
            texts = ", ".join(self.constant_text() for _ in range(1 + self.chance.randrange(4)))
            return Form(f"{{}} {no}IN ({{}})", self.text(), Form.plain(texts))
        if kind == 13:
            return Form(f"{{}} {no}BETWEEN {{}} AND {{}}", self.text(), Form.plain(self.constant_text()),
                        Form.plain(self.constant_text()))
        if kind == 14:
            name = self.name(self.LARGE)
            return self.pick(Form(f"{{}} {op} {self.large()}", name), Form(f"{{}} - 3 {op} {self.large()}", name),
                             Form(f"{{}} {no}IN ({self.large()}, 5, {self.large()})", name))
        if kind == 15:
            name = self.name(self.WIDE)
            return self.pick(Form(f"{{}} {op} {{}}", name, self.wide()),
                             Form(f"{{}} {no}IN ({{}}, {{}})", name, self.wide(), self.wide()),
                             Form(f"{{}} {no}BETWEEN {{}} AND {{}}", name, self.wide(), self.wide()))
        if kind == 16:
            return Form("NOT ({})", self.condition(depth + 1))
        return Form(f"({{}} {self.pick('AND', 'OR')} {{}})", self.condition(depth + 1), self.condition(depth + 1))

    def where(self):
        return Form.plain("") if self.one_in(2) else Form(" WHERE {}", self.condition())

    def direction(self):
        return self.pick("", " ASC", " DESC") + self.pick("", "", " NULLS FIRST", " NULLS LAST")

    def limit(self):
        if self.one_in(2):
            return Form.plain("")
        return Form.plain(f" LIMIT {self.chance.randrange(30)}" +
                          ("" if self.one_in(2) else f" OFFSET {self.chance.randrange(9)}"))

    def order(self, keys):
        """ORDER BY these."""
        return Form(" ORDER BY {}", joined(", ", [Form("{}" + self.direction(), key) for key in keys]))

    def aggregate(self):
        kind = self.chance.randrange(12)
        if kind == 0:
            return Form.plain(self.pick("COUNT(*)", "COUNT(1)"))
        if kind < 3:
            return Form("COUNT(DISTINCT {})", self.value() if self.one_in(4) else self.column())
        if kind == 3:
            return Form(self.pick("MIN", "MAX", "COUNT") + "({})", self.text())
        if kind == 4:
            word = self.pick("MEDIAN", "VARIANCE", "STDDEV", "VAR_POP", "STDDEV_POP")
            return Form(word + "({})", self.value() if self.one_in(3) else self.name(*self.INTEGERS, *self.REALS))
        if kind == 5:
            phi = self.pick("0", "0.25", "0.5", "0.75", "1")
            of = self.text() if self.one_in(4) else self.value()
            return Form(f"QUANTILE({{}}, {phi})", of, duckdb=f"QUANTILE_DISC({{}}, {phi})")
        if kind == 6:
            k, word = self.chance.randrange(1, 4), self.pick("SMALLEST", "LARGEST")
            sort = "list_sort" if word == "SMALLEST" else "list_reverse_sort"
            return Form(f"KTH_{word}({{}}, {k})", self.value(),
                        duckdb=f"{sort}(list({{0}}) FILTER (WHERE {{0}} IS NOT NULL))[{k}]")
        if kind == 7:
            return self.pick(Form(self.pick("MIN", "MAX", "COUNT") + "({})", self.name(self.LARGE, self.WIDE)),
                             Form("AVG({})", self.name(self.LARGE), sqlite="LARGE_AVG({})"))
        return Form(self.pick("SUM", "AVG", "MIN", "MAX", "COUNT") + "({})", self.value())

    def named(self, items):
        """Outputs with names o0, o1 and so on."""
        return joined(", ", [Form(f"{{}} AS o{k}", item) for k, item in enumerate(items)])

    def item(self):
        return self.value() if self.one_in(2) else self.column()

    def rows(self):
        """Plain rows; the keys of the source make the order unique."""
        items = [self.item() for _ in range(1 + self.chance.randrange(3))]
        where = self.where()
        keys = [self.pick(self.item(), Form.plain(f"o{k}"), Form.plain(str(k + 1)))
                for k in range(self.chance.randrange(len(items) + 1))]
        keys += [Form.plain(name) for name in self.source.keys]
        if self.one_in(4):  # in the order of the file
            limit = self.limit() if self.source.text == "x" else Form.plain("")
            return Form("SELECT {} FROM {}{}{}", self.named(items), self.source.text_form, where, limit)
        return Form("SELECT {} FROM {}{}{}{}", self.named(items), self.source.text_form, where, self.order(keys),
                    self.limit())

    def stars(self):
        tables = self.source.tables
        star = self.pick("*", tables[0] + ".*", tables[-1] + ".*, " + self.source.keys[0])
        star = self.pick(star, "DISTINCT " + star)
        keys = [Form.plain(name) for name in self.source.keys]
        if star.startswith("DISTINCT"):
            return Form("SELECT {} FROM {}{}", Form.plain(star), self.source.text_form, self.where())
        return Form("SELECT {} FROM {}{}{}{}", Form.plain(star), self.source.text_form, self.where(), self.order(keys),
                    self.limit())

    def distinct(self):
        items = [self.item() for _ in range(1 + self.chance.randrange(3))]
        order = self.order([Form.plain(str(i + 1)) for i in range(len(items))])
        return Form("SELECT DISTINCT {} FROM {}{}{}{}", joined(", ", items), self.source.text_form, self.where(), order,
                    self.limit())

    def having(self, found):
        if not self.one_in(3):
            return Form.plain("")
        if self.one_in(4) and not DIVIDES.search(found[0][0]):
            return Form.plain(" HAVING o0 IS NOT NULL")
        a, b, c, t = (self.name(name) for name in "abct")
        return self.pick(Form.plain(" HAVING COUNT(*) > 3"), Form(" HAVING SUM({}) * 2 > COUNT(*)", a),
                         Form(" HAVING MAX({}) LIKE '%e%'", t), Form(" HAVING COUNT(DISTINCT {}) BETWEEN 2 AND 5", a),
                         Form(" HAVING AVG({}) IS NOT NULL OR COUNT({}) < 9", b, c),
                         Form(" HAVING NOT MIN({}) IN (-5, 0, 1) AND SUM({} * {}) < 50", a, a, b))

    def groups(self):
        keys = [self.value() if self.one_in(4) else self.column() for _ in range(self.chance.randrange(4))]
        keys = [key for i, key in enumerate(keys) if key[0] not in [k[0] for k in keys[:i]]]
        found = [self.aggregate() for _ in range(1 + self.chance.randrange(3))]
        if self.one_in(3):
            found.append(Form(f"({{}} {self.pick(*'+-*')} {{}})", *(
                Form(self.pick("SUM", "COUNT", "MAX") + "({})", self.value()) for _ in range(2))))
        names = [Form.plain(self.pick(str(i + 1), f"o{i}")) for i in range(len(found), len(found) + len(keys))]
        by = [name if self.one_in(2) else key for name, key in zip(names, keys)]
        order = list(names)
        self.chance.shuffle(order)
        if self.one_in(2) and not DIVIDES.search(found[0][0]):
            order.insert(0, Form.plain(self.pick("1", "o0")))
        if not order or self.one_in(4):
            tail = Form.plain("")
        else:
            tail = Form("{}{}", self.order(order), self.limit())
        group = Form(" GROUP BY {}", joined(", ", by)) if by else Form.plain("")
        return Form("SELECT {} FROM {}{}{}{}{}", self.named(found + keys), self.source.text_form, self.where(), group,
                    self.having(found), tail)

    def distinct_groups(self):
        count = Form("COUNT({})", self.column())
        having = self.having([count])
        return Form("SELECT DISTINCT {} AS o0 FROM {}{} GROUP BY {}{} ORDER BY o0{}", count, self.source.text_form,
                    self.where(), self.column(), having, self.limit())

    def statement(self):
        large = len(self.tables.rows["x"]) > 50_000  # other engines would join it for minutes
        self.source = SOURCES[0] if large else self.chance.choice(SOURCES)
        self.source.text_form = Form.plain(self.source.text)
        return self.pick(self.rows, self.rows, self.distinct, self.groups, self.groups, self.groups, self.stars,
                         self.distinct_groups)()


class Tables:
    """Random rows, in files and in the other engines."""
    COLUMNS = {"x": ["id", "a", "b", "c", "r", "d", "w", "u", "t", "s", "i", "m"], "y": ["k", "v", "l", "p", "q"],
               "z": ["d", "h"]}
    REALS = ["b", "c", "r", "p"]
    TEXT = ["t", "s", "i", "m", "l"]
    WIDES = ["u", "q"]
    TEXTS = ["", "pear", "Apple", "apple", "fig", "éa", "peep", "APE", "ig", "Éa", "50%", "a_b", "one, two", 'say "a"',
             "it's", "two\nlines", " a", "日本", "NULL", "🍐"]
    NUMBERS = ["0", "-0", "-0.0", "0.25", "25e-2", "1.5E3", "-1.25e1", "+3", "7.000", "-2.5", "1e2", ".5", "-4"]
    IDS = ["00123", "123", "0123", "12E12", "7", "-0", "0x1F", "1e5", "007"]
    LARGE = [2**62, 2**62 - 1, -2**62, 2**53 + 1, 2**53 + 3, -2**53 - 1, 5, 0]
    WIDE = [2**64 - 1, 2**64 - 2, 2**63, 2**63 - 1, 2**100, 2**100 + 1, 18, 0]

    def __init__(self, chance, rows):
        maybe = lambda value: None if chance.random() < 0.15 else value
        eighth = lambda: chance.randrange(-40, 40) / 8
        some = lambda values: maybe(chance.choice(values))
        few = max(rows // 15, 5)  # different texts and numbers of larger tables
        more = self.TEXTS + [f"text {n}" for n in range(few - 5)]
        x = [[i, maybe(chance.randrange(-few, few + 1)), maybe(eighth()), maybe(eighth()),
              maybe(Written(chance.choice(self.NUMBERS))), maybe(chance.randrange(few)), some(self.LARGE),
              some(self.WIDE), some(more), some(self.TEXTS), some(self.IDS), some(self.IDS)]
             for i in range(1, rows + 1)]
        if x:
            x[0][4], x[0][7], x[0][10], x[0][11] = Written("0.25"), 2**100, "00123", "n/a"
        self.rows = {"x": x,
                     "y": [[maybe(chance.randrange(-7, 7)), i, some(self.TEXTS), maybe(chance.randrange(-9, 9) / 2),
                            some(self.WIDE)] for i in range(20)],
                     "z": [[maybe(chance.randrange(6)), i] for i in range(9)]}
        self.rows["y"][0][4] = 2**64 - 1

    def write(self, folder):
        for name, rows in self.rows.items():
            with open(f"{folder}/{name}.csv", "wb") as file:
                file.write(csv_of(self.COLUMNS[name], rows))

    def load(self, base, duckdb):
        for name, rows in self.rows.items():
            columns = self.COLUMNS[name]
            declared = lambda wide: ", ".join(
                f"{column} " + ("DOUBLE" if column in self.REALS else "TEXT" if column in self.TEXT else
                                wide if column in self.WIDES else "BIGINT") for column in columns)
            padded = [[str(value).zfill(WIDE_DIGITS) if column in self.WIDES and value is not None else value
                       for column, value in zip(columns, row)] for row in rows]
            base.execute(f"CREATE TABLE {name} ({declared('TEXT')})")
            base.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", padded)
            if duckdb:
                duckdb.load(name, declared("HUGEINT"), rows)


def plain(value):
    """Integers beyond 64 bits are texts in JSON and SQLite."""
    is_wide = isinstance(value, str) and (re.fullmatch(rf"-?\d{{{WIDE_DIGITS - 1},{WIDE_DIGITS}}}", value) or
                                          (re.fullmatch(r"-?[1-9]\d*", value) and abs(int(value)) >= 2**63))
    return int(value) if is_wide else value


def is_close(found, right):
    number = lambda value: isinstance(value, (int, float))
    # A column u of a small table may have 64 bits, and one of many rows is text.
    if isinstance(found, str) and number(right) and re.fullmatch(r"-?\d+", found):
        found = int(found)
    if number(found) and number(right) and float in (type(found), type(right)):
        return math.isclose(found, right, rel_tol=1e-9, abs_tol=1e-9)
    return found == right


def difference(found, wanted, in_order):
    """Nothing if these rows are the same."""
    found, wanted = ([[plain(value) for value in row] for row in rows] for rows in (found, wanted))
    if not in_order:
        def key_of(value):
            if value is None or (isinstance(value, str) and not value.isdigit()):
                return (0, 0, "") if value is None else (2, 0, value)
            leading_zero = isinstance(value, str) and value.startswith("0")
            is_large = not isinstance(value, float) and abs(int(value)) >= 2**53
            exact = value if leading_zero else str(value) if is_large else ""
            return 1, float(f"{float(value):.8g}"), exact

        def key(row):
            return [key_of(value) for value in row]
        found, wanted = sorted(found, key=key), sorted(wanted, key=key)
    if len(found) != len(wanted):
        return f"{len(found)} rows instead of {len(wanted)}: {found[:5]} instead of {wanted[:5]}"
    for i, (row, right) in enumerate(zip(found, wanted)):
        if len(row) != len(right) or not all(map(is_close, row, right)):
            return f"row {i}: {row} instead of {right}"
    return None


class Comparison:
    """Draws tables and statements, and compares the answers."""

    def __init__(self, seed, library=None, options=(), rows=None):
        self.chance, self.options, self.rows = random.Random(seed), list(options), rows
        self.duckdb = DuckDb(library) if library else None
        self.faults, self.counts = [], {"SQLite": 0, "DuckDB": 0}

    def fault(self, what, statement):
        self.faults.append(f"{what}\n  {statement}")
        print(self.faults[-1], flush=True)

    def answers(self, statements, folder):
        """Of each statement its rows, or nothing if it is refused."""
        text = ";\n".join(re.sub(r"\b(FROM|JOIN) (\w)\b", r"\1 \2.csv", form[0]) for form in statements)
        with open(f"{folder}/all.sql", "w", encoding="utf-8") as file:
            file.write(text)
        threads = [] if "--threads" in self.options else ["--threads", self.chance.choice("12")]
        result = run("query", "-f", "all.sql", "--json", *threads, *self.options, cwd=folder)
        if result.returncode == 0:
            return [json.loads(line)["rows"] for line in result.stdout.splitlines()]
        if len(statements) > 1:  # one of them is refused
            half = len(statements) // 2
            return self.answers(statements[:half], folder) + self.answers(statements[half:], folder)
        self.fault("refused: " + result.stderr.decode().strip(), statements[0][0])
        return [None]

    def compare(self, count):
        rows = self.rows if self.rows is not None else self.chance.choice([60, 60, 60, 60, 1, 2, 15, 300])
        tables = Tables(self.chance, rows)
        base = database()
        tables.load(base, self.duckdb)
        draw = Draw(self.chance, tables)
        statements = [draw.statement() for _ in range(count)]
        with tempfile.TemporaryDirectory() as folder:
            tables.write(folder)
            found = self.answers(statements, folder)
        for form, rows in zip(statements, found):
            if rows is None:
                continue
            in_order = "ORDER BY" in form[0] or (" JOIN " not in form[0] and not re.search("GROUP|DISTINCT", form[0]))
            engines = [("SQLite", lambda: base.execute(form[1]).fetchall())]
            if self.duckdb:
                engines.append(("DuckDB", lambda: self.duckdb.execute(form[2])))
            for engine, ask in engines:
                self.counts[engine] += 1
                try:
                    wrong = difference(rows, ask(), in_order)
                except (sqlite3.Error, RuntimeError) as error:
                    wrong = f"does not answer: {error}"
                if wrong:
                    self.fault(f"{engine}: {wrong}", form[0])
        base.close()

    def run(self, count):
        at_once = 100
        for done in range(0, count, at_once):
            self.compare(min(at_once, count - done))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--duckdb", metavar="LIBRARY")
    known, options = parser.parse_known_args()
    comparison = Comparison(known.seed, known.duckdb, options, known.rows)
    comparison.run(known.count)
    counts = ", ".join(f"{count} statements against {engine}" for engine, count in comparison.counts.items() if count)
    print(f"seed {known.seed} {shlex.join(options)}: {counts}, {len(comparison.faults)} faults")
    sys.exit(1 if comparison.faults else 0)


if __name__ == "__main__":
    main()
