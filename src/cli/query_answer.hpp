// Writes answers of queries as CSV, as an aligned table, or as JSON, row by row.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.hpp"
#include "files/files.hpp"
#include "sql/run.hpp"

namespace quadmill::detail::cli {

// Writes one answer: begin(), row() any number of times, end().
class AnswerWriter {
  public:
    explicit AnswerWriter(files::OutputFile& out) : out_(out), is_terminal_(out.is_terminal()) {}
    AnswerWriter(const AnswerWriter&) = delete;
    AnswerWriter& operator=(const AnswerWriter&) = delete;
    virtual ~AnswerWriter() = default;

    virtual void begin(const std::vector<std::string>& columns) = 0;
    virtual void row(std::span<const sql::SqlCell> cells) = 0;
    // `matched`: the number of rows that satisfied WHERE.
    virtual void end(std::uint64_t matched, double ms) = 0;

  protected:
    // The text that has not been written yet.
    [[nodiscard]] std::string& text() { return text_; }
    void flush_if_long() {
        constexpr std::size_t max = std::size_t{1} << 16U;
        if (text_.size() >= max) flush();
    }
    void flush();
    void write(std::string_view text);

  private:
    files::OutputFile& out_;
    bool is_terminal_;
    std::string text_;
};

// JsonLine: {"columns":[..],"rows":[[..]],"matched":..,"ms":..} on one line. NdJson: one object per row. Csv: NULL is
// an empty field, an empty text is "". Table: aligned columns, with numbers to the right.
enum class RowsForm { Csv, Table, JsonLine, NdJson };
// Csv writes a line of names, unless an earlier answer has written it.
enum class Names { Write, Omit };
[[nodiscard]] std::unique_ptr<AnswerWriter> answer_writer(files::OutputFile& out, RowsForm form, char delimiter,
                                                          Names names);

}  // namespace quadmill::detail::cli
