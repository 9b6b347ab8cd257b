// Tables from CSV (RFC 4180): a line of names, then rows with the same number of fields. A field in quotes may contain
// commas, line ends and quotes (written twice). Lines end with LF, CR LF or CR; the last one may have no end.
//
// A column's type is the narrowest that holds all its values: I32, U32, I64, F32 (if exact), F64, otherwise Text.
// Integers of 65 to 128 bits are Text, too, as query::ordered_text() has them.
// Numbers may be in quotes and have blanks around them; nan and inf are numbers. No value becomes another one: a column
// is Text if it has codes (a leading zero as in 01234, an exponent as in 12E12 and 1E05), exponents but no point, nan
// or inf, integers beyond 128 bits, or, among floats, numbers whose digits a double does not have or that are beyond
// its range (1e999, 1e-999). An empty field is NULL; "" is an empty text, and NULL in a column of numbers. A blank
// line is refused, except at the end; in a CSV of one column it is a NULL. Blanks around names and a byte order mark
// are dropped. A column without a name is called by its number, as column2.
//
// Errors are InvalidArgument with the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "input/csv_cells.hpp"
#include "quadmill/table.hpp"
#include "query/table/column_names.hpp"
#include "query/table/text_numbers.hpp"

namespace quadmill::detail::input {

// How a file is written.
struct CsvForm {
    char delimiter = '\0';                       // '\0': the one of , ; tab | that is most frequent in the first line
    bool has_names = true;                       // otherwise columns are called column1, column2, ...
    std::string null{};                          // a field that stands for NULL, too, also in quotes
    std::string comment{};                       // lines that begin with it are skipped
    bool skips_bad = false;                      // whether bad rows are skipped
    bool is_ragged = false;                      // whether fields that are missing at the end of a row are NULL
    std::map<std::string, Cells::Kind> types{};  // types of columns by name: texts, integers or floats
    // Called by any thread after each block, and before columns are made, with the bytes that this takes. May throw.
    std::function<void(std::uint64_t bytes)> before_bytes{};

    // Whether rows must be read one at a time.
    [[nodiscard]] bool is_careful() const { return skips_bad || !comment.empty(); }
};

[[nodiscard]] bool is_pattern(const std::string& path);

// Indices of the wanted columns, ascending. The others are checked but not kept.
using CsvColumns = std::vector<std::size_t>;
// What is known of columns that are read in parts, by name.
using CsvKinds = std::map<std::string, Cells::Seen>;

// Rows as a table, which lacks columns that have no value yet.
struct CsvTable {
    Table table{};
    query::NotesByName notes{};
    std::size_t rows = 0;
    std::vector<query::TextMemory> memory{};  // of printed texts
    std::uint64_t skipped = 0;                // bad rows
    std::string first_skipped{};              // the error of the first one
};

// Adds the columns without a value: as text if named in `texts`, otherwise as integers.
[[nodiscard]] Table filled(const CsvTable& from, const std::vector<std::string>& texts = {});

// Whole files or all of standard input. Files are read in blocks, of which only the columns stay in memory; what is
// compressed or comes from a pipe is in memory. A path with * ? or [ that is not a file is a pattern of several
// files with the same columns, which are one after the other in the order of their names; its last column, file, has
// the path of each row's file.
class CsvFile {
  public:
    explicit CsvFile(const std::string& path, CsvForm form = {});
    CsvFile(const CsvFile&) = delete;
    CsvFile& operator=(const CsvFile&) = delete;
    ~CsvFile();

    [[nodiscard]] const query::ColumnNames& names() const { return names_; }
    [[nodiscard]] char delimiter() const { return form_.delimiter; }
    // 0 threads: all. Texts of the columns `printed` are not made comparable.
    [[nodiscard]] CsvTable table(const CsvColumns& columns, unsigned threads,
                                 const std::set<std::size_t>& printed = {}) const;
    // Passes on the rows of table() in parts, whose numbers have 64 bits, until `take` returns false. Columns that are
    // not in `kinds` get their kinds from the parts so far. False if a later part has changed one: the parts that were
    // passed on are wrong, and `kinds` are now those of the whole table, with which it goes well. What `take` throws is
    // thrown on unless that happens.
    [[nodiscard]] bool parts(const CsvColumns& columns, unsigned threads, const std::set<std::size_t>& printed,
                             CsvKinds& kinds, const std::function<bool(const CsvTable&)>& take) const;

    class Piece;

  private:
    class Columns;
    // Returns the names of its columns.
    [[nodiscard]] std::vector<std::string> open(Piece& piece);

    CsvForm form_;
    std::deque<Piece> pieces_;
    std::vector<std::string> in_file_;  // names of the columns that a file has
    query::ColumnNames names_;
};

// CSV from a pipe that may never end, some rows at a time. The first values of a column decide its type; numbers are 64
// bits wide. Integers become floats at the first fraction. Any other value that does not fit is an error. Ctrl-C ends
// the stream and drops an incomplete row.
class CsvStream {
  public:
    // Waits for the line of names.
    explicit CsvStream(const std::string& path, CsvForm form = {});
    CsvStream(const CsvStream&) = delete;
    CsvStream& operator=(const CsvStream&) = delete;
    ~CsvStream();

    // Empty if Ctrl-C came before the line of names was complete.
    [[nodiscard]] const query::ColumnNames& names() const;
    // The next `rows` rows, or the remaining ones at the end of the stream. Nothing if no rows are left, but the first
    // call always returns a table. An error is thrown after all complete tables before it; the rows between
    // are lost.
    // Pre: all calls have the same arguments.
    [[nodiscard]] std::optional<CsvTable> next(const CsvColumns& columns, std::uint64_t rows);
    [[nodiscard]] char delimiter() const;
    [[nodiscard]] bool interrupted();
    // The program's exit status after an interrupt.
    [[nodiscard]] int interrupt_status() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace quadmill::detail::input
