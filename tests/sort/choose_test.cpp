// Engine::Auto with given and built-in crossovers.
#include "sort/choose.hpp"

#include <doctest/doctest.h>

#include "cpu/numbers.hpp"

using namespace quadmill;                // NOLINT(google-build-using-namespace)
using namespace quadmill::detail::sort;  // NOLINT(google-build-using-namespace)

TEST_CASE("Each kind of work has its own crossover") {
    constexpr SortCrossings::ByWidth from_2048{.bits16 = 2048, .bits32 = 2048, .bits64 = 2048};
    const SortWork all{.n = 2048}, indexed{.n = 2048, .index = true}, windows{.n = 2048, .window = 1024},
        batch{.n = 2048, .window = 1024, .batch = true}, top{.n = 2048, .top = true};
    using Kind = SortCrossings::ByWidth SortCrossings::*;
    const std::pair<Kind, SortWork> kinds[]{{&SortCrossings::keys, all},
                                            {&SortCrossings::with_index, indexed},
                                            {&SortCrossings::windows, windows},
                                            {&SortCrossings::batches, batch},
                                            {&SortCrossings::top, top}};
    for (const auto& [kind, of_kind] : kinds) {
        SortCrossings crossings;
        crossings.*kind = from_2048;
        for (const auto& [other, work] : kinds) {
            const bool gpu = choose(crossings, work) == Engine::Merge;
            CHECK(gpu == (other == kind));
            auto fewer = work;
            fewer.n = 2047;
            CHECK(choose(crossings, fewer) == Engine::Cpu);
        }
    }
}

TEST_CASE("The built-in figures are for an H100; a software renderer never wins") {
    ContextInfo info;
    info.software = true;
    CHECK(built_in_crossings(info, 16) == SortCrossings{});
    info.software = false;
    const auto many = built_in_crossings(info, 16), few = built_in_crossings(info, 2);
    // With fewer threads, the CPU does not win where it loses with more.
    for (const auto kind : {&SortCrossings::keys, &SortCrossings::windows, &SortCrossings::batches}) {
        CHECK((few.*kind).bits32 <= (many.*kind).bits32);
        CHECK((few.*kind).bits64 <= (many.*kind).bits64);
    }
    const auto engine = [&](std::size_t n, KeyType type, std::size_t window = 0, bool batch = false) {
        return choose(many, {.n = n, .window = window, .batch = batch, .type = type});
    };
    if (detail::cpu::number_sort_name() != std::string_view("vqsort")) return;
    CHECK(engine(1U << 16U, KeyType::F16) == Engine::Cpu);
    CHECK(engine(1U << 18U, KeyType::F16) == Engine::Merge);
    CHECK(engine(1U << 16U, KeyType::F32) == Engine::Cpu);
    CHECK(engine(1U << 18U, KeyType::F32) == Engine::Merge);
    CHECK(engine(1U << 26U, KeyType::F64) == Engine::Cpu);
    const auto with_index = [&](std::size_t n, KeyType type) {
        return choose(many, {.n = n, .index = true, .type = type});
    };
    CHECK(with_index(1U << 20U, KeyType::U32) == Engine::Cpu);
    CHECK(with_index(1U << 22U, KeyType::U32) == Engine::Merge);
    CHECK(with_index(1U << 14U, KeyType::I64) == Engine::Cpu);
    CHECK(with_index(1U << 16U, KeyType::I64) == Engine::Merge);
    CHECK(engine(1U << 22U, KeyType::F32, 1300) == Engine::Cpu);
    CHECK(engine(1U << 20U, KeyType::F32, 1300, true) == Engine::Merge);
    CHECK(engine(1U << 20U, KeyType::F64, 1300, true) == Engine::Cpu);
}
