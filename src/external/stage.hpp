// Clocks for the stages of the pipeline.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "quadmill/external.hpp"

namespace quadmill::detail::external {

// The times at which a stage worked: at least one of its threads was between begin() and end().
class StageClock {
  public:
    using Clock = std::chrono::steady_clock;
    struct Span {
        Clock::time_point begin, end;
    };
    void begin();
    void end();
    // Those that have ended.
    [[nodiscard]] std::vector<Span> spans() const {
        const std::lock_guard lock(mutex_);
        return spans_;
    }
    [[nodiscard]] double seconds() const {
        const std::lock_guard lock(mutex_);
        return seconds_;
    }

  private:
    mutable std::mutex mutex_;
    std::size_t at_work_ = 0;
    Clock::time_point begun_{};
    std::vector<Span> spans_;  // spans separated by a short gap are joined
    double seconds_ = 0;
};

// Runs the clock for the length of a scope.
class AtWork {
  public:
    explicit AtWork(StageClock& clock) : clock_(clock) { clock_.begin(); }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    ~AtWork() { clock_.end(); }

  private:
    StageClock& clock_;
};

// Parallel stages, and the fraction of each that overlapped with the slowest one.
struct NamedClock {
    const char* name;
    const StageClock* clock;
};
[[nodiscard]] std::vector<ExternalStage> stages_of(const std::vector<NamedClock>& clocks);

}  // namespace quadmill::detail::external
