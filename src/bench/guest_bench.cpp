#include "bench/guest_bench.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

#include "gl/device.hpp"
#include "gl/host_buffer.hpp"
#include "gl/pixels.hpp"
#include "quadmill/pairs.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::bench {

namespace {

std::vector<float> some_depths(std::size_t n) {
    std::mt19937 random(20261127);
    std::vector<float> depths(n);
    for (auto& depth : depths) depth = static_cast<float>(random() % 10'000'000) * 1e-4F;
    return depths;
}

// Exact as a float.
float number_of(std::size_t i) {
    return static_cast<float>(i % (std::size_t{1} << 24U));
}

template <class T>
std::vector<T> read_as(const std::vector<std::byte>& bytes, std::size_t n) {
    std::vector<T> values(n);
    std::memcpy(values.data(), bytes.data(), n * sizeof(T));
    return values;
}

// A texture of that many texels, row after row, with these first ones.
template <class T>
gl::Texture texture_of(gl::Device& device, gl::Format format, int side, const std::vector<T>& texels) {
    gl::Texture texture(device, format, side, side);
    const gl::PixelBuffer memory(device, gl::PixelBuffer::Direction::Upload, texture.bytes());
    std::memcpy(memory.write(0, texture.bytes()).data(), texels.data(), texels.size() * sizeof(T));
    gl::upload_rows(device, memory, 0, texture, 0, side);
    gl::Fence(device).wait();
    return texture;
}

}  // namespace

std::vector<CallTimes> measure_guest(const Context& context, std::size_t n, int repeat) {
    auto& device = *Access::of(context);
    const gl::Scope scope(device, "bench");
    const auto side = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(n))));
    const auto depths = some_depths(n);
    auto sorted = depths;
    std::vector<std::uint32_t> expected(n);
    sort_with_index_on_cpu(sorted, expected);
    const auto keys = texture_of(device, gl::Format::R32f, side, depths);
    std::vector<float> numbers(4 * n), sorted_numbers(4 * n);  // a value is its key's number, four times
    for (std::size_t i = 0; i < 4 * n; ++i) {
        numbers[i] = number_of(i / 4);
        sorted_numbers[i] = number_of(expected[i / 4]);
    }
    const auto values = texture_of(device, gl::Format::Rgba32f, side, numbers);
    const gl::Texture index(device, gl::Format::R32ui, side, side), keys_out(device, gl::Format::R32f, side, side),
        values_out(device, gl::Format::Rgba32f, side, side);
    const gl::Buffer buffer(device, std::as_bytes(std::span(depths))),
        elements(device, std::vector<std::byte>(n * sizeof(std::uint32_t)));
    const TextureRegion region{.texture = keys.id(), .count = n};
    Sorter sorter(context, {.engine = Engine::Merge});
    std::vector<CallTimes> all;
    all.push_back(time_call(context, repeat, "argsort_texture", [&] { sorter.argsort_texture(region, index.id()); }));
    all.back().verified = read_as<std::uint32_t>(gl::read_texels(device, index), n) == expected;
    all.push_back(time_call(context, repeat, "argsort_buffer",
                            [&] { sorter.argsort_buffer({.buffer = buffer.id()}, n, elements.id()); }));
    gl::BufferTexels written;
    const gl::HostBuffer order_in_buffer(device, elements.id(), "bench guest", "the index");
    const auto& texels = written.copy(device, order_in_buffer, gl::Format::R32ui, 0, n * sizeof(std::uint32_t));
    all.back().verified = read_as<std::uint32_t>(gl::read_texels(device, texels), n) == expected;
    PairSorter pairs(context, {.engine = Engine::Merge});
    all.push_back(time_call(context, repeat, "sort_pairs, 16 bytes each", [&] {
        pairs.sort_pairs(region, {.texture = keys_out.id(), .count = n}, {.texture = values.id(), .count = n},
                         {.texture = values_out.id(), .count = n});
    }));
    all.back().verified = read_as<float>(gl::read_texels(device, keys_out), n) == sorted &&
                          read_as<float>(gl::read_texels(device, values_out), 4 * n) == sorted_numbers;
    const gl::PixelBuffer memory(device, gl::PixelBuffer::Direction::Upload, index.bytes());
    all.push_back(time_call(context, repeat, "read back, CPU, send", [&] {
        auto read = read_as<float>(gl::read_texels(device, keys), n);
        std::vector<std::uint32_t> order(n);
        sort_with_index_on_cpu(read, order);
        std::memcpy(memory.write(0, index.bytes()).data(), order.data(), n * sizeof(std::uint32_t));
        gl::upload_rows(device, memory, 0, index, 0, side);
    }));
    all.back().verified = read_as<std::uint32_t>(gl::read_texels(device, index), n) == expected;
    return all;
}

}  // namespace quadmill::detail::bench
