#include "input/line_keys.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "input/text.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

namespace {

using Compare = KeyRules::Compare;

// The C locale, whatever the program's is.
bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n';
}
bool is_decimal(char c) {
    return c >= '0' && c <= '9';
}
char upper(char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
bool is_alphanumeric(char c) {
    return is_decimal(c) || (upper(c) >= 'A' && upper(c) <= 'Z');
}

std::string_view without_blanks_before(std::string_view text) {
    std::size_t blanks = 0;
    while (blanks < text.size() && is_blank(text[blanks])) ++blanks;
    return text.substr(blanks);
}

std::string_view digits_at_front(std::string_view text) {
    std::size_t n = 0;
    while (n < text.size() && is_decimal(text[n])) ++n;
    return text.substr(0, n);
}

// The number at the beginning of a text, as digits: 0.DIGITS * 10^exponent, where the digits are those of two pieces,
// and neither the first nor the last one is 0.
struct Decimal {
    bool negative = false;
    std::string_view whole, fraction;
    std::int64_t exponent = 0;
    std::string_view after;  // the text after the number

    [[nodiscard]] bool is_zero() const { return whole.empty() && fraction.empty(); }
};

Decimal decimal_of(std::string_view text) {
    Decimal number;
    text = without_blanks_before(text);
    if (text.starts_with('-')) {
        number.negative = true;
        text.remove_prefix(1);
    }
    number.whole = digits_at_front(text);
    text.remove_prefix(number.whole.size());
    if (text.starts_with('.')) {
        number.fraction = digits_at_front(text.substr(1));
        text.remove_prefix(1 + number.fraction.size());
    }
    number.after = text;
    auto& [negative, whole, fraction, exponent, after] = number;
    whole.remove_prefix(std::min(whole.find_first_not_of('0'), whole.size()));
    exponent = static_cast<std::int64_t>(whole.size());
    if (whole.empty()) {
        const auto zeros = std::min(fraction.find_first_not_of('0'), fraction.size());
        fraction.remove_prefix(zeros);
        exponent = -static_cast<std::int64_t>(zeros);
    }
    while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
    if (fraction.empty()) {
        while (!whole.empty() && whole.back() == '0') whole.remove_suffix(1);
    }
    return number;
}

void turn(unsigned char* from, const unsigned char* to) {
    for (; from < to; ++from) *from = static_cast<unsigned char>(~*from);
}

template <class Number>
unsigned char* add_big_endian(Number number, unsigned char* to) {
    for (unsigned shift = 8 * sizeof number; shift > 0;) *to++ = static_cast<unsigned char>(number >> (shift -= 8));
    return to;
}

// A byte with the sign and a usual exponent, pairs of digits, each plus 1, then 0. Other exponents take eight bytes
// more. The bytes of a negative number are turned.
unsigned char* add_number(const Decimal& number, unsigned char* to) {
    constexpr unsigned char zero = 0x80, middle = 0xc0, below = 0x82, above = 0xfe;
    constexpr std::int64_t usual = 61;
    if (number.is_zero()) {
        *to++ = zero;
        return to;
    }
    auto* const begin = to;
    if (std::abs(number.exponent) <= usual) {
        *to++ = static_cast<unsigned char>(middle + number.exponent);
    } else {
        *to++ = number.exponent < 0 ? below : above;
        to = add_big_endian(static_cast<std::uint64_t>(number.exponent) ^ std::uint64_t{1} << 63U, to);
    }
    int tens = -1;
    for (const auto piece : {number.whole, number.fraction}) {
        for (const char c : piece) {
            if (tens < 0) {
                tens = 10 * (c - '0');
            } else {
                *to++ = static_cast<unsigned char>(1 + std::exchange(tens, -1) + c - '0');
            }
        }
    }
    if (tens >= 0) *to++ = static_cast<unsigned char>(1 + tens);
    *to++ = 0;
    if (number.negative) turn(begin, to);
    return to;
}

unsigned char* add_human(std::string_view text, unsigned char* to) {
    const auto number = decimal_of(text);
    constexpr std::string_view units = "KMGTPEZYRQ";
    int unit = 0;
    if (!number.is_zero() && !number.after.empty()) {
        const char letter = number.after[0] == 'k' ? 'K' : number.after[0];
        if (const auto index = units.find(letter); index != std::string_view::npos) unit = static_cast<int>(index) + 1;
    }
    constexpr int middle = 0x80;
    *to++ = static_cast<unsigned char>(middle + (number.negative ? -unit : unit));
    return add_number(number, to);
}

unsigned char* add_month(std::string_view text, unsigned char* to) {
    constexpr std::string_view months = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
    constexpr std::size_t letters = 3;
    text = without_blanks_before(text).substr(0, letters);
    std::size_t month = 0;
    for (std::size_t i = 0; i < months.size(); i += letters) {
        const auto equal = [](char name, char c) { return name == upper(c); };
        if (std::ranges::equal(months.substr(i, letters), text, equal)) month = i / letters + 1;
    }
    *to++ = static_cast<unsigned char>(month);
    return to;
}

// Nothing if it is not a plain number whose nearest value one division gives.
std::optional<long double> plain_number(std::string_view text) {
    constexpr std::size_t max_digits = 18;
    static const std::array<long double, max_digits + 1> powers = [] {
        std::array<long double, max_digits + 1> made{1};
        for (std::size_t i = 1; i < made.size(); ++i) made[i] = made[i - 1] * 10;
        return made;
    }();
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    std::uint64_t digits = 0;
    std::size_t n = 0, point = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '.' && point == 0 && i > 0) {
            point = i;
        } else if (is_decimal(text[i]) && ++n <= max_digits) {
            digits = 10 * digits + static_cast<std::uint64_t>(text[i] - '0');
        } else {
            return {};
        }
    }
    if (n == 0) return {};
    const auto number = static_cast<long double>(digits) / powers[point > 0 ? text.size() - point - 1 : 0];
    return negative ? -number : number;
}

// What is not a number, then NaNs, which are equal, then -inf to inf.
unsigned char* add_general(std::string_view text, std::string& copy, unsigned char* to) {
    enum Class : unsigned char { NotANumber, NaN, Negative, Zero, Positive };
    auto plain = plain_number(text);
    if (!plain) {
        copy = text;
        char* end = nullptr;
        plain = std::strtold(copy.c_str(), &end);
        if (end == copy.c_str()) {
            *to++ = NotANumber;
            return to;
        }
    }
    const auto number = *plain;
    if (std::isnan(number)) {
        *to++ = NaN;
        return to;
    }
    *to++ = number < 0 ? Negative : number > 0 ? Positive : Zero;
    if (number == 0) return to;
    auto* const begin = to;
    if (std::isinf(number)) {
        to = std::fill_n(to, 10, static_cast<unsigned char>(0xff));
    } else {
        int exponent = 0;
        const auto mantissa = std::frexp(std::fabs(number), &exponent);
        to = add_big_endian(static_cast<std::uint16_t>(exponent + 0x8000), to);
        to = add_big_endian(static_cast<std::uint64_t>(std::ldexp(mantissa, 64)), to);
    }
    if (number < 0) turn(begin, to);
    return to;
}

// The end is 0, which no other byte is then: 0 becomes 1 1, and 1 becomes 1 2.
unsigned char* add_ended_text(std::string_view text, unsigned char* to) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 1) *to++ = 1;
        *to++ = byte <= 1 ? static_cast<unsigned char>(byte + 1) : byte;
    }
    *to++ = 0;
    return to;
}

// As in GNU sort, d and i together are d: blanks count, also those that are not printable.
std::string_view compared_text(const KeyRules& rules, std::string_view text, std::string& copy) {
    if (!rules.fold && !rules.dictionary && !rules.printable) return text;
    copy.clear();
    for (const char c : text) {
        if (rules.dictionary && !is_alphanumeric(c) && !is_blank(c)) continue;
        if (rules.printable && !rules.dictionary && (c < ' ' || c > '~')) continue;
        copy += rules.fold ? upper(c) : c;
    }
    return copy;
}

// Reads a number of `spec`, at least `min`.
std::size_t take_number(std::string_view whole, std::string_view& spec, std::size_t min, const char* what) {
    const auto digits = digits_at_front(spec);
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc::result_out_of_range) number = LineKey::none - 1;
    if (digits.empty() || number < min)
        throw InvalidArgument(
            fmt::format("{} is not a key such as 2, 2nr, 2,3 or 2.4,2.6: the number of a {} is missing or less than {}",
                        in_quotes(whole), what, min));
    spec.remove_prefix(digits.size());
    return number;
}

std::string_view take_letters(std::string_view& spec) {
    const auto letters = spec.substr(0, spec.find(','));
    spec.remove_prefix(letters.size());
    return letters;
}

}  // namespace

void add_rules(KeyRules& rules, std::string_view letters, KeyEnd end) {
    const auto compares = [&](Compare compare) {
        if (rules.compare != Compare::Text && rules.compare != compare)
            throw InvalidArgument(
                fmt::format("the letters {} name two comparisons; take one of n, g, h and M", letters));
        rules.compare = compare;
    };
    for (const char letter : letters) {
        rules.any_letter = true;
        switch (letter) {
            case 'n':
                compares(Compare::Number);
                break;
            case 'g':
                compares(Compare::General);
                break;
            case 'h':
                compares(Compare::Human);
                break;
            case 'M':
                compares(Compare::Month);
                break;
            case 'r':
                rules.reverse = true;
                break;
            case 'f':
                rules.fold = true;
                break;
            case 'd':
                rules.dictionary = true;
                break;
            case 'i':
                rules.printable = true;
                break;
            case 'b':
                (end == KeyEnd::Begin ? rules.skip_begin : rules.skip_end) = true;
                break;
            default:
                throw InvalidArgument(
                    fmt::format("{} is not a letter of a key; they are n (numbers), g (general numbers), h (2K, 1G), M "
                                "(months), r (reverse), b (without blanks before), f (ignore case), d (letters and "
                                "digits), i (printable){}{}",
                                in_quotes(std::string(1, letter)), letter == 'V' || letter == 'R' ? "; " : "",
                                letter == 'V'   ? for_versions
                                : letter == 'R' ? for_random_order
                                                : ""));
        }
    }
}

void check_rules(const KeyRules& rules) {
    if (rules.compare != Compare::Text && (rules.dictionary || rules.printable))
        throw InvalidArgument("d and i compare text; they do not go with n, g, h and M");
}

LineKey parse_line_key(std::string_view spec) {
    const auto whole = spec;
    LineKey key;
    key.field = take_number(whole, spec, 1, "field") - 1;
    if (spec.starts_with('.')) {
        spec.remove_prefix(1);
        key.character = take_number(whole, spec, 1, "character") - 1;
    }
    add_rules(key.rules, take_letters(spec));
    if (spec.starts_with(',')) {
        spec.remove_prefix(1);
        key.end_field = take_number(whole, spec, 1, "field");
        if (spec.starts_with('.')) {
            spec.remove_prefix(1);
            key.end_character = take_number(whole, spec, 0, "character");
            if (key.end_character > 0) --key.end_field;
        }
        add_rules(key.rules, take_letters(spec), KeyEnd::End);
    }
    if (!spec.empty()) throw InvalidArgument(fmt::format("{} has more than a begin and an end", in_quotes(whole)));
    check_rules(key.rules);
    return key;
}

LineKey parse_column(std::string_view spec, const std::vector<std::string>& names) {
    LineKey key;
    const auto index_of = [&](std::string_view name) -> std::optional<std::size_t> {
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
        if (error == std::errc{} && end == name.data() + name.size() && index > 0) return index - 1;
        const auto found = std::ranges::find(names, name);
        if (found == names.end()) return {};
        return static_cast<std::size_t>(found - names.begin());
    };
    key.column = index_of(spec);
    if (const auto colon = spec.rfind(':'); !key.column && colon != std::string_view::npos) {
        key.column = index_of(spec.substr(0, colon));
        if (key.column) add_rules(key.rules, spec.substr(colon + 1));
    }
    if (!key.column) {
        std::string all;
        for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
        const bool is_number = digits_at_front(spec).size() == spec.substr(0, spec.find(':')).size();
        throw InvalidArgument(fmt::format("there is no column {}; {}", in_quotes(spec),
                                          is_number       ? "the first column is 1"
                                          : names.empty() ? "there are no lines"
                                                          : "the columns are " + all));
    }
    check_rules(key.rules);
    return key;
}

std::optional<std::size_t> csv_line_end(std::string_view text, char separator, char end) {
    const auto line_end = text.find(end);
    if (text.substr(0, line_end).find('"') == std::string_view::npos) {
        if (line_end == std::string_view::npos) return {};
        return line_end;
    }
    enum class In { Begin, Plain, Quotes, AfterQuotes } in = In::Begin;  // of a field
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in == In::Quotes) {
            if (c == '"') in = In::AfterQuotes;
        } else if (c == '"' && in != In::Plain) {
            in = In::Quotes;  // a second quote opens them again
        } else if (c == end) {
            return i;
        } else {
            in = c == separator ? In::Begin : In::Plain;
        }
    }
    return {};
}

namespace {

// The end of the field that begins at `at`: the index of its separator, or of the end of the line.
std::size_t csv_field_end(std::string_view line, std::size_t at, char separator) {
    if (at < line.size() && line[at] != '"') return std::min(line.find(separator, at), line.size());
    for (bool quoted = false; at < line.size(); ++at) {
        if (line[at] == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            return std::min(line.find(separator, at), line.size());
        }
    }
    return line.size();
}

std::string_view without_quotes(std::string_view field, std::string& copy) {
    if (!field.starts_with('"')) return field;
    copy.clear();
    std::size_t i = 1;
    for (; i < field.size(); ++i) {
        if (field[i] == '"' && (++i == field.size() || field[i] != '"')) break;
        copy += field[i];
    }
    return copy += field.substr(std::min(i, field.size()));
}

std::string_view without_return(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

}  // namespace

std::vector<std::string> csv_fields(std::string_view line, char separator) {
    line = without_return(line);
    std::vector<std::string> fields;
    std::string copy;
    for (std::size_t at = 0;; ++at) {
        const auto end = csv_field_end(line, at, separator);
        fields.emplace_back(without_quotes(line.substr(at, end - at), copy));
        at = end;
        if (at == line.size()) return fields;
    }
}

KeyMaker::KeyMaker(std::vector<LineKey> keys, const KeyRules& rules, LineFields fields)
    : keys_(std::move(keys)), fields_(fields) {
    if (keys_.empty()) keys_.emplace_back();
    for (auto& key : keys_) {
        if (!key.rules.any_letter) key.rules = rules;
    }
    const auto& first = keys_.front().rules;
    parts_ = keys_.size() == 1 && first.compare == Compare::Text && !first.reverse && !first.fold &&
             !first.dictionary && !first.printable && !fields_.quotes;
}

std::size_t KeyMaker::begin_of(const LineKey& key, std::string_view line) const {
    std::size_t at = 0;
    if (fields_.separator) {
        for (auto left = key.field; left > 0 && at < line.size(); --left)
            at = std::min(line.find(*fields_.separator, at), line.size() - 1) + 1;
    } else {
        for (auto left = key.field; left > 0 && at < line.size(); --left) {
            while (at < line.size() && is_blank(line[at])) ++at;
            while (at < line.size() && !is_blank(line[at])) ++at;
        }
    }
    while (key.rules.skip_begin && at < line.size() && is_blank(line[at])) ++at;
    return at + std::min(key.character, line.size() - at);
}

std::size_t KeyMaker::end_of(const LineKey& key, std::string_view line) const {
    if (key.end_field == LineKey::none) return line.size();
    std::size_t at = 0;
    for (auto left = key.end_field; left > 0 && at < line.size(); --left) {
        if (fields_.separator) {
            at = std::min(line.find(*fields_.separator, at), line.size());
            if (at < line.size() && (left > 1 || key.end_character > 0)) ++at;
        } else {
            while (at < line.size() && is_blank(line[at])) ++at;
            while (at < line.size() && !is_blank(line[at])) ++at;
        }
    }
    if (key.end_character == 0) return at;
    while (key.rules.skip_end && at < line.size() && is_blank(line[at])) ++at;
    return at + std::min(key.end_character, line.size() - at);
}

std::string_view KeyMaker::column(std::size_t index, std::string_view line) {
    line = without_return(line);
    const auto separator = fields_.separator.value_or(',');
    std::size_t at = 0;
    for (; index > 0; --index) {
        at = csv_field_end(line, at, separator) + 1;
        if (at > line.size()) return {};
    }
    return without_quotes(line.substr(at, csv_field_end(line, at, separator) - at), unquoted_);
}

std::string_view KeyMaker::part(const LineKey& key, std::string_view line) {
    if (key.column) {
        const auto found = column(*key.column, line);
        return key.rules.skip_begin ? without_blanks_before(found) : found;
    }
    const auto begin = begin_of(key, line);
    return line.substr(begin, std::max(end_of(key, line), begin) - begin);
}

unsigned char* KeyMaker::add(const KeyRules& rules, std::string_view text, unsigned char* to, bool is_last) {
    auto* const begin = to;
    switch (rules.compare) {
        case Compare::Number:
            to = add_number(decimal_of(text), to);
            break;
        case Compare::Human:
            to = add_human(compared_text(rules, text, text_), to);  // with f, 2e is 2E
            break;
        case Compare::Month:
            to = add_month(text, to);
            break;
        case Compare::General:
            to = add_general(text, text_, to);
            break;
        case Compare::Text:
            text = compared_text(rules, text, text_);
            if (is_last && !rules.reverse) return std::copy(text.begin(), text.end(), to);
            to = add_ended_text(text, to);
    }
    if (rules.reverse) turn(begin, to);
    return to;
}

std::string_view KeyMaker::operator()(std::string_view line) {
    if (parts_) return part(keys_.front(), line);
    const auto max = keys_.size() * (2 * line.size() + 32);  // of their bytes
    if (key_.size() < max) key_.resize(2 * max);
    auto* to = key_.data();
    for (const auto& key : keys_) to = add(key.rules, part(key, line), to, &key == &keys_.back());
    return {reinterpret_cast<const char*>(key_.data()), static_cast<std::size_t>(to - key_.data())};
}

}  // namespace quadmill::detail::input
