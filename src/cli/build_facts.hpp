// What `quadmill --version` says: version, commit, loader of OpenGL, compiler, options of the build.
#pragma once

#include <string>

namespace quadmill::detail::cli {

[[nodiscard]] std::string build_facts();

}  // namespace quadmill::detail::cli
