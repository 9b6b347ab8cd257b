// A process that has used OpenGL and CPU threads, and its child: in the child OpenGL is refused, and CPU threads work
// again.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"

using namespace quadmill;

namespace {

std::vector<float> falling(std::size_t n) {
    std::vector<float> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<float>(n - i);
    return keys;
}

// Whether it throws a ContextError that mentions the fork.
template <class Work>
bool is_refused(const char* what, Work work) {
    try {
        work();
    } catch (const ContextError& error) {
        if (std::string_view(error.what()).find("fork") != std::string_view::npos) return true;
        std::printf("%s: %s\n", what, error.what());
        return false;
    }
    std::printf("%s: was not refused\n", what);
    return false;
}

}  // namespace

int main() {
    auto context = std::make_optional(Context::headless());
    auto sorter = std::make_optional<Sorter>(*context, SortOptions{.engine = Engine::Merge});
    auto keys = falling(1 << 12);
    sorter->sort(keys);
    Sorter on_cpu(*context, {.engine = Engine::Cpu, .threads = 4});
    auto many = falling(1 << 20);
    on_cpu.sort(many);
    auto summary = std::make_optional<Quantiles<float>>(QuantileOptions{.eps = 0.01}, cpu_window_sorter(4));
    summary->add(falling(1 << 20));
    static_cast<void>(summary->quantile(0.5));

    const pid_t child = fork();
    if (child == 0) {
        alarm(60);  // if it hangs, a signal ends the child
        auto own = falling(1 << 20);
        bool good = is_refused("sort", [&] { sorter->sort(own); });
        good = is_refused("make_current", [&] { context->make_current(); }) && good;
        good = is_refused("headless", [] { static_cast<void>(Context::headless()); }) && good;
        sort_on_cpu(own, Order::Ascending, 4);
        good = std::is_sorted(own.begin(), own.end()) && good;
        summary->add(falling(1 << 20));
        good = summary->n() == 2U << 20U && summary->quantile(0.5).rank > 0 && good;
        summary.reset();
        sorter.reset();
        context.reset();
        std::fflush(stdout);
        _exit(good ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    auto again = falling(1 << 12);
    sorter->sort(again);  // the parent continues
    const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0 && std::is_sorted(again.begin(), again.end());
    if (!good) std::printf("the child ended with status %d\n", status);
    return good ? 0 : 1;
}
