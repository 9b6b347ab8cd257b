// The groups of the module's functions and classes, one file each.
#pragma once

#include <pybind11/pybind11.h>

namespace quadmill::python {

void bind_errors(pybind11::module_& module);
void bind_context(pybind11::module_& module);
void bind_devices(pybind11::module_& module);
void bind_sort(pybind11::module_& module);
void bind_summaries(pybind11::module_& module);
void bind_names(pybind11::module_& module);
void bind_sketches(pybind11::module_& module);
void bind_query(pybind11::module_& module);
void bind_external(pybind11::module_& module);
void bind_linalg(pybind11::module_& module);
// Gives the functions of the module and of its classes the signatures that inspect.signature() reads.
void add_signatures(pybind11::module_& module);

}  // namespace quadmill::python
