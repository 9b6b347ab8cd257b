"""DuckDB by its C library, as an oracle for statements. npm's @duckdb/node-bindings contains the library."""
import ctypes


class Result(ctypes.Structure):
    _fields_ = [("words", ctypes.c_uint64 * 6)]


class DuckDb:
    VARCHAR, DOUBLE, FLOAT, BOOLEAN = 17, 11, 10, 1

    def __init__(self, library):
        self.library = ctypes.CDLL(library)
        for name, result, arguments in (
                ("result_error", ctypes.c_char_p, [ctypes.c_void_p]),
                ("value_varchar", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]),
                ("value_is_null", ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]),
                ("column_count", ctypes.c_uint64, [ctypes.c_void_p]), ("row_count", ctypes.c_uint64, [ctypes.c_void_p]),
                ("column_type", ctypes.c_int, [ctypes.c_void_p, ctypes.c_uint64]),
                ("free", None, [ctypes.c_void_p])):
            function = getattr(self.library, "duckdb_" + name)
            function.restype, function.argtypes = result, arguments
        self.database, self.connection = ctypes.c_void_p(), ctypes.c_void_p()
        for status in (self.library.duckdb_open(None, ctypes.byref(self.database)),
                       self.library.duckdb_connect(self.database, ctypes.byref(self.connection))):
            if status != 0:
                raise RuntimeError("DuckDB does not open a database")
        self.execute("SET ieee_floating_point_ops = false")  # NULL where a divisor is zero
        self.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")

    def execute(self, statement):
        """The rows of the answer."""
        result = Result()
        at = ctypes.addressof(result)
        if self.library.duckdb_query(self.connection, statement.encode(), ctypes.byref(result)) != 0:
            raise RuntimeError(f"{statement}: {self.library.duckdb_result_error(at).decode()}")
        columns = range(self.library.duckdb_column_count(at))
        types = [self.library.duckdb_column_type(at, column) for column in columns]
        rows = [[self.value(at, types[column], column, row) for column in columns]
                for row in range(self.library.duckdb_row_count(at))]
        self.library.duckdb_destroy_result(ctypes.byref(result))
        return rows

    def value(self, at, kind, column, row):
        if self.library.duckdb_value_is_null(at, column, row):
            return None
        text = self.library.duckdb_value_varchar(at, column, row)
        word = ctypes.string_at(text).decode()
        self.library.duckdb_free(text)
        if kind == self.VARCHAR:
            return word
        if kind == self.BOOLEAN:
            return int(word == "true")
        return int(word) if word.lstrip("-").isdigit() else float(word)

    def load(self, name, columns, rows):
        """`columns` are names with types."""
        def literal(value):
            if value is None:
                return "NULL"
            return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)
        self.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")
        values = ", ".join("(" + ", ".join(map(literal, row)) + ")" for row in rows)
        self.execute(f"INSERT INTO {name} VALUES {values}")
