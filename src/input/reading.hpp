// The form of an input, raw values or lines of text, and the options for it. Demos use it, too.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "input/text.hpp"
#include "input/words.hpp"

namespace quadmill::detail::input {

enum class Form {
    Unsaid,  // raw, unless it looks like something else, which is rejected
    Raw,
    Text
};

struct LineOptions {
    enum class Bad { Refuse, Skip };
    enum class Blank { Bad, Empty };  // Bad: except at the end
    std::uint64_t header = 0;         // lines before the first value
    Bad bad = Bad::Refuse;
    Blank blank = Blank::Bad;
};

// Lines that were skipped.
struct Skipped {
    std::uint64_t lines = 0;
    std::string first{};      // its error
    std::uint64_t empty = 0;  // fields without a value, and blank lines that are not bad
};

struct Reading {
    Form form = Form::Unsaid;
    LineOptions lines{};
    // The default types. Text is not rounded silently.
    KeyType raw_type = KeyType::F32, text_type = KeyType::F64;
    std::optional<KeyType> given_type{};
    const char* csv_option = nullptr;  // the verb's option for CSV, if there is one

    [[nodiscard]] KeyType type() const { return given_type.value_or(form == Form::Text ? text_type : raw_type); }
    // If the file is NumPy's, its type is that of the values. Throws InvalidArgument if it is not among the types of
    // the verb, or if another one was given.
    void take_type_of(const std::string& path, const Words<KeyType>& types);
    // With an explicit type, values may be rounded.
    [[nodiscard]] Integers integers() const { return given_type ? Integers::Rounded : Integers::Exact; }
    // The parser for lines with one value.
    [[nodiscard]] Parser parser() const { return number_parser(type(), integers()); }
};

// Adds --text, --raw, --header and --skip-bad. `text` says what lines of text mean.
CLI::Option* add_form_options(CLI::App& verb, Reading& reading, const std::string& text);
// Adds these and --type. `types` are those that the verb accepts.
void add_reading_options(CLI::App& verb, Reading& reading, const Words<KeyType>& types, const std::string& text);

// Throws BadInput if lines were skipped and no line was a value.
void refuse_all_bad(const Skipped& skipped, std::uint64_t values);
// Reports skipped lines on standard error, if there are any.
void note_skipped(const std::string& program, const Skipped& skipped);

}  // namespace quadmill::detail::input
