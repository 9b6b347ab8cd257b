// Gives each function a text signature, from which inspect.signature() takes its parameters. pybind11 writes the types
// into the first line of the documentation instead, where they stay.
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "module.hpp"

namespace quadmill::python {

namespace py = pybind11;

namespace {

// Calls `take` with each part between commas that are outside of brackets and quotes.
template <class Take>
void for_each_parameter(std::string_view all, const Take& take) {
    int depth = 0;
    char quote = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= all.size(); ++i) {
        const char c = i < all.size() ? all[i] : ',';
        if (quote != 0) {
            if (c == quote) quote = 0;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '(' || c == '[' || c == '{') {
            ++depth;
        } else if (c == ')' || c == ']' || c == '}') {
            --depth;
        } else if (c == ',' && (depth == 0 || i == all.size())) {
            take(all.substr(begin, i - begin));
            begin = i + 2;  // after a space
        }
    }
}

// "a: object, *, order: str = 'asc'" without types: "a, *, order='asc'".
std::string without_types(std::string_view parameters) {
    std::string made;
    if (parameters.empty()) return made;
    for_each_parameter(parameters, [&](std::string_view one) {
        if (!made.empty()) made += ", ";
        made += one.substr(0, one.find(':'));
        if (const auto value = one.rfind(" = "); value != std::string_view::npos) {
            made += '=';
            made += one.substr(value + 3);
        }
    });
    return made;
}

void add_signature(PyObject* function) {
    auto* const method = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
    if (!method->ml_doc) return;
    const std::string_view said(method->ml_doc), line = said.substr(0, said.find('\n'));
    const auto begin = line.find('('), arrow = line.rfind(") ->");
    const auto end = arrow != std::string_view::npos ? arrow : line.rfind(')');
    if (begin == std::string_view::npos || end == std::string_view::npos || line.substr(0, begin) != method->ml_name)
        return;
    const auto whole = std::string(method->ml_name) + "(" + without_types(line.substr(begin + 1, end - begin - 1)) +
                       ")\n--\n\n" + std::string(said);
    auto* const fresh = static_cast<char*>(std::malloc(whole.size() + 1));
    if (!fresh) throw std::bad_alloc();
    std::memcpy(fresh, whole.c_str(), whole.size() + 1);
    std::free(const_cast<char*>(method->ml_doc));  // as pybind11 does when the function ends
    method->ml_doc = fresh;
}

void add_to(PyObject* object) {
    if (PyInstanceMethod_Check(object)) object = PyInstanceMethod_Function(object);
    if (PyCFunction_Check(object)) add_signature(object);
}

}  // namespace

void add_signatures(py::module_& module) {
    const auto in = [](const py::object& of, const auto& each) {
        for (const auto& [name, value] : py::dict(of.attr("__dict__"))) each(value);
    };
    in(module, [&](py::handle thing) {
        add_to(thing.ptr());
        if (!PyType_Check(thing.ptr())) return;
        in(py::reinterpret_borrow<py::object>(thing), [](py::handle member) {
            const bool is_static = py::isinstance<py::staticmethod>(member);
            add_to(is_static ? member.attr("__func__").ptr() : member.ptr());
        });
    });
}

}  // namespace quadmill::python
