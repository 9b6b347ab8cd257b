// OpenGL contexts of Python programs, and how work leaves the interpreter: without its lock, one call at a time.
#pragma once

#include <pybind11/pybind11.h>

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "quadmill/context.hpp"
#include "quadmill/linalg.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::python {

namespace py = pybind11;

// Other threads of Python go on meanwhile. Pre: the work touches no object of Python.
template <class Work>
auto released(const Work& work) {
    const py::gil_scoped_release release;
    return work();
}

// The same for work on what only one thread at a time may use.
template <class Work>
auto in_turn(std::mutex& turn, const Work& work) {
    const py::gil_scoped_release release;
    const std::lock_guard lock(turn);
    return work();
}

// Raises KeyboardInterrupt after Ctrl-C.
inline void check_signals() {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// A context with what calls leave in it for the next ones: programs, textures, columns of tables.
struct Workplace {
    explicit Workplace(Context opened) : context(std::move(opened)) {}

    Context context;
    std::mutex turn;

    // Pre: it is the caller's turn.
    [[nodiscard]] Sorter& sorter(const SortOptions& options);
    [[nodiscard]] QueryProcessor& processor(const QueryOptions& options);
    [[nodiscard]] Lu& lu(const LuOptions& options);
    [[nodiscard]] LuBatch& lu_batch(unsigned threads);
    void free();

  private:
    std::map<std::tuple<Engine, Order, unsigned>, Sorter> sorters_;
    std::map<std::tuple<QueryEngine, unsigned>, QueryProcessor> processors_;
    std::map<std::tuple<Pivot, unsigned>, Lu> lus_;
    std::map<unsigned, LuBatch> lu_batches_;
};
using WorkplacePtr = std::shared_ptr<Workplace>;  // null where a caller named none

// The module's own headless context, opened when it is first asked for. Throws ContextError, each time.
[[nodiscard]] WorkplacePtr default_workplace();
// Null while it is not open.
[[nodiscard]] WorkplacePtr open_default_workplace();

inline WorkplacePtr or_default(const WorkplacePtr& named) {
    return named ? named : default_workplace();
}

void bind_context(py::module_& module);

}  // namespace quadmill::python
