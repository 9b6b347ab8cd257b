#include "quadmill/sort.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "cpu/sort.hpp"
#include "input/printable.hpp"
#include "module.hpp"
#include "numbers.hpp"
#include "quadmill/error.hpp"
#include "sort/choose.hpp"

namespace quadmill::python {

namespace {

using Threads = Whole<"threads", unsigned>;
using Ends = Wholes<"ends">;

struct How {
    const char* function;  // of this module
    SortOptions options{};
    WorkplacePtr workplace{};
};

How how(const char* function, const std::string& order, const std::string& engine, WorkplacePtr workplace,
        unsigned threads) {
    return {.function = function,
            .options = {.order = value_for(detail::input::order_words, "order", order),
                        .engine = value_for(detail::input::engine_words, "engine", engine),
                        .threads = threads},
            .workplace = std::move(workplace)};
}

// Runs work of the library, and gives its errors the name of the module's function that was called.
template <class Work>
void under_name(const char* function, const Work& work) {
    try {
        work();
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(std::string(function) + ": " + detail::input::without_function(error));
    }
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
    const auto place = place_for(how, work);
    under_name(how.function, [&] {
        if (place) {
            in_turn(place->turn, [&] { by_sorter(place->sorter(how.options)); });
        } else {
            released([&] { on_cpu(how.options.order, how.options.threads); });
        }
    });
}

// Keys to change in place: the array itself, or a copy whose values finish() puts back.
class InPlace {
  public:
    InPlace(const char* function, const py::object& object, Order order) : order_(order) {
        const auto array = array_of(function, object);
        if (!py::hasattr(array, "mask")) check_sortable(function, array.dtype());
        if (!is_converted(array.dtype()) || py::hasattr(array, "mask")) {
            work_ = keys_in_place(function, object);
            return;
        }
        if (!array.writeable())
            throw InvalidArgument(std::string(function) + ": works in place, and the array is read-only; give a copy");
        target_ = array;
        work_ = readable(function, to_keys(array, order));
    }
    [[nodiscard]] const Keys& keys() const { return work_.keys; }
    void finish() {
        if (target_.is_none()) return;
        const auto type = py::reinterpret_borrow<py::array>(target_).dtype();
        target_[py::ellipsis()] = from_keys(work_.array, type, order_);
    }

  private:
    Order order_;
    KeyArray work_{{}, Keys(std::span<float>())};
    py::object target_ = py::none();
};

// An axis of an array, as numpy counts them.
py::ssize_t checked_axis(const char* function, const py::array& array, int axis) {
    const auto of = axis < 0 ? axis + array.ndim() : axis;
    if (of < 0 || of >= array.ndim()) {
        throw InvalidArgument(std::string(function) + ": an array of " + std::to_string(array.ndim()) +
                              " dimensions has no axis " + std::to_string(axis));
    }
    return of;
}

// The array with that axis as the last one.
py::array with_last(const char* function, const py::array& array, int axis) {
    return py::module_::import("numpy").attr("moveaxis")(array, checked_axis(function, array, axis), -1);
}

// Its values in one dimension, copied.
py::array in_a_row(const py::array& array) {
    py::array row = array.attr("reshape")(-1);
    if (row.ndim() != 1) row = py::module_::import("numpy").attr("asarray")(array).attr("reshape")(-1);  // of a matrix
    return row.attr("copy")();
}

std::size_t last_length(const py::array& array) {
    return static_cast<std::size_t>(array.shape(array.ndim() - 1));
}

void sort_keys(const How& as, const Keys& keys) {
    sort_by(
        as, {.n = keys.size(), .type = keys.type()}, [&](Sorter& sorter) { (void)sorter.sort(keys); },
        [&](Order by, unsigned many) { (void)sort_on_cpu(keys, by, many); });
}

void sort_keys_in_windows(const How& as, const Keys& keys, std::size_t window) {
    sort_by(
        as, {.n = keys.size(), .window = window, .type = keys.type()},
        [&](Sorter& sorter) { (void)sorter.sort_windows(keys, window); },
        [&](Order by, unsigned many) { (void)sort_windows_on_cpu(keys, window, by, many); });
}

void sort_along(const How& as, const py::array& array, int axis) {
    const auto* const function = as.function;
    if (!array.writeable())
        throw InvalidArgument(std::string(function) + ": works in place, and the array is read-only; give a copy");
    auto moved = with_last(function, array, axis);
    if (moved.size() == 0) return;
    const auto row = in_a_row(moved);
    InPlace work(function, row, as.options.order);
    sort_keys_in_windows(as, work.keys(), last_length(moved));
    work.finish();
    moved[py::ellipsis()] = row.attr("reshape")(moved.attr("shape"));
}

void sort_array(const How& as, const py::object& a, std::optional<int> axis) {
    if (axis) return sort_along(as, array_of(as.function, a), *axis);
    InPlace array(as.function, a, as.options.order);
    sort_keys(as, array.keys());
    array.finish();
}

void sort_in_place(const py::object& a, std::optional<int> axis, const std::string& order, const std::string& engine,
                   WorkplacePtr context, Threads threads) {
    sort_array(how("sort", order, engine, std::move(context), threads), a, axis);
}

py::object sorted(const py::object& a, std::optional<int> axis, const std::string& order, const std::string& engine,
                  WorkplacePtr context, Threads threads) {
    const py::array copy = array_of("sorted", a).attr("copy")();
    sort_array(how("sorted", order, engine, std::move(context), threads), copy, axis);
    return copy;
}

py::array sort_array_with_index(const py::object& a, const std::string& order, const std::string& engine,
                                WorkplacePtr context, Threads threads) {
    const auto as = how("sort_with_index", order, engine, std::move(context), threads);
    InPlace array("sort_with_index", a, as.options.order);
    const auto& keys = array.keys();
    std::vector<std::uint32_t> index(keys.size());
    sort_by(
        as, {.n = keys.size(), .index = true, .type = keys.type()},
        [&](Sorter& sorter) { (void)sorter.sort_with_index(keys, index); },
        [&](Order by, unsigned many) { (void)sort_with_index_on_cpu(keys, index, by, many); });
    array.finish();
    return made_of(std::move(index));
}

// Orders within segments: indices counted over all keys.
std::vector<std::uint32_t> argsort_keys_in_segments(const How& as, const Keys& keys,
                                                    std::span<const std::size_t> ends) {
    std::vector<std::uint32_t> index(keys.size());
    if (const auto place = place_for(as, {.n = keys.size(), .index = true, .type = keys.type()})) {
        under_name(as.function, [&] {
            in_turn(place->turn, [&] { (void)place->pairs(as.options).argsort_segments(keys, ends, index); });
        });
        return index;
    }
    detail::cpu::check_segments(as.function, keys.size(), ends);
    released([&] {
        for_type(keys.type(), [&]<class T>(T) {
            const auto all = span_of<const T>(keys);
            std::vector<T> copy(all.begin(), all.end());
            std::size_t begin = 0;
            for (const auto end : ends) {
                const auto some = std::span(index).subspan(begin, end - begin);
                (void)sort_with_index_on_cpu(std::span(copy).subspan(begin, end - begin), some, as.options.order,
                                             as.options.threads);
                for (auto& one : some) one += static_cast<std::uint32_t>(begin);
                begin = end;
            }
        });
    });
    return index;
}

std::vector<std::uint32_t> argsort_keys(const How& as, const Keys& keys) {
    std::vector<std::uint32_t> index(keys.size());
    sort_by(
        as, {.n = keys.size(), .index = true, .type = keys.type()},
        [&](Sorter& sorter) { (void)sorter.argsort(keys, index); },
        [&](Order by, unsigned many) {
            for_type(keys.type(), [&]<class T>(T) {
                const auto all = span_of<const T>(keys);
                std::vector<T> copy(all.begin(), all.end());
                (void)sort_with_index_on_cpu(copy, index, by, many);
            });
        });
    return index;
}

py::object argsort_along(const How& as, const py::array& array, int axis) {
    const auto moved = with_last("argsort", array, axis);
    const auto length = last_length(moved);
    const auto from = readable("argsort", in_a_row(moved), as.options.order);
    std::vector<std::size_t> ends;
    for (std::size_t end = length; length > 0 && end <= from.keys.size(); end += length) ends.push_back(end);
    auto index = argsort_keys_in_segments(as, from.keys, ends);
    for (std::size_t i = 0; i < index.size(); ++i) index[i] -= static_cast<std::uint32_t>(i - i % length);
    const auto numpy = py::module_::import("numpy");
    return numpy.attr("moveaxis")(made_of(std::move(index)).attr("reshape")(moved.attr("shape")), -1,
                                  checked_axis("argsort", array, axis));
}

py::object argsort(const py::object& a, std::optional<int> axis, const std::string& order, const std::string& engine,
                   WorkplacePtr context, Threads threads) {
    const auto as = how("argsort", order, engine, std::move(context), threads);
    if (axis) return argsort_along(as, array_of("argsort", a), *axis);
    return made_of(argsort_keys(as, readable("argsort", a, as.options.order).keys));
}

py::array argsort_segments(const py::object& a, const Ends& ends, const std::string& order, const std::string& engine,
                           WorkplacePtr context, Threads threads) {
    const auto as = how("argsort_segments", order, engine, std::move(context), threads);
    return made_of(argsort_keys_in_segments(as, readable(as.function, a, as.options.order).keys, ends.values));
}

void sort_by_key(const py::object& keys, const py::object& values, const std::optional<Ends>& ends,
                 const std::string& order, const std::string& engine, WorkplacePtr context, Threads threads) {
    constexpr const char* function = "sort_by_key";
    const auto as = how(function, order, engine, std::move(context), threads);
    const auto array = array_of(function, keys), moved = array_of(function, values);
    const auto from = readable(function, keys, as.options.order);
    if (moved.ndim() < 1 || static_cast<std::size_t>(moved.shape(0)) != from.keys.size()) {
        throw InvalidArgument(std::string(function) + ": there must be as many values as keys, " +
                              std::to_string(from.keys.size()));
    }
    if (!array.writeable() || !moved.writeable())
        throw InvalidArgument(std::string(function) + ": works in place, and an array is read-only; give a copy");
    if (py::module_::import("numpy").attr("shares_memory")(array, moved).cast<bool>())
        throw InvalidArgument(std::string(function) + ": keys and values must not share memory; give a copy of one");
    const auto index =
        made_of(ends ? argsort_keys_in_segments(as, from.keys, ends->values) : argsort_keys(as, from.keys));
    for (py::object each : {py::object(array), py::object(moved)})
        each[py::ellipsis()] = each.attr("take")(index, py::arg("axis") = 0);
}

py::tuple top(const py::object& a, Whole<"k"> k, const std::string& order, const std::string& engine,
              WorkplacePtr context, Threads threads) {
    const auto as = how("top", order, engine, std::move(context), threads);
    const auto type = array_of("top", a).dtype();
    const auto from = readable("top", a, as.options.order);
    if (k.value > from.keys.size()) {
        throw InvalidArgument("top: k must be at most the number of values, " + std::to_string(from.keys.size()) +
                              ", not " + std::to_string(k.value));
    }
    const auto best = keys_in_place("top", py::module_::import("numpy").attr("empty")(k.value, from.array.dtype()));
    std::vector<std::uint32_t> index(k.value);
    sort_by(
        as, {.n = from.keys.size(), .top = true, .type = from.keys.type()},
        [&](Sorter& sorter) { (void)sorter.top(from.keys, best.keys, index); },
        [&](Order by, unsigned many) { (void)top_on_cpu(from.keys, best.keys, index, by, many); });
    return py::make_tuple(is_converted(type) ? from_keys(best.array, type, as.options.order) : py::object(best.array),
                          made_of(std::move(index)));
}

void sort_windows(const py::object& a, Whole<"window"> window, const std::string& order, const std::string& engine,
                  WorkplacePtr context, Threads threads) {
    const auto as = how("sort_windows", order, engine, std::move(context), threads);
    InPlace array("sort_windows", a, as.options.order);
    sort_keys_in_windows(as, array.keys(), window);
    array.finish();
}

void sort_segments(const py::object& a, const Ends& given, const std::string& order, const std::string& engine,
                   WorkplacePtr context, Threads threads) {
    const auto& ends = given.values;
    const auto as = how("sort_segments", order, engine, std::move(context), threads);
    InPlace array("sort_segments", a, as.options.order);
    const auto& keys = array.keys();
    const auto mean = keys.size() / std::max<std::size_t>(ends.size(), 1);
    sort_by(
        as, {.n = keys.size(), .window = std::max<std::size_t>(mean, 1), .type = keys.type()},
        [&](Sorter& sorter) { (void)sorter.sort_segments(keys, ends); },
        [&](Order by, unsigned many) { (void)sort_segments_on_cpu(keys, ends, by, many); });
    array.finish();
}

}  // namespace

void bind_sort(py::module_& module) {
    const auto define = [&](const char* name, auto function, const char* says, auto... parameters) {
        module.def(name, function, py::arg("a"), parameters..., py::kw_only(), py::arg("order") = "asc",
                   py::arg("engine") = "auto", py::arg("context") = WorkplacePtr(), py::arg("threads") = 0U, says);
    };
    define("sort", &sort_in_place, R"(
Sorts an array of one dimension in place.

Types are float16, float32, float64, int32, uint32, int64 and uint64. Integers of 8 and 16 bits, bool, datetime64 and
timedelta64 are sorted by way of a copy. The order of floats is total: -0 before +0, NaNs last in both directions; so is
NaT. With `axis`, an array of any shape is sorted along it, by way of a copy. `order` is "asc" or "desc". `engine` is auto (the fastest for the size and the device), cpu,
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
>>> rows = numpy.array([[3, 1, 2], [6, 5, 4]])
>>> quadmill.sort(rows, axis=1)
>>> rows
array([[1, 2, 3],
       [4, 5, 6]])
)",
           py::arg("axis") = py::none());
    define("sorted", &sorted, R"(
A sorted copy of the array, as sort() would sort it.

>>> quadmill.sorted(numpy.array([3, 1, 2], numpy.int8), order="desc")
array([3, 2, 1], dtype=int8)
)",
           py::arg("axis") = py::none());
    define("argsort_segments", &argsort_segments, R"(
The indices of the values in order within each segment, counted over all values, as uint32. Segments are as in
sort_segments(); equal values keep their order. Engines as in sort_with_index().

>>> quadmill.argsort_segments(numpy.array([3, 1, 2, 5, 4]), [3, 5])
array([1, 2, 0, 4, 3], dtype=uint32)
)",
           py::arg("ends"));
    module.def("sort_by_key", &sort_by_key, py::arg("keys"), py::arg("values"), py::kw_only(),
               py::arg("ends") = py::none(), py::arg("order") = "asc", py::arg("engine") = "auto",
               py::arg("context") = WorkplacePtr(), py::arg("threads") = 0U, R"(
Sorts keys in place, stably, and puts values[i] where key i goes. Values may be of any type, and rows of an array of
several dimensions; they share no memory with the keys. With `ends`, within each segment, as in sort_segments().
Engines as in sort_with_index().

>>> keys, values = numpy.array([3, 1, 2]), numpy.array(["c", "a", "b"])
>>> quadmill.sort_by_key(keys, values)
>>> keys, values
(array([1, 2, 3]), array(['a', 'b', 'c'], dtype='<U1'))
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
strided, read-only, or from any library with DLPack. With `axis`, the indices are counted along it, for an array of any
shape. Engines as in sort_with_index().

>>> quadmill.argsort(numpy.array([3, 1, 2]), order="desc")
array([0, 2, 1], dtype=uint32)
)",
           py::arg("axis") = py::none());
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
