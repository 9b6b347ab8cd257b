#include "input/npy.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "files/files.hpp"
#include "input/text.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

namespace {

using namespace std::string_view_literals;

constexpr auto npy_magic = "\x93NUMPY"sv;

struct NpyType {
    std::string_view word;
    KeyType type;
};
constexpr std::array npy_types{NpyType{"f2", KeyType::F16}, NpyType{"f4", KeyType::F32}, NpyType{"f8", KeyType::F64},
                               NpyType{"i4", KeyType::I32}, NpyType{"u4", KeyType::U32}, NpyType{"i8", KeyType::I64},
                               NpyType{"u8", KeyType::U64}};

// Reads the header, which is a Python dict of three entries.
class NpyDict {
  public:
    NpyDict(std::string_view text, const std::string& name) : all_(text), rest_(text), name_(name) {}

    NpyHeader read() {
        NpyHeader header;
        bool has_type = false, has_shape = false;
        expect('{');
        while (!take('}')) {
            const auto key = word();
            expect(':');
            if (key == "descr") {
                header.type = type();
                has_type = true;
            } else if (key == "fortran_order") {
                fortran_ = is_true();
            } else if (key == "shape") {
                header.shape = shape();
                has_shape = true;
            } else {
                fail("its header has an unknown entry, " + in_quotes(key));
            }
            if (!take(',')) {
                expect('}');
                break;
            }
        }
        if (!has_type || !has_shape) fail("its header lacks the type or the shape");
        if (fortran_ && header.shape.size() > 1)
            fail("its values are in Fortran order, column after column; save numpy.ascontiguousarray(a)");
        return header;
    }

  private:
    [[noreturn]] void fail(const std::string& why) const {
        throw InvalidArgument(fmt::format("{} is a NumPy file, and {}", name_, why));
    }
    void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }
    bool take(char letter) {
        skip_blanks();
        if (!rest_.starts_with(letter)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char letter) {
        if (!take(letter))
            fail(fmt::format("its header is damaged at byte {}: there should be '{}'", all_.size() - rest_.size(),
                             letter));
    }
    std::string_view word() {
        expect('\'');
        const auto end = rest_.find('\'');
        if (end == std::string_view::npos) fail("its header is damaged: a word does not end");
        const auto found = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return found;
    }
    bool is_true() {
        skip_blanks();
        const bool yes = rest_.starts_with("True");
        if (!yes && !rest_.starts_with("False")) fail("its header is damaged: fortran_order is not True or False");
        rest_.remove_prefix(yes ? 4 : 5);
        return yes;
    }
    KeyType type() {
        skip_blanks();
        if (rest_.starts_with('['))
            fail("its values have fields; save one of them, as in numpy.save(file, a['field'])");
        const auto descr = word();
        const auto bare = descr.substr(std::min<std::size_t>(descr.find_first_not_of("<>|="), descr.size()));
        const auto known = std::ranges::find(npy_types, bare, &NpyType::word);
        if (known == npy_types.end())
            fail(
                fmt::format("its values are of type {}; those taken are 16-, 32- and 64-bit floats and 32- and 64-bit "
                            "integers, such as a.astype('<i4')",
                            in_quotes(descr)));
        if (descr.starts_with('>')) fail(fmt::format("its values are big-endian; save a.astype('<{}')", bare));
        return known->type;
    }
    std::vector<std::uint64_t> shape() {
        std::vector<std::uint64_t> sizes;
        expect('(');
        while (!take(')')) {
            skip_blanks();
            const auto digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
            std::uint64_t size = 0;
            if (digits == 0 || parse_number(rest_.substr(0, digits), size) != nullptr)
                fail("its header is damaged: the shape is not numbers");
            sizes.push_back(size);
            rest_.remove_prefix(digits);
            if (!take(',')) {
                expect(')');
                break;
            }
        }
        return sizes;
    }

    std::string_view all_, rest_;
    const std::string& name_;
    bool fortran_ = false;
};

std::size_t little_endian(std::string_view bytes) {
    std::size_t number = 0;
    for (auto at = bytes.size(); at-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes[at]);
    return number;
}

}  // namespace

std::uint64_t NpyHeader::values() const {
    std::uint64_t count = 1;
    for (const auto size : shape) {
        if (size > 0 && count > std::numeric_limits<std::uint64_t>::max() / 8 / size)
            throw InvalidArgument("a NumPy file has a shape of more values than 64 bits count");
        count *= size;
    }
    return count;
}

void NpyHeader::check_size(std::uint64_t file_bytes, std::size_t value_bytes, const std::string& name) const {
    if (bytes % value_bytes != 0 || file_bytes - bytes != values() * value_bytes)
        throw InvalidArgument(
            fmt::format("{} has {} bytes after its header, which says {} values", name, file_bytes - bytes, values()));
}

bool is_npy(std::string_view head) {
    return head.starts_with(npy_magic);
}

std::optional<NpyHeader> npy_header(std::string_view head, const std::string& name) {
    if (!is_npy(head)) return {};
    const auto begin = npy_magic.size() + 2;  // after the version
    const std::size_t length_bytes = head.size() > npy_magic.size() && head[npy_magic.size()] == '\x01' ? 2 : 4;
    const auto text = begin + length_bytes;
    const auto length = head.size() >= text ? little_endian(head.substr(begin, length_bytes)) : max_npy_header;
    if (length > head.size() - std::min(head.size(), text))
        throw InvalidArgument(name + " is a NumPy file, and its header is cut off or too long");
    auto header = NpyDict(head.substr(text, length), name).read();
    header.bytes = text + length;
    return header;
}

std::optional<NpyHeader> npy_header_of(const std::string& path) {
    if (path != "-" && !files::is_regular(path)) return {};
    const files::InputFile file(path);
    const auto begin = lseek(file.descriptor(), 0, SEEK_CUR);
    if (!file.size() || begin < 0) return {};
    std::string head(max_npy_header, '\0');
    const auto got =
        files::read_at(file.descriptor(), std::as_writable_bytes(std::span(head)), static_cast<std::uint64_t>(begin));
    return npy_header(std::string_view(head).substr(0, got.bytes), file.name());
}

std::string made_npy_header(KeyType type, std::span<const std::uint64_t> shape) {
    std::string sizes;
    for (const auto size : shape) sizes += fmt::format("{}, ", size);
    if (shape.size() > 1) sizes.resize(sizes.size() - 2);
    if (shape.size() == 1) sizes.pop_back();
    const auto word = std::ranges::find(npy_types, type, &NpyType::type)->word;
    auto dict = fmt::format("{{'descr': '<{}', 'fortran_order': False, 'shape': ({}), }}", word, sizes);
    constexpr std::size_t alignment = 64, before = 10;
    dict.append(alignment - 1 - (before + dict.size()) % alignment, ' ');
    dict += '\n';
    std::string header(npy_magic);
    header += {'\x01', '\0', static_cast<char>(dict.size() % 256), static_cast<char>(dict.size() / 256)};
    return header + dict;
}

}  // namespace quadmill::detail::input
