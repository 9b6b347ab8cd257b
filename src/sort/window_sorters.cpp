#include "sort/window_sorters.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cpu/keys.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"
#include "sort/choose.hpp"
#include "sort/gpu_memory.hpp"
#include "sort/hybrid_sort.hpp"

namespace quadmill::detail::sort {

namespace {

constexpr const char* begin_name = "WindowSorter::begin";

// No longer than the keys, so that sums with it cannot overflow.
std::size_t checked(Keys keys, std::size_t window) {
    if (window < 1) throw InvalidArgument(std::string(begin_name) + ": a window must hold at least 1 key, not 0");
    return std::min(window, std::max<std::size_t>(keys.size(), 1));
}

Task task_of(Keys keys, std::size_t window) {
    return {Task::What::Windows, begin_name, keys, {}, window};
}

}  // namespace

MergeWindowSorter::MergeWindowSorter(Context context, const SortOptions& options)
    : context_(std::move(context)), options_(options), workers_(options.threads) {}

std::optional<std::string> MergeWindowSorter::no_room(Keys keys, std::size_t window) const {
    return sort::no_room(context_, options_, gpu_ ? &gpu_->merge : nullptr, task_of(keys, checked(keys, window)),
                         lanes);
}

const std::shared_ptr<const Segments>& MergeWindowSorter::segments(Keys keys, std::size_t window) {
    const std::array shape{keys.size(), window, KeyForm{keys.type()}.pair_keys()};
    if (!segments_ || shape != shape_) {
        Segments windows(shape[2]);
        windows.add_windows(keys.size(), window);
        segments_ = std::make_shared<const Segments>(std::move(windows));
        shape_ = shape;
    }
    return segments_;
}

void MergeWindowSorter::begin(Keys keys, std::size_t window) {
    window = checked(keys, window);
    if (under_way() == lanes) {
        throw InvalidArgument(std::string(begin_name) + ": " + std::to_string(lanes) +
                              " batches are under way, which is the most; finish() one first");
    }
    if (const auto why = no_room(keys, window)) throw InvalidArgument(std::string(begin_name) + ": " + *why);
    auto& device = *detail::Access::of(context_);
    const gl::Scope scope(device, begin_name);
    if (!gpu_) gpu_.emplace(device, workers_).merge.plan().kernel = options_.merge.kernel;
    gpu_->merge.begin(gpu_->lane.at(begun_ % lanes), keys, {keys}, Order::Ascending, segments(keys, window));
    scope.check();
    ++begun_;
}

void MergeWindowSorter::finish() {
    auto& lane = gpu_->lane.at(finished_++ % lanes);  // free, also when this throws
    const gl::Scope scope(*detail::Access::of(context_), "WindowSorter::finish");
    gpu_->merge.wait(lane);
    const auto stats = gpu_->merge.finish(lane);
    if (stats.n == 0) return;
    times_.upload += lane.gpu_upload_ms();
    times_.sort += stats.sort_ms;
    times_.readback += stats.readback_ms;
    scope.check();
}

WindowSorter::Times SharedWindowSorter::times() const {
    auto times = gpu_.times();
    if (cpu_) times.sort += cpu_->times().sort;
    return times;
}

HybridWindowSorter::HybridWindowSorter(const Context& context, const SortOptions& options)
    : SharedWindowSorter(context, options) {
    const auto threads = cpu_threads(gpu_.workers());
    if (threads < 2) return;
    cpu_.emplace(threads);
    cpu_share_ = threads / (threads + 100.0);  // a GPU as good as 100 threads, to begin with
}

void HybridWindowSorter::begin(Keys keys, std::size_t window) {
    window = checked(keys, window);
    const auto windows = (keys.size() + window - 1) / window;
    const auto to_gpu = static_cast<std::size_t>(std::ceil((1 - cpu_share_) * static_cast<double>(windows)));
    const auto gpu_keys = std::min(to_gpu * window, keys.size()), cpu_keys = keys.size() - gpu_keys;
    under_way_.push_back({gpu_keys, cpu_keys});
    try {
        gpu_.begin(cpu::part(keys, 0, gpu_keys), window);
    } catch (...) {
        under_way_.pop_back();
        throw;
    }
    if (cpu_keys == 0) return;
    const auto rest = cpu::part(keys, gpu_keys, cpu_keys);
    try {
        cpu_->begin(rest, window);
    } catch (const std::bad_alloc&) {  // the GPU is at work already, so the batch must go on
        sort_windows_on_cpu(rest, window);
        under_way_.back().cpu_keys = 0;
    }
}

void HybridWindowSorter::finish() {
    const auto [gpu_keys, cpu_keys] = under_way_.front();
    under_way_.pop_front();
    if (cpu_keys == 0) return gpu_.finish();
    const bool cpu_was_first = cpu_->is_done();
    try {
        gpu_.finish();
    } catch (...) {
        cpu_->finish();
        throw;
    }
    const bool cpu_is_late = !cpu_->is_done();
    cpu_->finish();
    if (cpu_was_first) cpu_share_ = std::min(cpu_share_ * 1.1, 0.5);
    if (cpu_is_late) cpu_share_ *= 0.8;
}

AutoWindowSorter::AutoWindowSorter(const Context& context, const SortOptions& options)
    : SharedWindowSorter(context, options), info_(context.info()), threads_(options.threads) {}

bool AutoWindowSorter::goes_to_gpu(Keys keys, std::size_t window) const {
    return merge_wins(info_, task_of(keys, window).work()) && !gpu_.no_room(keys, window);
}

void AutoWindowSorter::begin(Keys keys, std::size_t window) {
    window = checked(keys, window);
    const bool to_gpu = goes_to_gpu(keys, window);
    if (!to_gpu && !cpu_) cpu_.emplace(threads_);
    under_way_.push_back(to_gpu ? static_cast<WindowSorter*>(&gpu_) : &*cpu_);
    try {
        under_way_.back()->begin(keys, window);
    } catch (...) {
        under_way_.pop_back();
        throw;
    }
}

void AutoWindowSorter::finish() {
    auto* sorter = under_way_.front();
    under_way_.pop_front();
    sorter->finish();
}

}  // namespace quadmill::detail::sort

namespace quadmill {

std::unique_ptr<WindowSorter> window_sorter(const Context& context, const SortOptions& options) {
    using namespace detail::sort;  // NOLINT(google-build-using-namespace)
    const auto refuse = [](const std::string& why) { throw InvalidArgument("window_sorter: " + why); };
    if (options.precision != Precision::Native)
        refuse("windows are sorted as they are; use Precision::Native, and convert the keys before");
    if (options.order != Order::Ascending) refuse("windows are sorted in ascending order; use Order::Ascending");
    switch (options.engine) {
        case Engine::Auto:
            if (context.info().software) return cpu_window_sorter(options.threads);
            return std::make_unique<AutoWindowSorter>(context, options);
        case Engine::Cpu:
            return cpu_window_sorter(options.threads);
        case Engine::Merge:
            return std::make_unique<MergeWindowSorter>(context, options);
        case Engine::Hybrid:
            return std::make_unique<HybridWindowSorter>(context, options);
        default:
            refuse("Engine::Pbsn and Engine::Bitonic sort one batch at a time; use Engine::Merge, Hybrid, Auto or Cpu");
    }
    return nullptr;
}

}  // namespace quadmill
