// Argsorts between textures of the application, for every engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gl/objects.hpp"
#include "gl/pixels.hpp"
#include "pass/target.hpp"

namespace quadmill::detail::sort {

// The application's texture `id`, for the indices of `count` keys. `what` names it in messages. Throws InvalidArgument
// if it is not a texture of R32UI, or too small.
[[nodiscard]] gl::Texture index_texture(gl::Device& device, std::uint32_t id, std::size_t count, const char* function,
                                        const char* what);

// How indices get into a texture of the application: drawn into it, or drawn elsewhere and copied if a draw into it
// would have no effect.
enum class IndexWrite { Drawn, Copied };
// The way that has an effect. `what` names the texture in messages. Throws InvalidArgument if neither way is possible.
[[nodiscard]] IndexWrite index_write(const gl::PlainAccess& index, const char* function, const char* what);

// The target of one argsort's indices. Pre of every call: a session is open.
class IndexTarget {
  public:
    IndexTarget(gl::Device& device, const gl::Texture& index, IndexWrite write);
    // Made for each call, because the name may belong to another texture by now.
    [[nodiscard]] const gl::Framebuffer& framebuffer() const { return framebuffer_; }
    // Ends the drawing of the first `texels` texels; the others are not changed.
    void finish(std::size_t texels);

  private:
    gl::Device& device_;
    const gl::Texture& index_;
    std::optional<gl::Texture> beside_;
    gl::Framebuffer framebuffer_;
};

}  // namespace quadmill::detail::sort
