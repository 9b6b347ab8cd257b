#include "gl/rehearsal.hpp"

#include <array>

#include "gl/device.hpp"
#include "gl/dialect.hpp"
#include "gl/lanes.hpp"

namespace quadmill::detail::gl {

namespace {

class OneTexel {
  public:
    OneTexel(Device& device, std::size_t programs) : device_(device) {
        device.programs.allow(programs);
        device.dialect->set_scissor(std::array{0, 0, 1, 1});
    }
    OneTexel(const OneTexel&) = delete;
    OneTexel& operator=(const OneTexel&) = delete;
    ~OneTexel() {
        device_.programs.allow({});
        device_.dialect->set_scissor(std::nullopt);
    }

  private:
    Device& device_;
};

}  // namespace

bool rehearse(Device& device, std::size_t programs, const std::function<void()>& work) {
    static_cast<void>(has_lanes_in_boxes(device));  // draws whole passes once; not counted as a program
    const OneTexel draws(device, programs);
    try {
        work();
    } catch (const ProgramStore::NoMore&) {
        return false;
    }
    return true;
}

}  // namespace quadmill::detail::gl
