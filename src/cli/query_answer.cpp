#include "cli/query_answer.hpp"

#include <fmt/core.h>

#include <span>
#include <string_view>

#include "cli/text.hpp"

namespace quadmill::cli {

namespace {

// Collects text, and writes it when there is enough.
class Writer {
  public:
    explicit Writer(OutputFile& out) : out_(out) {}
    Writer& operator<<(std::string_view text) {
        constexpr std::size_t most = std::size_t{1} << 16U;
        text_ += text;
        if (text_.size() >= most) flush();
        return *this;
    }
    void flush() {
        out_.write(std::as_bytes(std::span(text_)));
        text_.clear();
    }

  private:
    OutputFile& out_;
    std::string text_;
};

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
    // Numbers, too, may have the delimiter in them.
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return csv_text(format_number(*integer), delimiter);
    if (const auto* number = std::get_if<double>(&value)) return csv_text(format_number(*number), delimiter);
    if (const auto* text = std::get_if<std::string>(&value)) return csv_text(*text, delimiter);
    return {};
}

Json json_of(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
    if (const auto* number = std::get_if<double>(&value)) return cli::json_of(*number);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return nullptr;
}

// Bytes that are no UTF-8 become U+FFFD, as JSON has no others.
std::string dumped(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void write_csv(OutputFile& out, const QueryResult& result, char delimiter, Names names) {
    Writer writer(out);
    const std::string_view between(&delimiter, 1);
    const auto line = [&](const auto& cells, const auto& text_of) {
        for (std::size_t i = 0; i < cells.size(); ++i) writer << (i > 0 ? between : "") << text_of(cells[i], delimiter);
        writer << "\n";
    };
    if (names == Names::Write) line(result.columns, csv_text);
    for (const auto& row : result.rows) line(row, csv_of);
    writer.flush();
}

void write_json(OutputFile& out, const QueryResult& result) {
    Writer writer(out);
    writer << "{\"columns\":" << dumped(result.columns) << ",\"rows\":[";
    std::string_view between;
    for (const auto& row : result.rows) {
        auto cells = Json::array();
        for (const auto& value : row) cells.push_back(json_of(value));
        writer << between << dumped(cells);
        between = ",";
    }
    writer << fmt::format("],\"matched\":{},\"ms\":{}}}\n", result.matched, result.ms);
    writer.flush();
}

}  // namespace quadmill::cli
