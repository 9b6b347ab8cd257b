// Keys of lines: a part of each line and a comparison, as bytes that compare like memcmp.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quadmill::detail::input {

// How a key compares: the option letters of `sort`.
struct KeyRules {
    enum class Compare {
        Text,     // by bytes
        Number,   // n: digits with a decimal point, of any length
        General,  // g: what strtold() reads
        Human,    // h: a number with a unit, such as 2K or 1G: by unit, then by number
        Month     // M: JAN to DEC, in any case
    } compare = Compare::Text;
    bool reverse = false;     // r
    bool fold = false;        // f: small letters as capital ones
    bool dictionary = false;  // d: only blanks, letters and digits
    bool printable = false;   // i: only printable characters
    bool skip_begin = false;  // b: the key begins after blanks
    bool skip_end = false;    // b of the key's end
    bool any_letter = false;  // whether the key has rules of its own
};

// The part of a line that a key compares, counted from 0.
struct LineKey {
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    std::size_t field = 0, character = 0;             // where it begins
    std::size_t end_field = none, end_character = 0;  // where it ends: `none`: at the end of the line; 0 characters: at
                                                      // the end of the field before end_field
    std::optional<std::size_t> column{};              // of a CSV line, instead of these
    KeyRules rules{};
};

// What users of other programs can type for orders that do not exist here.
inline constexpr std::string_view for_random_order = "`shuf` gives a random order";
inline constexpr std::string_view for_versions =
    "for versions such as 1.10.2, -t. -k1,1n -k2,2n -k3,3n compares their numbers";

// Adds rules by their letters. Throws InvalidArgument for a letter that does not exist.
enum class KeyEnd { Begin, End };
void add_rules(KeyRules& rules, std::string_view letters, KeyEnd end = KeyEnd::Begin);
// Throws InvalidArgument if two of the rules exclude each other.
void check_rules(const KeyRules& rules);

// FIELD[.CHARACTER][LETTERS][,FIELD[.CHARACTER][LETTERS]], counted from 1, as for `sort -k`. Throws InvalidArgument.
[[nodiscard]] LineKey parse_line_key(std::string_view spec);
// NAME or N, counted from 1, then optionally : and letters. `names` are the columns of the first line, if there is one.
[[nodiscard]] LineKey parse_column(std::string_view spec, const std::vector<std::string>& names);

// How a line is divided into fields.
struct LineFields {
    std::optional<char> separator{};  // nothing: a field begins with the blanks before it
    bool quotes = false;              // CSV
};

// The fields of one CSV line, without their quotes.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view line, char separator);
// The end of the CSV line at the beginning of `text`: the index of its end of line outside quotes; nothing if it is not
// in the text.
[[nodiscard]] std::optional<std::size_t> csv_line_end(std::string_view text, char separator, char end);

// Makes the keys of lines.
class KeyMaker {
  public:
    // Without keys, whole lines are compared by `rules`.
    KeyMaker(std::vector<LineKey> keys, const KeyRules& rules, LineFields fields);

    // Whether each key is a part of its line.
    [[nodiscard]] bool makes_parts() const { return parts_; }
    // The key of a line, without its end. Valid until the next call.
    [[nodiscard]] std::string_view operator()(std::string_view line);

  private:
    [[nodiscard]] std::string_view part(const LineKey& key, std::string_view line);
    [[nodiscard]] std::string_view column(std::size_t index, std::string_view line);
    [[nodiscard]] std::size_t begin_of(const LineKey& key, std::string_view line) const;
    [[nodiscard]] std::size_t end_of(const LineKey& key, std::string_view line) const;
    unsigned char* add(const KeyRules& rules, std::string_view text, unsigned char* to, bool is_last);

    std::vector<LineKey> keys_;
    LineFields fields_;
    bool parts_;
    std::vector<unsigned char> key_;
    std::string text_, unquoted_;
};

}  // namespace quadmill::detail::input
