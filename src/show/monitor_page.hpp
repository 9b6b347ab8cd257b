// A stream's last values as a picture: their quantiles over time, their histogram and the frequent values, each with
// its error. Deterministic: the same model and size give the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "quadmill/stream.hpp"
#include "show/canvas.hpp"
#include "show/png.hpp"

namespace quadmill::detail::show {

// The model. Counts of values include NaNs unless stated otherwise.
struct MonitorModel {
    static constexpr std::array phis{0.01, 0.1, 0.5, 0.9, 0.99};

    // The exact quantile is certainly between `lower` and `upper`, which are infinite if unknown.
    struct Band {
        float lower, value, upper;
    };
    struct Moment {
        std::uint64_t read = 0;
        std::array<Band, phis.size()> bands{};
    };
    enum class State { Running, Paused, Ended };

    State state = State::Running;
    std::uint64_t read = 0, nans = 0;
    std::uint64_t window = 0, held = 0;  // size of the window, and its number of values so far, both without NaNs
    double eps = 0, support = 0;
    std::string sorter;
    std::size_t bytes = 0;                    // of both summaries
    std::optional<double> values_per_s{};     // as measured; not set for pictures that must be reproducible
    std::uint64_t span = 1;                   // length of the time axis in values
    std::vector<Moment> history{};            // oldest first; the last one is the present
    std::vector<Bar<float>> bars{};           // counts without NaNs
    std::vector<Frequent<float>> frequent{};  // most frequent first
};

// Pre: the size is at least 640 x 480.
[[nodiscard]] Canvas draw_monitor(const MonitorModel& model, Size size);

}  // namespace quadmill::detail::show
