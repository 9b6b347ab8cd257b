// The reason why a contender cannot do a case. This is not an error of the bench.
#pragma once

#include <new>
#include <string>

#include "quadmill/error.hpp"

namespace quadmill::detail::bench {

// Does the work. Returns the reason if it was refused.
template <class Work>
[[nodiscard]] std::string refusal_of(const Work& work) {
    try {
        work();
        return {};
    } catch (const InvalidArgument& error) {
        return error.what();
    } catch (const GlError& error) {
        return error.what();
    } catch (const std::bad_alloc&) {
        return "out of memory";
    }
}

}  // namespace quadmill::detail::bench
