// How an input is to be taken, raw values or lines of text, and the options that say so; also of demos.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "input/text.hpp"
#include "input/words.hpp"

namespace quadmill::detail::input {

enum class Form {
    Unsaid,  // raw, unless it looks like something else, which is then refused
    Raw,
    Text
};

struct LineOptions {
    enum class Bad { Refuse, Skip };
    std::uint64_t header = 0;  // lines before the first value
    Bad bad = Bad::Refuse;
};

// Lines that were skipped.
struct Skipped {
    std::uint64_t lines = 0;
    std::string first{};  // what is wrong with it
};

struct Reading {
    Form form = Form::Unsaid;
    LineOptions lines{};
    // The types that are read when none is given. Text is not rounded silently.
    KeyType raw_type = KeyType::F32, text_type = KeyType::F64;
    std::optional<KeyType> given_type{};

    [[nodiscard]] KeyType type() const { return given_type.value_or(form == Form::Text ? text_type : raw_type); }
    // What reads a line that is one value. Who asks for a type asks for its rounding.
    template <class T>
    [[nodiscard]] ParseLine<T> parse() const {
        if constexpr (std::is_same_v<T, double>) {
            if (!given_type) return parse_exact;
        }
        return parse_number<T>;
    }
};

// --text, --raw, --header, --skip-bad. `text`: what lines of text are.
CLI::Option* add_form_options(CLI::App& verb, Reading& reading, const std::string& text);
// And --type. `types`: those that the verb takes.
void add_reading_options(CLI::App& verb, Reading& reading, const Words<KeyType>& types, const std::string& text);

// Throws BadInput where lines were skipped and not one was a value.
void refuse_all_bad(const Skipped& skipped, std::uint64_t values);
// What to say of lines that were skipped, on standard error; nothing when there are none.
void note_skipped(const std::string& program, const Skipped& skipped);

}  // namespace quadmill::detail::input
