// The cache model of GPUTeraSort's authors (SIGMOD'06, section 4.4, and their talk, 'GPU Cache Model'), and its
// parameters for a device. Vendors do not publish these; fetches with strides and in windows find them.
#pragma once

#include <cstddef>
#include <vector>

#include "bench/limits.hpp"

namespace quadmill::detail::bench {

// Misses for quads of h rows in a texture of W x H texels, with cache blocks of B x B: 2 W H / (h B).
[[nodiscard]] double cache_misses(double width, double height, double rows, double block);
// Fetches of a bitonic sort of n texels: 2 n f(B). Step k, with quads of 2^(k-1) rows, occurs lg n - k + 1 times, so
// f(B) = (B - 1) (lg n - 1) + (lg n - lg B)^2 / 2. Pre: 1 <= block, 2 <= n.
[[nodiscard]] double cache_fetches(double n, double block);

struct CacheReport {
    static constexpr int min_side = 32;
    // All measurements fetch texels of RGBA32F, 16 bytes each.
    struct Strided {
        int stride;
        double across, down;  // Gfetch/s with that stride in columns, and in rows
    };
    struct Window {
        std::size_t bytes;
        double rate;  // Gfetch/s within that many bytes
    };
    // Steps with quads of that many rows; times per texel, relative to the fastest height.
    struct Step {
        int rows;
        double predicted, measured;
    };
    int side = 0;
    std::vector<Strided> strided;
    std::vector<Window> windows;
    int block_width = 1, block_height = 1;  // inferred: with larger strides, fetches cost no more
    std::size_t cache_bytes = 0;            // inferred: up to this window size, at most a quarter of the rate is lost
    std::vector<Step> steps;
    double sort_predicted = 1,
           sort_measured = 1;  // all steps of a sort, compared with a sort whose steps are all the fastest
};

// Pre: `side` is at least min_side. It is rounded to a power of two.
[[nodiscard]] CacheReport measure_cache(Context& context, const LimitsRequest& request);

}  // namespace quadmill::detail::bench
