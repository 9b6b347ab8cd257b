#include "waves/water.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "pass/grid.hpp"
#include "waves_shaders.hpp"

namespace demo {

namespace {

namespace gl = quadmill::detail::gl;
namespace pass = quadmill::detail::pass;
namespace shaders = quadmill::detail::shaders;

int quarter(int side) {
    return (side + 3) / 4;
}

}  // namespace

Pond pond_with_drops(int width, int height, std::uint32_t seed) {
    constexpr int drops = 5;
    std::mt19937 random(seed);
    const auto uniform = [&] { return static_cast<float>(random()) * 0x1p-32F; };
    Pond pond{width, height,
              std::vector<Cell>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), Cell{1, 0, 0, 0})};
    for (int drop = 0; drop < drops; ++drop) {
        const float x = uniform() * static_cast<float>(width), y = uniform() * static_cast<float>(height);
        const float radius = (0.02F + 0.06F * uniform()) * static_cast<float>(std::min(width, height));
        for (std::size_t i = 0; i < pond.cells.size(); ++i) {
            const auto column = i % static_cast<std::size_t>(width), row = i / static_cast<std::size_t>(width);
            const float right = (static_cast<float>(column) + 0.5F - x) / radius;
            const float up = (static_cast<float>(row) + 0.5F - y) / radius;
            const float water = std::exp(-(right * right + up * up));
            pond.cells[i][0] += water;
            pond.cells[i][3] += water;
        }
    }
    return pond;
}

Water::Water(const quadmill::Context& context, const Pond& pond)
    : context_(context),
      device_(*quadmill::detail::Access::of(context)),
      width_(pond.width),
      height_(pond.height),
      programs_(device_) {
    const gl::Scope scope(device_, "Water");
    cells_ = {device_, gl::Format::Rgba32f, width_, height_};
    sums_.emplace(device_, gl::Format::Rgba32f, width_, height_);
    speeds_.emplace(device_, gl::Format::Rgba32f, quarter(width_), quarter(height_));
    send_texels(device_, cells_.now.texture, pond.cells);
    scope.check();
}

const gl::Texture& Water::fastest_wave() {
    const auto& speeds = programs_.get("waves/speeds.frag", shaders::waves_speeds_frag, shaders::waves_water_glsl);
    fill(device_, "speeds", speeds, speeds_->source(), {&cells_.now.texture}, {{"size", glm::ivec2(width_, height_)}});
    return (*speeds_)(device_, programs_, pass::FoldRule(pass::FoldBy::Max));
}

void Water::advance(int steps) {
    const gl::Scope scope(device_, "Water::advance");
    const auto& step = programs_.get("waves/step.frag", shaders::waves_step_frag, shaders::waves_water_glsl);
    for (int i = 0; i < steps; ++i)
        pass::advance(device_, "step", step, cells_, {&fastest_wave()},
                      {{"size", glm::ivec2(width_, height_)}, {"courant", courant}});
    scope.check();
}

Pond Water::read() {
    const gl::Scope scope(device_, "Water::read");
    return {width_, height_, read_texels(device_, cells_.now.texture)};
}

Cell Water::sum() {
    const gl::Scope scope(device_, "Water::sum");
    gl::copy(device_, "take cells", cells_.now.texture, sums_->source().texture);
    return read_texels(device_, (*sums_)(device_, programs_, pass::FoldRule(pass::FoldBy::Sums))).front();
}

}  // namespace demo
