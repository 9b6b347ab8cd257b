// The external sort with a context, which the sorter's thread owns.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "external/sorting.hpp"
#include "quadmill/context.hpp"
#include "quadmill/external.hpp"

using namespace quadmill;

namespace {

std::string sorted_by(const std::string& input, const ExternalSortOptions& options,
                      const std::optional<Context>& context) {
    ExternalSorter sorter(options, context);
    sorter.push(std::as_bytes(std::span(input)));
    std::string output(input.size() + 1, '\0');
    output.resize(sorter.pull(std::as_writable_bytes(std::span(output))));
    CHECK(sorter.stats().engine == options.engine);
    return output;
}

using detail::external::Plans;
using detail::external::Sorting;

// Runs of that many records, and merges of up to `fan_in` runs.
Plans small_plans(std::size_t run, std::size_t fan_in) {
    using namespace detail::external;  // NOLINT(google-build-using-namespace)
    Plans plans;
    plans.runs = [run](const Format& format, std::size_t, const RunNeeds& needs) -> std::optional<RunPlan> {
        return RunPlan{.slots = 2 + needs.sorters, .size = {run * format.fixed()->record_bytes(), run}, .block = 4096};
    };
    plans.merge = [fan_in](std::size_t, std::size_t runs, std::size_t) -> std::optional<MergePlan> {
        return MergePlan{.fan_in = std::min(fan_in, runs), .margin = 4096, .block = 8192, .write_block = 4096};
    };
    return plans;
}

std::string pushed_through(Sorting& sorting, const std::string& input) {
    sorting.begin({}, {-1, 0, "pushed", {}});
    sorting.filler().push(std::as_bytes(std::span(input)));
    sorting.finish();
    std::string output(input.size() + 1, '\0');
    std::size_t size = 0;
    while (const auto got = sorting.fill(std::as_writable_bytes(std::span(output)).subspan(size))) size += got;
    output.resize(size);
    return output;
}

// A device that fails at its pass with this number, and at all later ones.
class Failing final : public PassObserver {
  public:
    explicit Failing(int passes) : left_(passes) {}
    void before(const PassEvent& /*pass*/) override {
        if (left_-- > 0) return;
        failed_ = true;
        throw GlError("lost");
    }
    [[nodiscard]] bool failed() const { return failed_; }

  private:
    int left_;
    bool failed_ = false;
};

// Few different keys, so that the order of equal ones matters.
struct Records {
    Records() {
        std::mt19937 random(5);
        for (auto& b : input) b = static_cast<char>('a' + random() % 3);
        for (std::size_t i = 0; i < 60'000; ++i) input.replace(16 * i + 4, 6, std::to_string(100'000 + i));
        options = {
            .format = {.bytes = 16, .key = {{.bytes = 3}}}, .memory = std::size_t{1} << 30, .engine = Engine::Cpu};
        expected = sorted_by(input, options, {});
        options.engine = Engine::Merge;
    }
    std::string input = std::string(16 * 60'000, '\0'), expected;
    ExternalSortOptions options;
};

}  // namespace

TEST_CASE("GPU engines give the CPU's result, from a thread of their own") {
    std::mt19937 random(23);
    std::string input(24 * 50000, '\0');
    for (auto& b : input) b = static_cast<char>('a' + random() % 3);
    ExternalSortOptions options{
        .format = {.bytes = 24, .key = {{.offset = 2, .bytes = 9}, {.offset = 12, .type = FieldType::I32}}},
        .engine = Engine::Cpu};
    const auto expected = sorted_by(input, options, {});
    auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Bitonic}) {
        options.engine = engine;
        CHECK((sorted_by(input, options, context) == expected));
    }
    context.make_current();  // it belongs to this thread again
}

TEST_CASE("Runs are merged by the merge engine like by the tournament tree, in several passes") {
    using namespace detail::external;  // NOLINT(google-build-using-namespace)
    std::mt19937 random(31);
    constexpr std::size_t n = 20'000, run = 1'500, fan_in = 5;
    std::string input(30 * n, '\0');
    for (auto& b : input) b = static_cast<char>('a' + random() % 3);
    ExternalSortOptions options{
        .format = {.bytes = 30, .key = {{.offset = 2, .bytes = 4}, {.offset = 12, .type = FieldType::I32}}},
        .memory = std::size_t{1} << 30,
        .engine = Engine::Cpu};
    const auto expected = sorted_by(input, options, {});
    const auto context = Context::headless();
    options.merge = RunMerge::Gpu;
    Sorting sorting("test", options, context, small_plans(run, fan_in));
    const auto output = pushed_through(sorting, input);
    CHECK((output == expected));
    const auto stats = sorting.stats("stream");
    CHECK(stats.runs == (n + run - 1) / run);
    CHECK(stats.merge_passes > 1);
}

TEST_CASE("The merge engine needs a context, records of one length and memory for a block of each run") {
    ExternalSortOptions options{.merge = RunMerge::Gpu};
    CHECK_THROWS_WITH_AS(ExternalSorter{options}, doctest::Contains("a context"), InvalidArgument);
    options.format.kind = RecordFormat::Kind::Lines;
    CHECK_THROWS_WITH_AS(ExternalSorter(options, Context::headless()), doctest::Contains("records of one length"),
                         InvalidArgument);
}

TEST_CASE("An adopted context is refused, since it belongs to the application's thread") {
    static auto host = Context::headless();
    host.make_current();
    const auto adopted = Context::adopt([](const char* name) { return host.proc_address(name); });
    CHECK_THROWS_WITH_AS(ExternalSorter({}, adopted), doctest::Contains("give a headless one"), InvalidArgument);
}

TEST_CASE("Devices of a group sort runs at the same time, and equal keys stay in the order of the input") {
    Records records;
    const DeviceGroup group({Context::headless(), Context::headless()});
    for (const auto merge : {RunMerge::Tree, RunMerge::Gpu}) {
        records.options.merge = merge;
        Sorting sorting("test", records.options, group, small_plans(2'000, 40));
        CHECK((pushed_through(sorting, records.input) == records.expected));
        CHECK(sorting.stats("stream").runs == 30);
        CHECK_THROWS_WITH_AS(ExternalSorter(records.options, group), doctest::Contains("has a sorter already"),
                             InvalidArgument);
    }
    std::uint64_t keys = 0;
    for (const auto& share : group.shares()) {
        CHECK(share.batches > 0);
        CHECK(share.failure == "");
        keys += share.keys;
    }
    CHECK(keys == 2 * 60'000);
    // All of them fail at the same time, at a pass of one of them.
    ExternalSorter sorter(records.options, group);
    sorter.push(std::as_bytes(std::span(records.input)));
    std::string output(records.input.size(), '\0');
    CHECK(sorter.pull(std::as_writable_bytes(std::span(output))) == output.size());
    CHECK((output == records.expected));
}

TEST_CASE("The work of a failed device goes to the others, and nothing is lost") {
    const Records records;
    for (const int passes : {0, 3, 10, 60, 200}) {  // a GPU may need few, or leave more to the other device
        CAPTURE(passes);
        auto failing = Context::headless();
        Failing fault(passes);
        failing.observe(&fault);
        const DeviceGroup group({failing, Context::headless()});
        {
            Sorting sorting("test", records.options, group, small_plans(2'000, 40));
            CHECK((pushed_through(sorting, records.input) == records.expected));
        }
        const auto shares = group.shares();
        if (passes == 0) CHECK(fault.failed());
        CHECK(shares[0].failure == (fault.failed() ? "lost" : ""));
        CHECK(shares[1].failure == "");
        CHECK(shares[0].keys + shares[1].keys == 60'000);
        failing.observe(nullptr);
    }
}

TEST_CASE("When no device is left, the sort fails and the group reports the reason") {
    const Records records;
    auto first = Context::headless(), second = Context::headless();
    Failing early(0), late(60);
    first.observe(&early);
    second.observe(&late);
    const DeviceGroup group({first, second});
    Sorting sorting("test", records.options, group, small_plans(2'000, 40));
    CHECK_THROWS_WITH_AS(pushed_through(sorting, records.input), "lost", GlError);
    for (const auto& share : group.shares()) CHECK(share.failure == "lost");
    first.observe(nullptr);
    second.observe(nullptr);
}
