/// Marks what a shared build of the library shows.
#pragma once

#if defined(__GNUC__)
#define QUADMILL_API __attribute__((visibility("default")))
#else
#define QUADMILL_API
#endif
