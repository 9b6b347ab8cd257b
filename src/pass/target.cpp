#include "pass/target.hpp"

namespace quadmill::detail::pass {

Target::Target(gl::Device& device, gl::Format format, int width, int height, int layers)
    : texture(device, format, width, height, layers),
      framebuffer(device, texture),
      whole(device, {gl::rectangle(0, 0, width, height)}) {}

}  // namespace quadmill::detail::pass
