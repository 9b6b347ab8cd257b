#include "quadmill/sort.hpp"

#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "module.hpp"
#include "quadmill/error.hpp"
#include "sort/choose.hpp"

namespace quadmill::python {

namespace {

struct How {
    SortOptions options{};
    WorkplacePtr workplace{};
};

How how(const std::string& order, const std::string& engine, WorkplacePtr workplace, unsigned threads) {
    return {.options = {.order = value_for(detail::input::order_words, "order", order),
                        .engine = value_for(detail::input::engine_words, "engine", engine),
                        .threads = threads},
            .workplace = std::move(workplace)};
}

// The context to sort in; null is the CPU. Auto opens a context only for enough keys that this may pay off.
WorkplacePtr place_for(const How& how, const detail::sort::SortWork& work) {
    if (how.workplace) return how.workplace;
    if (how.options.engine == Engine::Cpu) return nullptr;
    if (how.options.engine != Engine::Auto) return default_workplace();
    if (auto open = open_default_workplace()) return open;
    if (!detail::sort::gpu_may_win_with_startup(work, how.options.threads)) return nullptr;
    try {
        return default_workplace();
    } catch (const ContextError&) {
        return nullptr;
    }
}

template <class BySorter, class OnCpu>
void sort_by(const How& how, const detail::sort::SortWork& work, const BySorter& by_sorter, const OnCpu& on_cpu) {
    if (const auto place = place_for(how, work)) {
        in_turn(place->turn, [&] { by_sorter(place->sorter(how.options)); });
    } else {
        released([&] { on_cpu(how.options.order, how.options.threads); });
    }
}

void sort_array(const py::object& a, const std::string& order, const std::string& engine, WorkplacePtr context,
                unsigned threads) {
    const auto array = keys_in_place("sort", a);
    sort_by(
        how(order, engine, std::move(context), threads), {.n = array.keys.size(), .type = array.keys.type()},
        [&](Sorter& sorter) { (void)sorter.sort(array.keys); },
        [&](Order by, unsigned many) { (void)sort_on_cpu(array.keys, by, many); });
}

py::array sort_array_with_index(const py::object& a, const std::string& order, const std::string& engine,
                                WorkplacePtr context, unsigned threads) {
    const auto array = keys_in_place("sort_with_index", a);
    std::vector<std::uint32_t> index(array.keys.size());
    sort_by(
        how(order, engine, std::move(context), threads),
        {.n = array.keys.size(), .index = true, .type = array.keys.type()},
        [&](Sorter& sorter) { (void)sorter.sort_with_index(array.keys, index); },
        [&](Order by, unsigned many) { (void)sort_with_index_on_cpu(array.keys, index, by, many); });
    return made_of(std::move(index));
}

py::array argsort(const py::object& a, const std::string& order, const std::string& engine, WorkplacePtr context,
                  unsigned threads) {
    const auto from = readable("argsort", a);
    std::vector<std::uint32_t> index(from.keys.size());
    sort_by(
        how(order, engine, std::move(context), threads),
        {.n = from.keys.size(), .index = true, .type = from.keys.type()},
        [&](Sorter& sorter) { (void)sorter.argsort(from.keys, index); },
        [&](Order by, unsigned many) {
            for_type(from.keys.type(), [&]<class T>(T) {
                const auto keys = span_of<const T>(from.keys);
                std::vector<T> copy(keys.begin(), keys.end());
                (void)sort_with_index_on_cpu(copy, index, by, many);
            });
        });
    return made_of(std::move(index));
}

py::tuple top(const py::object& a, std::size_t k, const std::string& order, const std::string& engine,
              WorkplacePtr context, unsigned threads) {
    const auto from = readable("top", a);
    if (k > from.keys.size()) {
        throw InvalidArgument("top: k must be at most the number of values, " + std::to_string(from.keys.size()) +
                              ", not " + std::to_string(k));
    }
    const auto best = keys_in_place("top", py::module_::import("numpy").attr("empty")(k, from.array.dtype()));
    std::vector<std::uint32_t> index(k);
    sort_by(
        how(order, engine, std::move(context), threads), {.n = from.keys.size(), .top = true, .type = from.keys.type()},
        [&](Sorter& sorter) { (void)sorter.top(from.keys, best.keys, index); },
        [&](Order by, unsigned many) { (void)top_on_cpu(from.keys, best.keys, index, by, many); });
    return py::make_tuple(best.array, made_of(std::move(index)));
}

void sort_windows(const py::object& a, std::size_t window, const std::string& order, const std::string& engine,
                  WorkplacePtr context, unsigned threads) {
    const auto array = keys_in_place("sort_windows", a);
    sort_by(
        how(order, engine, std::move(context), threads),
        {.n = array.keys.size(), .window = window, .type = array.keys.type()},
        [&](Sorter& sorter) { (void)sorter.sort_windows(array.keys, window); },
        [&](Order by, unsigned many) { (void)sort_windows_on_cpu(array.keys, window, by, many); });
}

void sort_segments(const py::object& a, const std::vector<std::size_t>& ends, const std::string& order,
                   const std::string& engine, WorkplacePtr context, unsigned threads) {
    const auto array = keys_in_place("sort_segments", a);
    const auto mean = array.keys.size() / std::max<std::size_t>(ends.size(), 1);
    sort_by(
        how(order, engine, std::move(context), threads),
        {.n = array.keys.size(), .window = std::max<std::size_t>(mean, 1), .type = array.keys.type()},
        [&](Sorter& sorter) { (void)sorter.sort_segments(array.keys, ends); },
        [&](Order by, unsigned many) { (void)sort_segments_on_cpu(array.keys, ends, by, many); });
}

}  // namespace

void bind_sort(py::module_& module) {
    const auto define = [&](const char* name, auto function, const char* says, auto... parameters) {
        module.def(name, function, py::arg("a"), parameters..., py::kw_only(), py::arg("order") = "asc",
                   py::arg("engine") = "auto", py::arg("context") = WorkplacePtr(), py::arg("threads") = 0U, says);
    };
    define("sort", &sort_array, R"(
Sorts an array of one dimension in place.

Types are float16, float32, float64, int32, uint32, int64 and uint64. The order of floats is total: -0 before +0, NaNs
last in both directions. `order` is "asc" or "desc". `engine` is auto (the fastest for the size and the device), cpu,
merge, hybrid, bitonic or pbsn (floats of 16 and 32 bits). `context` is by default default_context(), which auto opens
only if the GPU would save more time than opening takes. `threads` are CPU threads, 0 for all. The result is a
permutation of the input's bits. Raises InvalidArgument for keys that an engine cannot sort, such as integers with pbsn,
or more than fit into the GPU's memory.

>>> a = numpy.array([3, numpy.nan, -1, 2], numpy.float32)
>>> quadmill.sort(a)
>>> a
array([-1.,  2.,  3., nan], dtype=float32)
>>> quadmill.sort(a[::2])
Traceback (most recent call last):
...
quadmill.InvalidArgument: sort: works in place, and the array is strided or not aligned; sort a copy by numpy.ascontiguousarray() and assign it
)");
    define("sort_with_index", &sort_array_with_index, R"(
Sorts an array in place, stably, and returns the old index of each value, as uint32. Engines pbsn and hybrid carry no
index and raise InvalidArgument.

>>> a = numpy.array([3, 1, 2])
>>> quadmill.sort_with_index(a)
array([1, 2, 0], dtype=uint32)
>>> a
array([1, 2, 3])
)");
    define("argsort", &argsort, R"(
The indices of the values in order, as uint32; equal values keep their order. The array is not changed; it may be
strided, read-only, or from any library with DLPack. Engines as in sort_with_index().

>>> quadmill.argsort(numpy.array([3, 1, 2]), order="desc")
array([0, 2, 1], dtype=uint32)
)");
    define("top", &top, R"(
The first k values in order, and their indices, without sorting the others. Engines are auto, cpu and merge; k is at
most len(a).

>>> quadmill.top(numpy.array([5., 1., 4., 2.]), 2)
(array([1., 2.]), array([1, 3], dtype=uint32))
)",
           py::arg("k"));
    define("sort_windows", &sort_windows, R"(
Sorts each window of `window` consecutive values separately, in place; the last one may be shorter. `window` is at least
1.

>>> a = numpy.array([3, 1, 2, 5, 4])
>>> quadmill.sort_windows(a, 2)
>>> a
array([1, 3, 2, 5, 4])
)",
           py::arg("window"));
    define("sort_segments", &sort_segments, R"(
Sorts segments of any lengths separately, in place: from 0 to ends[0], from there to ends[1], ...; `ends` are ascending,
and the last one is len(a). Engines are auto, cpu, merge and hybrid.

>>> a = numpy.array([3, 1, 2, 5, 4])
>>> quadmill.sort_segments(a, [3, 3, 5])
>>> a
array([1, 2, 3, 4, 5])
)",
           py::arg("ends"));
}

}  // namespace quadmill::python
