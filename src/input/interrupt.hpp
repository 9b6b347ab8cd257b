// Ctrl-C (and SIGTERM, SIGHUP) as a request to stop reading.
#pragma once

#include <atomic>
#include <csignal>

namespace quadmill::detail::input {

// Holds SIGINT, SIGTERM and SIGHUP back until release(), for this thread and those that it starts. One that is ignored
// stays so.
class Interrupt {
  public:
    Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    ~Interrupt();

    // Waits for input or a signal.
    void wait_for(int descriptor);
    // Waits until the descriptor takes PIPE_BUF bytes. After a signal it calls release(), since the reader may be gone.
    void wait_for_room(int descriptor);
    // Whether a signal has come. Any thread may ask.
    [[nodiscard]] bool came();
    // The exit status of a program stopped by the signal. Pre: a signal came.
    [[nodiscard]] int status() const { return 128 + signal_; }
    // Acts as SIGINT; from any thread.
    void stop();
    // From here on signals have their old effect.
    void release();

  private:
    sigset_t held_;
    int signals_ = -1, stop_;
    std::atomic<int> signal_ = 0;  // that came
};

}  // namespace quadmill::detail::input
