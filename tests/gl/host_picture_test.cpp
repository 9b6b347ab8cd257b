// Statistics of an application's picture, compared with a loop.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
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

// A texture for percentiles, a texel wider than needed, with a mark in all texels.
struct Percentiles {
    explicit Percentiles(const Api& of, std::size_t number) : gl(of), found(number + 1, 7) {
        gl.CreateTextures(GL_TEXTURE_2D, 1, &id);
        gl.TextureStorage2D(id, 1, GL_R32F, static_cast<GLsizei>(found.size()), 1);
        gl.TextureSubImage2D(id, 0, 0, 0, static_cast<GLsizei>(found.size()), 1, GL_RED, GL_FLOAT, found.data());
    }
    Percentiles(const Percentiles&) = delete;
    Percentiles& operator=(const Percentiles&) = delete;
    ~Percentiles() { gl.DeleteTextures(1, &id); }
    std::vector<float> values() {
        gl.GetTextureImage(id, 0, GL_RED, GL_FLOAT, static_cast<GLsizei>(4 * found.size()), found.data());
        CHECK(found.back() == 7);
        return {found.begin(), found.end() - 1};
    }
    const Api& gl;
    std::vector<float> found;
    GLuint id = 0;
};

std::vector<float> percentiles_of(const Host& host, PictureStatistics& statistics, const TextureRegion& region,
                                  const PictureOptions& options) {
    Percentiles to(host.gl, options.phi.size());
    statistics.measure(region, {.percentiles = to.id}, options);
    return to.values();
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
    std::vector<std::uint32_t> bits;
    for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
    return bits;
}

// Texels by way of a texture of floats: of 16-bit fixed point, a driver may give shaders a float one step away from the
// one that it gives glGetTextureImage.
std::vector<float> texels_as_shaders_read(const Api& gl, GLuint texture, const Form& form, int width, int height) {
    GLuint floats = 0;
    std::array<GLuint, 2> framebuffers{};
    gl.CreateTextures(GL_TEXTURE_2D, 1, &floats);
    gl.TextureStorage2D(floats, 1, form.channels == 1 ? GL_R32F : GL_RGBA32F, width, height);
    gl.CreateFramebuffers(2, framebuffers.data());
    gl.NamedFramebufferTexture(framebuffers[0], GL_COLOR_ATTACHMENT0, texture, 0);
    gl.NamedFramebufferTexture(framebuffers[1], GL_COLOR_ATTACHMENT0, floats, 0);
    gl.BlitNamedFramebuffer(framebuffers[0], framebuffers[1], 0, 0, width, height, 0, 0, width, height,
                            GL_COLOR_BUFFER_BIT, GL_NEAREST);
    std::vector<float> texels(form.channels * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    gl.GetTextureImage(floats, 0, form.format, GL_FLOAT, static_cast<GLsizei>(4 * texels.size()), texels.data());
    gl.DeleteFramebuffers(2, framebuffers.data());
    gl.DeleteTextures(1, &floats);
    return texels;
}

// What they should be, of values in any order.
std::vector<float> expected_percentiles(std::vector<float> values, const std::vector<double>& phi) {
    std::erase_if(values, [](float value) { return value != value; });
    values = sorted(std::move(values), Order::Ascending);
    std::vector<float> found;
    for (const double each : phi) {
        const double rounded = std::round(each * 0x1p32) * 0x1p-32;
        const double index = std::floor(rounded * static_cast<double>(values.size() - 1) + 0.5);
        found.push_back(values.empty() ? nan_value : values[static_cast<std::size_t>(index)]);
    }
    return found;
}

}  // namespace

TEST_CASE("Percentiles of one channel are its values, bit for bit, in any format and size") {
    const Host host;
    PictureStatistics statistics(Host::adopt());
    Random random(20261128);
    const PictureOptions options{.weights = {0, 0, 1, 0}, .phi = {0.5, 0, 1, 0.25, 0.75, 0.01, 0.99, 0.5}};
    for (const auto& form : forms) {
        CAPTURE(form.internal);
        for (const auto& [width, texels] : {std::pair{1, 1}, {1, 300}, {31, 31}, {32, 320}, {33, 2000}, {300, 60000}}) {
            // Whole rows alone.
            const auto n = static_cast<std::size_t>(texels / width * width);
            auto values = some_values(random, n * form.channels, form);
            if (form.internal == GL_RGBA32F || form.internal == GL_R32F || form.internal == GL_RGBA16F) {
                for (auto& value : values) {
                    constexpr std::array special{nan_value, -nan_value, infinity, -infinity, 0.0F, -0.0F, 1.5F, -1.5F};
                    if (random.number(0, 9) == 0) value = special.at(static_cast<std::size_t>(random.number(0, 7)));
                    if (random.number(0, 1) == 0) value = -value;
                }
            }
            const Picture picture(host.gl, values, form, width);
            std::vector<float> read = texels_as_shaders_read(host.gl, picture.id, form, width, texels / width),
                               expected;
            const std::size_t channel = form.channels == 1 ? 0 : 2;
            for (std::size_t i = channel; i < read.size(); i += form.channels) expected.push_back(read[i]);
            CHECK(bits_of(percentiles_of(host, statistics, {.texture = picture.id}, options)) ==
                  bits_of(expected_percentiles(expected, options.phi)));
        }
    }
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("Percentiles of any bits, of ties and of neighbouring floats are exact") {
    const Host host;
    PictureStatistics statistics(Host::adopt());
    Random random(3);
    constexpr std::size_t n = 128 * 100;
    for (int kind = 0; kind < 6; ++kind) {
        CAPTURE(kind);
        std::vector<float> values(n);
        for (auto& value : values) {
            const auto bits = static_cast<std::uint32_t>(random.bits());
            const std::array<std::uint32_t, 6> chosen{bits,
                                                      0x3f800000U + bits % 2,
                                                      0xbf800000U + bits % 9,
                                                      0x7fc00000U | bits,
                                                      bits % 3 == 0 ? 0x80000000U : 0,
                                                      0x41234567U};
            value = std::bit_cast<float>(chosen.at(static_cast<std::size_t>(kind)));
            if (std::abs(value) < 0x1p-126F && value != 0) value = 3;
        }
        const Picture picture(host.gl, values, forms[3], 128);
        for (std::size_t number = 1; number <= 8; ++number) {
            PictureOptions options;
            for (std::size_t i = 0; i < number; ++i)
                options.phi.push_back(static_cast<double>(random.number(0, 1000)) / 1000);
            CHECK(bits_of(percentiles_of(host, statistics, {.texture = picture.id}, options)) ==
                  bits_of(expected_percentiles(values, options.phi)));
        }
    }
}

TEST_CASE("Percentiles of luminance, of regions and of layers, with all other statistics") {
    const Host host;
    PictureStatistics statistics(Host::adopt());
    Random random(4);
    constexpr std::size_t width = 90, height = 40, count = 1999;
    const auto texels = some_values(random, 4 * width * height, forms[0]);
    const PictureOptions options{.bins = 256, .high = 256, .phi = {0, 0.02, 0.5, 0.98, 1}};
    for (const int layer : {-1, 2}) {
        const Picture picture(host.gl, texels, forms[0], width, layer);
        std::vector<float> values;
        std::vector<double> wide;
        for (std::size_t i = 0; i < count; ++i) {
            wide.push_back(value_of(&texels[4 * ((3 + i / 70) * width + 5 + i % 70)], 4, options.weights));
            values.push_back(static_cast<float>(wide.back()));
        }
        Percentiles marks(host.gl, options.phi.size());
        const Results results(host.gl, 256);
        auto outputs = results.all();
        outputs.percentiles = marks.id;
        statistics.measure({.texture = picture.id,
                            .layer = std::max(layer, 0),
                            .x = 5,
                            .y = 3,
                            .width = 70,
                            .height = 30,
                            .count = count},
                           outputs, options);
        check_results(results, wide, options, false);
        const auto found = marks.values(), expected = expected_percentiles(values, options.phi);
        for (std::size_t i = 0; i < found.size(); ++i)
            CHECK(std::abs(found[i] - expected[i]) <= 0x1p-22F * std::abs(expected[i]));
    }
    CHECK(error_names(take_errors(host.gl)) == "");
}

TEST_CASE("Texels that count several times, or not at all, by alpha or by a mask") {
    const Host host;
    PictureStatistics statistics(Host::adopt());
    Random random(6);
    constexpr std::size_t width = 70, height = 41;
    const auto weight_of = [](float w, int levels) {
        return w > 0 ? static_cast<std::size_t>(std::min(w, 1.0F) * static_cast<float>(levels) + 0.5F) : 0;
    };
    constexpr std::array special{nan_value, -1.0F, 0.0F, infinity, 0.5F};
    for (const auto& form : {forms[0], forms[1], forms[2]}) {
        for (const int levels : {1, 3, 7, 255}) {
            for (const bool by_mask : {false, true}) {
                CAPTURE(form.internal);
                CAPTURE(levels);
                CAPTURE(by_mask);
                auto texels = some_values(random, 4 * width * height, form);
                std::vector<float> over(2 * 4 * width * height);
                for (auto& w : over) w = static_cast<float>(random.number(0, 255)) / 255;
                // Floats and halves hold these exactly.
                if (form.internal != GL_RGBA8) {
                    for (auto& w : over)
                        w = random.number(0, 9) == 0 ? special.at(static_cast<std::size_t>(random.number(0, 4)))
                                                     : static_cast<float>(random.number(0, 64)) / 64;
                }
                const auto& row = forms[by_mask ? 3 : 0];
                std::vector<float> values;
                std::vector<double> wide;
                for (std::size_t i = 0; i < width * height; ++i) {
                    // The mask is wider than the picture.
                    const float w = over[by_mask ? i / width * 2 * width + i % width : i];
                    if (!by_mask) texels[4 * i + 3] = w;
                    const double value = value_of(&texels[4 * i], 4, PictureOptions{}.weights);
                    wide.insert(wide.end(), weight_of(w, levels), value);
                    values.insert(values.end(), weight_of(w, levels), static_cast<float>(value));
                }
                const Picture picture(host.gl, texels, form, width);
                const Picture mask(host.gl, {over.begin(), over.begin() + 2 * width * height}, row, 2 * width);
                const PictureOptions options{.bins = 1000,
                                             .high = 256,
                                             .phi = {0, 0.1, 0.5, 0.9, 1},
                                             .weight = by_mask ? PictureWeight::Mask : PictureWeight::Alpha,
                                             .levels = levels,
                                             .mask = by_mask ? mask.id : 0};
                Percentiles marks(host.gl, options.phi.size());
                const Results results(host.gl, options.bins);
                auto outputs = results.all();
                outputs.percentiles = marks.id;
                statistics.measure({.texture = picture.id}, outputs, options);
                check_results(results, wide, options, false);
                const auto found = marks.values(), expected = expected_percentiles(values, options.phi);
                for (std::size_t i = 0; i < found.size(); ++i)
                    CHECK(std::abs(found[i] - expected[i]) <= 0x1p-22F * std::abs(expected[i]));
            }
        }
    }
    // Nothing counts.
    const Picture picture(host.gl, std::vector<float>(4 * width * height, 0), forms[0], width);
    const PictureOptions options{.bins = 4, .phi = {0.5}, .weight = PictureWeight::Alpha, .levels = 20};
    const Results results(host.gl, 4);
    statistics.measure({.texture = picture.id}, results.all(), options);
    check_results(results, {}, options, true);
    const auto none = percentiles_of(host, statistics, {.texture = picture.id}, options);
    CHECK(none[0] != none[0]);
    CHECK(error_names(take_errors(host.gl)) == "");
}

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
    Percentiles marks(host.gl, 3);
    auto outputs = results.all();
    outputs.percentiles = marks.id;
    const PictureOptions options{.bins = 20, .high = 4, .phi = {0.25, 0.5, 1}};
    for (const auto& [id, layer] : {std::pair{plain.id, 0}, std::pair{layers.id, 2}}) {
        {
            const Poison poison(host.gl, 5 + id);
            const auto before = Snapshot::take(host.gl);
            statistics.measure({.texture = id, .layer = layer}, outputs, options);
            REQUIRE(difference(before, Snapshot::take(host.gl)) == "");
        }
        check_results(results, std::vector<double>(600, 1), options, true);
        CHECK(marks.values() == std::vector<float>(3, 1));
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
    const PictureOutputs percentiles{.percentiles = all.equalization};
    refused("from 1 to 8 fractions for the percentiles, not 0", whole, percentiles, {.bins = 8});
    refused("from 1 to 8 fractions for the percentiles, not 9", whole, percentiles,
            {.bins = 8, .phi = std::vector(9, 0.5)});
    refused("a fraction is from 0 to 1, not 1.5", whole, percentiles, {.bins = 8, .phi = {1.5}});
    refused("a fraction is from 0 to 1, not nan", whole, all, {.bins = 8, .phi = {nan_value}});
    const Picture four(host.gl, std::vector<float>(4 * 300, 1), forms[0], 30), small(host.gl, {1, 1, 1}, forms[3], 3);
    const TextureRegion pixels{.texture = four.id};
    refused("needs a mask", whole, all, {.bins = 8, .weight = PictureWeight::Mask});
    refused("only for a weight by mask", whole, all, {.bins = 8, .mask = four.id});
    refused("from 1 to 255 levels", pixels, all, {.bins = 8, .weight = PictureWeight::Alpha, .levels = 0});
    refused("from 1 to 255 levels", pixels, all, {.bins = 8, .weight = PictureWeight::Alpha, .levels = 256});
    refused("R32F have no alpha", whole, all, {.bins = 8, .weight = PictureWeight::Alpha});
    refused("of its own", whole, all, {.bins = 8, .weight = PictureWeight::Mask, .mask = picture.id});
    refused("is 3 x 1, and", whole, all, {.bins = 8, .weight = PictureWeight::Mask, .mask = small.id});
    refused("the mask, object", whole, all, {.bins = 8, .weight = PictureWeight::Mask, .mask = all.histogram});
    refused("R32F", whole, {.percentiles = all.histogram}, {.bins = 8, .phi = {0.5}});
    refused("two outputs", whole, {.equalization = all.equalization, .percentiles = all.equalization},
            {.bins = 8, .phi = {0.5}});
    refused("not 0", {.texture = picture.id, .count = 0}, all, {.bins = 8});
    refused("not 301", {.texture = picture.id, .count = 301}, all, {.bins = 8});
    refused("from a buffer", {.texture = picture.id, .counted = CountInBuffer{}}, all, {.bins = 8});
    CHECK(results.counts(0).front() == Results::mark);
    CHECK(error_names(take_errors(host.gl)) == "");
}
