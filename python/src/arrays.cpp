#include "arrays.hpp"

#include <cstring>
#include <limits>
#include <optional>

#include "numbers.hpp"

namespace quadmill::python {

namespace {

std::string text(py::handle object) {
    return py::str(object).cast<std::string>();
}

std::string type_name(py::handle object) {
    return text(py::type::of(object).attr("__name__"));
}

bool is_masked(py::handle object) {
    return py::hasattr(object, "mask") && py::hasattr(object, "filled");
}

[[noreturn]] void refuse(const char* function, const std::string& why) {
    throw InvalidArgument(std::string(function) + ": " + why);
}

bool is_native(const py::dtype& type) {
    return type.attr("isnative").cast<bool>();
}

[[noreturn]] void refuse_type(const std::string& function, const py::dtype& type, const char* taken) {
    throw py::type_error(function + ": there are no keys of type " + text(type) +
                         (is_native(type) ? "" : " (bytes in the other order)") + "; " + taken +
                         " are taken, others by astype()");
}

// The reason why the values of an array cannot be keys.
void check_keys(const char* function, const py::array& array) {
    if (is_masked(array)) {
        throw py::type_error(std::string(function) +
                             ": a masked array has values that do not count; give a.compressed()");
    }
    (void)key_type(array.dtype());
    if (array.ndim() != 1) {
        refuse(function, "the array must have one dimension, not " + std::to_string(array.ndim()) +
                             "; a.reshape(-1) is all of it in one");
    }
}

Keys keys_of(const py::array& array) {
    return for_type(key_type(array.dtype()), [&]<class T>(T) {
        // The library's Keys are not const, but it does not change keys that it only reads.
        auto* data = const_cast<T*>(static_cast<const T*>(array.data()));
        return Keys(std::span<T>(data, static_cast<std::size_t>(array.size())));
    });
}

constexpr int aligned = py::detail::npy_api::NPY_ARRAY_ALIGNED_;

bool is_plain(const py::array& array) {
    return (array.flags() & py::array::c_style) != 0 && (array.flags() & aligned) != 0;
}

py::array plain(const py::array& array) {
    return is_plain(array) ? array : py::array(array.attr("copy")("C"));
}

std::optional<KeyType> known_type(const py::dtype& type) {
    const auto name = text(type.attr("kind")) + std::to_string(8 * type.attr("itemsize").cast<std::size_t>());
    for (const auto& [word, key] : detail::input::type_words)
        if (name == word && is_native(type)) return key;
    return {};
}

}  // namespace

KeyType key_type(const py::dtype& type) {
    if (const auto known = known_type(type)) return *known;
    refuse_type("quadmill", type, "float16, float32, float64, int32, uint32, int64 and uint64");
}

KeyType key_type(py::handle dtype) {
    return key_type(py::dtype::from_args(py::reinterpret_borrow<py::object>(dtype)));
}

py::dtype dtype_of(KeyType type) {
    const auto& word = detail::input::word_for(detail::input::type_words, type);  // as u32; numpy counts bytes
    return py::dtype(word[0] + std::to_string(std::stoi(word.substr(1)) / 8));
}

py::array array_of(const char* function, py::handle object) {
    if (py::isinstance<py::array>(object)) return py::reinterpret_borrow<py::array>(object);
    const auto numpy = py::module_::import("numpy");
    if (py::hasattr(object, "__dlpack__")) return numpy.attr("from_dlpack")(object);
    if (PyObject_CheckBuffer(object.ptr()) != 0)
        return numpy.attr("asarray")(py::reinterpret_steal<py::object>(PyMemoryView_FromObject(object.ptr())));
    if (py::hasattr(object, "__array__")) return numpy.attr("asarray")(object);
    throw py::type_error(std::string(function) + ": takes an array of numpy, or one with DLPack or a buffer, not " +
                         type_name(object) + "; numpy.asarray() makes one");
}

KeyArray keys_in_place(const char* function, py::handle object) {
    const bool own_memory = py::isinstance<py::array>(object) || py::hasattr(object, "__dlpack__") ||
                            PyObject_CheckBuffer(object.ptr()) != 0;
    if (!own_memory) {
        throw py::type_error(std::string(function) + ": works in place and takes an array of numpy, not " +
                             type_name(object));
    }
    auto array = array_of(function, object);
    check_keys(function, array);
    if (!array.writeable()) refuse(function, "works in place, and the array is read-only; give a copy");
    if (!is_plain(array)) {
        refuse(function,
               "works in place, and the array is strided or not aligned; sort a copy by "
               "numpy.ascontiguousarray() and assign it");
    }
    const auto keys = keys_of(array);
    return {std::move(array), keys};
}

KeyArray readable(const char* function, py::handle object) {
    auto array = array_of(function, object);
    check_keys(function, array);
    array = plain(array);
    const auto keys = keys_of(array);
    return {std::move(array), keys};
}

bool is_converted(const py::dtype& type) {
    const auto kind = type.kind();
    const bool is_small = (kind == 'i' || kind == 'u') && type.itemsize() < 4;
    return is_native(type) && (is_small || kind == 'b' || kind == 'M' || kind == 'm');
}

void check_sortable(const char* function, const py::dtype& type) {
    if (known_type(type) || is_converted(type)) return;
    refuse_type(function, type,
                "bool, integers of 8 to 64 bits, float16, float32, float64, datetime64 and timedelta64");
}

py::array to_keys(const py::array& values, Order order) {
    const auto kind = values.dtype().kind();
    if (kind == 'b') return values.attr("astype")("uint32");
    if (kind == 'i' || kind == 'u') return values.attr("astype")(kind == 'i' ? "int32" : "uint32");
    py::array numbers = plain(values).attr("view")("int64").attr("copy")();
    // NaT is the smallest number. In ascending order, all are counted from the one after it, so that it is the largest.
    if (order == Order::Ascending) numbers -= py::int_(1);
    return numbers;
}

py::object from_keys(const py::array& keys, const py::dtype& type, Order order) {
    const auto kind = type.kind();
    if (kind != 'M' && kind != 'm') return keys.attr("astype")(type);
    return (order == Order::Ascending ? py::object(keys + py::int_(1)) : py::object(keys)).attr("view")(type);
}

KeyArray readable(const char* function, py::handle object, Order order) {
    const auto array = array_of(function, object);
    if (!is_masked(array)) check_sortable(function, array.dtype());
    if (!is_converted(array.dtype()) || is_masked(array)) return readable(function, object);
    return readable(function, to_keys(array, order));
}

py::array readable_of(const char* function, py::handle object, KeyType type) {
    const auto array = array_of(function, object);
    if (is_masked(array)) throw py::type_error(std::string(function) + ": takes no masked arrays; give a.filled()");
    if (!array.dtype().equal(dtype_of(type))) {
        throw py::type_error(std::string(function) + ": the array must be " + text(dtype_of(type)) + ", not " +
                             text(array.dtype()) + "; convert it by astype()");
    }
    return plain(array);
}

std::uint64_t whole_number(const std::string& name, py::handle given, std::uint64_t max) {
    const auto said = [&] { return ", not " + py::repr(given).cast<std::string>(); };
    if (PyIndex_Check(given.ptr()) == 0) throw py::type_error(name + " must be a whole number" + said());
    const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
    const auto value = number ? PyLong_AsUnsignedLongLong(number.ptr()) : 0;
    if (PyErr_Occurred() == nullptr && value <= max) return value;
    PyErr_Clear();
    const auto range = max == std::numeric_limits<std::uint64_t>::max() ? " on" : " to " + std::to_string(max);
    throw InvalidArgument(name + " must be a whole number from 0" + range + said());
}

double real_number(const std::string& name, py::handle given) {
    const auto value = PyNumber_Check(given.ptr()) != 0 ? PyFloat_AsDouble(given.ptr()) : -1;
    if (PyErr_Occurred() == nullptr && PyNumber_Check(given.ptr()) != 0) return value;
    PyErr_Clear();
    throw py::type_error(name + " must have numbers, not " + py::repr(given).cast<std::string>());
}

py::iterable elements(const std::string& name, py::handle given, const char* of) {
    if (PySequence_Check(given.ptr()) != 0 && PyUnicode_Check(given.ptr()) == 0 && PyBytes_Check(given.ptr()) == 0)
        return py::reinterpret_borrow<py::iterable>(given);
    throw py::type_error(name + " must be a sequence of " + of + ", not " + py::repr(given).cast<std::string>());
}

py::object records(const void* rows, std::size_t count, std::size_t row_bytes, const std::vector<Field>& fields) {
    py::list names, formats, offsets;
    for (const auto& field : fields) {
        names.append(field.name);
        formats.append(field.type);
        offsets.append(field.offset);
    }
    const py::dtype type(names, formats, offsets, static_cast<py::ssize_t>(row_bytes));
    py::array made(type, std::vector<py::ssize_t>{static_cast<py::ssize_t>(count)});
    if (count > 0) std::memcpy(made.mutable_data(), rows, count * row_bytes);
    return made.attr("view")(py::module_::import("numpy").attr("recarray"));
}

}  // namespace quadmill::python
