#include "quadmill/names.hpp"

#include <pybind11/numpy.h>
#include <pybind11/stl/filesystem.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "module.hpp"
#include "numbers.hpp"
#include "quadmill/concurrent.hpp"
#include "quadmill/error.hpp"

namespace quadmill::python {

namespace {

// Characters that stand for single bytes become these bytes, and bytes that are not UTF-8 become such characters.
constexpr const char* strays = "surrogateescape";

std::string bytes_of_name(py::handle name) {
    if (!py::isinstance<py::str>(name))
        throw py::type_error("a name is a str, not " + py::repr(name).cast<std::string>());
    const auto bytes = py::reinterpret_steal<py::bytes>(PyUnicode_AsEncodedString(name.ptr(), "utf-8", strays));
    if (!bytes) throw py::error_already_set();
    return bytes;
}

py::object text_of_name(const std::string& name) {
    auto text = py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(name.data(), static_cast<py::ssize_t>(name.size()), strays));
    if (!text) throw py::error_already_set();
    return text;
}

py::object count_record(const Count& count) {
    return record(count, with_bounds<Count>({}, 0));
}

py::list name_rows(const std::vector<Frequent<std::string>>& found) {
    py::list rows;
    for (const auto& [name, count] : found) {
        py::dict row;
        row["value"] = text_of_name(name);
        row["lower"] = count.lower;
        row["estimate"] = count.estimate;
        row["upper"] = count.upper;
        rows.append(row);
    }
    return rows;
}

// Members of both. The interpreter's lock keeps calls apart.
template <class Summary>
py::class_<Summary> define_names(py::module_& module, const char* name, const char* says) {
    const auto saved = [](const Summary& self) { return bytes_of(self.save()); };
    const auto load = [](const py::bytes& bytes) {
        return Summary::load(std::as_bytes(std::span(std::string_view(bytes))));
    };
    py::class_<Summary> made(module, name, says);
    made.def("merge", &Summary::merge, py::arg("other"), "Adds another one, which is not changed.")
        .def("save", saved, "The summary as bytes, which load(), pickle and the command read.")
        .def(
            "save", [](const Summary& self, const std::filesystem::path& path) { save_file(self, path.string()); },
            py::arg("path"), "Writes these bytes to a file, which appears when it is complete.")
        .def_static("load", load, py::arg("saved"), "The summary in the bytes or the file of save().")
        .def_static(
            "load", [](const std::filesystem::path& path) { return load_file<Summary>(path.string()); },
            py::arg("path"))
        .def(
            "copy", [](const Summary& self) { return self; }, "A copy.")
        .def(py::pickle(saved, load))
        .def_property_readonly(
            "nbytes", [](const Summary& self) { return self.bytes(); }, "Bytes of memory, about.");
    return made;
}

void add_names(Frequencies<std::string>& self, const py::iterable& names, const std::optional<py::iterable>& weights) {
    if (py::isinstance<py::str>(names)) throw py::type_error("NameFrequencies.add: takes a list of names, not one str");
    if (!weights) {
        for (const auto name : names) self.add(bytes_of_name(name));
        return;
    }
    auto weight = weights->begin();
    for (const auto name : names) {
        if (weight == weights->end()) throw InvalidArgument("NameFrequencies.add: there are fewer weights than names");
        self.add(bytes_of_name(name), value_of<std::uint64_t>("NameFrequencies.add", *weight));
        ++weight;
    }
    if (weight != weights->end()) throw InvalidArgument("NameFrequencies.add: there are more weights than names");
}

void bind_name_frequencies(py::module_& module) {
    using Names = Frequencies<std::string>;
    auto made = define_names<Names>(module, "NameFrequencies", R"(
The frequent names of a stream; each name comes with a weight, and n is the sum of all weights. A count's estimate is at
most eps n too low, and never too high.

>>> pages = quadmill.NameFrequencies(eps=0.01)
>>> pages.add(["/", "/film", "/"])
>>> pages.add(["/film"], weights=[300])
>>> [(row["value"], row["estimate"]) for row in pages.top(1)]
[('/film', 301)]
>>> pages.count("/").upper
2
)");
    made.def(py::init([](double eps) { return Names({.eps = eps}); }), py::kw_only(), py::arg("eps") = 0.001)
        .def("add", &add_names, py::arg("names"), py::arg("weights") = py::none(),
             "Adds a list of str, each once or as often as its weight says.")
        .def(
            "frequent", [](const Names& self, double support) { return name_rows(self.frequent(support)); },
            py::arg("support"),
            "All names with at least support n, and none with less than (support - eps) n, most frequent first: dicts "
            "of value, lower, estimate and upper.")
        .def(
            "top", [](const Names& self, Whole<"k"> k) { return name_rows(self.top(k)); }, py::arg("k"),
            "The k names with the largest estimates, in the same form.")
        .def(
            "count",
            [](const Names& self, const py::str& name) { return count_record(self.count(bytes_of_name(name))); },
            py::arg("name"), "The weight of a name: a record of lower, estimate and upper.")
        .def_property_readonly("n", &Names::n, "The sum of all weights.")
        .def_property_readonly("eps", &Names::eps)
        .def("__repr__", [](const Names& self) {
            return "NameFrequencies(n=" + std::to_string(self.n()) +
                   ", eps=" + py::repr(py::float_(self.eps())).cast<std::string>() +
                   ", bytes=" + std::to_string(self.bytes()) + ")";
        });
}

void bind_distinct(py::module_& module) {
    auto made = define_names<Distinct>(module, "Distinct", R"(
The number of different values or names of a stream: exact while there are few, then with a standard error of `error`.
Its bounds are three standard errors away.

>>> users = quadmill.Distinct()
>>> users.add(["ann", "bob", "ann"])
>>> users.count().estimate
2
)");
    made.def(py::init<double>(), py::kw_only(), py::arg("error") = 0.01)
        .def(
            "add",
            [](Distinct& self, const py::object& values) {
                if (py::isinstance<py::list>(values) || py::isinstance<py::tuple>(values)) {
                    for (const auto name : values) self.add(bytes_of_name(name));
                    return;
                }
                const auto array = readable("Distinct", values);
                for_type(key_type(py::getattr(values, "dtype")),
                         [&]<class T>(T) { self.add(span_of<T>("Distinct", array)); });
            },
            py::arg("values"), "Adds an array of numbers, or a list of str. All numbers must have one type.")
        .def(
            "count", [](const Distinct& self) { return count_record(self.count()); },
            "The number of different ones: a record of lower, estimate and upper.")
        .def_property_readonly("is_exact", &Distinct::is_exact, "Whether count() is exact.")
        .def("__repr__", [](const Distinct& self) {
            return "Distinct(" + std::to_string(self.count().estimate) + ", bytes=" + std::to_string(self.bytes()) +
                   ")";
        });
}

// All values become 64-bit floats: one class is enough, since a summary of the last seconds is small.
void bind_recent(py::module_& module) {
    using Last = Recent<Quantiles<double>>;
    py::class_<Last>(module, "RecentQuantiles", R"(
Quantiles of the values of the last seconds, by the times given with them, in seconds of any clock. Values that are older
than that by up to 1/32 may be included.

>>> last = quadmill.RecentQuantiles(300)
>>> last.add(0.0, [1.0, 2.0])
>>> last.add(400.0, [3.0])
>>> last.summary().quantile(0.5).value
3.0
)")
        .def(py::init([](double seconds, double eps) {
                 return Last(seconds, [eps] { return Quantiles<double>({.eps = eps}); });
             }),
             py::arg("seconds"), py::kw_only(), py::arg("eps") = 0.01)
        .def(
            "add",
            [](Last& self, double time, const py::array_t<double, py::array::c_style | py::array::forcecast>& values) {
                self.add(time, std::span(values.data(), static_cast<std::size_t>(values.size())));
            },
            py::arg("time"), py::arg("values"), "Adds numbers that have one time, as float64.")
        .def(
            "summary",
            [](const Last& self, std::optional<double> now) {
                const auto all = self.summary(now.value_or(self.latest().value_or(0)));
                return py::module_::import("quadmill").attr("Quantiles").attr("load")(bytes_of(all.save()));
            },
            py::arg("now") = py::none(),
            "The Quantiles of the last seconds before `now` (by default the latest time so far).")
        .def_property_readonly("latest", &Last::latest, "The latest time so far.")
        .def_property_readonly("late", &Last::late, "Calls of add() that came too late.")
        .def_property_readonly("nbytes", &Last::bytes, "Bytes of memory.");
}

}  // namespace

void bind_names(py::module_& module) {
    bind_name_frequencies(module);
    bind_distinct(module);
    bind_recent(module);
}

}  // namespace quadmill::python
