// Summaries of streams with different sorters of windows, alternately: the time of each, its parts, and the error of
// its answers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/rivals.hpp"
#include "cpu/sample_keys.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"

namespace quadmill::detail::bench {

enum class Summary { Quantiles, Frequencies, SlidingQuantiles, SlidingFrequencies };

struct StreamCase {
    Summary summary;
    KeyType type;
    cpu::Distribution distribution;
    std::size_t n;
    double eps;
    std::uint64_t sliding;  // length of a sliding window
    std::size_t window;     // values per window that is sorted; 0: the library's choice
    SlidingOptions form{};  // how the sliding window is kept; its eps, window and widths are not used
    [[nodiscard]] bool slides() const {
        return summary == Summary::SlidingQuantiles || summary == Summary::SlidingFrequencies;
    }
};

// A sorter of windows with a name: an engine, or a rival that sorts each window on the calling thread.
struct StreamContender {
    std::string name;
    std::optional<Engine> engine;
    const Rival* rival = nullptr;
    PbsnOptions pbsn{};  // for Engine::Pbsn
    [[nodiscard]] bool is_rival() const { return rival != nullptr; }
    // Whether every summary draws passes. Auto and Hybrid may leave windows to the CPU.
    [[nodiscard]] bool draws() const {
        return engine && (*engine == Engine::Pbsn || *engine == Engine::Merge || *engine == Engine::Bitonic);
    }
};

struct StreamResult {
    const StreamContender* contender;
    std::string refusal{};  // why it did not run; empty if it ran
    std::string engine{};   // the engine that sorted
    double ms = 0, low_ms = 0, high_ms = 0;
    StreamTimes parts{};  // of the median run
    std::size_t summary_bytes = 0, bytes = 0;
    double worst_error = 0;    // divided by what eps permits
    std::uint64_t passes = 0;  // drawn in all runs, including untimed ones
    bool verified = true;      // all answers are within eps, and bounds hold

    [[nodiscard]] bool ran() const { return refusal.empty(); }
    // Sorting, transfers and the summary overlap; the slowest of them is a lower bound of the total.
    [[nodiscard]] double slowest_ms() const;
};

struct StreamCaseResult {
    StreamCase which;
    std::vector<StreamResult> results;
};

class StreamBench {
  public:
    StreamBench(std::optional<Context> context, std::string why_no_context, std::vector<StreamContender> contenders,
                int repeat);
    StreamBench(StreamBench&&) noexcept;
    ~StreamBench();
    // Runs the contenders alternately, from memory to answers. A GPU contender sorts before each run, untimed.
    [[nodiscard]] StreamCaseResult run(const StreamCase& which);

  private:
    WindowSorter& sorter(std::size_t i);

    std::optional<Context> context_;
    std::string why_no_context_;
    std::vector<StreamContender> contenders_;
    int repeat_;
    std::vector<std::unique_ptr<WindowSorter>> sorters_;
};

}  // namespace quadmill::detail::bench
