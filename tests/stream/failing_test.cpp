// A sorter that fails from time to time gives an error, and nothing is lost. If memory fails, nothing is counted twice.
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
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"
#include "stream/block_trees.hpp"
#include "stream/each_window.hpp"
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

// Sorts in begin(), in batches of 1000 floats, of which two may be in flight.
class Prompt : public WindowSorter {
  public:
    void begin(Keys keys, std::size_t window) override { sort_windows_on_cpu(keys, window); }
    void finish() override {}
    [[nodiscard]] std::size_t depth() const override { return 2; }
    [[nodiscard]] std::size_t batch_bytes() const override { return 4096; }
    [[nodiscard]] Times times() const override { return {}; }
    [[nodiscard]] std::string name() const override { return "prompt"; }
};

std::vector<float> counted_up(std::size_t n) {
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 0.0F);
    return values;
}

template <class Work>
void until_it_works(Work work) {
    for (int i = 0; i < 1000; ++i) {
        try {
            return work();
        } catch (const Failure&) {  // NOLINT(bugprone-empty-catch)
            // Continues where it stopped.
        }
    }
    FAIL("it never works");
}

// Adds all values. If the sorter fails, continues after the values that were taken.
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

// There is no memory for the summary of the window with this number, counted from 1.
struct Unlucky : detail::stream::QuantileSummary {
    using Share = detail::stream::Share;
    static inline int windows_left = 0;

    Unlucky() = default;
    explicit Unlucky(QuantileSummary of) : QuantileSummary(std::move(of)) {}
    static Unlucky of(const detail::stream::Window& sorted, double max_error,
                      const Share& share = detail::stream::alone) {
        if (--windows_left == 0) throw std::bad_alloc();
        return Unlucky(QuantileSummary::of(sorted, max_error, share));
    }
    static Unlucky merged(const Unlucky& a, const Unlucky& b, Unlucky&& memory, const Share& share) {
        return Unlucky(QuantileSummary::merged(a, b, std::move(memory), share));
    }
};

}  // namespace

TEST_CASE("Blocks that wait for a tree are counted once, even if there is no memory for one of them") {
    const detail::stream::SlidingPlan plan({.eps = 0.01, .window = 10'000'000},
                                           detail::stream::SlidingPlan::Levels::All);
    REQUIRE(plan.tree_height() > 1);
    const auto block = static_cast<std::size_t>(plan.block);
    const auto values = counted_up(block);
    detail::stream::SlidingWindow<Unlucky> window(plan);
    detail::stream::BlockTrees<Unlucky> trees(detail::stream::rule_of<float>, plan, *cpu_window_sorter(1));
    StreamTimes times;
    for (int i = 0; i < 3; ++i) trees.add(detail::stream::window_of(values), window, detail::stream::alone, times);
    CHECK(window.n() == 0);
    Unlucky::windows_left = 2;
    CHECK_THROWS_AS(trees.flush(window, detail::stream::alone, times), std::bad_alloc);
    CHECK(window.n() == 2 * block);
    trees.flush(window, detail::stream::alone, times);
    CHECK(window.n() == 2 * block);
}

TEST_CASE("Values whose copying fails are not counted, and nothing is taken instead") {
    class FailsOnce final : public Prompt {
      public:
        void share(std::size_t count, const std::function<void(std::size_t)>& work) override {
            if (std::exchange(fails_, false)) throw Failure();
            Prompt::share(count, work);
        }
        [[nodiscard]] std::size_t batch_bytes() const override { return std::size_t{1} << 20U; }

      private:
        bool fails_ = true;
    };
    const auto values = counted_up(100'000);
    EachWindow<float> sink;
    IntakeOf<float> intake(std::make_unique<FailsOnce>(), 100, sink);
    CHECK_THROWS_AS(intake.add(values), Failure);
    CHECK(intake.n() == 0);
    intake.settle();
    CHECK(sink.taken == 0);
    intake.add(values);
    intake.settle();
    CHECK(sink.taken == values.size());
}

TEST_CASE("If a window cannot be taken, the values waiting after it are in the next answer once") {
    for (const std::size_t n : {1050UL, 2050UL}) {  // one batch is in flight, or the max number
        CAPTURE(n);
        const auto values = counted_up(n);
        bool fails = false;
        EachWindow<float> sink([&](const auto& /*window*/) {
            if (std::exchange(fails, false)) throw std::bad_alloc();
        });
        IntakeOf<float> intake(std::make_unique<Prompt>(), 100, sink);
        intake.add(values);
        fails = true;
        CHECK_THROWS_AS(static_cast<void>(intake.settle_all()), std::bad_alloc);
        const auto rest = intake.settle_all().values();
        CHECK(std::ranges::equal(values_in<float>(rest), std::span(values).last(50)));
    }
}

TEST_CASE("Values that a failed sorter returned go to it again in batches of its size") {
    class FailsWhenTold final : public Prompt {
      public:
        FailsWhenTold(bool& fails, std::size_t& largest) : fails_(fails), largest_(largest) {}
        void begin(Keys keys, std::size_t window) override {
            largest_ = std::max(largest_, keys.size());
            Prompt::begin(keys, window);
        }
        void finish() override {
            if (std::exchange(fails_, false)) throw Failure();
        }

      private:
        bool& fails_;
        std::size_t& largest_;
    };
    bool fails = false;
    std::size_t largest = 0, taken = 0;
    EachWindow<float> sink([&](const auto& window) { CHECK(window.front() == static_cast<float>(100 * taken++)); });
    IntakeOf<float> intake(std::make_unique<FailsWhenTold>(fails, largest), 100, sink);
    intake.add(counted_up(2900));
    fails = true;
    CHECK_THROWS_AS(intake.settle(), Failure);
    intake.settle();
    CHECK(taken == 29);
    CHECK(largest == 1000);
}

TEST_CASE("If a sampling sorter fails, each window is sampled once") {
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
    // As long as batches are whole windows, the windows are those of a working sorter, in some order.
    constexpr std::size_t window = 100, step = 9, windows = 400;
    const auto values = counted_up(window * windows);
    for (unsigned seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        std::vector<int> taken(windows, 0);
        EachWindow<float> sink([&](const std::vector<float>& sample) {
            const auto first = sample.front();
            ++taken.at(static_cast<std::size_t>(first) / window);
            REQUIRE(sample.size() == 12);
            for (std::size_t i = 0; i < sample.size(); ++i)
                REQUIRE(sample[i] == first + static_cast<float>(std::min(i * step, window - 1)));
        });
        sink.window = window;
        IntakeOf<float> intake(std::make_unique<Sampling>(seed % 2 == 0, seed), window, sink);
        intake.sample(step);
        REQUIRE(intake.step() == step);
        while (intake.n() < values.size()) {
            until_it_works([&] {
                const auto rest = std::span(values).subspan(static_cast<std::size_t>(intake.n()));
                intake.add(rest.first(std::min<std::size_t>(rest.size(), 700)));
            });
        }
        until_it_works([&] { intake.settle(); });
        CHECK(std::ranges::count(taken, 1) == windows);
    }
}

TEST_CASE("If the sorter fails, merged values are complete") {
    class FailsWhileTold final : public Prompt {
      public:
        explicit FailsWhileTold(const bool& fails) : fails_(fails) {}
        void begin(Keys keys, std::size_t window) override {
            if (fails_) throw Failure();
            Prompt::begin(keys, window);
        }

      private:
        const bool& fails_;
    };
    // 450 values wait. With 99 more there are enough for a batch of 500.
    const auto values = stream("random", 549, 3);
    const auto first = std::span(values).first(450), second = std::span(values).subspan(450);
    const auto run = [&]<class Summary, class Options>(const Options& options, const auto& add) {
        bool fails = false;
        Summary right(options), wrong(options, std::make_unique<FailsWhileTold>(fails)), other(options);
        add(right, first);
        add(wrong, first);
        add(other, second);
        right.merge(other);
        fails = true;
        CHECK_NOTHROW(wrong.merge(other));
        fails = false;
        CHECK(wrong.n() == values.size());
        CHECK(wrong.save() == right.save());
    };
    run.operator()<Quantiles<double>>(QuantileOptions{.eps = 0.01, .window = 100},
                                      [](auto& summary, std::span<const double> some) { summary.add(some); });
    const auto run_sums = [&]<class T>(const T& /*type*/) {
        run.template operator()<CorrelatedSums<T>>(CorrelatedSumOptions{.eps = 0.01, .window = 100},
                                                   [](auto& summary, std::span<const double> some) {
                                                       const std::vector<T> x(some.begin(), some.end());
                                                       summary.add(x, some);
                                                   });
    };
    run_sums(0.0F);
    run_sums(0.0);
}

TEST_CASE("With any failures of the sorter, answers equal those of a working sorter") {
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
        for (const auto& sliding :
             {SlidingOptions{.eps = 0.2, .window = 5000},
              SlidingOptions{.eps = 0.2, .window = 5000, .widths = Widths::Variable},
              SlidingOptions{.eps = 0.2, .window = 5000, .paper = {.raw = RawValues::Never}},
              SlidingOptions{.eps = 0.02,
              .window = 5000,
              .paper = {.raw = RawValues::Never, .blocks = SlidingBlocks::Sorted, .sorter_min = 100}}}) {
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
