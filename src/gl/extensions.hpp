// Asks a context for an extension that glad does not know in its version.
#pragma once

#include <string_view>

#include "gl/api_fwd.hpp"

namespace quadmill::detail::gl {

[[nodiscard]] bool has_extension(const Api& gl, std::string_view name);

}  // namespace quadmill::detail::gl
