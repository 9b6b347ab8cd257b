#include "cli/external_run.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <new>
#include <system_error>

#include "cli/stream_run.hpp"
#include "external/plan.hpp"
#include "gl/egl.hpp"
#include "quadmill/error.hpp"

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

void with_output(const std::string& output, std::uint64_t memory, const std::function<int()>& stopped,
                 const std::function<void(files::OutputFile* out)>& work) try {
    std::optional<files::OutputFile> out;
    if (!output.empty()) out.emplace(output, files::OutputFile::OnSignal::LeaveAlone).must_be_open();
    work(out ? &*out : nullptr);
    if (out) out->commit();
} catch (const SortStopped&) {
    throw CLI::RuntimeError(stopped());
} catch (const std::bad_alloc&) {
    throw Error(out_of_memory(memory));
} catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;  // else no room for a stack
    throw Error(out_of_memory(memory));
}

std::uint64_t whole_megabytes(std::uint64_t bytes) {
    constexpr std::uint64_t megabyte = std::uint64_t{1} << 20U;
    return (bytes + megabyte - 1) / megabyte;
}

// Memory that the program already holds counts, too. It differs by a megabyte from run to run.
std::size_t memory_for(const RecordFormat& records, std::uint64_t memory,
                       const std::function<std::uint64_t(std::uint64_t)>& buffers_of) {
    const auto resident = external::resident_bytes();
    const auto held_with = [&](std::uint64_t bytes) { return resident + buffers_of(bytes); };
    if (memory >= held_with(memory) + min_memory(records)) return memory - held_with(memory);
    auto min = memory;
    for (auto more = held_with(min) + min_memory(records); more > min; more = held_with(min) + min_memory(records))
        min = more;
    throw CLI::ValidationError("--memory",
                               fmt::format("must be at least {}M for this sort; the program itself needs {}M of that",
                                           whole_megabytes(min) + 2, whole_megabytes(held_with(min))));
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

Proceed show_and_proceed(Progress& progress, const ExternalProgress& p, bool is_interrupted) {
    if (is_interrupted) return Proceed::Stop;
    progress.show_line(progress_line(p));
    return Proceed::GoOn;
}

}  // namespace quadmill::detail::cli
