// Compares reductions with loops in double, within the bound that the header states.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "gl/device.hpp"
#include "gl/texels.hpp"
#include "linalg/matrices.hpp"
#include "linalg/matrix_texture.hpp"
#include "quadmill/error.hpp"

using namespace quadmill;        // NOLINT(google-build-using-namespace)
using namespace quadmill::test;  // NOLINT(google-build-using-namespace)

namespace {

const std::vector<std::pair<std::size_t, std::size_t>> shapes{
    {0, 0}, {0, 3}, {1, 1}, {1, 2}, {3, 1}, {63, 1}, {1, 64}, {65, 2}, {16, 1024}, {37, 129}, {1025, 17}, {300, 300}};

std::size_t results(std::size_t rows, std::size_t columns, Along along) {
    return along == Along::All ? 1 : along == Along::Rows ? rows : columns;
}
std::size_t result_of(std::size_t i, std::size_t j, Along along) {
    return along == Along::All ? 0 : along == Along::Rows ? i : j;
}

struct Sum {
    double sum = 0, magnitude = 0, count = 0;
    void add(double x) {
        sum += x;
        magnitude += std::abs(x);
        ++count;
    }
    [[nodiscard]] double bound(double more = 0) const {
        return (std::log2(std::max(count, 1.0)) + 8 + more) * 0x1p-24 * magnitude + count * 0x1p-126;
    }
};

}  // namespace

TEST_CASE("sums, dot products and norms are within their bound") {
    Reducer reducer(context());
    for (const auto& [rows, columns] : shapes) {
        auto a = random_matrix(rows, columns, 1), b = random_matrix(rows, columns, 2);
        for (std::size_t i = 0; i < a.values.size(); i += 3) a.values[i] *= 1e6F;
        for (const auto along : {Along::All, Along::Rows, Along::Columns}) {
            const auto shown = text_of(rows, " x ", columns, " along ", static_cast<int>(along));
            INFO(shown);
            std::vector<Sum> sums(results(rows, columns, along)), dots(sums.size()), squares(sums.size());
            for (std::size_t i = 0; i < rows; ++i) {
                for (std::size_t j = 0; j < columns; ++j) {
                    const auto r = result_of(i, j, along);
                    sums[r].add(a.at(i, j));
                    dots[r].add(static_cast<double>(a.at(i, j)) * b.at(i, j));
                    squares[r].add(static_cast<double>(a.at(i, j)) * a.at(i, j));
                }
            }
            const auto found_sums = reducer.sums(a.view(), along), found_dots = reducer.dots(a.view(), b.view(), along),
                       norms = reducer.norms(a.view(), along);
            REQUIRE(found_sums.size() == sums.size());
            REQUIRE(found_dots.size() == sums.size());
            REQUIRE(norms.size() == sums.size());
            for (std::size_t r = 0; r < sums.size(); ++r) {
                CHECK(std::abs(found_sums[r] - sums[r].sum) <= sums[r].bound());
                CHECK(std::abs(found_dots[r] - dots[r].sum) <= dots[r].bound(2));
                CHECK(norms[r] == doctest::Approx(std::sqrt(squares[r].sum)).epsilon(1e-5));
            }
        }
    }
}

TEST_CASE("norms neither overflow nor underflow") {
    Reducer reducer(context());
    for (const float scale : {1e-37F, 1e-30F, 1e30F, 1e37F}) {
        const std::vector<float> values{3 * scale, 0, 4 * scale, 0};
        CHECK(reducer.norms(MatrixView{values, 2, 2}).front() == doctest::Approx(5 * scale).epsilon(1e-6));
    }
    CHECK(reducer.norms(MatrixView{std::vector<float>(6), 2, 3}, Along::Rows) == std::vector<float>(2));
}

TEST_CASE("extremes: the first of equal ones, NaNs ignored, zeros equal") {
    Reducer reducer(context());
    for (const auto& [rows, columns] : shapes) {
        auto a = random_matrix(rows, columns, 3);
        for (auto& x : a.values) x = std::round(x * 20);  // ties, and -0
        for (std::size_t i = 4; i < a.values.size(); i += 7) a.values[i] = std::numeric_limits<float>::quiet_NaN();
        for (const auto along : {Along::All, Along::Rows, Along::Columns}) {
            const auto shown = text_of(rows, " x ", columns, " along ", static_cast<int>(along));
            INFO(shown);
            std::vector<std::optional<Extreme>> min(results(rows, columns, along)), max(min.size());
            for (std::size_t i = 0; i < rows; ++i) {
                for (std::size_t j = 0; j < columns; ++j) {
                    const float x = a.at(i, j);
                    if (std::isnan(x)) continue;
                    auto &low = min[result_of(i, j, along)], &high = max[result_of(i, j, along)];
                    if (!low || x < low->value) low = Extreme{x, i, j};
                    if (!high || x > high->value) high = Extreme{x, i, j};
                }
            }
            CHECK((reducer.minimum(a.view(), along) == min));
            CHECK((reducer.maximum(a.view(), along) == max));
        }
    }
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> values{1, -inf, inf, 1e-40F, -1e-40F};
    CHECK(reducer.minimum(MatrixView{values, 1, 5}).front() == Extreme{-inf, 0, 1});
    CHECK(reducer.maximum(MatrixView{values, 5, 1}).front() == Extreme{inf, 2, 0});
    CHECK(reducer.minimum(MatrixView{std::span(values).subspan(3), 1, 2}).front() == Extreme{-1e-40F, 0, 1});
    CHECK(!reducer.maximum(MatrixView{std::vector{std::numeric_limits<float>::quiet_NaN()}, 1, 1}).front());
}

TEST_CASE("sums of integers are exact, even beyond 32 bits") {
    Reducer reducer(context());
    std::mt19937 random(4);
    for (const auto& [rows, columns] : shapes) {
        std::vector<std::uint32_t> values(rows * columns);
        for (auto& value : values) value = static_cast<std::uint32_t>(random()) | 0x80000000U;
        std::vector<std::int32_t> with_sign(values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            with_sign[i] = static_cast<std::int32_t>(values[i] ^ (i % 2 == 0 ? 0x80000000U : 0U));
        for (const auto along : {Along::All, Along::Rows, Along::Columns}) {
            const auto shown = text_of(rows, " x ", columns, " along ", static_cast<int>(along));
            INFO(shown);
            std::vector<std::uint64_t> sums(results(rows, columns, along));
            std::vector<std::int64_t> signed_sums(sums.size());
            for (std::size_t i = 0; i < rows; ++i) {
                for (std::size_t j = 0; j < columns; ++j) {
                    sums[result_of(i, j, along)] += values[i * columns + j];
                    signed_sums[result_of(i, j, along)] += with_sign[i * columns + j];
                }
            }
            if (columns == 0) continue;
            CHECK(reducer.sums(std::span<const std::uint32_t>(values), columns, along) == sums);
            CHECK(reducer.sums(std::span<const std::int32_t>(with_sign), columns, along) == signed_sums);
        }
    }
}

TEST_CASE("a vector that is longer than the width of a texture") {
    Reducer reducer(context());
    std::vector<float> values(100001, 1.0F);
    values[70000] = -2;
    CHECK(reducer.sums(MatrixView{values, 1, values.size()}).front() == 99998);
    CHECK(reducer.minimum(MatrixView{values, values.size(), 1}).front() == Extreme{-2, 70000, 0});
    CHECK_THROWS_AS(static_cast<void>(reducer.sums(MatrixView{values, 1, values.size()}, Along::Rows)),
                    InvalidArgument);
    CHECK_THROWS_WITH_AS(static_cast<void>(reducer.sums(MatrixView{values, 2, 2})),
                         "Reducer::sums: 2 rows and 2 columns do not make 100001 values", InvalidArgument);
}

TEST_CASE("a texture for a reduction holds 2^30 elements, or its limit") {
    using detail::linalg::size_to_reduce;
    const auto size = [](std::size_t rows, std::size_t columns, std::size_t max) {
        const auto [width, height] = size_to_reduce("f", rows, columns, Along::All, max);
        return std::pair{width, height};
    };
    CHECK(size(16384, 16384, 16384) == std::pair{16384, 16384});  // unchanged
    CHECK(size(1, 16385, 16384) == std::pair{8192, 3});
    CHECK(size(16385, 1, 16384) == std::pair{8192, 3});
    const auto half = std::size_t{1} << 27U, max_elements = std::size_t{1} << 30U;
    CHECK(size(1, half, 16384) == std::pair{8192, 16384});
    CHECK(size(1, half + 1, 16384) == std::pair{16384, 8193});
    CHECK(size(1, 2 * half, 16384) == std::pair{16384, 16384});
    CHECK(size(max_elements, 1, 32768) == std::pair{32768, 32768});
    CHECK(size(max_elements, 1, 65536) == std::pair{16384, 65536});
    CHECK(size(1, 12000 * 12000, 12000) == std::pair{12000, 12000});
    CHECK_THROWS_WITH_AS(
        static_cast<void>(size(1, 2 * half + 1, 16384)),
        "f: 1 rows and 268435457 columns are more elements than a texture holds here, 16384 x 16384; reduce parts",
        InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(size(16385, 16384, 16384)), InvalidArgument);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(size_to_reduce("f", 1, 16385, Along::Rows, 16384)),
        "f: 1 rows and 16385 columns do not fit into textures, which take 16384; reduce all of it, or parts",
        InvalidArgument);
}

TEST_CASE("more elements than a texture holds are refused") {
    Reducer reducer(context());
    const std::vector<float> values(64 * 64 + 1, 1.0F);
    const std::vector<std::uint32_t> words(values.size(), 1);
    const SmallTextures textures(64);
    CHECK(reducer.sums(MatrixView{std::span(values).first(4096), 1, 4096}).front() == 4096);
    const std::string said =
        "Reducer::sums: 1 rows and 4097 columns are more elements than a texture holds here, 64 x 64; reduce parts";
    CHECK_THROWS_WITH_AS(static_cast<void>(reducer.sums(MatrixView{values, 1, values.size()})), said.c_str(),
                         InvalidArgument);
    CHECK_THROWS_WITH_AS(static_cast<void>(reducer.sums(std::span(words), words.size())), said.c_str(),
                         InvalidArgument);
}

TEST_CASE("wrong arguments are refused before OpenGL is called") {
    const auto opened = context();
    Reducer reducer(opened);
    const std::vector<float> values(6);
    const std::vector<std::uint32_t> words(6);
    const std::vector<float> many(static_cast<std::size_t>(opened.info().max_texture_size) + 1);
    const MatrixView wrong{values, 2, 2}, right{values, 2, 3}, other{values, 3, 2}, wide{many, 1, many.size()};
    // While this thread holds the context, another one could not begin to use it.
    const detail::gl::Scope scope(*detail::Access::of(opened), "test");
    std::thread([&] {
        CHECK_THROWS_AS(static_cast<void>(reducer.sums(right)), ContextError);
        CHECK_THROWS_AS(static_cast<void>(reducer.sums(wrong)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(reducer.sums(wide, Along::Columns)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(reducer.dots(wrong, right)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(reducer.dots(right, wrong)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(reducer.dots(right, other)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(reducer.norms(wrong)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(reducer.minimum(wrong)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(reducer.maximum(wrong)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(reducer.sums(std::span(words), 4)), InvalidArgument);
        CHECK_THROWS_AS(static_cast<void>(reducer.sums(std::span(words), 0)), InvalidArgument);
    }).join();
}

TEST_CASE("textures of the caller are read in place, next to views") {
    const auto opened = context();
    auto& device = *detail::Access::of(opened);
    const auto a = random_matrix(70, 33, 6), b = random_matrix(70, 33, 7);
    detail::gl::Texture texture, wrong;
    {
        const detail::gl::Scope scope(device, "test");
        texture = {device, detail::gl::Format::R32f, 33, 70};
        wrong = {device, detail::gl::Format::R32ui, 2, 2};
        write_texels(device, texture, a.values);
    }
    Reducer reducer(opened);
    for (const auto along : {Along::All, Along::Rows, Along::Columns}) {
        CHECK(reducer.sums(MatrixTexture{texture.id()}, along) == reducer.sums(a.view(), along));
        CHECK(reducer.norms(MatrixTexture{texture.id()}, along) == reducer.norms(a.view(), along));
        CHECK((reducer.maximum(MatrixTexture{texture.id()}, along) == reducer.maximum(a.view(), along)));
        CHECK(reducer.dots(MatrixTexture{texture.id()}, b.view(), along) == reducer.dots(a.view(), b.view(), along));
    }
    CHECK_THROWS_AS(static_cast<void>(reducer.sums(MatrixTexture{wrong.id()})), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(reducer.sums(MatrixTexture{0})), InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(reducer.dots(MatrixTexture{texture.id()}, MatrixView{a.values, 33, 70})),
                    InvalidArgument);
}
