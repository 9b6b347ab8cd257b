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

/// What a device of a group has done so far.
struct DeviceShare {
    std::string renderer;       ///< what its driver calls itself
    std::uint64_t batches = 0;  ///< that it sorted
    std::uint64_t keys = 0;     ///< in these
    std::string failure;        ///< why it does no more; empty while it works
};

/// Headless contexts, one a device, for sorters that work on all of them. Copies share the contexts.
///
/// A thread for each device owns its context while a sorter of the group lives, so there is at most one at a time
/// (another is refused with InvalidArgument), and the contexts are used for nothing else then. A device that fails in
/// the middle is left out from there on: what it had not given back goes to the others, and shares() says so.
class QUADMILL_API DeviceGroup {
  public:
    /// A context on each of `devices`, which are indices into Context::devices(); the same one twice gives two contexts
    /// on it. Empty: all devices that offer OpenGL 4.5 and are no software renderers, or one of these where there are
    /// no others.
    /// Throws: ContextError as Context::headless(), for any of `devices`; InvalidArgument for a negative index.
    static DeviceGroup headless(std::span<const int> devices = {}, const HeadlessOptions& options = {});

    /// A group of these contexts.
    /// Throws: InvalidArgument where there are none, and for an adopted one, which belongs to its host's thread.
    explicit DeviceGroup(std::vector<Context> contexts);

    [[nodiscard]] std::span<const Context> contexts() const noexcept;  ///< also of devices that have failed
    [[nodiscard]] std::vector<DeviceShare> shares() const;             ///< in the order of contexts()

  private:
    friend class GroupSorter;
    friend struct detail::sort::GroupState;
    friend std::unique_ptr<WindowSorter> window_sorter(const DeviceGroup& group, const SortOptions& options);
    std::shared_ptr<detail::sort::GroupState> state_;
};

/// Sorts arrays on all devices of a group: each takes parts of the array by the merge engine as it gets done, and the
/// CPU's threads merge the sorted parts.
///
///     GroupSorter on_all(DeviceGroup::headless());  // every GPU of the machine
///     on_all.sort(keys);
class QUADMILL_API GroupSorter {
  public:
    /// Options that count: `order`, `threads`, `gpu_memory` (of each device) and `merge`; the engine is Merge, or Auto,
    /// which is the same.
    /// Throws: InvalidArgument for other engines and for Precision other than Native; GlError where no device is left.
    explicit GroupSorter(const DeviceGroup& group, const SortOptions& options = {});
    GroupSorter(GroupSorter&&) noexcept;
    GroupSorter& operator=(GroupSorter&&) noexcept;
    ~GroupSorter();

    /// Sorts in place, in the order of Sorter::sort. Each device has textures for two parts at a time.
    /// Memory: as many bytes of the host's as the keys have, kept for the next call.
    /// Throws: what Sorter::sort throws, and GlError once no device is left; the keys are then a permutation of what
    /// they were.
    SortStats sort(Keys keys);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A sorter of windows that gives each batch to the device that is free first. Twice as many batches may be under way
/// as there are devices. Each device gets the options, as window_sorter() for one context has them.
/// Throws: as that one. begin() throws for a window of no keys and when depth() batches are under way; whatever else is
/// wrong with a batch finish() throws, and GlError once no device is left.
[[nodiscard]] QUADMILL_API std::unique_ptr<WindowSorter> window_sorter(const DeviceGroup& group,
                                                                       const SortOptions& options = {});

}  // namespace quadmill
