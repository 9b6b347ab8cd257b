// The examples of context.hpp, and those of sort.hpp on the caller's own objects, unchanged.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <quadmill/context.hpp>
#include <quadmill/pairs.hpp>
#include <quadmill/picture.hpp>
#include <quadmill/query.hpp>
#include <quadmill/sort.hpp>
#include <quadmill/stream.hpp>
#include <vector>

#include "gl/device.hpp"
#include "gl/own_texture.hpp"

using namespace quadmill;  // NOLINT(google-build-using-namespace)

TEST_CASE("context.hpp: adoption") {
    auto own = Context::headless();  // stands for the program's own context
    own.make_current();
    auto context = Context::adopt();  // the one that is current on this thread
    CHECK(context.info().platform == "adopted");
}

TEST_CASE("context.hpp: programs of one run for the next") {
    auto context = Context::headless(), next = Context::headless();
    std::vector<float> keys{3, 1, 2};
    sort(context, keys, {.engine = Engine::Merge});
    const auto saved = context.save_programs();  // to a file; in the next run:
    next.load_programs(saved);
    keys = {3, 1, 2};
    sort(next, keys, {.engine = Engine::Merge});
    CHECK(keys == std::vector<float>{1, 2, 3});
}

TEST_CASE("sort.hpp: buffers and regions") {
    auto context = Context::headless();
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    constexpr std::size_t n = 64;
    std::vector<float> values(4 * n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 256);
    std::array<GLuint, 3> buffers{};
    gl.CreateBuffers(3, buffers.data());
    for (const auto buffer : buffers) gl.NamedBufferStorage(buffer, 16 * n, values.data(), 0);
    const auto [particles, elements, depths_buffer] = buffers;
    const test::HostTexture rgba(context, GL_RGBA32F, 64, 64), single(context, GL_R32F, 64, 64),
        places(context, GL_R32UI, 64, 64);
    const auto positions = rgba.id(), order = places.id();
    int frames = 0;
    const auto draw_loading_screen = [&] { ++frames; };
    Sorter sorter(context, {.engine = Engine::Merge});
    while (!sorter.prepare(SortCall::ArgsortBuffer, KeyType::F32, n, 1)) draw_loading_screen();
    CHECK(frames > 0);
    sorter.argsort_buffer({.buffer = particles, .offset = 12, .stride = 16}, n, elements);
    std::vector<std::uint32_t> found(n);
    gl.GetNamedBufferSubData(elements, 0, 4 * n, found.data());
    CHECK(std::ranges::is_sorted(found, {}, [&](std::uint32_t i) { return values[4 * i + 3]; }));
    {
        const auto depths = depths_buffer;
        constexpr std::size_t max = n;
        constexpr std::uint32_t number = 3;
        GLuint draws = 0;
        gl.CreateBuffers(1, &draws);
        gl.NamedBufferStorage(draws, sizeof number, &number, 0);
        sorter.argsort_buffer({.buffer = depths, .counted = CountInBuffer{draws, 0}}, max, elements);
        gl.GetNamedBufferSubData(elements, 0, 4 * n, found.data());
        CHECK(found[number] == number);
        gl.DeleteBuffers(1, &draws);
        sorter.sort_buffer({.buffer = depths}, n);
    }
    gl.GetNamedBufferSubData(depths_buffer, 0, 16 * n, values.data());
    CHECK(std::ranges::is_sorted(values.begin(), values.begin() + n));
    sorter.argsort_texture({.texture = positions, .width = 64, .height = 64}, order, 3);  // by alpha
    const auto depths = single.id();
    sorter.sort_texture({.texture = depths, .count = n}, {.texture = depths, .count = n});
    gl.DeleteBuffers(3, buffers.data());
    CHECK(gl.GetError() == GL_NO_ERROR);
}

TEST_CASE("sort.hpp, pairs.hpp: depths of positions, and segments of a texture") {
    auto context = Context::headless();
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    constexpr std::size_t n = 35;
    std::vector<float> values(8 * n);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 256);
    std::array<GLuint, 2> buffers{};
    gl.CreateBuffers(2, buffers.data());
    for (const auto buffer : buffers) gl.NamedBufferStorage(buffer, 32 * n, values.data(), 0);
    const auto [vertices, elements] = buffers;
    constexpr std::array<float, 16> view{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -5, 1};
    const test::HostTexture rgba(context, GL_RGBA32F, 35, 10), single(context, GL_R32F, 35, 10),
        places(context, GL_R32UI, 35, 10);
    const auto positions = rgba.id(), depths = single.id(), order = places.id();
    Sorter sorter(context, {.engine = Engine::Merge});
    sorter.argsort_texture({.texture = positions}, Plane::of_depths(view), order, Order::Descending);
    sorter.argsort_buffer({.buffer = vertices, .stride = 32}, Plane::of_depths(view), n, elements);
    std::vector<std::uint32_t> found(n);
    gl.GetNamedBufferSubData(elements, 0, 4 * n, found.data());
    CHECK(std::ranges::is_sorted(found, {}, [&](std::uint32_t i) { return -values[8 * i + 2]; }));
    PairSorter pairs(context);
    pairs.argsort_segments({.texture = depths}, std::array<std::size_t, 2>{100, 350}, order);
    gl.DeleteBuffers(2, buffers.data());
    CHECK(gl.GetError() == GL_NO_ERROR);
}

TEST_CASE("selection.hpp: selections for the application") {
    auto context = Context::headless();
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    const test::HostTexture bits(context, GL_R32UI, 4, 4);
    std::array<GLuint, 2> buffers{};
    gl.CreateBuffers(2, buffers.data());
    for (const auto buffer : buffers) gl.NamedBufferStorage(buffer, 400, nullptr, 0);
    const auto [elements, command] = buffers;
    const auto mask = bits.id();
    Table table;
    table.add("x", std::vector<float>(100, 1));
    QueryProcessor processor(context, {.engine = QueryEngine::Bitmap});
    const auto chosen = processor.select(table, column("x") > 0.0);
    // clang-format off
    chosen.write_bits(mask);  // if ((texelFetch(mask, ...).x >> (row & 31) & 1u) != 0u) ...
    chosen.write_rows(elements, 0, command);  // command.count; the rest of the command is the caller's
    // clang-format on
    std::uint32_t count = 0;
    gl.GetNamedBufferSubData(command, 0, 4, &count);
    CHECK(count == 100);
    gl.DeleteBuffers(2, buffers.data());
    CHECK(gl.GetError() == GL_NO_ERROR);
}

TEST_CASE("sort.hpp, stream.hpp: samples of textures") {
    auto context = Context::headless();
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    const test::HostTexture texture(context, GL_R32F, 40, 25);
    std::vector<float> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 1000 + 1);
    gl.TextureSubImage2D(texture.id(), 0, 0, 0, 40, 25, GL_RED, GL_FLOAT, values.data());
    const auto terrain = texture.id();
    Sorter sorter(context);
    {
        const auto heights = terrain;
        const auto sample = sorter.sample_texture<float>({.texture = heights}, 0.01);
        CHECK(sample.values.size() == 51);
    }
    {
        const test::HostTexture output(context, GL_R32F, 3, 1);
        const auto luminances = terrain, exposure = output.id();
        sorter.percentiles_texture({.texture = luminances}, std::array{0.01, 0.5, 0.99}, exposure);
        std::array<float, 3> found{};
        gl.GetTextureImage(exposure, 0, GL_RED, GL_FLOAT, sizeof found, found.data());
        CHECK(found == std::array<float, 3>{11, 501, 990});
    }
    Quantiles<float> heights({.eps = 0.01});
    heights.add_texture(sorter, {.texture = terrain});
    CHECK(heights.n() == 1000);
    CHECK(heights.quantile(1).value == 1000);
}

TEST_CASE("picture.hpp: statistics of a frame") {
    auto context = Context::headless();
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    const test::HostTexture texture(context, GL_RGBA32F, 40, 25), counts(context, GL_R32UI, 256, 1),
        measured(context, GL_RGBA32F, 1, 1), curve(context, GL_R32F, 256, 1), three(context, GL_R32F, 3, 1);
    std::vector<float> texels;
    for (std::size_t i = 0; i < 1000; ++i) {
        const auto value = static_cast<float>(i * 7 % 1000 + 1);
        texels.insert(texels.end(), {value, value, value, value > 500 ? 1.0F : 0.0F});
    }
    gl.TextureSubImage2D(texture.id(), 0, 0, 0, 40, 25, GL_RGBA, GL_FLOAT, texels.data());
    const auto frame = texture.id(), bars = counts.id(), exposure = measured.id(), table = curve.id(),
               marks = three.id();
    const auto read = [&] {
        std::array<float, 4> found{};
        gl.GetTextureImage(exposure, 0, GL_RGBA, GL_FLOAT, sizeof found, found.data());
        return found;
    };
    {
        PictureStatistics statistics(context);  // of Context::adopt()
        statistics.measure({.texture = frame}, {.histogram = bars, .range = exposure},
                           {.low = 0.001F, .high = 100, .scale = BinScale::Logarithmic});
        CHECK(read()[2] == doctest::Approx(500.5));
    }
    // Histogram, cumulative histogram, equalization table, minimum, maximum and mean of a texture, such as the frame that
    // your program has just drawn. The results stay on the GPU, in your textures.
    quadmill::PictureStatistics statistics(context);
    statistics.measure({.texture = frame}, {.histogram = bars, .equalization = table, .range = exposure},
                       {.bins = 256, .low = 0.001F, .high = 100, .scale = quadmill::BinScale::Logarithmic});
    // Exact percentiles. Texels count by their alpha, as if they were there up to 255 times.
    statistics.measure({.texture = frame}, {.percentiles = marks},
                       {.phi = {0.01, 0.5, 0.99}, .weight = quadmill::PictureWeight::Alpha, .levels = 255});
    CHECK(read()[2] == doctest::Approx(500.5));
    std::array<float, 3> found{};
    gl.GetTextureImage(marks, 0, GL_RED, GL_FLOAT, sizeof found, found.data());
    // The texel of rank phi (n - 1), rounded, counted from 0: here n = 500 * 255.
    CHECK(found[0] == doctest::Approx(506).epsilon(1e-6));
    CHECK(found[1] == doctest::Approx(751).epsilon(1e-6));
    CHECK(found[2] == doctest::Approx(995).epsilon(1e-6));
}

TEST_CASE("table.hpp, query.hpp: columns of the application, and aggregates for it") {
    auto context = Context::headless();
    context.make_current();
    const auto& gl = detail::Access::of(context)->gl;
    constexpr std::size_t n = 100;
    const test::HostTexture rgba(context, GL_RGBA32F, 10, 10);
    std::vector<float> values(4 * n, 0.5F);
    std::array<GLuint, 2> buffers{};
    gl.CreateBuffers(2, buffers.data());
    for (const auto buffer : buffers) gl.NamedBufferStorage(buffer, 16 * n, values.data(), 0);
    const auto [particles, uniforms] = buffers;
    const auto sprites = rgba.id();
    gl.TextureSubImage2D(sprites, 0, 0, 0, 10, 10, GL_RGBA, GL_FLOAT, values.data());
    {
        Table table;
        table.add_texture("alpha", {.texture = sprites, .count = n}, ColumnType::F32, 3);
        table.add_buffer("speed", {.buffer = particles, .offset = 12, .stride = 16}, n);
        QueryProcessor processor(context);
        CHECK(processor.count(table, column("alpha") == column("speed")) == n);
    }
    Table table;
    table.add("a", std::vector<std::int32_t>{3, 1, 2, 8, 7, 6, 5, 4, 9, 10, 11});
    QueryProcessor processor(context);
    int used = 0;
    const auto use = [&](const Value& value) { used += value == Value(std::int64_t{2}) ? 1 : 0; };
    // clang-format off
    const auto tenth = processor.aggregate_async(
        table, {.kind = QueryAggregate::Kind::KthLargest, .column = "a", .k = 10});
    // ... a frame later:
    if (tenth.ready()) use(tenth.get());
    // clang-format on
    if (used == 0) use(tenth.get());
    CHECK(used == 1);
    processor.write_aggregate(table, {.kind = QueryAggregate::Kind::Max, .column = "a"}, {.buffer = uniforms});
    float max = 0;
    gl.GetNamedBufferSubData(uniforms, 0, 4, &max);
    CHECK(max == 11);
    gl.DeleteBuffers(2, buffers.data());
    CHECK(gl.GetError() == GL_NO_ERROR);
}
