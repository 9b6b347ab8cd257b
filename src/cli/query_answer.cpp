#include "cli/query_answer.hpp"

#include <fmt/core.h>

#include <utility>

#include "input/printable.hpp"
#include "input/text.hpp"

namespace quadmill::detail::cli {

namespace {

std::string csv_text(std::string_view text, char delimiter) {
    const char special[] = {'"', '\n', '\r', delimiter, '\0'};
    if (!text.empty() && text.find_first_of(special) == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += c;
        quoted += c;
    }
    return quoted + '"';
}

std::string csv_of(const Value& value, char delimiter) {
    // Numbers may contain the delimiter, too.
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return csv_text(input::format_number(*integer), delimiter);
    if (const auto* number = std::get_if<double>(&value)) return csv_text(input::format_number(*number), delimiter);
    if (const auto* text = std::get_if<std::string>(&value)) return csv_text(*text, delimiter);
    return {};
}

Json json_of(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
    if (const auto* number = std::get_if<double>(&value)) return cli::json_of(*number);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return nullptr;
}

}  // namespace

AnswerWriter::AnswerWriter(files::OutputFile& out) : out_(out) {}

void AnswerWriter::begin(const std::vector<std::string>& columns) {
    if (std::exchange(begun_, true)) return;
    names(columns);
}

void AnswerWriter::add(std::span<const std::vector<Value>> rows) {
    for (const auto& cells : rows) row(cells);
}

void AnswerWriter::write(std::string_view text) {
    constexpr std::size_t max = std::size_t{1} << 16U;
    text_ += text;
    if (text_.size() >= max) flush();
}

void AnswerWriter::flush() {
    if (out_.is_terminal()) text_ = input::printable(text_);
    out_.write(std::as_bytes(std::span(text_)));
    text_.clear();
}

namespace {

class CsvWriter final : public AnswerWriter {
  public:
    CsvWriter(files::OutputFile& out, char delimiter, Names names)
        : AnswerWriter(out), delimiter_(delimiter), names_(names) {}
    void end(const QueryResult& /*result*/) override { flush(); }

  private:
    void names(const std::vector<std::string>& columns) override {
        if (names_ == Names::Write) line(columns, csv_text);
    }
    void row(const std::vector<Value>& cells) override { line(cells, csv_of); }

    template <class Cells, class TextOf>
    void line(const Cells& cells, const TextOf& text_of) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            if (i > 0) write({&delimiter_, 1});
            write(text_of(cells[i], delimiter_));
        }
        write("\n");
    }

    char delimiter_;
    Names names_;
};

class JsonWriter final : public AnswerWriter {
  public:
    using AnswerWriter::AnswerWriter;
    void end(const QueryResult& result) override {
        write(fmt::format("],\"matched\":{},\"ms\":{}}}\n", result.matched, result.ms));
        flush();
    }

  private:
    void names(const std::vector<std::string>& columns) override {
        write("{\"columns\":" + dumped(columns) + ",\"rows\":[");
    }
    void row(const std::vector<Value>& cells) override {
        auto values = Json::array();
        for (const auto& value : cells) values.push_back(json_of(value));
        write(std::exchange(between_, ","));
        write(dumped(values));
    }

    std::string_view between_;
};

}  // namespace

std::unique_ptr<AnswerWriter> csv_writer(files::OutputFile& out, char delimiter, Names names) {
    return std::make_unique<CsvWriter>(out, delimiter, names);
}

std::unique_ptr<AnswerWriter> json_writer(files::OutputFile& out) {
    return std::make_unique<JsonWriter>(out);
}

}  // namespace quadmill::detail::cli
