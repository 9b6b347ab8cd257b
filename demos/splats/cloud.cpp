#include "cloud.hpp"

#include <algorithm>
#include <cmath>
#include <glm/glm.hpp>
#include <numbers>
#include <random>

namespace demo {

namespace {

constexpr float pi = std::numbers::pi_v<float>;

class Maker {
  public:
    explicit Maker(std::uint32_t seed) : random_(seed) {}

    // `scale` has standard deviations along the axes, which are orthogonal unit vectors.
    static Splat splat(glm::vec3 middle, const glm::mat3& axes, glm::vec3 scale, glm::vec3 color, float opacity) {
        const glm::mat3 half(axes[0] * scale.x, axes[1] * scale.y, axes[2] * scale.z);
        const auto covariance = half * glm::transpose(half);
        return {.middle = {middle.x, middle.y, middle.z},
                .opacity = opacity,
                .covariance = {covariance[0][0], covariance[0][1], covariance[0][2], covariance[1][1], covariance[1][2],
                               covariance[2][2]},
                .unused = {},
                .color = {color.r, color.g, color.b, 1}};
    }

    // On a tube around the curve, with scales large enough to leave no gaps: lit from above, with a colour that
    // changes around the tube.
    Splat of_knot(float size) {
        constexpr float tube = 0.17F;
        const float t = 2 * pi * part(), round = 2 * pi * part();
        const auto tangent = glm::normalize(knot(t + 0.001F) - knot(t - 0.001F));
        const auto side = glm::normalize(glm::cross(tangent, glm::vec3(0, 0, 1)));
        const auto up = glm::cross(side, tangent);
        const auto normal = std::cos(round) * side + std::sin(round) * up;
        const auto across = glm::cross(normal, tangent);
        const float light = 0.35F + 0.65F * std::max(0.0F, glm::dot(normal, glm::normalize(glm::vec3(0.3F, 1, -0.5F))));
        const float stripe = 0.75F + 0.25F * std::cos(3 * round + 12 * t);
        const glm::vec3 hue = 0.55F + 0.45F * glm::cos(t + glm::vec3(0, 2.1F, 4.2F));
        const float grain = 0.85F + 0.3F * part();
        return splat(knot(t) + tube * normal, glm::mat3(tangent, across, normal),
                     size * glm::vec3(2.6F * grain, 1.1F * grain, 0.1F), hue * stripe * light, 0.9F);
    }

    Splat of_sphere(float size) {
        const float high = 2 * part() - 1, round = 2 * pi * part(), wide = std::sqrt(1 - high * high);
        const glm::vec3 normal(wide * std::cos(round), high, wide * std::sin(round));
        const glm::vec3 east(-std::sin(round), 0, std::cos(round));
        const bool on_line = std::fabs(std::sin(9 * high)) < 0.12F;
        return splat(0.98F * normal, glm::mat3(east, glm::cross(normal, east), normal),
                     size * (on_line ? glm::vec3(2, 0.5F, 0.1F) : glm::vec3(2, 2, 0.1F)),
                     on_line ? glm::vec3(0.8F, 0.9F, 1) : glm::vec3(0.25F, 0.4F, 0.6F), on_line ? 0.16F : 0.014F);
    }

    float part() { return static_cast<float>(random_()) / 4294967296.0F; }  // the same with every library

  private:
    static glm::vec3 knot(float t) {
        return 0.24F *
               glm::vec3(std::sin(t) + 2 * std::sin(2 * t), std::cos(t) - 2 * std::cos(2 * t), -std::sin(3 * t));
    }
    std::mt19937 random_;
};

}  // namespace

std::vector<Splat> make_cloud(std::size_t splats, std::uint32_t seed) {
    Maker maker(seed);
    const float size = 1.6F / std::sqrt(static_cast<float>(splats));
    std::vector<Splat> cloud(splats);
    for (auto& splat : cloud) splat = maker.part() < 0.85F ? maker.of_knot(size) : maker.of_sphere(5 * size);
    return cloud;
}

}  // namespace demo
