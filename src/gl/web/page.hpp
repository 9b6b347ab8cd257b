// What a page's context is adopted with.
#pragma once

namespace quadmill::detail::gl {

// The only function that is looked up by name; all others are imports of the module.
[[nodiscard]] void (*page_function(const char* name))();

}  // namespace quadmill::detail::gl
