// Recognizes text and compressed files by their first bytes. Read as raw values, they would give plausible but wrong
// answers.
#pragma once

#include <optional>
#include <string_view>

namespace quadmill::detail::input {

// A kind of file with characteristic first bytes.
struct KnownFormat {
    std::string_view name;       // "a gzip file"
    std::string_view to_values;  // how to get values from it; may be empty
    std::string_view to_text;    // how to get text from it
};

struct Look {
    enum class Kind {
        Unsure,  // more bytes are needed
        Other,   // nothing known, such as values
        Text,    // printable, with line ends
        Format
    } kind = Kind::Unsure;
    KnownFormat format = {};
};

enum class Head { AndMore, IsAll };

// `head` has the first bytes of a stream, or all of them. Finds only formats whose beginning is unlikely in raw values.
[[nodiscard]] Look look_for_format(std::string_view head, Head is_all);
// Also recognizes text. It is sure after 4096 bytes.
[[nodiscard]] Look look_at(std::string_view head, Head is_all);
// The kind of a file that should be text but is not; nothing if it may be text. `begin` has the first 4096 bytes, or
// all.
[[nodiscard]] std::optional<KnownFormat> look_for_no_text(std::string_view begin);

}  // namespace quadmill::detail::input
