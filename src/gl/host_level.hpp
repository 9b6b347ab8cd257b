// Level 0 of a texture of the application.
#pragma once

#include <cstdint>
#include <vector>

#include "gl/dialect.hpp"

namespace quadmill::detail::gl {

class Device;

// Makes the application's texture complete for the life of this object, as copies require. A texture of integers is
// incomplete with the default filter. The changed parameters are restored at the end.
class Complete {
  public:
    Complete(Dialect& dialect, std::uint32_t texture, std::uint32_t target);
    Complete(const Complete&) = delete;
    Complete& operator=(const Complete&) = delete;
    ~Complete();

  private:
    struct Parameter {
        std::uint32_t name;
        int value;
    };
    Dialect& dialect_;
    std::uint32_t texture_;
    std::uint32_t target_;
    std::vector<Parameter> changed_;  // with the application's values
};

// The format and size of level 0; its width is 0 if there is none. OpenGL ES 3.0 does not tell sizes, so there one
// texel is drawn and read back, which waits for the GPU. Pre: a session is open.
[[nodiscard]] Dialect::Level level_of(Device& device, std::uint32_t texture, std::uint32_t target);

}  // namespace quadmill::detail::gl
