// A web server's response times in milliseconds.
#pragma once

#include <random>

// How the server does at a moment; as it stands, at night with its cache full.
struct Moment {
    float slowdown = 1;  // of all that it does itself
    float misses = 1;    // of its cache, as a multiple of the usual 7 % of all requests
};

// At a part from 0 to 1 of a day from midnight to midnight: busiest at noon; the cache is lost at a quarter past two in
// the afternoon, and fills again from four o'clock on.
[[nodiscard]] Moment moment_of_day(double part);

// A log-normal body, a slow tail behind a cache miss, time-outs (infinite) and requests that were cut off (not a
// number).
[[nodiscard]] float response_time(std::mt19937_64& random, const Moment& moment = {});
