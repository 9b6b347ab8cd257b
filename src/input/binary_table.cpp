#include "input/binary_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "cpu/keys.hpp"
#include "files/files.hpp"
#include "input/csv_table.hpp"
#include "input/enum_words.hpp"
#include "input/npy.hpp"
#include "input/text.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

namespace {

// The type that the name tells.
std::optional<KeyType> type_of(const std::string& path) {
    for (const auto& [word, type] : type_words) {
        if (path.ends_with("." + word)) return type;
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
    std::vector<std::vector<Cells>> wide(columns);
    std::vector<Cells::Seen> seen(columns);
    CsvColumns all;
    for (std::size_t k = 0; k < columns; ++k) {
        all.push_back(k);
        const auto& name = to.names.written.emplace_back(columns == 1 ? "value" : fmt::format("column{}", k + 1));
        auto values = column_of<T>(bytes, k, columns);
        if constexpr (std::is_same_v<T, std::uint64_t>) {  // as in CSV, because values may be beyond 63 bits
            auto& cells = wide[k].emplace_back();
            for (const auto value : values) static_cast<void>(cells.add(std::to_string(value), 0));
            seen[k].add(cells.seen(), 0);
        } else if constexpr (std::is_same_v<T, Half>) {
            std::vector<float> floats;
            for (const auto value : values) floats.push_back(value.value());
            to.rows.table.add(name, std::move(floats));
        } else {
            to.rows.table.add(name, std::move(values));
        }
    }
    to.names.unique = to.names.written;
    query::SharedTexts shared;
    if (std::is_same_v<T, std::uint64_t>)
        to.rows = table_of(to.names, all, wide, seen, Widths::Narrow, shared, cpu::Workers(1));
    to.rows.rows = bytes.size() / sizeof(T) / columns;
}

}  // namespace

bool is_binary_name(const std::string& path) {
    return is_npy_name(path) || type_of(path);
}

BinaryTable read_binary_table(const std::string& path) {
    if (is_pattern(path)) throw InvalidArgument(in_quotes(path) + " is a pattern, which FROM takes for CSV only");
    const auto file = files::read_file(path);
    auto bytes = std::span<const std::byte>(file.span());
    auto type = type_of(path);
    std::size_t columns = 1;
    std::optional<NpyHeader> header;
    if (is_npy_name(path)) {
        const std::string_view head(file.as<const char>().data(), std::min(file.size(), max_npy_header));
        header = npy_header(head, in_quotes(path));
        if (!header) throw InvalidArgument(in_quotes(path) + " is not a file of NumPy");
        if (header->shape.size() > 2 || (header->shape.size() == 2 && header->shape[1] == 0))
            throw InvalidArgument(in_quotes(path) + " is not a list or a matrix, which a table can be");
        type = header->type;
        if (header->shape.size() == 2) columns = static_cast<std::size_t>(header->shape[1]);
    }
    BinaryTable made;
    cpu::visit_key_type(*type, [&]<class T>(const T* /*type*/) {
        if (header) {
            header->check_size(bytes.size(), sizeof(T), in_quotes(path));
            bytes = bytes.subspan(header->bytes);
        }
        add_columns<T>(made, bytes, columns, path);
    });
    return made;
}

}  // namespace quadmill::detail::input
