#include "sort/choose.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string_view>

#include "cpu/keys.hpp"
#include "cpu/numbers.hpp"
#include "cpu/workers.hpp"

namespace quadmill::detail::sort {

namespace {

constexpr auto never = SortCrossings::never;
// Window size of the crossovers for windows.
constexpr double common_window = 1024;

// Costs in nanoseconds. Per key: of one CPU thread that sorts, of one thread that merges two runs, and of the GPU with
// its transfers. `gpu_start` is the time until the GPU's first key is back. `besides` is the other work of a thread per
// key. `threads`: max threads that make a sort near its crossover faster; 16 threads sort 2^16 floats no faster than
// one.
struct Costs {
    double sort, merge, gpu, gpu_start = 0.45e6, besides = 0, threads = 1;
};

// Measured on an H100 and an H200 by `quadmill tune` and `bench sort` (2026-11-26): costs for 2^22 keys; for batches,
// costs for quantiles of 2^24 values and more. The CPU is a Xeon of 2.8 GHz with AVX-512 (vqsort). The GPU merges with
// subgroups.
Costs costs_of(const SortWork& work) {
    const auto bytes = cpu::bytes_of(work.type);
    const bool wide = bytes == 8;
    const bool fast = cpu::number_sort_name() == std::string_view("vqsort");
    if (work.top) return {.sort = work.index ? 15.0 : 9.0, .merge = 0, .gpu = wide ? 0.7 : 0.35, .gpu_start = 0.9e6};
    if (work.window > 0) {
        const double vqsort = wide ? 5.4 : bytes == 4 ? 2.4 : 3.0, sort = fast ? vqsort : 30;
        if (!work.batch) return {.sort = sort, .merge = 0, .gpu = wide ? 1.2 : 0.6};
        return {.sort = sort, .merge = 0, .gpu = wide ? 1.8 : 0.5, .gpu_start = 0.1e6, .besides = wide ? 7.6 : 3.3};
    }
    if (work.index)
        return {.sort = fast ? (wide ? 33.0 : 14.0) : 110,
                .merge = wide ? 3.5 : 2.5,
                .gpu = wide ? 8 : 2.8,
                .gpu_start = wide ? 1.2e6 : 0.6e6,
                .threads = wide ? 1.0 : 7.0};
    const double vqsort = wide ? 17.5 : bytes == 4 ? 5.5 : 5.6;  // measured with 2^17 keys, in halves of 2^16
    return {.sort = fast ? vqsort : 70,
            .merge = 2,
            .gpu = wide ? 3.4 : (bytes == 4 ? 1.1 : 0.8),
            .threads = wide ? 8.0 : (bytes == 4 ? 4.0 : 1.0)};
}
// More threads than this save nothing: 16 threads sort 2^22 floats in 1.5 ns per key, like 8.
constexpr unsigned max_threads = 8;
constexpr double startup_ms = 100;

double threads_of(unsigned threads) {
    return std::min(cpu::threads_or_all(threads), max_threads);
}

// Nanoseconds per key. One thread finds the best keys. Windows need no merging.
double cpu_ns(const SortWork& work, double threads) {
    const auto costs = costs_of(work);
    if (work.top) return costs.sort;
    return (costs.sort + costs.merge * std::ceil(std::log2(threads)) + costs.besides) / threads;
}

double gpu_ns(const SortWork& work, double threads) {
    const auto costs = costs_of(work);
    return std::max(costs.gpu, costs.besides / threads);
}

std::size_t crossing(const SortWork& work, double threads) {
    if (work.window == 0) threads = std::min(threads, costs_of(work).threads);
    const double saved = cpu_ns(work, threads) - gpu_ns(work, threads);
    if (saved <= 0) return never;
    const double n = costs_of(work).gpu_start / saved;
    return n < 0x1p40 ? std::bit_floor(static_cast<std::size_t>(n * std::numbers::sqrt2)) : never;  // to the nearest
}

SortCrossings::ByWidth crossings_of(SortWork work, double threads) {
    const auto of = [&](KeyType type) {
        work.type = type;
        return crossing(work, threads);
    };
    return {.bits16 = of(KeyType::F16), .bits32 = of(KeyType::F32), .bits64 = of(KeyType::F64)};
}

std::size_t of_width(const SortCrossings::ByWidth& all, KeyType type) {
    const auto bytes = cpu::bytes_of(type);
    return bytes == 8 ? all.bits64 : bytes == 4 ? all.bits32 : all.bits16;
}

// The crossover that applies to this work.
std::size_t crossing_for(const SortCrossings& crossings, const SortWork& work) {
    const auto& kind = work.top          ? crossings.top
                       : work.batch      ? crossings.batches
                       : work.window > 0 ? crossings.windows
                       : work.index      ? crossings.with_index
                                         : crossings.keys;
    return of_width(kind, work.type);
}

// Number of keys in common windows that take the same time to sort. The time grows with the logarithm of the window.
std::size_t compared_n(const SortWork& work) {
    if (work.window == 0 || work.top) return work.n;
    const auto window = static_cast<double>(std::max<std::size_t>(std::min(work.window, work.n), 1));
    return static_cast<std::size_t>(static_cast<double>(work.n) * std::log2(window) / std::log2(common_window));
}

// The GPU pads shorter windows to texels and blocks. The CPU sorts them in its registers.
constexpr std::size_t min_window = 16;

}  // namespace

SortCrossings built_in_crossings(const ContextInfo& info, unsigned threads) {
    if (info.software) return {};
    const auto t = threads_of(threads);
    return {.keys = crossings_of({}, t),
            .with_index = crossings_of({.index = true}, t),
            .windows = crossings_of({.window = static_cast<std::size_t>(common_window)}, t),
            .batches = crossings_of({.window = static_cast<std::size_t>(common_window), .batch = true}, t),
            .top = crossings_of({.top = true}, t),
            .hybrid = {}};
}

SortCrossings crossings_for(const ContextInfo& info, const SortOptions& options) {
    return options.crossings ? *options.crossings : built_in_crossings(info, options.threads);
}

Engine choose(const SortCrossings& crossings, const SortWork& work) {
    if (work.window > 0 && work.window < min_window) return Engine::Cpu;
    const bool keys_alone = !work.top && !work.index && work.window == 0;
    if (keys_alone && work.n >= of_width(crossings.hybrid, work.type)) return Engine::Hybrid;
    return compared_n(work) >= crossing_for(crossings, work) ? Engine::Merge : Engine::Cpu;
}

std::string explain(const SortCrossings& crossings, const SortWork& work) {
    const auto from = crossing_for(crossings, work);
    const std::string kind = "for " + std::to_string(8 * cpu::bytes_of(work.type)) + "-bit keys" +
                             (work.top          ? ", the first ones only"
                              : work.batch      ? " in batches of windows"
                              : work.window > 0 ? " in windows"
                              : work.index      ? " with an index"
                                                : "");
    if (work.window > 0 && work.window < min_window)
        return "the CPU sorts windows of fewer than " + std::to_string(min_window) + " keys";
    if (choose(crossings, work) == Engine::Hybrid)
        return kind + ", GPU and CPU threads together are the fastest from " +
               std::to_string(of_width(crossings.hybrid, work.type)) + " on";
    if (from == never) return kind + ", the CPU is faster at every size";
    const std::string counted = work.window > 0 && !work.top
                                    ? " (counted as windows of " + std::to_string(static_cast<int>(common_window)) + ")"
                                    : "";
    return kind + ", the crossover to the GPU is " + std::to_string(from) + "; there are " +
           std::to_string(compared_n(work)) + counted;
}

bool gpu_may_win_with_startup(const SortWork& work, unsigned threads) {
    const double saved = cpu_ns(work, threads_of(threads)) - gpu_ns(work, threads_of(threads));
    return static_cast<double>(work.n) * saved > startup_ms * 1e6;
}

std::string explain_startup(const SortWork& work, unsigned threads) {
    const auto n = static_cast<double>(work.n);
    const double cpu = n * cpu_ns(work, threads_of(threads)), saved = cpu - n * gpu_ns(work, threads_of(threads));
    const auto ms = [](double ns) { return std::to_string(std::lround(std::max(ns, 0.0) * 1e-6)) + " ms"; };
    return "the CPU sorts these " + std::to_string(work.n) + " keys in about " + ms(cpu) + "; a GPU may save " +
           ms(saved) + ", and auto opens a context only to save " + ms(startup_ms * 1e6);
}

}  // namespace quadmill::detail::sort
