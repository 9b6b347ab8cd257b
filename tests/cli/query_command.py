"""Common parts of the tests of queries: tables as CSV, and the command compared with SQLite."""
import io

from command import Command, run


def csv_of(names, rows, **more):
    """NULL is an empty field and an empty text is in quotes; the csv module does not distinguish them."""
    out = io.StringIO()
    def field(value):
        if value is None:
            return ""
        text = str(value)
        special = text == "" or any(c in text for c in ',"\r\n')
        return '"' + text.replace('"', '""') + '"' if special else text
    for row in [names, *rows]:
        out.write(",".join(map(field, row)) + more.get("end", "\n"))
    return out.getvalue().encode()


class Query(Command):
    def answer(self, query, *args, stdin=b"", **more):
        return self.report("query", query, *args, stdin=stdin, cwd=self.folder, **more)

    def rows(self, query, *args, **more):
        return self.answer(query, *args, **more)["rows"]

    def value(self, query, *args, **more):
        rows = self.rows(query, *args, **more)
        self.assertEqual((len(rows), len(rows[0])), (1, 1))
        return rows[0][0]

    def output(self, query, *args, stdin=b""):
        result = run("query", query, *args, stdin=stdin, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, b"")
        return result.stdout

    def refuses(self, status, words, query, *args, **more):
        return self.fails(status, words, "query", query, *args, cwd=self.folder, **more)

    def refuses_file(self, line, words, content):
        self.path("bad.csv", content)
        self.refuses(1, f"bad.csv, line {line}: {words}", "SELECT * FROM bad.csv")
