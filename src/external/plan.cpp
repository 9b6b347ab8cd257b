#include "external/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "external/parts.hpp"
#include "external/wide_sort.hpp"

namespace quadmill::detail::external {

namespace {

constexpr std::size_t min_block = std::size_t{64} << 10, max_block = std::size_t{1} << 20;
constexpr std::size_t min_run = std::size_t{64} << 10, min_records = 16;  // of a run, in bytes
constexpr std::size_t pipeline_slots = 3;
// With this many runs all stages are busy, except for a small part of the time.
constexpr std::size_t enough_runs = 24, long_enough_run = std::size_t{16} << 20;

std::size_t block_for(std::size_t memory) {
    return std::clamp<std::size_t>(files::page_down(memory / 128), min_block, max_block);
}

SlotSize size_for(const Format& format, std::uint64_t bytes, const RunNeeds& needs) {
    const auto unit = format.fixed() ? format.fixed()->record_bytes() : std::max<std::size_t>(needs.mean_line, 1);
    const auto max = std::numeric_limits<std::uint32_t>::max() - std::size_t{1};
    const auto records = std::min<std::size_t>(max, bytes / unit);
    if (format.fixed()) return {records * unit, records};
    return {static_cast<std::size_t>(bytes), records + 1};
}

std::size_t memory_for(const Format& format, SlotSize size, std::size_t slots, std::size_t block,
                       const RunNeeds& needs) {
    const auto sorters = std::min(slots, needs.sorters);
    return slots * size.memory(format) + BlockWriter::blocks * block +
           sorters * (WideSorter::memory(size.records) + size.records * needs.engine_bytes);
}

std::size_t min_run_bytes(const Format& format) {
    return std::max(min_run, format.fixed() ? min_records * format.fixed()->record_bytes() : 0);
}

std::size_t merge_memory(const MergePlan& plan) {
    return plan.fan_in * 2 * (plan.margin + plan.block) + BlockWriter::blocks * plan.write_block;
}

}  // namespace

std::optional<RunPlan> plan_runs(const Format& format, std::size_t memory, const RunNeeds& needs) {
    RunPlan plan{.slots = 1, .size = {}, .block = block_for(memory)};
    const auto max_run = needs.run_bytes > 0 ? needs.run_bytes : std::numeric_limits<std::size_t>::max();
    if (needs.input_bytes && *needs.input_bytes < memory && *needs.input_bytes <= max_run) {
        plan.size = size_for(format, *needs.input_bytes + 1, needs);  // the last line may get an end
        if (memory_for(format, plan.size, plan.slots, plan.block, needs) <= memory) return plan;
    }
    plan.slots = pipeline_slots - 1 + needs.sorters;
    const auto takes = [&](std::uint64_t bytes) {
        return memory_for(format, size_for(format, bytes, needs), plan.slots, plan.block, needs);
    };
    std::uint64_t low = min_run_bytes(format), high = memory;
    if (takes(low) > memory) return {};
    while (low + 1 < high) {
        const auto middle = low + (high - low) / 2;
        (takes(middle) <= memory ? low : high) = middle;
    }
    const auto line = format.fixed() ? 0 : longest_line(memory) + 1;
    if (needs.input_bytes)
        low = std::min(low, std::max<std::uint64_t>({*needs.input_bytes / enough_runs, long_enough_run, line}));
    low = std::min<std::uint64_t>(low, std::max(max_run, min_run_bytes(format)));
    plan.size = size_for(format, low, needs);
    return plan;
}

std::optional<MergePlan> plan_merge(std::size_t memory, std::size_t runs, std::size_t longest_record) {
    MergePlan plan;
    plan.margin = files::page_up(longest_record);
    plan.write_block = std::max(block_for(memory), min_block);
    const auto left = memory - std::min(memory, BlockWriter::blocks * plan.write_block);
    // Blocks that are large enough to be worth their transfer, unless that would cost another pass.
    const auto min = std::max<std::size_t>(plan.margin, block_for(memory / 8));
    plan.fan_in = std::min(runs, left / (2 * (plan.margin + min)));
    if (plan.fan_in < 2) return {};
    constexpr std::size_t max = std::size_t{4} << 20;
    const auto share = left / (2 * plan.fan_in) - plan.margin;
    plan.block = std::max<std::size_t>(files::page_down(std::min(share, max)), files::page);
    return plan;
}

std::optional<RangePlan> plan_ranges(std::size_t memory, const RangeNeeds& needs) {
    constexpr std::size_t usual = std::size_t{4} << 20U, of_run = std::size_t{32} << 10U,
                          of_thread = std::size_t{128} << 10U;
    const auto margin = files::page_up(needs.longest_record);
    const auto pages = 2 * needs.runs * files::page;
    // A reader needs memory for two blocks of each run, and for the bytes between two samples.
    const auto least_reader = std::max<std::uint64_t>(needs.runs * 2 * (margin + of_run / 2),
                                                      files::page_up(needs.longest_gap) + 2 * files::page);
    const auto least = needs.runs * of_run;
    const auto most = std::max(usual, least);
    for (auto threads = needs.threads; threads >= 2; --threads) {
        // A range, the records before and after that a reader takes with it, and pages that are not read completely.
        const auto share = [&](std::size_t range) { return std::max(range + range / 4 + pages, least_reader); };
        const auto takes = [&](std::size_t range) {
            return threads * (share(range) + of_thread) + Parts::memories(threads) * files::page_up(range);
        };
        auto range = std::clamp<std::uint64_t>(needs.bytes / (4 * threads), least, most);
        while (range > least && takes(range) > memory) range = std::max(least, range - range / 8);
        if (takes(range) > memory) continue;
        if (needs.bytes / range < 2) return {};
        return RangePlan{.threads = threads,
                         .margin = margin,
                         .range = static_cast<std::size_t>(range),
                         .reader = files::page_up(share(range))};
    }
    return {};
}

std::size_t index_memory(std::size_t memory) {
    return memory / 64;
}

std::size_t min_memory(const Format& format) {
    const auto record = format.fixed() ? format.fixed()->record_bytes() : min_block;
    const auto runs =
        memory_for(format, size_for(format, min_run_bytes(format), {.mean_line = 8}), pipeline_slots, min_block, {});
    const MergePlan merge{.fan_in = 8,
                          .margin = files::page_up(record),
                          .block = std::max<std::size_t>(min_block, files::page_up(record)),
                          .write_block = min_block};
    return reserve + std::max(runs, merge_memory(merge));
}

std::size_t longest_line(std::size_t memory) {
    return memory / 16;
}

std::size_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::size_t pages = 0, resident = 0;
    statm >> pages >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t peak_resident_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::size_t kilobytes = 0;
        if (word == "VmHWM:" && status >> kilobytes) return kilobytes << 10U;
    }
    return 0;
}

}  // namespace quadmill::detail::external
