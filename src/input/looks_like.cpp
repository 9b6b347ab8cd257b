#include "input/looks_like.hpp"

#include <algorithm>
#include <array>

#include "input/text.hpp"

namespace quadmill::cli {

namespace {

using namespace std::string_view_literals;

// `pattern`: how it begins, with ? for any byte.
struct Signature {
    std::string_view pattern;
    KnownFormat format;
};

// Each so long that values hardly begin that way.
constexpr std::array signatures{
    Signature{"\x1f\x8b\x08"sv, {"a gzip file", "`gzip -dc` unpacks it"}},
    Signature{"\x28\xb5\x2f\xfd"sv, {"a zstd file", "`zstd -dc` unpacks it"}},
    Signature{"\xfd"
              "7zXZ\0"sv,
              {"an xz file", "`xz -dc` unpacks it"}},
    Signature{"BZh?1AY&SY"sv, {"a bzip2 file", "`bzip2 -dc` unpacks it"}},
    Signature{"\x04\x22\x4d\x18"sv, {"an lz4 file", "`lz4 -dc` unpacks it"}},
    Signature{"PK\x03\x04"sv, {"a zip archive", "`unzip -p` unpacks it"}},
    Signature{"QMSM?"sv, {"a summary that was saved with --save", "`quadmill merge` reads it"}},
    Signature{"\x93NUMPY"sv, {"a NumPy file", "an array's tofile() writes raw values"}},
    Signature{"PAR1"sv, {"a Parquet file", ""}},
    Signature{"ARROW1"sv, {"an Arrow file", ""}},
    Signature{"\x89HDF\r\n\x1a\n"sv, {"an HDF5 file", ""}},
    Signature{"SQLite format 3\0"sv, {"an SQLite database", ""}},
    Signature{"\x89PNG\r\n\x1a\n"sv, {"a PNG picture", ""}},
    Signature{"\x7f"
              "ELF"sv,
              {"a program", ""}},
};

bool agree(std::string_view pattern, std::string_view head) {
    const auto same = [](char wanted, char found) { return wanted == '?' || wanted == found; };
    const auto both = std::min(pattern.size(), head.size());
    return std::equal(pattern.begin(), pattern.begin() + static_cast<std::ptrdiff_t>(both), head.begin(), same);
}

// Bytes up to the first that no line of text has.
std::size_t printable(std::string_view head) {
    std::size_t good = 0;
    while (good < head.size()) {
        const auto character = head.substr(good);
        const bool blank = character[0] == '\t' || character[0] == '\r' || character[0] == '\n';
        const auto length = blank ? 1 : printable_length(character);
        if (length == 0) break;
        good += length;
    }
    return good;
}

Look look_for_text(std::string_view head, Head is_all) {
    constexpr std::size_t enough = 64, most = 4096, longest_character = 4;
    const auto good = printable(head);
    // The head may end within a character.
    const bool cut = is_all == Head::AndMore && head.size() - good < longest_character && head.size() > good &&
                     static_cast<unsigned char>(head[good]) >= 0xc2;
    if (good < head.size() && !cut) return {Look::Kind::Other};
    const bool lines = head.find('\n') != std::string_view::npos;
    if (is_all == Head::IsAll || head.size() >= most) return {lines ? Look::Kind::Text : Look::Kind::Other};
    return {lines && head.size() >= enough ? Look::Kind::Text : Look::Kind::Unsure};
}

}  // namespace

Look look_for_format(std::string_view head, Head is_all) {
    auto kind = Look::Kind::Other;
    for (const auto& [pattern, format] : signatures) {
        if (!agree(pattern, head)) continue;
        if (head.size() >= pattern.size()) return {Look::Kind::Format, &format};
        if (is_all == Head::AndMore) kind = Look::Kind::Unsure;
    }
    return {kind};
}

Look look_at(std::string_view head, Head is_all) {
    const auto look = look_for_format(head, is_all);
    return look.kind == Look::Kind::Other ? look_for_text(head, is_all) : look;
}

}  // namespace quadmill::cli
