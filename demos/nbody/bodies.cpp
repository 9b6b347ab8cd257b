#include "nbody/bodies.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "nbody_shaders.hpp"
#include "pass/grid.hpp"

namespace demo {

namespace {

namespace gl = quadmill::detail::gl;
namespace pass = quadmill::detail::pass;
namespace shaders = quadmill::detail::shaders;

constexpr int bodies_a_fragment = 64;

}  // namespace

std::vector<Body> galaxy(std::size_t count, std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto uniform = [&] { return static_cast<float>(random()) * 0x1p-32F; };
    std::vector<Body> bodies(count);
    for (auto& body : bodies) {
        const float radius = 0.1F + 0.9F * std::sqrt(uniform()), angle = 2 * std::numbers::pi_v<float> * uniform();
        body.position = {radius * std::cos(angle), radius * std::sin(angle), 0.05F * (uniform() - 0.5F)};
        body.mass = 0.2F / static_cast<float>(count);
        const float speed = std::sqrt((1 + 0.2F * radius * radius) / radius);  // approximately on a circle
        body.velocity = {-speed * std::sin(angle), speed * std::cos(angle), 0};
    }
    if (!bodies.empty()) bodies.front() = {.mass = 1};
    return bodies;
}

double energy(const std::vector<Body>& bodies, double softening) {
    double sum = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const auto& a = bodies[i];
        for (const float v : a.velocity) sum += 0.5 * a.mass * v * v;
        for (std::size_t j = 0; j < i; ++j) {
            double squares = softening * softening;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                const double apart = static_cast<double>(a.position[axis]) - bodies[j].position[axis];
                squares += apart * apart;
            }
            sum -= static_cast<double>(a.mass) * bodies[j].mass / std::sqrt(squares);
        }
    }
    return sum;
}

Bodies::Bodies(const quadmill::Context& context, const std::vector<Body>& bodies, float softening)
    : context_(context),
      device_(*quadmill::detail::Access::of(context)),
      count_(static_cast<int>(bodies.size())),
      softening_(softening),
      programs_(device_) {
    const gl::Scope scope(device_, "Bodies");
    positions_ = {device_, gl::Format::Rgba32f, count_, 1};
    velocities_ = {device_, gl::Format::Rgba32f, count_, 1};
    columns_.emplace(device_, gl::Format::Rgba32f, count_, (count_ + bodies_a_fragment - 1) / bodies_a_fragment,
                     pass::Fold::Along::Columns);
    upload(bodies);
    find_accelerations();
    scope.check();
}

void Bodies::upload(const std::vector<Body>& bodies) {
    std::vector<Texel> positions, velocities;
    for (const auto& [position, mass, velocity] : bodies) {
        positions.push_back({position[0], position[1], position[2], mass});
        velocities.push_back({velocity[0], velocity[1], velocity[2], 0});
    }
    send_texels(device_, positions_.now.texture, positions);
    send_texels(device_, velocities_.now.texture, velocities);
}

void Bodies::find_accelerations() {
    fill(device_, "forces", programs_.get("nbody/forces.frag", shaders::nbody_forces_frag), columns_->source(),
         {&positions_.now.texture}, {{"count", count_}, {"softening", softening_ * softening_}});
    accelerations_ = &(*columns_)(device_, programs_, pass::FoldRule(pass::FoldBy::Sums));
}

void Bodies::add(pass::PingPong& to, const gl::Texture& rate, float step) {
    pass::advance(device_, "advance", programs_.get("nbody/advance.frag", shaders::nbody_advance_frag), to, {&rate},
                  {{"step_size", step}});
}

void Bodies::advance(float step, int steps) {
    const gl::Scope scope(device_, "Bodies::advance");
    for (int i = 0; i < steps; ++i) {
        add(velocities_, *accelerations_, step / 2);
        add(positions_, velocities_.now.texture, step);
        find_accelerations();
        add(velocities_, *accelerations_, step / 2);
    }
    scope.check();
}

std::vector<Texel> Bodies::read(const gl::Texture& texture) {
    const gl::Scope scope(device_, "Bodies::read");
    return read_texels(device_, texture);
}

std::vector<Texel> Bodies::accelerations() {
    return read(*accelerations_);
}

double Bodies::energy() {
    const auto bodies = read();
    const auto rates = accelerations();
    double sum = 0;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const double mass = bodies[i].mass;
        for (const float v : bodies[i].velocity) sum += 0.5 * mass * v * v;
        sum -= 0.5 * mass * rates[i][3];  // each pair occurs twice
    }
    return sum;
}

std::vector<Body> Bodies::read() {
    const auto positions = read(positions_.now.texture), velocities = read(velocities_.now.texture);
    std::vector<Body> bodies(positions.size());
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const auto& [x, y, z, mass] = positions[i];
        bodies[i] = {{x, y, z}, mass, {velocities[i][0], velocities[i][1], velocities[i][2]}};
    }
    return bodies;
}

}  // namespace demo
