// Worker threads.
#include "cpu/workers.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

using namespace quadmill::detail::cpu;  // NOLINT(google-build-using-namespace)

namespace {

// Counts how often the other threads of this process went to sleep after they were woken.
long sleeps_of_others() {
    const auto own = std::filesystem::read_symlink("/proc/thread-self").filename();
    long sum = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        if (task.path().filename() == own) continue;
        std::ifstream status(task.path() / "status");
        for (std::string line; std::getline(status, line);) {
            constexpr std::string_view name = "voluntary_ctxt_switches:";
            if (line.starts_with(name)) sum += std::stol(line.substr(name.size()));
        }
    }
    return sum;
}

}  // namespace

TEST_CASE("Workers do each piece once and keep the requested order") {
    for (const unsigned threads : {1U, 2U, 5U}) {
        Workers workers(threads);
        CHECK(workers.threads() == threads);
        for (const std::size_t count : {0UL, 1UL, 7UL, 1000UL}) {
            std::vector<std::atomic<int>> done(count);
            workers.for_each(count, [&](std::size_t i) { ++done[i]; });
            std::vector<std::size_t> order;
            workers.then_in_order(
                count, [&](std::size_t i) { ++done[i]; },
                [&](std::size_t i) {
                    REQUIRE(done[i] == 2);
                    order.push_back(i);
                });
            std::atomic<std::size_t> released = 0;
            workers.after_in_order(
                count, [&](std::size_t i) { released = i + 1; },
                [&](std::size_t i) { done[i] += i < released ? 1 : 100; });
            std::vector<std::size_t> expected(count);
            std::iota(expected.begin(), expected.end(), std::size_t{0});
            CHECK(order == expected);
            for (const auto& d : done) REQUIRE(d == 3);
        }
    }
}

TEST_CASE("An exception in a worker reaches the caller, and the workers continue") {
    Workers workers(3);
    const auto fail = [](std::size_t i) {
        if (i == 5) throw std::runtime_error("five");
    };
    const auto nothing = [](std::size_t) {};
    CHECK_THROWS_WITH(workers.for_each(100, fail), "five");
    CHECK_THROWS_WITH(workers.then_in_order(100, nothing, fail), "five");
    CHECK_THROWS_WITH(workers.after_in_order(100, fail, nothing), "five");
    CHECK_THROWS_WITH(workers.after_in_order(100, nothing, fail), "five");
    std::atomic<int> sum = 0;
    workers.for_each(10, [&](std::size_t i) { sum += static_cast<int>(i); });
    CHECK(sum == 45);
}

TEST_CASE("Workers share the process's threads: nested and concurrent calls end, each within its number of threads") {
    const Workers outer(4), inner(3), alone(1);
    std::atomic<int> sum = 0, max = 0, now = 0;
    outer.for_each(20, [&](std::size_t i) {
        inner.for_each(20, [&](std::size_t j) {
            sum += static_cast<int>(i * 20 + j);
            alone.for_each(3, [&](std::size_t) { ++sum; });
        });
    });
    CHECK(sum == 399 * 400 / 2 + 3 * 400);
    inner.for_each(200, [&](std::size_t) {
        const int working = ++now;
        int seen = max;
        while (seen < working && !max.compare_exchange_weak(seen, working)) {
        }
        --now;
    });
    CHECK(max <= 3);
    sum = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&] {
            for (int round = 0; round < 50; ++round)
                outer.then_in_order(
                    10, [&](std::size_t) { ++sum; }, [&](std::size_t) { ++sum; });
        });
    }
    for (auto& caller : callers) caller.join();
    CHECK(sum == 4 * 50 * 20);
}

TEST_CASE("An exception within a call within a call reaches the outer caller") {
    const Workers workers(3);
    CHECK_THROWS_WITH(workers.for_each(10,
                                       [&](std::size_t i) {
                                           workers.for_each(10, [&](std::size_t j) {
                                               if (i == 3 && j == 7) throw std::runtime_error("within");
                                           });
                                       }),
                      "within");
}

TEST_CASE("Only threads that can help are woken") {
    const Workers all(8), two(2), alone(1);
    const auto nothing = [](std::size_t) {};
    all.for_each(64, [](std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // all of them sleep
    constexpr int calls = 200;
    const auto woken_by = [&](const auto& call) {
        const auto before = sleeps_of_others();
        for (int i = 0; i < calls; ++i) call();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return sleeps_of_others() - before;
    };
    CHECK(woken_by([&] { all.for_each(1, nothing); }) < calls / 2);
    CHECK(woken_by([&] { all.for_each(0, nothing); }) < calls / 2);
    CHECK(woken_by([&] { alone.for_each(100, nothing); }) < calls / 2);
    CHECK(woken_by([&] { alone.after_in_order(3, nothing, nothing); }) < calls / 2);
    // A woken thread may also have to wait for the pool's lock.
    CHECK(woken_by([&] { two.for_each(2, nothing); }) <= 3 * calls);
    CHECK(woken_by([&] { all.for_each(3, nothing); }) <= 6 * calls);
}
