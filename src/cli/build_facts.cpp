// Facts about this build. In a file of its own, since only this file gets the build's macros.
#include "cli/build_facts.hpp"

#include <fmt/core.h>

#include "quadmill/version.hpp"

namespace quadmill::detail::cli {

std::string build_facts() {
    return fmt::format(
        "quadmill {}\n"
        "commit    {}\n"
        "loader    {}\n"
        "compiler  {}\n"
        "options   {}",
        QUADMILL_VERSION, commit, QUADMILL_LOADER, QUADMILL_COMPILER, QUADMILL_OPTIONS);
}

}  // namespace quadmill::detail::cli
