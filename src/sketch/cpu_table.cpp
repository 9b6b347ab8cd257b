#include "sketch/cpu_table.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "cpu/rank.hpp"

namespace quadmill::detail::sketch {

namespace {

constexpr std::size_t task_keys = std::size_t{1} << 15, block_keys = 64;

// Shared: several threads add to the same counters.
enum class Sharing { Alone, Shared };

// Stops at 0: a counter loses at most what was inserted.
template <class Counter>
Counter without(Counter counter, std::uint64_t weight) {
    return static_cast<Counter>(cpu::saturating_sub(counter, weight));
}

template <class Counter>
void add_to(std::vector<Counter>& counters, std::size_t cell, std::uint64_t weight, Sign sign, Sharing sharing) {
    auto& counter = counters[cell];
    if (sharing == Sharing::Alone) {
        counter = sign == Sign::Plus ? static_cast<Counter>(counter + weight) : without(counter, weight);
        return;
    }
    const std::atomic_ref shared(counter);
    if (sign == Sign::Plus) {
        shared.fetch_add(static_cast<Counter>(weight), std::memory_order_relaxed);
        return;
    }
    auto seen = shared.load(std::memory_order_relaxed);
    while (!shared.compare_exchange_weak(seen, without(seen, weight), std::memory_order_relaxed)) {
    }
}
void add_to(MultiLevel& counters, std::size_t cell, std::uint64_t weight, Sign sign, Sharing /*alone*/) {
    counters.add(cell, weight, sign);
}

template <class Counter>
std::uint64_t get_from(const std::vector<Counter>& counters, std::size_t cell) {
    return counters[cell];
}
std::uint64_t get_from(const MultiLevel& counters, std::size_t cell) {
    return counters.get(cell);
}

template <class Counter>
void prefetch(const std::vector<Counter>& counters, std::size_t cell) {
    __builtin_prefetch(counters.data() + cell, 1);
}
void prefetch(const MultiLevel& counters, std::size_t cell) {
    __builtin_prefetch(counters.low().data() + cell / MultiLevel::bucket, 1);
}

// Finds the cells of a block of keys before any is changed, so that their memory is prefetched.
class Cells {
  public:
    explicit Cells(const Shape& shape) : shape_(shape), depth_(static_cast<std::size_t>(shape.depth())) {}
    template <class Counters>
    void find(const Batch& batch, std::size_t first, std::size_t count, const Counters& counters) {
        const auto keys = std::span(keys_).first(count);
        batch.get(first, keys);
        for (std::size_t i = 0; i < count; ++i) {
            shape_.find(keys[i], std::span(cells_).subspan(i * depth_, depth_));
            for (const auto cell : of(i)) prefetch(counters, cell);
        }
    }
    [[nodiscard]] const Key& key(std::size_t i) const { return keys_.at(i); }
    [[nodiscard]] std::span<const std::size_t> of(std::size_t i) const {
        return std::span(cells_).subspan(i * depth_, depth_);
    }

  private:
    const Shape& shape_;
    std::size_t depth_;
    std::array<Key, block_keys> keys_{};
    std::array<std::size_t, block_keys * max_depth> cells_{};
};

// Calls work(first, count) for blocks of all keys.
template <class Work>
void for_blocks(std::size_t begin, std::size_t end, const Work& work) {
    for (auto first = begin; first < end; first += block_keys) work(first, std::min(block_keys, end - first));
}

// Calls change(cell, weight) for the cells of keys [begin, end).
template <class Counters, class Change>
void for_cells(const Shape& shape, const Batch& batch, std::size_t begin, std::size_t end, const Counters& counters,
               const Change& change) {
    Cells cells(shape);
    for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
        cells.find(batch, first, count, counters);
        for (std::size_t i = 0; i < count; ++i) {
            // Equal keys in a row are added once: threads would otherwise wait for each other's additions.
            auto weight = std::uint64_t{batch.weight(first + i)};
            while (i + 1 < count && cells.key(i + 1) == cells.key(i)) weight += batch.weight(first + ++i);
            for (const auto cell : cells.of(i)) change(cell, weight);
        }
    });
}

// If there is no memory for high counters, the added weights are subtracted again, which needs no memory.
void add_all_or_none(MultiLevel& levels, const Shape& shape, const Batch& batch, Sign sign) {
    std::size_t added = 0;
    try {
        for_cells(shape, batch, 0, batch.size, levels, [&](std::size_t cell, std::uint64_t weight) {
            levels.add(cell, weight, sign);
            ++added;
        });
    } catch (...) {
        const auto opposite = sign == Sign::Plus ? Sign::Minus : Sign::Plus;
        for_cells(shape, batch, 0, batch.size, levels, [&](std::size_t cell, std::uint64_t weight) {
            if (added == 0) return;
            levels.add(cell, weight, opposite);
            --added;
        });
        throw;
    }
}

template <class Work>
void for_tasks(std::size_t size, cpu::Workers& workers, const Work& work) {
    const auto tasks = (size + task_keys - 1) / task_keys;
    const auto one = [&](std::size_t task) { work(task * task_keys, std::min((task + 1) * task_keys, size)); };
    if (tasks == 1) return one(0);
    workers.for_each(tasks, one);
}

}  // namespace

std::uint64_t MultiLevel::get(std::size_t cell) const {
    const auto& low = low_[cell / bucket];
    const auto slot = cell % bucket;
    return low.counters.at(slot) + (low.index == 0 ? 0 : high_[low.index - first_index].at(slot));
}

void MultiLevel::add(std::size_t cell, std::uint64_t weight, Sign sign) {
    if (sign == Sign::Minus) weight = std::min(weight, get(cell));
    auto& low = low_[cell / bucket];
    const auto slot = cell % bucket;
    auto& counter = low.counters.at(slot);
    if (low.index == 0) {
        if (sign == Sign::Minus || weight <= std::uint64_t{limit} - counter) {
            counter = static_cast<std::uint8_t>(sign == Sign::Plus ? counter + weight : counter - weight);
            return;
        }
        high_.emplace_back();
        low.index = static_cast<std::uint32_t>(high_.size() - 1) + first_index;
    }
    high_[low.index - first_index].at(slot) += sign == Sign::Plus ? weight : 0 - weight;  // modulo 2^64
}

CpuTable::CpuTable(const Shape& shape) : shape_(&shape) {
    if (shape.kind() == SketchKind::Msws) {
        counters_ = MultiLevel(shape.columns());
    } else {
        counters_ = std::vector<std::uint32_t>(shape.cells());
    }
}

void CpuTable::reserve(std::uint64_t n) {
    const auto* narrow = std::get_if<std::vector<std::uint32_t>>(&counters_);
    if (!narrow || n <= max_32) return;
    std::vector<std::uint64_t> wide(narrow->begin(), narrow->end());
    counters_ = std::move(wide);
}

void CpuTable::add(const Batch& batch, Sign sign, std::uint64_t n, cpu::Workers& workers) {
    reserve(n);
    if (auto* levels = std::get_if<MultiLevel>(&counters_)) return add_all_or_none(*levels, *shape_, batch, sign);
    std::visit(
        [&](auto& counters) {
            const auto sharing = workers.threads() > 1 && batch.size > task_keys ? Sharing::Shared : Sharing::Alone;
            for_tasks(batch.size, workers, [&](std::size_t begin, std::size_t end) {
                for_cells(*shape_, batch, begin, end, counters, [&](std::size_t cell, std::uint64_t weight) {
                    add_to(counters, cell, weight, sign, sharing);
                });
            });
        },
        counters_);
}

void CpuTable::query(const Batch& batch, std::span<SketchCount> counts, cpu::Workers& workers) const {
    const auto fat = static_cast<std::size_t>(shape_->fat());
    std::visit(
        [&](const auto& counters) {
            const auto estimate = [&](std::span<const std::size_t> cells) {
                auto min = std::numeric_limits<std::uint64_t>::max();
                for (const auto cell : cells) {
                    auto max = get_from(counters, cell);
                    const auto first = cell - cell % fat;
                    for (auto other = first; fat > 1 && other < first + fat; ++other)
                        max = std::max(max, get_from(counters, other));
                    min = std::min(min, max);
                }
                return min;
            };
            for_tasks(batch.size, workers, [&](std::size_t begin, std::size_t end) {
                Cells cells(*shape_);
                for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
                    cells.find(batch, first, count, counters);
                    for (std::size_t i = 0; i < count; ++i) counts[first + i].estimate = estimate(cells.of(i));
                });
            });
        },
        counters_);
}

template <class Counter>
void CpuTable::add_all(std::size_t first, std::span<const Counter> counters, Sign sign) {
    std::visit(
        [&](auto& own) {
            for (std::size_t i = 0; i < counters.size(); ++i) {
                if (counters[i] != 0) add_to(own, first + i, counters[i], sign, Sharing::Alone);
            }
        },
        counters_);
}

void CpuTable::add_cells(std::size_t first, std::span<const std::uint32_t> counters, Sign sign) {
    add_all(first, counters, sign);
}

void CpuTable::add_cells(std::size_t first, std::span<const std::uint64_t> counters) {
    add_all(first, counters, Sign::Plus);
}

void CpuTable::merge(const CpuTable& other, std::uint64_t n, cpu::Workers& workers) {
    reserve(n);
    const auto add_range = [&](std::size_t begin, std::size_t end) {
        std::array<std::uint64_t, 256> some{};
        for (auto first = begin; first < end; first += some.size()) {
            const auto part = std::span(some).first(std::min(some.size(), end - first));
            for (std::size_t i = 0; i < part.size(); ++i) part[i] = other.get(first + i);
            add_cells(first, part);
        }
    };
    if (shape_->kind() == SketchKind::Msws) return add_range(0, shape_->cells());
    for_tasks(shape_->cells(), workers, add_range);
}

std::uint64_t CpuTable::get(std::size_t cell) const {
    return std::visit([&](const auto& counters) { return get_from(counters, cell); }, counters_);
}

std::uint64_t CpuTable::sum() const {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < shape_->cells(); ++i) all += get(i);
    return all;
}

std::uint64_t CpuTable::seen(std::size_t cell) const {
    const auto fat = static_cast<std::size_t>(shape_->fat());
    std::uint64_t max = 0;
    for (std::size_t i = 0; i < fat; ++i) max = std::max(max, get(cell * fat + i));
    return max;
}

void CpuTable::copy_seen(std::size_t first, std::span<std::uint32_t> to) const {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::uint32_t>(seen(first + i));
}

std::size_t CpuTable::bytes() const {
    struct Bytes {
        std::size_t operator()(const std::vector<std::uint32_t>& all) const { return all.size() * 4; }
        std::size_t operator()(const std::vector<std::uint64_t>& all) const { return all.size() * 8; }
        std::size_t operator()(const MultiLevel& all) const { return all.bytes(); }
    };
    return std::visit(Bytes(), counters_);
}

}  // namespace quadmill::detail::sketch
