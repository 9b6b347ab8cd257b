#include "show/monitor.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "quadmill/context.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "stream_monitor/drift.hpp"

using namespace quadmill;
using namespace quadmill::detail::show;

namespace {

constexpr auto infinity = std::numeric_limits<float>::infinity();

Monitor::MakeSorter on_cpu() {
    return [] { return cpu_window_sorter(1); };
}

std::vector<float> stream(std::size_t n) {
    std::vector<float> values(n);
    demo::Drift(3, n / 3).make(values);
    for (std::size_t i = 0; i < n; i += 1000) values[i] = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t i = 1; i < n; i += 3000) values[i] = infinity;
    return values;
}

// The last values that are numbers, sorted.
std::vector<float> exact_window(std::span<const float> values, std::size_t window) {
    std::vector<float> last;
    for (std::size_t i = values.size(); i-- > 0 && last.size() < window;) {
        if (!std::isnan(values[i])) last.push_back(values[i]);
    }
    std::ranges::sort(last);
    return last;
}

void check_bands(const MonitorModel& model, const std::vector<float>& exact) {
    for (std::size_t i = 0; i < MonitorModel::phis.size(); ++i) {
        CAPTURE(i);
        const auto n = static_cast<double>(exact.size());
        const double rank = std::max(std::ceil(MonitorModel::phis.at(i) * n), 1.0);
        const auto [lower, value, upper] = model.history.back().bands.at(i);
        const float right = exact[static_cast<std::size_t>(rank) - 1];
        CHECK(lower <= right);
        CHECK(right <= upper);
        CHECK(lower <= value);
        CHECK(value <= upper);
        const auto [first, last] = std::ranges::equal_range(exact, value);
        REQUIRE(first != last);
        CHECK(static_cast<double>(first - exact.begin()) + 1 - rank <= model.eps * n);
        CHECK(rank - static_cast<double>(last - exact.begin()) <= model.eps * n);
    }
}

void check_counts(const MonitorModel& model, const std::vector<float>& exact) {
    const auto at_most = [&](float value) {
        return static_cast<std::uint64_t>(std::ranges::upper_bound(exact, value) - exact.begin());
    };
    for (std::size_t i = 0; i < model.bars.size(); ++i) {
        const auto& [from, to, count] = model.bars[i];
        const auto right = at_most(to) - (i == 0 ? 0 : at_most(from));
        CHECK(count.lower <= right);
        CHECK(right <= count.upper);
        CHECK((i == 0 || model.bars[i - 1].to == from));
    }
    std::map<float, std::uint64_t> counts;
    for (const auto value : exact) ++counts[value];
    const auto n = static_cast<double>(exact.size());
    for (const auto& [value, count] : model.frequent) {
        CHECK(count.lower <= counts[value]);
        CHECK(counts[value] <= count.upper);
        CHECK(static_cast<double>(counts[value]) >= (model.support - model.eps) * n);
    }
    for (const auto& [value, count] : counts) {
        if (static_cast<double>(count) >= model.support * n)
            CHECK(std::ranges::count(model.frequent, value, &Frequent<float>::value) == 1);
    }
}

void same(const MonitorModel& a, const MonitorModel& b) {
    REQUIRE(a.history.size() == b.history.size());
    for (std::size_t i = 0; i < a.history.size(); ++i) {
        CHECK(a.history[i].read == b.history[i].read);
        for (std::size_t j = 0; j < MonitorModel::phis.size(); ++j)
            CHECK(a.history[i].bands.at(j).value == b.history[i].bands.at(j).value);
    }
    REQUIRE(a.bars.size() == b.bars.size());
    for (std::size_t i = 0; i < a.bars.size(); ++i) CHECK(a.bars[i].count == b.bars[i].count);
    REQUIRE(a.frequent.size() == b.frequent.size());
    for (std::size_t i = 0; i < a.frequent.size(); ++i) CHECK(a.frequent[i].count == b.frequent[i].count);
}

}  // namespace

TEST_CASE("what a monitor shows is true for the window, value for value") {
    const auto values = stream(150000);
    for (const auto& options : {MonitorOptions{.window = 50000, .eps = 0.02, .support = 0.03},
                                MonitorOptions{.window = 3000, .eps = 0.02, .support = 0.03},
                                MonitorOptions{.window = 40000, .eps = 0.004, .support = 0.001},
                                MonitorOptions{.window = 60000, .eps = 0.3, .support = 0.01}}) {
        CAPTURE(options.window);
        Monitor monitor(options, on_cpu());
        std::size_t at = 0;
        for (const std::size_t part : {1U, 10U, 2500U, 30000U, 40001U, 50000U}) {
            monitor.add(std::span(values).subspan(at, part));
            at += part;
            CAPTURE(at);
            const auto model = monitor.model();
            const auto so_far = std::span(values).first(at);
            const auto exact = exact_window(so_far, options.window);
            CHECK(model.read == at);
            CHECK(model.nans ==
                  static_cast<std::uint64_t>(std::ranges::count_if(so_far, [](float v) { return std::isnan(v); })));
            REQUIRE(model.held == exact.size());
            if (exact.empty()) continue;
            check_bands(model, exact);
            check_counts(model, exact);
        }
    }
}

TEST_CASE("a monitor keeps the last moments at fixed distances, and the present") {
    const auto values = stream(10000);
    Monitor monitor({.window = 400, .every = 100, .moments = 30}, on_cpu());
    CHECK(monitor.model().history.empty());
    monitor.add(std::span(values).first(250));
    auto history = monitor.model().history;
    REQUIRE(history.size() == 3);
    CHECK(history[0].read == 100);
    CHECK(history[2].read == 250);
    monitor.add(std::span(values).subspan(250));
    const auto model = monitor.model();
    REQUIRE(model.history.size() == 30);
    CHECK(model.history.front().read == 7100);
    CHECK(model.history.back().read == 10000);
    CHECK(model.span == 2900);
    monitor.restart({.window = 10, .eps = 0.1});
    CHECK(monitor.read() == 0);
    CHECK(monitor.model().window == 10);
    CHECK_THROWS_AS(monitor.restart({.eps = 2}), InvalidArgument);
    CHECK(monitor.model().window == 10);
}

TEST_CASE("the sorter makes no difference, even if it changes on the way") {
    const auto values = stream(120000);
    static auto context = Context::headless();
    const Monitor::MakeSorter on_gpu = [] { return window_sorter(context, {.engine = Engine::Merge}); };
    const MonitorOptions options{.window = 50000, .eps = 0.02};
    Monitor cpu(options, on_cpu()), gpu(options, on_gpu), both(options, on_gpu);
    for (auto* monitor : {&cpu, &gpu}) monitor->add(values);
    both.add(std::span(values).first(70001));
    both.use(on_cpu());
    both.add(std::span(values).subspan(70001));
    CHECK(cpu.model().sorter == "cpu");
    CHECK(gpu.model().sorter == "merge");
    CHECK(both.model().sorter == "cpu");
    same(cpu.model(), gpu.model());
    same(cpu.model(), both.model());
}

TEST_CASE("a monitor's page has all its words, for any values, and is the same each time") {
    const auto filled = [](std::vector<float> values, const MonitorOptions& options) {
        Monitor monitor(options, on_cpu());
        monitor.add(values);
        return monitor.model();
    };
    std::vector<MonitorModel> models{
        filled({}, {}),
        filled({1}, {.window = 1000000000}),
        filled(stream(100000), {.window = 50000, .eps = 0.05}),
        filled({-3e38F, -1.234e-30F, 0, 1.234e38F, -infinity, infinity}, {.window = 100, .every = 1}),
        filled({infinity, infinity}, {.window = 100, .every = 1}),
        filled({-0.0F, 1e-44F, std::numeric_limits<float>::quiet_NaN()}, {.window = 1 << 30, .eps = 1e-6})};
    for (std::size_t i = 0; i < models.size(); ++i) {
        auto& model = models[i];
        model.state = i % 2 == 0 ? MonitorModel::State::Ended : MonitorModel::State::Paused;
        model.values_per_s = 123456789;
        model.sorter = "hybrid";
        model.read += 3ULL << 40U;
        for (auto& moment : model.history) moment.read += 3ULL << 40U;
        for (const auto& size : {Size{640, 480}, Size{1280, 800}, Size{1920, 1080}, Size{640, 800}}) {
            CAPTURE(i);
            CAPTURE(size.width);
            const auto picture = draw_monitor(model, size);
            CHECK_FALSE(picture.clipped());
            if (size.width == 640) CHECK(picture.pixels() == draw_monitor(model, size).pixels());
        }
    }
}
