#include "input/reading.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "files/files.hpp"
#include "input/checks.hpp"
#include "input/npy.hpp"
#include "quadmill/error.hpp"

namespace quadmill::detail::input {

CLI::Option* add_form_options(CLI::App& verb, Reading& reading, const std::string& text) {
    auto* is_text = verb.add_flag(
        "--text", [&reading](std::int64_t) { reading.form = Form::Text; }, text);
    verb.add_flag(
            "--raw", [&reading](std::int64_t) { reading.form = Form::Raw; },
            "Read raw values even if the input looks like text or a compressed file")
        ->excludes(is_text);
    verb.add_option("--header", reading.lines.header, "With --text: skip the first N lines")
        ->check(whole_number(0, std::uint64_t{1} << 52U))
        ->needs(is_text)
        ->type_name("N");
    verb.add_flag(
            "--skip-bad", [&reading](std::int64_t) { reading.lines.bad = LineOptions::Bad::Skip; },
            "With --text: skip lines that are not values, and report their number")
        ->needs(is_text);
    return is_text;
}

void Reading::take_type_of(const std::string& path, const Words<KeyType>& types) {
    if (form != Form::Unsaid) return;
    const auto header = npy_header_of(path);
    if (!header) return;
    const auto type = header->type;
    const auto& word = word_for(type_words, type);
    const bool is_known = std::ranges::find(types, type, &std::pair<std::string, KeyType>::second) != types.end();
    if (!is_known)
        throw InvalidArgument(
            fmt::format("{} has {} values; this takes {}", files::input_name(path), word, joined(types, ", ")));
    if (given_type.value_or(type) != type)
        throw InvalidArgument(fmt::format("{} has {} values, not {}; leave out --type, which its header says",
                                          files::input_name(path), word, word_for(types, *given_type)));
    given_type = type;
}

void add_reading_options(CLI::App& verb, Reading& reading, const Words<KeyType>& types, const std::string& text) {
    const auto usual = word_for(types, reading.raw_type), of_text = word_for(types, reading.text_type);
    verb.add_option("--type", reading.given_type,
                    "Type of the values; raw values are little-endian. A .npy file says its type itself")
        ->transform(one_of(types))
        ->default_str(usual == of_text ? usual : usual + "; text: " + of_text);
    add_form_options(verb, reading, text);
}

void refuse_all_bad(const Skipped& skipped, std::uint64_t values) {
    if (values > 0 || skipped.lines == 0) return;
    throw BadInput(fmt::format("no line is a value, so --skip-bad skips all{}{}",
                               skipped.first.empty() ? "" : "; the first: ", skipped.first));
}

void note_skipped(const std::string& program, const Skipped& skipped) {
    if (skipped.lines == 0) return;
    fmt::print(stderr, "{}: {} line{} skipped, the first: {}\n", program, skipped.lines,
               skipped.lines == 1 ? " was" : "s were", skipped.first);
}

}  // namespace quadmill::detail::input
