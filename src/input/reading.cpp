#include "input/reading.hpp"

#include <fmt/core.h>

#include "input/checks.hpp"

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

void add_reading_options(CLI::App& verb, Reading& reading, const Words<KeyType>& types, const std::string& text) {
    const auto usual = word_for(types, reading.raw_type), of_text = word_for(types, reading.text_type);
    verb.add_option("--type", reading.given_type, "Type of the values; raw values are little-endian")
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
