// The external sort with a context: the sorter's thread owns it.
#include <doctest/doctest.h>

#include <random>
#include <string>

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

TEST_CASE("An adopted context is refused, since it belongs to its host's thread") {
    static auto host = Context::headless();
    host.make_current();
    const auto adopted = Context::adopt([](const char* name) { return host.proc_address(name); });
    CHECK_THROWS_WITH_AS(ExternalSorter({}, adopted), doctest::Contains("give a headless one"), InvalidArgument);
}
