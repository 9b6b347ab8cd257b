#include "devices.hpp"

#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "context.hpp"
#include "module.hpp"

namespace quadmill::python {

namespace {

void sort_by_all(Devices& devices, const py::object& a, const std::string& order) {
    const auto array = keys_in_place("DeviceGroup.sort", a);
    const auto by = value_for(detail::input::order_words, "order", order);
    in_turn(devices.turn, [&] {
        if (devices.order != by) devices.sorter.reset();
        if (!devices.sorter) devices.sorter.emplace(devices.group, SortOptions{.order = by});
        devices.order = by;
        (void)devices.sorter->sort(array.keys);
    });
}

py::list shares(const Devices& devices) {
    py::list all;
    for (const auto& share : devices.group.shares()) {
        py::dict one;
        one["renderer"] = share.renderer;
        one["batches"] = share.batches;
        one["keys"] = share.keys;
        one["failure"] = share.failure.empty() ? py::object(py::none()) : py::str(share.failure);
        all.append(one);
    }
    return all;
}

}  // namespace

void bind_devices(py::module_& module) {
    py::class_<Devices, DevicesPtr>(module, "DeviceGroup", R"(
Several devices that share the work of a sort: indices into devices(), the same one twice for two contexts on it; empty:
all GPUs. If a device fails, the others do its work, and shares() says so.

>>> group = quadmill.DeviceGroup([0, 0])
>>> a = numpy.array([3, 1, 2], numpy.float32)
>>> group.sort(a)
>>> a
array([1., 2., 3.], dtype=float32)
>>> sum(share["keys"] for share in group.shares())
3
)")
        .def(py::init([](const std::vector<int>& devices) {
                 return released([&] { return std::make_shared<Devices>(DeviceGroup::headless(devices)); });
             }),
             py::arg("devices") = std::vector<int>{}, "Opens a context on each device.")
        .def("sort", &sort_by_all, py::arg("a"), py::kw_only(), py::arg("order") = "asc", R"(
Sorts an array of one dimension in place, as sort() does: devices sort parts of it, and CPU threads merge them.
)")
        .def("shares", &shares, R"(
For each device a dict of renderer, batches and sorted keys (for terasort: records), and failure, which is None while it
works.
)")
        .def("__len__", [](const Devices& self) { return self.group.contexts().size(); })
        .def("__repr__", [](const Devices& self) {
            return "DeviceGroup(" + std::to_string(self.group.contexts().size()) + " contexts)";
        });
}

}  // namespace quadmill::python
