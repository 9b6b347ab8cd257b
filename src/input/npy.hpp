// NumPy's files: a header with type and shape, then raw values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/keys.hpp"

namespace quadmill::detail::input {

struct NpyHeader {
    KeyType type = KeyType::F32;
    std::vector<std::uint64_t> shape{};  // none: a single value
    std::size_t bytes = 0;               // of the header: the values begin there

    // Throws InvalidArgument if 64 bits cannot count the values.
    [[nodiscard]] std::uint64_t values() const;
    // Throws InvalidArgument if a file of that many bytes does not have just the values of the shape. `name` is for
    // messages.
    void check_size(std::uint64_t file_bytes, std::size_t value_bytes, const std::string& name) const;
};

// Enough bytes of a file for its header.
inline constexpr std::size_t max_npy_header = std::size_t{64} << 10;

// Whether a file that begins so is NumPy's.
[[nodiscard]] bool is_npy(std::string_view head);
// The header at the beginning of a file; nothing if the file is not NumPy's. `head` has max_npy_header bytes, or all of
// the file. Throws InvalidArgument, with the remedy, for types and orders of values that are not taken here. `name` is
// for messages.
[[nodiscard]] std::optional<NpyHeader> npy_header(std::string_view head, const std::string& name);
// The header of a regular file or of standard input that is one; nothing for others, which are not read.
[[nodiscard]] std::optional<NpyHeader> npy_header_of(const std::string& path);
// The header to write.
[[nodiscard]] std::string made_npy_header(KeyType type, std::span<const std::uint64_t> shape);
// Whether the name of an output asks for such a file.
[[nodiscard]] inline bool is_npy_name(std::string_view path) {
    return path.ends_with(".npy");
}

}  // namespace quadmill::detail::input
