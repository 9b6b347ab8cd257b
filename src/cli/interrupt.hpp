// Ctrl-C as a request to stop reading.
#pragma once

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
    // Whether SIGINT has come.
    [[nodiscard]] bool came();
    // From here on, a SIGINT does what it did before.
    void release();

  private:
    int signals_ = -1;
    bool came_ = false;
};

}  // namespace quadmill::cli
