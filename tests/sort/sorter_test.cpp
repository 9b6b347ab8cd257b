#include <doctest/doctest.h>
#include <random>
#include <cstring>
#include "quadmill/sort.hpp"
#include "sort/keys.hpp"
#include "sort/cpu.hpp"
#include <cstdio>
using namespace quadmill;
TEST_CASE("smoke") {
    auto context = Context::headless();
    MESSAGE(context.info().renderer, context.info().version, context.info().platform, context.info().surface, context.info().robust);
    std::mt19937_64 rng64(1); auto rng=[&]{return static_cast<std::uint32_t>(rng64());};
    for (std::size_t n : {std::size_t{0},std::size_t{1},std::size_t{2},std::size_t{3},std::size_t{5},std::size_t{64},std::size_t{65},std::size_t{1000},std::size_t{4096},std::size_t{100000},std::size_t{262144},std::size_t{300000}}) {
      for (auto order : {Order::Ascending, Order::Descending}) for (int kind=0; kind<3; ++kind) {
        std::vector<std::uint32_t> bits(n);
        std::uniform_real_distribution<float> u(0,1);
        for (auto& b : bits) b = kind==0 ? std::bit_cast<std::uint32_t>(u(rng64)) : kind==1? rng() : rng()%3;
        std::vector<float> keys(n); std::memcpy(keys.data(), bits.data(), 4*n);
        Sorter sorter(context, {.order=order, .engine=Engine::Pbsn});
        auto s = sorter.sort(std::span<float>(keys));
        detail::sort::sort_bits<float>(bits, order);
        CHECK_MESSAGE((n == 0 || std::memcmp(bits.data(), keys.data(), 4*n)==0), n, " ", kind);
        if (n>=262144) std::printf("n %zu kind %d stages %d/%d steps %lu passes %lu aside %lu up %.1f sort %.1f rb %.1f merge %.1f total %.1f\n", n, kind, s.stages_run, s.stages_max, s.steps, s.passes, s.set_aside, s.upload_ms, s.sort_ms, s.readback_ms, s.merge_ms, s.total_ms);
      }
    }
}
