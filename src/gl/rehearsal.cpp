#include "gl/rehearsal.hpp"

#include <array>

#include "gl/api.hpp"
#include "gl/device.hpp"
#include "gl/lanes.hpp"

namespace quadmill::detail::gl {

namespace {

class OneTexel {
  public:
    OneTexel(Device& device, std::size_t programs) : device_(device) {
        device.programs.allow(programs);
        device.gl.GetIntegeri_v(GL_SCISSOR_BOX, 0, box_.data());
        device.gl.Enablei(GL_SCISSOR_TEST, 0);
        device.gl.ScissorIndexed(0, 0, 0, 1, 1);
    }
    OneTexel(const OneTexel&) = delete;
    OneTexel& operator=(const OneTexel&) = delete;
    ~OneTexel() {
        device_.programs.allow({});
        device_.gl.Disablei(GL_SCISSOR_TEST, 0);
        device_.gl.ScissorIndexed(0, box_[0], box_[1], box_[2], box_[3]);
    }

  private:
    Device& device_;
    std::array<GLint, 4> box_{};
};

}  // namespace

bool rehearse(Device& device, std::size_t programs, const std::function<void()>& work) {
    static_cast<void>(has_lanes_in_boxes(device));  // found out by whole passes, and counts as no program
    const OneTexel draws(device, programs);
    try {
        work();
    } catch (const ProgramStore::NoMore&) {
        return false;
    }
    return true;
}

}  // namespace quadmill::detail::gl
