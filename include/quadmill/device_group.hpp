/// Several devices of one machine that share the work of one sort or one stream.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "quadmill/api.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/window_sorter.hpp"

namespace quadmill {

namespace detail::sort {
struct GroupState;
}

/// The work of one device of a group so far.
struct DeviceShare {
    std::string renderer;       ///< what its driver calls itself
    std::uint64_t batches = 0;  ///< number of batches that it sorted
    std::uint64_t keys = 0;     ///< keys in these batches
    std::string failure;        ///< why it stopped; empty while it works
};

/// Headless contexts, one per device, for sorters that work on all of them. Copies share the contexts.
///
/// A thread for each device owns its context while a sorter of the group lives, so a group has at most one sorter at a
/// time (another is refused with InvalidArgument), and its contexts are not used for anything else meanwhile. A device
/// that fails is left out from then on: the others take its unfinished work, and shares() says so.
class QUADMILL_API DeviceGroup {
  public:
    /// A context on each of `devices`, which are indices into Context::devices(); the same index twice gives two
    /// contexts on it. Empty: all devices with OpenGL that are not software renderers, or one software renderer if
    /// there are no others.
    /// Throws: ContextError as Context::headless(), for any of `devices`; InvalidArgument for a negative index.
    static DeviceGroup headless(std::span<const int> devices = {}, const HeadlessOptions& options = {});

    /// A group of these contexts.
    /// Throws: InvalidArgument for none, and for an adopted context, which belongs to its application's thread.
    explicit DeviceGroup(std::vector<Context> contexts);

    [[nodiscard]] std::span<const Context> contexts() const noexcept;  ///< also of devices that have failed
    [[nodiscard]] std::vector<DeviceShare> shares() const;             ///< in the order of contexts()

  private:
    friend class GroupSorter;
    friend struct detail::sort::GroupState;
    friend std::unique_ptr<WindowSorter> window_sorter(const DeviceGroup& group, const SortOptions& options);
    std::shared_ptr<detail::sort::GroupState> state_;
};

/// Sorts arrays on all devices of a group: each device sorts one part of the array after another with the merge engine,
/// and CPU threads merge the sorted parts.
///
///     GroupSorter on_all(DeviceGroup::headless());  // every GPU of the machine
///     on_all.sort(keys);
class QUADMILL_API GroupSorter {
  public:
    /// Used options: `order`, `threads`, `gpu_memory` (per device) and `merge`. The engine is Merge; Auto means the
    /// same.
    /// Throws: InvalidArgument for other engines and for Precision other than Native; GlError if no device is left.
    explicit GroupSorter(const DeviceGroup& group, const SortOptions& options = {});
    GroupSorter(GroupSorter&&) noexcept;
    GroupSorter& operator=(GroupSorter&&) noexcept;
    ~GroupSorter();

    /// Sorts in place, in the order of Sorter::sort. Each device has textures for two parts at a time.
    /// Memory: a copy of the keys on the CPU, kept for the next call.
    /// Throws: what Sorter::sort throws, and GlError once no device is left; the keys are then a permutation of what
    /// they were.
    SortStats sort(Keys keys);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A sorter of windows that gives each batch to the device that is free first. Up to two batches per device may be in
/// flight. Each device gets the options, as window_sorter() for one context has them.
/// Throws: as that one. begin() throws for a window of 0 keys and if depth() batches are in flight. finish() throws
/// other errors of a batch, and GlError if no device is left.
[[nodiscard]] QUADMILL_API std::unique_ptr<WindowSorter> window_sorter(const DeviceGroup& group,
                                                                       const SortOptions& options = {});

}  // namespace quadmill
