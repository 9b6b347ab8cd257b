#include "input/binary_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "files/files.hpp"
#include "input/enum_words.hpp"
#include "input/npy.hpp"
#include "input/text.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

namespace {

// The type that the name tells.
std::optional<KeyType> type_of(const std::string& path) {
    for (const auto type : {KeyType::F32, KeyType::F64, KeyType::I32, KeyType::U32, KeyType::I64}) {
        if (path.ends_with("." + word_for(type_words, type))) return type;
    }
    return {};
}

// Every `step`-th value.
template <class T>
std::vector<T> column_of(std::span<const std::byte> bytes, std::size_t first, std::size_t step) {
    std::vector<T> values(bytes.size() / sizeof(T) / step);
    for (std::size_t i = 0; i < values.size(); ++i)
        std::memcpy(&values[i], bytes.data() + (i * step + first) * sizeof(T), sizeof(T));
    return values;
}

template <class T>
void add_columns(BinaryTable& to, std::span<const std::byte> bytes, std::size_t columns, const std::string& path) {
    if (bytes.size() % (sizeof(T) * columns) != 0)
        throw InvalidArgument(fmt::format("{} has {} bytes, which is not a multiple of {}", in_quotes(path),
                                          bytes.size(), sizeof(T) * columns));
    for (std::size_t k = 0; k < columns; ++k) {
        const auto& name = to.names.written.emplace_back(columns == 1 ? "value" : fmt::format("column{}", k + 1));
        to.rows.table.add(name, column_of<T>(bytes, k, columns));
    }
    to.names.unique = to.names.written;
    to.rows.rows = to.rows.table.rows();
}

}  // namespace

bool is_binary_name(const std::string& path) {
    return is_npy_name(path) || type_of(path);
}

BinaryTable read_binary_table(const std::string& path) {
    const auto file = files::read_file(path);
    auto bytes = std::span<const std::byte>(file.span());
    auto type = type_of(path);
    std::size_t columns = 1;
    if (is_npy_name(path)) {
        const std::string_view head(file.as<const char>().data(), std::min(file.size(), max_npy_header));
        const auto header = npy_header(head, in_quotes(path));
        if (!header) throw InvalidArgument(in_quotes(path) + " is not a file of NumPy");
        if (header->shape.size() > 2 || (header->shape.size() == 2 && header->shape[1] == 0))
            throw InvalidArgument(in_quotes(path) + " is not a list or a matrix, which a table can be");
        type = header->type;
        if (header->shape.size() == 2) columns = static_cast<std::size_t>(header->shape[1]);
        bytes = bytes.subspan(header->bytes);
    }
    BinaryTable made;
    switch (*type) {
        case KeyType::F32:
            add_columns<float>(made, bytes, columns, path);
            break;
        case KeyType::F64:
            add_columns<double>(made, bytes, columns, path);
            break;
        case KeyType::I32:
            add_columns<std::int32_t>(made, bytes, columns, path);
            break;
        case KeyType::U32:
            add_columns<std::uint32_t>(made, bytes, columns, path);
            break;
        case KeyType::I64:
            add_columns<std::int64_t>(made, bytes, columns, path);
            break;
        default:
            throw InvalidArgument(in_quotes(path) + " has values of type " + word_for(type_words, *type) +
                                  "; a table has f32, f64, i32, u32 or i64");
    }
    return made;
}

}  // namespace quadmill::detail::input
