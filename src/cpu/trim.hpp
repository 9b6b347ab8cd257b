// Gives freed memory back to the system. Otherwise glibc keeps most of it.
#pragma once

#include <cstddef>  // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace quadmill::detail::cpu {

inline void trim_memory() {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

}  // namespace quadmill::detail::cpu
