// An invented stream, which is the same for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace demo {

// Similar to response times: a log-normal body that varies slowly, a slow tail that is heavy at times, and answers with
// fixed times, whose number varies.
class Drift {
  public:
    // Everything repeats after that many values.
    Drift(std::uint64_t seed, std::uint64_t cycle) : random_(seed), cycle_(static_cast<double>(cycle)) {}
    void make(std::span<float> values);

  private:
    void move_on();

    std::mt19937_64 random_;
    std::normal_distribution<float> normal_;
    double cycle_;
    std::uint64_t made_ = 0;
    float median_ = 0, slow_ = 0;  // current values; `slow_`: fraction of the tail
    std::discrete_distribution<int> kind_;
};

}  // namespace demo
