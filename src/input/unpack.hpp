// Text that is packed by gzip or zstd, unpacked; and what is not a text, named.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "files/files.hpp"
#include "input/stream_input.hpp"

namespace quadmill::detail::input {

// The whole of a file, or of standard input, unpacked where it is packed. Throws IoError where it was cut off or
// damaged, or does not fit into memory.
[[nodiscard]] files::Bytes read_unpacked(const std::string& path);

// Throws InvalidArgument where a text that begins like this is none, and says what it looks like. `path`: for messages.
void require_text(const std::string& path, std::string_view begin);

class Unpacker;

// A stream of text, as StreamInput has it, unpacked where it is packed.
class TextStream {
  public:
    explicit TextStream(const std::string& path);
    TextStream(const TextStream&) = delete;
    TextStream& operator=(const TextStream&) = delete;
    ~TextStream();

    [[nodiscard]] const std::string& path() const { return input_.file().path(); }
    // Waits for more, behind what is left. False at the end and after Ctrl-C. What was unpacked before a fault comes
    // before its error, which is as of read_unpacked().
    [[nodiscard]] bool more();
    [[nodiscard]] bool interrupted() { return input_.interrupted(); }
    [[nodiscard]] Interrupt& interrupt() { return input_.interrupt(); }
    [[nodiscard]] std::string_view text() const;
    // Leaves all but the first `used` bytes.
    void drop(std::size_t used);

  private:
    static constexpr std::size_t capacity = std::size_t{1} << 20U;
    StreamInput input_;
    bool known_ = false;                  // whether it is packed
    std::unique_ptr<Unpacker> unpacker_;  // if it is; and what it has made
    std::unique_ptr<std::byte[]> memory_;
    std::size_t size_ = 0;
};

}  // namespace quadmill::detail::input
