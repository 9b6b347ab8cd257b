"""quadmill query: the statements of tests/sql/statements.txt, and random ones (random_statements.py draws more)."""
import pathlib
import re
import unittest

from command import run

from query_command import Query
from random_statements import Comparison, database, difference

FILE = pathlib.Path(__file__).parent.parent / "sql" / "statements.txt"


class Examples(Query):
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
                    self.assertIsNone(difference(self.rows(files), base.execute(statement).fetchall(), True))
        self.assertGreater(queries, 25)


class RandomStatements(unittest.TestCase):
    def test_random_statements(self):
        comparison = Comparison(seed=20261128)
        comparison.run(600)
        self.assertEqual((comparison.counts["SQLite"], comparison.faults), (600, []))


if __name__ == "__main__":
    unittest.main()
