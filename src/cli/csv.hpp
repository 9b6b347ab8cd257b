// Tables from CSV as RFC 4180 has it: a line of names, then rows of as many fields; fields may be in quotes, and then
// have commas, line ends and quotes (written twice) in them; lines end with LF, CR LF or CR, the last one or not.
//
// A column's type is the narrowest that takes all its values: I32, U32, I64, F32 (where it has each value exactly),
// F64, else Text. Numbers may be in quotes and have blanks around them; nan and inf are numbers. An empty field is
// NULL, "" is an empty text, and among numbers NULL. A column of NULLs alone is of I32. A blank line is refused, but
// for those at the end; in CSV of one column, it is a NULL. Blanks around names are dropped, and so is a byte order
// mark.
//
// Errors are InvalidArgument with the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/files.hpp"
#include "quadmill/query.hpp"

namespace quadmill::cli {

// Places of columns that are wanted, ascending; others are checked, but not kept.
using CsvColumns = std::vector<std::size_t>;

// A whole file, or all of standard input, in memory.
class CsvFile {
  public:
    CsvFile(const std::string& path, char delimiter);

    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    // On so many threads; 0: all.
    [[nodiscard]] Table table(const CsvColumns& columns, unsigned threads) const;

  private:
    std::string path_;
    char delimiter_;
    Bytes bytes_;
    std::vector<std::string> names_;
    std::size_t data_ = 0;    // where the rows begin
    std::uint64_t line_ = 1;  // of that
};

// The same from a pipe that may never end, some rows at a time. Types are those of the first values that a column has,
// numbers in 64 bits; a later value that does not fit is an error. Ctrl-C ends the stream.
class CsvStream {
  public:
    // Waits for the line of names.
    CsvStream(const std::string& path, char delimiter);
    CsvStream(const CsvStream&) = delete;
    CsvStream& operator=(const CsvStream&) = delete;
    ~CsvStream();

    [[nodiscard]] const std::vector<std::string>& names() const;
    // The next rows; in the end as many as there are, but nothing instead of no rows, unless there were none at all.
    // Pre: the same arguments each time.
    [[nodiscard]] std::optional<Table> next(const CsvColumns& columns, std::uint64_t rows);
    [[nodiscard]] bool interrupted();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill::cli
