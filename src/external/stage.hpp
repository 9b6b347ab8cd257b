// When, and how long, each part of the pipeline worked.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "quadmill/external.hpp"

namespace quadmill::detail::external {

// The times at which one stage worked. One thread at a time.
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
    std::vector<Span> spans_;  // those a short while apart are one
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

// The clock runs while this lives.
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

// Parallel stages, with the share of each that overlapped with the slowest.
struct NamedClock {
    const char* name;
    const StageClock* clock;
};
[[nodiscard]] std::vector<ExternalStage> stages_of(const std::vector<NamedClock>& clocks);

}  // namespace quadmill::detail::external
