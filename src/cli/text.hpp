// Numbers as text, one a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/sort.hpp"

namespace quadmill::cli {

// What is wrong with a word that is no value; null when it is one.
using Fault = const char*;

// For each type of key; the word has no blanks around it.
template <class Key>
[[nodiscard]] Fault parse_number(std::string_view word, Key& key);
// A dotted quad, or the address as one integer.
[[nodiscard]] Fault parse_ipv4(std::string_view word, std::uint32_t& address);

template <class Key>
struct Pair {
    Key x;
    double y;
};
// Two numbers with a comma, a tab or blanks between them; y is finite or a NaN.
template <class Key>
[[nodiscard]] Fault parse_pair(std::string_view line, Pair<Key>& pair);

// "data.csv, line 3: ", for messages.
[[nodiscard]] std::string line_of(const std::string& path, std::uint64_t line);
// The word in quotes, cut when it is long.
[[nodiscard]] std::string in_quotes(std::string_view word);

// Lines that may come in pieces, counted.
class Lines {
  public:
    explicit Lines(std::string path) : path_(std::move(path)) {}
    // Takes a line off the text and returns what stands on it, without the blanks around it. Pre: there is text.
    [[nodiscard]] std::string_view next(std::string_view& text);
    // Of the line that next() returned last, from 1.
    [[nodiscard]] std::uint64_t number() const { return number_; }
    // Gives the last line back.
    void undo() { --number_; }
    // Throws InvalidArgument, naming the line.
    [[noreturn]] void refuse(std::uint64_t line, std::string_view word, Fault why) const;

  private:
    std::string path_;
    std::uint64_t number_ = 0;
};

// For each type of key. Throws InvalidArgument, naming the line, when a line is no number of the type or out of its
// range.
template <class Key>
void parse_lines(std::string_view text, const std::string& path, std::vector<Key>& keys);

// The shortest text that reads back as the same value, without an exponent from 1e-5 to 1e15, so that `sort -n` takes
// it. A NaN has no sign.
template <class Key>
[[nodiscard]] std::string format_number(Key key);
// Each on a line.
template <class Key>
[[nodiscard]] std::string format_lines(std::span<const Key> keys);

}  // namespace quadmill::cli
