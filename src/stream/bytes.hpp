// The byte format of saved summaries (docs/stream-format.md): little-endian numbers between a header and a checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quadmill/stream.hpp"

namespace quadmill::detail::stream {

using Header = SavedSummary;
using Kind = SavedSummary::Kind;

class Writer {
  public:
    explicit Writer(const Header& header);
    void u64(std::uint64_t value);
    void f64(double value);
    // With the checksum of all before it.
    [[nodiscard]] std::vector<std::byte> take();

  private:
    std::vector<std::byte> bytes_;
};

// Reads what a Writer wrote. Everything throws InvalidArgument when the bytes are damaged, cut off or no summary.
class Reader {
  public:
    // Checks header and checksum. `function` begins the messages.
    Reader(const char* function, std::span<const std::byte> bytes);
    [[nodiscard]] const Header& header() const { return header_; }
    [[nodiscard]] std::uint64_t u64();
    [[nodiscard]] double f64();
    // How many things follow, each of at least so many bytes: no more than there are bytes for.
    [[nodiscard]] std::size_t count(std::size_t bytes_each);
    void end() const;
    // Refuses the bytes unless `ok`: what is read must be possible, whatever the checksum says.
    void require(bool ok, const char* rule) const;
    [[noreturn]] void fail(const std::string& why) const;

  private:
    const char* function_;
    std::span<const std::byte> rest_;
    Header header_{};
};

}  // namespace quadmill::detail::stream
