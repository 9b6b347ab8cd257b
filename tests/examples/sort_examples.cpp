// The examples of sort.hpp, of pairs.hpp and of the sorts in docs/library.md, unchanged.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <quadmill/context.hpp>
#include <quadmill/device_group.hpp>
#include <quadmill/pairs.hpp>
#include <quadmill/sort.hpp>
#include <span>
#include <vector>

#include "gl/texels.hpp"

using namespace quadmill;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<float> measured() {
    std::vector<float> keys(5000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<float>(i * 37 % 5000);
    return keys;
}

// Stands for the program's own context.
Context host() {
    static auto context = Context::headless();
    context.make_current();
    return context;
}

struct Textures {
    static constexpr int side = 16;
    Context context = host();
    detail::gl::Device& device = *detail::Access::of(context);
    detail::gl::Texture input{make(detail::gl::Format::Rgba32f)}, output{make(detail::gl::Format::Rgba32f)},
        depth{make(detail::gl::Format::R32f)}, order{make(detail::gl::Format::R32ui)};
    std::vector<float> texels = std::vector<float>(4 * side * side), depths = std::vector<float>(side * side);

    Textures() {
        const Session session(context);
        for (std::size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i * 7 % 1024);
        for (std::size_t i = 0; i < depths.size(); ++i) depths[i] = static_cast<float>(i * 5 % 256);
        test::write_texels(device, input, texels);
        test::write_texels(device, depth, depths);
    }
    [[nodiscard]] detail::gl::Texture make(detail::gl::Format format) const {
        const Session session(context);
        return {device, format, side, side};
    }
    template <class T>
    [[nodiscard]] std::vector<T> read(const detail::gl::Texture& texture) const {
        const Session session(context);
        return test::read_texels<T>(device, texture);
    }
    // Whether each channel of the texture is in order.
    [[nodiscard]] bool sorted(const detail::gl::Texture& texture) const {
        const auto found = read<float>(texture);
        for (std::size_t i = 4; i < found.size(); ++i) {
            if (found[i] < found[i - 4]) return false;
        }
        return true;
    }
    template <class Compare = std::less<>>
    [[nodiscard]] bool ordered(Compare compare = {}) const {
        const auto places = read<std::uint32_t>(order);
        return std::ranges::is_sorted(places, compare, [&](std::uint32_t place) { return depths.at(place); });
    }
};

}  // namespace

TEST_CASE("pairs.hpp: values that travel with keys") {
    const auto context = host();
    {
        PairSorter pairs(context);
        std::vector<float> keys{3, 1, 2};
        std::vector<std::uint64_t> values{30, 10, 20};
        pairs.sort_by_key(keys, values);  // 1, 2, 3 and 10, 20, 30
        CHECK(keys == std::vector<float>{1, 2, 3});
        CHECK(values == std::vector<std::uint64_t>{10, 20, 30});
    }
    PairSorter pairs(context);
    {
        const std::vector<float> keys{3, 1, 2, 5, 4};
        std::vector<std::uint32_t> index(5);
        pairs.argsort_segments(keys, std::array<std::size_t, 2>{2, 5}, index);  // of [0, 2) and [2, 5)
        CHECK(index == std::vector<std::uint32_t>{1, 0, 2, 4, 3});
    }
}

TEST_CASE("sort.hpp: a sorter") {
    Sorter sorter(Context::headless());
    std::vector<float> keys{3, 1, 2};
    sorter.sort(keys);  // 1, 2, 3
    CHECK(keys == std::vector<float>{1, 2, 3});
    keys = {3, 1, 2};
    sort(Context::headless(), keys);  // {3, 1, 2} become {1, 2, 3}
    CHECK(keys == std::vector<float>{1, 2, 3});
}

TEST_CASE("paper.hpp: a form of a paper") {
    const auto context = Context::headless();
    Sorter sorter(context, {.engine = Engine::Bitonic, .paper = {.bitonic = {.steps_per_pass = 1}}});
    std::vector<float> keys{3, 1, 2};
    CHECK(sorter.sort(keys).steps == 3);
    CHECK(keys == std::vector<float>{1, 2, 3});
}

TEST_CASE("sort.hpp: an index, segments, the best") {
    Sorter sorter(Context::headless());
    std::vector<float> keys{3, 1, 2};
    std::vector<std::uint32_t> index(keys.size());
    sorter.sort_with_index(keys, index);  // {3, 1, 2}: index becomes {1, 2, 0}
    CHECK(index == std::vector<std::uint32_t>{1, 2, 0});
    keys = {3, 1, 2};
    sorter.argsort(keys, index);  // {3, 1, 2} stay; index becomes {1, 2, 0}
    CHECK(keys == std::vector<float>{3, 1, 2});
    CHECK(index == std::vector<std::uint32_t>{1, 2, 0});
    keys = {2, 1, 5, 4, 3, 9, 8};
    sorter.sort_segments(keys, std::array<std::size_t, 3>{2, 2, 7});  // [0, 2), an empty one, [2, 7)
    CHECK(keys == std::vector<float>{1, 2, 3, 4, 5, 8, 9});
    keys = measured();
    std::array<float, 10> best;
    sorter.top(keys, best);  // the 10 smallest
    CHECK(best == std::array<float, 10>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("sort.hpp: textures") {
    Textures all;
    Sorter sorter(all.context);
    const auto texture = all.input.id(), distance = all.depth.id(), order = all.order.id();
    sorter.sort_texture(texture, texture);    // in place, in the program's own context
    sorter.argsort_texture(distance, order);  // in the program's own context, each frame
    CHECK(all.sorted(all.input));
    CHECK(all.ordered());
}

TEST_CASE("The library's page: sorting") {
    Textures all;
    const auto input = all.input.id(), output = all.output.id(), depth = all.depth.id(), order = all.order.id();
    std::vector<std::uint32_t> index(5000);
    std::array<float, 3> best{};
    const std::array<std::size_t, 2> ends{100, 5000};
    constexpr std::size_t n = 256;
    const std::vector<float> some_vertices(8 * n, 1.0F);
    const detail::gl::Buffer vertex_buffer(all.device, std::as_bytes(std::span(some_vertices))),
        element_buffer(all.device, std::as_bytes(std::span(all.depths)));
    const auto vertices = vertex_buffer.id(), elements = element_buffer.id();
    const auto percentiles = all.make(detail::gl::Format::R32f);
    const auto luminances = depth, exposure = percentiles.id();
    const std::array<std::uint32_t, 1> number{100};
    const detail::gl::Buffer draw_buffer(all.device, std::as_bytes(std::span(number)));
    const auto draws = draw_buffer.id();
    constexpr std::size_t max = n;
    constexpr std::array<float, 16> view{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -5, 1};
    // clang-format off
// Without a display:
auto context = quadmill::Context::headless();
std::vector<float> keys = measured();
quadmill::Sorter sorter(context);        // reuses its programs and textures
sorter.sort(keys);                       // in place; also double, integers of 32 and 64 bits, 16-bit floats
sorter.sort_with_index(keys, index);     // also returns the old index of each key; stable
sorter.argsort(keys, index);             // returns only the sorted index; keys are unchanged
sorter.sort_windows(keys, 1000);         // sorts each window of 1000 keys separately
sorter.sort_segments(keys, ends);        // or segments of any lengths
sorter.top(keys, best, std::span(index).first(3));   // only the first best.size() keys, in order

// Inside an OpenGL program, with its context current:
auto mine = quadmill::Context::adopt();
quadmill::Sorter on_gpu(mine);
on_gpu.sort_texture(input, output);      // your RGBA32F textures, each channel separately; nothing is read back
on_gpu.argsort_texture(depth, order, {}, quadmill::Order::Descending);   // R32F to R32UI: from back to front
on_gpu.argsort_buffer({.buffer = vertices, .offset = 8, .stride = 16}, n, elements);   // by one float per vertex
on_gpu.argsort_buffer({.buffer = vertices, .counted = quadmill::CountInBuffer{draws, 0}}, max, elements);
on_gpu.argsort_buffer({.buffer = vertices, .stride = 32}, quadmill::Plane::of_depths(view), n, elements, 0,
                      quadmill::Order::Descending);   // positions, from back to front of a camera with this view matrix
on_gpu.percentiles_texture({.texture = luminances}, std::array{0.01, 0.5, 0.99}, exposure);   // exact, to R32F
    // clang-format on
    CHECK(std::ranges::is_sorted(keys));
    CHECK(best == std::array<float, 3>{0, 1, 2});
    CHECK(all.sorted(all.output));
    CHECK(all.ordered(std::greater<>{}));  // from back to front
    auto sorted = all.depths;
    std::ranges::sort(sorted);
    CHECK(all.read<float>(percentiles)[1] == sorted[sorted.size() / 2]);
}

TEST_CASE("device_group.hpp: all devices sort one array") {
    std::vector<float> keys = measured();
    // clang-format off
    GroupSorter on_all(DeviceGroup::headless());  // every GPU of the machine
    on_all.sort(keys);
    // clang-format on
    CHECK(std::ranges::is_sorted(keys));
}
