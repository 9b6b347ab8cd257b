// Argsorts between textures of the application, for every engine.
#pragma once

#include <optional>

#include "gl/objects.hpp"
#include "gl/pixels.hpp"
#include "pass/target.hpp"

namespace quadmill::detail::sort {

// How indices get into a texture of the application: drawn into it, or drawn elsewhere and copied if a draw into it
// would have no effect.
enum class IndexWrite { Drawn, Copied };
// The one that is seen. `what`: the texture, for messages. Throws InvalidArgument if it may be neither.
[[nodiscard]] IndexWrite index_write(const gl::PlainAccess& index, const char* function, const char* what);

// Copies the bits of the application's keys, whatever swizzle or filter their texture has, to `raw`, which is made
// again where its size is another. Pre: keys are R32F, R32UI or R32I; a session is open.
void copy_bits(gl::Device& device, const gl::Texture& keys, gl::Texture& raw);

// The target of one argsort's indices. Pre of every call: a session is open.
class IndexTarget {
  public:
    IndexTarget(gl::Device& device, const gl::Texture& index, IndexWrite write);
    // Made for each call: the name may belong to another texture by now.
    [[nodiscard]] const gl::Framebuffer& framebuffer() const { return framebuffer_; }
    // That many texels are drawn, from the first on; the others are not changed.
    void finish(std::size_t texels);

  private:
    gl::Device& device_;
    const gl::Texture& index_;
    std::optional<gl::Texture> beside_;
    gl::Framebuffer framebuffer_;
};

}  // namespace quadmill::detail::sort
