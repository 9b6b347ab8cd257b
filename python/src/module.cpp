#include "module.hpp"

#include "quadmill/version.hpp"

PYBIND11_MODULE(_core, module) {
    using namespace quadmill::python;  // NOLINT(google-build-using-namespace): this function is all of the file
    module.attr("__version__") = QUADMILL_VERSION;
    bind_errors(module);
    bind_context(module);
    bind_devices(module);
    bind_sort(module);
    bind_summaries(module);
    bind_names(module);
    bind_sketches(module);
    bind_query(module);
    bind_external(module);
    bind_linalg(module);
    add_signatures(module);
}
