#include "input/looks_like.hpp"

#include <algorithm>
#include <array>

#include "input/text.hpp"

namespace quadmill::detail::input {

namespace {

using namespace std::string_view_literals;

struct Signature {
    std::string_view pattern;  // the first bytes, with ? for any byte
    KnownFormat format;
};

constexpr auto as_csv = "save it as CSV (UTF-8)"sv, write_csv = "write it as CSV first"sv,
               packed_twice = "it is packed more than once"sv;
constexpr std::array signatures{
    Signature{"\x1f\x8b\x08"sv, {"a gzip file", "`gzip -dc` unpacks it", packed_twice}},
    Signature{"\x28\xb5\x2f\xfd"sv, {"a zstd file", "`zstd -dc` unpacks it", packed_twice}},
    Signature{"\xfd"
              "7zXZ\0"sv,
              {"an xz file", "`xz -dc` unpacks it", "`xz -dc` unpacks it, for FROM -"}},
    Signature{"BZh?1AY&SY"sv, {"a bzip2 file", "`bzip2 -dc` unpacks it", "`bzip2 -dc` unpacks it, for FROM -"}},
    Signature{"PK\x03\x04"sv,
              {"a zip archive", "`unzip -p` unpacks it", "`unzip -p` unpacks a file of it, for FROM -"}},
    Signature{"QMSM\2"sv, {"a summary that was saved with --save", "`quadmill merge` reads it", {}}},
    Signature{"\x93NUMPY"sv, {"a NumPy file", "without --text its values are read", "let its name end in .npy"}},
    Signature{"PAR1\x15"sv, {"a Parquet file", {}, write_csv}},
    Signature{"SQLite format 3\0"sv, {"an SQLite database", {}, "`sqlite3 -csv -header FILE 'SELECT ...'` writes CSV"}},
};

// Compares as far as both go.
bool agree(std::string_view pattern, std::string_view head) {
    const auto same = [](char wanted, char found) { return wanted == '?' || wanted == found; };
    const auto both = std::min(pattern.size(), head.size());
    return std::equal(pattern.begin(), pattern.begin() + static_cast<std::ptrdiff_t>(both), head.begin(), same);
}

// The format of the files in a zip archive.
KnownFormat zip_of(std::string_view begin, const KnownFormat& zip) {
    const auto names = [&](std::string_view part) { return begin.find(part) != std::string_view::npos; };
    if (names("[Content_Types].xml") || names("xl/"))
        return {"an Excel workbook (.xlsx) or another Office file", {}, as_csv};
    return names("opendocument") ? KnownFormat{"an OpenDocument file (.ods)", {}, as_csv} : zip;
}

// In Latin text, every other byte is 0 in UTF-16.
std::optional<KnownFormat> utf16_of(std::string_view begin) {
    std::array<std::size_t, 2> zeros{};
    for (std::size_t i = 0; i < begin.size(); ++i) zeros.at(i % 2) += begin[i] == '\0' ? 1U : 0U;
    for (const std::size_t side : {0U, 1U}) {
        if (zeros.at(side) * 4 < begin.size() || zeros.at(1 - side) > 0) continue;
        return KnownFormat{"UTF-16 without a mark",
                           {},
                           side == 1 ? "`iconv -f UTF-16LE -t UTF-8` makes it readable"
                                     : "`iconv -f UTF-16BE -t UTF-8` makes it readable"};
    }
    return {};
}

// Number of bytes before the first byte that cannot be in text.
std::size_t text_at_front(std::string_view head) {
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
    constexpr std::size_t enough = 64, max = 4096, longest_character = 4;
    const auto good = text_at_front(head);
    // The head may end within a character.
    const bool cut = is_all == Head::AndMore && head.size() - good < longest_character && head.size() > good &&
                     static_cast<unsigned char>(head[good]) >= 0xc2;
    if (good < head.size() && !cut) return {Look::Kind::Other};
    const bool lines = head.find('\n') != std::string_view::npos;
    if (is_all == Head::IsAll || head.size() >= max) return {lines ? Look::Kind::Text : Look::Kind::Other};
    return {lines && head.size() >= enough ? Look::Kind::Text : Look::Kind::Unsure};
}

}  // namespace

Look look_for_format(std::string_view head, Head is_all) {
    auto kind = Look::Kind::Other;
    for (const auto& [pattern, format] : signatures) {
        if (!agree(pattern, head)) continue;
        if (head.size() >= pattern.size()) return {Look::Kind::Format, format};
        if (is_all == Head::AndMore) kind = Look::Kind::Unsure;
    }
    return {kind};
}

Look look_at(std::string_view head, Head is_all) {
    const auto look = look_for_format(head, is_all);
    return look.kind == Look::Kind::Other ? look_for_text(head, is_all) : look;
}

std::optional<KnownFormat> look_for_no_text(std::string_view begin) {
    const auto look = look_for_format(begin, Head::IsAll);
    if (look.kind == Look::Kind::Format) return begin.starts_with("PK") ? zip_of(begin, look.format) : look.format;
    if (begin.find('\0') == std::string_view::npos) return {};
    const auto utf16 = utf16_of(begin);
    return utf16 ? *utf16
                 : KnownFormat{"binary data: it has zero bytes",
                               {},
                               "raw values are read if the name ends in .f16, .f32, .f64, .i32, .u32, .i64 or .u64"};
}

}  // namespace quadmill::detail::input
