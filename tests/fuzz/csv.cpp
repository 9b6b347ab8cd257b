// CSV: the first byte is the form (delimiter, names, comments, bad and ragged rows), the rest is the file. Reads all
// columns, on one thread and on two.
#include "input/csv.hpp"

#include "fuzz.hpp"

namespace quadmill::fuzz {

void run(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    constexpr std::string_view delimiters = ",;\t|";
    const auto how = std::to_integer<unsigned>(bytes[0]);
    const detail::input::CsvForm form{.delimiter = delimiters[how % 4],
                                      .has_names = (how & 4U) == 0,
                                      .comment = (how & 8U) != 0 ? "#" : "",
                                      .skips_bad = (how & 16U) != 0,
                                      .is_ragged = (how & 32U) != 0};
    const MemoryFile memory(bytes.subspan(1));
    try_to([&] {
        const detail::input::CsvFile file(memory.path(), form);
        detail::input::CsvColumns columns;
        for (std::size_t i = 0; i < file.names().unique.size(); ++i) columns.push_back(i);
        const auto one = file.table(columns, 1), two = file.table(columns, 2);
        if (one.rows != two.rows) std::abort();
        static_cast<void>(detail::input::filled(one));
    });
}

}  // namespace quadmill::fuzz
