// A program's own renderer of a scene of high dynamic range: a dim hall that opens to a sunlit landscape. The library
// measures each frame's luminance, and the frame is exposed by its percentiles, with its histogram in a corner. Nothing
// is read back.
#pragma once

#include "host/orbit.hpp"
#include "quadmill/picture.hpp"

namespace demo {

class ExposureRenderer final : public OrbitRenderer {
  public:
    // What finds the percentiles. For tests also the CPU, from luminances that are read back.
    enum class By { Quadmill, Cpu };

    // `context` is current and stays current. OpenGL is loaded by the program's own loader, with `load`.
    ExposureRenderer(const quadmill::Context& context, const Load& load, show::Size size, By by = By::Quadmill);
    ExposureRenderer(const ExposureRenderer&) = delete;
    ExposureRenderer& operator=(const ExposureRenderer&) = delete;
    ~ExposureRenderer() override;

    bool prepare() override { return true; }
    void draw(double turn, Sorting exposure) override;
    [[nodiscard]] Image& image() override { return image_; }
    [[nodiscard]] std::string words() override;
    [[nodiscard]] Labels labels() const override {
        return {.off = "fixed exposure",
                .on = "exposed by percentiles",
                .short_on = "exposed",
                .help = "By the median and the 99th percentile, on the GPU (T)"};
    }

  private:
    void resize();
    void release();
    void find_percentiles_on_cpu() const;

    By by_;
    quadmill::PictureStatistics statistics_;
    Image image_;
    Clock clock_;
    show::Size size_{};
    unsigned frame_ = 0, frame_target_ = 0, histogram_ = 0, percentiles_ = 0, no_vertices_ = 0;
    unsigned scene_program_ = 0, exposure_program_ = 0;
};

}  // namespace demo
