#include "cli/query_answer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>

#include "input/printable.hpp"
#include "input/text.hpp"

namespace quadmill::detail::cli {

void AnswerWriter::flush() {
    write(text_);
    text_.clear();
}

void AnswerWriter::write(std::string_view text) {
    const auto shown = is_terminal_ ? input::printable(text) : std::string();
    out_.write(std::as_bytes(std::span(is_terminal_ ? std::string_view(shown) : text)));
}

namespace {

using sql::SqlCell;

// Fields of CSV.
class CsvFields {
  public:
    explicit CsvFields(char delimiter) : delimiter_(delimiter) {
        for (const char c : {'"', '\n', '\r', '\0', delimiter}) is_special_.at(static_cast<unsigned char>(c)) = 1;
    }
    [[nodiscard]] char delimiter() const { return delimiter_; }
    // Writes the text and returns its end, at most twice the text's size and 2 further.
    char* put(char* to, std::string_view text) const {
        unsigned special = text.empty() ? 1 : 0;
        auto* at = to;
        for (const char c : text) {
            special |= is_special_[static_cast<unsigned char>(c)];
            *at++ = c;
        }
        if (special == 0) return at;
        *to++ = '"';
        for (const char c : text) {
            if (c == '"') *to++ = c;
            *to++ = c;
        }
        *to++ = '"';
        return to;
    }

  private:
    char delimiter_;
    std::array<std::uint8_t, 256> is_special_{};
};

std::string number_of(const SqlCell& cell) {
    if (const auto* number = std::get_if<double>(&cell)) return input::format_number(*number);
    return input::format_number(std::get<std::int64_t>(cell));
}

class CsvWriter final : public AnswerWriter {
  public:
    CsvWriter(files::OutputFile& out, char delimiter, Names names)
        : AnswerWriter(out),
          fields_(delimiter),
          names_(names),
          is_in_numbers_(std::string_view("0123456789+-.einfa").find(delimiter) != std::string_view::npos) {}

    void begin(const std::vector<std::string>& columns) override {
        if (names_ == Names::Omit) return;
        const std::vector<SqlCell> cells(columns.begin(), columns.end());
        row(cells);
    }
    void row(std::span<const SqlCell> cells) override {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const auto* const word = std::get_if<std::string_view>(&cells[i]);
            auto* to = space(word ? 2 * word->size() + 3 : longest_number);
            if (i > 0) *to++ = fields_.delimiter();
            if (word) {
                to = fields_.put(to, *word);
            } else if (cells[i].index() != 0) {
                to = number(to, cells[i]);
            }
            used_ = static_cast<std::size_t>(to - buffer_.data());
        }
        *space(1) = '\n';
        ++used_;
    }
    void end(std::uint64_t /*matched*/, double /*ms*/) override { write_buffer(); }

  private:
    static constexpr std::size_t longest_number = 64;

    void write_buffer() {
        write({buffer_.data(), used_});
        used_ = 0;
    }
    [[nodiscard]] char* space(std::size_t bytes) {
        if (buffer_.size() - used_ < bytes) {
            write_buffer();
            buffer_.resize(std::max(buffer_.size(), bytes));
        }
        return buffer_.data() + used_;
    }
    [[nodiscard]] char* number(char* to, const SqlCell& cell) const {
        if (is_in_numbers_) return fields_.put(to, number_of(cell));
        if (const auto* integer = std::get_if<std::int64_t>(&cell))
            return std::to_chars(to, to + longest_number, *integer).ptr;
        // With at most 15 digits, a decimal number that is rounded to the double is the shortest one.
        const auto value = std::get<double>(cell);
        constexpr double most = 1e13;
        const auto hundredths = static_cast<std::int64_t>(std::abs(value) < most ? std::nearbyint(100 * value) : 0);
        if (hundredths == 0 || static_cast<double>(hundredths) / 100 != value) {
            const auto word = number_of(cell);
            return std::ranges::copy(word, to).out;
        }
        if (value < 0) *to++ = '-';
        const auto size = std::abs(hundredths);
        const auto tenths = size / 10 % 10, rest = size % 10;
        to = std::to_chars(to, to + longest_number, size / 100).ptr;
        if (tenths == 0 && rest == 0) return to;
        *to++ = '.';
        *to++ = static_cast<char>('0' + tenths);
        if (rest != 0) *to++ = static_cast<char>('0' + rest);
        return to;
    }

    CsvFields fields_;
    Names names_;
    bool is_in_numbers_;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 16U);
    std::size_t used_ = 0;
};

Json json_of(const SqlCell& cell) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
    if (const auto* number = std::get_if<double>(&cell)) return cli::json_of(*number);
    if (const auto* text = std::get_if<std::string_view>(&cell)) return *text;
    return nullptr;
}

class JsonWriter final : public AnswerWriter {
  public:
    using AnswerWriter::AnswerWriter;
    void begin(const std::vector<std::string>& columns) override {
        text() += "{\"columns\":" + dumped(columns) + ",\"rows\":[";
    }
    void row(std::span<const SqlCell> cells) override {
        auto values = Json::array();
        for (const auto& cell : cells) values.push_back(json_of(cell));
        text() += std::exchange(between_, ",");
        text() += dumped(values);
        flush_if_long();
    }
    void end(std::uint64_t matched, double ms) override {
        text() += fmt::format("],\"matched\":{},\"ms\":{}}}\n", matched, ms);
        flush();
    }

  private:
    std::string_view between_;
};

class NdJsonWriter final : public AnswerWriter {
  public:
    using AnswerWriter::AnswerWriter;
    void begin(const std::vector<std::string>& columns) override {
        for (const auto& column : columns) names_.push_back((names_.empty() ? "{" : ",") + dumped(column) + ":");
    }
    void row(std::span<const SqlCell> cells) override {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text() += names_[i];
            text() += dumped(json_of(cells[i]));
        }
        text() += "}\n";
        flush_if_long();
    }
    void end(std::uint64_t /*matched*/, double /*ms*/) override { flush(); }

  private:
    std::vector<std::string> names_;  // with what stands before and after them
};

// The first rows decide the widths.
class TableWriter final : public AnswerWriter {
  public:
    using AnswerWriter::AnswerWriter;
    void begin(const std::vector<std::string>& columns) override {
        widths_.resize(columns.size());
        std::vector<Field> names;
        for (const auto& column : columns) names.push_back({input::printable(column), true});
        add(std::move(names));
    }
    void row(std::span<const SqlCell> cells) override {
        std::vector<Field> fields;
        for (const auto& cell : cells) {
            const auto* word = std::get_if<std::string_view>(&cell);
            if (word || cell.index() == 0) {
                auto shown = input::printable(word ? *word : std::string_view());
                std::ranges::replace(shown, '\n', ' ');
                fields.push_back({std::move(shown), true});
            } else {
                fields.push_back({number_of(cell), false});
            }
        }
        add(std::move(fields));
    }
    void end(std::uint64_t /*matched*/, double /*ms*/) override {
        write_rows();
        flush();
    }

  private:
    struct Field {
        std::string text;
        bool left;
    };
    static std::size_t width(std::string_view text) {
        return static_cast<std::size_t>(
            std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
    }
    void add(std::vector<Field> fields) {
        constexpr std::size_t first = 1000;
        for (std::size_t i = 0; i < fields.size(); ++i) widths_[i] = std::max(widths_[i], width(fields[i].text));
        rows_.push_back(std::move(fields));
        if (rows_.size() >= first) write_rows();
    }
    void write_rows() {
        for (const auto& row : rows_) {
            for (std::size_t i = 0; i < row.size(); ++i) {
                const auto& [word, left] = row[i];
                const std::string blanks(widths_[i] - width(word), ' ');
                const bool last = i + 1 == row.size();
                text() += left ? word + (last ? "" : blanks) : blanks + word;
                text() += last ? "\n" : "  ";
            }
            flush_if_long();
        }
        rows_.clear();
    }

    std::vector<std::size_t> widths_;
    std::vector<std::vector<Field>> rows_;
};

}  // namespace

std::unique_ptr<AnswerWriter> answer_writer(files::OutputFile& out, RowsForm form, char delimiter, Names names) {
    switch (form) {
        case RowsForm::Table:
            return std::make_unique<TableWriter>(out);
        case RowsForm::JsonLine:
            return std::make_unique<JsonWriter>(out);
        case RowsForm::NdJson:
            return std::make_unique<NdJsonWriter>(out);
        case RowsForm::Csv:
            break;
    }
    return std::make_unique<CsvWriter>(out, delimiter, names);
}

}  // namespace quadmill::detail::cli
