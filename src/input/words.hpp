// The command's words for enums, and options that take them.
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

// Accepts one of the words. The help lists them.
template <class Value>
CLI::Validator one_of(const Words<Value>& words) {
    const auto convert = [words](std::string& text) -> std::string {
        const auto found = std::ranges::find(words, text, &std::pair<std::string, Value>::first);
        if (found == words.end()) return "'" + text + "' is not one of " + joined(words, ", ");
        text = std::to_string(static_cast<int>(found->second));  // CLI11 reads an enum from this
        return {};
    };
    return {convert, joined(words, "|")};
}

// Accepts one of the texts. The help lists them.
inline CLI::Validator one_of(const std::vector<std::string>& texts) {
    Words<bool> words;
    for (const auto& text : texts) words.emplace_back(text, true);
    const auto check = [is_word = one_of(words)](const std::string& text) { return is_word(text); };
    return {check, joined(words, "|")};
}

}  // namespace quadmill::detail::input
