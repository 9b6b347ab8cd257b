// OpenGL contexts of Python programs, and how work leaves the interpreter: without its lock, one call at a time.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "quadmill/linalg.hpp"
#include "quadmill/pairs.hpp"
#include "quadmill/picture.hpp"
#include "quadmill/query.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::python {

namespace py = pybind11;

// Other threads of Python continue meanwhile. Pre: the work does not touch objects of Python.
template <class Work>
auto released(const Work& work) {
    const py::gil_scoped_release release;
    return work();
}

// A lock for calls, held by one thread at a time. A second call within the first, from a callback or a signal handler,
// would wait for itself, so it throws InvalidArgument.
class Turn {
  public:
    void lock() {
        check();
        mutex_.lock();
        owner_ = std::this_thread::get_id();
    }
    bool try_lock() {
        check();
        if (!mutex_.try_lock()) return false;
        owner_ = std::this_thread::get_id();
        return true;
    }
    void unlock() {
        owner_ = std::thread::id();
        mutex_.unlock();
    }
    [[nodiscard]] bool is_mine() const { return owner_ == std::this_thread::get_id(); }

  private:
    void check() const {
        if (is_mine())
            throw InvalidArgument(
                "quadmill: another call of this thread is at work there, and this one comes from within it, such as "
                "from a progress function; make it after that call has returned");
    }
    std::mutex mutex_;
    std::atomic<std::thread::id> owner_;
};

// Runs work without Python's lock, on an object that only one thread at a time may use.
template <class Work>
auto in_turn(Turn& turn, const Work& work) {
    const py::gil_scoped_release release;
    const std::lock_guard lock(turn);
    return work();
}

// Runs work on two such objects, which may share a lock.
template <class Work>
auto in_turns(Turn& first, Turn& second, const Work& work) {
    if (&first == &second) return in_turn(first, work);
    const py::gil_scoped_release release;
    const std::scoped_lock both(first, second);
    return work();
}

// Destroys an object that belongs to a context, with the lock. Called by destructors, so also from within a call.
template <class Object>
void let_go(Turn& turn, Object& object) {
    const auto end = [&] { const auto gone = std::move(object); };
    turn.is_mine() ? end() : in_turn(turn, end);
}

// Raises KeyboardInterrupt after Ctrl-C.
inline void check_signals() {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// Adds slice after slice with slice(begin, count), and checks for Ctrl-C between slices.
template <class Add>
void add_slices(std::size_t n, const Add& add) {
    constexpr std::size_t slice = std::size_t{1} << 22U;
    for (std::size_t begin = 0; begin < n; begin += slice) {
        add(begin, std::min(slice, n - begin));
        check_signals();
    }
}

// A context and the objects that calls leave in it for later calls: programs, textures, columns of tables.
struct Workplace {
    explicit Workplace(Context opened) : context(std::move(opened)) {}

    Context context;
    Turn turn;
    bool profiled = false;  // one observer at a time

    // Pre: the caller holds the lock.
    [[nodiscard]] Sorter& sorter(const SortOptions& options);
    [[nodiscard]] PairSorter& pairs(const SortOptions& options);
    [[nodiscard]] PictureStatistics& pictures();
    [[nodiscard]] QueryProcessor& processor(const QueryOptions& options);
    [[nodiscard]] Lu& lu(const LuOptions& options);
    [[nodiscard]] LuBatch& lu_batch(unsigned threads);
    void free();

  private:
    std::map<std::tuple<Engine, Order, unsigned>, Sorter> sorters_;
    std::map<std::tuple<Engine, Order, unsigned>, PairSorter> pairs_;
    std::optional<PictureStatistics> pictures_;
    std::map<std::tuple<QueryEngine, unsigned>, QueryProcessor> processors_;
    std::map<std::tuple<Pivot, unsigned>, Lu> lus_;
    std::map<unsigned, LuBatch> lu_batches_;
};
using WorkplacePtr = std::shared_ptr<Workplace>;  // null where a caller named none

// Adds the calls on textures and buffers of the program.
void bind_objects(py::module_& module, py::class_<Workplace, WorkplacePtr>& context);

// The module's own headless context, opened on first use. Throws ContextError, each time.
[[nodiscard]] WorkplacePtr default_workplace();
// That context, or null if it is not open.
[[nodiscard]] WorkplacePtr open_default_workplace();

inline WorkplacePtr or_default(const WorkplacePtr& named) {
    return named ? named : default_workplace();
}

}  // namespace quadmill::python
