// The words of the command for enums, and how an option takes them.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
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

// Takes one of the words; the help lists them.
template <class Value>
CLI::Validator one_of(const Words<Value>& words) {
    const auto convert = [words](std::string& text) -> std::string {
        const auto found = std::ranges::find(words, text, &std::pair<std::string, Value>::first);
        if (found == words.end()) return "'" + text + "' is none of " + joined(words, ", ");
        text = std::to_string(static_cast<int>(found->second));  // what CLI11 reads an enum from
        return {};
    };
    return {convert, joined(words, "|")};
}

}  // namespace quadmill::detail::input
