// The GPU and CPU threads sort parts of the keys at the same time, taken from one queue. The CPU merges the sorted
// parts. This is not in the papers, where the CPU does other work in the meantime.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "cpu/workers.hpp"
#include "quadmill/sort.hpp"
#include "sort/merge/merge_sort.hpp"

namespace quadmill::detail::sort {

// Units of work; each is a range of keys that is sorted separately: a segment, or a piece of one sort. The GPU takes
// large parts from the front, which become smaller towards the end. CPU threads take small parts from the back.
class UnitQueue {
  public:
    // `ends` has the end of each unit, in keys.
    explicit UnitQueue(std::span<const std::size_t> ends) : ends_(ends), back_(ends.size()) {}

    struct Range {
        std::size_t first, last;  // units [first, last); empty if none are left
        [[nodiscard]] bool empty() const { return first == last; }
    };
    // Takes half of the rest, but at least `min` and at most `max` keys (or one unit), and at most `max_units`
    // units.
    [[nodiscard]] Range take_front(std::size_t min, std::size_t max, std::size_t max_units);
    // Takes units with at most `max` keys in all. Longer units are left for the front.
    [[nodiscard]] Range take_back(std::size_t max);
    // Gives out no further units.
    void close();

    [[nodiscard]] std::size_t begin_of(std::size_t unit) const { return unit == 0 ? 0 : ends_[unit - 1]; }
    [[nodiscard]] std::size_t end_of(const Range& range) const { return ends_[range.last - 1]; }

  private:
    std::mutex mutex_;
    std::span<const std::size_t> ends_;
    std::size_t front_ = 0, back_;
    std::vector<std::size_t> long_;  // units that take_back() passed over
};

// CPU threads that sort while others move keys for the GPU; may be 0.
[[nodiscard]] unsigned cpu_threads(const cpu::Workers& workers);

// Sizes of the parts for each side, in keys. The GPU needs large parts to be fast. A CPU thread gets a part that it
// sorts in a few milliseconds, so that all threads end together.
struct HybridPlan {
    std::size_t gpu_min = std::size_t{1} << 20, gpu_max = std::size_t{1} << 26, cpu_max = std::size_t{1} << 17;
};

// Sorts all keys if `ends` is empty, otherwise each of these segments, which must fit into a texture. Pre: a session is
// open.
SortStats hybrid_sort(MergeSort& gpu, cpu::Workers& workers, Keys keys, std::span<const std::size_t> ends, Order order,
                      const HybridPlan& plan = {});

}  // namespace quadmill::detail::sort
