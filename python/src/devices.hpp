// Several devices that calls from Python share.
#pragma once

#include <memory>
#include <optional>

#include "context.hpp"
#include "quadmill/device_group.hpp"

namespace quadmill::python {

struct Devices {
    explicit Devices(DeviceGroup made) : group(std::move(made)) {}

    DeviceGroup group;
    Turn turn;
    std::optional<GroupSorter> sorter;  // of the last order asked for; a group has one sorter at a time
    Order order = Order::Ascending;
};
using DevicesPtr = std::shared_ptr<Devices>;  // null where a caller named none

}  // namespace quadmill::python
