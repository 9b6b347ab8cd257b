#include "traffic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

Moment moment_of_day(double part) {
    constexpr double lost = 0.594, refilling = 0.667, refill_time = 0.025, tenfold = 9;
    const double load = (1 - std::cos(2 * std::numbers::pi * part)) / 2;
    const double cold = part < lost ? 0 : std::exp(-std::max(part - refilling, 0.0) / refill_time);
    return {.slowdown = static_cast<float>(1 + load), .misses = static_cast<float>(1 + tenfold * cold)};
}

float response_time(std::mt19937_64& random, const Moment& moment) {
    std::lognormal_distribution<float> hit(1.2F, 0.5F), miss(4.0F, 0.8F);
    std::uniform_real_distribution<float> chance(0, 1);
    // Requests that wait for the database may wait forever, so there are more time-outs when there are more cache
    // misses.
    const float timed_out = 0.0005F * moment.misses, cut_off = timed_out + 0.0002F, slow = 0.07F * moment.misses;
    const float kind = chance(random);
    if (kind < timed_out) return std::numeric_limits<float>::infinity();
    if (kind < cut_off) return std::numeric_limits<float>::quiet_NaN();
    return moment.slowdown * (kind < slow ? miss(random) : hit(random));
}
