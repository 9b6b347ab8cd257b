#include "external/gpu_merge.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "cpu/stopwatch.hpp"
#include "gl/device.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::external {
namespace {

constexpr const char* merge_name = "GpuMerge::merge";
constexpr sort::KeyForm form{KeyType::U64, Order::Ascending};

}  // namespace

GpuMerge::GpuMerge(Context context, unsigned threads) : context_(std::move(context)), workers_(threads) {}

RunPlace GpuMerge::Shape::place(std::uint64_t item) const {
    const auto place = item & ((std::uint64_t{1} << place_bits) - 1);
    return {static_cast<std::uint32_t>(place >> run_log2),
            static_cast<std::uint32_t>(place & ((std::uint64_t{1} << run_log2) - 1))};
}

GpuMerge::Shape GpuMerge::shape_of(std::span<const RunBlock> runs) {
    std::size_t longest = form.pair_keys();
    for (const auto& run : runs) longest = std::max(longest, run.count);
    const auto run_log2 = static_cast<unsigned>(std::bit_width(longest - 1));
    const auto places = runs.size() << run_log2;
    const auto max = sort::MergeTextures::max_pairs * form.pair_keys();
    if (longest > max || places > max) {
        throw InvalidArgument(std::string(merge_name) + ": " + std::to_string(runs.size()) + " blocks of up to " +
                              std::to_string(longest) + " keys are more than the " + std::to_string(max) +
                              " keys that the engine holds");
    }
    const auto place_bits = static_cast<unsigned>(std::bit_width(places - 1));
    return {run_log2, place_bits, std::min(56U, 64 - place_bits)};
}

// A block's keys are followed by the largest items, which sort last.
void GpuMerge::take_words(std::span<const RunBlock> runs, const Shape& shape) {
    const auto run_items = std::size_t{1} << shape.run_log2;
    items_.resize(runs.size() * run_items);
    const auto piece = std::min(run_items, std::size_t{1} << 14U);
    workers_.for_each(items_.size() / piece, [&](std::size_t task) {
        const auto first = task * piece;
        const auto& run = runs[first >> shape.run_log2];
        for (auto place = first; place < first + piece; ++place) {
            const auto key = place & (run_items - 1);
            items_[place] = key < run.count ? word_of(run.keys[key], 0, shape.word_bits) << shape.place_bits | place
                                            : std::numeric_limits<std::uint64_t>::max();
        }
    });
}

// Goes through `keys` items in order. Where words are equal, it sorts by all bytes of the keys.
void GpuMerge::scan(std::span<const RunBlock> runs, const Shape& shape, std::size_t keys) {
    const auto key_at = [&](RunPlace place) { return runs[place.run].keys[place.key]; };
    const auto is_last = [&](RunPlace place) {
        return runs[place.run].rest == RunBlock::Rest::More && place.key + 1 == runs[place.run].count;
    };
    order_.clear();
    for (std::size_t i = 0; i < keys;) {
        const auto begin = order_.size();
        const auto word = shape.word(items_[i]);
        for (; i < keys && shape.word(items_[i]) == word; ++i) order_.push_back(shape.place(items_[i]));
        if (order_.back().run != order_[begin].run) {  // until here, these are in the order of runs and indices
            stats_.tied += order_.size() - begin;
            std::stable_sort(
                order_.begin() + static_cast<std::ptrdiff_t>(begin), order_.end(),
                [&](RunPlace a, RunPlace b) { return compare(key_at(a), key_at(b), shape.word_bits / 8) < 0; });
        }
        for (auto at = begin; at < order_.size(); ++at) {
            if (is_last(order_[at])) return order_.resize(at + 1);
        }
    }
}

std::span<const RunPlace> GpuMerge::merge(std::span<const RunBlock> runs) {
    std::size_t keys = 0;
    for (const auto& run : runs) keys += run.count;
    order_.clear();
    if (keys == 0) return order_;
    const auto shape = shape_of(runs);
    order_.reserve(keys);
    const cpu::Stopwatch taking;
    take_words(runs, shape);
    stats_.key_ms += taking.ms();
    const cpu::Stopwatch merging;
    {
        auto& device = *detail::Access::of(context_);
        const gl::Scope scope(device, merge_name);
        if (!engine_) engine_.emplace(device, workers_);
        engine_->merge(items_, std::size_t{1} << shape.run_log2, Order::Ascending);
        scope.check();
    }
    stats_.merge_ms += merging.ms();
    const cpu::Stopwatch scanning;
    scan(runs, shape, keys);
    stats_.scan_ms += scanning.ms();
    ++stats_.merges;
    stats_.keys += keys;
    stats_.given += order_.size();
    return order_;
}

}  // namespace quadmill::detail::external
