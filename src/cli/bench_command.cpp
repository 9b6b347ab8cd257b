#include <fmt/chrono.h>
#include <fmt/core.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "cli/bench_report.hpp"
#include "cli/checks.hpp"
#include "cli/commands.hpp"
#include "quadmill/version.hpp"

namespace quadmill::cli {

CLI::Validator count_of_keys() {
    constexpr auto most = std::uint64_t{1} << 32U;
    return count_up_to(most);
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
