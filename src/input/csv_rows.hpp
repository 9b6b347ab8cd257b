// Parses rows with libcsv and counts lines.
#pragma once

#include <csv.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/csv_cells.hpp"

namespace quadmill::detail::input {

// An error and its line, counted from 1 at the beginning of the text.
struct CsvFault {
    std::uint64_t line;
    std::string what;
};

// Whether a field without quotes may begin or end with a blank, which is rare.
enum class Blanks { None, Some };
// What the text has.
[[nodiscard]] Blanks blanks_in(std::string_view text, char delimiter);

// libcsv in strict mode: quotes only around whole fields. A Sink has field(), which gets nothing for an empty field
// without quotes, and line_end(), which is also called for a blank line. CR LF is one line end. Both may throw.
template <class Sink>
class CsvParser {
  public:
    CsvParser(Sink& sink, char delimiter, Blanks blanks) : sink_(sink) {
        if (csv_init(&parser_, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL | CSV_EMPTY_IS_NULL) != 0)
            throw std::bad_alloc();
        csv_set_delim(&parser_, static_cast<unsigned char>(delimiter));
        if (blanks == Blanks::Some) keep_blanks();
    }
    // libcsv drops blanks. A callback prevents that, but makes it 1.7 times slower.
    void keep_blanks() {
        csv_set_space_func(&parser_, [](unsigned char) { return 0; });
    }
    CsvParser(const CsvParser&) = delete;
    CsvParser& operator=(const CsvParser&) = delete;
    ~CsvParser() { csv_free(&parser_); }

    void parse(std::string_view text) {
        // Parses in pieces, so that errors are found early.
        constexpr std::size_t piece = std::size_t{1} << 16U;
        for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
            const auto part = text.substr(0, piece);
            const auto used = csv_parse(&parser_, part.data(), part.size(), on_field, on_line_end, this);
            if (error_) std::rethrow_exception(error_);
            if (used < part.size()) {
                fail("has a quote inside a field; put the field in quotes, and write each quote in it twice");
            }
        }
    }
    void finish() {
        const auto result = csv_fini(&parser_, on_field, on_line_end, this);
        if (error_) std::rethrow_exception(error_);
        if (result != 0) fail("has a quote that is not closed");
    }

  private:
    [[noreturn]] void fail(const char* what) {
        if (csv_error(&parser_) == CSV_ENOMEM) throw std::bad_alloc();
        throw CsvFault{sink_.line(), what};
    }
    // Exceptions must not pass through C.
    template <class Call>
    void guarded(const Call& call) noexcept {
        if (error_) return;
        try {
            call();
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    static void on_field(void* data, std::size_t size, void* self) {
        auto& parser = *static_cast<CsvParser*>(self);
        parser.after_cr_ = false;
        parser.guarded([&] {
            if (data) {
                parser.sink_.field(std::string_view(static_cast<const char*>(data), size));
            } else {
                parser.sink_.field(std::nullopt);
            }
        });
    }
    static void on_line_end(int end, void* self) {
        auto& parser = *static_cast<CsvParser*>(self);
        const bool second = parser.after_cr_ && end == '\n';
        parser.after_cr_ = end == '\r';
        if (!second) parser.guarded([&] { parser.sink_.line_end(); });
    }

    Sink& sink_;
    csv_parser parser_{};
    std::exception_ptr error_{};
    bool after_cr_ = false;
};

// The fault of a row with another number of fields than the first line.
[[nodiscard]] CsvFault wrong_fields(std::uint64_t line, std::size_t fields, std::size_t of_first);

// Counts lines of fields.
class CsvLines {
  public:
    // The line of the next field; after a row, of the next row.
    [[nodiscard]] std::uint64_t line() const { return line_; }
    void pass(std::string_view field) {
        // Faster than std::count if there are no line ends.
        for (auto at = field.find('\n'); at != std::string_view::npos; at = field.find('\n', at + 1)) ++line_;
    }
    void pass_end() { ++line_; }
    void go_to(std::uint64_t line) { line_ = line; }

  private:
    std::uint64_t line_ = 1;
};

// The line of names.
class CsvHeader {
  public:
    void field(std::optional<std::string_view> field);
    void line_end();
    [[nodiscard]] std::uint64_t line() const { return lines_.line(); }
    [[nodiscard]] bool complete() const { return complete_; }
    // Throws CsvFault if there is none.
    [[nodiscard]] std::vector<std::string> names() const;

  private:
    CsvLines lines_;
    std::vector<std::string> names_;
    bool complete_ = false;
};

// The fields of one row.
class CsvRow {
  public:
    explicit CsvRow(std::uint64_t line) : line_(line) {}
    void field(std::optional<std::string_view> field) { fields_.emplace_back(field); }
    void line_end() {}
    [[nodiscard]] std::uint64_t line() const { return line_; }
    [[nodiscard]] const std::vector<std::optional<std::string>>& fields() const { return fields_; }

  private:
    std::uint64_t line_;
    std::vector<std::optional<std::string>> fields_;
};

// The rows after the line of names.
class CsvRows {
  public:
    // `positions` are the indices of the kept columns among the fields, `cells` their receivers. A field that is equal
    // to `null`, which is not empty, is NULL.
    CsvRows(std::vector<std::string> names, const std::vector<std::size_t>& positions, std::vector<Cells> cells,
            std::string null = {});
    // Missing fields at the end of a row are NULL.
    void be_ragged() { is_ragged_ = true; }
    // Continues at that line.
    void at_line(std::uint64_t line) {
        lines_.go_to(line);
        row_line_ = line;
    }

    void field(std::optional<std::string_view> field) {
        if (kept()) keep(field);
        if (field) lines_.pass(*field);
        ++field_;
    }
    // A field without quotes and line ends, which is NULL if it is empty.
    void plain_field(std::string_view text) {
        if (kept()) keep(text.empty() ? std::nullopt : std::optional(text));
        ++field_;
    }
    // Adds a whole row. Before anything is kept, throws a fault if it has another number of fields.
    void row(const CsvRow& row) {
        check_fields(row.fields().size());
        for (const auto& field : row.fields()) this->field(field);
        line_end();
    }
    // Whether the next field is the first of a row.
    [[nodiscard]] bool at_row_end() const { return field_ == 0; }
    void line_end() {
        if (field_ != kept_.size() || blank_) return odd_line_end();
        lines_.pass_end();
        field_ = 0;
        ++rows_;
        row_line_ = line();
    }
    [[nodiscard]] std::uint64_t line() const { return lines_.line(); }
    [[nodiscard]] std::uint64_t rows() const { return rows_; }
    // The line of the first of the blank lines at the end so far.
    [[nodiscard]] std::optional<std::uint64_t> blank() const { return blank_; }

    [[nodiscard]] std::vector<Cells>& cells() { return cells_; }
    // Continues with other cells, which have no rows.
    void restart(std::vector<Cells> cells);
    // Drops the fields of an incomplete row.
    void drop_unfinished();

  private:
    static constexpr auto none = ~std::size_t{0};
    [[nodiscard]] bool kept() const { return field_ < kept_.size() && kept_[field_] != none; }
    void keep(std::optional<std::string_view> field);
    void odd_line_end();
    void check_fields(std::size_t fields) const;
    [[noreturn]] void refuse_field(std::string_view field, Cells::Kind kind) const;

    CsvLines lines_;
    std::vector<std::string> names_;
    std::vector<std::size_t> kept_;  // by field: its index in cells_
    std::vector<Cells> cells_;
    std::string null_;
    bool is_ragged_ = false;
    std::size_t field_ = 0;
    std::uint64_t rows_ = 0, row_line_ = 1;
    std::optional<std::uint64_t> blank_;
};

}  // namespace quadmill::detail::input
