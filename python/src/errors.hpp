// The library's errors as exceptions of Python.
#pragma once

#include <pybind11/pybind11.h>

namespace quadmill::python {

namespace py = pybind11;

void bind_errors(py::module_& module);

}  // namespace quadmill::python
