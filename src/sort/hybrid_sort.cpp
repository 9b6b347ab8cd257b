#include "sort/hybrid_sort.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "cpu/keys.hpp"
#include "cpu/merge.hpp"
#include "cpu/sort.hpp"
#include "cpu/stopwatch.hpp"

namespace quadmill::detail::sort {

namespace {

// CPU threads that work until the queue is empty.
class CpuSide {
  public:
    // Each thread calls make_work() once, and what it returns for each range.
    template <class MakeWork>
    CpuSide(unsigned threads, UnitQueue& queue, std::size_t max, MakeWork make_work) : queue_(queue) {
        const auto loop = [this, max, make_work] {
            try {
                auto work = make_work();
                for (auto range = queue_.take_back(max); !range.empty(); range = queue_.take_back(max)) work(range);
            } catch (...) {
                queue_.close();
                const std::lock_guard lock(mutex_);
                error_ = std::current_exception();
            }
        };
        try {
            for (unsigned i = 0; i < threads; ++i) threads_.emplace_back(loop);
        } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
            // The machine cannot start more threads; those that run are enough.
        }
    }
    CpuSide(const CpuSide&) = delete;
    CpuSide& operator=(const CpuSide&) = delete;
    ~CpuSide() {
        queue_.close();
        threads_.clear();
    }
    // Waits for all threads; rethrows an exception that one threw.
    void join() {
        threads_.clear();
        if (error_) std::rethrow_exception(error_);
    }

  private:
    UnitQueue& queue_;
    std::mutex mutex_;
    std::exception_ptr error_;
    std::vector<std::jthread> threads_;
};

template <class Key>
SortStats sort_of(MergeSort& gpu, cpu::Workers& workers, std::span<Key> keys, std::span<const std::size_t> ends,
                  Order order, const HybridPlan& plan) {
    const cpu::Stopwatch total;
    const bool whole = ends.empty();
    const auto pieces = whole ? cpu::ends_of_windows(keys.size(), plan.cpu_max) : std::vector<std::size_t>{};
    UnitQueue queue(whole ? std::span<const std::size_t>(pieces) : ends);
    SortStats stats{.n = keys.size(), .engine = Engine::Hybrid};
    const auto scratch = whole ? std::make_unique_for_overwrite<Key[]>(keys.size()) : nullptr;  // before any change

    std::atomic<std::size_t> cpu_keys = 0;
    std::vector<cpu::Run<Key>> runs;
    {
        const KeyForm form{Keys(keys).type(), order, false};
        // Each segment may need a pair of blocks of its own.
        const auto max_units = whole ? pieces.size() : std::max<std::size_t>(plan.gpu_max / form.pair_keys(), 1);
        const auto take = [&] { return queue.take_front(plan.gpu_min, plan.gpu_max, max_units); };
        auto range = take();  // taken before the CPU takes all
        CpuSide cpu(cpu_threads(workers), queue, plan.cpu_max, [&] {
            return [&](const UnitQueue::Range& taken) {
                for (auto unit = taken.first; unit < taken.last; ++unit) {
                    const auto begin = queue.begin_of(unit);
                    cpu::sort_keys(keys.subspan(begin, queue.begin_of(unit + 1) - begin), order);
                }
                cpu_keys += queue.end_of(taken) - queue.begin_of(taken.first);
            };
        });
        for (; !range.empty(); range = take()) {
            const auto begin = queue.begin_of(range.first), size = queue.end_of(range) - begin;
            const auto part = keys.subspan(begin, size);
            Segments segments(form.pair_keys());
            if (whole) {
                segments.add(0, size);
                runs.push_back({part.data(), size, 1});
            }
            for (auto unit = range.first; unit < range.last && !whole; ++unit)
                segments.add(queue.begin_of(unit) - begin, queue.begin_of(unit + 1) - queue.begin_of(unit));
            const auto part_stats = gpu.run(part, {}, order, std::move(segments));
            stats.upload_ms += part_stats.upload_ms;
            stats.readback_ms += part_stats.readback_ms;
            stats.passes += part_stats.passes;
            ++stats.textures;
        }
        cpu.join();
    }
    stats.cpu_keys = cpu_keys;
    stats.sort_ms = total.ms();
    if (whole) {
        const cpu::Stopwatch merging;
        const cpu::KeyLess<Key> less{cpu::TotalOrder<Key>(order)};
        cpu::require_sorted(runs, workers, less);
        const auto by_gpu = keys.size() - stats.cpu_keys;
        // The CPU's many short runs are merged first, so that only few rounds go through all keys.
        const auto rest = keys.subspan(by_gpu), other = std::span(scratch.get(), keys.size());
        std::vector<cpu::Run<Key>> short_runs;
        for (std::size_t begin = 0; begin < rest.size(); begin += plan.cpu_max)
            short_runs.push_back({rest.data() + begin, std::min(plan.cpu_max, rest.size() - begin), 1});
        cpu::merge_in_place(std::move(short_runs), rest, other.subspan(by_gpu), workers, less);
        if (!rest.empty()) runs.push_back({rest.data(), rest.size(), 1});
        cpu::merge_in_place(std::move(runs), keys, other, workers, less);
        stats.merge_ms = merging.ms();
    }
    stats.total_ms = total.ms();
    return stats;
}

}  // namespace

unsigned cpu_threads(const cpu::Workers& workers) {
    const auto threads = workers.threads();
    return threads > 2 ? threads - 2 : threads - 1;
}

UnitQueue::Range UnitQueue::take_front(std::size_t min, std::size_t max, std::size_t max_units) {
    const std::lock_guard lock(mutex_);
    if (front_ == back_) {
        if (long_.empty()) return {front_, front_};
        const auto unit = long_.back();
        long_.pop_back();
        return {unit, unit + 1};
    }
    const auto begin = begin_of(front_), left = ends_[back_ - 1] - begin;
    const auto wanted = begin + std::min(std::max(left / 2, min), max);
    const auto first = ends_.begin() + static_cast<std::ptrdiff_t>(front_);
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(back_ - front_, max_units));
    const auto fit = std::upper_bound(first, last, wanted);
    const Range taken{front_, std::max(front_ + 1, static_cast<std::size_t>(fit - ends_.begin()))};
    front_ = taken.last;
    return taken;
}

UnitQueue::Range UnitQueue::take_back(std::size_t max) {
    const std::lock_guard lock(mutex_);
    auto last = back_;
    while (last > front_ && ends_[last - 1] - begin_of(last - 1) > max) --last;
    if (last == front_) return {front_, front_};
    while (back_ > last) long_.push_back(--back_);
    while (back_ > front_ && ends_[last - 1] - begin_of(back_ - 1) <= max) --back_;
    return {back_, last};
}

void UnitQueue::close() {
    const std::lock_guard lock(mutex_);
    back_ = front_;
    long_.clear();
}

SortStats hybrid_sort(MergeSort& gpu, cpu::Workers& workers, Keys keys, std::span<const std::size_t> ends, Order order,
                      const HybridPlan& plan) {
    return cpu::visit(keys, [&](auto values) { return sort_of(gpu, workers, values, ends, order, plan); });
}

}  // namespace quadmill::detail::sort
