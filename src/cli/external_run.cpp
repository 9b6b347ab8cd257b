#include "cli/external_run.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "external/plan.hpp"
#include "gl/egl.hpp"

namespace quadmill::detail::cli {

// A software renderer is slower than sorting on the CPU. The driver of a GPU holds some hundred megabytes of memory
// itself, and enough must be left.
std::optional<Context> external_context(const std::string& verb, Engine engine, RunMerge merge, std::uint64_t memory,
                                        const Devices& devices) {
    constexpr auto enough = std::uint64_t{1} << 30U;
    const bool sorts_on_cpu =
        engine == Engine::Cpu || (engine == Engine::Auto && (memory < enough || !gl::has_hardware()));
    if (sorts_on_cpu && merge == RunMerge::Tree) return {};
    try {
        return Context::headless({.device = devices.one()});
    } catch (const ContextError& error) {
        if (engine != Engine::Auto || merge == RunMerge::Gpu) throw;
        fmt::print(stderr, "quadmill {}: sorting on the CPU: {}\n", verb, error.what());
        return {};
    }
}

std::uint64_t whole_megabytes(std::uint64_t bytes) {
    constexpr std::uint64_t megabyte = std::uint64_t{1} << 20U;
    return (bytes + megabyte - 1) / megabyte;
}

// Memory that the program already holds counts, too.
std::size_t memory_for(const RecordFormat& records, std::uint64_t memory) {
    const auto held = external::resident_bytes(), min = held + min_memory(records);
    if (memory >= min) return memory - held;
    throw CLI::ValidationError(
        "--memory", fmt::format("must be at least {}M for such records; the program itself needs {}M of that",
                                whole_megabytes(min) + 1, whole_megabytes(held)));
}

std::string out_of_memory(std::uint64_t memory) {
    return fmt::format(
        "the system does not give this program the {}M of memory that --memory allows it; give less "
        "--memory, or raise `ulimit -v` or the memory of the container",
        whole_megabytes(memory));
}

double megabytes_a_second(std::uint64_t bytes, double seconds) {
    return seconds > 0 ? static_cast<double>(bytes) / seconds / 1e6 : 0;
}

std::string progress_line(const ExternalProgress& p) {
    const auto rate = megabytes_a_second(p.bytes, p.seconds);
    const auto* phase = p.phase == ExternalProgress::Phase::Runs ? "sorting runs" : "merging";
    if (p.total == 0) return fmt::format("{}: {} MB, {:.0f} MB/s", phase, p.bytes / 1000000, rate);
    const auto share = 100.0 * static_cast<double>(p.bytes) / static_cast<double>(p.total);
    const auto left = rate > 0 ? static_cast<double>(p.total - std::min(p.bytes, p.total)) / 1e6 / rate : 0;
    return fmt::format("{}: {:.0f}%, {:.0f} MB/s, {:.0f} s left in this phase", phase, share, rate, left);
}

}  // namespace quadmill::detail::cli
