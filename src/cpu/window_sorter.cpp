#include "cpu/window_sorter.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "cpu/keys.hpp"
#include "quadmill/error.hpp"

namespace quadmill {

WindowSorter::~WindowSorter() = default;

std::size_t WindowSorter::window(double eps) const {
    return detail::cpu::window_of(eps, 128, 0x1p23);
}

void WindowSorter::begin_sample(Keys /*keys*/, std::size_t /*window*/, std::size_t /*step*/) {
    throw InvalidArgument("WindowSorter::begin_sample: \"" + name() +
                          "\" takes no samples (can_sample() is false); use begin()");
}

void WindowSorter::share(std::size_t count, const std::function<void(std::size_t)>& work) {
    for (std::size_t i = 0; i < count; ++i) work(i);
}

}  // namespace quadmill

namespace quadmill::detail::cpu {

std::size_t window_of(double eps, double factor, double enough) {
    constexpr double min = 0x1p12, min_factor = 16, max = 0x1p24;
    const double window = std::max(std::min(factor / eps, enough), std::min(min_factor / eps, max));
    return std::bit_ceil(static_cast<std::size_t>(std::max(window, min)));
}

void check_in_flight(const char* function, std::size_t batches, std::size_t depth) {
    if (batches < depth) return;
    throw InvalidArgument(std::string(function) + ": " + std::to_string(depth) +
                          " batches are in flight, which is the max; finish() one first");
}

void WindowSample::check(Keys keys, std::size_t window, std::size_t step) {
    if (keys.size() == 0) return;
    if (window < 2 || keys.size() % window != 0 || step < 1 || step >= window) {
        throw InvalidArgument(std::string(begin_name) +
                              ": whole windows are sampled, in steps from 1 to less than a window; not " +
                              std::to_string(keys.size()) + " keys in windows of " + std::to_string(window) +
                              " in steps of " + std::to_string(step));
    }
}

void WindowSample::take() const {
    visit(keys, [&](auto values) {
        auto to = values.begin();
        for (std::size_t begin = 0; begin < values.size(); begin += window) {
            for (std::size_t i = 0; i < window - 1; i += step) *to++ = values[begin + i];
            *to++ = values[begin + window - 1];
        }
    });
}

}  // namespace quadmill::detail::cpu
