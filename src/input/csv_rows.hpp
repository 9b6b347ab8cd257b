// Parses rows of CSV and counts lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/csv_cells.hpp"

namespace quadmill::detail::input {

// An error and its line, counted from 1 at the beginning of the text.
struct CsvFault {
    std::uint64_t line;
    std::string what;
};

// Splits text that arrives in pieces, by all rules: quotes only around whole fields, CR LF as one line end. A Sink has
// field(), which gets nothing for an empty field without quotes, and line_end(), which is also called for a blank line.
// It may have plain_field(), which gets most of the fields without quotes. These have no line ends that it must count.
template <class Sink>
class CsvParser {
  public:
    CsvParser(Sink& sink, char delimiter) : sink_(sink), delimiter_(delimiter) {}

    void parse(std::string_view text) {
        for (std::size_t at = 0; at < text.size(); ++at) {
            const char c = text[at];
            const bool after_cr = std::exchange(after_cr_, false), ends = c == '\n' || c == '\r';
            if (state_ == State::Inside) {
                const auto end = std::min(text.find('"', at), text.size());
                field_ += text.substr(at, end - at);
                if ((at = end) < text.size()) state_ = State::Quote;
            } else if (c == delimiter_) {
                end_field(State::Field);
            } else if (ends) {
                if (state_ != State::Row) end_field(State::Row);
                if (!after_cr || c == '\r') sink_.line_end();
                after_cr_ = c == '\r';
            } else if (c == '"' && state_ < State::Plain) {
                if (state_ == State::Quote) field_ += c;
                state_ = State::Inside;
            } else if (c == '"' || state_ == State::Quote) {
                fail("has a quote inside a field; put the field in quotes, and write each quote in it twice");
            } else {
                state_ = State::Plain;
                auto end = at + 1;
                while (end < text.size() && !ends_plain(text[end])) ++end;
                const auto part = text.substr(at, end - at);
                at = end - 1;
                if (field_.empty() && end < text.size() && text[end] != '"') {
                    whole_ = part;  // which the next character ends
                } else {
                    field_ += part;
                }
            }
        }
    }
    void finish() {
        if (state_ == State::Inside) fail("has a quote that is not closed");
        if (state_ == State::Row) return;
        end_field(State::Row);
        sink_.line_end();
    }

  private:
    // At the beginning of a row or of a further field; in quotes; after what may be the closing quote; in a field
    // without quotes.
    enum class State { Row, Field, Inside, Quote, Plain };

    [[nodiscard]] bool ends_plain(char c) const { return c == delimiter_ || c == '\n' || c == '\r' || c == '"'; }
    [[noreturn]] void fail(const char* what) const { throw CsvFault{sink_.line(), what}; }
    void end_field(State next) {
        if (whole_.empty()) {
            sink_.field(state_ > State::Inside ? std::optional<std::string_view>(field_) : std::nullopt);
            field_.clear();
        } else {
            pass_plain(std::exchange(whole_, {}));
        }
        state_ = next;
    }
    void pass_plain(std::string_view field) {
        if constexpr (requires { sink_.plain_field(field); }) {
            sink_.plain_field(field);
        } else {
            sink_.field(field);
        }
    }

    Sink& sink_;
    char delimiter_;
    State state_ = State::Row;
    bool after_cr_ = false;
    std::string field_{};
    std::string_view whole_{};  // a field that need not be copied
};

// The fault of a row with another number of fields than the first line.
[[nodiscard]] CsvFault wrong_fields(std::uint64_t line, std::size_t fields, const std::vector<std::string>& names);

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

// Counts the fields of one row.
struct CsvRow {
    std::uint64_t at = 0;  // its line
    std::size_t fields = 0;
    void field(std::optional<std::string_view> /*field*/) { ++fields; }
    void line_end() {}
    [[nodiscard]] std::uint64_t line() const { return at; }
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
    // Throws a fault if the row that begins here must not have that many fields.
    void check_fields(std::size_t fields) const;
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
    [[noreturn]] void refuse_field(std::string_view field, const Cells::Seen& seen) const;

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
