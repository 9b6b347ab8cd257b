// What a stream is by its first bytes, where that is plain: text or a packed file that is read as raw values makes
// answers that look right and mean nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace quadmill::cli {

// A kind of file that begins in its own way.
struct KnownFormat {
    const char* name;    // "a gzip file"
    const char* advice;  // what to do with it; may be empty
};

struct Look {
    enum class Kind {
        Unsure,  // more bytes would tell
        Other,   // nothing that is known, such as values
        Text,    // printable, with line ends
        Format
    } kind;
    const KnownFormat* format = nullptr;
};

enum class Head { AndMore, IsAll };

// `head`: the first bytes of a stream, or all of them.
[[nodiscard]] Look look_for_format(std::string_view head, Head is_all);
// Also for text. Sure after 4096 bytes.
[[nodiscard]] Look look_at(std::string_view head, Head is_all);

}  // namespace quadmill::cli
