#include "input/csv_rows.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "input/text.hpp"
#include "query/table/column_names.hpp"

namespace quadmill::detail::input {

namespace {

const char* words_of(Cells::Kind kind) {
    constexpr std::array words{"nothing", "an integer", "a number", "an integer", "text"};
    return words[static_cast<std::size_t>(kind)];
}

}  // namespace

CsvFault wrong_fields(std::uint64_t line, std::size_t fields, const std::vector<std::string>& names) {
    return {line, fmt::format("has {} field{}, and the first line {}{}", fields, fields == 1 ? "" : "s", names.size(),
                              query::hint_for(names, fields == 1 || names.size() == 1))};
}

void CsvHeader::field(std::optional<std::string_view> field) {
    lines_.pass(field.value_or(""));
    const auto name = without_blanks(field.value_or(""));
    names_.push_back(name.empty() ? fmt::format("column{}", names_.size() + 1) : std::string(name));
}

void CsvHeader::line_end() {
    lines_.pass_end();
    complete_ = true;
}

std::vector<std::string> CsvHeader::names() const {
    if (names_.empty()) throw CsvFault{1, "must have the names of the columns, and is empty"};
    return names_;
}

CsvRows::CsvRows(std::vector<std::string> names, const std::vector<std::size_t>& positions, std::vector<Cells> cells,
                 std::string null)
    : names_(std::move(names)), kept_(names_.size(), none), cells_(std::move(cells)), null_(std::move(null)) {
    for (std::size_t i = 0; i < positions.size(); ++i) kept_.at(positions[i]) = i;
}

void CsvRows::keep(std::optional<std::string_view> field) {
    auto& cells = cells_[kept_[field_]];
    if (!field || (!null_.empty() && *field == null_)) {
        cells.add_null();
    } else if (!cells.add(*field, line())) {
        refuse_field(*field, cells.seen());
    }
}

void CsvRows::refuse_field(std::string_view field, const Cells::Seen& seen) const {
    // A number's text may not be a number of the column: 01234, or 9007199254740993 among fractions.
    const bool of_double = seen.kind == Cells::Kind::Floats && !seen.is_given;
    throw CsvFault{line(), fmt::format("{} is not {}{}, as {} column {}{}", in_quotes(field), words_of(seen.kind),
                                       of_double ? " that a double has" : "",
                                       seen.is_given ? "--types says of" : "all earlier values of",
                                       in_quotes(names_[field_]), seen.is_given ? "" : " are")};
}

void CsvRows::check_fields(std::size_t fields) const {
    if (fields == names_.size() || (is_ragged_ && fields < names_.size() && fields > 0)) return;
    auto fault = wrong_fields(row_line_, fields, names_);
    if (is_ragged_ && fields > names_.size()) fault.what += "; --skip-bad skips such rows";
    throw fault;
}

void CsvRows::odd_line_end() {
    const bool is_blank = field_ == 0;
    if (is_blank && names_.size() == 1) {
        if (kept_[0] != none) cells_[0].add_null();
    } else if (is_blank) {
        if (!blank_) blank_ = line();
        lines_.pass_end();
        row_line_ = line();
        return;
    } else {
        if (blank_) throw CsvFault{*blank_, "is blank"};
        check_fields(field_);
        while (field_ < names_.size()) plain_field({});
    }
    lines_.pass_end();
    field_ = 0;
    ++rows_;
    row_line_ = line();
}

void CsvRows::restart(std::vector<Cells> cells) {
    cells_ = std::move(cells);
    rows_ = 0;
}

void CsvRows::drop_unfinished() {
    for (auto& cells : cells_) cells.shorten(rows_);
    field_ = 0;
}

}  // namespace quadmill::detail::input
