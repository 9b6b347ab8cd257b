#include "quadmill/device_group.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "cpu/keys.hpp"
#include "cpu/merge.hpp"
#include "cpu/scratch.hpp"
#include "cpu/stopwatch.hpp"
#include "quadmill/error.hpp"
#include "sort/group_windows.hpp"
#include "sort/task.hpp"
#include "sort/window_sorters.hpp"

namespace quadmill {

using detail::sort::GroupState;
using detail::sort::GroupWindows;

namespace {

// Contexts of all hardware devices, or the first context that opens.
std::vector<Context> contexts_of_all(HeadlessOptions options) {
    std::vector<Context> found;
    for (const auto& device : Context::devices()) {
        options.device = device.index;
        try {
            if (auto context = Context::headless(options); !context.info().software)
                found.push_back(std::move(context));
        } catch (const ContextError&) {  // NOLINT(bugprone-empty-catch)
            // This device does not offer OpenGL.
        }
    }
    options.device = -1;
    if (found.empty()) found.push_back(Context::headless(options));
    return found;
}

// Max keys that the merge engine's lanes hold, and min keys that keep them busy.
constexpr std::size_t longest_part = std::size_t{1} << 25U, shortest_part = std::size_t{1} << 18U;

// One part per device: each round of merging reads and writes all keys.
std::size_t parts_for(std::size_t n, std::size_t devices) {
    return std::max({std::min(devices, n / shortest_part), (n + longest_part - 1) / longest_part, std::size_t{1}});
}

// Maps a part of the keys at `from` to the same position at `to`, for the sorted keys.
struct Places {
    void *from = nullptr, *to = nullptr;
    [[nodiscard]] Keys of(Keys part) const {
        return detail::cpu::visit(part, [&]<class Key>(std::span<Key> keys) {
            return Keys(std::span(static_cast<Key*>(to) + (keys.data() - static_cast<Key*>(from)), keys.size()));
        });
    }
};

// Keeps a session open for the sorter's life: ending one after each call would wait until the GPU is idle.
template <class MakeSorter>
std::unique_ptr<GroupWindows> windows_of(const std::shared_ptr<GroupState>& state, unsigned threads, MakeSorter make) {
    std::vector<GroupWindows::Make> each;
    for (const auto& context : state->contexts) {
        each.emplace_back([context, make]() -> GroupWindows::Made {
            return {std::make_shared<Session>(context), make(context)};
        });
    }
    return std::make_unique<GroupWindows>(state, std::move(each), threads);
}

}  // namespace

DeviceGroup DeviceGroup::headless(std::span<const int> devices, const HeadlessOptions& options) {
    if (devices.empty()) return DeviceGroup(contexts_of_all(options));
    std::vector<Context> contexts;
    for (const auto device : devices) {
        if (device < 0) {
            throw InvalidArgument("DeviceGroup::headless: a device is an index from 0 into Context::devices(), not " +
                                  std::to_string(device));
        }
        auto of_device = options;
        of_device.device = device;
        contexts.push_back(Context::headless(of_device));
    }
    return DeviceGroup(std::move(contexts));
}

DeviceGroup::DeviceGroup(std::vector<Context> contexts) : state_(std::make_shared<GroupState>()) {
    if (contexts.empty()) throw InvalidArgument("DeviceGroup: a group has at least one context");
    for (const auto& context : contexts) {
        if (context.info().platform == "adopted") {
            throw InvalidArgument(
                "DeviceGroup: each context gets a thread of its own, and an adopted one belongs to its host's; give "
                "headless ones");
        }
        state_->shares.push_back({context.info().renderer, 0, 0, {}});
    }
    state_->contexts = std::move(contexts);
}

std::span<const Context> DeviceGroup::contexts() const noexcept {
    return state_->contexts;
}

std::vector<DeviceShare> DeviceGroup::shares() const {
    const std::lock_guard lock(state_->mutex);
    return state_->shares;
}

struct GroupSorter::State {
    SortOptions options;
    detail::cpu::Workers workers;
    std::shared_ptr<Places> places;  // targets of the parts in flight
    std::unique_ptr<GroupWindows> windows;
    std::size_t devices;
    detail::cpu::Scratch scratch{};
    // Sorts all parts, even if one fails.
    void sort_parts(Keys keys, std::size_t part);
};

GroupSorter::GroupSorter(const DeviceGroup& group, const SortOptions& options) {
    const auto refuse = [](const char* why) { throw InvalidArgument(std::string("GroupSorter: ") + why); };
    if (options.engine != Engine::Auto && options.engine != Engine::Merge)
        refuse("parts of an array are sorted by Engine::Merge; use that, or Engine::Auto");
    if (options.precision != Precision::Native)
        refuse("keys are sorted as they are; use Precision::Native, and convert the keys before");
    auto places = std::make_shared<Places>();
    auto windows = windows_of(group.state_, options.threads, [options, places](const Context& context) {
        return std::make_unique<detail::sort::MergeWindowSorter>(context, options,
                                                                 [places](Keys part) { return places->of(part); });
    });
    state_ = std::make_unique<State>(State{options, detail::cpu::Workers(options.threads), std::move(places),
                                           std::move(windows), group.contexts().size()});
}

GroupSorter::GroupSorter(GroupSorter&&) noexcept = default;
GroupSorter& GroupSorter::operator=(GroupSorter&&) noexcept = default;
GroupSorter::~GroupSorter() = default;

void GroupSorter::State::sort_parts(Keys keys, std::size_t part) {
    std::exception_ptr error;
    std::size_t in_flight = 0;
    const auto finish = [&] {
        --in_flight;
        try {
            windows->finish();
        } catch (...) {
            error = std::current_exception();
        }
    };
    for (std::size_t begin = 0; begin < keys.size() && !error; begin += part) {
        if (in_flight == windows->depth()) finish();
        const auto size = std::min(part, keys.size() - begin);
        try {
            windows->begin(detail::cpu::part(keys, begin, size), size);
            ++in_flight;
        } catch (...) {
            error = std::current_exception();
        }
    }
    while (in_flight > 0) finish();
    if (error) std::rethrow_exception(error);
}

SortStats GroupSorter::sort(Keys keys) {
    auto& state = *state_;
    const detail::cpu::Stopwatch total;
    SortStats stats{.n = keys.size(), .engine = Engine::Merge};
    if (keys.size() < 2) return stats;
    const auto parts = parts_for(keys.size(), state.devices), part = (keys.size() + parts - 1) / parts;
    detail::cpu::visit(keys, [&]<class Key>(std::span<Key> values) {
        using namespace detail::cpu;  // NOLINT(google-build-using-namespace)
        const auto scratch = parts > 1 ? state.scratch.of<Key>(values.size()) : std::span<Key>();  // before any change
        // Each round merges from one array to the other. The last round must end in `values`.
        const bool in_scratch = parts > 1 && merge_rounds(parts, Ways::Two) % 2 == 1;
        const auto sorted = in_scratch ? scratch : values;
        *state.places = {values.data(), sorted.data()};
        const auto before = state.windows->times();
        const Stopwatch sorting;
        state.sort_parts(keys, part);
        const auto after = state.windows->times();
        stats.sort_ms = sorting.ms();
        stats.upload_ms = after.upload - before.upload;
        stats.readback_ms = after.readback - before.readback;
        stats.textures = parts;
        if (parts == 1) return;
        const Stopwatch merging;
        std::vector<Run<Key>> runs;
        for (std::size_t begin = 0; begin < sorted.size(); begin += part)
            runs.push_back({sorted.data() + begin, std::min(part, sorted.size() - begin), 1});
        const KeyLess<Key> less{TotalOrder<Key>(state.options.order)};
        require_sorted(runs, state.workers, less);
        merge_runs(std::move(runs), values, scratch, state.workers, less);
        stats.merge_ms = merging.ms();
    });
    stats.total_ms = total.ms();
    return stats;
}

std::unique_ptr<WindowSorter> window_sorter(const DeviceGroup& group, const SortOptions& options) {
    return windows_of(group.state_, options.threads,
                      [options](const Context& context) { return window_sorter(context, options); });
}

}  // namespace quadmill
