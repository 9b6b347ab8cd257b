// Ctrl-C (and SIGTERM, SIGHUP) as a request to stop reading.
#pragma once

#include <atomic>
#include <csignal>

namespace quadmill::detail::input {

// Blocks SIGINT, SIGTERM and SIGHUP until release(), for this thread and those that it starts. Ignored signals stay
// ignored.
class Interrupt {
  public:
    Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    ~Interrupt();

    // Waits for input or a signal, or that number of milliseconds. Returns false if only the time has passed.
    bool wait_for(int descriptor, int milliseconds = -1);
    // Waits until the descriptor takes PIPE_BUF bytes. After a signal it calls release(), since the reader may be gone.
    void wait_for_room(int descriptor);
    // Whether a signal has arrived. Any thread may call it.
    [[nodiscard]] bool came();
    // The exit status of a program stopped by the signal. Pre: a signal came.
    [[nodiscard]] int status() const { return 128 + signal_; }
    // Has the effect of SIGINT. Any thread may call it.
    void stop();
    // From then on signals have their original effect.
    void release();

  private:
    sigset_t held_;
    int signals_ = -1, stop_;
    std::atomic<int> signal_ = 0;  // the signal that arrived
};

}  // namespace quadmill::detail::input
