// Data as a web server's log has it: response times in milliseconds, as raw 32-bit floats.
//   latencies make N FILE     writes N of them: a log-normal body, a slow tail behind a cache miss, time-outs
//   (infinite)
//                             and requests that were cut off (not a number)
//   latencies report FILE     reads a sorted file and prints its quantiles
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace {

float response_time(std::mt19937_64& random) {
    std::lognormal_distribution<float> hit(1.2F, 0.5F), miss(4.0F, 0.8F);
    std::uniform_real_distribution<float> chance(0, 1);
    const float kind = chance(random);
    if (kind < 0.0005F) return std::numeric_limits<float>::infinity();
    if (kind < 0.0007F) return std::numeric_limits<float>::quiet_NaN();
    return kind < 0.07F ? miss(random) : hit(random);
}

int make(std::size_t n, const char* path) {
    std::mt19937_64 random(2005);
    std::vector<float> values(n);
    for (auto& value : values) value = response_time(random);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(n * sizeof(float)));
    file.close();
    if (file) return 0;
    std::fprintf(stderr, "latencies: cannot write %s\n", path);
    return 1;
}

int report(const char* path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    std::vector<float> values(file ? static_cast<std::size_t>(file.tellg()) / sizeof(float) : 0);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
    if (!file || values.empty()) {
        std::fprintf(stderr, "latencies: cannot read values from %s\n", path);
        return 1;
    }
    const auto numbers = static_cast<std::size_t>(
        std::find_if(values.begin(), values.end(), [](float v) { return std::isnan(v); }) - values.begin());
    std::printf("%zu response times, %zu cut off\n", values.size(), values.size() - numbers);
    for (const double phi : {0.0, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        if (numbers == 0) break;
        const auto rank = static_cast<std::size_t>(std::ceil(phi * static_cast<double>(numbers)));
        std::printf("  %5.1f %% took at most %10.3f ms\n", 100 * phi,
                    static_cast<double>(values[std::max<std::size_t>(rank, 1) - 1]));
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view verb = argc > 1 ? argv[1] : "";
    if (verb == "make" && argc == 4) return make(std::strtoull(argv[2], nullptr, 10), argv[3]);
    if (verb == "report" && argc == 3) return report(argv[2]);
    std::fprintf(stderr, "usage: latencies make N FILE | latencies report FILE\n");
    return 2;
}
