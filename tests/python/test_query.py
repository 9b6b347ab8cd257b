"""SQL about arrays, with SQLite as the oracle."""
import sqlite3

import numpy as np
import pandas
import pytest

import quadmill


@pytest.fixture
def columns(rng):
    n = 3000
    return {"i": rng.integers(-50, 50, n).astype(np.int32), "u": rng.integers(0, 9, n).astype(np.uint32),
            "l": rng.integers(-2**40, 2**40, n), "f": rng.integers(0, 100, n).astype(np.float32) / 4,
            "d": rng.integers(0, 1000, n) / 8, "t": [["a", "b", "c", None][k] for k in rng.integers(0, 4, n)]}


def by_sqlite(sql, **tables):
    base = sqlite3.connect(":memory:")
    for name, columns in tables.items():
        base.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        rows = zip(*(np.asarray(c, object) if isinstance(c, list) else c.tolist() for c in columns.values()))
        base.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
    return base.execute(sql).fetchall()


def rows_of(found):
    return list(zip(*(column.tolist() for column in found.values())))


@pytest.mark.parametrize("engine", ["auto", "bitmap", "depth"])
@pytest.mark.parametrize("sql", [
    "SELECT COUNT(*), SUM(i), MIN(l), MAX(d), AVG(f) FROM x WHERE i > 3 OR f <= 2.5",
    "SELECT t, COUNT(*) AS n, SUM(d) AS s FROM x WHERE u < 7 GROUP BY t",
    "SELECT i, t, d FROM x WHERE 2*i - f > 60 AND NOT u IN (1, 2)",
    "SELECT COUNT(t), COUNT(*) FROM x WHERE t IS NULL OR t = 'a'",
    "SELECT i FROM x WHERE i > 1000",
])
def test_answers_are_those_of_sqlite(context, columns, sql, engine):
    table = quadmill.Table(columns)
    assert len(table) == 3000 and table.columns == list(columns)
    found = quadmill.query(sql, table, engine=engine)
    wanted = by_sqlite(sql, x=columns)
    if "GROUP" in sql:
        wanted.sort(key=lambda row: (row[0] is not None, row[0]))
    assert rows_of(found) == wanted
    assert rows_of(quadmill.query(sql, columns)) == wanted


def test_types_of_answers_do_not_depend_on_rows(columns):
    found = quadmill.query("SELECT i, u, l, f, d, t, MEDIAN(i) AS m, AVG(i) AS a, COUNT(t) AS c FROM x WHERE i > 1000 "
                           "GROUP BY i, u, l, f, d, t", columns)
    assert [column.dtype for column in found.values()] == [np.int64] * 3 + [np.float64] * 2 + [
        object, np.float64, np.float64, np.int64]
    none = quadmill.query("SELECT MAX(i) AS m, COUNT(*) AS n FROM x WHERE i > 1000", columns)
    assert none["m"].dtype == np.int64 and none["m"].mask.tolist() == [True] and none["n"].tolist() == [0]


def test_order_expressions_and_left_joins():
    left = {"k": np.array([3, 1, 2]), "v": np.array([0.5, 1.5, 2.5])}
    found = quadmill.query("SELECT k * 2 AS twice, v / 2 AS half, n FROM x LEFT JOIN y USING (k) ORDER BY k DESC "
                           "LIMIT 2",
                           {"x": left, "y": {"k": np.array([2]), "n": ["two"]}})
    assert rows_of(found) == [(6, 0.25, None), (4, 1.25, "two")]
    assert found["twice"].dtype == np.int64


def test_joins_are_of_tables_by_name(rng):
    left = {"k": rng.integers(0, 20, 200).astype(np.int32), "v": rng.random(200)}
    right = {"k": rng.integers(0, 20, 50).astype(np.int32), "name": [f"n{i}" for i in range(50)]}
    sql = "SELECT x.v, y.name FROM x JOIN y ON x.k = y.k"
    found = rows_of(quadmill.query(sql, {"x": left, "y": quadmill.Table(right)}))
    assert sorted(found) == sorted((v, n) for k, v in zip(left["k"], left["v"]) for l,
                                   n in zip(right["k"], right["name"])
                                   if k == l)


def test_masked_values_are_null():
    price = np.ma.masked_array(np.array([1.5, 2.5, 4.0]), [False, True, False])
    assert quadmill.query("SELECT SUM(price) AS s, COUNT(price) AS n FROM t", {"price": price})["s"].tolist() == [5.5]
    found = quadmill.query("SELECT price FROM t", {"price": price})["price"]
    assert found.mask.tolist() == [False, True, False] and found.tolist() == [1.5, None, 4.0]


def test_columns_of_one_name_are_refused():
    with pytest.raises(quadmill.InvalidArgument, match="are called 'a'; name one by AS"):
        quadmill.query("SELECT a, a FROM t", {"a": np.arange(3)})
    assert list(quadmill.query("SELECT a, a AS b FROM t", {"a": np.arange(3)})) == ["a", "b"]


def test_strided_columns_are_copied():
    a = np.arange(10)[::2]
    assert quadmill.query("SELECT a FROM t", {"a": a})["a"].tolist() == [0, 2, 4, 6, 8]


@pytest.mark.parametrize("sql, data, error, says", [
    ("SELEC a FROM t", {"a": np.zeros(2)}, quadmill.SqlError, "SELECT"),
    ("SELECT b FROM t", {"a": np.zeros(2)}, quadmill.SqlError, "b"),
    ("SELECT a FROM t WHERE a = 'x'", {"a": np.zeros(2)}, ValueError, ""),
    ("SELECT a FROM t", {"t": {"b": np.zeros(2)}}, quadmill.SqlError, "a"),
    ("SELECT a FROM s", {"t": {"a": np.zeros(2)}}, ValueError, "no table 's'"),
    ("SELECT a FROM t", {"a": np.zeros((2, 2))}, ValueError, "one dimension"),
    ("SELECT a FROM t", {"a": np.zeros(2), "b": np.zeros(3)}, ValueError, "b"),
    ("SELECT a FROM t", {"a": np.zeros(2, np.uint64)}, TypeError, "uint64"),
    ("SELECT a FROM t", {"a": np.zeros(2, np.float16)}, TypeError,
     "no columns of float16; float32, float64, int32, uint32 and int64 are taken"),
    ("SELECT a FROM t", {"a": np.zeros(2, "M8[s]")}, TypeError, "no columns of datetime64"),
    ("SELECT a FROM t", {"a": np.zeros(2, ">i4")}, TypeError, "no columns of >i4; float32, float64, int32"),
    ("SELECT a FROM t", {"a": [1, 2]}, TypeError, "as an array"),
    ("SELECT a FROM t", {"a": "text"}, TypeError, "array"),
    ("SELECT a FROM t", [1, 2], TypeError, "a Table, a dict of arrays or a DataFrame"),
    ("SELECT a FROM t", {1: np.zeros(2)}, TypeError, ""),
])
def test_wrong_queries_are_refused(sql, data, error, says):
    with pytest.raises(error, match=says) as caught:
        quadmill.query(sql, data)
    if error is quadmill.SqlError:
        assert isinstance(caught.value.offset, int)


def test_small_integers_and_bool_are_columns():
    columns = {name: np.array([3, 1, 0], name) for name in ("int8", "uint8", "int16", "uint16", "bool")}
    for name, values in columns.items():
        assert quadmill.query(f"SELECT SUM({name}) AS s FROM t", columns)["s"] == [values.astype(int).sum()]


def test_nullable_columns_and_names_of_data_frames():
    flags = pandas.DataFrame({"flag": pandas.array([True, None, False, True], dtype="boolean"),
                              "part": pandas.array([0.5, 1.5, None, 2], dtype="Float64"),
                              "small": pandas.array([1, 2, None, 3], dtype="Int8")})
    found = quadmill.query("SELECT * FROM t", flags)
    assert found["flag"].tolist() == [1, None, 0, 1]
    assert found["part"].tolist() == [0.5, 1.5, None, 2]
    assert found["small"].tolist() == [1, 2, None, 3]
    assert quadmill.query("SELECT * FROM t", flags[["flag"]].dropna())["flag"].tolist() == [1, 0, 1]
    twice = pandas.DataFrame([[1, 2, 3]], columns=["a", "b", "a"])
    with pytest.raises(quadmill.InvalidArgument, match="^Table: two columns are called 'a'"):
        quadmill.query("SELECT b FROM t", twice)
    with pytest.raises(quadmill.InvalidArgument, match="^Table: two columns are called 'a'"):
        quadmill.Table(twice)


def test_data_frames():
    sales = pandas.DataFrame({"city": ["Rome", None, "Rome", "Oslo"], "price": [2.5, 4, np.nan, 3],
                              "units": pandas.array([1, None, 3, 4], dtype="Int64"), "count": [1, 2, 3, 4]})
    found = quadmill.query("SELECT city, price, units, count FROM sales WHERE count > 1", sales)
    assert found["city"].tolist() == [None, "Rome", "Oslo"]
    assert found["price"].tolist() == [4, None, 3]
    assert found["units"].tolist() == [None, 3, 4]
    assert found["count"].tolist() == [2, 3, 4]
    names = pandas.DataFrame({"name": pandas.array(["Rome", "Oslo"], dtype="string"), "code": [7, 8]})
    joined = quadmill.query("SELECT SUM(code) AS s FROM sales JOIN names ON sales.city = names.name",
                            {"sales": sales, "names": names})
    assert joined["s"] == [22]
    assert quadmill.Table(sales).columns == ["city", "price", "units", "count"]
    with pytest.raises(TypeError, match="the name of a column is a text, not 0"):
        quadmill.query("SELECT a FROM t", pandas.DataFrame([[1]]))
    with pytest.raises(TypeError, match="datetime64"):
        quadmill.Table(pandas.DataFrame({"t": pandas.to_datetime(["2026-01-01"])}))
