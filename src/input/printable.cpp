#include "input/printable.hpp"

#include <algorithm>
#include <cstddef>

namespace quadmill::detail::input {

std::string as_escape(unsigned char byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    return {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
}

std::string_view without_function(std::string_view message) {
    constexpr const char* letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    auto end = message.find_first_not_of(letters);
    if (end == 0 || !message.substr(std::min(end, message.size())).starts_with("::")) return message;
    end = message.find_first_not_of(letters, end + 2);
    const bool is_function = message.substr(std::min(end, message.size())).starts_with(": ");
    return is_function ? message.substr(end + 2) : message;
}

std::string printable(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
        const bool beyond_ascii = byte == 0xc2 && next >= 0x80 && next < 0xa0;
        if (beyond_ascii || (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) {
            out += as_escape(static_cast<unsigned char>(beyond_ascii ? next : byte));
            i += beyond_ascii ? 1 : 0;
        } else {
            out += text[i];
        }
    }
    return out;
}

}  // namespace quadmill::detail::input
