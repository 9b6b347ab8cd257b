// A web server's response times in milliseconds.
#pragma once

#include <random>

// The state of the server at a moment. The default is at night with a full cache.
struct Moment {
    float slowdown = 1;  // factor for all its own work
    float misses = 1;    // cache misses, as a multiple of the usual 7 % of all requests
};

// At a fraction from 0 to 1 of a day from midnight to midnight. Noon is busiest. The cache is lost at 14:15, and fills
// again from 16:00 on.
[[nodiscard]] Moment moment_of_day(double part);

// A log-normal body, a slow tail behind a cache miss, time-outs (infinite) and requests that were cut off (not a
// number).
[[nodiscard]] float response_time(std::mt19937_64& random, const Moment& moment = {});
