/// The exceptions of the library. Each message names the function, the broken rule and the values that broke it.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "quadmill/api.hpp"

namespace quadmill {

/// The base of everything that the library throws itself; std::bad_alloc passes through.
class QUADMILL_API Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    ~Error() override;
};

/// The caller broke a rule of the call. Thrown before any work is done, unless the call says otherwise.
class QUADMILL_API InvalidArgument : public Error {
  public:
    using Error::Error;
    ~InvalidArgument() override;
};

/// The driver refused or failed: out of memory, a shader that does not compile, a reset of the GPU.
class QUADMILL_API GlError : public Error {
  public:
    using Error::Error;
    ~GlError() override;
};

/// No usable OpenGL context: no EGL, no device, or a version below OpenGL 3.3 and OpenGL ES 3.0. The message says
/// what was tried.
class QUADMILL_API ContextError : public Error {
  public:
    using Error::Error;
    ~ContextError() override;
};

/// A file could not be read or written.
class QUADMILL_API IoError : public Error {
  public:
    /// What: the message; path, offset: where in which file.
    IoError(const std::string& what, std::string path, std::uint64_t offset);
    ~IoError() override;
    /// The file, as the caller named it.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Bytes from the start of the file to where it went wrong.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

  private:
    std::string path_;
    std::uint64_t offset_;
};

}  // namespace quadmill
