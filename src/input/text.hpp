// Numbers as text, one a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "quadmill/error.hpp"
#include "quadmill/sort.hpp"

namespace quadmill::detail::input {

// What is wrong with a word that is no value; null when it is one.
using Fault = const char*;
template <class Record>
using ParseLine = Fault (*)(std::string_view, Record&);

// For each type of key; the word has no blanks around it. What is nearer to 0 than any number of the type is 0.
template <class Key>
[[nodiscard]] Fault parse_number(std::string_view word, Key& key);
// The same for numbers with a point, but an integer that the type would round is a fault.
[[nodiscard]] Fault parse_exact(std::string_view word, double& number);
[[nodiscard]] Fault parse_exact(std::string_view word, float& number);
// A dotted quad, or the address as one integer.
[[nodiscard]] Fault parse_ipv4(std::string_view word, std::uint32_t& address);

template <class Key>
struct Pair {
    Key x;
    double y;
};
// Two numbers with a comma, a tab or blanks between them; y is finite or a NaN, and no integer that a double rounds.
template <class Key, ParseLine<Key> parse_x = parse_number<Key>>
[[nodiscard]] Fault parse_pair(std::string_view line, Pair<Key>& pair);

// "data.csv, line 3: ", for messages.
[[nodiscard]] std::string line_of(const std::string& path, std::uint64_t line);
// The word in quotes, cut when it is long; what is not printable is written as \x1b, also because a terminal obeys it.
[[nodiscard]] std::string in_quotes(std::string_view word);
// Bytes of the UTF-8 character that the text begins with; 0 when it begins with none, or a control character.
[[nodiscard]] std::size_t printable_length(std::string_view text);

// An input that cannot be read on; what came before has been taken.
class BadInput : public Error {
  public:
    static constexpr int status = 3;  // of a program that has answered about what came before
    using Error::Error;
};

// Lines that may come in pieces, counted.
class Lines {
  public:
    // `begin`: the byte of the file that they begin at.
    explicit Lines(std::string path, std::uint64_t begin = 0) : path_(std::move(path)), begin_(begin) {}
    // Takes a line off the text and returns what stands on it, without the blanks around it. Pre: there is text.
    [[nodiscard]] std::string_view next(std::string_view& text);
    // The number of the line that next() returned last, from 1, among those since `begin`.
    [[nodiscard]] std::uint64_t number() const { return number_; }
    // Gives the last line back.
    void undo() { --number_; }
    [[nodiscard]] bool begin_the_file() const { return begin_ == 0; }
    // For messages: the line, by its number in the file, the word and what is wrong with it.
    [[nodiscard]] std::string about(std::uint64_t line, std::string_view word, Fault why) const;

  private:
    std::string path_;
    std::uint64_t begin_, number_ = 0;
};

// The shortest text that reads back as the same value, without an exponent from 1e-5 to 1e15, so that `sort -n` takes
// it. A NaN has no sign.
template <class Key>
[[nodiscard]] std::string format_number(Key key);
// Each on a line.
template <class Key>
[[nodiscard]] std::string format_lines(std::span<const Key> keys);

}  // namespace quadmill::detail::input
