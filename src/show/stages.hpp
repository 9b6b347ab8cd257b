// The state of a sort after each of its steps. The real engine runs, and a PassObserver reads the texture back, so
// going back to a step is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cpu/sample_keys.hpp"
#include "quadmill/context.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::show {

// The engines that can be watched, each in one form.
enum class Watched { Pbsn, BitonicSingle, BitonicFour, Merge };
inline constexpr std::size_t watched_engines = 4;
[[nodiscard]] const char* name_of(Watched engine);

struct Request {
    Watched engine = Watched::Pbsn;
    std::size_t n = 4096;  // a power of two
    cpu::Distribution distribution = cpu::Distribution::Uniform;
    EarlyStop early_stop = EarlyStop::No;
    KeyType type = KeyType::F32;  // or F16
    std::uint64_t seed = 1;
    static constexpr std::size_t min_keys = 16, max_keys = std::size_t{1} << 16U;  // about 200 steps are kept
    bool operator==(const Request&) const = default;
};

enum class Keep { None, Min, Max };

// The position of a key: 4 times the index of its texel, counted row after row from the first one in memory, plus the
// channel.
using Place = std::uint32_t;

// Afterwards the smaller key is in `low` and the larger one in `high`.
struct Comparator {
    Place low, high;
};

struct Step {
    int stage = 0, step = 0;  // in the engine's network, from 1; 0 if there is none
    std::vector<float> keys;  // by position; padding is infinity
    struct Drawn {
        PassQuad quad;
        Keep keep;
    };
    std::vector<Drawn> quads;
    std::vector<Comparator> comparators;  // in order; none for the merge engine
    std::uint64_t comparisons = 0;        // so far
    std::uint64_t passes = 0;             // so far, all kinds
    std::uint64_t out_of_order = 0;       // keys larger than the next one, by an occlusion query
    std::map<std::string, double> ms;     // by name of pass: from issue until the GPU is done
};

// All steps of a sort. The first one is the input.
struct Stages {
    Request request;
    std::string format;                     // of the texture
    int width = 0, height = 0, layers = 1;  // of the texture; layers are next to each other here
    std::size_t arrays = 1;                 // that are sorted together
    std::vector<Place> order;               // positions of each array's elements, one array after the other
    std::vector<float> sorted;              // all keys, for the colours
    std::vector<Step> steps;
    std::uint64_t passes = 0;
    std::uint64_t expected_steps = 0;  // by formula, without the input
    int stages = 0;                    // by formula
    int stages_run = 0;                // fewer after an early stop

    [[nodiscard]] std::size_t texels() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    }
    [[nodiscard]] std::size_t array_size() const { return order.size() / arrays; }
    // From 0 for the smallest key to 1 for the largest. Padding is above 1.
    [[nodiscard]] float rank(float key) const;
};

// Throws InvalidArgument for a request out of range, and everything that the Sorter throws.
[[nodiscard]] Stages watch(Context& context, const Request& request);

}  // namespace quadmill::detail::show
