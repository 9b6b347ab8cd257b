// Ctrl-C as a request to stop reading.
#pragma once

#include <atomic>

namespace quadmill::cli {

// Holds SIGINT back until release(), for this thread and those that it starts. Where SIGINT is ignored, it stays so.
class Interrupt {
  public:
    Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    ~Interrupt();

    // Waits until there is something to read, or SIGINT comes.
    void wait_for(int descriptor);
    // Whether SIGINT has come. Any thread may ask.
    [[nodiscard]] bool came();
    // As if it had come; from any thread.
    void stop();
    // From here on, a SIGINT does what it did before.
    void release();

  private:
    int signals_ = -1, stop_;
    std::atomic<bool> came_ = false;
};

}  // namespace quadmill::cli
