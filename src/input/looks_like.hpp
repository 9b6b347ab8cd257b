// What a stream or file is by its first bytes, where that is plain: text or a packed file that is read as raw values
// makes answers that look right and mean nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace quadmill::detail::input {

// A kind of file that begins in its own way.
struct KnownFormat {
    std::string_view name;       // "a gzip file"
    std::string_view to_values;  // how values are got from it; may be empty
    std::string_view to_text;    // and text
};

struct Look {
    enum class Kind {
        Unsure,  // more bytes would tell
        Other,   // nothing that is known, such as values
        Text,    // printable, with line ends
        Format
    } kind = Kind::Unsure;
    KnownFormat format = {};
};

enum class Head { AndMore, IsAll };

// `head`: the first bytes of a stream, or all of them. Only formats whose beginning values hardly have.
[[nodiscard]] Look look_for_format(std::string_view head, Head is_all);
// Also for text. Sure after 4096 bytes.
[[nodiscard]] Look look_at(std::string_view head, Head is_all);
// What should be text and is none; nothing when it may be. `begin`: the first 4096 bytes, or all.
[[nodiscard]] std::optional<KnownFormat> look_for_no_text(std::string_view begin);

}  // namespace quadmill::detail::input
