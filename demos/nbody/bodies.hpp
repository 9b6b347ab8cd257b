// Bodies that attract each other, advanced in passes over textures of one row. Positions and velocities stay on the
// GPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gl/device.hpp"
#include "pass/fold.hpp"
#include "pass/target.hpp"
#include "quadmill/context.hpp"
#include "window/texels.hpp"

namespace demo {

struct Body {
    std::array<float, 3> position{};
    float mass = 0;
    std::array<float, 3> velocity{};
};

// A rotating disk around a heavy centre.
[[nodiscard]] std::vector<Body> galaxy(std::size_t count, std::uint32_t seed);

// Kinetic and potential energy, in double, with that softening. The constant of gravity is 1.
[[nodiscard]] double energy(const std::vector<Body>& bodies, double softening);

class Bodies {
  public:
    // Pre: 1 to ContextInfo::max_texture_size bodies.
    Bodies(const quadmill::Context& context, const std::vector<Body>& bodies, float softening);
    // Leap-frog: half a kick, a drift, half a kick.
    void advance(float step, int steps = 1);
    // The current bodies. Waits for the GPU.
    [[nodiscard]] std::vector<Body> read();
    // Acceleration of each body, and its negated potential. Waits for the GPU.
    [[nodiscard]] std::vector<Texel> accelerations();
    // Like the function above, from these potentials. Waits for the GPU.
    [[nodiscard]] double energy();

  private:
    void find_accelerations();
    void add(quadmill::detail::pass::PingPong& to, const quadmill::detail::gl::Texture& rate, float step);
    void upload(const std::vector<Body>& bodies);
    [[nodiscard]] std::vector<Texel> read(const quadmill::detail::gl::Texture& texture);

    quadmill::Context context_;
    quadmill::detail::gl::Device& device_;
    int count_;
    float softening_;
    quadmill::detail::pass::Programs programs_;
    quadmill::detail::pass::PingPong positions_, velocities_;
    std::optional<quadmill::detail::pass::Fold> columns_;  // sums of the force matrix
    const quadmill::detail::gl::Texture* accelerations_ = nullptr;
};

}  // namespace demo
