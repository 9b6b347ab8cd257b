#include "quadmill/query.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "module.hpp"
#include "numbers.hpp"
#include "quadmill/error.hpp"
#include "query/plan/plan.hpp"
#include "sql/binder.hpp"
#include "sql/parser.hpp"
#include "sql/run.hpp"

namespace quadmill::python {

namespace {

using detail::sql::SqlQuery;

[[noreturn]] void refuse_column(const std::string& name, const std::string& why) {
    throw py::type_error("Table: column '" + name + "': " + why);
}

// A list of texts, with None for NULL.
void add_texts(Table& table, const std::string& name, const py::object& values, std::vector<bool> valid) {
    std::vector<std::string> texts;
    std::vector<bool> given;
    for (const auto& value : values) {
        if (!value.is_none() && !py::isinstance<py::str>(value))
            refuse_column(name, "texts and None are taken, not " + py::repr(value).cast<std::string>() +
                                    "; numbers as an array of numpy");
        given.push_back(!value.is_none());
        texts.push_back(value.is_none() ? "" : value.cast<std::string>());
    }
    for (std::size_t i = 0; i < valid.size(); ++i) given[i] = given[i] && valid[i];
    table.add(name, texts, std::move(given));
}

void add_numbers(Table& table, const std::string& name, py::object object, std::vector<bool> valid) {
    auto type = array_of("Table", object).dtype();
    if (const auto kind = type.kind(); is_converted(type) && kind != 'M' && kind != 'm') {
        object = array_of("Table", object).attr("astype")("int32");
        type = py::dtype("int32");
    }
    const auto is_type = [&](const char* word) { return type.equal(py::dtype(word)); };
    if (std::ranges::none_of(std::array{"float32", "float64", "int32", "uint32", "int64"}, is_type)) {
        refuse_column(name, "there are no columns of " + py::str(py::handle(type)).cast<std::string>() +
                                "; float32, float64, int32, uint32 and int64 are taken, others by astype()");
    }
    const auto [array, keys] = readable("Table", object);
    for_type(keys.type(), [&]<class T>(T) {
        if constexpr (requires(std::span<const T> values) { table.add(name, values, valid); })
            table.add(name, span_of<const T>(keys), std::move(valid));
    });
}

void add_column(Table& table, const std::string& name, py::object values) {
    std::vector<bool> valid;
    if (py::hasattr(values, "mask") && py::hasattr(values, "filled")) {
        const auto masked = py::module_::import("numpy").attr("ma");
        for (const auto& missing : masked.attr("getmaskarray")(values)) valid.push_back(!missing.cast<bool>());
        values = masked.attr("getdata")(values);
    }
    if (py::isinstance<py::list>(values) || py::isinstance<py::tuple>(values))
        return add_texts(table, name, values, std::move(valid));
    const auto array = array_of("Table", values);
    if (array.ndim() != 1)
        throw InvalidArgument("Table: column '" + name + "' must have one dimension, not " +
                              std::to_string(array.ndim()));
    const auto kind = array.dtype().kind();
    if (kind == 'U' || kind == 'O') return add_texts(table, name, array, std::move(valid));
    add_numbers(table, name, array, std::move(valid));
}

Table table_of(const py::dict& columns) {
    Table table;
    for (const auto& [name, values] : columns) {
        if (!py::isinstance<py::str>(name))
            throw py::type_error("Table: the name of a column is a text, not " + py::repr(name).cast<std::string>());
        add_column(table, name.cast<std::string>(), py::reinterpret_borrow<py::object>(values));
    }
    return table;
}

bool is_data_frame(const py::handle& object) {
    return py::hasattr(object, "columns") && py::hasattr(object, "isna") && py::hasattr(object, "iloc");
}

// A column of pandas: its values, masked where they are missing.
py::object values_of(const py::object& series) {
    const auto numpy = py::module_::import("numpy");
    const py::array missing = series.attr("isna")().attr("to_numpy")();
    const py::object type = series.attr("dtype");
    // Nullable columns have numbers of numpy below, such as Int64 those of int64.
    const bool is_nullable = py::hasattr(type, "numpy_dtype") && py::hasattr(series.attr("array"), "_data");
    if (!is_nullable && py::str(type.attr("kind")).cast<std::string>() == "O") {
        const py::object texts = series.attr("to_numpy")(py::arg("dtype") = "object");
        return numpy.attr("where")(missing, py::none(), texts);
    }
    const py::object values =
        is_nullable ? series.attr("to_numpy")(py::arg("dtype") = type.attr("numpy_dtype"), py::arg("na_value") = false)
                    : series.attr("to_numpy")();
    if (!missing.attr("any")().cast<bool>()) return values;
    return numpy.attr("ma").attr("masked_array")(values, missing);
}

// Columns as a dict of arrays.
py::dict columns_of(const py::object& frame) {
    py::dict columns;
    for (const auto& name : frame.attr("columns")) {
        if (columns.contains(name))
            throw InvalidArgument("Table: two columns are called " + py::repr(name).cast<std::string>());
        columns[name] = py::none();
    }
    py::ssize_t i = 0;
    for (const auto& [name, values] : columns)
        columns[name] =
            values_of(frame.attr("iloc")[py::make_tuple(py::slice(py::none(), py::none(), py::none()), i++)]);
    return columns;
}

Table as_table(const py::object& object) {
    if (py::isinstance<Table>(object)) return object.cast<Table>();
    if (py::isinstance<py::dict>(object)) return table_of(object);
    if (is_data_frame(object)) return table_of(columns_of(object));
    throw py::type_error("query: a table is a Table, a dict of arrays or a DataFrame, not " +
                         py::repr(object).cast<std::string>());
}

// The tables that a query names: all are the one given table, or they are in a dict of tables by name.
std::vector<Table> tables_of(const SqlQuery& query, const py::object& data) {
    bool by_name = py::isinstance<py::dict>(data) && py::len(data) > 0;
    if (by_name) {
        for (const auto& [name, value] : py::dict(data))
            by_name =
                by_name && (py::isinstance<Table>(value) || py::isinstance<py::dict>(value) || is_data_frame(value));
    }
    std::vector<Table> tables;
    for (const auto& source : query.sources) {
        if (!by_name) {
            tables.push_back(tables.empty() ? as_table(data) : tables.front());
        } else if (!data.contains(source.path)) {
            throw InvalidArgument("query: there is no table '" + source.path + "' among those given");
        } else {
            tables.push_back(as_table(data[py::str(source.path)]));
        }
    }
    return tables;
}

// The query with names and types of the tables.
SqlQuery bound(SqlQuery query, const std::vector<Table>& tables) {
    std::vector<detail::query::ColumnNames> names(tables.size());
    const detail::query::NotesByName no_notes;
    std::vector<detail::sql::SqlTable> types;
    for (std::size_t i = 0; i < tables.size(); ++i) {
        for (const auto& column : tables[i].columns()) names[i].written.push_back(column.name);
        types.push_back({tables[i], no_notes});
        names[i].unique = names[i].written;
    }
    query = detail::sql::bind(std::move(query), names);
    const auto known = detail::sql::types_in(query, types);
    detail::sql::check_types(query, known);
    detail::sql::take_types(query, known);
    return query;
}

// A column of a result before its type is known: 64-bit numbers or texts.
struct ResultColumnMaker {
    std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> values{};
    std::vector<std::uint8_t> missing{};
    bool any_missing = false;

    explicit ResultColumnMaker(ColumnType type) {
        if (type == ColumnType::F64) values = std::vector<double>{};
        if (type == ColumnType::Text) values = std::vector<std::string>{};
    }

    void add(const detail::sql::SqlCell& cell) {
        const bool null = std::holds_alternative<std::monostate>(cell);
        missing.push_back(null ? 1 : 0);
        any_missing = any_missing || null;
        std::visit(
            [&]<class T>(std::vector<T>& column) {
                using Cell = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
                column.push_back(null ? T{} : T(std::get<Cell>(cell)));
            },
            values);
    }

    [[nodiscard]] py::object array() {
        const auto numpy = py::module_::import("numpy");
        auto made = std::visit(
            [&]<class T>(std::vector<T>& column) -> py::object {
                if constexpr (std::is_same_v<T, std::string>) {
                    return numpy.attr("array")(py::cast(column), py::arg("dtype") = "object");
                } else {
                    return made_of(std::move(column));
                }
            },
            values);
        if (!any_missing) return made;
        return numpy.attr("ma").attr("masked_array")(made, made_of(std::move(missing)).attr("view")("bool"));
    }
};

py::dict run_query(const std::string& sql, const py::object& data, const std::string& engine, WorkplacePtr context,
                   Whole<"threads", unsigned> threads) {
    const auto written = detail::sql::parse_sql(sql);
    const auto tables = tables_of(written, data);
    const auto query = bound(written, tables);
    const auto outputs = detail::sql::columns_out(query, tables);
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        if (std::find_if(outputs.begin(), output, [&](const auto& o) { return o.name == output->name; }) != output)
            throw InvalidArgument("query: two columns of the answer are called '" + output->name + "'; name one by AS");
    }
    std::vector<ResultColumnMaker> columns;
    for (const auto& output : outputs) columns.emplace_back(output.type);

    std::size_t rows = 0;
    const auto take = [&](std::span<const detail::sql::SqlCell> row) {
        for (std::size_t i = 0; i < row.size(); ++i) columns[i].add(row[i]);
        constexpr std::size_t between = 4096;
        if (++rows % between != 0) return;
        const py::gil_scoped_acquire gil;
        check_signals();
    };
    const auto run = [&](QueryProcessor& processor) {
        static_cast<void>(detail::sql::run(query, tables, processor, {.threads = threads}, take));
    };
    const QueryOptions options{.engine = value_for(detail::input::query_engine_words, "engine", engine),
                               .threads = threads};
    if (options.engine == QueryEngine::Depth || options.engine == QueryEngine::Bitmap) context = or_default(context);
    if (context) {
        in_turn(context->turn, [&] { run(context->processor(options)); });
    } else {
        released([&] {
            QueryProcessor processor(options);
            run(processor);
        });
    }
    py::dict made;
    for (std::size_t i = 0; i < columns.size(); ++i) made[py::str(outputs[i].name)] = columns[i].array();
    return made;
}

std::string table_text(const Table& table) {
    std::string columns;
    for (const auto& column : table.columns()) columns += (columns.empty() ? "" : ", ") + column.name;
    return "Table(" + columns + "; rows=" + std::to_string(table.rows()) + ")";
}

}  // namespace

void bind_query(py::module_& module) {
    py::class_<Table>(module, "Table", R"(
Columns of one length, by name: arrays of float32, float64, int32, uint32 or int64, or texts as a list, where None is
NULL, or an array of them. Integers of 8 and 16 bits and bool become int32. Masked elements are NULL. A DataFrame of pandas
has such columns; its missing values, NaN among them, are NULL. The table is a copy; with a context, its columns stay on the GPU
for as long as it lives.

>>> quadmill.Table({"city": ["Rome", None], "price": numpy.array([2.5, 3.0])})
Table(city, price; rows=2)
)")
        .def(py::init(&as_table), py::arg("columns"))
        .def("__len__", &Table::rows)
        .def_property_readonly("columns",
                               [](const Table& self) {
                                   py::list names;
                                   for (const auto& column : self.columns()) names.append(column.name);
                                   return names;
                               })
        .def("__repr__", &table_text);
    module.def("query", &run_query, py::arg("sql"), py::arg("data"), py::kw_only(), py::arg("engine") = "auto",
               py::arg("context") = WorkplacePtr(), py::arg("threads") = 0U, R"(
Answers SQL, as `quadmill query` does, about arrays: a dict of arrays by name, of int64, float64 or texts (of type
object), masked where a value is NULL.

`data` is a Table, a dict of arrays or a DataFrame of pandas, which FROM may call by any name; or a dict of those, by the
names in FROM and JOIN. Without a context, auto runs on the CPU; with one, what was measured fastest there; depth and bitmap take
default_context().

>>> sales = {"city": ["Rome", "Oslo", "Rome"], "price": numpy.array([2.5, 4.0, 3.5])}
>>> quadmill.query("SELECT city, SUM(price) AS total FROM sales GROUP BY city", sales)
{'city': array(['Oslo', 'Rome'], dtype=object), 'total': array([4., 6.])}
>>> names = quadmill.Table({"id": numpy.array([1, 2]), "name": ["a", "b"]})
>>> hits = quadmill.Table({"who": numpy.array([2, 2, 1])})
>>> quadmill.query("SELECT name FROM hits JOIN names ON hits.who = names.id", {"hits": hits, "names": names})
{'name': array(['b', 'b', 'a'], dtype=object)}
)");
}

}  // namespace quadmill::python
