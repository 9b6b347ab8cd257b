// A stream that is made up: the same for the same seed.
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace demo {

// Response times, say: a log-normal body that swings slowly, a slow tail that is heavy at times, and answers that
// always take as long, more or less often.
class Drift {
  public:
    // All comes round again after that many values.
    Drift(std::uint64_t seed, std::uint64_t cycle) : random_(seed), cycle_(static_cast<double>(cycle)) {}
    void make(std::span<float> values);

  private:
    void move_on();

    std::mt19937_64 random_;
    std::normal_distribution<float> normal_;
    double cycle_;
    std::uint64_t made_ = 0;
    float median_ = 0, slow_ = 0;  // as it is now; `slow_`: the part of the tail
    std::discrete_distribution<int> kind_;
};

}  // namespace demo
