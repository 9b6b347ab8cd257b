#include "web/call.hpp"

#include <string>

namespace quadmill::detail::web {

namespace {
std::string message;
}

void keep_message(const char* text) noexcept {
    try {
        message = text;
    } catch (const std::exception&) {
        message.clear();
    }
}

// The message of the last call that failed, with a zero at its end.
QUADMILL_EXPORT(qm_message) const char* qm_message() {
    return message.c_str();
}

}  // namespace quadmill::detail::web
