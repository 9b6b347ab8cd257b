// Statistics of an application's picture, compared with a loop.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gl/host.hpp"
#include "gl/sample_keys.hpp"
#include "gl/state_poison.hpp"
#include "gl/state_snapshot.hpp"
#include "quadmill/error.hpp"
#include "quadmill/picture.hpp"

using namespace quadmill;
using namespace quadmill::test;

namespace {

constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
using Pixel = std::array<float, 4>;

struct Form {
    GLenum internal, format;
    std::size_t channels;
};

// A texture of one layer, or layer `layer` of an array.
struct Picture {
    Picture(const Api& of, const std::vector<float>& values, const Form& form, int width, int layer = -1) : gl(of) {
        const auto height = static_cast<int>(values.size() / form.channels) / width;
        gl.CreateTextures(layer < 0 ? GL_TEXTURE_2D : GL_TEXTURE_2D_ARRAY, 1, &id);
        if (layer < 0) {
            gl.TextureStorage2D(id, 1, form.internal, width, height);
            gl.TextureSubImage2D(id, 0, 0, 0, width, height, form.format, GL_FLOAT, values.data());
        } else {
            gl.TextureStorage3D(id, 1, form.internal, width, height, layer + 2);
            gl.TextureSubImage3D(id, 0, 0, 0, layer, width, height, 1, form.format, GL_FLOAT, values.data());
        }
    }
    Picture(const Picture&) = delete;
    Picture& operator=(const Picture&) = delete;
    ~Picture() { gl.DeleteTextures(1, &id); }
    const Api& gl;
    GLuint id = 0;
};

// The textures that receive results, a texel wider than needed, with marks in all texels.
struct Results {
    static constexpr std::uint32_t mark = 0x40e00000;  // the float 7
    Results(const Api& of, std::size_t bins) : gl(of), width(bins + 1) {
        const std::vector<std::uint32_t> marks(4 * width, mark);
        gl.CreateTextures(GL_TEXTURE_2D, 4, ids.data());
        const auto across = static_cast<GLsizei>(width);
        for (std::size_t i = 0; i < 4; ++i) {
            constexpr std::array<GLenum, 4> internal{GL_R32UI, GL_R32UI, GL_R32F, GL_RGBA32F};
            gl.TextureStorage2D(ids.at(i), 1, internal.at(i), across, 1);
            if (i < 2)
                gl.TextureSubImage2D(ids.at(i), 0, 0, 0, across, 1, GL_RED_INTEGER, GL_UNSIGNED_INT, marks.data());
            else
                gl.TextureSubImage2D(ids.at(i), 0, 0, 0, across, 1, i == 2 ? GL_RED : GL_RGBA, GL_FLOAT, marks.data());
        }
    }
    Results(const Results&) = delete;
    Results& operator=(const Results&) = delete;
    ~Results() { gl.DeleteTextures(4, ids.data()); }
    [[nodiscard]] PictureOutputs all() const { return {ids[0], ids[1], ids[2], ids[3]}; }
    [[nodiscard]] std::vector<std::uint32_t> counts(std::size_t i) const {
        std::vector<std::uint32_t> found(width);
        gl.GetTextureImage(ids.at(i), 0, GL_RED_INTEGER, GL_UNSIGNED_INT, static_cast<GLsizei>(4 * width),
                           found.data());
        CHECK(found.back() == mark);
        found.pop_back();
        return found;
    }
    [[nodiscard]] std::vector<float> floats(std::size_t i) const {
        const std::size_t channels = i == 3 ? 4 : 1;
        std::vector<float> found(channels * width);
        gl.GetTextureImage(ids.at(i), 0, i == 3 ? GL_RGBA : GL_RED, GL_FLOAT, static_cast<GLsizei>(4 * found.size()),
                           found.data());
        CHECK(found.back() == 7);
        return found;
    }

    const Api& gl;
    std::size_t width;
    std::array<GLuint, 4> ids{};
};

double end_of_bin(const PictureOptions& options, std::size_t bins) {
    const double part = static_cast<double>(bins) / static_cast<double>(options.bins);
    if (options.scale == BinScale::Linear) return options.low + (double{options.high} - options.low) * part;
    return options.low * std::pow(double{options.high} / options.low, part);
}

// Compares with the guarantee. `values` has no NaN.
void check_results(const Results& results, std::vector<double> values, const PictureOptions& options, bool is_exact) {
    const auto counts = results.counts(0), sums = results.counts(1);
    const auto table = results.floats(2), range = results.floats(3);
    std::ranges::sort(values);
    const auto below = [&](double end) {
        return static_cast<std::uint32_t>(std::ranges::lower_bound(values, end) - values.begin());
    };
    // The first bin that is wrong, if any.
    std::uint32_t sum = 0, first = 0;
    std::size_t right = 0;
    for (; right < options.bins; ++right) {
        sum += counts[right];
        if (first == 0) first = counts[right];
        if (sums[right] != sum) break;
        if (right + 1 == options.bins) continue;
        const double end = end_of_bin(options, right + 1), width = double{options.high} - options.low;
        double off = 0;
        if (!is_exact)
            off = options.scale == BinScale::Linear ? 0x1p-20 * width + 0x1p-22 * std::abs(end) : 0x1p-12 * end;
        if (sum < below(end - off) || sum > below(end + off)) break;
    }
    REQUIRE(right == options.bins);
    REQUIRE(sum == values.size());
    for (right = 0; right < options.bins; ++right) {
        const auto share =
            sums[right] > first ? static_cast<float>(sums[right] - first) / static_cast<float>(sum - first) : 0.0F;
        if (std::abs(table[right] - share) > 1e-6F) break;
    }
    REQUIRE(right == options.bins);
    CHECK(range[3] == static_cast<float>(values.size()));
    if (values.empty()) {
        for (std::size_t i = 0; i < 3; ++i) CHECK(range[i] != range[i]);
        return;
    }
    double total = 0, magnitude = 0;
    for (const double value : values) {
        total += value;
        magnitude += std::abs(value);
    }
    const auto n = static_cast<double>(values.size());
    const auto near = [&](float found, double value) {
        CHECK((found == static_cast<float>(value) || std::abs(found - value) <= 0x1p-22 * magnitude));
    };
    near(range[0], values.front());
    near(range[1], values.back());
    if (is_exact) {
        CHECK(range[0] == static_cast<float>(values.front()));
        CHECK(range[1] == static_cast<float>(values.back()));
    }
    if (std::isfinite(total)) CHECK(std::abs(range[2] - total / n) <= 0x1p-16 * magnitude / n);
}

double value_of(const float* texel, std::size_t channels, const std::array<float, 4>& weights) {
    if (channels == 1) return *texel;
    double sum = 0;
    for (std::size_t c = 0; c < 4; ++c) {
        if (weights.at(c) != 0) sum += double{weights.at(c)} * texel[c];
    }
    return sum;
}

// Numbers that all formats hold, from 0 to 1, or for floats larger ones.
std::vector<float> some_values(Random& random, std::size_t n, const Form& form) {
    std::vector<float> values(n);
    for (auto& value : values) {
        const auto step = static_cast<float>(random.number(0, 255));
        value = form.internal == GL_RGBA8 || form.internal == GL_R8 ? step / 255.0F
                : form.internal == GL_R16                           ? step / 255.0F
                                          : std::ldexp(step, static_cast<int>(random.number(0, 12)) - 12);
    }
    return values;
}

constexpr std::array<Form, 7> forms{{{GL_RGBA32F, GL_RGBA, 4},
                                     {GL_RGBA16F, GL_RGBA, 4},
                                     {GL_RGBA8, GL_RGBA, 4},
                                     {GL_R32F, GL_RED, 1},
                                     {GL_R16F, GL_RED, 1},
                                     {GL_R16, GL_RED, 1},
                                     {GL_R8, GL_RED, 1}}};

void check_picture(const Host& host, PictureStatistics& statistics, Random& random, const Form& form, int width,
                   std::size_t texels, const PictureOptions& options) {
    CAPTURE(form.internal);
    CAPTURE(width);
    CAPTURE(texels);
    CAPTURE(options.bins);
    const auto values = some_values(random, texels * form.channels, form);
    std::vector<double> expected;
    for (std::size_t i = 0; i < texels; ++i)
        expected.push_back(value_of(&values[i * form.channels], form.channels, options.weights));
    const Picture picture(host.gl, values, form, width);
    const Results results(host.gl, options.bins);
    statistics.measure({.texture = picture.id}, results.all(), options);
    check_results(results, expected, options, false);
}

}  // namespace

TEST_CASE("Statistics of pictures of any format, size and number of bins are those of a loop") {
    const Host host;
    PictureStatistics statistics(Host::adopt());
    Random random(20261127);
    for (const auto& form : forms) {
        check_picture(host, statistics, random, form, 37, 37 * 29, {});
        check_picture(host, statistics, random, form, 64, 64 * 60,
                      {.bins = 1000, .low = 0.01F, .high = 100, .scale = BinScale::Logarithmic});
    }
    for (const std::size_t bins : {1UL, 2UL, 8UL, 9UL, 16UL, 17UL, 128UL, 129UL, 1023UL, 1024UL}) {
        check_picture(host, statistics, random, forms[0], 100, 2000,
                      {.weights = {0.25F, 0, -1.5F, 0.5F}, .bins = bins, .low = -20, .high = 30});
    }
    for (const int width : {1, 31, 32, 33}) {
        check_picture(host, statistics, random, forms[3], width, static_cast<std::size_t>(width), {});
        check_picture(host, statistics, random, forms[3], width, static_cast<std::size_t>(width * 300), {.high = 64});
    }
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("Statistics of a picture restore the application's state") {
    const Host host(each_profile());
    PictureStatistics statistics(Host::adopt());
    const Picture plain(host.gl, std::vector<float>(600, 1), forms[3], 30);
    const Picture layers(host.gl, std::vector<float>(600, 1), forms[3], 30, 2);
    const Results results(host.gl, 20);
    const PictureOptions options{.bins = 20, .high = 4};
    for (const auto& [id, layer] : {std::pair{plain.id, 0}, std::pair{layers.id, 2}}) {
        {
            const Poison poison(host.gl, 5 + id);
            const auto before = Snapshot::take(host.gl);
            statistics.measure({.texture = id, .layer = layer}, results.all(), options);
            REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
        }
        check_results(results, std::vector<double>(600, 1), options, true);
    }
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("A picture of equal texels fills one bin beyond 8 and 16 bits") {
    const Host host;
    PictureStatistics statistics(Host::adopt());
    constexpr int width = 512, height = 256;
    const Picture picture(host.gl, std::vector<float>(width * height, 0.5F), forms[3], width);
    const Results results(host.gl, 64);
    const PictureOptions options{.bins = 64};
    statistics.measure({.texture = picture.id}, results.all(), options);
    CHECK(results.counts(0)[32] == width * height);
    check_results(results, std::vector<double>(width * height, 0.5), options, true);
    CHECK(results.floats(2)[63] == 0);  // one bin has all
}

TEST_CASE("Infinite values are in the first and last bin, NaNs in none, and channels without weight do not matter") {
    const Host host;
    PictureStatistics statistics(Host::adopt());
    const std::vector<Pixel> pixels{{infinity, nan_value, 0, 1}, {-infinity, 1, 0, 1}, {nan_value, 1, 0, 1},
                                    {0.25F, infinity, 0, 1},     {1, 0, 0, 1},         {-3, 0, 0, 1}};
    std::vector<float> values;
    for (const auto& pixel : pixels) values.insert(values.end(), pixel.begin(), pixel.end());
    const Picture picture(host.gl, values, forms[0], 3);
    const Results results(host.gl, 4);
    for (const auto scale : {BinScale::Linear, BinScale::Logarithmic}) {
        const PictureOptions options{.weights = {1, 0, 0, 0}, .bins = 4, .low = 0.125F, .high = 2, .scale = scale};
        statistics.measure({.texture = picture.id}, results.all(), options);
        check_results(results, {infinity, -infinity, 0.25, 1, -3}, options, scale == BinScale::Linear);
    }
    const Picture nans(host.gl, std::vector<float>(300, nan_value), forms[3], 30);
    statistics.measure({.texture = nans.id}, results.all(), {.bins = 4});
    check_results(results, {}, {.bins = 4}, true);
}

TEST_CASE("A region, a count, a layer and single outputs are measured") {
    const Host host;
    PictureStatistics statistics(Host::adopt());
    Random random(7);
    constexpr int width = 90, height = 40;
    const auto values = some_values(random, width * height, forms[3]);
    const PictureOptions options{.bins = 256, .low = 0, .high = 256};
    for (const int layer : {-1, 2}) {
        const Picture picture(host.gl, values, forms[3], width, layer);
        const TextureRegion region{.texture = picture.id,
                                   .layer = std::max(layer, 0),
                                   .x = 5,
                                   .y = 3,
                                   .width = 70,
                                   .height = 30,
                                   .count = 1999};
        std::vector<double> expected;
        for (std::size_t i = 0; i < 1999; ++i) expected.push_back(values[(3 + i / 70) * width + 5 + i % 70]);
        const Results results(host.gl, 256);
        statistics.measure(region, results.all(), options);
        check_results(results, expected, options, true);

        const Results one(host.gl, 256);
        statistics.measure(region, {.range = one.all().range}, options);
        CHECK(one.floats(3)[3] == 1999);
        CHECK(one.counts(0).front() == Results::mark);
        statistics.measure(region, {.equalization = one.all().equalization}, options);
        CHECK(one.floats(2) == results.floats(2));
        statistics.measure(region, {.histogram = one.all().histogram}, options);
        CHECK(one.counts(0) == results.counts(0));
        CHECK(one.counts(1).front() == Results::mark);
    }
}

TEST_CASE("Wrong calls of statistics are refused with the reason") {
    const Host host;
    PictureStatistics statistics(Host::adopt());
    const Picture picture(host.gl, std::vector<float>(300, 1), forms[3], 30);
    const Results results(host.gl, 8);
    const auto all = results.all();
    const auto refused = [&](const char* part, const TextureRegion& region, const PictureOutputs& outputs,
                             const PictureOptions& options) {
        const auto message = message_of([&] { statistics.measure(region, outputs, options); });
        CAPTURE(message);
        CHECK((message.find(part) != std::string::npos));
    };
    const TextureRegion whole{.texture = picture.id};
    refused("from 1 to 1024 bins, not 0", whole, all, {.bins = 0});
    refused("from 1 to 1024 bins, not 1025", whole, all, {.bins = 1025});
    refused("from 2^-100 to 2^100", whole, all, {.bins = 8, .low = 1, .high = 1});
    refused("from 2^-100 to 2^100", whole, all, {.bins = 8, .low = nan_value});
    refused("at least twice", whole, all, {.bins = 8, .low = 1, .high = 1.5F, .scale = BinScale::Logarithmic});
    refused("at least 2^-126", whole, all, {.bins = 8, .scale = BinScale::Logarithmic});
    refused("a finite number, not inf", whole, all, {.weights = {infinity, 0, 0, 0}, .bins = 8});
    refused("no output", whole, {}, {.bins = 8});
    refused("two outputs", whole, {.histogram = all.histogram, .cumulative = all.histogram}, {.bins = 8});
    refused("is 9 x 1, and a rectangle of 256 x 1", whole, all, {});
    refused("R32UI", whole, {.histogram = all.equalization}, {.bins = 8});
    refused("have one of the internal formats RGBA32F", {.texture = all.histogram}, {.range = all.range}, {.bins = 8});
    refused("not 0", {.texture = picture.id, .count = 0}, all, {.bins = 8});
    refused("not 301", {.texture = picture.id, .count = 301}, all, {.bins = 8});
    refused("from a buffer", {.texture = picture.id, .counted = CountInBuffer{}}, all, {.bins = 8});
    CHECK(results.counts(0).front() == Results::mark);
    CHECK(error_names(take_errors(host.gl)) == "");
}
