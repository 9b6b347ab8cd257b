#include "input/csv_cells.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "cpu/trim.hpp"
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

}  // namespace

// A number with at most 15 digits, perhaps with a point between them, and no other form: no sign +, no leading zero.
struct ShortNumber {
    std::int64_t digits = 0;
    std::size_t decimals = 0;
    bool is_good = false, has_point = false, is_minus = false;

    explicit ShortNumber(std::string_view word) {
        const char *at = word.data(), *const end = at + word.size();
        is_minus = at != end && *at == '-';
        if (is_minus) ++at;
        const auto* const first = at;
        const char* point = end;
        for (; at != end; ++at) {
            const auto digit = static_cast<unsigned>(*at) - '0';
            if (digit <= 9) {
                digits = 10 * digits + digit;
            } else if (*at == '.' && point == end) {
                point = at;
            } else {
                return;
            }
            if (at - first > 15) return;
        }
        has_point = point != end;
        decimals = has_point ? static_cast<std::size_t>(end - point) - 1 : 0;
        const bool has_zero = point - first > 1 && *first == '0';
        is_good = point != first && !has_zero && (has_point ? decimals > 0 : end - first <= 15);
    }
    [[nodiscard]] std::int64_t integer() const { return is_minus ? -digits : digits; }
    // Rounded correctly, because doubles have both the digits and the power of ten.
    [[nodiscard]] double value() const {
        constexpr std::array<double, 16> powers{1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
        const auto size = static_cast<double>(digits) / powers[decimals];
        return is_minus ? -size : size;
    }
};

namespace {

// The nearest double. Nothing for a number that would become infinity or 0, such as 1e999 and 1e-999.
std::optional<double> number_of(std::string_view word) {
    double value = 0;
    if (parse_number(word, value) != nullptr) return {};
    const auto mantissa = word.substr(0, word.find_first_of("eE"));
    if (value == 0 && mantissa.find_first_of("123456789") != std::string_view::npos) return {};
    return value;
}

// Writes the digits before the exponent, without zeros before and after them, and returns their number.
std::size_t put_digits(std::string_view word, char* to) {
    std::size_t n = 0, end = 0;
    for (const char c : word) {
        if (c == 'e' || c == 'E') break;
        if (!is_digit(c) || (n == 0 && c == '0')) continue;
        to[n++] = c;
        if (c != '0') end = n;
    }
    return end;
}

// Whether the double is printed with the digits of the word: the fewest that tell it from others, or as many as the
// word has.
bool comes_back(std::string_view word, double value) {
    constexpr std::size_t always = 15, most = 800;  // digits: of any decimal number; of any double
    if (word.size() <= always || !std::isfinite(value)) return true;
    if (word.size() > most) return false;
    std::array<char, most> digits, found;
    std::array<char, most + 16> shown;
    const auto n = put_digits(word, digits.data());
    const auto same = [&](auto... precision) {
        const auto* const end =
            std::to_chars(shown.data(), shown.data() + shown.size(), value, std::chars_format::scientific, precision...)
                .ptr;
        const auto m = put_digits({shown.data(), static_cast<std::size_t>(end - shown.data())}, found.data());
        return std::string_view(digits.data(), n) == std::string_view(found.data(), m);
    };
    return n <= always || same() || same(static_cast<int>(n) - 1);
}

// A number of more than 15 digits, which may be no value of a column of numbers.
bool is_long_number(std::string_view field) {
    const auto digits = digits_of(field);
    return digits.size() > 15 && digits.find_first_not_of("0123456789.") == std::string_view::npos &&
           !has_leading_zero(digits);
}

// Also gives the memory back, which `= {}` would keep.
template <class T>
void release(std::vector<T>& values) {
    values = std::vector<T>();
}

// While the parts of a column are copied, freed memory returns to the system each time after this many rows.
constexpr std::uint64_t trimmed_rows = std::uint64_t{1} << 19U;

bool fit_float(const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double v) {
        if (!std::isfinite(v)) return true;
        return std::abs(v) <= std::numeric_limits<float>::max() && static_cast<double>(static_cast<float>(v)) == v;
    });
}

}  // namespace

std::string_view without_blanks(std::string_view text) {
    const auto begin = std::min(text.find_first_not_of(" \t"), text.size());
    return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

void Cells::add_null() {
    count(false);
    if (seen_.kind == Kind::Integers) integers_.push_back(0);
    if (seen_.kind == Kind::Floats) floats_.push_back(0);
    if (seen_.kind >= Kind::WideIntegers && !forgot_) put_empty(1);
}

bool Cells::add_integer(std::int64_t value) {
    if (seen_.kind == Kind::WideIntegers) return add_wide(value);
    widen(Kind::Integers);
    integers_.push_back(value);
    count(true);
    return true;
}

bool Cells::add_wide(query::Integer value) {
    widen(Kind::WideIntegers);
    put_wide(value);
    count(true);
    return true;
}

bool Cells::add_float(double value) {
    if ((seen_.is_given && seen_.kind == Kind::Integers) || seen_.kind == Kind::WideIntegers) return false;
    widen(Kind::Floats);
    floats_.push_back(value);
    count(true);
    return true;
}

bool Cells::add(std::string_view field, std::uint64_t line) {
    if (seen_.kind == Kind::Texts) {
        if (ShortNumber(field).is_good || is_long_number(field)) ++seen_.numbers;
        if (!forgot_) put_text(field);
        count(true);
        return true;
    }
    if (const ShortNumber number(field); number.is_good && add_short(number)) return true;
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    const bool has_blanks = field.empty() || is_blank(field.front()) || is_blank(field.back());
    const auto word = has_blanks ? without_blanks(field) : field;
    if (word.empty()) {
        seen_.has_blanks = true;
        add_null();
        return true;
    }
    if (add_number(word, line)) return true;
    if (is_fixed_) return false;
    // A fraction does not take the mark of the wide integer that it meets.
    double value = 0;
    if (seen_.text.line == 0 || is_code(word) || parse_number(word, value) != nullptr)
        seen_.text = {line, std::string(word)};
    forgot_ = seen_.has_blanks || seen_.values > 0;
    seen_.numbers = seen_.values;
    widen(Kind::Texts);
    return add(field, line);
}

bool Cells::add_short(const ShortNumber& number) {
    seen_.has_fractions |= number.has_point;
    return number.has_point || seen_.kind == Kind::Floats ? add_float(number.value()) : add_integer(number.integer());
}

bool Cells::add_number(std::string_view word, std::uint64_t line) {
    if (const ShortNumber number(word); number.is_good) return add_short(number);  // blanks are around it
    if (is_code(word)) return false;
    const auto mark = [&](Mark& first) {
        if (first.line == 0) first = {line, std::string(word)};
    };
    const bool is_float = seen_.kind == Kind::Floats, may_round = is_float && seen_.is_given;
    if (std::int64_t integer = 0; parse_number(word, integer) == nullptr) {
        const auto value = static_cast<double>(integer);
        if (!query::is_exact_double(query::Integer{integer})) {
            if (is_float && is_fixed_ && !may_round) return false;
            mark(seen_.rounded);
        }
        return is_float ? add_float(value) : add_integer(integer);
    }
    const bool digits_only = std::ranges::all_of(digits_of(word), is_digit);
    if (digits_only && !may_round) {
        const auto wide = query::integer_of(word);
        if (!wide || is_float || (is_fixed_ && seen_.kind != Kind::WideIntegers)) return false;
        mark(seen_.text);
        return add_wide(*wide);
    }
    const auto value = number_of(word);
    if (!value || (!may_round && !comes_back(word, *value))) return false;
    const bool whole = std::isfinite(*value) && word.find('.') == std::string_view::npos;
    if (whole && is_fixed_ && !is_float) return false;
    if (whole) mark(seen_.exponent);
    seen_.has_fractions |= !whole;
    return add_float(*value);
}

void Cells::keep(const Seen& before) {
    const auto values = seen_.values;  // with blank fields
    seen_ = {.kind = Kind::Nothing};
    seen_.add(before, 0);
    seen_.kind = Kind::Texts;
    seen_.values = values;
}

void Cells::drop_values() {
    release(integers_);
    release(floats_);
    texts_ = {};
    printed_ = {};
    valid_ = std::vector<bool>();
}

void Cells::shorten(std::uint64_t rows) {
    if (rows_ <= rows) return;
    rows_ = rows;
    if (valid_.empty() || valid_.back()) --seen_.values;
    const auto drop = [&](auto& list) {
        if (list.size() > rows) list.resize(rows);
    };
    drop(integers_);
    drop(floats_);
    drop(valid_);
    if (texts_.rows().size() > rows) texts_.cut(rows);
    if (printed_.rows().size() > rows) printed_.cut(rows);
}

void Cells::widen(Kind kind) {
    if (seen_.kind == kind) return;
    seen_.kind = kind;
    if (kind == Kind::Integers) {
        integers_.reserve(expected_);
        integers_.resize(rows_);
    }
    if (kind == Kind::Floats) {
        floats_.reserve(std::max<std::size_t>(expected_, rows_));
        integers_.insert(integers_.end(), narrow_.begin(), narrow_.end());
        release(narrow_);
        floats_.assign(integers_.begin(), integers_.end());  // exact, except for a long integer
        floats_.resize(rows_);
        release(integers_);
    }
    if (kind >= Kind::WideIntegers) {
        integers_.insert(integers_.end(), narrow_.begin(), narrow_.end());
        texts_ = {};
        printed_ = {};
        is_printed_ ? printed_.expect(expected_) : texts_.expect(expected_);
        if (integers_.empty() && !forgot_) put_empty(rows_);
        for (std::size_t i = 0; i < integers_.size() && kind == Kind::WideIntegers; ++i)
            valid_.empty() || valid_[i] ? put_wide(integers_[i]) : put_empty(1);
        release(integers_);
        release(narrow_);
        release(floats_);
    }
}

void Cells::pack(query::SharedTexts& texts) {
    texts.take(texts_);
    constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    const auto [min, max] = std::minmax_element(integers_.begin(), integers_.end());
    if (integers_.empty() || *min < least || *max > most) return;
    narrow_.reserve(integers_.size());
    for (const auto value : integers_) narrow_.push_back(static_cast<std::int32_t>(value));
    release(integers_);
}

void Cells::Seen::add(const Seen& part, std::uint64_t lines) {
    kind = std::max(kind, part.kind);
    is_given |= part.is_given;
    has_blanks |= part.has_blanks;
    has_fractions |= part.has_fractions;
    values += part.values;
    numbers += part.kind == Kind::Texts ? part.numbers : part.values;
    const auto take = [&](Mark& mark, const Mark& from) {
        if (mark.line == 0 && from.line != 0) mark = {lines + from.line, from.word};
    };
    take(text, part.text);
    take(rounded, part.rounded);
    take(exponent, part.exponent);
}

Cells::Kind Cells::Seen::column() const {
    if (kind == Kind::Nothing && has_blanks) return Kind::Texts;
    const bool has_exponents = exponent.line != 0, has_floats = has_fractions || has_exponents;
    if (kind == Kind::WideIntegers && has_floats) return Kind::Texts;
    const bool is_odd = rounded.line != 0 || (has_exponents && !has_fractions);
    return kind == Kind::Floats && is_odd && !is_given ? Kind::Texts : kind;
}

std::string Cells::Seen::why() const {
    const auto found = column();
    const auto& [line, word] = text.line != 0 ? text : rounded.line != 0 && has_fractions ? rounded : exponent;
    if (found < Kind::WideIntegers || line == 0) return {};
    double value = 0;
    const bool is_wide = std::ranges::all_of(digits_of(word), is_digit);
    const auto* reason = ", which a double would round";
    if (found != Kind::Texts || is_code(word) || (!is_wide && parse_number(word, value) != nullptr))
        reason = "";
    else if (is_wide && !query::integer_of(word))
        reason = ", which is beyond 128 bits";
    else if (&word == &exponent.word)
        reason = ", and no number has a point";
    return "line " + std::to_string(line) + " has " + in_quotes(word) + reason;
}

bool Cells::forgets_texts() const {
    return forgot_ || seen_.has_blanks || (seen_.kind != Kind::Texts && seen_.values > 0);
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
    if (found.seen_.column() != Kind::Texts) return found;
    auto texts = *this;
    texts.keep(found.seen_);
    return texts;
}

// Consumes each part as soon as it is copied.
template <class T>
std::vector<T> Cells::all_of(std::span<Cells> parts, std::uint64_t rows) {
    std::vector<T> all;
    all.reserve(rows);
    std::uint64_t next = trimmed_rows;
    for (auto& part : parts) {
        if (all.size() >= next) {
            cpu::trim_memory();
            next += trimmed_rows;
        }
        const auto take = [&](auto& values) {
            for (const auto value : values) all.push_back(static_cast<T>(value));
            release(values);
        };
        take(part.integers_);
        take(part.narrow_);
        take(part.floats_);
        take(part.printed_.rows());
    }
    return all;
}

void Cells::add_to(Table& table, TextParts& texts, std::string name, std::span<Cells> parts, Kind kind, Widths widths) {
    std::uint64_t rows = 0, values = 0;
    for (const auto& part : parts) {
        rows += part.rows_;
        values += part.seen_.values;
    }
    std::vector<query::TextNumbers> numbers;
    std::vector<bool> valid;
    valid.reserve(values < rows ? rows : 0);
    auto min = std::numeric_limits<std::int64_t>::max(), max = std::numeric_limits<std::int64_t>::min();
    bool floats_fit = true;
    const auto widest = [&](const auto& list) {
        if (list.empty()) return;
        const auto [least, most] = std::minmax_element(list.begin(), list.end());
        min = std::min<std::int64_t>(min, *least);
        max = std::max<std::int64_t>(max, *most);
    };
    const bool is_text = kind >= Kind::WideIntegers, is_printed = is_text && parts.front().is_printed_;
    for (auto& part : parts) {
        if (values < rows && part.valid_.empty()) {
            valid.insert(valid.end(), part.rows_, true);
        } else if (values < rows) {
            valid.insert(valid.end(), part.valid_.begin(), part.valid_.end());
        }
        part.widen(kind);
        widest(part.integers_);
        widest(part.narrow_);
        floats_fit = floats_fit && fit_float(part.floats_);
        if (is_printed) texts.printed.push_back(part.printed_.memory());
        if (is_text && !is_printed) numbers.push_back(std::exchange(part.texts_, {}));
    }
    using Narrow = std::numeric_limits<std::int32_t>;
    if (is_text && !is_printed) {
        texts.numbered.push_back({std::move(name), std::move(numbers), std::move(valid)});
    } else if (kind == Kind::Floats) {
        if (widths == Widths::Wide || !floats_fit) {
            table.add(std::move(name), all_of<double>(parts, rows), std::move(valid));
        } else {
            table.add(std::move(name), all_of<float>(parts, rows), std::move(valid));
        }
    } else if (!is_printed && widths == Widths::Narrow && min >= Narrow::min() && max <= Narrow::max()) {
        table.add(std::move(name), all_of<std::int32_t>(parts, rows), std::move(valid));
    } else if (!is_printed && widths == Widths::Narrow && min >= 0 &&
               max <= std::numeric_limits<std::uint32_t>::max()) {
        table.add(std::move(name), all_of<std::uint32_t>(parts, rows), std::move(valid));
    } else {
        table.add(std::move(name), all_of<std::int64_t>(parts, rows), std::move(valid));
    }
}

}  // namespace quadmill::detail::input
