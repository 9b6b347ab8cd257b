// Memory that runs out at any allocation of add() and save(): the summary stays usable and correct.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <new>
#include <random>
#include <string>
#include <utility>

#include "cpu/sort.hpp"
#include "cpu/workers.hpp"
#include "quadmill/error.hpp"
#include "quadmill/names.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"
#include "sanitized.hpp"

using namespace quadmill;  // NOLINT(google-build-using-namespace)
using detail::cpu::sort_keys, detail::cpu::Workers;

namespace {

// Allocations left to all threads together; the last one fails. 0: none fails.
std::atomic<std::size_t> allocations_left = 0;

void* allocate(std::size_t bytes) {
    auto left = allocations_left.load();
    while (left > 0 && !allocations_left.compare_exchange_weak(left, left - 1)) {
    }
    if (left == 1) throw std::bad_alloc();
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): this is what `new` is made of here
    if (void* const memory = std::malloc(std::max<std::size_t>(bytes, 1))) return memory;
    throw std::bad_alloc();
}

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc,misc-new-delete-overloads)
void* operator new(std::size_t bytes) {
    return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
    return allocate(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*how*/) noexcept {
    try {
        return allocate(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& how) noexcept {
    return operator new(bytes, how);
}
// GCC compares an inlined free() with an operator new that was not inlined: a wrong -Wmismatched-new-delete.
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}
// NOLINTEND(cppcoreguidelines-no-malloc,misc-new-delete-overloads)

namespace {

// Sorts in begin(), in small batches, with memory of its own.
class SmallBatchSorter final : public WindowSorter {
  public:
    void begin(Keys keys, std::size_t window) override {
        const auto left = allocations_left.exchange(0);
        sort_windows_on_cpu(keys, window, Order::Ascending, 1);
        allocations_left = left;
    }
    void finish() override {}
    [[nodiscard]] std::size_t depth() const override { return 2; }
    [[nodiscard]] std::size_t batch_bytes() const override { return 16384; }
    [[nodiscard]] Times times() const override { return {}; }
    [[nodiscard]] std::string name() const override { return "small batches"; }
};

constexpr double summary_eps = 0.01;

// Adds a third of the values. During the next third memory runs out at some allocation; then the last third follows.
// This is repeated for later and later allocations, until all succeed. `expect` gets the number of missing values.
template <class Make, class T, class Expect>
void expect_after_failures(const std::vector<T>& values, const Make& make, const Expect& expect) {
    const auto third = values.size() / 3;
    std::size_t failures = 0;
    for (std::size_t at = 1;; at += 1 + at / 4) {
        CAPTURE(at);
        auto summary = make();
        const auto all = std::span(values);
        summary.add(all.first(third));
        bool failed = false;
        allocations_left = at;
        try {
            summary.add(all.subspan(third, third));
            static_cast<void>(summary.save());  // waiting values are summarized for it
        } catch (const std::bad_alloc&) {
            failed = true;
        }
        const bool enough = allocations_left.exchange(0) > 0;
        failures += failed ? 1 : 0;
        summary.add(all.last(third));
        REQUIRE(summary.n() >= third);
        REQUIRE(summary.n() <= values.size());
        if (!failed) REQUIRE(summary.n() == values.size());
        const auto missing = values.size() - static_cast<std::size_t>(summary.n());
        expect(summary, missing);
        const auto again = std::remove_cvref_t<decltype(summary)>::load(summary.save());
        CHECK(again.n() == summary.n());
        expect(again, missing);
        if (enough && !failed) break;
    }
    CHECK(failures > 5);
}

std::vector<float> some_values(std::size_t n) {
    std::mt19937 random(7);
    std::vector<float> values(n);
    for (auto& value : values) value = static_cast<float>(random() % 2000);
    return values;
}

std::vector<std::uint32_t> some_keys(std::size_t n) {
    std::vector<std::uint32_t> keys;
    for (const auto value : some_values(n)) keys.push_back(static_cast<std::uint32_t>(value) * 7);
    return keys;
}

// Within eps of the ranks among these values, except for the missing ones.
template <class Summary>
void expect_quantiles(const Summary& summary, std::span<const float> sorted, std::size_t missing) {
    const auto n = static_cast<double>(sorted.size()), max = summary.eps() * n + static_cast<double>(missing) + 1;
    for (int i = 0; i <= 10; ++i) {
        const double phi = i / 10.0;
        const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), summary.quantile(phi).value);
        CHECK(static_cast<double>(to - sorted.begin()) >= phi * n - max);
        CHECK(static_cast<double>(from - sorted.begin()) <= phi * n + max);
    }
}

template <class Summary>
void expect_counts(const Summary& summary, std::span<const float> values, std::size_t missing) {
    std::map<float, std::uint64_t> exact;
    for (const auto value : values) ++exact[value];
    const auto max = summary.eps() * static_cast<double>(values.size()) + static_cast<double>(missing);
    for (const auto& [value, count] : summary.frequent(summary.eps())) {
        CHECK(count.estimate <= exact[value]);
        CHECK(static_cast<double>(exact[value] - count.estimate) <= max);
    }
}

}  // namespace

TEST_CASE("Memory that ends while threads sort loses no key") {
    std::mt19937 random(5);
    std::vector<float> values(std::size_t{1} << 19U);
    for (auto& value : values) value = static_cast<float>(random()) - 0x1p31F;
    auto sorted = values;
    std::ranges::sort(sorted);
    for (const unsigned threads : {2U, 5U}) {
        std::size_t at = 1;
        for (bool enough = false; !enough; ++at) {
            CAPTURE(at);
            auto keys = values;
            bool failed = false;
            allocations_left = at;
            try {
                sort_keys(std::span(keys), Order::Ascending, Workers(threads));  // by threads, whatever they gain
            } catch (const std::bad_alloc&) {
                failed = true;
            }
            enough = allocations_left.exchange(0) > 0;
            if (failed) std::ranges::sort(keys);  // in another order, since threads sort in place
            CHECK((keys == sorted));
        }
        CHECK(at > 10);
    }
}

TEST_CASE("Memory that ends while values come leaves quantiles and counts as good as they were") {
    const auto values = some_values(30'000);
    auto sorted = values;
    std::ranges::sort(sorted);
    expect_after_failures(
        values,
        [] { return Quantiles<float>({.eps = summary_eps, .window = 250}, std::make_unique<SmallBatchSorter>()); },
        [&](const auto& summary, std::size_t missing) { expect_quantiles(summary, sorted, missing); });
    expect_after_failures(
        values,
        [] { return Frequencies<float>({.eps = summary_eps, .window = 250}, std::make_unique<SmallBatchSorter>()); },
        [&](const auto& summary, std::size_t missing) { expect_counts(summary, values, missing); });
}

TEST_CASE("Memory that ends while values come leaves the counts of all lengths of prefixes alike") {
    const auto values = some_keys(30'000);
    expect_after_failures(
        values,
        [] {
            return HeavyPrefixes<std::uint32_t>(
                {.eps = summary_eps, .support = 0.1, .lengths = {0, 21, 24, 32}, .window = 250},
                std::make_unique<SmallBatchSorter>());
        },
        [&](const auto& summary, std::size_t missing) {
            const auto max = summary_eps * static_cast<double>(values.size()) + static_cast<double>(missing);
            for (const auto& heavy : summary.heavy(0.1)) {
                const auto exact = std::ranges::count_if(values, [&](std::uint32_t value) {
                    return heavy.length == 0 || (value ^ heavy.value) >> (32 - heavy.length) == 0;
                });
                CHECK(heavy.count.lower <= static_cast<std::uint64_t>(exact));
                CHECK(static_cast<double>(exact) <= static_cast<double>(heavy.count.upper) + max);
            }
        });
}

// Values without memory are lost, and no longer matter when as many values have come as the window holds.
TEST_CASE("Memory that ends while values come leaves sliding windows whole") {
    const auto values = some_values(quadmill::test::sanitized ? 9'000 : 30'000);
    for (auto options :
         {SlidingOptions{.eps = summary_eps, .paper = {.raw = RawValues::Never}},
          SlidingOptions{.eps = 0.1},  // of few levels, if the window is long
          SlidingOptions{.eps = summary_eps, .widths = Widths::Variable, .paper = {.raw = RawValues::Never}},
          SlidingOptions{.eps = summary_eps, .paper = {.raw = RawValues::Never, .blocks = SlidingBlocks::Sorted}}}) {
        for (const std::size_t window : {1500U, quadmill::test::sanitized ? 4500U : 9000U}) {
            CAPTURE(window);
            options.window = window;
            const auto last = std::span(values).last(window);
            std::vector<float> sorted(last.begin(), last.end());
            std::ranges::sort(sorted);
            expect_after_failures(
                values, [&] { return SlidingQuantiles<float>(options, std::make_unique<SmallBatchSorter>()); },
                [&](const auto& summary, std::size_t /*before*/) { expect_quantiles(summary, sorted, 0); });
            expect_after_failures(
                values, [&] { return SlidingFrequencies<float>(options, std::make_unique<SmallBatchSorter>()); },
                [&](const auto& summary, std::size_t /*before*/) { expect_counts(summary, last, 0); });
        }
    }
}

TEST_CASE("Memory that ends while values come is never more than lost where a window is asked again and again") {
    const auto values = some_values(30'000);
    const std::size_t width = 800;  // stored unchanged
    for (const std::size_t window : {200'000U, 700U}) {
        const SlidingOptions options{.eps = summary_eps, .window = window, .widths = Widths::Variable};
        const auto last = std::span(values).last(std::min(width, window));
        std::vector<float> sorted(last.begin(), last.end());
        std::ranges::sort(sorted);
        for (std::size_t at = 1, failed = 1; failed > 0; at += 1 + at / 8) {
            CAPTURE(at);
            SlidingQuantiles<float> summary(options, std::make_unique<SmallBatchSorter>());
            failed = 0;
            allocations_left = at;
            for (std::size_t from = 0; from < values.size(); from += 50) {
                try {
                    summary.add(std::span(values).subspan(from, 50));
                    static_cast<void>(summary.quantile(0.5, sorted.size()));
                } catch (const std::bad_alloc&) {
                    ++failed;
                }
                if (failed > 0) allocations_left = 0;
            }
            allocations_left = 0;
            for (int i = 0; i <= 10; ++i) {
                const auto value = summary.quantile(i / 10.0, sorted.size()).value;
                const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), value);
                CHECK(to - from > 0);
                CHECK(static_cast<double>(to - sorted.begin()) >= i / 10.0 * static_cast<double>(sorted.size()));
                CHECK(static_cast<double>(from - sorted.begin()) <= i / 10.0 * static_cast<double>(sorted.size()));
            }
            CHECK(SlidingQuantiles<float>::load(summary.save()).n() == summary.n());
        }
    }
}

// A pair is x and a weight, which reach the summary in different ways.
TEST_CASE_TEMPLATE("Memory that ends while pairs come: correlated sums are right, or refuse to go on", T, float,
                   double) {
    std::vector<T> x;
    std::vector<double> y;
    for (int i = 0; i < 6000; ++i) {
        const int block = i / 64 % 2;
        x.push_back(static_cast<T>(block));
        y.push_back(block);
    }
    std::size_t refused = 0;
    for (std::size_t at = 1;; ++at) {
        CAPTURE(at);
        CorrelatedSums<T> sums({.eps = summary_eps, .window = 64}, std::make_unique<SmallBatchSorter>());
        bool failed = false;
        const auto add = [&](std::size_t from) {
            sums.add(std::span<const T>(x).subspan(from, 2000), std::span<const double>(y).subspan(from, 2000));
        };
        add(0);
        allocations_left = at;
        try {
            add(2000);
            static_cast<void>(sums.save());
        } catch (const std::bad_alloc&) {
            failed = true;
        }
        const bool enough = allocations_left.exchange(0) > 0;
        try {
            add(4000);
            const auto sum = sums.sum({.kind = Aggregate::Kind::Min});
            CHECK(sum.lower == 0);
            CHECK(sum.upper == 0);  // of the ys with x = 0
            const auto n = static_cast<double>(sums.n());
            const auto all = sums.sum({.kind = Aggregate::Kind::Max});
            CHECK(all.lower <= n);
            CHECK(CorrelatedSums<T>::load(sums.save()).n() == sums.n());
            if (!failed) CHECK(sums.n() == x.size());
        } catch (const Error& error) {
            CHECK(failed);
            CHECK(std::string(error.what()).find("memory ended before") != std::string::npos);
            ++refused;
        }
        if (enough && !failed) break;
    }
    CHECK(refused > 0);
}

TEST_CASE("Memory that ends while names come loses the name that came") {
    std::size_t failures = 0;
    bool enough = false;
    for (std::size_t at = 1; !enough; at += 1 + at / 20) {
        CAPTURE(at);
        Frequencies<std::string> names({.eps = 0.1});
        Distinct distinct(0.25);
        std::map<std::string, std::uint64_t> exact;
        std::vector<std::string> words;
        for (int i = 0; i < 300; ++i) words.push_back("a name of many letters " + std::to_string(i % 7 == 0 ? 0 : i));
        std::vector<bool> is_in(words.size());
        allocations_left = at;
        bool failed = false;
        std::size_t added = 0, counted = 0;
        const auto try_to = [&](const auto& work) {
            try {
                work();
                return true;
            } catch (const std::bad_alloc&) {
                failed = true;
                return false;
            }
        };
        for (std::size_t i = 0; i < words.size(); ++i) {
            is_in[i] = try_to([&] { names.add(words[i]); });
            added += is_in[i] ? 1U : 0U;
            counted += try_to([&] { distinct.add(words[i]); }) ? 1U : 0U;
        }
        enough = allocations_left.exchange(0) > 0;
        failures += failed ? 1 : 0;
        CHECK(counted >= words.size() - 1);
        CHECK(names.n() == added);
        for (std::size_t i = 0; i < words.size(); ++i) exact[words[i]] += is_in[i] ? 1U : 0U;
        const auto again = copy_of(names);
        for (const auto& [name, count] : exact) {
            CHECK(again.count(name).lower <= count);
            CHECK(count <= again.count(name).upper);
        }
        CHECK(copy_of(distinct).save() == distinct.save());
    }
    CHECK(failures > 10);
}

TEST_CASE("Memory that ends in a merge changes nothing") {
    const auto values = some_values(20'000);
    const auto half = std::span(values).first(10'000), other = std::span(values).last(10'000);
    const auto expect_unchanged = [](auto make, auto add, auto& from) {
        std::size_t failures = 0;
        for (std::size_t at = 1;; ++at) {
            CAPTURE(at);
            auto into = make();
            add(into);
            const auto before = into.save();
            bool failed = false;
            allocations_left = at;
            try {
                into.merge(from);
            } catch (const std::bad_alloc&) {
                failed = true;
            }
            const bool enough = allocations_left.exchange(0) > 0;
            failures += failed ? 1 : 0;
            if (failed) CHECK(into.save() == before);
            if (enough && !failed) break;
        }
        CHECK(failures > 2);
    };
    const auto quantiles = [] { return Quantiles<float>({.eps = summary_eps, .window = 300}); };
    auto some_quantiles = quantiles();
    some_quantiles.add(other);
    expect_unchanged(
        quantiles, [&](auto& to) { to.add(half); }, some_quantiles);
    const auto counts = [] { return Frequencies<float>({.eps = summary_eps, .window = 300}); };
    auto some_counts = counts();
    some_counts.add(other);
    expect_unchanged(
        counts, [&](auto& to) { to.add(half); }, some_counts);
    const auto sums = [] { return CorrelatedSums<float>({.eps = summary_eps, .window = 300}); };
    const std::vector<double> ones(10'000, 1.0);
    auto some_sums = sums();
    some_sums.add(other, ones);
    some_sums.merge(some_sums);
    CHECK(some_sums.n() == 20'000);
    const auto names = [] { return Frequencies<std::string>({.eps = summary_eps}); };
    auto some_names = names();
    for (const auto value : other) some_names.add(std::to_string(value));
    expect_unchanged(
        names, [&](auto& to) { to.add("one", 5); }, some_names);
}
