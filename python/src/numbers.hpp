// Types of parameters that are numbers. A wrong number is refused by the parameter's name; pybind11 would list types.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::python {

namespace py = pybind11;

// The name of a parameter.
template <std::size_t size>
struct Name {
    char text[size]{};  // NOLINT(*-avoid-c-arrays): of a literal
    consteval Name(const char (&given)[size]) { std::copy_n(given, size, text); }  // NOLINT(*-avoid-c-arrays)
};

// Throw TypeError for what is not a number, and InvalidArgument for another number.
[[nodiscard]] std::uint64_t whole_number(const std::string& name, py::handle given, std::uint64_t max);
[[nodiscard]] double real_number(const std::string& name, py::handle given);
// The elements of a list, a tuple or an array. Throws TypeError for anything else.
[[nodiscard]] py::iterable elements(const std::string& name, py::handle given, const char* of);

// A number from 0 on.
template <Name name, std::unsigned_integral Number = std::size_t>
struct Whole {
    Number value = 0;
    operator Number() const { return value; }  // NOLINT(google-explicit-constructor): it is that number
    static constexpr auto type_name = py::detail::const_name("int");
    static Whole from(py::handle given) {
        return {static_cast<Number>(whole_number(name.text, given, std::numeric_limits<Number>::max()))};
    }
};

// A sequence of them.
template <Name name>
struct Wholes {
    std::vector<std::size_t> values{};
    static constexpr auto type_name = py::detail::const_name("Sequence[int]");
    static Wholes from(py::handle given) {
        Wholes made;
        for (const auto each : elements(name.text, given, "whole numbers"))
            made.values.push_back(whole_number(name.text, each, std::numeric_limits<std::size_t>::max()));
        return made;
    }
};

// A sequence of real numbers.
template <Name name>
struct Reals {
    std::vector<double> values{};
    static constexpr auto type_name = py::detail::const_name("Sequence[float]");
    static Reals from(py::handle given) {
        Reals made;
        for (const auto each : elements(name.text, given, "numbers"))
            made.values.push_back(real_number(name.text, each));
        return made;
    }
};

// Four numbers.
template <Name name>
struct FourReals {
    std::array<float, 4> values{};
    static constexpr auto type_name = py::detail::const_name("Sequence[float]");
    static FourReals from(py::handle given) {
        const auto all = Reals<name>::from(given).values;
        FourReals made;
        if (all.size() != made.values.size()) {
            throw InvalidArgument(std::string(name.text) + " must have 4 numbers, not " + std::to_string(all.size()) +
                                  ": " + py::repr(given).template cast<std::string>());
        }
        std::ranges::transform(all, made.values.begin(), [](double each) { return static_cast<float>(each); });
        return made;
    }
};

// A buffer, and an offset in it.
struct Counted {
    CountInBuffer value{};
    static constexpr auto type_name = py::detail::const_name("tuple[int, int]");
    static Counted from(py::handle given) {
        std::vector<std::size_t> both;
        if (py::isinstance<py::tuple>(given) || py::isinstance<py::list>(given))
            both = Wholes<"counted">::from(given).values;
        if (both.size() != 2 || both.front() > std::numeric_limits<std::uint32_t>::max()) {
            throw InvalidArgument("counted must be (buffer, offset), the name of a buffer and bytes, not " +
                                  py::repr(given).cast<std::string>());
        }
        return {{static_cast<std::uint32_t>(both.front()), both.back()}};
    }
};

// Texels of a texture: a TextureRegion, or the texture's name.
template <Name name>
struct Texels {
    TextureRegion value{};
    static constexpr auto type_name = py::detail::const_name("Union[int, TextureRegion]");
    static Texels from(py::handle given) {
        if (py::isinstance<TextureRegion>(given)) return {given.cast<TextureRegion>()};
        return {{.texture = Whole<name, std::uint32_t>::from(given)}};
    }
};

template <class Type>
concept Parameter = requires(py::handle given) {
    { Type::from(given) } -> std::same_as<Type>;
    Type::type_name;
};

}  // namespace quadmill::python

namespace pybind11::detail {

template <quadmill::python::Parameter Type>
struct type_caster<Type> {
    PYBIND11_TYPE_CASTER(Type, Type::type_name);
    bool load(handle given, bool /*convert*/) {
        value = Type::from(given);
        return true;
    }
};

}  // namespace pybind11::detail
