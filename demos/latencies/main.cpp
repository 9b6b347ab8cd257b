// Data like a web server's: response times in milliseconds.
//   latencies make N FILE             writes N response times as raw 32-bit floats
//   latencies report FILE             reads a sorted file and prints its quantiles
//   latencies log N                   writes a day of N response times to standard output as text, one per line
//   latencies plot ANSWERS FILE.svg   plots the output of `quadmill quantiles --json --every`
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "input/standard_files.hpp"
#include "plot.hpp"
#include "traffic.hpp"

namespace {

int fail(const char* what, const char* path) {
    std::fprintf(stderr, "latencies: cannot %s %s\n", what, path);
    return 1;
}

int make(std::uint64_t n, const char* path) {
    std::mt19937_64 random(2005);
    std::vector<float> values(n);
    for (auto& value : values) value = response_time(random);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(n * sizeof(float)));
    file.close();
    return file ? 0 : fail("write", path);
}

int report(const char* path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    std::vector<float> values(file ? static_cast<std::size_t>(file.tellg()) / sizeof(float) : 0);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
    if (!file || values.empty()) return fail("read values from", path);
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

struct LogOptions {
    std::uint64_t n = 0, seed = 2005, lines_per_second = 0;  // 0: as fast as possible
};

int log(const LogOptions& options) {
    constexpr std::uint64_t groups_per_second = 50;  // smooth to the eye, with few system calls
    const auto group = options.lines_per_second / groups_per_second + 1;
    const auto start = std::chrono::steady_clock::now();
    std::mt19937_64 random(options.seed);
    for (std::uint64_t i = 0; i < options.n; ++i) {
        if (options.lines_per_second > 0 && i % group == 0) {
            const std::chrono::duration<double> due(static_cast<double>(i) /
                                                    static_cast<double>(options.lines_per_second));
            if (std::fflush(stdout) != 0) break;
            std::this_thread::sleep_until(start + due);
        }
        const double part = static_cast<double>(i) / static_cast<double>(options.n);
        char line[32];
        auto* end = std::to_chars(line, line + sizeof line, response_time(random, moment_of_day(part))).ptr;
        *end++ = '\n';
        std::fwrite(line, 1, static_cast<std::size_t>(end - line), stdout);
    }
    return 0;  // main checks whether everything was written
}

int plot(const char* answers, const char* path) {
    std::ifstream input(answers);
    if (!input) return fail("read", answers);
    try {
        const auto svg = plot_answers(input);
        std::ofstream file(path, std::ios::binary);
        file << svg;
        file.close();
        return file ? 0 : fail("write", path);
    } catch (const std::runtime_error& error) {
        std::fprintf(stderr, "latencies: %s: %s\n", answers, error.what());
        return 1;
    }
}

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

std::optional<LogOptions> log_options(std::span<char*> words) {
    if (words.size() % 2 == 0) return {};
    LogOptions options;
    const auto n = number(words[0]);
    if (!n) return {};
    options.n = *n;
    for (std::size_t i = 1; i < words.size(); i += 2) {
        const std::string_view name = words[i];
        const auto value = number(words[i + 1]);
        if (!value) return {};
        if (name == "--seed") {
            options.seed = *value;
        } else if (name == "--lines-per-second" && *value > 0) {
            options.lines_per_second = *value;
        } else {
            return {};
        }
    }
    return options;
}

int usage() {
    std::fputs(
        "usage: latencies make N FILE\n"
        "       latencies report FILE\n"
        "       latencies log N [--seed S] [--lines-per-second R]\n"
        "       latencies plot ANSWERS.jsonl FILE.svg\n",
        stderr);
    return 2;
}

int run(std::span<char*> words) {
    const std::string_view verb = words.size() > 1 ? words[1] : "";
    if (verb == "make" && words.size() == 4) {
        if (const auto n = number(words[2])) return make(*n, words[3]);
    }
    if (verb == "report" && words.size() == 3) return report(words[2]);
    if (verb == "log" && words.size() > 2) {
        if (const auto options = log_options(words.subspan(2))) return log(*options);
    }
    if (verb == "plot" && words.size() == 4) return plot(words[2], words[3]);
    return usage();
}

}  // namespace

int main(int argc, char** argv) {
    quadmill::detail::input::open_standard_files();
    try {
        const int status = run({argv, static_cast<std::size_t>(argc)});
        if (status != 0 || quadmill::detail::input::standard_output_is_written()) return status;
    } catch (const std::exception& error) {  // more values than fit into memory
        std::fprintf(stderr, "latencies: %s\n", error.what());
        return 1;
    }
    return fail("write", "standard output");
}
