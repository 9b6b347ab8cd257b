// Tables from CSV as RFC 4180 has it: a line of names, then rows of as many fields; fields may be in quotes, and then
// have commas, line ends and quotes (written twice) in them; lines end with LF, CR LF or CR, the last one or not.
//
// A column's type is the narrowest that takes all its values: I32, U32, I64, F32 (where it has each value exactly),
// F64, else Text. Numbers may be in quotes and have blanks around them; nan and inf are numbers. No value
// becomes another one: codes (a zero before a digit as in 01234, an exponent as in 12E12 and 1E05), integers beyond 64
// bits and numbers beyond a double's range (1e999, 1e-999) make the column one of Text; an integer beyond 2^53 is
// refused where the column is of floats. Fractions are the nearest doubles. An empty field is NULL, "" is an empty text, and among numbers NULL. A blank
// line is refused, but for those at the end; in CSV of one column, it is a NULL. Blanks around names are dropped, and
// so is a byte order mark; a column without a name, as the second, is column2.
//
// Errors are InvalidArgument with the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/files.hpp"
#include "quadmill/table.hpp"
#include "sql/sql.hpp"

namespace quadmill::detail::input {

// The places of columns that are wanted, ascending; others are checked, but not kept.
using CsvColumns = std::vector<std::size_t>;

// Rows as a table, but for the columns that have no value yet: they go with numbers and with texts.
struct CsvTable {
    Table table{};
    std::vector<std::string> empty{};
    std::size_t rows = 0;
    std::map<std::string, std::string> why_text{};  // a column is of text: "line 3 has 'x'"
};

// What the columns of a query turned out to be, in tables of its sources. One that has no value is of text where it is
// compared with text.
[[nodiscard]] sql::SqlTypes types_in(const sql::SqlQuery& query, const std::vector<CsvTable>& from);

// With the columns that have no value: those in `texts` of text, others of integers.
[[nodiscard]] Table filled(const CsvTable& from, const std::vector<std::string>& texts = {});

// The columns of a query's source, which are all that need be read.
[[nodiscard]] CsvColumns columns_of(const sql::SqlQuery& query, std::size_t source, const sql::SqlNames& names);

// The same of one source, as types_in() has them.
[[nodiscard]] Table filled(const CsvTable& from, const sql::SqlQuery& query, std::size_t source,
                           const sql::SqlTypes& known);

// A whole file, or all of standard input, in memory.
class CsvFile {
  public:
    CsvFile(const std::string& path, char delimiter);

    [[nodiscard]] const sql::SqlNames& names() const { return names_; }
    // On so many threads; 0: all.
    [[nodiscard]] CsvTable table(const CsvColumns& columns, unsigned threads) const;

  private:
    std::string path_;
    char delimiter_;
    files::Bytes bytes_;
    sql::SqlNames names_;
    std::size_t data_ = 0;    // where the rows begin
    std::uint64_t line_ = 1;  // of that
};

// The same from a pipe that may never end, some rows at a time. Types are those of the first values that a column has,
// numbers in 64 bits; integers become floats when a fraction comes, any other value that does not fit is an error. Ctrl-C
// ends the stream, and drops a row that is not complete.
class CsvStream {
  public:
    // Waits for the line of names.
    CsvStream(const std::string& path, char delimiter);
    CsvStream(const CsvStream&) = delete;
    CsvStream& operator=(const CsvStream&) = delete;
    ~CsvStream();

    // Empty where Ctrl-C came before the line of names was complete.
    [[nodiscard]] const sql::SqlNames& names() const;
    // The next rows; in the end as many as there are, but nothing instead of no rows, unless there were none at all. A fault
    // is told after all tables of so many rows before it; the rows behind these are not given.
    // Pre: the same arguments each time.
    [[nodiscard]] std::optional<CsvTable> next(const CsvColumns& columns, std::uint64_t rows);
    [[nodiscard]] bool interrupted();
    // What the program then answers to the shell.
    [[nodiscard]] int interrupt_status() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill::detail::input
