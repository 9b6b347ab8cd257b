// Converts arrays of numpy to the library's keys and values, and results to new arrays. Only this file knows both.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "input/enum_words.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::python {

namespace py = pybind11;

// Calls `work` with a value of the key type, Half for float16.
template <class Visit>
decltype(auto) for_type(KeyType type, Visit&& visit) {
    switch (type) {
        case KeyType::F16:
            return visit(Half{});
        case KeyType::F32:
            return visit(float{});
        case KeyType::F64:
            return visit(double{});
        case KeyType::I32:
            return visit(std::int32_t{});
        case KeyType::U32:
            return visit(std::uint32_t{});
        case KeyType::I64:
            return visit(std::int64_t{});
        case KeyType::U64:
            return visit(std::uint64_t{});
    }
    throw InvalidArgument("quadmill: not a type of keys");
}

template <class T>
constexpr KeyType key_type_of = std::is_same_v<T, Half>            ? KeyType::F16
                                : std::is_same_v<T, float>         ? KeyType::F32
                                : std::is_same_v<T, double>        ? KeyType::F64
                                : std::is_same_v<T, std::int32_t>  ? KeyType::I32
                                : std::is_same_v<T, std::uint32_t> ? KeyType::U32
                                : std::is_same_v<T, std::int64_t>  ? KeyType::I64
                                                                   : KeyType::U64;

// Both throw TypeError for other types, and for the other byte order.
[[nodiscard]] KeyType key_type(const py::dtype& type);
[[nodiscard]] KeyType key_type(py::handle dtype);  // anything that numpy.dtype() takes
[[nodiscard]] py::dtype dtype_of(KeyType type);
template <class T>
[[nodiscard]] py::dtype dtype_of() {
    return dtype_of(key_type_of<T>);
}

// The array itself, or an array over the memory of an object with DLPack, the buffer protocol or __array__. Throws
// TypeError for anything else, such as a list.
[[nodiscard]] py::array array_of(const char* function, py::handle object);

// Keys of one dimension, in an array that must outlive their use.
struct KeyArray {
    py::array array;
    Keys keys;
};
// Keys to change in place. Throws TypeError for an object that is not an array of keys, and InvalidArgument for an array
// that is read-only, strided or not of one dimension: a copy would leave the caller's array unchanged.
[[nodiscard]] KeyArray keys_in_place(const char* function, py::handle object);
// Keys to read: a copy if the object is strided.
[[nodiscard]] KeyArray readable(const char* function, py::handle object);
// Keys to read, of any shape and of that type.
[[nodiscard]] py::array readable_of(const char* function, py::handle object, KeyType type);

// Whether sorts take a copy of such values, as keys of another type in the same order: integers of 8 and 16 bits, bool,
// and dates and times, whose NaT is last.
[[nodiscard]] bool is_converted(const py::dtype& type);
// Throws TypeError for values that sorts take neither as they are nor by way of such a copy.
void check_sortable(const char* function, const py::dtype& type);
// Such a copy, and values from it.
[[nodiscard]] py::array to_keys(const py::array& values, Order order);
[[nodiscard]] py::object from_keys(const py::array& keys, const py::dtype& type, Order order);
// Keys to read: a copy if the object is strided or its values are converted.
[[nodiscard]] KeyArray readable(const char* function, py::handle object, Order order);

// Keys of that type only.
template <class T>
[[nodiscard]] std::span<T> span_of(const Keys& keys) {
    return {static_cast<T*>(keys.data()), keys.size()};
}
template <class T>
[[nodiscard]] std::span<const T> span_of(const char* function, const KeyArray& values) {
    if (values.keys.type() != key_type_of<T>) {
        throw py::type_error(std::string(function) + ": values must be " + py::str(dtype_of<T>()).cast<std::string>() +
                             ", as the first ones, not " + py::str(values.array.dtype()).cast<std::string>() +
                             "; convert them by astype()");
    }
    return span_of<const T>(values.keys);
}

// A new array that takes over the vector's memory.
template <class T>
[[nodiscard]] py::array made_of(std::vector<T>&& values, std::vector<py::ssize_t> shape = {}) {
    auto* kept = new std::vector<T>(std::move(values));
    const py::capsule owner(kept, [](void* memory) { delete static_cast<std::vector<T>*>(memory); });
    if (shape.empty()) shape.push_back(static_cast<py::ssize_t>(kept->size()));
    return py::array_t<T>(shape, kept->data(), owner);
}

// A new record array of structs. Its fields have names: `array.name` or `array["name"]`.
struct Field {
    std::string name;
    py::dtype type;
    std::size_t offset;
};
[[nodiscard]] py::object records(const void* rows, std::size_t count, std::size_t row_bytes,
                                 const std::vector<Field>& fields);
template <class Row>
[[nodiscard]] py::object records(const std::vector<Row>& rows, const std::vector<Field>& fields) {
    return records(rows.data(), rows.size(), sizeof(Row), fields);
}
// One of these records.
template <class Row>
[[nodiscard]] py::object record(const Row& row, const std::vector<Field>& fields) {
    return records(&row, 1, sizeof row, fields)[py::int_(0)];
}

// The fields, with those of a count's bounds, which begin `at` bytes into a row.
template <class Count>
[[nodiscard]] std::vector<Field> with_bounds(std::vector<Field> fields, std::size_t at,
                                             const std::string& prefix = "") {
    const auto number = dtype_of<std::uint64_t>();
    fields.push_back({prefix + "lower", number, at + offsetof(Count, lower)});
    fields.push_back({prefix + "estimate", number, at + offsetof(Count, estimate)});
    fields.push_back({prefix + "upper", number, at + offsetof(Count, upper)});
    return fields;
}

[[nodiscard]] inline py::bytes bytes_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A number of Python as a value of that type. Throws InvalidArgument if it is not one.
template <class T>
[[nodiscard]] T value_of(const char* function, py::handle value) {
    using Through = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, float>, double, T>;
    py::detail::make_caster<Through> caster;
    if (!caster.load(value, true)) {
        throw InvalidArgument(std::string(function) + ": " + py::repr(value).cast<std::string>() +
                              " is not a value of type " + py::str(dtype_of<T>()).cast<std::string>());
    }
    const auto number = py::detail::cast_op<Through>(caster);
    if constexpr (std::is_same_v<T, Half>) {
        return Half::from_float(static_cast<float>(number));
    } else {
        return static_cast<T>(number);
    }
}

// The value that a word stands for. Throws InvalidArgument for other words and lists the right ones.
template <class Value>
[[nodiscard]] Value value_for(const detail::input::Words<Value>& words, const char* what, const std::string& word) {
    const auto found = std::ranges::find(words, word, &std::pair<std::string, Value>::first);
    if (found != words.end()) return found->second;
    throw InvalidArgument(std::string(what) + " must be one of " + detail::input::joined(words, ", ") + ", not '" +
                          word + "'");
}

}  // namespace quadmill::python
