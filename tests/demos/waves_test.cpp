// Compares the water with the same scheme in double on the CPU, and checks what walls must conserve.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "waves/water.hpp"

using namespace demo;  // NOLINT(google-build-using-namespace)

namespace {

using Exact = std::array<double, 4>;
enum class Axis { Right = 1, Up = 2 };

double speed(const Exact& cell, Axis axis) {
    return std::abs(cell[static_cast<std::size_t>(axis)] / cell[0]) + std::sqrt(cell[0]);
}

// The flow from a to b, its neighbour along the axis.
Exact flow(const Exact& a, const Exact& b, Axis axis) {
    const auto along = static_cast<std::size_t>(axis);
    const double fastest = std::max(speed(a, axis), speed(b, axis));
    Exact sum{};
    for (std::size_t i = 0; i < 4; ++i) {
        sum[i] = 0.5 * (a[along] / a[0] * a[i] + b[along] / b[0] * b[i]) - 0.5 * fastest * (b[i] - a[i]);
        if (i == along) sum[i] += 0.25 * (a[0] * a[0] + b[0] * b[0]);
    }
    return sum;
}

Exact mirrored(Exact cell, Axis axis) {
    cell[static_cast<std::size_t>(axis)] *= -1;
    return cell;
}

std::vector<Exact> after_step(const std::vector<Exact>& cells, int width, int height) {
    double fastest = 0;
    for (const auto& cell : cells) fastest = std::max({fastest, speed(cell, Axis::Right), speed(cell, Axis::Up)});
    const double time = static_cast<double>(Water::courant) / fastest;
    const auto at = [&](int x, int y) -> const Exact& { return cells[static_cast<std::size_t>(y * width + x)]; };
    auto after = cells;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const auto& cell = at(x, y);
            const auto right = flow(cell, x + 1 < width ? at(x + 1, y) : mirrored(cell, Axis::Right), Axis::Right);
            const auto left = flow(x > 0 ? at(x - 1, y) : mirrored(cell, Axis::Right), cell, Axis::Right);
            const auto up = flow(cell, y + 1 < height ? at(x, y + 1) : mirrored(cell, Axis::Up), Axis::Up);
            const auto down = flow(y > 0 ? at(x, y - 1) : mirrored(cell, Axis::Up), cell, Axis::Up);
            for (std::size_t i = 0; i < 4; ++i)
                after[static_cast<std::size_t>(y * width + x)][i] -= time * (right[i] - left[i] + up[i] - down[i]);
        }
    }
    return after;
}

}  // namespace

TEST_CASE("waves equal those of the same scheme in double, and reach every cell") {
    for (const auto& [width, height] : std::vector<std::pair<int, int>>{{1, 1}, {1, 40}, {37, 1}, {64, 64}, {65, 47}}) {
        INFO(width, " x ", height);
        const auto begin = pond_with_drops(width, height, 3);
        std::vector<Exact> wanted;
        for (const auto& cell : begin.cells) wanted.push_back({cell[0], cell[1], cell[2], cell[3]});
        Water water(quadmill::Context::headless(), begin);
        const int steps = 60;
        for (int i = 0; i < steps; ++i) wanted = after_step(wanted, width, height);
        water.advance(steps / 2);
        water.advance(steps - steps / 2);
        const auto found = water.read();
        REQUIRE(found.cells.size() == wanted.size());
        double worst = 0;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            for (std::size_t j = 0; j < 4; ++j) worst = std::max(worst, std::abs(found.cells[i][j] - wanted[i][j]));
        }
        CHECK(worst < 2e-5);
    }
}

TEST_CASE("walls conserve the water and the dye; water at rest stays at rest") {
    const auto begin = pond_with_drops(100, 60, 4);
    Water water(quadmill::Context::headless(), begin);
    std::array<double, 4> exact{};
    for (const auto& cell : begin.cells) {
        for (std::size_t i = 0; i < 4; ++i) exact[i] += cell[i];
    }
    const auto before = water.sum();
    for (std::size_t i = 0; i < 4; ++i) CHECK(before[i] == doctest::Approx(exact[i]).epsilon(1e-6));
    water.advance(500);
    const auto after = water.sum();
    CHECK(after[0] == doctest::Approx(before[0]).epsilon(1e-5));
    CHECK(after[3] == doctest::Approx(before[3]).epsilon(1e-5));
    const auto end = water.read();
    for (const auto& cell : end.cells) {
        CHECK(cell[0] > 0.5F);
        CHECK(cell[3] >= -1e-6F);
    }
    CHECK(end.cells != begin.cells);

    Pond still{5, 4, std::vector<Cell>(20, Cell{2, 0, 0, 1})};
    Water calm(quadmill::Context::headless(), still);
    calm.advance(10);
    CHECK(calm.read().cells == still.cells);
}
