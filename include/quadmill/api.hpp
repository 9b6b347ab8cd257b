/// Marks what a shared build of the library shows. A static build shows nothing: its CMake targets and pkg-config files
/// define QUADMILL_STATIC, so that a plugin which links the library exports none of it.
#pragma once

#if defined(__GNUC__) && !defined(QUADMILL_STATIC)
#define QUADMILL_API __attribute__((visibility("default")))
#else
#define QUADMILL_API
#endif

// Its std::vector has another layout than the library's: some calls do not link, others do and go wrong.
#if defined(_GLIBCXX_DEBUG) && !defined(QUADMILL_GLIBCXX_DEBUG)
#error "use -D_GLIBCXX_ASSERTIONS, or build quadmill, too, with -D_GLIBCXX_DEBUG -DQUADMILL_GLIBCXX_DEBUG"
#endif

namespace quadmill::detail {

/// The library's own access to the inside of its public types. It may change at any time.
struct Access {
    template <class Public>
    [[nodiscard]] static decltype(auto) of(const Public& object) noexcept {
        return object.inside();
    }
    template <class Public, class... Inside>
    [[nodiscard]] static Public make(Inside&&... inside) {
        return Public(static_cast<Inside&&>(inside)...);
    }
};

}  // namespace quadmill::detail
