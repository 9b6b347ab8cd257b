// A program's own renderer of Gaussian splats. Each splat has a texel with its depth; the library writes the order from
// back to front to another texture, and the splats' squares are drawn in this order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/orbit.hpp"
#include "quadmill/sort.hpp"

namespace demo {

class SplatRenderer final : public OrbitRenderer {
  public:
    // What finds the order. For tests also the CPU, from depths that are read back.
    enum class Sorter { Quadmill, Cpu };

    // `context` is current and stays current. OpenGL is loaded by the program's own loader, with `load`.
    SplatRenderer(const quadmill::Context& context, const Load& load, std::size_t splats, show::Size size,
                  std::uint32_t seed, Sorter sorter = Sorter::Quadmill);
    SplatRenderer(const SplatRenderer&) = delete;
    SplatRenderer& operator=(const SplatRenderer&) = delete;
    ~SplatRenderer() override;

    bool prepare() override;
    void draw(double turn, Sorting sorting) override;
    [[nodiscard]] Image& image() override { return image_; }
    [[nodiscard]] std::string words() override;

  private:
    void set_uniforms(double turn, Sorting sorting) const;
    void measure_depths() const;
    void sort_on_cpu() const;

    std::size_t splats_;
    int side_;  // of the textures with one texel per splat
    Sorter by_;
    quadmill::Sorter sorter_;
    Image image_;
    Clock clock_;
    unsigned cloud_ = 0, depths_ = 0, order_ = 0, depth_target_ = 0, no_vertices_ = 0;
    unsigned depth_program_ = 0, splat_program_ = 0;
};

}  // namespace demo
