// The devices of an external sort: CPU threads only, a context, or a group of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "gl/device.hpp"
#include "quadmill/context.hpp"
#include "quadmill/device_group.hpp"
#include "sort/group_windows.hpp"

namespace quadmill::detail::external {

// While this object lives, it owns the contexts of a group.
class Devices {
  public:
    Devices() = default;  // only CPU threads
    // NOLINTBEGIN(google-explicit-constructor): a context, or none, or a group, whichever a caller has
    Devices(const Context& context) : contexts_{context} {}
    Devices(const std::optional<Context>& context) {
        if (context) contexts_.push_back(*context);
    }
    // Throws InvalidArgument if another sorter has the group, and GlError if all devices have failed.
    Devices(const DeviceGroup& group) : use_(std::make_unique<sort::GroupUse>(sort::GroupState::of(group))) {
        for (const auto device : use_->devices()) contexts_.push_back(group.contexts()[device]);
    }
    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] const std::vector<Context>& contexts() const { return contexts_; }
    [[nodiscard]] std::optional<Context> first() const {
        return contexts_.empty() ? std::nullopt : std::optional(contexts_.front());
    }
    // Number of passes so far, including those of others that use these contexts.
    [[nodiscard]] std::uint64_t passes() const {
        std::uint64_t all = 0;
        for (const auto& context : contexts_) all += Access::of(context)->passes;
        return all;
    }
    // Number of parallel sorts. The CPU engine uses all threads for one sort.
    [[nodiscard]] std::size_t sorters(Engine engine) const {
        const bool is_cpu =
            engine == Engine::Cpu || (engine == Engine::Auto && !contexts_.empty() && contexts_[0].info().software);
        return is_cpu || contexts_.empty() ? 1 : contexts_.size();
    }

    // Work done by a device of a group; `place` is its index in contexts().
    void has_sorted(std::size_t place, std::uint64_t keys) const {
        if (use_) use_->has_sorted(use_->devices()[place], keys);
    }
    // Whether other devices of the group may succeed.
    [[nodiscard]] bool has_failed(std::size_t place, const std::exception_ptr& why) const {
        if (!use_ || !sort::is_failure_of_device(why)) return false;
        use_->has_failed(use_->devices()[place], why);
        return true;
    }

  private:
    std::vector<Context> contexts_;
    std::unique_ptr<sort::GroupUse> use_;
};

}  // namespace quadmill::detail::external
