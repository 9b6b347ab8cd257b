// The examples of stream.hpp and of the streams in docs/library.md, unchanged.
#include <doctest/doctest.h>

#include <cstdio>
#include <quadmill/concurrent.hpp>
#include <quadmill/context.hpp>
#include <quadmill/names.hpp>
#include <quadmill/stream.hpp>
#include <quadmill/window_sorter.hpp>
#include <string>
#include <utility>
#include <vector>

#include "quadmill/sort.hpp"

using namespace quadmill;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<float> seconds() {
    std::vector<float> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
    return values;
}

}  // namespace

TEST_CASE("stream.hpp: quantiles") {
    const auto values = seconds();
    Quantiles<float> latencies({.eps = 0.001});
    latencies.add(values);
    const auto median = latencies.quantile(0.5);  // median.value, median.rank_lower, median.rank_upper
    CHECK(median.value == 500);
}

TEST_CASE("stream.hpp: frequent values") {
    std::vector<std::uint32_t> values(1000, 443);
    values[7] = 80;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> printed;
    const auto print = [&](std::uint32_t port, std::uint64_t count) { printed.emplace_back(port, count); };
    Frequencies<std::uint32_t> ports({.eps = 0.0001});
    ports.add(values);
    for (const auto& port : ports.frequent(0.01)) print(port.value, port.count.estimate);
    CHECK(printed == std::vector<std::pair<std::uint32_t, std::uint64_t>>{{443, 999}});
}

TEST_CASE("stream.hpp: heavy prefixes") {
    const std::vector<std::uint32_t> addresses(100, 0x0a000001);
    HeavyPrefixes<std::uint32_t> sources({.eps = 0.001, .support = 0.01, .lengths = {0, 8, 16, 24, 32}});
    sources.add(addresses);
    CHECK(sources.heavy(0.5).size() == 1);
}

TEST_CASE("stream.hpp: files") {
    Quantiles<float> summary;
    summary.add(1.0F);
    save_file(summary, "monday.summary");
    const auto monday = load_file<Quantiles<float>>("monday.summary");
    CHECK(monday.n() == 1);
    CHECK(std::remove("monday.summary") == 0);
}

TEST_CASE("names.hpp: frequent names, and the number of different ones") {
    std::vector<std::pair<std::string, std::uint64_t>> printed;
    const auto print = [&](const std::string& page, std::uint64_t count) { printed.emplace_back(page, count); };
    Frequencies<std::string> pages({.eps = 0.001});
    pages.add("/index.html");
    pages.add("/film.mp4", 300);  // with a weight
    for (const auto& page : pages.top(20)) print(page.value, page.count.estimate);
    CHECK(printed == std::vector<std::pair<std::string, std::uint64_t>>{{"/film.mp4", 300}, {"/index.html", 1}});
    Distinct users;
    users.add("ann");
    const auto number = users.count();  // number.lower, number.estimate, number.upper
    CHECK(number == Count{1, 1, 1});
}

TEST_CASE("names.hpp: prefixes of IPv6 addresses") {
    const std::vector<Ipv6> addresses(100, Ipv6{{0x20, 0x01, 0x0d, 0xb8}});
    std::vector<int> lengths;
    const auto print = [&](const Ipv6&, int length, std::uint64_t) { lengths.push_back(length); };
    HeavyPrefixes<Ipv6> networks({.eps = 0.001, .support = 0.01, .lengths = {0, 32, 48, 64, 128}});
    networks.add(addresses);
    for (const auto& p : networks.heavy(0.05)) print(p.value, p.length, p.count.estimate);
    CHECK(lengths == std::vector<int>{128});
}

TEST_CASE("concurrent.hpp: threads") {
    Concurrent<Quantiles<float>> latencies([] { return Quantiles<float>({.eps = 0.001}); });
    latencies.add(3.5F);  // in any thread
    const auto p99 = latencies.merged().quantile(0.99);
    CHECK(p99.value == 3.5F);
}

TEST_CASE("concurrent.hpp: the last seconds") {
    const double now = 1000;
    Recent<Quantiles<float>> last_minutes(300, [] { return Quantiles<float>({.eps = 0.01}); });
    last_minutes.add(now, 3.5F);
    const auto p99 = last_minutes.summary(now).quantile(0.99);
    CHECK(p99.value == 3.5F);
}

TEST_CASE("concurrent.hpp: groups") {
    std::string slow;
    const auto print = [&](const std::string& path, float ms) { slow = path + " " + std::to_string(ms); };
    Grouped<Quantiles<float>> paths([] { return Quantiles<float>({.eps = 0.01}); }, 10'000);
    paths.add("/film", 3.5F);
    for (const auto& [path, latencies] : paths.groups()) print(path, latencies.quantile(0.99).value);
    CHECK(slow == "/film 3.500000");
}

TEST_CASE("The library's page: streams") {
    const auto values = seconds();
    auto context = Context::headless();
    Quantiles<float> other({.eps = 0.0001});
    other.add(values);
    // clang-format off
// The CMake target quadmill::summary has these without OpenGL, on CPU threads.
quadmill::Quantiles<float> latencies({.eps = 0.0001}, quadmill::window_sorter(context));
latencies.add(values);                   // any number of times
auto p99 = latencies.quantile(0.99);     // p99.value, p99.rank_lower, p99.rank_upper
latencies.merge(other);                  // from another machine, with save() and load()
quadmill::SlidingQuantiles<float> last({.eps = 0.01, .window = 1000000});
quadmill::Frequencies<std::uint32_t> ports({.eps = 0.001});   // ports.frequent(0.01)
    // clang-format on
    CHECK(p99.value == 990);
    CHECK(latencies.n() == 2000);
    CHECK(last.n() == 0);
    CHECK(ports.n() == 0);
}
