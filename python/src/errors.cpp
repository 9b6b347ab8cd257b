#include <pybind11/pybind11.h>

#include <cctype>
#include <exception>
#include <initializer_list>
#include <regex>
#include <string>
#include <utility>

#include "module.hpp"
#include "quadmill/error.hpp"
#include "quadmill/external.hpp"
#include "sql/statement.hpp"

namespace quadmill::python {

namespace py = pybind11;

namespace {

// Python's classes, which live as long as the process.
struct Classes {
    PyObject *error, *invalid_argument, *sql, *gl, *context, *io, *stopped;
};
Classes classes{};

PyObject* make(py::module_& module, const char* name, std::initializer_list<PyObject*> bases, const char* says) {
    py::tuple all(bases.size());
    for (std::size_t i = 0; i < bases.size(); ++i) all[i] = py::handle(bases.begin()[i]);
    PyObject* made = PyErr_NewExceptionWithDoc((std::string("quadmill.") + name).c_str(), says, all.ptr(), nullptr);
    if (!made) throw py::error_already_set();
    module.attr(name) = py::handle(made);
    return made;
}

std::string in_small_letters(std::string word) {
    for (auto& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return word;
}

// A message of the library in this module's terms: functions without their classes, options as arguments.
std::string in_words_of_python(std::string what) {
    static const std::regex order(R"(\bOrder::(Asc|Desc)ending\b)"), option(R"(\b([A-Z]\w*)::([A-Z]\w*))"),
        function(R"((\b[A-Za-z]\w*::)+(?=\w)|_on_cpu(?=:))");
    what = std::regex_replace(what, order, "Order::$1");
    std::string made;
    std::size_t end = 0;
    for (std::sregex_iterator i(what.begin(), what.end(), option), none; i != none; ++i) {
        made += what.substr(end, static_cast<std::size_t>(i->position()) - end) + in_small_letters(i->str(1)) + "='" +
                in_small_letters(i->str(2)) + "'";
        end = static_cast<std::size_t>(i->position() + i->length());
    }
    return std::regex_replace(made + what.substr(end), function, "");
}

// Raises an exception with attributes.
void raise(PyObject* type, const char* what,
           std::initializer_list<std::pair<const char*, py::object>> attributes = {}) {
    const auto raised = py::reinterpret_borrow<py::object>(type)(in_words_of_python(what));
    for (const auto& [name, value] : attributes) raised.attr(name) = value;
    PyErr_SetObject(type, raised.ptr());
}

// Derived classes come before their bases.
void translate(std::exception_ptr thrown) {
    try {
        if (thrown) std::rethrow_exception(thrown);
    } catch (const detail::sql::SqlError& error) {
        raise(classes.sql, error.what(), {{"offset", py::int_(error.offset())}});
    } catch (const InvalidArgument& error) {
        raise(classes.invalid_argument, error.what());
    } catch (const GlError& error) {
        raise(classes.gl, error.what());
    } catch (const ContextError& error) {
        raise(classes.context, error.what());
    } catch (const IoError& error) {
        raise(classes.io, error.what(), {{"filename", py::str(error.path())}, {"offset", py::int_(error.offset())}});
    } catch (const SortStopped& error) {
        raise(classes.stopped, error.what());
    } catch (const Error& error) {
        raise(classes.error, error.what());
    }
}

}  // namespace

void bind_errors(py::module_& module) {
    auto& c = classes;
    c.error = make(module, "Error", {PyExc_Exception}, "The base of all errors of quadmill.");
    c.invalid_argument =
        make(module, "InvalidArgument", {c.error, PyExc_ValueError}, "The call broke a rule; it says which.");
    c.sql =
        make(module, "SqlError", {c.invalid_argument}, "What is wrong with a text of SQL; `offset` is the byte where.");
    c.gl = make(module, "GlError", {c.error, PyExc_RuntimeError},
                "The driver refused or failed: out of memory, a shader that does not compile, a reset of the GPU.");
    c.context = make(module, "ContextError", {c.error, PyExc_RuntimeError},
                     "There is no usable OpenGL context; the message says what was tried.");
    c.io = make(module, "IoError", {c.error, PyExc_OSError},
                "A file could not be read or written: `filename`, and `offset`, the byte where.");
    // OSError's own has no words if there is no errno.
    py::handle(c.io).attr("__str__") = py::cpp_function(
        [](const py::object& self) { return py::str(self.attr("args")[py::int_(0)]); }, py::is_method(c.io));
    c.stopped = make(module, "SortStopped", {c.error}, "The progress callback has stopped a terasort.");
    py::register_local_exception_translator(translate);
}

}  // namespace quadmill::python
