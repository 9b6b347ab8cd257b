#include "input/printable.hpp"

#include <cstddef>

namespace quadmill::detail::input {

std::string as_escape(unsigned char byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    return {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
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
