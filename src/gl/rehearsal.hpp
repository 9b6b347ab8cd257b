// Runs work only to compile its programs and allocate its memory.
#pragma once

#include <cstddef>
#include <functional>

namespace quadmill::detail::gl {

class Device;

// Runs `work`, whose passes draw one texel each, until it needs more than `programs` new programs. Returns whether it
// finished. Pre: a session is open.
bool rehearse(Device& device, std::size_t programs, const std::function<void()>& work);

}  // namespace quadmill::detail::gl
