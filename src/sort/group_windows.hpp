// Batches of windows on several devices, with one thread per device.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cpu/workers.hpp"
#include "quadmill/device_group.hpp"

namespace quadmill::detail::sort {

// State that the sorters of a group share. It outlives them.
struct GroupState {
    static const std::shared_ptr<GroupState>& of(const DeviceGroup& group) { return group.state_; }

    std::vector<Context> contexts;
    std::mutex mutex;  // protects the following members
    std::vector<DeviceShare> shares;
    bool in_use = false;  // by a sorter
};

// Whether another device may succeed: true if the driver failed, false if the caller's input or the CPU's memory is the
// cause.
[[nodiscard]] bool is_failure_of_device(const std::exception_ptr& error);

// A group has at most one sorter at a time.
class GroupUse {
  public:
    // Throws InvalidArgument if the group already has a sorter, and GlError if all devices have failed.
    explicit GroupUse(std::shared_ptr<GroupState> state);
    GroupUse(const GroupUse&) = delete;
    GroupUse& operator=(const GroupUse&) = delete;
    ~GroupUse();

    // Devices that had not failed at construction.
    [[nodiscard]] const std::vector<std::size_t>& devices() const { return devices_; }
    void has_sorted(std::size_t device, std::uint64_t keys) const;
    void has_failed(std::size_t device, const std::exception_ptr& why) const;

  private:
    std::shared_ptr<GroupState> state_;
    std::vector<std::size_t> devices_;
};

class GroupWindows final : public WindowSorter {
  public:
    // A device's sorter, and what must outlive it, made and destroyed on the device's thread.
    struct Made {
        std::shared_ptr<void> keeps;
        std::unique_ptr<WindowSorter> sorter;
    };
    using Make = std::function<Made()>;

    // One result of `make` per device, in the order of state->shares, without failed devices. Throws InvalidArgument
    // while another sorter has the contexts.
    GroupWindows(std::shared_ptr<GroupState> state, std::vector<Make> make, unsigned threads);
    GroupWindows(const GroupWindows&) = delete;
    GroupWindows& operator=(const GroupWindows&) = delete;
    ~GroupWindows() override;

    void begin(Keys keys, std::size_t window) override;
    void finish() override;
    [[nodiscard]] bool can_sample() const override { return can_sample_; }
    void begin_sample(Keys keys, std::size_t window, std::size_t step) override;
    [[nodiscard]] std::size_t depth() const override { return depth_; }
    [[nodiscard]] std::size_t batch_bytes() const override { return batch_bytes_; }
    [[nodiscard]] std::size_t batch_windows() const override { return batch_windows_; }
    void share(std::size_t count, const std::function<void(std::size_t)>& work) override {
        workers_.for_each(count, work);
    }
    [[nodiscard]] Times times() const override;
    [[nodiscard]] std::string name() const override { return name_; }

  private:
    struct Batch {
        Keys keys;
        std::size_t window, step;  // step 0: all keys are wanted back
        bool done = false;
        std::exception_ptr error{};
    };
    using BatchPointer = std::shared_ptr<Batch>;
    // Batches that a device has begun and not finished, oldest first.
    using Begun = std::vector<BatchPointer>;

    void work(std::size_t device, const Make& make);
    void serve(std::size_t device, WindowSorter& sorter, Begun& begun);
    void begin_batch(Keys keys, std::size_t window, std::size_t step);
    // The next batch for a device that has begun `begun` batches. Waits only if that is 0. Null: finish a batch, or
    // end.
    BatchPointer next(std::size_t begun, std::size_t depth);
    void done(const BatchPointer& batch, std::exception_ptr error = {});
    void leave_out(std::size_t device, const Begun& begun, const std::exception_ptr& why);
    void stop() noexcept;
    void require_here() const;  // throws ContextError in a child process

    std::optional<GroupUse> use_;
    cpu::Workers workers_;
    std::size_t depth_ = 0, batch_bytes_ = 0, batch_windows_ = 1;
    std::string name_;
    bool can_sample_ = true;  // while every device can

    mutable std::mutex mutex_;  // protects all members below
    std::condition_variable changed_;
    std::deque<BatchPointer> waiting_, in_flight_;  // for a device; all, in the order of begin()
    std::vector<Times> times_;
    std::size_t starting_ = 0, alive_ = 0;  // numbers of devices
    std::exception_ptr last_failure_;
    bool stopped_ = false;
    std::vector<std::thread> threads_;
    cpu::Birthplace process_;
};

}  // namespace quadmill::detail::sort
