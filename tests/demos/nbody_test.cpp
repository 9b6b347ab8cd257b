// Compares bodies with sums in double, and checks conservation laws.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "nbody/bodies.hpp"

using namespace demo;  // NOLINT(google-build-using-namespace)

namespace {

constexpr float softening = 0.02F;

std::array<double, 3> acceleration(const std::vector<Body>& bodies, std::size_t of) {
    std::array<double, 3> sum{};
    for (const auto& other : bodies) {
        std::array<double, 3> towards{};
        double squares = static_cast<double>(softening) * softening;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            towards[axis] = static_cast<double>(other.position[axis]) - bodies[of].position[axis];
            squares += towards[axis] * towards[axis];
        }
        for (std::size_t axis = 0; axis < 3; ++axis)
            sum[axis] += other.mass * towards[axis] / (squares * std::sqrt(squares));
    }
    return sum;
}

}  // namespace

TEST_CASE("accelerations equal sums in double, towards the other bodies") {
    for (const std::size_t count : {1U, 2U, 63U, 64U, 65U, 1025U}) {
        const auto bodies = galaxy(count, 3);
        Bodies on_gpu(quadmill::Context::headless(), bodies, softening);
        const auto found = on_gpu.accelerations();
        REQUIRE(found.size() == count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto wanted = acceleration(bodies, i);
            const double size = std::hypot(wanted[0], wanted[1], wanted[2]);
            for (std::size_t axis = 0; axis < 3; ++axis)
                CHECK(std::abs(found[i][axis] - wanted[axis]) <= 1e-5 * size + 1e-6);
        }
    }
}

TEST_CASE("energy from potentials equals that of sums over pairs in double") {
    for (const std::size_t count : {1U, 2U, 65U, 700U}) {
        const auto bodies = galaxy(count, 5);
        Bodies on_gpu(quadmill::Context::headless(), bodies, softening);
        CHECK(on_gpu.energy() == doctest::Approx(energy(bodies, softening)).epsilon(1e-5));
    }
}

TEST_CASE("two bodies return to where they were, and leap-frog conserves their energy") {
    // On a circle of radius 1/2 around their centre. Softening changes the speed.
    const double distance = 1, soft = distance * distance + static_cast<double>(softening) * softening;
    const double speed = std::sqrt(0.5 * distance * distance / (soft * std::sqrt(soft)));
    const auto v = static_cast<float>(speed);
    const std::vector<Body> begin{{{0.5F, 0, 0}, 1, {0, v, 0}}, {{-0.5F, 0, 0}, 1, {0, -v, 0}}};
    Bodies bodies(quadmill::Context::headless(), begin, softening);
    const int steps = 1000;
    const double period = 2 * std::numbers::pi * 0.5 / speed;
    bodies.advance(static_cast<float>(period / steps));
    bodies.advance(static_cast<float>(period / steps), steps - 1);
    const auto end = bodies.read();
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(end[i].mass == 1);
        for (std::size_t axis = 0; axis < 3; ++axis)
            CHECK(std::abs(end[i].position[axis] - begin[i].position[axis]) < 1e-3);
    }
    CHECK(std::abs(energy(end, softening) / energy(begin, softening) - 1) < 1e-4);
}
