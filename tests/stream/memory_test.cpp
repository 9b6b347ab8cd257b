// The bytes that summaries say they have, and memory that runs out at any allocation of add() and save(): the summary
// stays usable and correct.
#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/sort.hpp"
#include "cpu/uncleared.hpp"
#include "cpu/workers.hpp"
#include "quadmill/concurrent.hpp"
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
// Bytes that are allocated now; and the most there were, without those that threads keep for later.
std::atomic<std::size_t> allocated = 0, most_allocated = 0;

void* allocate(std::size_t bytes) {
    auto left = allocations_left.load();
    while (left > 0 && !allocations_left.compare_exchange_weak(left, left - 1)) {
    }
    if (left == 1) throw std::bad_alloc();
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): this is what `new` is made of here
    void* const memory = std::malloc(std::max<std::size_t>(bytes, 1));
    if (!memory) throw std::bad_alloc();
    const auto now = (allocated += malloc_usable_size(memory)) - detail::cpu::kept_bytes();
    for (auto peak = most_allocated.load(); now > peak && !most_allocated.compare_exchange_weak(peak, now);) {
    }
    return memory;
}

void release(void* memory) noexcept {
    allocated -= malloc_usable_size(memory);
    std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
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
    release(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept {
    release(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    release(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, std::size_t /*bytes*/) noexcept {
    release(memory);
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

namespace {

constexpr std::size_t held_values = quadmill::test::sanitized ? 60'000 : 300'000;

// Values and text that are all different, or almost.
struct HeldInput {
    std::vector<float> narrow;
    std::vector<double> wide;
    std::vector<std::uint32_t> keys;
    std::vector<Ipv6> addresses;
    std::vector<std::string> names;

    HeldInput() {
        std::mt19937 random(5);
        for (std::size_t i = 0; i < held_values; ++i) {
            const auto key = static_cast<std::uint32_t>(random());
            keys.push_back(key);
            narrow.push_back(static_cast<float>(key % 1'000'003));
            wide.push_back(key % 1'000'003 + 0.5);
            names.push_back("a page with a long name " + std::to_string(key % 30'011));
            auto& bytes = addresses.emplace_back().bytes;
            for (unsigned k = 0; k < 4; ++k) bytes[k] = static_cast<std::uint8_t>(key >> 8 * k & 15);
        }
    }
};

// Adds values in parts of two lengths, on a thread that keeps no freed memory yet. Compares bytes() with what is
// allocated, after the values and after `ask`. `expect_peak` gets the most bytes that were allocated.
template <class Make, class Add, class Ask>
void expect_counted(const std::string& name, const Make& make, const Add& add, const Ask& ask,
                    const std::function<void(std::size_t)>& expect_peak = {}) {
    for (const std::size_t part : {std::size_t{1000}, held_values}) {
        std::thread([&] {
            CAPTURE(name);
            CAPTURE(part);
            const auto now = [] { return allocated - detail::cpu::kept_bytes(); };
            const auto before = now();
            most_allocated = before;
            auto summary = make();
            const auto expect = [&] {
                const auto counted = summary.bytes(), held = now() - before;
                CHECK(held <= counted + counted / 32 + 4096);
                CHECK(counted <= held + held / 4 + 8192);
            };
            for (std::size_t i = 0; i < held_values; i += part) add(summary, i, std::min(part, held_values - i));
            expect();
            ask(summary);
            static_cast<void>(summary.save());
            expect();
            if (expect_peak) expect_peak(most_allocated - before);
        }).join();
    }
}

const auto span_of = [](const auto& values) {
    return [&values](auto& summary, std::size_t from, std::size_t count) {
        summary.add(std::span(values).subspan(from, count));
    };
};
const auto ask_quantile = [](const auto& summary) { static_cast<void>(summary.quantile(0.5)); };
const auto ask_frequent = [](const auto& summary) { static_cast<void>(summary.frequent(0.1)); };

// The smallest max_bytes with which make(max_bytes) does not throw.
std::uint64_t max_bytes_of(const std::function<void(std::uint64_t)>& make) {
    std::uint64_t refused = 0, taken = std::uint64_t{1} << 40U;
    while (taken - refused > taken / 100 + 1) {
        const auto middle = refused + (taken - refused) / 2;
        try {
            make(middle);
            taken = middle;
        } catch (const InvalidArgument&) {
            refused = middle;
        }
    }
    return taken;
}

template <class Summary>
void expect_sliding_counted(const std::string& name, SlidingOptions options, unsigned threads, const HeldInput& input,
                            const auto& ask) {
    const auto max = max_bytes_of([&](std::uint64_t bytes) {
        options.max_bytes = bytes;
        Summary(options, cpu_window_sorter(threads));
    });
    options.max_bytes = max;
    expect_counted(
        name, [&] { return Summary(options, cpu_window_sorter(threads)); }, span_of(input.wide), ask,
        [&](std::size_t peak) { CHECK(peak <= max); });
}

}  // namespace

TEST_CASE("All memory of a summary is counted, with any number of threads") {
    const HeldInput input;
    for (const unsigned threads : {1U, 2U, 5U, 16U}) {
        CAPTURE(threads);
        const auto sorter = [&] { return cpu_window_sorter(threads); };
        for (const double eps : {1e-2, 1e-3}) {
            CAPTURE(eps);
            for (const auto tail : {Tail::Off, Tail::High}) {
                const QuantileOptions options{.eps = eps, .tail = tail, .moments = Moments::Kept};
                expect_counted(
                    "quantiles", [&] { return Quantiles<float>(options, sorter()); }, span_of(input.narrow),
                    ask_quantile);
                expect_counted(
                    "wide quantiles", [&] { return Quantiles<double>(options, sorter()); }, span_of(input.wide),
                    ask_quantile);
            }
            expect_counted(
                "frequencies", [&] { return Frequencies<double>({.eps = eps}, sorter()); }, span_of(input.wide),
                ask_frequent);
            for (const auto window : {held_values / 20, held_values * 2 / 3}) {
                for (const int form : {0, 1, 2, 3}) {
                    SlidingOptions options{.eps = eps, .window = window};
                    if (form == 1) options.widths = Widths::Variable;
                    if (form >= 2) options.paper.raw = RawValues::Never;
                    if (form == 3) options.paper.blocks = SlidingBlocks::Sorted;
                    if (form == 3 && eps < 1e-2) continue;  // it takes long
                    const auto name = " over " + std::to_string(window) + " in form " + std::to_string(form);
                    expect_sliding_counted<SlidingQuantiles<double>>("quantiles" + name, options, threads, input,
                                                                     ask_quantile);
                    expect_sliding_counted<SlidingFrequencies<double>>("frequencies" + name, options, threads, input,
                                                                       ask_frequent);
                }
            }
        }
        expect_counted(
            "prefixes",
            [&] {
                return HeavyPrefixes<std::uint32_t>({.eps = 1e-3, .support = 0.01, .lengths = {0, 8, 16, 24, 32}},
                                                    sorter());
            },
            span_of(input.keys), [](const auto& summary) { static_cast<void>(summary.heavy(0.1)); });
        const auto pairs = [&](const auto& x) {
            return [&](auto& summary, std::size_t from, std::size_t count) {
                summary.add(std::span(x).subspan(from, count), std::span(input.wide).subspan(from, count));
            };
        };
        const auto ask_sum = [](const auto& summary) { static_cast<void>(summary.sum({})); };
        expect_counted(
            "sums", [&] { return CorrelatedSums<float>({.eps = 1e-3, .formula = "y"}, sorter()); }, pairs(input.narrow),
            ask_sum);
        expect_counted(
            "wide sums", [&] { return CorrelatedSums<double>({.eps = 1e-3}, sorter()); }, pairs(input.wide), ask_sum);
    }
}

TEST_CASE("All memory of names and of parts is counted") {
    const HeldInput input;
    const auto nothing = [](const auto& /*summary*/) {};
    const auto each = [](const auto& add) {
        return [&add](auto& summary, std::size_t from, std::size_t count) {
            for (; count > 0; --count, ++from) add(summary, from);
        };
    };
    expect_counted(
        "names", [] { return Frequencies<std::string>({.eps = 1e-3}); }, span_of(input.names), ask_frequent);
    expect_counted(
        "networks",
        [] {
            return HeavyPrefixes<Ipv6>({.eps = 1e-2, .support = 0.1, .lengths = {0, 8, 16, 32}});
        },
        span_of(input.addresses), [](const auto& summary) { static_cast<void>(summary.heavy(0.1)); });
    expect_counted(
        "different values", [] { return Distinct(); }, span_of(input.wide), nothing);
    const auto group = [&](std::size_t i) { return "the group of number " + std::to_string(input.keys[i] % 300); };
    const auto to_group = [&](auto& all, std::size_t i) { all.add(group(i), input.wide[i]); };
    const auto name_to_group = [&](auto& all, std::size_t i) { all.add(group(i), input.names[i]); };
    const auto at_time = [&](auto& all, std::size_t i) { all.add(static_cast<double>(i) / 500, input.wide[i]); };
    using OfQuantiles = Quantiles<double>;
    using OfFrequencies = Frequencies<double>;
    const auto quantiles = [] { return OfQuantiles({.eps = 1e-2}); };
    const auto frequencies = [] { return OfFrequencies({.eps = 1e-2}); };
    expect_counted(
        "groups of quantiles", [&] { return Grouped<OfQuantiles>(quantiles); }, each(to_group), nothing);
    expect_counted(
        "groups of frequencies", [&] { return Grouped<OfFrequencies>(frequencies); }, each(to_group), nothing);
    expect_counted(
        "groups of names",
        [] { return Grouped<Frequencies<std::string>>([] { return Frequencies<std::string>({.eps = 1e-2}); }); },
        each(name_to_group), nothing);
    const auto ask_seconds = [](const auto& all) { static_cast<void>(all.summary(*all.latest())); };
    expect_counted(
        "seconds of quantiles", [&] { return Recent<OfQuantiles>(60, quantiles); }, each(at_time), ask_seconds);
    expect_counted(
        "seconds of frequencies", [&] { return Recent<OfFrequencies>(60, frequencies); }, each(at_time), ask_seconds);
}

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
