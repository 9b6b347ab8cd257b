// The external sort with a context: the sorter's thread owns it.
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

}  // namespace

TEST_CASE("Engines on the GPU give what the CPU gives, from a thread of their own") {
    std::mt19937 random(23);
    std::string input(24 * 50000, '\0');
    for (auto& b : input) b = static_cast<char>('a' + random() % 3);
    ExternalSortOptions options{
        .format = {.bytes = 24, .key = {{.offset = 2, .bytes = 9}, {.offset = 12, .type = FieldType::I32}}},
        .engine = Engine::Cpu};
    const auto expected = sorted_by(input, options, {});
    auto context = Context::headless();
    for (const auto engine : {Engine::Merge, Engine::Bitonic, Engine::Pbsn}) {
        options.engine = engine;
        CHECK((sorted_by(input, options, context) == expected));
    }
    context.make_current();  // it is this thread's again
}

TEST_CASE("Runs are merged by the merge engine as by the tree of losers, in several passes") {
    using namespace detail::external;  // NOLINT(google-build-using-namespace)
    std::mt19937 random(31);
    static constexpr std::size_t n = 20'000, run = 1'500, fan_in = 5;
    std::string input(30 * n, '\0');
    for (auto& b : input) b = static_cast<char>('a' + random() % 3);
    ExternalSortOptions options{
        .format = {.bytes = 30, .key = {{.offset = 2, .bytes = 4}, {.offset = 12, .type = FieldType::I32}}},
        .memory = std::size_t{1} << 30,
        .engine = Engine::Cpu};
    const auto expected = sorted_by(input, options, {});
    const auto context = Context::headless();
    Plans plans;
    plans.runs = [](const Format& format, std::size_t, const RunNeeds&) -> std::optional<RunPlan> {
        return RunPlan{.slots = 3, .size = {run * format.fixed()->record_bytes(), run}, .block = 4096};
    };
    plans.merge = [](std::size_t, std::size_t runs, std::size_t) -> std::optional<MergePlan> {
        return MergePlan{.fan_in = std::min(fan_in, runs), .margin = 4096, .block = 8192, .write_block = 4096};
    };
    options.merge = RunMerge::Gpu;
    Sorting sorting("test", options, context, plans);
    sorting.begin({}, {-1, 0, "pushed", {}});
    sorting.filler().push(std::as_bytes(std::span(input)));
    sorting.finish();
    std::string output(input.size() + 1, '\0');
    std::size_t size = 0;
    while (const auto got = sorting.fill(std::as_writable_bytes(std::span(output)).subspan(size))) size += got;
    output.resize(size);
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

TEST_CASE("An adopted context is refused, since it belongs to its host's thread") {
    static auto host = Context::headless();
    host.make_current();
    const auto adopted = Context::adopt([](const char* name) { return host.proc_address(name); });
    CHECK_THROWS_WITH_AS(ExternalSorter({}, adopted), doctest::Contains("give a headless one"), InvalidArgument);
}
