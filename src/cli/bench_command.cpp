#include <fmt/chrono.h>
#include <fmt/core.h>

#include <charconv>
#include <ctime>
#include <fstream>
#include <thread>

#include "cli/bench_report.hpp"
#include "cli/commands.hpp"
#include "quadmill/version.hpp"

namespace quadmill::cli {

namespace {

constexpr std::size_t most_keys = std::size_t{1} << 32;

}  // namespace

CLI::Validator count_of_keys() {
    const auto number = [](std::string_view text, std::size_t& value) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() && end == text.data() + text.size();
    };
    const auto convert = [number](std::string& text) -> std::string {
        std::size_t value = 0, power = 0;
        if (text.starts_with("2^") && number(std::string_view(text).substr(2), power) && power <= 32) {
            value = std::size_t{1} << power;
        } else if (!number(text, value)) {
            return "'" + text + "' is no count of keys, such as 1000000 or 2^20";
        }
        if (value < 1 || value > most_keys) return "a sort to measure has 1 to 2^32 keys, not " + text;
        text = std::to_string(value);
        return {};
    };
    return CLI::Validator(convert, "");
}

std::string cpu_model() {
    std::ifstream facts("/proc/cpuinfo");
    for (std::string line; std::getline(facts, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    }
    return "unknown";
}

nlohmann::ordered_json bench_facts(const std::string& command_line, const std::optional<Context>& context, int repeat) {
    return {{"quadmill", QUADMILL_VERSION},
            {"command", command_line},
            {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
            {"renderer", context ? context->info().renderer : "none"},
            {"cpu", cpu_model()},
            {"threads", std::thread::hardware_concurrency()},
            {"repeat", repeat}};
}

void add_bench_command(CLI::App& app, const std::string& command_line) {
    auto* bench = app.add_subcommand("bench", "Measure the library's engines against each other and against others");
    bench->require_subcommand(1);
    add_bench_sort_command(*bench, command_line);
    add_bench_stream_command(*bench, command_line);
}

}  // namespace quadmill::cli
