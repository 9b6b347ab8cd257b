// The values of a CSV column while it is read, and their type.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/table.hpp"
#include "query/table/text_numbers.hpp"

namespace quadmill::detail::input {

// Without blanks and tabs at its ends.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

// Narrow: the narrowest type that holds all values. Wide: a 64-bit type, for a stream, whose later values are unknown.
enum class Widths { Narrow, Wide };

struct ShortNumber;

class Cells {
  public:
    // A column widens in this order, except that no float becomes a wide integer. Those are beyond 64 bits.
    enum class Kind { Nothing, Integers, Floats, WideIntegers, Texts };

    struct Mark {
        std::uint64_t line = 0;  // 0 if there is none
        std::string word{};
    };
    // What is known of the values of a column, or of a part of it.
    struct Seen {
        Kind kind = Kind::Nothing;   // the narrowest one for each value alone
        bool is_given = false;       // by --types
        bool has_blanks = false;     // blank fields, which are texts in a column of text and NULL in one of numbers
        bool has_fractions = false;  // numbers with a point, nan or inf
        std::uint64_t values = 0, numbers = 0;
        // The first value that is text or a wide integer; the first integer that a double would round; the first whole
        // number with an exponent.
        Mark text{}, rounded{}, exponent{};

        // Adds those of a further part, which comes after that many lines.
        void add(const Seen& part, std::uint64_t lines);
        // The kind of the column: text if numbers could not be printed as they were written.
        [[nodiscard]] Kind column() const;
        // The reason that the column is text or has wide integers: "line 3 has 'x'". Empty if there is none.
        [[nodiscard]] std::string why() const;
        [[nodiscard]] bool mostly_numbers() const { return 2 * numbers > values; }
    };

    // Takes all values. The type widens if needed.
    Cells() = default;
    // What becomes of texts: they are numbered, or kept as they are.
    enum class Texts { Numbered, Printed };
    // Takes only values of that kind, unless it is Nothing. Integers widen to floats.
    explicit Cells(Kind kind, Texts texts = Texts::Numbered)
        : is_fixed_(kind != Kind::Nothing), is_printed_(texts == Texts::Printed) {
        seen_.kind = kind;
        seen_.has_fractions = kind == Kind::Floats;
    }

    // Starts the column with this kind instead of the narrowest one. Pre: the column has no values.
    void begin_as(Kind kind) { widen(kind); }
    // Makes space for that many numbers.
    void expect(std::size_t rows) { expected_ = rows; }
    // Makes integers narrow if all of them are, and texts those of `texts`. Pre: all values are there.
    void pack(query::SharedTexts& texts);

    [[nodiscard]] const Seen& seen() const { return seen_; }
    [[nodiscard]] std::uint64_t rows() const { return rows_; }
    void add_null();
    // Adds a field that is not empty or is in quotes. False if it does not fit the kind.
    [[nodiscard]] bool add(std::string_view field, std::uint64_t line);
    [[nodiscard]] bool is_printed() const { return is_printed_; }
    // The kind is that of --types: integers do not widen, and floats may be rounded.
    void be_given() { seen_.is_given = true; }
    // For cells that are read again as texts: keeps what was known.
    void keep(const Seen& before);
    // Drops all values; what is known of them stays.
    void drop_values();
    // Drops rows beyond that number. Pre: at most one.
    void shorten(std::uint64_t rows);

    // Whether the cells must be read again if the column becomes text: numbers do not keep their spelling.
    [[nodiscard]] bool forgets_texts() const;
    // Texts as the narrowest kind that fits them all. Pre: the kind is Texts. `lines` has the line of each.
    [[nodiscard]] Cells narrowed(std::span<const std::uint64_t> lines) const;
    // What the columns of text need besides the table.
    struct TextParts {
        std::vector<query::NumberedTexts> numbered{};  // so that they can be added together
        std::vector<query::TextMemory> printed{};      // memory of printed texts
    };
    // Makes a column of all parts and consumes them. Pre: there are values; if `kind` is Texts, all keep their
    // spelling.
    static void add_to(Table& table, TextParts& texts, std::string name, std::span<Cells> parts, Kind kind,
                       Widths widths);

  private:
    [[nodiscard]] bool add_short(const ShortNumber& number);
    [[nodiscard]] bool add_number(std::string_view field, std::uint64_t line);
    bool add_integer(std::int64_t value);
    bool add_wide(query::Integer value);
    void put_text(std::string_view text) { is_printed_ ? printed_.add(text) : texts_.add(text); }
    void put_wide(query::Integer value) { put_text(is_printed_ ? query::text_of(value) : query::ordered_text(value)); }
    void put_empty(std::size_t rows) { is_printed_ ? printed_.add_empty(rows) : texts_.add_empty(rows); }
    bool add_float(double value);
    void widen(Kind kind);
    void count(bool valid) {
        if (!valid && valid_.empty()) valid_.assign(rows_, true);
        if (!valid || !valid_.empty()) valid_.push_back(valid);
        ++rows_;
        seen_.values += valid ? 1 : 0;
    }
    template <class T>
    [[nodiscard]] static std::vector<T> all_of(std::span<Cells> parts, std::uint64_t rows);

    Seen seen_{};
    bool is_fixed_ = false, is_printed_ = false, forgot_ = false;
    std::uint64_t rows_ = 0;
    std::size_t expected_ = 0;
    std::vector<std::int64_t> integers_{};  // one of these vectors has the rows
    std::vector<std::int32_t> narrow_{};
    std::vector<double> floats_{};
    query::TextNumbers texts_{};
    query::PrintedTexts printed_{};
    std::vector<bool> valid_{};  // empty: all are valid
};

}  // namespace quadmill::detail::input
