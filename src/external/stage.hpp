// Clocks for the stages of the pipeline.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "quadmill/external.hpp"

namespace quadmill::detail::external {

// The times at which a stage worked. Not for several threads.
class StageClock {
  public:
    using Clock = std::chrono::steady_clock;
    struct Span {
        Clock::time_point begin, end;
    };
    void begin() { begun_ = Clock::now(); }
    void end();
    [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
    [[nodiscard]] double seconds() const { return seconds_; }

  private:
    Clock::time_point begun_{};
    std::vector<Span> spans_;  // spans separated by a short gap are joined
    double seconds_ = 0;
};

// One clock for several threads: it runs while any of them works.
class SharedClock {
  public:
    explicit SharedClock(StageClock& clock) : clock_(clock) {}
    void begin() {
        const std::lock_guard lock(mutex_);
        if (at_work_++ == 0) clock_.begin();
    }
    void end() {
        const std::lock_guard lock(mutex_);
        if (--at_work_ == 0) clock_.end();
    }

  private:
    StageClock& clock_;
    std::mutex mutex_;
    std::size_t at_work_ = 0;
};

// Runs the clock for the length of a scope.
template <class Clock>
class AtWork {
  public:
    explicit AtWork(Clock& clock) : clock_(clock) { clock_.begin(); }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    ~AtWork() { clock_.end(); }

  private:
    Clock& clock_;
};

// Parallel stages, and the fraction of each that overlapped with the slowest one.
struct NamedClock {
    const char* name;
    const StageClock* clock;
};
[[nodiscard]] std::vector<ExternalStage> stages_of(const std::vector<NamedClock>& clocks);

}  // namespace quadmill::detail::external
