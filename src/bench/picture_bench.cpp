#include "bench/picture_bench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "bench_shaders.hpp"
#include "gl/device.hpp"
#include "gl/float_blending.hpp"
#include "gl/pixels.hpp"
#include "pass/target.hpp"
#include "quadmill/keys.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::bench {

namespace {

// A picture whose values are multiples of 2^-10 from 0 to 2: coarse blocks with noise.
std::vector<Half> some_picture(int width, int height) {
    std::mt19937 random(20261127);
    std::vector<Half> texels;
    texels.reserve(4 * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const auto block = static_cast<unsigned>(x / 40 * 7 + y / 40 * 13) % 16;
            for (int c = 0; c < 4; ++c)
                texels.push_back(Half::from_float(static_cast<float>(block * 64 + random() % 1024) * 0x1p-10F));
        }
    }
    return texels;
}

template <class T>
std::vector<T> texels_of(gl::Device& device, const gl::Texture& texture) {
    const gl::Scope scope(device, "bench");
    const auto bytes = gl::read_texels(device, texture);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

}  // namespace

std::vector<CallTimes> measure_picture(const Context& context, const PictureCase& which, int repeat) {
    auto& device = *Access::of(context);
    const auto bins = static_cast<int>(which.bins);
    const auto texels = static_cast<std::size_t>(which.width) * static_cast<std::size_t>(which.height);
    gl::Texture picture, histogram, cumulative, table, range, percentiles;
    pass::Target blended;
    gl::Program scatter;
    gl::Points points;
    bool blends = false;
    {
        const gl::Scope scope(device, "bench");
        picture = gl::Texture(device, gl::Format::Rgba16f, which.width, which.height);
        histogram = gl::Texture(device, gl::Format::R32ui, bins, 1);
        cumulative = gl::Texture(device, gl::Format::R32ui, bins, 1);
        table = gl::Texture(device, gl::Format::R32f, bins, 1);
        range = gl::Texture(device, gl::Format::Rgba32f, 1, 1);
        percentiles = gl::Texture(device, gl::Format::R32f, 8, 1);
        const auto values = some_picture(which.width, which.height);
        const gl::PixelBuffer memory(device, gl::PixelBuffer::Direction::Upload, picture.bytes());
        std::memcpy(memory.write(0, picture.bytes()).data(), values.data(), picture.bytes());
        gl::upload_rows(device, memory, 0, picture, 0, which.height);
        gl::Fence(device).wait();
        blends = device.features.float_blending && gl::blends_exactly(device, gl::Format::R32f, gl::Blended::Sum);
        if (blends) {
            blended = pass::Target(device, gl::Format::R32f, bins, 1);
            scatter = gl::Program(device, "bench/scatter.vert", {shaders::bench_scatter_vert, shaders::bench_one_frag});
            points = gl::Points(device);
        }
    }
    std::vector<CallTimes> all;
    const bool is_logarithmic = which.scale == BinScale::Logarithmic;
    const PictureOptions options{.weights = {0, 1, 0, 0},
                                 .bins = which.bins,
                                 .low = is_logarithmic ? 0x1p-10F : 0,
                                 .high = 2,
                                 .scale = which.scale};
    PictureStatistics statistics(context);
    all.push_back(time_call(context, repeat, "counting", [&] {
        statistics.measure({.texture = picture.id()}, {histogram.id(), cumulative.id(), table.id(), range.id()},
                           options);
    }));
    const auto values = some_picture(which.width, which.height);
    std::vector<std::uint32_t> expected(which.bins);
    for (std::size_t i = 1; i < values.size(); i += 4) {
        const auto value = double{values[i].value()};
        ++expected[std::min(static_cast<std::size_t>(value * static_cast<double>(which.bins) / 2), which.bins - 1)];
    }
    all.back().verified = is_logarithmic ? texels_of<std::uint32_t>(device, cumulative).back() == texels
                                         : texels_of<std::uint32_t>(device, histogram) == expected;
    const std::vector phi{0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99};
    const auto add_percentiles = [&](const char* name, std::array<float, 4> weights) {
        all.push_back(time_call(context, repeat, name, [&] {
            statistics.measure({.texture = picture.id()}, {.percentiles = percentiles.id()},
                               {.weights = weights, .phi = phi});
        }));
    };
    add_percentiles("8 percentiles of luminance", PictureOptions{}.weights);
    add_percentiles("8 percentiles of a channel", {1, 0, 0, 0});
    const auto counted = texels_of<float>(device, percentiles);
    const int others = context.info().software ? 1 : repeat;  // llvmpipe takes seconds
    if (blends) {
        all.push_back(time_call(context, others, "points, without reading", [&] {
            const gl::Scope scope(device, "bench");
            gl::fill(device, blended.texture, 0);
            draw(device, {.name = "points",
                          .program = &scatter,
                          .target = &blended.framebuffer,
                          .blend = gl::Blend::Add,
                          .points = &points,
                          .first = 0,
                          .count = texels});
        }));
    }
    Sorter sorter(context, {.engine = Engine::Merge});
    all.push_back(time_call(context, others, "8 percentiles by sorting",
                            [&] { sorter.percentiles_texture({.texture = picture.id()}, phi, percentiles.id(), 0); }));
    all.back().verified = texels_of<float>(device, percentiles) == counted;
    return all;
}

}  // namespace quadmill::detail::bench
