// Common parts of CSV from files and from streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/workers.hpp"
#include "input/csv.hpp"
#include "input/csv_rows.hpp"

namespace quadmill::detail::input {

// Throws InvalidArgument. `line` is that of the beginning of the text with the fault.
[[noreturn]] void refuse(const std::string& path, std::uint64_t line, const CsvFault& fault);

// A name that occurred before gets its column number appended.
[[nodiscard]] query::ColumnNames with_unique(std::vector<std::string> written);
// column1, column2, ...
[[nodiscard]] std::vector<std::string> numbered(std::size_t columns);
// The delimiter that is most frequent outside of quotes in the first line.
[[nodiscard]] char delimiter_of(std::string_view text);
// The bytes of a byte order mark, if the text begins with one. Throws InvalidArgument for UTF-16.
[[nodiscard]] std::size_t length_of_mark(const std::string& path, std::string_view text);
// Makes columns, except for those without values. `parts[i]` belongs to columns[i], of which seen[i] is known. `shared`
// has taken some of the texts.
[[nodiscard]] CsvTable table_of(const query::ColumnNames& names, const CsvColumns& columns,
                                std::vector<std::vector<Cells>>& parts, const std::vector<Cells::Seen>& seen,
                                Widths widths, query::SharedTexts& shared, const cpu::Workers& workers);

// Reads the line of names from text that arrives in pieces. It takes one byte at a time to find where the rows begin.
class HeaderReader {
    template <class Call>
    auto checked(const Call& call) {
        try {
            return call();
        } catch (const CsvFault& fault) {
            refuse(path_, line_, fault);
        }
    }

  public:
    // `line` is that of the names, for messages.
    HeaderReader(std::string path, char delimiter, std::uint64_t line = 1)
        : path_(std::move(path)), line_(line), parser_(header_, delimiter) {}

    // Returns how much of the text it has taken: all of it if the line is not complete.
    [[nodiscard]] std::size_t read(std::string_view text) {
        return checked([&] {
            std::size_t used = 0;
            while (used < text.size() && !header_.complete()) parser_.parse(text.substr(used++, 1));
            ends_with_cr_ = used > 0 && text[used - 1] == '\r';
            return used;
        });
    }
    [[nodiscard]] bool complete() const { return header_.complete(); }
    // Whether a line feed may still belong to it.
    [[nodiscard]] bool ends_with_cr() const { return ends_with_cr_; }
    // Pre: the line is complete, or there is no more text.
    [[nodiscard]] std::vector<std::string> names() {
        return checked([&] {
            if (!header_.complete()) parser_.finish();
            return header_.names();
        });
    }
    // The line number of the first row, counted from the line of names.
    [[nodiscard]] std::uint64_t next_line() const { return header_.line(); }

  private:
    std::string path_;
    std::uint64_t line_;
    CsvHeader header_;
    CsvParser<CsvHeader> parser_;
    bool ends_with_cr_ = false;
};

}  // namespace quadmill::detail::input
