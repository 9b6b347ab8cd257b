// The command's words for enums, and options that take them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cpu/sample_keys.hpp"
#include "input/enum_words.hpp"

namespace quadmill::detail::input {

using cpu::Distribution;
inline const Words<Distribution> distribution_words{
    {"uniform", Distribution::Uniform}, {"gauss", Distribution::Gauss},       {"zipf", Distribution::Zipf},
    {"sorted", Distribution::Sorted},   {"reversed", Distribution::Reversed}, {"nearly", Distribution::Nearly},
    {"dup", Distribution::Dup},         {"equal", Distribution::Equal}};

// Accepts one of the words, and makes a number of it. The help lists them.
[[nodiscard]] CLI::Validator one_of(const Words<int>& words);
template <class Value>
CLI::Validator one_of(const Words<Value>& words) {
    Words<int> numbers;
    for (const auto& [word, value] : words) numbers.emplace_back(word, static_cast<int>(value));
    return one_of(numbers);  // CLI11 reads an enum from a number
}
// Accepts one of the texts. The help lists them.
[[nodiscard]] CLI::Validator one_of(const std::vector<std::string>& texts);

}  // namespace quadmill::detail::input
