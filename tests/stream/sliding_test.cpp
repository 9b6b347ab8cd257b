// Sliding windows: compares every answer with the exact window while the stream goes on.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <utility>

#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"
#include "stream/orders.hpp"
#include "stream/sliding_window.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

const std::vector<double> phis = [] {
    std::vector<double> list;
    for (int i = 0; i <= 100; ++i) list.push_back(i / 100.0);
    return list;
}();

std::vector<double> values_of_window(const std::vector<double>& values, std::size_t end, std::uint64_t width) {
    const auto from = end - std::min<std::size_t>(end, static_cast<std::size_t>(width));
    return {values.begin() + static_cast<std::ptrdiff_t>(from), values.begin() + static_cast<std::ptrdiff_t>(end)};
}

// The worst error of a rank in the last `width` values, as a fraction of eps width.
double worst_rank(const SlidingQuantiles<double>& sliding, std::vector<double> window, std::uint64_t width) {
    std::sort(window.begin(), window.end());
    double worst = 0;
    bool bounded = true;
    for (const auto& q : sliding.quantiles(phis, width)) {
        worst = std::max(worst, rank_error(window, q.value, q.rank));
        const auto first = std::lower_bound(window.begin(), window.end(), q.value) - window.begin() + 1;
        const auto last = std::upper_bound(window.begin(), window.end(), q.value) - window.begin();
        bounded = bounded && static_cast<std::int64_t>(q.rank_lower) <= std::max<std::int64_t>(last, 1) &&
                  static_cast<std::int64_t>(q.rank_upper) >=
                      std::min<std::int64_t>(first, static_cast<std::int64_t>(window.size()));
    }
    CHECK(bounded);
    return worst / (sliding.options().eps * static_cast<double>(window.size()));
}

double worst_count(const SlidingFrequencies<double>& sliding, const std::vector<double>& window, std::uint64_t width) {
    const auto counts = exact_counts(window);
    const auto w = static_cast<double>(window.size());
    const double eps = sliding.eps();
    double worst = 0;
    for (const double support : {eps, std::min(3 * eps, 1.0), 0.5}) {
        std::map<double, Count> found;
        bool right = true;
        for (const auto& [value, count] : sliding.frequent(std::max(support, eps), width)) {
            found[value] = count;
            const auto at = counts.find(value);
            const auto exact = at == counts.end() ? 0 : at->second;
            right = right && count.lower <= exact && count.upper >= exact &&
                    static_cast<double>(exact) >= (std::max(support, eps) - eps) * w;
            worst = std::max(worst, std::abs(static_cast<double>(exact) - static_cast<double>(count.estimate)));
        }
        for (const auto& [value, exact] : counts) {
            right = right && (static_cast<double>(exact) < std::max(support, eps) * w || found.count(value) == 1);
        }
        CHECK(right);
    }
    return worst / (eps * w);
}

}  // namespace

TEST_CASE("Sliding windows of fixed width keep eps, at every edge") {
    constexpr std::size_t n = 60'000;
    for (const auto& order : orders) {
        const auto values = stream(order, n, 31);
        for (const double eps : {1e-1, 1e-2, 1e-3, 1e-4}) {
            for (const std::uint64_t window : {1U, 100U, 7'000U, 30'000U}) {
                CAPTURE(order);
                CAPTURE(eps);
                CAPTURE(window);
                SlidingQuantiles<double> quantiles({.eps = eps, .window = window});
                SlidingFrequencies<double> frequencies({.eps = eps, .window = window});
                double rank = 0, count = 0;
                std::size_t bytes = 0;
                std::mt19937 random(1);
                for (std::size_t i = 0; i < n;) {
                    const auto part = std::min<std::size_t>(1 + random() % 9000, n - i);
                    quantiles.add(std::span(values).subspan(i, part));
                    frequencies.add(std::span(values).subspan(i, part));
                    i += part;
                    const auto exact = values_of_window(values, i, window);
                    rank = std::max(rank, worst_rank(quantiles, exact, window));
                    count = std::max(count, worst_count(frequencies, exact, window));
                    bytes = std::max(bytes, quantiles.summary_bytes());
                }
                CHECK(rank <= 1);
                CHECK(count <= 1);
                if (window == 30'000) {
                    MESSAGE(order << ", eps " << eps << ", window " << window << ": worst rank error "
                                  << rank * eps * static_cast<double>(window) << ", count error "
                                  << count * eps * static_cast<double>(window) << " of "
                                  << eps * static_cast<double>(window) << ", " << bytes << " bytes");
                }
            }
        }
    }
}

TEST_CASE("Sliding windows of variable width keep eps of each width") {
    constexpr std::size_t n = 60'000;
    for (const auto& order : orders) {
        const auto values = stream(order, n, 32);
        for (const double eps : {1e-1, 1e-2}) {
            CAPTURE(order);
            CAPTURE(eps);
            constexpr std::uint64_t window = 45'000;
            SlidingQuantiles<double> quantiles({.eps = eps, .window = window, .widths = Widths::Variable});
            SlidingFrequencies<double> frequencies({.eps = eps, .window = window, .widths = Widths::Variable});
            double rank = 0, count = 0;
            std::mt19937 random(2);
            for (std::size_t i = 0; i < n;) {
                const auto part = std::min<std::size_t>(1 + random() % 9000, n - i);
                quantiles.add(std::span(values).subspan(i, part));
                frequencies.add(std::span(values).subspan(i, part));
                i += part;
                for (const std::uint64_t width :
                     {1U, 2U, 31U, 127U, 1279U, 1281U, 1500U, 5000U, 12'799U, 12'801U, 20'000U, 45'000U}) {
                    CAPTURE(i);
                    CAPTURE(width);
                    const auto exact = values_of_window(values, i, width);
                    const double r = worst_rank(quantiles, exact, width), c = worst_count(frequencies, exact, width);
                    CHECK(r <= 1);
                    CHECK(c <= 1);
                    rank = std::max(rank, r);
                    count = std::max(count, c);
                }
            }
            MESSAGE(order << ", eps " << eps << ", any width up to " << window << ": worst rank error " << rank
                          << " and count error " << count << " of eps W, " << quantiles.summary_bytes() << " bytes");
        }
    }
}

TEST_CASE("The memory for a window of a long stream depends only on the window") {
    std::size_t early = 0;
    SlidingQuantiles<float> quantiles({.eps = 0.02, .window = 50'000});
    SlidingQuantiles<float> variable({.eps = 0.05, .window = 50'000, .widths = Widths::Variable});
    std::mt19937 random(3);
    std::vector<float> values(10'000);
    for (int i = 0; i < 100; ++i) {
        for (auto& v : values) v = static_cast<float>(random());
        quantiles.add(values);
        variable.add(values);
        CHECK(quantiles.quantile(0.5).rank > 0);  // settles the values in flight
        CHECK(variable.quantile(0.5).rank > 0);
        if (i == 20) early = quantiles.summary_bytes() + variable.summary_bytes();
    }
    CHECK(quantiles.n() == 1'000'000);
    CHECK(static_cast<double>(quantiles.summary_bytes() + variable.summary_bytes()) <=
          1.2 * static_cast<double>(early));
}

// Counts the values and the sets of values that arrive.
class Counting final : public WindowSorter {
  public:
    explicit Counting(std::vector<std::size_t>& windows, std::size_t* calls = nullptr)
        : windows_(windows), calls_(calls) {}
    void begin(Keys keys, std::size_t window) override {
        windows_.insert(windows_.end(), (keys.size() + window - 1) / window, window);
        if (calls_) ++*calls_;
        sorter_->begin(keys, window);
    }
    void finish() override { sorter_->finish(); }
    [[nodiscard]] std::size_t depth() const override { return 1; }
    [[nodiscard]] std::size_t batch_bytes() const override { return 1; }
    [[nodiscard]] Times times() const override { return {}; }
    [[nodiscard]] std::string name() const override { return "counting"; }

  private:
    std::vector<std::size_t>& windows_;
    std::size_t* calls_;
    std::unique_ptr<WindowSorter> sorter_ = cpu_window_sorter(1);
};

TEST_CASE("Summaries of windows whose values are never kept keep eps, with a chain and with levels that sort") {
    constexpr std::size_t n = sanitized ? 6'000 : 12'000;
    for (const auto& order : orders) {
        const auto values = stream(order, n, 33);
        for (const double eps : {0.3, 1e-2, 4e-4}) {
            for (const std::uint64_t window : {1U, 100U, 1'025U, 5'000U}) {
                for (const auto blocks : {SlidingBlocks::Merged, SlidingBlocks::Sorted}) {
                    CAPTURE(order);
                    CAPTURE(eps);
                    CAPTURE(window);
                    const bool sorted = blocks == SlidingBlocks::Sorted;
                    CAPTURE(sorted);
                    const SlidingOptions options{
                        .eps = eps,
                        .window = window,
                        .paper = {.raw = RawValues::Never, .blocks = blocks, .sorter_min = window % 2 == 0 ? 50U : 0U}};
                    SlidingQuantiles<double> quantiles(options);
                    SlidingFrequencies<double> frequencies(options);
                    double rank = 0, count = 0;
                    std::mt19937 random(1);
                    for (std::size_t i = 0; i < n;) {
                        const auto part = std::min<std::size_t>(1 + random() % 4000, n - i);
                        quantiles.add(std::span(values).subspan(i, part));
                        frequencies.add(std::span(values).subspan(i, part));
                        i += part;
                        const auto exact = values_of_window(values, i, window);
                        rank = std::max(rank, worst_rank(quantiles, exact, window));
                        count = std::max(count, worst_count(frequencies, exact, window));
                    }
                    CHECK(rank <= 1);
                    CHECK(count <= 1);
                }
            }
        }
    }
}

TEST_CASE("The errors of levels are those of the paper") {
    using detail::stream::SlidingPlan;
    const auto plan_of = [](double eps, std::uint64_t window, SlidingBlocks blocks = SlidingBlocks::Merged) {
        return SlidingPlan({.eps = eps, .window = window, .paper = {.raw = RawValues::Never, .blocks = blocks}});
    };
    // L = log2(4 / eps), eps_l = eps / (2 (2 L + 2)) 2^(L - l), and the example of section 5.3: L is about 20, eps_0
    // about 0.05.
    for (const std::uint64_t window : {1'000'000U, 10'000'000U}) {
        const auto plan = plan_of(4e-6, window);
        CHECK_FALSE(plan.is_exact());
        CHECK(plan.levels == 20);
        CHECK(plan.level_error(0) == doctest::Approx(0.05).epsilon(0.01));
        for (int l = 0; l <= plan.levels; ++l)
            CHECK(plan.level_error(l) == doctest::Approx(4e-6 / (2 * (2 * 20 + 2)) * std::pow(2.0, 20 - l)));
        CHECK(SlidingPlan({.eps = 4e-6, .window = window}).is_exact());
    }
    // If nothing is rounded, eps_0 = 1 / (L + 1), and each level may be off by the same number of values.
    for (const int bits : {3, 8, 12}) {
        const double eps = std::ldexp(4.0, -bits);
        const auto window = std::uint64_t{1} << static_cast<unsigned>(bits + 7);
        const auto plan = plan_of(eps, window, SlidingBlocks::Sorted);
        CHECK(plan.levels == bits);
        CHECK(plan.level_error(0) == doctest::Approx(1.0 / (bits + 1)));
        CHECK(plan.length(0) == 128);
        CHECK(plan.length(plan.top) == window);
        for (int l = 0; l <= plan.top; ++l) {
            CHECK(plan.level_error(l) * static_cast<double>(plan.length(l)) ==
                  doctest::Approx(plan.max_error(static_cast<double>(window))));
            CHECK(plan.block_error(l, window) == doctest::Approx(plan.max_error(static_cast<double>(window))));
        }
    }
}

TEST_CASE("Levels with their own sorts sort each value once per level, and the sorter gets the upper levels") {
    const auto values = stream("random", 1 << 16, 34);
    std::size_t calls = 0;
    const auto windows_by = [&](std::size_t min, SlidingBlocks blocks) {
        std::vector<std::size_t> windows;
        calls = 0;
        SlidingQuantiles<double> sliding({.eps = 1.0 / 64,  // L = 8
                                          .window = 1 << 14,
                                          .paper = {.raw = RawValues::Never, .blocks = blocks, .sorter_min = min}},
                                         std::make_unique<Counting>(windows, &calls));
        sliding.add(values);
        static_cast<void>(sliding.summary_bytes());
        std::sort(windows.begin(), windows.end());
        return windows;
    };
    const auto all = windows_by(1, SlidingBlocks::Sorted);
    CHECK(windows_by(0, SlidingBlocks::Sorted).empty());  // none has 2^12 values
    std::size_t sum = 0;
    for (const auto w : all) sum += w;
    CHECK(sum == values.size() * 9);  // L + 1 levels: blocks of 64 to 2^14 values
    CHECK(calls < all.size() / 3);    // four sets of one size together, as in the paper
    CHECK(all.front() <= 9);          // 1 / eps_0 = L + 1
    const auto upper = windows_by(300, SlidingBlocks::Sorted);
    CHECK(!upper.empty());
    CHECK(upper.size() < all.size());
    CHECK(std::equal(upper.begin(), upper.end(), all.end() - static_cast<std::ptrdiff_t>(upper.size())));
    CHECK(upper.front() >= 300);
    CHECK(*(all.end() - static_cast<std::ptrdiff_t>(upper.size()) - 1) < 300);
    CHECK(windows_by(1 << 20, SlidingBlocks::Sorted).empty());
    CHECK(windows_by(1 << 20, SlidingBlocks::Merged).empty());
    CHECK(!windows_by(0, SlidingBlocks::Merged).empty());
}

TEST_CASE("Sliding windows save and load with the same answers, and take more values") {
    const auto values = stream("random", 30'000, 8);
    const std::array forms{SlidingOptions{}, SlidingOptions{.widths = Widths::Variable},
                           SlidingOptions{.paper = {.raw = RawValues::Never}},
                           SlidingOptions{.paper = {.raw = RawValues::Never, .blocks = SlidingBlocks::Sorted}}};
    for (auto options : forms) {
        for (const std::uint64_t window : {50U, 20'000U}) {
            for (const std::size_t n : {0U, 1U, 49U, 12'345U, 30'000U}) {
                CAPTURE(window);
                CAPTURE(n);
                options.eps = 0.05;
                options.window = window;
                SlidingQuantiles<double> quantiles(options);
                SlidingFrequencies<double> frequencies(options);
                quantiles.add(std::span(values).first(n));
                frequencies.add(std::span(values).first(n));
                quantiles.add(std::nan(""));
                const auto bytes = quantiles.save(), other = frequencies.save();
                auto q = SlidingQuantiles<double>::load(bytes);
                auto f = SlidingFrequencies<double>::load(other);
                CHECK(q.nans() == 1);
                CHECK(q.options().paper.raw == options.paper.raw);
                CHECK(q.options().paper.blocks == options.paper.blocks);
                CHECK(q.options().widths == options.widths);
                for (int i = 0; i < 3; ++i) {
                    CHECK(q.save() == quantiles.save());
                    CHECK(f.save() == frequencies.save());
                    for (auto* s : {&q, &quantiles}) s->add(std::span(values).first(3000));
                    for (auto* s : {&f, &frequencies}) s->add(std::span(values).first(3000));
                }
                CHECK_THROWS_AS(static_cast<void>(SlidingFrequencies<double>::load(bytes)), InvalidArgument);
            }
        }
    }
}

TEST_CASE("Windows of several streams merge as summaries") {
    std::vector<double> all;
    Quantiles<double> sum({.eps = 0.01});
    Frequencies<double> counts({.eps = 0.01});
    for (std::size_t i = 0; i < 10; ++i) {
        const auto values = stream(i % 2 == 0 ? "many ties" : "heavy tail", 40'000, i);
        SlidingQuantiles<double> quantiles({.eps = 0.01, .window = 30'000});
        SlidingFrequencies<double> frequencies({.eps = 0.01, .window = 30'000});
        quantiles.add(values);
        frequencies.add(values);
        sum.merge(quantiles.summary());
        counts.merge(frequencies.summary());
        const auto window = values_of_window(values, values.size(), 30'000);
        all.insert(all.end(), window.begin(), window.end());
    }
    CHECK(counts.n() == sum.n());
    CHECK(std::abs(static_cast<double>(sum.n()) - static_cast<double>(all.size())) <= 0.01 / 4 * 300'000);
    std::sort(all.begin(), all.end());
    for (const auto& q : sum.quantiles(phis))
        CHECK(rank_error(all, q.value, q.rank) <= 0.01 * static_cast<double>(all.size()));
    const auto exact = exact_counts(all);
    for (const auto& [value, count] : counts.frequent(0.02)) {
        const auto at = exact.find(value);
        CHECK(std::abs(static_cast<double>(count.estimate) - static_cast<double>(at == exact.end() ? 0 : at->second)) <=
              0.01 * 300'000);
    }
}

TEST_CASE("A window that is not full yet keeps eps of the values so far") {
    for (const double eps : {0.1, 0.01, 0.001}) {
        // So wide that the values themselves are not kept.
        const auto window = static_cast<std::uint64_t>(3000 / eps);
        const auto values = stream("random", std::min<std::size_t>(2 * window / 3, 60'000), 41);
        SlidingQuantiles<double> quantiles({.eps = eps, .window = window});
        SlidingFrequencies<double> frequencies({.eps = eps, .window = window});
        double rank = 0, count = 0;
        for (std::size_t i = 0, part = 0; i < values.size(); i += part) {
            part = std::min(1 + i / 5, values.size() - i);
            quantiles.add(std::span(values).subspan(i, part));
            frequencies.add(std::span(values).subspan(i, part));
            const auto exact = values_of_window(values, i + part, window);
            rank = std::max(rank, worst_rank(quantiles, exact, window));
            count = std::max(count, worst_count(frequencies, exact, window));
        }
        CHECK(rank <= 1);
        CHECK(count <= 1);
    }
}

TEST_CASE("Arguments that a sliding window refuses") {
    using Q = SlidingQuantiles<float>;
    CHECK_THROWS_AS(Q({.eps = 0.01, .window = 0}), InvalidArgument);
    CHECK_THROWS_AS(Q({.eps = 0.6, .window = 10}), InvalidArgument);
    CHECK_THROWS_AS(Q({.eps = 1e-7, .window = 10}), InvalidArgument);
    Q fixed({.eps = 0.1, .window = 10}), variable({.eps = 0.1, .window = 10, .widths = Widths::Variable});
    CHECK_THROWS_AS(static_cast<void>(fixed.quantile(0.5)), InvalidArgument);
    fixed.add(1);
    variable.add(1);
    CHECK(fixed.quantile(0.5).value == 1);
    CHECK(variable.quantile(0.5, 3).value == 1);
    CHECK_THROWS_AS(static_cast<void>(fixed.quantile(0.5, 5)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(variable.quantile(0.5, 0)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(variable.quantile(0.5, 11)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(variable.quantile(-1)), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(SlidingFrequencies<float>({.eps = 0.1, .window = 10}).frequent(0.01)),
                    InvalidArgument);
}

// Does nothing before finish() asks for it, like a GPU.
class Late : public WindowSorter {
  public:
    void begin(Keys keys, std::size_t window) override { batches_.emplace_back(keys, window); }
    void finish() override {
        const auto [keys, window] = batches_.front();
        batches_.pop_front();
        sort_windows_on_cpu(keys, window);
    }
    [[nodiscard]] std::size_t depth() const override { return 2; }
    [[nodiscard]] std::size_t batch_bytes() const override { return 4096; }
    [[nodiscard]] Times times() const override { return {}; }
    [[nodiscard]] std::string name() const override { return "late"; }

  private:
    std::deque<std::pair<Keys, std::size_t>> batches_;
};

TEST_CASE("Short windows are answered while blocks are in flight") {
    const SlidingOptions options{.eps = 0.05, .window = 50'000, .widths = Widths::Variable};
    SlidingQuantiles<double> late(options, std::make_unique<Late>()), at_once(options);
    const auto values = stream("random", 20'000, 5);
    for (std::size_t i = 0; i < values.size(); i += 700) {
        CAPTURE(i);
        const auto part = std::span(values).subspan(i, std::min<std::size_t>(700, values.size() - i));
        late.add(part);
        at_once.add(part);
        for (const std::uint64_t width : {1U, 100U, 2000U, 20'000U})
            CHECK(late.quantile(0.5, width).value == at_once.quantile(0.5, width).value);
    }
    CHECK(late.save() == at_once.save());
}

TEST_CASE("A window of a finer eps") {
    constexpr std::uint64_t window = 400'000;
    for (const auto* order : {"random", "adversarial"}) {
        const auto values = stream(order, 750'000, 33);
        SlidingQuantiles<double> quantiles({.eps = 1e-3, .window = window}, cpu_window_sorter());
        SlidingFrequencies<double> frequencies({.eps = 1e-3, .window = window}, cpu_window_sorter());
        double rank = 0, count = 0;
        for (std::size_t i = 0; i < values.size(); i += 250'000) {
            quantiles.add(std::span(values).subspan(i, 250'000));
            frequencies.add(std::span(values).subspan(i, 250'000));
            const auto exact = values_of_window(values, i + 250'000, window);
            rank = std::max(rank, worst_rank(quantiles, exact, window));
            count = std::max(count, worst_count(frequencies, exact, window));
        }
        CHECK(rank <= 1);
        CHECK(count <= 1);
        MESSAGE(order << ", eps 0.001, window " << window << ": worst rank error " << rank * 400 << ", count error "
                      << count * 400 << " of 400, " << quantiles.summary_bytes() << " bytes, "
                      << window * sizeof(double) << " of the window itself");
    }
}

TEST_CASE("The memory of a window does not grow with eps times its length") {
    SlidingQuantiles<float> wide({.eps = 0.5, .window = 1'000'000'000});
    std::vector<float> values(100'000);
    std::mt19937 random(3);
    for (int i = 0; i < 10; ++i) {
        for (auto& v : values) v = static_cast<float>(random());
        wide.add(values);
    }
    CHECK(wide.quantile(0.5).rank == 500'000);
    CHECK(wide.bytes() < 4'000'000);
    auto loaded = SlidingQuantiles<float>::load(wide.save());
    CHECK(loaded.save() == wide.save());
    // Base blocks shorter than the part that the old end of the window may lack.
    constexpr std::uint64_t window = 400'000;
    for (const auto* order : {"random", "adversarial"}) {
        const auto all = stream(order, 900'000, 34);
        SlidingQuantiles<double> quantiles({.eps = 0.4, .window = window});
        SlidingFrequencies<double> frequencies({.eps = 0.4, .window = window});
        constexpr std::size_t part = 37'500;
        for (std::size_t end = part; end <= all.size(); end += part) {
            quantiles.add(std::span(all).subspan(end - part, part));
            frequencies.add(std::span(all).subspan(end - part, part));
            if (end / part % 3 != 0) continue;  // exact answers take most of the time
            const auto exact = values_of_window(all, end, window);
            CHECK(worst_rank(quantiles, exact, window) <= 1);
            CHECK(worst_count(frequencies, exact, window) <= 1);
        }
        auto q = SlidingQuantiles<double>::load(quantiles.save());
        q.add(std::span(all).first(50'000));
        quantiles.add(std::span(all).first(50'000));
        CHECK(q.save() == quantiles.save());
    }
}

TEST_CASE("A window that may take too much memory is refused with the memory that it takes") {
    using Q = SlidingQuantiles<float>;
    CHECK_THROWS_WITH_AS(Q({.eps = 1e-6, .window = 1'000'000'000}), doctest::Contains("GiB"), InvalidArgument);
    CHECK_THROWS_WITH_AS(Q({.eps = 0.01, .window = 100'000, .max_bytes = 1000}), doctest::Contains("max_bytes"),
                         InvalidArgument);
    Q({.eps = 1e-5, .window = 1'000'000'000});
}

TEST_CASE("A window whose values are kept, queried repeatedly") {
    const auto values = stream("many ties", 30'000, 14);
    std::mt19937 random(15);
    for (const auto widths : {Widths::Fixed, Widths::Variable}) {
        SlidingQuantiles<double> quantiles({.eps = 0.01, .window = 7000, .widths = widths});
        SlidingFrequencies<double> frequencies({.eps = 0.01, .window = 7000, .widths = widths});
        for (std::size_t i = 0; i < values.size();) {
            const auto part =
                std::min<std::size_t>(1 + random() % (random() % 10 == 0 ? 9000 : 300), values.size() - i);
            for (std::size_t k = i; k < i + part; ++k) {
                quantiles.add(values[k]);
                if (k % 50 == 0) quantiles.add(std::nan(""));
            }
            frequencies.add(std::span(values).subspan(i, part));
            i += part;
            const std::uint64_t width = widths == Widths::Fixed || random() % 2 == 0 ? 7000 : 1000;
            const auto exact = values_of_window(values, i, width);
            CHECK(worst_rank(quantiles, exact, width) == 0);
            CHECK(worst_count(frequencies, exact, width) == 0);
        }
    }
}
