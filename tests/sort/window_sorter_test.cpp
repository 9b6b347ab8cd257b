// Compares sorters of windows with std::sort, bit by bit: every type, window and order of begin() and finish().
#include "quadmill/window_sorter.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <thread>

#include "cpu/keys.hpp"
#include "cpu/sample_keys.hpp"
#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/halting.hpp"
#include "quadmill/device_group.hpp"
#include "quadmill/error.hpp"
#include "quadmill/stream.hpp"
#include "sort/window_batches.hpp"
#include "sort/window_sorters.hpp"
#include "stream/each_window.hpp"
#include "stream/intake.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

// The GPU gets every second size.
class BySize : public detail::sort::AutoWindowSorter {
  public:
    using AutoWindowSorter::AutoWindowSorter;

  private:
    [[nodiscard]] bool goes_to_gpu(Keys keys, std::size_t /*window*/) const override { return keys.size() % 2 == 0; }
};

// Every use of the channels with every merge, in one texture and in several.
std::vector<std::unique_ptr<WindowSorter>> forms_of_pbsn(const Context& context) {
    std::vector<std::unique_ptr<WindowSorter>> sorters;
    for (const auto channels : {Channels::Windows, Channels::Split}) {
        for (const auto merge : {ChannelMerge::FourWays, ChannelMerge::TwoWays}) {
            const PbsnOptions pbsn{.early_stop = merge == ChannelMerge::FourWays ? EarlyStop::Yes : EarlyStop::No,
                                   .max_texels = merge == ChannelMerge::FourWays ? std::size_t{1} << 24U : 1024U,
                                   .channels = channels,
                                   .channel_merge = merge};
            sorters.push_back(window_sorter(context, {.engine = Engine::Pbsn, .threads = 3, .paper = {.pbsn = pbsn}}));
        }
    }
    return sorters;
}

std::vector<std::unique_ptr<WindowSorter>> all_sorters(const Context& context) {
    std::vector<std::unique_ptr<WindowSorter>> sorters;
    sorters.push_back(cpu_window_sorter(1));
    sorters.push_back(cpu_window_sorter(3));
    sorters.push_back(window_sorter(context, {.engine = Engine::Merge, .threads = 3}));
    sorters.push_back(window_sorter(context, {.engine = Engine::Hybrid, .threads = 4}));
    sorters.push_back(window_sorter(context, {.engine = Engine::Hybrid, .threads = 1}));
    sorters.push_back(window_sorter(context));
    sorters.push_back(std::make_unique<detail::sort::AutoWindowSorter>(context, SortOptions{}));
    sorters.push_back(std::make_unique<BySize>(context, SortOptions{.threads = 2}));
    sorters.push_back(window_sorter(context, {.engine = Engine::Bitonic, .threads = 2}));
    sorters.push_back(window_sorter(context, {.engine = Engine::Pbsn, .threads = 2}));
    sorters.push_back(window_sorter(DeviceGroup({Context::headless(), Context::headless()}),
                                    {.engine = Engine::Merge, .threads = 2}));
    return sorters;
}

class SmallBatches : public WindowSorter {
  public:
    explicit SmallBatches(std::unique_ptr<WindowSorter> sorter) : sorter_(std::move(sorter)) {}
    void begin(Keys keys, std::size_t window) override { sorter_->begin(keys, window); }
    void finish() override { sorter_->finish(); }
    [[nodiscard]] std::size_t depth() const override { return sorter_->depth(); }
    [[nodiscard]] std::size_t batch_bytes() const override { return 10'000; }
    [[nodiscard]] Times times() const override { return sorter_->times(); }
    [[nodiscard]] std::string name() const override { return sorter_->name(); }

  private:
    std::unique_ptr<WindowSorter> sorter_;
};

// While a query is active, for which a session is refused.
void expect_no_finish(Context& context, WindowSorter& sorter) {
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    GLuint query = 0;
    gl.CreateQueries(GL_SAMPLES_PASSED, 1, &query);
    gl.BeginQuery(GL_SAMPLES_PASSED, query);
    CHECK_THROWS_AS(sorter.finish(), InvalidArgument);
    gl.EndQuery(GL_SAMPLES_PASSED);
    gl.DeleteQueries(1, &query);
}

}  // namespace

TEST_CASE(
    "Every sorter of windows: every type, window, bit pattern and size, batches of all kinds in flight together") {
    for (const auto& sorter : all_sorters(Context::headless())) {
        Pipeline pipeline(*sorter);
        std::uint64_t seed = 1;
        const bool passes_are_many = sorter->name() == "pbsn";
        for (const std::string distribution : {"any bits", "specials", "denormals"}) {
            for (const std::size_t window : {1UL, 3UL, 64UL, 1000UL, 4096UL, whole}) {
                if (passes_are_many && window > 64 && window < whole) continue;
                for (const auto type : types) {
                    for (const std::size_t n : {passes_are_many ? 250UL : 2500UL, 777UL}) {
                        ++seed;
                        pipeline.begin({type, distribution, n + seed % 2, window, seed});
                    }
                }
            }
        }
        for (const std::size_t n : {0UL, 1UL, 9000UL, 64UL}) pipeline.begin({KeyType::F32, "few", n, 64, n});
        pipeline.finish_all();
    }
}

TEST_CASE(
    "Samples of windows are those of the sorted windows, for every type, window and step, between whole batches") {
    auto sorters = all_sorters(Context::headless());
    for (const auto kernel : {MergeKernel::Auto, MergeKernel::Fragment}) {
        sorters.push_back(
            window_sorter(Context::headless(), {.engine = Engine::Merge, .threads = 2, .merge = {.kernel = kernel}}));
    }
    std::size_t can = 0;
    for (const auto& sorter : sorters) {
        CAPTURE(sorter->name());
        if (!sorter->can_sample()) {
            Batch batch(KeyType::F32, "few", 100, 10, 1);
            CHECK_THROWS_WITH_AS(sorter->begin_sample(view(batch.keys), 10, 3), doctest::Contains("use begin()"),
                                 InvalidArgument);
            continue;
        }
        ++can;
        Pipeline pipeline(*sorter);
        std::uint64_t seed = 1;
        for (const auto type : types) {
            for (const std::size_t window : {2UL, 3UL, 64UL, 1000UL, 1024UL, 3000UL}) {
                for (const std::size_t step : {std::size_t{1}, std::size_t{7}, window / 3, window - 1}) {
                    if (step < 1 || step >= window) continue;
                    const auto n = window * (1 + ++seed % 5);
                    pipeline.begin({type, seed % 3 == 0 ? "few" : "any bits", n, window, seed, step});
                    if (seed % 4 == 0) pipeline.begin({type, "any bits", n + 3, window, seed});
                }
            }
        }
        pipeline.begin({KeyType::F32, "any bits", 0, 5, 1, 2});
        pipeline.begin({KeyType::F32, "any bits", 70'000, 70'000, 1, 9});
        pipeline.finish_all();
        Batch batch(KeyType::F32, "few", 100, 10, 1);
        const auto refused = [&](std::size_t window, std::size_t step) {
            CHECK_THROWS_WITH_AS(sorter->begin_sample(view(batch.keys), window, step),
                                 doctest::Contains("whole windows are sampled"), InvalidArgument);
        };
        refused(0, 1);
        refused(1, 1);
        refused(30, 3);
        refused(10, 0);
        refused(10, 10);
        CHECK(same(batch.keys, batch.before));
    }
    CHECK(can >= 6);  // and Auto, on a GPU
}

TEST_CASE("A sample may have more keys than the highest texture of 2048 columns") {
    const auto context = Context::headless();
    const auto n = 2048 * (static_cast<std::size_t>(context.info().max_texture_size) + 1);
    std::vector<Half> keys(n);
    for (std::size_t i = 0; i < n; ++i) keys[i].bits = static_cast<std::uint16_t>(i * 40503U >> 5U & 0x7bffU);
    const auto before = detail::cpu::checksum(keys);
    const auto sorter = window_sorter(context, {.engine = Engine::Merge});
    sorter->begin_sample(keys, n, 1);
    sorter->finish();
    CHECK(detail::cpu::in_order(keys));
    CHECK(detail::cpu::checksum(keys) == before);
}

TEST_CASE("A sample that cannot be begun or finished leaves the batch as it was") {
    auto context = Context::headless();
    const auto sorter = window_sorter(context, {.engine = Engine::Merge, .threads = 2});
    Batch failed(KeyType::F64, "any bits", 5000, 1000, 2), sampled(KeyType::F32, "any bits", 5000, 1000, 3);
    HaltingObserver halting(1, true);
    context.observe(&halting);
    CHECK_THROWS_AS(sorter->begin_sample(view(failed.keys), 1000, 10), Halt);
    context.observe(nullptr);
    CHECK(same(failed.keys, failed.before));
    sorter->begin_sample(view(sampled.keys), 1000, 10);
    expect_no_finish(context, *sorter);
    CHECK(same(sampled.keys, sampled.before));
    sorter->begin_sample(view(sampled.keys), 1000, 10);
    sorter->finish();
    const auto sample = sample_of(sampled.sorted, 1000, 10);
    CHECK(same(front(sampled.keys, sample), sample));
}

TEST_CASE("Summaries from samples of the sorter equal those from whole windows, bit by bit") {
    class Samples final : public PassObserver {
      public:
        void before(const PassEvent& pass) override { passes += pass.name == "sample" ? 1 : 0; }
        int passes = 0;
    };
    auto context = Context::headless();
    const auto values = make<float>("any bits", 300'000, 5);
    struct Case {
        double eps;
        std::size_t window;
        std::optional<std::uint64_t> n;
        bool worth_it;  // the sample is large enough that whole windows come back as fast
    };
    for (const auto& [eps, window, n, worth_it] :
         {Case{0.01, 4096, {}, true}, Case{0.001, 30'000, 300'000, true}, Case{0.05, 1000, {}, true},
          Case{1e-5, 5000, {}, false}, Case{0.5, 2, {}, false}, Case{0.5, 3, 10, false}}) {
        const double error = eps;
        CAPTURE(error);
        Quantiles<float> whole({.eps = eps, .n = n, .window = window}, cpu_window_sorter(2));
        whole.add(values);
        const auto saved = whole.save();
        for (const auto engine : {Engine::Merge, Engine::Auto}) {
            Quantiles<float> sampled({.eps = eps, .n = n, .window = window},
                                     window_sorter(context, {.engine = engine, .threads = 2}));
            Samples samples;
            context.observe(&samples);
            sampled.add(std::span(values).first(100'001));
            auto loaded = Quantiles<float>::load(sampled.save(), window_sorter(context, {.engine = Engine::Merge}));
            sampled.add(std::span(values).subspan(100'001));
            CHECK(sampled.save() == saved);
            context.observe(nullptr);
            if (engine == Engine::Merge) CHECK((samples.passes > 0) == worth_it);
            loaded.add(std::span(values).subspan(100'001));
            CHECK(loaded.n() == whole.n());
            CHECK(loaded.rank(0.0F).lower <= whole.rank(0.0F).upper);
            CHECK(loaded.rank(0.0F).upper >= whole.rank(0.0F).lower);
        }
    }
}

TEST_CASE("PBSN sorts windows in every form: one per channel or split over four, merged in one round or two") {
    for (const auto& sorter : forms_of_pbsn(Context::headless())) {
        Pipeline pipeline(*sorter);
        std::uint64_t seed = 1;
        for (const std::size_t window : {1UL, 2UL, 4UL, 5UL, 63UL, 64UL, 65UL, 1000UL}) {
            for (const std::string distribution : {"any bits", "specials", "uniform"}) {
                for (const auto type : {KeyType::F16, KeyType::F32, seed % 2 ? KeyType::U32 : KeyType::I64}) {
                    ++seed;
                    pipeline.begin({type, distribution, window * (1 + seed % 6) + seed % window, window, seed});
                }
            }
        }
        for (const std::size_t n : {0UL, 1UL, 8192UL, 64UL}) pipeline.begin({KeyType::F16, "few", n, 64, n});
        pipeline.finish_all();
        CHECK(sorter->times().sort > 0);
    }
}

// Counts draws that blend, and the texels that they cover.
class Blends final : public PassObserver {
  public:
    void before(const PassEvent& pass) override {
        if (pass.write != PassEvent::Write::Blend) return;
        texels += pass.texels;
        ++draws;
        format = pass.format;
    }
    std::uint64_t texels = 0, draws = 0;
    std::string format;
};

TEST_CASE("Four windows take the passes of one, halves are blended as halves, split windows have smaller networks") {
    auto context = Context::headless();
    const auto blends = [&](KeyType type, std::size_t n, std::size_t window, Channels channels) {
        const auto sorter = window_sorter(
            context, {.engine = Engine::Pbsn, .paper = {.pbsn = {.early_stop = EarlyStop::No, .channels = channels}}});
        Blends seen;
        auto* before = context.observe(&seen);
        Pipeline pipeline(*sorter);
        pipeline.begin({type, "uniform", n, window, 1});
        pipeline.finish_all();
        context.observe(before);
        return seen;
    };
    // k stages of k steps of two draws, which together blend each texel once per step.
    const auto one = blends(KeyType::F32, 1024, 1024, Channels::Windows);
    CHECK(one.draws == 2 * 10 * 10);
    CHECK(one.texels == 1024 * 100);
    CHECK(one.format == "RGBA32F");
    const auto four = blends(KeyType::F32, 4 * 1024, 1024, Channels::Windows);
    CHECK(four.draws == one.draws);
    CHECK(four.texels == one.texels);
    // log(n / 4) instead of log n.
    const auto split = blends(KeyType::F16, 4 * 1024, 1024, Channels::Split);
    CHECK(split.draws == 2 * 8 * 8);
    CHECK(split.texels == 1024 * 64);
    CHECK(split.format == "RGBA16F");
    CHECK(blends(KeyType::F32, 4 * 1024, 1024, Channels::Auto).draws == split.draws);
}

TEST_CASE("Batches may begin and finish in any order of the two") {
    for (const auto& sorter : all_sorters(Context::headless())) {
        Pipeline pipeline(*sorter);
        std::mt19937_64 random(7);
        for (int i = 0; i < 60; ++i) {
            const auto bits = random();
            if (bits % 5 < 2 && !pipeline.empty()) pipeline.finish();
            // Mostly of the same shape, as in a stream.
            const bool odd = bits % 7 == 0 && sorter->name() != "pbsn";
            pipeline.begin({odd ? types.at(bits % types.size()) : KeyType::F32, "any bits", odd ? bits % 9000 : 6000,
                            odd ? bits % 2000 + 1 : 100, bits});
        }
        pipeline.finish_all();
        CHECK(sorter->times().sort > 0);
        CHECK(sorter->times().upload >= 0);
    }
}

TEST_CASE("The CPU's work between begin() and finish() does not count as transfer") {
    const auto context = Context::headless();
    for (const auto engine : {Engine::Pbsn, Engine::Bitonic, Engine::Merge}) {
        const auto sorter = window_sorter(context, {.engine = engine, .threads = 1});
        CAPTURE(sorter->name());
        const auto sort = [&](std::chrono::milliseconds between) {
            Batch batch(KeyType::F32, "uniform", 4096, 64, 7);
            sorter->begin(view(batch.keys), batch.window);
            std::this_thread::sleep_for(between);
            sorter->finish();
            CHECK(same(batch.keys, batch.sorted));
            return sorter->times();
        };
        using std::chrono::milliseconds;
        const auto before = sort(milliseconds(0));  // programs are compiled
        const auto after = sort(milliseconds(500));
        CHECK(after.readback - before.readback < 250);
        CHECK(after.upload - before.upload < 250);
    }
}

TEST_CASE("All sorters of windows give a stream the same windows") {
    const auto context = Context::headless();
    const auto windows_by = [&](std::unique_ptr<WindowSorter> sorter) {
        std::vector<detail::stream::Key> keys;
        EachWindow<float> sink([&](const auto& window) {
            for (std::size_t i = 0; i < window.size(); ++i) keys.push_back(detail::stream::KeyOf<float>::key(window[i]));
        });
        IntakeOf<float> intake(std::make_unique<SmallBatches>(std::move(sorter)), 1000, sink);
        for (std::uint64_t seed = 0; seed < 30; ++seed) intake.add(make<float>("any bits", 3001, seed));
        intake.settle();
        return keys;
    };
    const auto expected = windows_by(cpu_window_sorter(1));
    CHECK(expected.size() >= 80'000);  // some of the bits are NaNs, which the intake leaves out
    for (auto& sorter : all_sorters(context)) CHECK(windows_by(std::move(sorter)) == expected);
}

TEST_CASE("The hybrid sorter shares the windows of each batch by the measured rates of both sides") {
    const auto context = Context::headless();
    const auto sorter = window_sorter(context, {.engine = Engine::Hybrid, .threads = 4});
    const auto batch = make<float>("uniform", 60'000, 1);
    auto expected = batch;
    sort_windows_on_cpu(expected, 100);
    for (int i = 0; i < 5; ++i) {
        auto first = batch, second = batch;
        sorter->begin(first, 100);
        sorter->begin(second, 100);
        sorter->finish();
        sorter->finish();
        CHECK(same_bits(first, expected));
        CHECK(same_bits(second, expected));
    }
    // The GPU gets one window.
    auto whole = batch;
    const auto passes = detail::Access::of(context)->passes;
    sorter->begin(whole, whole.size());
    CHECK(detail::Access::of(context)->passes > passes);
    sorter->finish();
    CHECK(std::is_sorted(whole.begin(), whole.end()));
}

TEST_CASE("Windows of the shape of the last batch need no new table") {
    const auto context = Context::headless();
    const auto sorter = window_sorter(context, {.engine = Engine::Merge, .merge = {MergeKernel::Fragment}});
    auto grown = [&, before = std::size_t{0}]() mutable {
        const auto now = detail::Access::of(context)->staging_bytes;
        return now - std::exchange(before, now);
    };
    auto first = make<float>("uniform", 64'000, 1), second = first, third = first;
    grown();
    sorter->begin(first, 64);
    const auto with_table = grown();
    sorter->begin(second, 64);
    const auto without = grown();
    CHECK(without > 0);
    CHECK(without < with_table);
    sorter->finish();
    sorter->begin(third, 128);
    CHECK(grown() == 0);  // there is memory for one in this lane
    sorter->finish();
    sorter->finish();
    CHECK(same_bits(first, second));
    CHECK(std::is_sorted(third.end() - 128, third.end()));
}

TEST_CASE("A destroyed sorter no longer writes") {
    for (auto& sorter : all_sorters(Context::headless())) {
        std::deque<Batch> batches;
        for (std::size_t i = 0; i < sorter->depth(); ++i) {
            auto& batch = batches.emplace_back(types.at(i), "any bits", 50'000 + i, 5000, i);
            sorter->begin(view(batch.keys), batch.window);
        }
        sorter.reset();
        const auto left = batches;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        for (std::size_t i = 0; i < batches.size(); ++i) {
            CHECK(same(batches[i].keys, left[i].keys));
            sort_windows_on_cpu(view(batches[i].keys), 5000);
            CHECK(same(batches[i].keys, batches[i].sorted));  // no key was lost
        }
    }
}

TEST_CASE("A batch that cannot begin or finish is unchanged, and the others continue") {
    for (const auto engine : {Engine::Merge, Engine::Hybrid, Engine::Pbsn, Engine::Bitonic}) {
        auto context = Context::headless();
        const auto sorter = window_sorter(context, {.engine = engine, .threads = 4});
        Batch first(KeyType::F32, "any bits", 5000, 100, 1), failed(KeyType::F64, "any bits", 5000, 64, 2),
            second(KeyType::F64, "any bits", 5000, 64, 3);
        sorter->begin(view(first.keys), first.window);
        HaltingObserver halting(1, true);
        context.observe(&halting);
        CHECK_THROWS_AS(sorter->begin(view(failed.keys), failed.window), Halt);
        context.observe(nullptr);
        CHECK(same(failed.keys, failed.before));
        sorter->begin(view(second.keys), second.window);

        expect_no_finish(context, *sorter);
        auto given_back = first.keys;  // with its keys in some order
        sort_windows_on_cpu(view(given_back), first.window);
        CHECK(same(given_back, first.sorted));
        sorter->begin(view(first.keys), first.window);
        sorter->finish();
        sorter->finish();
        CHECK(same(second.keys, second.sorted));
        CHECK(same(first.keys, first.sorted));
    }
}

TEST_CASE("Arguments that a sorter of windows refuses") {
    const auto context = Context::headless();
    const auto refused = [&](const SortOptions& options, const std::string& advice) {
        CHECK_THROWS_WITH_AS(static_cast<void>(window_sorter(context, options)), doctest::Contains(advice.c_str()),
                             InvalidArgument);
    };
    refused({.engine = Engine::Pbsn, .paper = {.pbsn = {.max_texels = 0}}}, "max_texels must be at least 1");
    refused({.engine = Engine::Bitonic, .paper = {.bitonic = {.steps_per_pass = 4}}},
            "steps_per_pass must be 1, 2 or 3");
    refused({.precision = Precision::Float16}, "use Precision::Native");
    refused({.engine = Engine::Cpu, .precision = Precision::Float32}, "use Precision::Native");
    refused({.order = Order::Descending}, "use Order::Ascending");

    CHECK(window_sorter(context, {.engine = Engine::Cpu})->name() == "cpu");
    CHECK(window_sorter(context, {.engine = Engine::Merge})->name() == "merge");
    CHECK(window_sorter(context, {.engine = Engine::Hybrid})->name() == "hybrid");
    CHECK(window_sorter(context, {.engine = Engine::Pbsn})->name() == "pbsn");
    CHECK(window_sorter(context, {.engine = Engine::Bitonic})->name() == "bitonic");

    Batch large(KeyType::F32, "any bits", 50'000, 1000, 1), small(KeyType::F32, "any bits", 500, 100, 1);
    for (const auto engine : {Engine::Merge, Engine::Hybrid}) {
        const auto sorter = window_sorter(context, {.engine = engine, .threads = 4, .gpu_memory = 200'000});
        CHECK_THROWS_WITH_AS(sorter->begin(view(small.keys), 0), doctest::Contains("at least 1"), InvalidArgument);
        CHECK_THROWS_WITH_AS(sorter->begin(view(large.keys), 1000), doctest::Contains("200000 bytes"), InvalidArgument);
        CHECK(same(large.keys, large.before));
        sorter->begin(view(small.keys), small.window);
        sorter->finish();
        CHECK(same(small.keys, small.sorted));
    }
    for (const auto engine : {Engine::Merge, Engine::Pbsn, Engine::Bitonic}) {
        const auto sorter = window_sorter(context, {.engine = engine});
        sorter->begin(view(small.keys), 100);
        sorter->begin(view(large.keys), 100);
        Batch third(KeyType::F32, "any bits", 10, 3, 1);
        CHECK_THROWS_WITH_AS(sorter->begin(view(third.keys), 3), doctest::Contains("finish() one first"),
                             InvalidArgument);
        sorter->finish();
        sorter->finish();
    }
    {  // even if one batch is on the GPU and one on the CPU
        BySize sorter(context, {});
        Batch odd(KeyType::F32, "any bits", 501, 100, 1), third(KeyType::F32, "any bits", 10, 3, 1);
        sorter.begin(view(small.keys), 100);
        sorter.begin(view(odd.keys), 100);
        CHECK_THROWS_WITH_AS(sorter.begin(view(third.keys), 3), doctest::Contains("finish() one first"),
                             InvalidArgument);
        sorter.finish();
        sorter.finish();
    }
    for (const auto channels : {Channels::Windows, Channels::Split}) {
        const auto pbsn = window_sorter(
            context, {.engine = Engine::Pbsn, .paper = {.pbsn = {.max_texels = 16, .channels = channels}}});
        const std::size_t max = channels == Channels::Split ? 64 : 16;
        CHECK_THROWS_WITH_AS(pbsn->begin(view(small.keys), max + 1), doctest::Contains("16 texels"), InvalidArgument);
        small = Batch(KeyType::F32, "any bits", 500, max, 1);
        pbsn->begin(view(small.keys), max);
        pbsn->finish();
        CHECK(same(small.keys, small.sorted));
    }
}
