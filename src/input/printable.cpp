#include "input/printable.hpp"

#include <cstddef>

namespace quadmill::detail::input {

std::string as_escape(unsigned char byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    return {'\\', 'x', digits[byte >> 4U], digits[byte & 15U]};
}

std::string_view without_function(std::string_view message) {
    constexpr const char* letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const auto is_upper = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
    const auto word_at = [&](std::size_t begin) {
        return message.substr(begin, message.find_first_not_of(letters, begin) - begin);
    };
    const auto first = word_at(0);
    auto end = first.size();
    if (first.empty()) return message;
    if (message.substr(end).starts_with("::")) {
        end += 2 + word_at(end + 2).size();
    } else {
        const bool is_class = is_upper(first[0]) && first.size() > 1 && !is_upper(first[1]);  // "Lu", but not "SQL"
        if (!is_class && first.find('_') == first.npos) return message;
    }
    return message.substr(end).starts_with(": ") ? message.substr(end + 2) : message;
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
