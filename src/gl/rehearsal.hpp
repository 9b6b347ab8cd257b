// Work that is done only so that programs are compiled and memory is there.
#pragma once

#include <cstddef>
#include <functional>

namespace quadmill::detail::gl {

class Device;

// Runs `work`, whose passes draw one texel, up to where it needs more than that many programs that are not there yet.
// Returns whether it came to its end. Pre: a session is open.
bool rehearse(Device& device, std::size_t programs, const std::function<void()>& work);

}  // namespace quadmill::detail::gl
