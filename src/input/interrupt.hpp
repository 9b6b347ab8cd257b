// Ctrl-C and its like as a request to stop reading.
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

    // Waits until there is something to read, or a signal comes.
    void wait_for(int descriptor);
    // Waits until the descriptor takes PIPE_BUF bytes. When a signal comes first, release(): nobody may ever read them.
    void wait_for_room(int descriptor);
    // Whether a signal has come. Any thread may ask.
    [[nodiscard]] bool came();
    // What a program that has been stopped so answers to the shell. Pre: a signal came.
    [[nodiscard]] int status() const { return 128 + signal_; }
    // As if SIGINT had come; from any thread.
    void stop();
    // From here on, a signal does what it did before.
    void release();

  private:
    sigset_t held_;
    int signals_ = -1, stop_;
    std::atomic<int> signal_ = 0;  // that came
};

}  // namespace quadmill::detail::input
