#include "input/csv_cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "input/text.hpp"
#include "query/table/order.hpp"

namespace quadmill::detail::input {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// The digits of a number, without its sign.
std::string_view digits_of(std::string_view word) {
    return word.starts_with('+') || word.starts_with('-') ? word.substr(1) : word;
}

bool has_leading_zero(std::string_view digits) {
    return digits.size() > 1 && digits[0] == '0' && is_digit(digits[1]);
}

// 01234, 12E12 and 1E05 are codes, such as article numbers. A program that writes numbers would have written 1234,
// 1.2e+13 and 1e5, and a code could not be printed as it was read.
bool is_code(std::string_view word) {
    const auto digits = digits_of(word);
    if (has_leading_zero(digits)) return true;
    const auto e = digits.find_first_of("eE");
    if (e == 0 || e + 1 >= digits.size() || e == std::string_view::npos) return false;
    const auto mantissa = digits.substr(0, e), exponent = digits.substr(e + 1);
    const bool whole = std::ranges::all_of(mantissa, is_digit) && std::ranges::all_of(exponent, is_digit);
    return whole && (mantissa.size() > 1 || has_leading_zero(exponent));
}

// The integer, if it has at most 15 digits and no other form: no sign +, no leading zero.
std::optional<std::int64_t> short_integer(std::string_view word) {
    const bool minus = word.starts_with('-');
    const auto digits = word.substr(minus ? 1 : 0);
    if (digits.empty() || digits.size() > 15 || (digits[0] == '0' && digits.size() > 1)) return {};
    std::int64_t value = 0;
    for (const char c : digits) {
        if (!is_digit(c)) return {};
        value = 10 * value + (c - '0');
    }
    return minus ? -value : value;
}

// The number, if it has at most 15 digits, perhaps with a point between them. It is their integer over a power of ten,
// which is rounded correctly because doubles have both.
std::optional<double> short_decimal(std::string_view word) {
    const bool minus = word.starts_with('-');
    const auto digits = word.substr(minus ? 1 : 0);
    const auto point = std::min(digits.find('.'), digits.size());
    if (point == 0 || digits.size() > (point < digits.size() ? 16U : 15U) || point + 1 == digits.size() ||
        has_leading_zero(digits))
        return {};
    std::int64_t value = 0;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i == point) continue;
        if (!is_digit(digits[i])) return {};
        value = 10 * value + (digits[i] - '0');
    }
    constexpr std::array<double, 16> powers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const auto size = static_cast<double>(value) / powers.at(point < digits.size() ? digits.size() - point - 1 : 0);
    return minus ? -size : size;
}

// The nearest double. Nothing for a number that would become infinity or 0, such as 1e999 and 1e-999.
std::optional<double> number_of(std::string_view word) {
    double value = 0;
    if (parse_number(word, value) != nullptr) return {};
    const auto mantissa = word.substr(0, word.find_first_of("eE"));
    if (value == 0 && mantissa.find_first_of("123456789") != std::string_view::npos) return {};
    return value;
}

template <class T>
bool fit(const std::vector<std::int64_t>& values) {
    using Limits = std::numeric_limits<T>;
    return std::ranges::all_of(values, [](std::int64_t v) { return v >= Limits::min() && v <= Limits::max(); });
}

bool fit_float(const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double v) {
        if (!std::isfinite(v)) return true;
        return std::abs(v) <= std::numeric_limits<float>::max() && static_cast<double>(static_cast<float>(v)) == v;
    });
}

template <class T>
void add_as(Table& table, std::string name, const auto& values, std::vector<bool> valid) {
    std::vector<T> column;
    column.reserve(values.size());
    for (const auto value : values) column.push_back(static_cast<T>(value));
    table.add(std::move(name), std::move(column), std::move(valid));
}

template <class T>
void append(std::vector<T>& all, std::vector<T>& part) {
    if (all.empty()) {
        all = std::move(part);
    } else {
        all.insert(all.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    part = {};
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
    const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

void Cells::count(bool valid) {
    if (!valid && valid_.empty()) valid_.assign(rows_, true);
    if (!valid || !valid_.empty()) valid_.push_back(valid);
    ++rows_;
    values_ += valid ? 1 : 0;
}

void Cells::add_null() {
    count(false);
    if (kind_ == Kind::Integers) integers_.push_back(0);
    if (kind_ == Kind::Floats) floats_.push_back(0);
    if (kind_ == Kind::Texts && !forgot_) texts_.add_empty(1);
}

bool Cells::add(std::string_view field, std::uint64_t line) {
    if (kind_ == Kind::Texts) {
        if (!forgot_) texts_.add(field);
        count(true);
        return true;
    }
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    const bool has_blanks = field.empty() || is_blank(field.front()) || is_blank(field.back());
    const auto word = has_blanks ? without_blanks(field) : field;
    if (word.empty()) {
        has_blanks_ = true;
        add_null();
        return true;
    }
    if (add_number(word, line)) return true;
    if (is_fixed_) return false;
    text_ = {line, std::string(word)};
    forgot_ = has_blanks_ || values_ > 0;
    widen(Kind::Texts);
    return add(field, line);
}

bool Cells::add_number(std::string_view word, std::uint64_t line) {
    if (kind_ == Kind::Nothing || kind_ == Kind::Integers) {
        if (const auto integer = short_integer(word)) {
            widen(Kind::Integers);
            integers_.push_back(*integer);
            count(true);
            return true;
        }
    }
    if (kind_ == Kind::Floats || word.find('.') != std::string_view::npos) {
        if (const auto value = short_decimal(word)) {
            widen(Kind::Floats);
            floats_.push_back(*value);
            count(true);
            return true;
        }
    }
    if (is_code(word)) return false;
    std::int64_t integer = 0;
    const bool is_integer = parse_number(word, integer) == nullptr;
    if (is_integer && (integer > query::exact_doubles || integer < -query::exact_doubles)) {
        if (is_fixed_ && kind_ == Kind::Floats) return false;
        if (long_integer_.line == 0) long_integer_ = {line, std::string(word)};
    }
    if (is_integer && kind_ != Kind::Floats) {
        widen(Kind::Integers);
        integers_.push_back(integer);
        count(true);
        return true;
    }
    // An integer that is too long for a number is a code, too.
    const bool too_long = !is_integer && std::ranges::all_of(digits_of(word), is_digit);
    if (too_long) return false;
    const auto value = number_of(word);
    if (!value) return false;
    widen(Kind::Floats);
    floats_.push_back(*value);
    count(true);
    return true;
}

void Cells::shorten(std::uint64_t rows) {
    if (rows_ <= rows) return;
    rows_ = rows;
    if (valid_.empty() || valid_.back()) --values_;
    const auto drop = [&](auto& list) {
        if (list.size() > rows) list.resize(rows);
    };
    drop(integers_);
    drop(floats_);
    drop(valid_);
    if (texts_.rows().size() > rows) texts_.cut(rows);
}

void Cells::widen(Kind kind) {
    if (kind_ == kind) return;
    kind_ = kind;
    if (kind == Kind::Integers) integers_.resize(rows_);
    if (kind == Kind::Floats) {
        floats_.assign(integers_.begin(), integers_.end());  // exact, except for a long integer
        floats_.resize(rows_);
        integers_ = {};
    }
    if (kind == Kind::Texts) {
        integers_ = {};
        floats_ = {};
        if (!forgot_) texts_.add_empty(rows_);
    }
}

Cells::Kind Cells::common_kind(std::span<const Cells> parts) {
    auto kind = Kind::Nothing;
    bool blanks = false;
    for (const auto& part : parts) {
        kind = std::max(kind, part.kind_);
        blanks |= part.has_blanks_;
    }
    return kind == Kind::Nothing && blanks ? Kind::Texts : kind;
}

bool Cells::forgets_texts() const {
    return forgot_ || has_blanks_ || (kind_ != Kind::Texts && values_ > 0);
}

Cells Cells::narrowed(std::span<const std::uint64_t> lines) const {
    Cells found;
    for (std::size_t i = 0; i < texts_.rows().size(); ++i) {
        if (valid_.empty() || valid_[i]) {
            static_cast<void>(found.add(texts_.text(i), lines[i]));
        } else {
            found.add_null();
        }
    }
    if (common_kind({&found, 1}) != Kind::Texts) return found;
    auto texts = *this;
    texts.text_ = found.text_;
    return texts;
}

void Cells::add_to(Table& table, std::vector<query::NumberedTexts>& texts, std::string name, std::span<Cells> parts,
                   Widths widths) {
    const auto kind = common_kind(parts);
    std::uint64_t rows = 0, values = 0;
    for (const auto& part : parts) {
        rows += part.rows_;
        values += part.values_;
    }
    Cells all;
    std::vector<query::TextNumbers> numbers;
    std::vector<bool> valid;
    valid.reserve(values < rows ? rows : 0);
    for (auto& part : parts) {
        if (values < rows && part.valid_.empty()) {
            valid.insert(valid.end(), part.rows_, true);
        } else if (values < rows) {
            valid.insert(valid.end(), part.valid_.begin(), part.valid_.end());
        }
        part.widen(kind);
        append(all.integers_, part.integers_);
        append(all.floats_, part.floats_);
        if (kind == Kind::Texts) numbers.push_back(std::exchange(part.texts_, {}));
    }
    if (kind == Kind::Texts) {
        texts.push_back({std::move(name), std::move(numbers), std::move(valid)});
    } else if (kind == Kind::Floats) {
        if (widths == Widths::Wide || !fit_float(all.floats_)) {
            table.add(std::move(name), std::move(all.floats_), std::move(valid));
        } else {
            add_as<float>(table, std::move(name), all.floats_, std::move(valid));
        }
    } else if (widths == Widths::Narrow && fit<std::int32_t>(all.integers_)) {
        add_as<std::int32_t>(table, std::move(name), all.integers_, std::move(valid));
    } else if (widths == Widths::Narrow && fit<std::uint32_t>(all.integers_)) {
        add_as<std::uint32_t>(table, std::move(name), all.integers_, std::move(valid));
    } else {
        table.add(std::move(name), std::move(all.integers_), std::move(valid));
    }
}

}  // namespace quadmill::detail::input
