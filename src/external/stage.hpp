// How long each part of the pipeline was at work, and when.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "quadmill/external.hpp"

namespace quadmill::detail::external {

// The times at which one stage was at work. One thread at a time.
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

// At work while it lives.
class AtWork {
  public:
    explicit AtWork(StageClock& clock) : clock_(clock) { clock_.begin(); }
    AtWork(const AtWork&) = delete;
    AtWork& operator=(const AtWork&) = delete;
    ~AtWork() { clock_.end(); }

  private:
    StageClock& clock_;
};

// Stages that run beside each other, with the share of each that was hidden behind the slowest.
struct NamedClock {
    const char* name;
    const StageClock* clock;
};
[[nodiscard]] std::vector<ExternalStage> stages_of(const std::vector<NamedClock>& clocks);

}  // namespace quadmill::detail::external
