// The text of `quadmill --version`: version, commit, loader of OpenGL, compiler, build options.
#pragma once

#include <string>

namespace quadmill::detail::cli {

[[nodiscard]] std::string build_facts();
extern const char* const commit;  // of the sources; "unknown" where git does not say

}  // namespace quadmill::detail::cli
