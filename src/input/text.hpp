// Numbers as text, one per line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::input {

// The error in a word that is not a value; null if it is one.
using Fault = const char*;
template <class Record>
using ParseLine = Fault (*)(std::string_view, Record&);

inline constexpr char not_a_number[] = "is not a number";  // NOLINT(*-avoid-c-arrays): a Fault, known by its address
// For each type of key. Pre: the word has no blanks around it. Numbers that are too small for the type become 0.
template <class Key>
[[nodiscard]] Fault parse_number(std::string_view word, Key& key);
// Like parse_number, but an integer that the type would round is an error. Numbers with a point are rounded.
[[nodiscard]] Fault parse_exact(std::string_view word, double& number);
[[nodiscard]] Fault parse_exact(std::string_view word, float& number);
// A dotted quad, or the address as an integer.
[[nodiscard]] Fault parse_ipv4(std::string_view word, std::uint32_t& address);

// Parses a record of a type that is known at run time.
struct Parser {
    Fault (*parse)(std::string_view word, void* record);
    std::size_t bytes;     // of a record
    bool is_text = false;  // whether it is a std::string_view of the word
};
template <class Record, ParseLine<Record> parse>
inline constexpr Parser parser_of{
    [](std::string_view word, void* record) { return parse(word, *static_cast<Record*>(record)); }, sizeof(Record)};
inline constexpr Parser text_parser{[](std::string_view word, void* record) -> Fault {
                                        *static_cast<std::string_view*>(record) = word;
                                        return nullptr;
                                    },
                                    sizeof(std::string_view), true};

// Whether a double may round integers.
enum class Integers { Rounded, Exact };
[[nodiscard]] Parser number_parser(KeyType type, Integers integers = Integers::Rounded);

template <class Key>
struct Pair {
    Key x;
    double y;
};
// Parses a Pair: two numbers separated by a comma, a tab or blanks. y must be finite or NaN, and not an integer that a
// double would round. `integers` is about x.
[[nodiscard]] Parser pair_parser(KeyType type, Integers integers);

// "data.csv, line 3: ", for messages.
[[nodiscard]] std::string line_of(const std::string& path, std::uint64_t line);
// The word in quotes, shortened if it is long; control characters are written as \x1b.
[[nodiscard]] std::string in_quotes(std::string_view word);
// Number of bytes of the UTF-8 character at the beginning of the text; 0 if there is none, or it is a control
// character.
[[nodiscard]] std::size_t printable_length(std::string_view text);

// Input that cannot be read further. Everything before was taken.
class BadInput : public Error {
  public:
    static constexpr int status = 3;  // exit status of a program that has answered about what came before
    using Error::Error;
    // For a word with that fault.
    BadInput(const std::string& what, Fault why) : Error(what), why_(why) {}
    [[nodiscard]] bool is_not_a_number() const { return why_ == not_a_number; }

  private:
    Fault why_ = nullptr;
};

// Counts lines, which may arrive in pieces.
class Lines {
  public:
    // `begin` is the byte of the file at which the lines begin.
    explicit Lines(std::string path, std::uint64_t begin = 0) : path_(std::move(path)), begin_(begin) {}
    // Removes a line from the text and returns it without the blanks around it. Pre: there is text.
    [[nodiscard]] std::string_view next(std::string_view& text);
    // The number, from 1, of the line that next() returned last, counted since `begin`.
    [[nodiscard]] std::uint64_t number() const { return number_; }
    // Puts the last line back.
    void undo() { --number_; }
    [[nodiscard]] bool begin_the_file() const { return begin_ == 0; }
    // For messages: the line number in the file, the word and its error.
    [[nodiscard]] std::string about(std::uint64_t line, std::string_view word, Fault why) const;

  private:
    std::string path_;
    std::uint64_t begin_, number_ = 0;
};

// The shortest text that reads back as the same value, without an exponent from 1e-5 to 1e15, so that `sort -n` accepts
// it. A NaN has no sign.
template <class Key>
[[nodiscard]] std::string format_number(Key key);
// Formats a key of that type in memory.
[[nodiscard]] std::string format_number(KeyType type, const void* key);
// One number per line.
[[nodiscard]] std::string format_lines(const ConstKeys& keys);

}  // namespace quadmill::detail::input
