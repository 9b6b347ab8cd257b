// Textures as windows of a stream: sorted on the GPU and sampled. Answers are as good as for values that were added.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "gl/host.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"
#include "quadmill/stream.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

template <class T>
struct Texels;
template <>
struct Texels<float> {
    static constexpr GLenum internal = GL_R32F, format = GL_RED, type = GL_FLOAT;
};
template <>
struct Texels<std::int32_t> {
    static constexpr GLenum internal = GL_R32I, format = GL_RED_INTEGER, type = GL_INT;
};
template <>
struct Texels<std::uint32_t> {
    static constexpr GLenum internal = GL_R32UI, format = GL_RED_INTEGER, type = GL_UNSIGNED_INT;
};

template <class T>
GLuint texture_of(const Api& gl, const std::vector<T>& values, int width) {
    GLuint id = 0;
    gl.CreateTextures(GL_TEXTURE_2D, 1, &id);
    const auto height = static_cast<int>((values.size() + static_cast<std::size_t>(width) - 1)) / width;
    auto texels = values;
    texels.resize(static_cast<std::size_t>(width * height));
    gl.TextureStorage2D(id, 1, Texels<T>::internal, width, height);
    gl.TextureSubImage2D(id, 0, 0, 0, width, height, Texels<T>::format, Texels<T>::type, texels.data());
    return id;
}

// Compares ranks with those among all values, sorted.
template <class T>
void check_ranks(const Quantiles<T>& summary, std::vector<T> all, double eps) {
    std::erase_if(all, [](T value) { return value != value; });
    std::ranges::sort(all);
    REQUIRE(summary.n() == all.size());
    for (int i = 0; i <= 100; ++i) {
        const auto found = summary.quantile(i / 100.0);
        const auto min = static_cast<double>(std::ranges::lower_bound(all, found.value) - all.begin()) + 1,
                   max = static_cast<double>(std::ranges::upper_bound(all, found.value) - all.begin());
        REQUIRE(min <= max);  // the value occurs
        const auto asked = static_cast<double>(found.rank), slack = eps * static_cast<double>(all.size());
        CHECK(min <= asked + slack);
        CHECK(max >= asked - slack);
        CHECK(static_cast<double>(found.rank_lower) <= max);
        CHECK(static_cast<double>(found.rank_upper) >= min);
    }
}

template <class T>
void check_stream(const Host& host, const Context& context, Random& random, double eps, bool known) {
    CAPTURE(eps);
    Sorter sorter(context, {.threads = 1});
    const std::vector<std::size_t> sizes{1, 2, 900, 5000, 37, 20000, 3, 5000, 5000, 8192};
    std::size_t n = 0;
    for (const auto size : sizes) n += size;
    QuantileOptions options{.eps = eps, .window = 1000};
    if (known) options.n = n;
    Quantiles<T> summary(options);
    std::vector<T> all;
    for (const auto size : sizes) {
        std::vector<T> values(size);
        for (auto& value : values)
            value = static_cast<T>(random.flag() ? random.number(0, 20) : random.number(-100'000, 100'000));
        if constexpr (std::is_floating_point_v<T>) {
            for (auto& value : values)
                if (random.number(0, 50) == 0) value = std::numeric_limits<T>::quiet_NaN();
            if (random.flag()) values.front() = -0.0F;
        }
        all.insert(all.end(), values.begin(), values.end());
        if (random.number(0, 3) == 0) {  // between others that come from memory
            summary.add(values);
            continue;
        }
        const auto texture = texture_of(host.gl, values, 100);
        {
            const Poison poison(host.gl, random.bits());
            const auto before = Snapshot::take(host.gl);
            summary.add_texture(sorter, {.texture = texture, .count = size});
            REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
        }
        host.gl.DeleteTextures(1, &texture);
    }
    CHECK(summary.n() + summary.nans() == n);
    check_ranks(summary, all, eps);
    const auto again = Quantiles<T>::load(summary.save());
    check_ranks(again, all, eps);
}

}  // namespace

TEST_CASE("quantiles of textures keep eps, with n known or not, mixed with values from memory") {
    const Host host(each_profile());
    const auto context = Host::adopt();
    Random random(20261204);
    for (const double eps : {0.2, 0.01, 0.001}) {
        for (const bool known : {true, false}) {
            check_stream<float>(host, context, random, eps, known);
            check_stream<std::int32_t>(host, context, random, eps, known);
            check_stream<std::uint32_t>(host, context, random, eps, known);
        }
    }
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("a texture's sample has the ranks that it reports, and few texels") {
    const Host host;
    Sorter sorter(Host::adopt(), {.engine = Engine::Merge, .threads = 1});
    std::vector<float> values(10'000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 7919) % values.size()) + 1;
    const auto texture = texture_of(host.gl, values, 100);
    for (const double eps : {0.0, 0.00004, 0.001, 0.013, 0.4, 1.0}) {
        CAPTURE(eps);
        const auto sample = sorter.sample_texture<float>({.texture = texture}, eps);
        CHECK(sample.n == values.size());
        CHECK(sample.nans == 0);
        CHECK(static_cast<double>(sample.step) <= std::max(2 * eps * 10'000, 1.0));
        REQUIRE(sample.values.size() == (9'999 + sample.step - 1) / sample.step + 1);
        for (std::size_t i = 0; i < sample.values.size(); ++i)
            REQUIRE(sample.values[i] == static_cast<float>(std::min<std::size_t>(1 + i * sample.step, 10'000)));
    }
    const std::vector<float> nans(300, std::numeric_limits<float>::quiet_NaN());
    const auto other = texture_of(host.gl, nans, 30);
    const auto sample = sorter.sample_texture<float>({.texture = other}, 0.1);
    CHECK(sample.n == 0);
    CHECK(sample.nans == 300);
    CHECK(sample.values.empty());
    Quantiles<float> summary({.eps = 0.1});
    summary.add_sample(sample);
    CHECK(summary.nans() == 300);
    host.gl.DeleteTextures(1, &texture);
    host.gl.DeleteTextures(1, &other);
}

namespace {

template <class T>
void check_percentiles(const Host& host, Sorter& sorter, Random& random, std::size_t n) {
    CAPTURE(n);
    constexpr std::array phi{0.5, 0.0, 1.0, 0.001, 0.99, 0.333, 0.75};
    std::vector<T> values(n), ordered;
    for (auto& value : values) value = static_cast<T>(random.number(-100'000, 100'000));
    if constexpr (std::is_floating_point_v<T>) {
        for (std::size_t i = 1; i < n; i += 3) values[i] = std::numeric_limits<T>::quiet_NaN();
        values.front() = -std::numeric_limits<T>::infinity();
    }
    std::ranges::copy_if(values, std::back_inserter(ordered), [](T value) { return value == value; });
    std::ranges::sort(ordered);
    const auto keys = texture_of(host.gl, values, 100),
               output = texture_of(host.gl, std::vector<T>(phi.size() + 2, T{7}), static_cast<int>(phi.size()) + 2);
    {
        const Poison poison(host.gl, random.bits());
        const auto before = Snapshot::take(host.gl);
        sorter.percentiles_texture({.texture = keys, .count = n}, phi, output);
        REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
    }
    std::vector<T> found(phi.size() + 2);
    host.gl.GetTextureImage(output, 0, Texels<T>::format, Texels<T>::type,
                            static_cast<GLsizei>(found.size() * sizeof(T)), found.data());
    for (std::size_t i = 0; i < phi.size(); ++i) {
        CAPTURE(phi.at(i));
        CHECK(found[i] ==
              ordered[static_cast<std::size_t>(std::floor(phi.at(i) * static_cast<double>(ordered.size() - 1) + 0.5))]);
    }
    CHECK(found.back() == T{7});  // beyond what was asked for
    host.gl.DeleteTextures(1, &keys);
    host.gl.DeleteTextures(1, &output);
}

}  // namespace

TEST_CASE("percentiles of textures are exact, go to the application's texture and count no NaNs") {
    const Host host(each_profile());
    Sorter sorter(Host::adopt());
    Random random(20261126);
    for (const std::size_t n : {1UL, 2UL, 899UL, 20'000UL}) {
        check_percentiles<float>(host, sorter, random, n);
        check_percentiles<std::int32_t>(host, sorter, random, n);
        check_percentiles<std::uint32_t>(host, sorter, random, n);
    }
    const auto nans = texture_of(host.gl, std::vector<float>(30, std::numeric_limits<float>::quiet_NaN()), 10),
               output = texture_of(host.gl, std::vector<float>(4, 1), 4);
    sorter.percentiles_texture({.texture = nans}, std::array{0.5}, output);
    std::array<float, 4> found{};
    host.gl.GetTextureImage(output, 0, GL_RED, GL_FLOAT, sizeof found, found.data());
    CHECK(found[0] != found[0]);
    CHECK(found[1] == 1);

    Sorter by_pbsn(Host::adopt(), {.engine = Engine::Pbsn});
    const auto refused = [&](const char* part, Sorter& by, const TextureRegion& keys, std::span<const double> phi) {
        const auto message = message_of([&] { by.percentiles_texture(keys, phi, output); });
        CAPTURE(message);
        CHECK((message.find(part) != std::string::npos));
    };
    refused("from 0 to 1, not 1.5", sorter, {.texture = nans}, std::array{1.5});
    refused("from 1 to 1024 fractions, not 0", sorter, {.texture = nans}, {});
    refused("there are no keys", sorter, {.texture = nans, .count = 0}, std::array{0.5});
    refused("is 4 x 1, and a rectangle of 5 x 1", sorter, {.texture = nans}, std::array{0.1, 0.2, 0.3, 0.4, 0.5});
    refused("Engine::Merge", by_pbsn, {.texture = nans}, std::array{0.5});
    const auto integers = texture_of(host.gl, std::vector<std::int32_t>(30), 10);
    refused("R32I", sorter, {.texture = integers}, std::array{0.5});
    for (const auto id : {nans, output, integers}) host.gl.DeleteTextures(1, &id);
}

TEST_CASE("invalid samples are refused with the reason") {
    const Host host;
    Sorter sorter(Host::adopt()), by_pbsn(Host::adopt(), {.engine = Engine::Pbsn});
    const auto texture = texture_of(host.gl, std::vector<float>(100, 1), 10);
    Quantiles<float> summary({.eps = 0.1});
    const auto has = [&](const char* part, const std::function<void()>& call) {
        const auto message = message_of(call);
        CAPTURE(message);
        CHECK((message.find(part) != std::string::npos));
    };
    has("from 0 to 1", [&] { static_cast<void>(sorter.sample_texture<float>({.texture = texture}, -1)); });
    has("another type", [&] { static_cast<void>(sorter.sample_texture<std::uint32_t>({.texture = texture}, 0.1)); });
    has("Engine::Merge", [&] { static_cast<void>(by_pbsn.sample_texture<float>({.texture = texture}, 0.1)); });
    has("is not a texture", [&] { summary.add_texture(sorter, {}); });
    has("no channel 3", [&] { summary.add_texture(sorter, {.texture = texture}, 3); });
    has("a step is from 1 to 5", [&] { summary.add_sample({.n = 100, .step = 6, .values = {1, 2}}); });
    has("a step is from 1 to 5", [&] { summary.add_sample({.n = 100, .step = 0, .values = {1, 2}}); });
    has("has 3, not 2", [&] { summary.add_sample({.n = 3, .step = 1, .values = {1, 2}}); });
    has("value 1 does not", [&] { summary.add_sample({.n = 3, .step = 1, .values = {2, 1, 3}}); });
    has("value 2 does not", [&] {
        summary.add_sample({.n = 3, .values = {1, 2, std::numeric_limits<float>::quiet_NaN()}});
    });
    CHECK(summary.n() == 0);
    host.gl.DeleteTextures(1, &texture);
}
