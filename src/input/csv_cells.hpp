// The values of a column of CSV while they are read, and their type.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/table.hpp"

namespace quadmill::detail::input {

// Without the blanks and tabs around it.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

// Numbers take the narrowest type that holds them all, or a 64-bit type for a stream, whose later values are unknown.
enum class Widths { Narrow, Wide };

class Cells {
  public:
    // In the order in which a column widens.
    enum class Kind { Nothing, Integers, Floats, Texts };

    // Takes all values, and widens the type if needed.
    Cells() = default;
    // Takes values of that kind; integers widen to floats.
    explicit Cells(Kind kind) : kind_(kind), is_fixed_(true) {}

    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] std::uint64_t rows() const { return rows_; }
    void add_null();
    // Adds a field that is not empty, or is in quotes; false if the kind does not take it.
    [[nodiscard]] bool add(std::string_view field, std::uint64_t line);
    struct Mark {
        std::uint64_t line = 0;  // 0: there is none
        std::string word{};
    };
    // The first integer beyond 2^53, which doubles may not represent; the first value that made the column text.
    [[nodiscard]] const Mark& long_integer() const { return long_integer_; }
    [[nodiscard]] const Mark& text() const { return text_; }

    // As texts, with the first value that is not a number from an earlier reading.
    void keep_mark(const Cells& before) { text_ = before.text_; }
    // Drops those after that many rows. Pre: at most one.
    void shorten(std::uint64_t rows);

    // The kind that takes all of them.
    [[nodiscard]] static Kind common_kind(std::span<const Cells> parts);
    // Whether they must be read again if the column becomes text: numbers do not keep their spelling.
    [[nodiscard]] bool forgets_texts() const;
    // Texts as the narrowest kind that takes them all. Pre: kind Texts. `lines`: the line of each.
    [[nodiscard]] Cells narrowed(std::span<const std::uint64_t> lines) const;
    // A column of all parts, which are consumed. Pre: there are values; if one part has Texts, all keep their spelling.
    // Text columns go to `texts`, to be added together.
    static void add_to(Table& table, std::vector<TextColumn>& texts, std::string name, std::span<Cells> parts,
                       Widths widths);

  private:
    [[nodiscard]] bool add_number(std::string_view field, std::uint64_t line);
    void widen(Kind kind);
    void count(bool valid);

    Kind kind_ = Kind::Nothing;
    bool is_fixed_ = false, forgot_ = false;
    bool has_blanks_ = false;  // fields that are texts among texts and NULL among numbers
    std::uint64_t rows_ = 0, values_ = 0;
    std::vector<std::int64_t> integers_{};  // one of the three has the rows
    std::vector<double> floats_{};
    std::vector<std::string> texts_{};
    std::vector<bool> valid_{};  // empty: all are
    Mark long_integer_{}, text_{};
};

}  // namespace quadmill::detail::input
