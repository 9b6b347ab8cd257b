"""quadmill query: the statements of tests/sql/statements.txt, and random statements that SQLite answers, too.

usage: query_sql_test.py QUADMILL [unittest arguments]

STATEMENTS=10000 in the environment draws that many random statements, SEED other ones. DUCKDB=FILE is the library of
DuckDB, which then answers them, too.
"""
import json
import math
import os
import pathlib
import random
import re
import sqlite3
import statistics
import unittest

from command import run

from duckdb import DuckDb
from query_command import Query, csv_of

FILE = pathlib.Path(__file__).parent.parent / "sql" / "statements.txt"


def aggregate(answer):
    """A class for sqlite3: the answer to the list of values that are not NULL."""
    class Aggregate:
        def __init__(self):
            self.values = []

        def step(self, value):
            if value is not None:
                self.values.append(value)

        def finalize(self):
            try:
                return answer(self.values)
            except statistics.StatisticsError:
                return None
    return Aggregate


def database():
    base = sqlite3.connect(":memory:")
    base.execute("PRAGMA case_sensitive_like = ON")
    for name, answer in (("MEDIAN", statistics.median), ("VARIANCE", statistics.variance),
                         ("STDDEV", statistics.stdev), ("VAR_POP", statistics.pvariance)):
        base.create_aggregate(name, 1, aggregate(answer))
    return base


class Sql(Query):
    def same(self, found, expected, statement):
        self.assertEqual(len(found), len(expected), statement)
        for row, wanted in zip(found, expected):
            for value, right in zip(row, wanted):
                numbers = all(isinstance(number, (int, float)) for number in (value, right))
                if numbers and float in (type(value), type(right)):
                    good = math.isclose(value, right, rel_tol=1e-9, abs_tol=1e-9)
                else:
                    good = value == right
                self.assertTrue(good, f"{statement}: {row} instead of {wanted}")


class Examples(Sql):
    def load(self, base, name, text):
        self.path(name, text)
        answer = self.answer(f"SELECT * FROM {name}")
        table = name.split(".")[0]
        base.execute(f"CREATE TABLE {table} ({', '.join(answer['columns'])})")
        base.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(answer['columns']))})", answer["rows"])

    def test_statements(self):
        base = database()
        queries = 0
        text = re.sub(r"(?m)^----\n(\w+)\n\n(?=[A-Za-z])", r"----\n\1\n\0\n", FILE.read_text())
        for block in text.split("\n\n"):
            lines = [line for line in block.strip("\n").split("\n") if not line.startswith("#")]
            lines = ["" if line == "\0" else line for line in lines]
            if not lines:
                continue
            kind, *more = lines[0].split()
            if kind == "table":
                self.load(base, more[0], ("\n".join(lines[1:]) + "\n").encode())
                continue
            cut = lines.index("----")
            statement, wanted = " ".join(lines[1:cut]), lines[cut + 1:]
            files = re.sub(r"\b(FROM|JOIN) (\w+)", r"\1 \2.csv", statement)
            with self.subTest(statement):
                queries += 1
                result = run("query", files, cwd=self.folder)
                if kind == "error":
                    self.assertNotEqual(result.returncode, 0)
                    self.assertEqual(result.stderr.decode().split("\n")[0].split(": ", 1)[1], wanted[0])
                    continue
                self.assertEqual(result.stderr, b"")
                self.assertEqual(result.stdout.decode(), "\n".join(wanted) + "\n")
                if "sqlite" in more:
                    self.same(self.rows(files), base.execute(statement).fetchall(), statement)
        self.assertGreater(queries, 25)


class Draw:
    """Draws statements, for quadmill and for SQLite."""
    INTEGERS, FLOATS, TEXTS = ["a", "d", "id"], ["b", "c"], ["t", "s"]

    def __init__(self, chance):
        self.chance = chance

    def one_in(self, n):
        return self.chance.randrange(n) == 0

    def integer(self, prefix=""):
        return prefix + self.chance.choice(self.INTEGERS)

    def number(self, depth=0):
        """(text for quadmill, text for SQLite)"""
        kind = self.chance.randrange(7 if depth < 2 else 3)
        if kind == 0:
            constant = self.chance.choice(["1", "2", "-3", "0.5", "7"])
            return constant, constant
        if kind < 3:
            name = self.chance.choice(self.INTEGERS + self.FLOATS)
            return name, name
        if kind == 3:
            name, by = self.integer(), self.chance.choice(["2", "3", "d", "7"])
            return f"({name} % {by})", f"({name} % {by})"
        (x, p), (y, q) = self.number(depth + 1), self.number(depth + 1)
        if kind == 4:
            y, q = (y, q) if re.search("[a-d]", y) else ("a", "a")  # constants do not divide by zero
            return f"(({x}) / ({y}))", f"(1.0 * ({p}) / ({q}))"
        sign = self.chance.choice("+-*")
        return f"({x} {sign} {y})", f"({p} {sign} {q})"

    def value(self):
        """Names a column."""
        while True:
            found = self.number()
            if re.search("[a-d]", found[0]):
                return found

    def both(self, text):
        return text, text

    def condition(self, depth=0):
        kind = self.chance.randrange(10 if depth < 2 else 8)
        if kind < 2:
            (x, p), (y, q) = self.value(), self.number()
            op = self.chance.choice(["<", "<=", "=", "!=", ">", ">="])
            return f"{x} {op} {y}", f"{p} {op} {q}"
        if kind == 2:
            no = self.chance.choice(["", "NOT "])
            return self.both(f"{self.chance.choice(self.TEXTS)} {no}LIKE {self.pattern()}")
        if kind == 3:
            name, pattern = self.chance.choice(self.TEXTS), self.pattern()
            return f"{name} ILIKE {pattern}", f"LOWER({name}) LIKE LOWER({pattern})"
        if kind == 4:
            x, p = self.value()
            no = self.chance.choice(["", "NOT "])
            return f"{x} IS {no}NULL", f"{p} IS {no}NULL"
        if kind == 5:
            x, p = self.value()
            return f"{x} BETWEEN -2 AND 5.5", f"{p} BETWEEN -2 AND 5.5"
        if kind == 6:
            x, p = self.value()
            return f"{x} IN (0, 1, 2.5, -4)", f"{p} IN (0, 1, 2.5, -4)"
        if kind == 7:
            op = self.chance.choice(["<", ">=", "=", "!="])
            return self.both(f"{self.chance.choice(self.TEXTS)} {op} {self.chance.choice(['t', 's', repr('pear')])}")
        if kind == 8:
            x, p = self.condition(depth + 1)
            return f"NOT ({x})", f"NOT ({p})"
        (x, p), (y, q) = self.condition(depth + 1), self.condition(depth + 1)
        word = self.chance.choice(["AND", "OR"])
        return f"({x} {word} {y})", f"({p} {word} {q})"

    def pattern(self):
        return "'" + "".join(self.chance.choice("%_apeéfig") for _ in range(self.chance.randrange(5))) + "'"

    def where(self):
        if self.one_in(2):
            return "", ""
        x, p = self.condition()
        return f" WHERE {x}", f" WHERE {p}"

    def direction(self):
        return self.chance.choice(["", " ASC", " DESC"]) + self.chance.choice(["", "", " NULLS FIRST", " NULLS LAST"])

    def limit(self):
        if self.one_in(2):
            return ""
        return f" LIMIT {self.chance.randrange(30)}" + ("" if self.one_in(2) else f" OFFSET {self.chance.randrange(9)}")

    def aggregate(self):
        kind = self.chance.randrange(8)
        if kind == 0:
            return self.both("COUNT(*)")
        if kind == 1:
            return self.both(f"COUNT(DISTINCT {self.chance.choice(self.INTEGERS + self.FLOATS + self.TEXTS)})")
        if kind == 2:
            return self.both(f"{self.chance.choice(['MIN', 'MAX', 'COUNT'])}({self.chance.choice(self.TEXTS)})")
        if kind == 3:
            name = self.chance.choice(self.INTEGERS + self.FLOATS)
            return self.both(f"{self.chance.choice(['MEDIAN', 'VARIANCE', 'STDDEV', 'VAR_POP'])}({name})")
        x, p = self.value()
        word = self.chance.choice(["SUM", "AVG", "MIN", "MAX", "COUNT"])
        return f"{word}({x})", f"{word}({p})"

    def rows(self, source):
        """Plain rows; `id` makes the order unique."""
        items = [self.value() if self.one_in(2) else self.both(self.chance.choice(self.TEXTS + self.INTEGERS))
                 for _ in range(1 + self.chance.randrange(3))]
        where, where_too = self.where()
        keys = [self.value() if self.one_in(2) else self.both(self.chance.choice(self.TEXTS + self.FLOATS))
                for _ in range(self.chance.randrange(3))]
        keys = [(x, p, self.direction()) for x, p in keys] + [(name, name, self.direction()) for name in source[1]]
        tail = lambda i: " ORDER BY " + ", ".join(key[i] + key[2] for key in keys)
        limit = self.limit()
        return tuple(f"SELECT {', '.join(f'{item[i]} AS o{k}' for k, item in enumerate(items))} FROM {source[0]}"
                     f"{(where, where_too)[i]}{tail(i)}{limit}" for i in (0, 1))

    def distinct(self, source):
        items = [self.value() if self.one_in(3) else self.both(self.chance.choice(self.TEXTS + ["a", "d", "a % 3"]))
                 for _ in range(1 + self.chance.randrange(2))]
        where, where_too = self.where()
        order = ", ".join(f"{i + 1}{self.direction()}" for i in range(len(items)))
        limit = self.limit()
        return tuple(f"SELECT DISTINCT {', '.join(item[i] for item in items)} FROM {source[0]}"
                     f"{(where, where_too)[i]} ORDER BY {order}{limit}" for i in (0, 1))

    def groups(self, source):
        keys = [self.value() if self.one_in(4) else self.both(self.chance.choice(self.TEXTS + ["a", "d", "d % 2"]))
                for _ in range(self.chance.randrange(3))]
        keys = [(x, p) for i, (x, p) in enumerate(keys) if x not in [k for k, _ in keys[:i]]]
        found = [self.aggregate() for _ in range(1 + self.chance.randrange(3))]
        where, where_too = self.where()
        having = ""
        if self.one_in(3):
            having = self.chance.choice([" HAVING COUNT(*) > 3", " HAVING SUM(a) * 2 > COUNT(*)",
                                         " HAVING MAX(t) LIKE '%e%'", " HAVING AVG(b) IS NOT NULL OR COUNT(c) < 9"])
        order = [f"{i + 1 + len(found)}{self.direction()}" for i in range(len(keys))]
        if self.one_in(2) and not re.search("STDDEV|VAR|AVG|/", found[0][0]):
            order.insert(0, "1" + self.direction())
        parts = [self.chance.randrange(2) for _ in keys]
        group = lambda i: ", ".join(str(k + 1 + len(found)) if part else keys[k][i] for k, part in enumerate(parts))
        limit = self.limit()
        return tuple(f"SELECT {', '.join(item[i] for item in found + keys)} FROM {source[0]}{(where, where_too)[i]}"
                     f"{' GROUP BY ' + group(i) if keys else ''}{having}"
                     f"{' ORDER BY ' + ', '.join(order) if order else ''}{limit}" for i in (0, 1))

    def statement(self):
        source = self.chance.choice([("x", ["id"])] * 3 + [("x JOIN y ON x.a = y.k", ["id", "v"]),
                                                           ("x LEFT JOIN y ON x.a = y.k", ["id", "v"]),
                                                           ("x LEFT JOIN z USING (d)", ["id", "w"])])
        return self.chance.choice([self.rows, self.distinct, self.groups, self.groups])(source)


class RandomStatements(Sql):
    TABLES = {"x": ["id", "a", "b", "c", "d", "t", "s"], "y": ["k", "v"], "z": ["d", "w"]}

    def tables(self, chance):
        texts = ["", "pear", "Apple", "apple", "fig", "éa", "peep", "APE", "ig"]
        maybe = lambda value: None if chance.random() < 0.15 else value
        eighth = lambda: chance.randrange(-40, 40) / 8
        return {"x": [[i, maybe(chance.randrange(-5, 6)), maybe(eighth()), maybe(eighth()), maybe(chance.randrange(4)),
                       maybe(chance.choice(texts)), maybe(chance.choice(texts))] for i in range(1, 61)],
                "y": [[maybe(chance.randrange(-7, 7)), i] for i in range(20)],
                "z": [[maybe(chance.randrange(6)), i] for i in range(9)]}

    def test_random_statements(self):
        seed = int(os.environ.get("SEED", 20261126))
        count = int(os.environ.get("STATEMENTS", 600))
        chance = random.Random(seed)
        duckdb = DuckDb(os.environ["DUCKDB"]) if "DUCKDB" in os.environ else None
        print(f"seed {seed}{', and DuckDB' if duckdb else ''}")
        at_once = 100
        for _ in range(0, count, at_once):
            base = database()
            self.addCleanup(base.close)
            for name, rows in self.tables(chance).items():
                columns = self.TABLES[name]
                self.path(f"{name}.csv", csv_of(columns, rows))
                types = {"t": "TEXT", "s": "TEXT", "b": "DOUBLE", "c": "DOUBLE"}
                declared = ", ".join(f"{column} {types.get(column, 'INTEGER')}" for column in columns)
                base.execute(f"CREATE TABLE {name} ({declared})")
                base.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
                if duckdb:
                    duckdb.load(name, declared, rows)
            draw = Draw(chance)
            statements = [draw.statement() for _ in range(at_once)]
            text = ";\n".join(re.sub(r"\b(FROM|JOIN) (\w)\b", r"\1 \2.csv", ours) for ours, _ in statements)
            self.path("all.sql", text.encode())
            result = run("query", "-f", "all.sql", "--json", cwd=self.folder)
            answers = result.stdout.splitlines()
            failed = "" if result.returncode == 0 else f"{result.stderr.decode()}{statements[len(answers)][0]}"
            self.assertEqual(failed, "")
            self.assertEqual(len(answers), at_once)
            for answer, (ours, theirs) in zip(answers, statements):
                rows = json.loads(answer)["rows"]
                self.same(rows, base.execute(theirs).fetchall(), ours)
                if duckdb:
                    self.same(rows, duckdb.execute(ours), "DuckDB: " + ours)


if __name__ == "__main__":
    unittest.main()
