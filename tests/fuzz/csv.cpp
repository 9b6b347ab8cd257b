// CSV: the first byte is the delimiter, the rest is the file. Reads all columns, on one thread and on two.
#include "input/csv.hpp"

#include "fuzz.hpp"

namespace quadmill::fuzz {

void run(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    constexpr std::string_view delimiters = ",;\t|";
    const char delimiter = delimiters[static_cast<std::size_t>(bytes[0]) % delimiters.size()];
    const MemoryFile memory(bytes.subspan(1));
    try_to([&] {
        const detail::input::CsvFile file(memory.path(), {.delimiter = delimiter});
        detail::input::CsvColumns columns;
        for (std::size_t i = 0; i < file.names().unique.size(); ++i) columns.push_back(i);
        const auto one = file.table(columns, 1), two = file.table(columns, 2);
        if (one.rows != two.rows) std::abort();
        static_cast<void>(detail::input::filled(one));
    });
}

}  // namespace quadmill::fuzz
