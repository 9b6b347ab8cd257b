// Tables of a page (src/web/table.cpp) leave out what its calls cannot ask for, because each kilobyte is downloaded.
#pragma once

namespace quadmill::detail::query {

// Whether no condition has arithmetic, and no column is in a buffer of the application. Code for
// these ends the program.
#ifdef QUADMILL_PLAIN_TABLES
inline constexpr bool plain_tables = true;
#else
inline constexpr bool plain_tables = false;
#endif

}  // namespace quadmill::detail::query
