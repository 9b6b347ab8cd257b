// Tells on a terminal what a program does, once it has taken a second.
#pragma once

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace quadmill::detail::cli {

// For work in long calls that cannot report. A thread of its own prints the name of the phase and the seconds so far.
class PhaseProgress {
  public:
    explicit PhaseProgress(const char* phase) : phase_(phase) {
        if (isatty(STDERR_FILENO) == 1) thread_ = std::jthread([this](const std::stop_token& stop) { print(stop); });
    }
    void is(const char* phase) {
        const std::lock_guard lock(mutex_);
        phase_ = phase;
    }
    void end() { thread_ = {}; }

  private:
    void print(const std::stop_token& stop) {
        using namespace std::chrono_literals;
        std::unique_lock lock(mutex_);
        bool is_shown = false;
        for (int seconds = 1; !wake_.wait_for(lock, stop, 1s, [] { return false; }) && !stop.stop_requested();
             ++seconds) {
            fmt::print(stderr, "\r\x1b[K{}, {} s", phase_, seconds);
            is_shown = true;
        }
        if (is_shown) fmt::print(stderr, "\r\x1b[K");
    }

    std::mutex mutex_;
    std::condition_variable_any wake_;
    const char* phase_;
    std::jthread thread_;  // last: it uses the others
};

}  // namespace quadmill::detail::cli
