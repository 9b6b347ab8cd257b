// A sorter that fails now and then: an error, and nothing is lost. Memory that fails, and nothing comes twice.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "cpu/window_sorter.hpp"
#include "quadmill/stream.hpp"
#include "stream/block_trees.hpp"
#include "stream/intake.hpp"
#include "stream/orders.hpp"
#include "stream/quantile_summary.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

struct Failure {};

// Sorts in batches of a few windows, and throws instead of one call in five.
class Failing : public WindowSorter {
  public:
    Failing(bool in_begin, unsigned seed) : in_begin_(in_begin), random_(seed), sorter_(cpu_window_sorter(1)) {}
    void begin(Keys keys, std::size_t window) override {
        if (in_begin_ && random_() % 5 == 0) throw Failure();
        sorter_->begin(keys, window);
    }
    void finish() override {
        sorter_->finish();
        if (!in_begin_ && random_() % 5 == 0) throw Failure();
    }
    [[nodiscard]] std::size_t depth() const override { return 2; }
    [[nodiscard]] std::size_t batch_bytes() const override { return 4096; }
    [[nodiscard]] Times times() const override { return {}; }
    [[nodiscard]] std::string name() const override { return "failing"; }

  private:
    bool in_begin_;
    std::mt19937 random_;
    std::unique_ptr<WindowSorter> sorter_;
};

template <class Work>
void until_it_works(Work work) {
    for (int i = 0; i < 1000; ++i) {
        try {
            return work();
        } catch (const Failure&) {  // NOLINT(bugprone-empty-catch)
            // Once more, from where it stopped.
        }
    }
    FAIL("it never works");
}

// Adds all, going on behind what was taken whenever the sorter fails.
template <class Summary>
void add_all(Summary& summary, const std::function<void(std::size_t, std::size_t)>& add, std::size_t size) {
    std::mt19937 random(1);
    const auto taken = [&] { return static_cast<std::size_t>(summary.n() + summary.nans()); };
    while (taken() < size) until_it_works([&] { add(taken(), std::min<std::size_t>(random() % 900, size - taken())); });
}

template <class Summary>
std::vector<std::byte> saved(const Summary& summary) {
    std::vector<std::byte> bytes;
    until_it_works([&] { bytes = summary.save(); });
    return bytes;
}

// There is no memory for the summary of the window of this number, counted from 1.
struct Unlucky : detail::stream::QuantileSummary {
    using Share = detail::stream::Share;
    static inline int windows_left = 0;

    Unlucky() = default;
    explicit Unlucky(QuantileSummary of) : QuantileSummary(std::move(of)) {}
    template <class T>
    static Unlucky of(const detail::stream::Window<T>& sorted, double max_error,
                      const Share& share = detail::stream::alone) {
        if (--windows_left == 0) throw std::bad_alloc();
        return Unlucky(QuantileSummary::of(sorted, max_error, share));
    }
    static Unlucky merged(const Unlucky& a, const Unlucky& b, Unlucky&& memory, const Share& share) {
        return Unlucky(QuantileSummary::merged(a, b, std::move(memory), share));
    }
};

}  // namespace

TEST_CASE("Blocks that wait for a tree come once, also where there is no memory for one of them") {
    const detail::stream::SlidingPlan plan({.eps = 0.01, .window = 10'000'000});
    REQUIRE(plan.tree_height() > 1);
    const auto block = static_cast<std::size_t>(plan.block);
    std::vector<float> values(block);
    std::iota(values.begin(), values.end(), 0.0F);
    detail::stream::SlidingWindow<Unlucky> window(plan);
    detail::stream::BlockTrees<float, Unlucky> trees(plan);
    StreamTimes times;
    for (int i = 0; i < 3; ++i)
        trees.add(detail::stream::Window<float>(values.data(), block), window, detail::stream::alone, times);
    CHECK(window.n() == 0);
    Unlucky::windows_left = 2;
    CHECK_THROWS_AS(trees.flush(window, times), std::bad_alloc);
    CHECK(window.n() == 2 * block);
    trees.flush(window, times);
    CHECK(window.n() == 2 * block);
}

TEST_CASE("Where a sorter that samples fails, each window is sampled once") {
    class Sampling final : public Failing {
      public:
        using Failing::Failing;
        void begin(Keys keys, std::size_t window) override {
            Failing::begin(keys, window);
            samples_.emplace_back();
        }
        [[nodiscard]] bool can_sample() const override { return true; }
        void begin_sample(Keys keys, std::size_t window, std::size_t step) override {
            Failing::begin(keys, window);
            samples_.push_back(detail::cpu::WindowSample{keys, window, step});
        }
        void finish() override {
            const auto sample = samples_.front();
            samples_.pop_front();
            Failing::finish();
            if (sample) sample->take();
        }

      private:
        std::deque<std::optional<detail::cpu::WindowSample>> samples_;
    };
    // As long as batches are whole windows, the windows are those of a sorter that works, in some order.
    constexpr std::size_t window = 100, step = 9, windows = 400;
    std::vector<float> values(window * windows);
    std::iota(values.begin(), values.end(), 0.0F);
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        detail::stream::Intake<float> intake(std::make_unique<Sampling>(seed % 2 == 0, seed), window);
        intake.sample(step);
        REQUIRE(intake.step() == step);
        std::vector<int> taken(windows, 0);
        const auto take = detail::stream::one_by_one<float>([&](const detail::stream::Window<float>& sample) {
            const auto first = sample.values().front();
            ++taken.at(static_cast<std::size_t>(first) / window);
            REQUIRE(sample.size() == 12);
            for (std::size_t i = 0; i < sample.size(); ++i)
                REQUIRE(sample.values()[i] == first + static_cast<float>(std::min(i * step, window - 1)));
        });
        while (intake.n() < values.size()) {
            until_it_works([&] {
                const auto rest = std::span(std::as_const(values)).subspan(static_cast<std::size_t>(intake.n()));
                intake.add(rest.first(std::min<std::size_t>(rest.size(), 700)), take);
            });
        }
        until_it_works([&] { intake.settle(take); });
        CHECK(std::ranges::count(taken, 1) == windows);
    }
}

TEST_CASE("Whatever the sorter does, answers are those of a sorter that works") {
    auto values = stream("random", 20'000, 3);
    for (std::size_t i = 0; i < values.size(); i += 97) values[i] = std::nan("");
    std::vector<float> floats(values.begin(), values.end());
    for (unsigned seed = 0; seed < 20; ++seed) {
        const bool in_begin = seed % 2 == 0;
        CAPTURE(seed);
        const auto run = [&](const char* name, auto right, auto wrong) {
            CAPTURE(name);
            right.add(values);
            add_all(
                wrong, [&](std::size_t at, std::size_t n) { wrong.add(std::span(values).subspan(at, n)); },
                values.size());
            CHECK(saved(wrong) == right.save());
        };
        const auto failing = [&] { return std::make_unique<Failing>(in_begin, seed); };
        const QuantileOptions quantiles{.eps = 0.01, .window = 100};
        run("Quantiles", Quantiles<double>(quantiles), Quantiles<double>(quantiles, failing()));
        const FrequencyOptions frequencies{.eps = 0.01, .window = 100};
        run("Frequencies", Frequencies<double>(frequencies), Frequencies<double>(frequencies, failing()));
        for (const auto& sliding : {SlidingOptions{.eps = 0.2, .window = 5000},
                                    SlidingOptions{.eps = 0.2, .window = 5000, .widths = Widths::Variable},
                                    SlidingOptions{.eps = 0.02,
                                    .window = 5000,
                                    .raw = RawValues::Never,
                                    .blocks = SlidingBlocks::Sorted,
                                    .sorter_least = 100}}) {
            run("SlidingQuantiles", SlidingQuantiles<double>(sliding), SlidingQuantiles<double>(sliding, failing()));
            run("SlidingFrequencies", SlidingFrequencies<double>(sliding),
                SlidingFrequencies<double>(sliding, failing()));
        }
        const auto sum = [&]<class T>(const std::vector<T>& x) {
            const CorrelatedSumOptions sums{.eps = 0.01, .window = 100};
            CorrelatedSums<T> right(sums), wrong(sums, failing());
            right.add(x, values);
            add_all(
                wrong,
                [&](std::size_t at, std::size_t n) {
                    wrong.add(std::span(x).subspan(at, n), std::span(values).subspan(at, n));
                },
                values.size());
            CHECK(saved(wrong) == right.save());
        };
        sum(floats);
        sum(values);
    }
}
