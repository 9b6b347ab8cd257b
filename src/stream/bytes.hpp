// The byte format of saved summaries (docs/stream-format.md): numbers with as few bytes as they need, between a header
// and a checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadmill/stream.hpp"
#include "stream/key.hpp"

namespace quadmill::detail::stream {

using Header = SavedSummary;
using Kind = SavedSummary::Kind;

class Writer {
  public:
    explicit Writer(const Header& header);
    void u64(std::uint64_t value);
    void f64(double value);
    // Ascending keys, written as differences to the previous key.
    void keys(const auto& of) {
        Key before = 0;
        for (std::size_t i = 0; i < of.size(); ++i) {
            u64(of.key(i) - before);
            before = of.key(i);
        }
    }
    void text(std::string_view text);  // its length, and its bytes
    // Writes values at their full width.
    void values(const Values& all, const KeyRule& rule);
    // The bytes, with a checksum of everything before it.
    [[nodiscard]] std::vector<std::byte> take();

  private:
    std::vector<std::byte> bytes_;
};

// Reads the bytes of a Writer. All functions throw InvalidArgument if the bytes are damaged, truncated or not a
// summary.
class Reader {
  public:
    // Checks header and checksum. `function` begins the messages.
    Reader(const char* function, std::span<const std::byte> bytes);
    [[nodiscard]] const Header& header() const { return header_; }
    [[nodiscard]] std::uint64_t u64();
    [[nodiscard]] double f64();
    [[nodiscard]] std::string text();
    // Number of the following items, each of at least that many bytes. Throws if the bytes are too few for that number.
    [[nodiscard]] std::size_t count(std::size_t bytes_each = 1);
    // Makes the same check for a number that has been read already.
    [[nodiscard]] std::size_t count_of(std::uint64_t things, std::size_t bytes_each = 1) const;
    // A key that is `above` larger than the previous one. Only keys of values of the type are valid.
    [[nodiscard]] Key key(Key before);
    // Prefixes are keys, too, up to this one.
    void keys_up_to(Key max) { max_key_ = max; }
    // Values as Writer::values() writes them, at most that many.
    [[nodiscard]] Buffer values(std::uint64_t max, const KeyRule& rule);
    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    void end() const;
    // Throws unless `ok`: content must be valid even if the checksum is right.
    void require(bool ok, const char* rule) const;
    [[noreturn]] void fail(const std::string& why) const;

  private:
    std::uint8_t byte();

    const char* function_;
    std::span<const std::byte> rest_;
    Header header_{};
    Key max_key_ = 0, no_key_ = 0;  // keys of the type: the largest one, and that of -0, which counts as 0
    bool is_float_ = false;
};

}  // namespace quadmill::detail::stream
