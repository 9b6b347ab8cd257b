// Writes answers of queries as CSV or JSON, row by row.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/answer.hpp"
#include "files/files.hpp"
#include "quadmill/query.hpp"

namespace quadmill::detail::cli {

// Writes one answer: begin(), add() any number of times, end().
class AnswerWriter {
  public:
    explicit AnswerWriter(files::OutputFile& out);
    AnswerWriter(const AnswerWriter&) = delete;
    AnswerWriter& operator=(const AnswerWriter&) = delete;
    virtual ~AnswerWriter() = default;

    // Does nothing when called again.
    void begin(const std::vector<std::string>& columns);
    void add(std::span<const std::vector<Value>> rows);
    virtual void end(const QueryResult& result) = 0;

  protected:
    // Buffers text.
    void write(std::string_view text);
    void flush();

  private:
    virtual void names(const std::vector<std::string>& columns) = 0;
    virtual void row(const std::vector<Value>& cells) = 0;

    files::OutputFile& out_;
    std::string text_;
    bool begun_ = false;
};

// A line of names, unless an earlier answer has written it, then one line per row. NULL is an empty field, an empty
// text is "".
enum class Names { Write, Omit };
[[nodiscard]] std::unique_ptr<AnswerWriter> csv_writer(files::OutputFile& out, char delimiter, Names names);
// {"columns":[..],"rows":[[..]],"matched":..,"ms":..} on one line.
[[nodiscard]] std::unique_ptr<AnswerWriter> json_writer(files::OutputFile& out);

}  // namespace quadmill::detail::cli
