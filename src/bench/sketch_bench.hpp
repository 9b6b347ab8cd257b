// Sketches of every kind with every engine: inserts and queries per second, from textures as in the paper and from
// memory, and the error of estimates.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/limits.hpp"
#include "cpu/sample_keys.hpp"
#include "quadmill/sketch.hpp"

namespace quadmill::detail::bench {

struct SketchCase {
    SketchKind kind;
    std::size_t n;  // number of operations
    double load;    // n / width
    cpu::Distribution distribution;
};

// An engine or, as the rival of all others, the CPU engine with that many threads.
struct SketchContender {
    std::string name;
    SketchEngine engine;
    unsigned threads = 0;
    [[nodiscard]] bool is_rival() const { return engine == SketchEngine::Cpu; }
    [[nodiscard]] bool draws() const { return engine != SketchEngine::Cpu && engine != SketchEngine::Auto; }
};

struct SketchTimes {
    double ms = 0, low_ms = 0, high_ms = 0;
    [[nodiscard]] double per_s(std::size_t n) const { return ms > 0 ? static_cast<double>(n) / ms * 1e3 : 0; }
};

struct SketchResult {
    const SketchContender* contender;
    std::string refusal{};          // why it did not run; empty if it ran
    SketchTimes insert{}, query{};  // with keys in a texture; for the CPU, in memory
    SketchTimes insert_memory{};    // for the GPU, including the upload
    std::optional<double> insert_percent_of_limit{}, query_percent_of_limit{};
    std::size_t bytes = 0;
    std::uint64_t passes = 0;  // drawn in all runs, including untimed ones
    // After all inserts the table equals the CPU's. For a large table 2^16 estimates are compared. The same number of
    // answers of the last query are compared, too.
    bool verified = true;

    [[nodiscard]] bool ran() const { return refusal.empty(); }
};

struct SketchCaseResult {
    SketchCase which;
    std::uint64_t width, counters;
    std::vector<SketchResult> results;
};

// The mean of estimate / true count - 1, in percent, for uniform keys.
struct SketchAccuracy {
    std::string name;
    double load, percent;
    std::optional<double> paper_percent;
};

class SketchBench {
  public:
    SketchBench(std::optional<Context> context, std::string why_no_context, std::vector<SketchContender> contenders,
                int repeat);
    SketchBench(SketchBench&&) noexcept;
    ~SketchBench();
    // Runs the contenders that support the kind, alternately.
    [[nodiscard]] SketchCaseResult run(const SketchCase& which);
    [[nodiscard]] const std::vector<Limit>& limits() const;
    // The accuracy of all kinds.
    [[nodiscard]] static std::vector<SketchAccuracy> accuracy(const std::vector<double>& loads, std::size_t width);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

// Published for a 2080 Ti: millions of operations per second with 2^27 operations and a load of 0.5.
struct PaperRate {
    SketchKind kind;
    double insert_2080ti, query_2080ti;
};
[[nodiscard]] const std::vector<PaperRate>& paper_rates();

}  // namespace quadmill::detail::bench
