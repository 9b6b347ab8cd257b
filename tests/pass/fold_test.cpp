// Compares folds with a loop on the CPU: rules, directions, sizes around powers of 16.
#include "pass/fold.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cpu/workers.hpp"
#include "gl/device.hpp"
#include "pass/transfer.hpp"

using namespace quadmill;          // NOLINT(google-build-using-namespace)
using namespace quadmill::detail;  // NOLINT(google-build-using-namespace)
using Along = pass::Fold::Along;

namespace {

struct Host {
    Context context = Context::headless();
    gl::Device& device = *detail::Access::of(context);
    gl::Scope scope{device, "test"};
    pass::Programs programs{device};
    cpu::Workers workers{1};
};

template <class T>
using Texel = std::array<T, 4>;

struct Case {
    int width, height;
    Along along;
    [[nodiscard]] std::size_t results() const {
        return static_cast<std::size_t>(along == Along::All ? 1 : along == Along::Rows ? height : width);
    }
    [[nodiscard]] std::size_t result_of(int x, int y) const {
        return static_cast<std::size_t>(along == Along::All ? 0 : along == Along::Rows ? y : x);
    }
};

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const auto along : {Along::All, Along::Rows, Along::Columns}) {
        for (const auto& [width, height] : std::vector<std::pair<int, int>>{
                 {1, 1}, {2, 1}, {1, 3}, {15, 1}, {16, 1}, {17, 2}, {1, 17}, {16, 16}, {31, 33}, {257, 5}, {3, 300}})
            all.push_back({width, height, along});
    }
    return all;
}

template <class T>
std::vector<Texel<T>> folded(Host& host, const Case& of, const std::vector<Texel<T>>& texels, pass::FoldBy rule) {
    constexpr auto format = std::is_same_v<T, float> ? gl::Format::Rgba32f : gl::Format::Rgba32ui;
    const pass::Fold fold(host.device, format, of.width, of.height, of.along);
    pass::Uploader uploader;
    uploader.send(host.device, fold.source().texture, host.workers,
                  [&](std::size_t line, std::size_t /*lines*/, std::span<std::byte> memory) {
                      std::memcpy(memory.data(), texels.data() + line * static_cast<std::size_t>(of.width),
                                  memory.size());
                  });
    pass::ReadBack back;
    back.request(host.device, fold(host.device, host.programs, pass::FoldRule(rule)));
    const auto bytes = back.wait();
    std::vector<Texel<T>> results(bytes.size() / sizeof(Texel<T>));
    std::memcpy(results.data(), bytes.data(), bytes.size());
    CHECK(results.size() == of.results());
    return results;
}

// `join(result, texel)` in any order.
template <class T, class Join>
void compare(pass::FoldBy rule, Texel<T> nothing, const std::vector<Texel<T>>& texels, const Join& join) {
    Host host;
    for (const auto& of : cases()) {
        INFO(static_cast<int>(rule), " ", of.width, " x ", of.height, " along ", static_cast<int>(of.along));
        std::vector<Texel<T>> expected(of.results(), nothing);
        std::size_t i = 0;
        for (int y = 0; y < of.height; ++y) {
            for (int x = 0; x < of.width; ++x) join(expected[of.result_of(x, y)], texels[i++]);
        }
        CHECK(folded(host, of, texels, rule) == expected);
    }
    host.scope.check();
}

constexpr std::size_t max_texels = 31 * 33 + 300 * 5;

template <class T, class Make>
std::vector<Texel<T>> random_texels(unsigned seed, const Make& make) {
    std::mt19937 random(seed);
    std::vector<Texel<T>> texels(max_texels);
    for (auto& texel : texels) {
        for (auto& channel : texel) channel = make(random);
    }
    return texels;
}

template <class T, class Pick>
auto by_channel(const Pick& pick) {
    return [pick](Texel<T>& result, const Texel<T>& texel) {
        for (std::size_t c = 0; c < 4; ++c) result.at(c) = pick(result.at(c), texel.at(c));
    };
}

}  // namespace

TEST_CASE("Sums of floats: exact if every partial sum is") {
    const auto texels =
        random_texels<float>(1, [](auto& random) { return static_cast<float>(random() % 2001) - 1000; });
    compare<float>(pass::FoldBy::Sums, {}, texels, by_channel<float>([](float a, float b) { return a + b; }));
}

TEST_CASE("Least and most of floats, infinities among them") {
    constexpr float inf = INFINITY;
    const auto texels = random_texels<float>(2, [](auto& random) {
        const auto kind = static_cast<int>(random() % 50);
        return kind == 0 ? inf : kind == 1 ? -inf : std::ldexp(static_cast<float>(random() % 1000) - 500, kind % 9);
    });
    compare<float>(pass::FoldBy::Min, {inf, inf, inf, inf}, texels,
                   by_channel<float>([](float a, float b) { return std::min(a, b); }));
    compare<float>(pass::FoldBy::Max, {-inf, -inf, -inf, -inf}, texels,
                   by_channel<float>([](float a, float b) { return std::max(a, b); }));
}

TEST_CASE("Counts, modulo 2^32") {
    const auto texels =
        random_texels<std::uint32_t>(3, [](auto& random) { return static_cast<std::uint32_t>(random()); });
    compare<std::uint32_t>(pass::FoldBy::Counts, {}, texels,
                           by_channel<std::uint32_t>([](auto a, auto b) { return a + b; }));
}

TEST_CASE("The first of the smallest and of the largest keys, with many equal ones") {
    std::mt19937 random(4);
    std::vector<Texel<std::uint32_t>> texels(max_texels);
    for (std::uint32_t i = 0; i < texels.size(); ++i)
        texels[i] = {
            random() % 4 == 0 ? 0xffffffffU - static_cast<unsigned>(random() % 3) : static_cast<unsigned>(random() % 3),
            static_cast<std::uint32_t>(max_texels) - i, i, ~i};
    constexpr auto none = 0xffffffffU;
    const auto place = [](const auto& texel) { return texel[1]; };
    compare<std::uint32_t>(pass::FoldBy::FirstMin, {none, none, none, none}, texels,
                           [&](auto& result, const auto& texel) {
                               if (texel[0] < result[0] || (texel[0] == result[0] && place(texel) < place(result)))
                                   result = texel;
                           });
    compare<std::uint32_t>(pass::FoldBy::FirstMax, {0, none, 0, 0}, texels, [&](auto& result, const auto& texel) {
        if (texel[0] > result[0] || (texel[0] == result[0] && place(texel) < place(result))) result = texel;
    });
}
