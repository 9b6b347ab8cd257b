// Targets are poisoned before passes write them.
#pragma once

#include <quadmill_glad/gl.h>

#include <limits>
#include <set>

#include "gl/device.hpp"
#include "gl/pixels.hpp"
#include "quadmill/context.hpp"

namespace quadmill::test {

// Fills each target with NaNs (or ones) before the first pass that writes it, to find reads of texels that no pass
// wrote. Leaves out the two alternating textures of the form that eliminates one row per pass: the matrix was uploaded
// to one of them.
class Poison final : public PassObserver {
  public:
    explicit Poison(Context& context) : context_(context), before_(context.observe(this)) {}
    ~Poison() override { context_.observe(before_); }
    void before(const PassEvent& pass) override {
        if (pass.name == "eliminate" || pass.name == "put lines" || !seen_.insert(pass.target).second) return;
        auto& device = *detail::Access::of(context_);
        const auto format = detail::gl::format_of(pass.format);
        const detail::gl::Texture texture(device, pass.target, format, pass.width, pass.height,
                                          is_array(device, pass.target) ? pass.targets : 0);
        if (format == detail::gl::Format::R32f || format == detail::gl::Format::Rgba32f) {
            fill(device, texture, std::numeric_limits<float>::quiet_NaN());
        } else if (pass.targets == 1) {
            clear_texels(device, texture, 0, 0, pass.width, pass.height, 0xffffffff);
        }
        ++poisoned;
    }
    int poisoned = 0;

  private:
    // A texture with layers cannot be bound as one without.
    static bool is_array(detail::gl::Device& device, std::uint32_t texture) {
        device.gl.ActiveTexture(GL_TEXTURE0);
        device.pipeline.textures[0] = 0;
        device.gl.BindTexture(GL_TEXTURE_2D, texture);
        return device.gl.GetError() == GL_INVALID_OPERATION;
    }

    Context& context_;
    PassObserver* before_;
    std::set<std::uint32_t> seen_;
};

}  // namespace quadmill::test
