// Highway's library measures the resolution of its timer when it is loaded, which takes 5 ms. Only its benchmarks need
// it. This function takes the place of the library's, if there is one, in the command alone.
#include <cstdint>

namespace hwy::platform {

__attribute__((weak, visibility("default"))) std::uint64_t TimerResolution();
std::uint64_t TimerResolution() {
    return 1;
}

}  // namespace hwy::platform
